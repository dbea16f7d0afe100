"""Chapters as notebooks: current, deterministic, and nothing lost."""

import functools
import re
import shutil
from pathlib import Path

import nbformat
import pytest
from docutils import nodes

from book._ext import chapters
from book._ext.crossrefs import ChapterError

ROOT = Path(__file__).parent.parent
SAMPLE = Path(__file__).parent / "sample_book"


# The pinned Sphinx extensions call docutils by names it means to drop.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning:sphinx.*"),
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
    # Sphinx looks at every loaded module, and torch warns when looked at.
    pytest.mark.filterwarnings("ignore:.torch.distributed:FutureWarning"),
]


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """The course's own pages, read once."""
    return chapters.load(ROOT, tmp_path_factory.mktemp("doctrees"))


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """A small book that uses every form that a page may use."""
    root = tmp_path_factory.mktemp("sample")
    shutil.copytree(SAMPLE, root, dirs_exist_ok=True)
    shutil.copy(ROOT / "book/references.bib", root / "book/references.bib")
    exercises = root / "notebooks/part/beginner.ipynb"
    exercises.parent.mkdir(parents=True)
    exercises.write_text("{}")
    return chapters.load(root, root / "_build")


@pytest.fixture(scope="module")
def fresh(book):
    """Each page's notebook, made once, when it is first asked for."""
    return functools.cache(lambda page: chapters.convert(book, page))


def notebook_path(page):
    inner = page.removeprefix("book/")
    return ROOT / "notebooks/chapters" / f"{inner}.ipynb"


PAGES = chapters.chapters(ROOT)


@pytest.mark.parametrize("page", PAGES)
def test_the_committed_notebook_is_what_its_page_gives(fresh, page):
    made = chapters.as_text(fresh(page))
    assert notebook_path(page).read_text("utf-8") == made, (
        f"notebooks/chapters lags behind {page}.md: run `make notebooks`"
    )


def test_no_notebook_is_left_without_a_page():
    found = set((ROOT / "notebooks/chapters").rglob("*.ipynb"))
    assert found == {notebook_path(page) for page in PAGES}


@pytest.mark.parametrize("page", PAGES)
def test_a_notebook_is_clean(book, page):
    notebook = nbformat.read(notebook_path(page), as_version=4)
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)
    code = [c for c in notebook.cells if c.cell_type == "code"]
    assert all(c.outputs == [] and c.execution_count is None for c in code)
    library = [c for c in code if "find_spec(\"assembled\")" in c.source]
    assert len(library) == any("import assembled" in c.source
                               or "from assembled" in c.source for c in code)
    if library:
        assert code[0] is library[0]
        assert book.repository["url"] in code[0].source


def words(text):
    """The words of a text, whatever markup or quotes stand between them."""
    return re.findall(r"\w+", text.replace("_", " _ "))


def notebook_words(notebook, glued=()):
    """All words of the Markdown cells, without addresses and pictures.

    Without a run a page has no glued values, so their names go as well.
    """
    text = "\n".join(
        c.source for c in notebook.cells if c.cell_type == "markdown"
    )
    for name in glued:
        text = text.replace(f"`{name}`", "")
    text = re.sub(r"\]\((?:https?|data|mailto):[^)]*\)", "]", text)
    text = re.sub(r"^# [\w/.]+\.py$", "", text, flags=re.MULTILINE)
    return words(re.sub(r"</?(?:details|summary|sub|sup)>", " ", text))


def find_after(needle, hay, start):
    """Where `needle` stands in `hay` at or after `start`, or None."""
    for i in range(start, len(hay) - len(needle) + 1):
        if hay[i:i + len(needle)] == needle:
            return i
    return None


BLOCKS = (
    nodes.title, nodes.paragraph, nodes.math_block, nodes.caption,
    nodes.literal_block, nodes.rubric, nodes.term,
)  # fmt: skip


def elements(book, page):
    """The page's blocks in order, as Sphinx understood and resolved them."""
    doctree = book.env.get_and_resolve_doctree(page, book.env.app.builder)
    for node in doctree.findall(lambda n: isinstance(n, BLOCKS)):
        inside = node.parent
        if "cell_input" in inside.get("classes", []):
            yield "code", node.astext()
        elif "cell_output" not in inside.get("classes", []):
            yield type(node).__name__, node.astext()
    for node in doctree.findall(nodes.image):
        yield "image", node.get("alt", "")


def lost(book, page, parts, notebook):
    """The blocks of the page that are not in the notebook, in this order."""
    source = (book.root / f"{page}.md").read_text("utf-8")
    glued = re.findall(r"\{glue(?::text)?\}`(\w+)", source)
    hay, at = notebook_words(notebook, glued), 0
    code = [c.source for c in notebook.cells if c.cell_type == "code"]
    missing = []
    for kind, text in parts:
        if kind == "code":
            text = text.replace("from myst_nb import glue", "").strip("\n")
            if not any(text in source for source in code):
                missing.append((kind, text))
            continue
        for label, number in book.figures.items():
            if label:  # without a run, a drawn figure's number is unknown
                text = text.replace(label, f"Fig. {number}")
        needle = words(re.sub(r"\\(begin|end)\{(align|equation)\*?\}", "",
                              text))
        found = find_after(needle, hay, 0 if kind == "image" else at)
        if found is None:
            missing.append((kind, text))
        elif kind != "image":
            at = found + len(needle)
    return missing


@pytest.mark.parametrize("page", PAGES)
def test_nothing_of_a_page_is_lost(book, fresh, page):
    assert lost(book, page, elements(book, page), fresh(page)) == []


def test_nothing_of_the_sample_is_lost(sample):
    page = "book/forms"
    notebook = chapters.convert(sample, page)
    parts = list(elements(sample, page))
    assert {kind for kind, _ in parts} >= {
        "title", "paragraph", "math_block", "caption", "literal_block",
        "image", "code",
    }  # fmt: skip
    assert lost(sample, page, parts, notebook) == []
    for cell in notebook.cells:  # the comparison misses any cell taken away
        fewer = [c for c in notebook.cells if c is not cell]
        added = ("# Fetch", "## References")  # not from the page
        if not cell.source.startswith(added):
            less = nbformat.from_dict({**notebook, "cells": fewer})
            assert lost(sample, page, parts, less), cell.source


def test_the_sample_in_full(sample):
    """Numbers, boxes, citations and code read as on the site."""
    text = "\n\n".join(
        c.source for c in chapters.convert(sample, "book/forms").cells
    )
    for piece in (
        "# 1. Forms",
        "\\tag{1.1}",
        "equation (1.1)",
        "> **A titled box**\n>\n> Inside",
        "> ```python\n> x = 1\n> ```",
        "<details>\n<summary>Solution</summary>\n\nIt is $1+1=2$.",
        "<summary>Choice $b$ and `code`</summary>\n\nRight. It is $2+1$.",
        "**Fig. 1.1** A dot.",
        "Fig. 1.1 shows",
        "**Fig. 1.2** A drawn line.",
        "and Fig. 1.2 the line",
        "![one dot](data:image/svg+xml;base64,",
        "[Gu et al., 2025, Xiong et al., 2020]",
        "Zhang and Sennrich [2019]",
        "```python\n# library.py\n\n@staticmethod\ndef double(x):",
        "[Another page](https://colab.research.google.com/github/example/"
        "book/blob/main/notebooks/chapters/other.ipynb)",
        "[the code](https://github.com/example/book/blob/main/library.py)",
        "[the exercises](https://colab.research.google.com/github/example/"
        "book/blob/main/notebooks/part/beginner.ipynb)",
        "a literal `{role}` stays",
        "| left | right |\n| --- | --- |\n| 1 | 2 |",
        "[arXiv:2002.04745](https://arxiv.org/abs/2002.04745)",
    ):
        assert piece in text, piece
    assert ":::" not in text and "{admonition}" not in text
    assert "myst_nb" not in text


@pytest.mark.parametrize(("body", "message"), [
    ("```{mermaid}\nA-->B\n```", "book/forms:10: the directive {mermaid}"),
    ("{unheard}`of`", "book/forms:10: the role {unheard} is not known"),
    ("- item\n\n  ```{note}\n  x\n  ```", "stands inside a list"),
    ("{eq}`nowhere`", "book/forms:10: no equation is labelled nowhere"),
    ("{cite}`nobody1900x`", "nobody1900x is not in book/references.bib"),
    ("[](missing.md)", "there is no file missing.md"),
    ("{ref}`nolabel`", "nothing is labelled nolabel"),
    ("{colab}`x <part/none>`", "there is no notebook part/none"),
    ("<div>raw</div>", "html_block has no form in a notebook"),
    ("```{literalinclude} ../library.py\n:pyobject: triple\n```",
     "../library.py has no triple"),
    ("```{literalinclude} ../library.py\n:lines: 1-3\n```", "use :pyobject:"),
])  # fmt: skip
def test_what_a_notebook_cannot_say_is_one_clear_error(
    sample, body, message, monkeypatch
):
    text = (sample.root / "book/forms.md").read_text("utf-8")
    head = "\n".join(text.splitlines()[:9])
    monkeypatch.setattr(
        Path, "read_text", fake_read(Path.read_text, f"{head}\n{body}\n")
    )
    with pytest.raises(ChapterError) as error:
        chapters.convert(sample, "book/forms")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def fake_read(real, text):
    """Path.read_text, with another text for the sample's page."""
    def read(path, *args, **kwargs):
        if path.name == "forms.md":
            return text
        return real(path, *args, **kwargs)
    return read


def test_the_same_page_gives_the_same_bytes(sample):
    first, second = (
        chapters.as_text(chapters.convert(sample, "book/forms"))
        for _ in range(2)
    )
    assert first == second
