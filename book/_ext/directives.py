"""What each directive of the book becomes in a notebook, by name."""

import ast
import base64
import re
from collections.abc import Callable, Iterator
from textwrap import dedent
from types import SimpleNamespace

from myst_parser.parsers.directives import parse_directive_text

from book._ext.crossrefs import ChapterError
from book._ext.plain_markdown import (
    Page,
    blocks,
    display_math,
    inline,
    parse,
)

ADMONITIONS = {
    "note", "tip", "warning", "important", "hint", "caution", "attention",
    "danger", "error", "seealso",
}  # fmt: skip


def options(token) -> tuple[str, str, dict, str]:
    """Name, argument, options and body of a fenced directive."""
    mock = SimpleNamespace(
        option_spec={"any": True}, required_arguments=0,
        optional_arguments=1, has_content=True,
    )
    name, _, argument = token.info.strip().partition("}")
    read = parse_directive_text(
        mock, "", token.content, validate_options=False
    )
    return name[1:], argument.strip(), read.options, "\n".join(read.body)


def directive(page: Page, token, line: int) -> str:
    """One directive as Markdown, or as a cell of its own."""
    name, argument, opts, body = options(token)
    where = f"{page.name}:{line + 1}"
    handlers: dict[str, Callable[[], str]] = {
        "admonition": lambda: admonition(page, argument, opts, body, line),
        "dropdown": lambda: dropdown(page, argument, body, line),
        "math": lambda: math(page, argument, opts, body, where),
        "literalinclude": lambda: listing(page, argument, opts, where),
        "figure": lambda: figure(page, argument, opts, body, where, line),
        "image": lambda: picture(page, argument, opts, where),
        "code-block": lambda: f"```{argument}\n{body}\n```",
        "list-table": lambda: list_table(page, argument, opts, body, where),
    }
    if name in ADMONITIONS:
        title = "See also" if name == "seealso" else name.capitalize()
        body = f"{argument}\n{body}" if argument else body
        return admonition(page, title, opts, body, line)
    if name not in handlers:
        raise ChapterError(
            f"{where}: the directive {{{name}}} is not known to the "
            "notebooks; handle it in book/_ext/chapters.py"
        )
    return handlers[name]()


def admonition(page: Page, title, opts, body: str, line: int) -> str:
    """A quoted box with a bold title, or a folded one."""
    title = inline(page, title, f"{page.name}:{line + 1}")
    inner = parse(page, body, line)
    if "dropdown" in str(opts.get("class", "")):
        return details(title, inner)
    quoted = "\n".join(f"> {x}".rstrip() for x in inner.splitlines())
    return f"> **{title}**\n>\n{quoted}"


def dropdown(page: Page, title: str, body: str, line: int) -> str:
    """A folded part, such as the answer to a choice."""
    title = inline(page, title, f"{page.name}:{line + 1}")
    return details(title, parse(page, body, line))


def details(title: str, inner: str) -> str:
    """A part that opens with a click."""
    return (
        f"<details>\n<summary>{title}</summary>\n\n{inner}\n\n</details>"
    )


def math(page, argument, opts, body, where) -> str:
    """The math directive; its label became a number."""
    label = opts.get("label") or opts.get("name")
    number = page.book.equation(label, where) if label else ""
    return display_math(f"{argument}\n{body}", number)


def listing(page, argument, opts, where) -> str:
    """A piece of the library, with the file it comes from."""
    path = (page.path.parent / argument).resolve()
    if not path.is_file():
        raise ChapterError(f"{where}: there is no file {argument}")
    text = path.read_text("utf-8")
    if "pyobject" in opts:
        text = python_object(text, opts["pyobject"], argument, where)
    elif unknown := set(opts) - {"language", "caption", "name"}:
        raise ChapterError(
            f"{where}: literalinclude's {sorted(unknown)} is not known to "
            "the notebooks; use :pyobject:"
        )
    name = path.relative_to(page.book.root).as_posix()
    language = opts.get("language", "python")
    caption = inline(page, str(opts.get("caption") or ""), where)
    return f"{caption}\n\n```{language}\n# {name}\n\n{text.rstrip()}\n```"


def python_object(text: str, dotted: str, path: str, where: str) -> str:
    """The source of one function or class, decorators included."""
    body = ast.parse(text).body
    for name in dotted.split("."):
        found = [n for n in body if getattr(n, "name", None) == name]
        if not found:
            raise ChapterError(f"{where}: {path} has no {dotted}")
        node, body = found[0], found[0].body
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    return dedent("\n".join(text.splitlines()[first - 1:node.end_lineno]))


def figure(page, argument, opts, body, where, line) -> str:
    """A picture from a file, with its number and caption."""
    caption = numbered_caption(page, parse(page, body, line))
    return picture(page, argument, opts, where) + "\n\n" + caption


def numbered_caption(page: Page, caption: str) -> str:
    """Fig. 1.2 and the caption."""
    if not caption:
        return ""
    page.figures += 1
    return f"**Fig. {figure_number(page, page.figures)}** {caption}"


def figure_number(page: Page, count: int) -> str:
    """The number of the page's figure number `count`."""
    return f"{page.book.section(page.name)}.{count}".lstrip(".")


def figure_labels(page: Page, text: str) -> Iterator[str]:
    """The label, perhaps empty, of every captioned figure in order."""
    for token, _, _ in blocks(page, text, 0):
        if not token.info.startswith("{"):
            continue
        name, _, opts, body = options(token)
        drawn = (opts.get("mystnb") or {}).get("figure") or {}
        if name == "code-cell" and drawn.get("caption"):
            yield drawn.get("name", "")
        elif name == "figure" and body.strip():
            yield opts.get("name", "")
        elif name != "code-cell":
            yield from figure_labels(page, body)


def picture(page, argument, opts, where) -> str:
    """An image that travels inside the notebook."""
    path = (page.path.parent / argument).resolve()
    kinds = {".svg": "svg+xml", ".png": "png"}
    if not path.is_file() or path.suffix not in kinds:
        raise ChapterError(
            f"{where}: {argument} is no SVG or PNG file beside the page"
        )
    data = base64.b64encode(path.read_bytes()).decode()
    alt = opts.get("alt", "")
    return f"![{alt}](data:image/{kinds[path.suffix]};base64,{data})"


def list_table(page, argument, opts, body, where) -> str:
    """A list-table of one-line cells as a Markdown table."""
    rows = [
        [inline(page, cell.strip(), where) for cell in row]
        for row in re.findall(r"^\* - (.*(?:\n  .*)*)", body, re.MULTILINE)
        for row in [re.split(r"\n  - ", row)]
    ]
    if not rows or len({len(row) for row in rows}) != 1:
        raise ChapterError(f"{where}: the rows of this list-table differ")
    head, *rest = ["| " + " | ".join(row) + " |" for row in rows]
    rule = "|" + " --- |" * len(rows[0])
    title = f"**{inline(page, argument, where)}**\n\n" if argument else ""
    return title + "\n".join([head, rule, *rest])
