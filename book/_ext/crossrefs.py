"""What the site calls each equation, figure, section, page and paper.

A notebook stands alone, so its chapter's references become the same words
that the built page shows. Sphinx reads the pages here without running them.
"""

import io
import re
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from docutils import nodes
from jupyter_book.config import get_final_config
from myst_parser.config.main import MdParserConfig
from pybtex.database import Entry, parse_file
from pybtex.richtext import Text
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import docutils_namespace, patch_docutils

NUMBER_WORDS = {
    "figure": "Fig. %s", "table": "Table %s", "section": "Section %s",
    "code-block": "Listing %s",
}  # fmt: skip


class ChapterError(Exception):
    """A page says something that its notebook could not."""


@dataclass
class Book:
    """One reading of all pages, and what it knows of their references."""

    root: Path
    env: BuildEnvironment
    myst: MdParserConfig
    papers: dict[str, Entry]
    figures: dict[str, str] = field(default_factory=dict)  # label to number

    @property
    def repository(self) -> dict:
        """Url and branch, from _config.yml alone."""
        text = (self.root / "_config.yml").read_text("utf-8")
        return yaml.safe_load(text)["repository"]

    def colab(self, page: str) -> str:
        """The address of a page's notebook in Colab."""
        return self.opened(f"chapters/{page.removeprefix('book/')}")

    def opened(self, notebook: str) -> str:
        """The address in Colab of a notebook, named from notebooks/ on."""
        repo = self.repository
        slug = repo["url"].removeprefix("https://github.com/").strip("/")
        return (
            f"https://colab.research.google.com/github/{slug}/blob/"
            f"{repo['branch']}/notebooks/{notebook}.ipynb"
        )

    def source(self, path: str) -> str:
        """The address of one of the repository's files."""
        repo = self.repository
        return f"{repo['url']}/blob/{repo['branch']}/{path}"

    def section(self, page: str, anchor: str = "") -> str:
        """A section's number; nothing where the contents do not number it."""
        numbers = self.env.toc_secnumbers.get(page, {})
        return ".".join(map(str, numbers.get(anchor) or ()))

    def headings(self, page: str) -> list[str]:
        """The number of each heading of the page, in order."""
        found = []
        for section in self.env.get_doctree(page).findall(nodes.section):
            first = isinstance(section.parent, nodes.document)
            anchor = "" if first else "#" + section["ids"][0]
            found.append(self.section(page, anchor))
        return found

    def equation(self, label: str, where: str) -> str:
        """The number of a labelled equation."""
        found = self.env.get_domain("math").equations
        name = f"equation-{nodes.make_id(label)}"
        if label not in found:
            raise ChapterError(f"{where}: no equation is labelled {label}")
        page = found[label][0]
        numbers = self.env.toc_fignumbers.get(page, {}).get("displaymath", {})
        if name not in numbers:
            raise ChapterError(f"{where}: equation {label} has no number")
        return ".".join(map(str, numbers[name]))

    def target(self, label: str, where: str) -> tuple[str, str, str]:
        """Page, anchor and title behind a label or a page's path."""
        std = self.env.get_domain("std")
        if label in std.labels:
            page, anchor, title = std.labels[label]
            return page, anchor, str(title)
        if label in std.anonlabels:
            page, anchor = std.anonlabels[label]
            return page, anchor, ""
        if label in self.env.titles:
            return label, "", self.env.titles[label].astext()
        raise ChapterError(f"{where}: nothing is labelled {label}")

    def numbered(self, label: str, where: str) -> str:
        """What {numref} prints: Fig. 1.2, Section 3."""
        if label in self.figures:
            return NUMBER_WORDS["figure"] % self.figures[label]
        page, anchor, _ = self.target(label, where)
        for kind, table in self.env.toc_fignumbers.get(page, {}).items():
            if anchor in table and kind in NUMBER_WORDS:
                dotted = ".".join(map(str, table[anchor]))
                return NUMBER_WORDS[kind] % dotted
        number = self.section(page, f"#{anchor}") or self.section(page)
        if not number:
            raise ChapterError(f"{where}: {label} has no number")
        return NUMBER_WORDS["section"] % number

    def paper(self, key: str, where: str) -> Entry:
        """One entry of the bibliography."""
        if key not in self.papers:
            raise ChapterError(
                f"{where}: {key} is not in book/references.bib"
            )
        return self.papers[key]


def authors(entry: Entry) -> str:
    """The author part of a citation: one, two, or the first `et al.`"""
    people = entry.persons["author"]
    last = [
        plain(" ".join([*p.prelast_names, *p.last_names])) for p in people
    ]
    if len(last) == 1:
        return last[0]
    if len(last) == 2:
        return f"{last[0]} and {last[1]}"
    return f"{last[0]} et al."


def plain(text: str) -> str:
    r"""LaTeX as plain text: Veli{\v c}kovi{\'c} loses its braces."""
    return str(Text.from_latex(text))


def reference_line(entry: Entry) -> str:
    """One line of a notebook's list of references."""
    fields = entry.fields
    venue = fields.get("booktitle") or fields.get("journal")
    venue = venue or fields.get("howpublished", "")
    note = fields.get("note", "")
    line = ". ".join(
        x for x in (authors(entry), fields["year"], plain(fields["title"]))
    )
    tail = ", ".join(x for x in (venue, note) if x)
    return link_arxiv(f"- {line}. {plain(tail)}.")


def link_arxiv(line: str) -> str:
    """Turn arXiv:1234.56789 into a link."""
    return re.sub(
        r"arXiv:(\d{4}\.\d{5})", r"[arXiv:\1](https://arxiv.org/abs/\1)", line
    )


def read_book(root: Path, scratch: Path) -> Book:
    """Let Sphinx read every page, running none, and keep what it learned.

    `scratch` holds the parsed pages for as long as the Book is in use.
    """
    config, _ = get_final_config(
        user_yaml=root / "_config.yml", sourcedir=root,
        cli_config={"latex_individualpages": False},
    )
    config["nb_execution_mode"] = "off"
    with patch_docutils(None), docutils_namespace():
        app = Sphinx(
            srcdir=root, confdir=None, outdir=scratch / "out",
            doctreedir=scratch / "doctrees", buildername="dummy",
            confoverrides=config, status=None, warning=io.StringIO(),
        )
        updated = app.builder.read()
        list(app.env.check_dependents(app, set(updated)))  # numbers sections
    papers = parse_file(str(root / "book/references.bib"), "bibtex").entries
    return Book(root, app.env, app.env.myst_config, dict(papers))
