"""The book's sources: the table of contents, the pages, the bibliography."""

import re
from pathlib import Path

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
