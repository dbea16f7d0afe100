"""The claims page: the list is whole, and every entry leads somewhere."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
LISTS = yaml.safe_load((ROOT / "book/_data/claims.yml").read_text("utf-8"))
ALL = [claim for claims in LISTS.values() for claim in claims]
PAGE = (ROOT / "book/claims.md").read_text("utf-8")
COUNTS = {  # of what the text says, in the order of the text's own parts
    "claim": 56, "failure": 4, "mistake": 4, "question": 3, "exercise": 3,
}  # fmt: skip
FIELDS = {"id", "said", "verdict", "because", "shown", "sources", "later"}
PARTS = {"III", "IV", "Epilogue"}


def test_no_claim_is_missing_or_there_twice():
    expected = [
        f"{kind}-{n:02}" if kind == "claim" else f"{kind}-{n}"
        for kind, count in COUNTS.items()
        for n in range(1, count + 1)
    ]
    assert sorted(claim["id"] for claim in ALL) == sorted(expected)


def test_the_page_shows_each_list_once():
    shown = re.findall(r"^```\{claims\} (\w+)$", PAGE, re.MULTILINE)
    assert sorted(shown) == sorted(LISTS)


@pytest.mark.parametrize("claim", ALL, ids=lambda claim: claim["id"])
def test_a_claim_has_a_verdict_and_a_place_or_a_source(claim):
    assert set(claim) <= FIELDS
    assert claim["verdict"] in {"right", "corrected", "wrong", "open"}
    assert claim["said"].strip() and claim["because"].strip()
    assert claim.get("shown") or claim.get("sources")
    assert claim.get("later", "IV") in PARTS


def headings(page):
    """Return the titles of a page's sections; its code has none."""
    text = (ROOT / f"book/{page}.md").read_text("utf-8")
    text = re.sub(r"^(```+|:::+)\{.*?^\1$", "", text,
                  flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"^##+ (.+)$", text, re.MULTILINE)


@pytest.mark.parametrize(
    "place", sorted({p for claim in ALL for p in claim.get("shown", [])})
)
def test_a_place_is_a_section_of_a_page(place):
    page, _, title = place.partition(" § ")
    assert title in headings(page)


def test_sources_are_in_the_bibliography():
    bib = (ROOT / "book/references.bib").read_text("utf-8")
    keys = set(re.findall(r"^@\w+\{([^,]+),", bib, re.MULTILINE))
    named = {key for claim in ALL for key in claim.get("sources", [])}
    assert named - keys == set()


def test_what_is_on_no_page_yet_says_where_it_will_be_measured():
    """A claim with a source alone names a later part, or is of literature."""
    alone = {c["id"] for c in ALL if "shown" not in c and "later" not in c}
    assert alone == {"claim-28", "claim-41"}
