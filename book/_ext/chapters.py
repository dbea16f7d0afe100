"""Chapters to notebooks that Colab opens: python -m book._ext.chapters

A page's text becomes plain Markdown, its cells stay as they are, and no
output is stored. The same pages give the same bytes.
"""

import hashlib
import sys
import tempfile
from pathlib import Path

import nbformat
import yaml
from nbformat import NotebookNode

from book._ext.crossrefs import Book, ChapterError, read_book, reference_line
from book._ext.directives import (
    directive,
    figure_labels,
    figure_number,
    numbered_caption,
    options,
)
from book._ext.plain_markdown import Page, block, blocks, inline

ROOT = Path(__file__).resolve().parents[2]
HIDDEN = {"hide-input", "remove-input", "hide-cell", "remove-cell"}
GLUE = '''\
def glue(name, value, display=True):
    """Show a value that the site's text quotes."""
    from IPython.display import display as show

    if display:
        print(f"{name}:", end=" ")
        show(value)
'''


def code_cell(page: Page, token, where: str) -> tuple[NotebookNode, str]:
    """A code cell, and the caption of the figure it draws, if any."""
    _, _, opts, body = options(token)
    if "load" in opts:
        raise ChapterError(f"{where}: a cell with :load: has no code of its "
                           "own; write the code in the cell")
    source = body.strip("\n")
    if "from myst_nb import glue" in source:
        source = source.replace("from myst_nb import glue", "").strip("\n")
        source = GLUE + "\n\n" + source
    cell = nbformat.v4.new_code_cell(source.rstrip())
    if HIDDEN & set(opts.get("tags", [])):
        cell.metadata["jupyter"] = {"source_hidden": True}
        cell.metadata["cellView"] = "form"
    drawn = (opts.get("mystnb") or {}).get("figure") or {}
    caption = inline(page, drawn.get("caption", "").strip(), where)
    return cell, numbered_caption(page, caption)


def install_cell(book: Book):
    """The one guarded cell that fetches the library where it is missing."""
    repo = book.repository
    address = f"assembled @ git+{repo['url']}@{repo['branch']}"
    return nbformat.v4.new_code_cell(
        "# Fetch the course's library, but only where it is missing.\n"
        "import importlib.util\n"
        "import subprocess\n"
        "import sys\n\n"
        'if importlib.util.find_spec("assembled") is None:\n'
        "    subprocess.run(\n"
        '        [sys.executable, "-m", "pip", "install", "--quiet",\n'
        f'         "{address}"],\n'
        "        check=True,\n"
        "    )"
    )


def cells_of(page: Page) -> list[NotebookNode]:
    """The page's cells; a Markdown cell ends at a heading or at code."""
    cells, prose = [], []

    def flush() -> None:
        text = "\n\n".join(part.strip("\n") for part in prose if part)
        if text:
            cells.append(nbformat.v4.new_markdown_cell(text))
        prose.clear()

    text = page.path.read_text("utf-8")
    for token, source, line in blocks(page, text, 0):
        where = f"{page.name}:{line + 1}"
        if token.type == "fence" and token.info.startswith("{code-cell}"):
            flush()
            cell, caption = code_cell(page, token, where)
            cells.append(cell)
            prose.append(caption)
        else:
            if token.type in ("heading_open", "myst_block_break"):
                flush()
            prose.append(block(page, token, source, line))
    flush()
    return cells


def load(root: Path, scratch: Path) -> Book:
    """All pages, with the numbers of the figures that cells draw."""
    book = read_book(root, scratch)
    for name in chapters(root):
        page = Page(book, name, directive, [])
        text = page.path.read_text("utf-8")
        for count, label in enumerate(figure_labels(page, text), 1):
            book.figures[label] = figure_number(page, count)
    return book


def convert(book: Book, name: str) -> NotebookNode:
    """The notebook of one page."""
    page = Page(book, name, directive, book.headings(name))
    cells = cells_of(page)
    code = [i for i, cell in enumerate(cells) if cell.cell_type == "code"]
    if any("assembled" in cells[i].source for i in code):
        cells.insert(code[0], install_cell(book))
    if page.cited:
        lines = sorted(reference_line(book.papers[k]) for k in page.cited)
        text = "## References\n\n" + "\n".join(lines)
        cells.append(nbformat.v4.new_markdown_cell(text))
    name_cells(cells)
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata = nbformat.from_dict({
        "colab": {"provenance": []},
        "kernelspec": {
            "display_name": "Python 3", "language": "python",
            "name": "python3",
        },
        "language_info": {"name": "python"},
        "source": f"{name}.md",
    })
    nbformat.validate(notebook)
    return notebook


def name_cells(cells: list[NotebookNode]) -> None:
    """Give each cell an id made from its content and its repetition."""
    seen: dict[str, int] = {}
    for cell in cells:
        text = f"{cell.cell_type}\0{cell.source}"
        seen[text] = seen.get(text, 0) + 1
        whole = f"{text}\0{seen[text]}"
        cell["id"] = hashlib.sha256(whole.encode()).hexdigest()[:12]


def chapters(root: Path) -> list[str]:
    """The pages of the contents that are notebooks."""
    toc = yaml.safe_load((root / "_toc.yml").read_text("utf-8"))
    pages = [toc["root"]]
    pages += [c["file"] for p in toc["parts"] for c in p["chapters"]]
    return [
        page for page in pages
        if "\nkernelspec:" in (root / f"{page}.md").read_text("utf-8")
    ]


def as_text(notebook: NotebookNode) -> str:
    """The notebook's file."""
    return nbformat.writes(notebook, indent=1).rstrip("\n") + "\n"


def render(root: Path) -> dict[Path, str]:
    """Every chapter's notebook as text, by its path under the root."""
    made = {}
    with tempfile.TemporaryDirectory() as scratch:
        book = load(root, Path(scratch))
        for name in chapters(root):
            inner = Path(name.removeprefix("book/")).with_suffix(".ipynb")
            path = Path("notebooks/chapters") / inner
            made[path] = as_text(convert(book, name))
    return made


def write(root: Path) -> list[Path]:
    """Write the notebooks, and remove those that have no page any more."""
    made = render(root)
    for old in (root / "notebooks/chapters").rglob("*.ipynb"):
        if old.relative_to(root) not in made:
            old.unlink()
    for path, text in made.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
    return list(made)


def main() -> int:
    """Write them all; a page that cannot be turned is one clear sentence."""
    try:
        made = write(ROOT)
    except ChapterError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{len(made)} chapters in notebooks/chapters")
    return 0


if __name__ == "__main__":
    sys.exit(main())
