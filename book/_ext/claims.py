"""The directives of book/claims.md, and the role that names a section.

`claims` shows one list of book/_data/claims.yml, `verdicts` counts them,
`identities` lists where the pages prove something.
"""

import sys
from collections import Counter
from pathlib import Path

import yaml
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util import logging
from sphinx.util.docutils import ReferenceRole, SphinxDirective

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT))  # jupyter-book does not start from the root

from book._ext import identities  # noqa: E402

CLAIMS = Path("book/_data/claims.yml")
VERDICTS = {
    "right": "Right",
    "corrected": "Right, with a correction",
    "wrong": "Wrong",
    "open": "Open",
}
log = logging.getLogger(__name__)


def written(directive: SphinxDirective, lines: list[str]) -> list[nodes.Node]:
    """The nodes of some lines of the page's own markup."""
    parent = nodes.Element()
    source = StringList(lines, directive.env.docname)
    directive.state.nested_parse(source, 0, parent)
    return parent.children


def claims(directive: SphinxDirective) -> dict[str, list[dict]]:
    """All lists of the data; the page depends on them."""
    directive.env.note_dependency(str(CLAIMS))
    text = Path(directive.env.srcdir, CLAIMS).read_text("utf-8")
    return yaml.safe_load(text)


class Claims(SphinxDirective):
    """One list, each claim with its verdict and where it is shown."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return a definition list."""
        lines = []
        for claim in claims(self)[self.arguments[0]]:
            lines += [claim["said"], f": {answer(claim)}", ""]
        return written(self, lines)


def answer(claim: dict) -> str:
    """Verdict, reason, places and sources in one line."""
    parts = [f"**{VERDICTS[claim['verdict']]}.**", claim["because"]]
    places = [f"{{section}}`{place}`" for place in claim.get("shown", [])]
    if places:
        parts.append("See " + "; ".join(places) + ".")
    if "later" in claim:
        part = claim["later"]
        where = "the epilogue" if part == "Epilogue" else f"Part {part}"
        job = "take it up" if claim["verdict"] == "open" else "measure it"
        parts.append(f"*More will follow in {where}.*" if places else
                     f"*Not yet on a page: {where} will {job}.*")
    if claim.get("sources"):
        parts.append(f"{{cite}}`{','.join(claim['sources'])}`")
    return " ".join(parts)


class Verdicts(SphinxDirective):
    """How many claims got which verdict."""

    def run(self) -> list[nodes.Node]:
        """Return a table of counts."""
        lists = claims(self)
        kinds = {"claims": [], **{
            kind: lists[kind]
            for kind in ("failures", "mistakes", "questions", "exercises")
        }}
        for name, items in lists.items():
            kinds["claims"] += items if name not in kinds else []
        lines = [row(["", *map(str.capitalize, VERDICTS)]),
                 row(["---"] * (1 + len(VERDICTS)))]
        for kind, items in kinds.items():
            count = Counter(item["verdict"] for item in items)
            lines.append(row([kind, *(count[v] for v in VERDICTS)]))
        return written(self, lines)


class Identities(SphinxDirective):
    """Every section that proves something, with its number of proofs."""

    def run(self) -> list[nodes.Node]:
        """Return a table, made from the pages' own code."""
        lines = [row(["section", "proofs", "shown to be false"]),
                 row(["---"] * 3)]
        total: Counter = Counter()
        for name in identities.pages(ROOT):
            self.env.note_dependency(f"{name}.md")
            count: dict[str, Counter] = {}
            for site in identities.watched(ROOT, name)[1]:
                count.setdefault(site.section, Counter())[site.refused] += 1
                total[site.refused] += 1
            for title, number in count.items():
                place = f"{name.removeprefix('book/')} § {title}"
                lines.append(row([f"{{section}}`{place}`", number[False],
                                  number[True] or ""]))
        lines.append(row(["**all pages together**", total[False],
                          total[True]]))
        self.env.note_dependency("_toc.yml")
        return written(self, lines)


def row(cells: list) -> str:
    """One row of a Markdown table."""
    return "| " + " | ".join(map(str, cells)) + " |"


class Section(ReferenceRole):
    """{section}`symbols/rope § One pair`: a link to a section by its title."""

    def run(self):
        """Return a link that gets its address when all pages are read."""
        link = nodes.reference(self.rawtext, "", section=self.target)
        self.set_source_info(link)
        return [link], []


def fill_section_links(app, doctree, docname) -> None:
    """Give each link its words and its address; warn if nothing is there."""
    for link in doctree.findall(nodes.reference):
        if "section" in link:
            page, _, title = link["section"].partition(" § ")
            page = f"book/{page}"
            anchor = anchor_of(app.env, page, title)
            if anchor is None:
                log.warning("no section %s", link["section"], location=link)
                continue
            uri = app.builder.get_relative_uri(docname, page)
            link["refuri"], link["internal"] = f"{uri}#{anchor}", True
            short = app.env.titles[page].astext().split(":")[0]
            link += nodes.Text(f"{short} › {title}")


def anchor_of(env, page: str, title: str) -> str | None:
    """The id of a page's section with this title."""
    if page in env.found_docs:
        for section in env.get_doctree(page).findall(nodes.section):
            if section.next_node(nodes.title).astext() == title:
                return section["ids"][0]
    return None


def setup(app) -> dict:
    """Register them."""
    app.add_directive("claims", Claims)
    app.add_directive("verdicts", Verdicts)
    app.add_directive("identities", Identities)
    app.add_role("section", Section())
    app.connect("doctree-resolved", fill_section_links)
    return {"version": "1", "parallel_read_safe": True}
