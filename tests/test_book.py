"""The book's sources: the table of contents, the pages, the bibliography."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent


def toc_pages():
    """Every page named in _toc.yml, as written there."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    chapters = [c["file"] for p in toc["parts"] for c in p["chapters"]]
    return [toc["root"], *chapters]


def test_every_page_of_the_toc_exists_and_every_page_is_in_the_toc():
    pages = toc_pages()
    on_disk = {
        p.relative_to(ROOT).with_suffix("").as_posix()
        for p in (ROOT / "book").rglob("*.md")
        if not any(part.startswith(("_", ".")) for part in p.parts[-3:])
    }
    assert sorted(pages) == sorted(on_disk)
    assert len(pages) == len(set(pages))


def test_the_bibliography_has_unique_keys_of_one_form():
    bib = (ROOT / "book/references.bib").read_text("utf-8")
    keys = re.findall(r"^@\w+\{([^,]+),", bib, re.MULTILINE)
    assert len(keys) == len(set(keys)) > 50
    assert [k for k in keys if not re.fullmatch(r"[a-z]+\d{4}\w+", k)] == []


FENCE = re.compile(
    r"^(?P<fence>```|:::)\{(?P<kind>admonition|dropdown)\} (?P<title>.+)\n"
    r"(?P<body>(?:(?!(?P=fence)).*\n)*)(?P=fence)$|^## (?P<section>.+)$",
    re.MULTILINE,
)


def quick_questions(text):
    """Return [(section, [the text of each choice])] of a page."""
    found, section, open_now = [], "", False
    for match in FENCE.finditer(text):
        if match["section"]:
            section, open_now = match["section"], False
        elif match["kind"] == "admonition":
            open_now = match["title"] == "Quick question"
            if open_now:
                found.append((section, []))
        elif open_now:
            found[-1][1].append(match["body"])
    return found


PAGE_WITH_QUESTION = """## One

```{admonition} Quick question
:class: question
How many?
```

```{dropdown} 2
No. It is one more, as the `sum` shows.
```

:::{dropdown} `3`, with code in the title
Right. All of them count.
:::

## Two
"""


def test_a_quick_question_is_read():
    assert quick_questions(PAGE_WITH_QUESTION) == [("One", [
        "No. It is one more, as the `sum` shows.\n",
        "Right. All of them count.\n",
    ])]


@pytest.mark.parametrize("page", toc_pages())
def test_each_quick_question_has_one_right_choice_and_explains_all(page):
    text = (ROOT / f"{page}.md").read_text("utf-8")
    found = quick_questions(text)
    assert text.count("{admonition} Quick question") == len(found)
    assert text.count("{dropdown}") == sum(len(c) for _, c in found)
    for section, choices in found:
        assert 3 <= len(choices) <= 4, section
        kinds = [choice.split()[0] for choice in choices]
        assert sorted(kinds) == ["No."] * (len(kinds) - 1) + ["Right."]
        assert min(len(choice.split()) for choice in choices) >= 6, section


def test_the_right_choice_is_not_always_in_one_place():
    places = [
        [c.split()[0] for c in choices].index("Right.")
        for page in toc_pages()
        for _, choices in quick_questions(
            (ROOT / f"{page}.md").read_text("utf-8")
        )
    ]
    most = max(map(places.count, set(places)))
    assert most <= len(places) / 2 + 1


VERDICTS = (
    "Where the popular account is right", "The popular account, weighed",
)  # fmt: skip


@pytest.mark.parametrize("page", [
    page for page in toc_pages()
    if page.startswith(("book/symbols/", "book/numbers/"))
])
def test_each_section_of_parts_one_and_two_asks_something(page):
    text = (ROOT / f"{page}.md").read_text("utf-8")
    sections = set(re.findall(r"^## (.+)$", text, re.MULTILINE))
    asked = {section for section, _ in quick_questions(text)}
    assert sections - asked - {*VERDICTS, "Practice"} == set()
