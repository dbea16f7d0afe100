"""MyST Markdown to the plain kind: blocks, roles and links.

What is not handled here or in directives.py stops the run with its page and
its line.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from markdown_it.renderer import RendererHTML
from myst_parser.parsers.mdit import create_md_parser

from book._ext.crossrefs import Book, ChapterError, authors, plain

ROLE = re.compile(r"\{([a-z][\w:.-]*)\}(`+)(.+?)(?<!`)\2(?!`)", re.DOTALL)
SPAN = re.compile(
    r"(?P<role>\{[a-z][\w:.-]*\}(?P<q>`+).+?(?<!`)(?P=q)(?!`))"
    r"|(?P<code>(?P<t>`+)(?!`).+?(?<!`)(?P=t)(?!`))"
    r"|(?P<math>\$[^$]+\$)"
    r"|(?P<link>(?<!!)\[(?P<text>[^\]\[]*)\]\((?P<href>[^)\s]*)\))",
    re.DOTALL,
)

@dataclass
class Page:
    """One chapter on its way into a notebook."""

    book: Book
    name: str  # book/symbols/rope
    directive: Callable[..., str]  # (page, token, line) -> Markdown
    numbers: list[str]  # of the headings still to come
    cited: list[str] = field(default_factory=list)
    figures: int = 0

    @property
    def path(self) -> Path:
        """The page's file."""
        return (self.book.root / self.name).with_suffix(".md")


def parse(page: Page, text: str, line: int) -> str:
    """Plain Markdown from the body of a directive."""
    parts = [
        block(page, token, source, at)
        for token, source, at in blocks(page, text, line)
    ]
    return "\n\n".join(part for part in parts if part)


def blocks(page: Page, text: str, line: int) -> Iterator[tuple]:
    """Every top-level token with its source text and its line in the page."""
    parser = create_md_parser(page.book.myst, RendererHTML)
    lines, depth = text.splitlines(), 0
    for token in parser.parse(text + "\n"):
        top = depth == 0 and token.nesting >= 0
        depth += token.nesting
        if not top:
            refuse_nested(page, token, line)
        elif token.map is not None and token.type != "front_matter":
            source = "\n".join(lines[token.map[0]:token.map[1]])
            yield token, source, line + token.map[0]


def refuse_nested(page: Page, token, line: int) -> None:
    """A directive inside a list or quote has no plain Markdown form here."""
    if token.type in ("fence", "colon_fence") and token.info.startswith("{"):
        at = line + (token.map[0] if token.map else 0)
        raise ChapterError(
            f"{page.name}:{at + 1}: the directive {token.info.split()[0]} "
            "stands inside a list or a quote; move it to the top level"
        )


def block(page: Page, token, source: str, line: int) -> str:
    """One top-level block of Markdown."""
    where = f"{page.name}:{line + 1}"
    if token.type in ("fence", "colon_fence"):
        if token.info.startswith("{"):
            return page.directive(page, token, line)
        return source
    if token.type == "math_block":
        return display_math(token.content)
    if token.type == "math_block_label":
        return display_math(
            token.content, page.book.equation(token.info, where)
        )
    if token.type == "amsmath":
        return display_math(token.content)
    if token.type in ("myst_target", "myst_line_comment", "myst_block_break"):
        return ""
    if token.type == "heading_open":
        return heading(page, token, source, where)
    if token.type in ("html_block", "substitution_block", "footnote_block"):
        raise ChapterError(
            f"{where}: {token.type} has no form in a notebook; "
            "write it in plain Markdown"
        )
    return inline(page, source, where)


def heading(page: Page, token, source: str, where: str) -> str:
    """A heading, with its number where the site numbers it."""
    number = page.numbers.pop(0)
    marks, _, title = inline(page, source, where).partition(" ")
    return f"{marks} {number}. {title}" if number else f"{marks} {title}"


def display_math(latex: str, number: str = "") -> str:
    """A displayed equation; align is for documents, aligned for notebooks."""
    latex = re.sub(r"\\(begin|end)\{align\*?\}", r"\\\1{aligned}", latex)
    latex = re.sub(r"\\(begin|end)\{equation\*?\}", "", latex).strip()
    latex = re.sub(r"\n\s*\n", "\n", latex)
    tag = f" \\tag{{{number}}}" if number else ""
    return f"$$\n{latex}{tag}\n$$"


def inline(page: Page, text: str, where: str) -> str:
    """Roles and the course's own links become words; the rest stays."""

    def one(match: re.Match) -> str:
        if match["role"]:
            name, _, content = ROLE.fullmatch(match["role"]).groups()
            return role(page, name, content.strip("` "), where)
        if match["link"]:
            return link(page, match["text"], match["href"], where)
        return match[0]

    return SPAN.sub(one, text)


def role(page: Page, name: str, content: str, where: str) -> str:
    """The words that a role prints on the site."""
    titled = re.fullmatch(r"(.+?)\s*<([^<>]+)>", content, re.DOTALL)
    text, target = titled.groups() if titled else ("", content)
    book = page.book
    if name == "eq":
        return f"({book.equation(target, where)})"
    if name in ("ref", "doc"):
        return link(page, text, target, where)
    if name == "numref":
        shown = book.numbered(target, where)
        return text.replace("%s", shown.split()[-1]) if text else shown
    if name == "colab":
        if not (book.root / f"notebooks/{target}.ipynb").is_file():
            raise ChapterError(f"{where}: there is no notebook {target}")
        return f"[{text or target}]({book.opened(target)})"
    if name in ("cite", "cite:p", "cite:t"):
        return citation(page, name, content, where)
    if name in ("glue", "glue:text"):
        return f"`{content.split(':')[0]}`"
    if name == "math":
        return f"${content}$"
    if name in ("sub", "sup"):
        return f"<{name}>{content}</{name}>"
    if name in ("abbr", "term", "kbd"):
        return content
    raise ChapterError(f"{where}: the role {{{name}}} is not known here")


def citation(page: Page, name: str, content: str, where: str) -> str:
    """Author and year, as the site prints them; the list stands at the end."""
    keys = [key.strip() for key in content.split(",")]
    shown = []
    for key in keys:
        entry = page.book.paper(key, where)
        page.cited += [key] if key not in page.cited else []
        mark = "{} [{}]" if name == "cite:t" else "{}, {}"
        shown.append(mark.format(authors(entry), plain(entry.fields["year"])))
    joined = ", ".join(sorted(shown))
    return joined if name == "cite:t" else f"[{joined}]"


def link(page: Page, text: str, href: str, where: str) -> str:
    """Foreign links stay; the course's own lead to Colab or to the code."""
    if re.match(r"(https?|mailto):", href):
        return f"[{text}]({href})"
    target = href.lstrip("#")
    here = (page.path.parent / href.split("#")[0]).resolve()
    if href.split("#")[0] and not here.exists():
        here = here.with_name(here.name + ".md")
    if "/" in href or href.endswith(".md") or here.is_file():
        if not here.is_file():
            raise ChapterError(f"{where}: there is no file {href}")
        path = here.relative_to(page.book.root)
        target = path.with_suffix("").as_posix()
        if path.suffix != ".md":
            url = page.book.source(path.as_posix())
            return f"[{text or path.as_posix()}]({url})"
    found, _, title = page.book.target(target, where)
    words = text or title
    if found == page.name or found == "book/references":
        return words
    return f"[{words}]({page.book.colab(found)})"
