"""What editors, browsers and people do to a notebook, one function each.

Every function takes the notebook (nbformat 4.5, as plain JSON) and the
released one, and returns a notebook, or bytes that are none any more.
"""

import json

ENCODED = {"byte order mark": "utf-8-sig", "utf-16": "utf-16"}
PAGE = b"<!DOCTYPE html>\n<html><title>Sign in</title></html>\n"


def colab(notebook, released):
    """Write nbformat 4.0 without cell ids, with Colab's own metadata."""
    notebook |= {"nbformat": 4, "nbformat_minor": 0}
    notebook["metadata"] |= {
        "colab": {"provenance": [], "toc_visible": True},
        "accelerator": "GPU",
    }
    for number, cell in enumerate(notebook["cells"]):
        cell["metadata"] |= {"id": cell.pop("id", f"c{number}")}
        if cell["cell_type"] == "code":
            cell["metadata"] |= {"outputId": "2f5c", "colab": {"height": 34}}
            mime = {"application/vnd.google.colaboratory.intrinsic+json": {}}
            cell["outputs"] = [
                {
                    "output_type": "display_data",
                    "data": {"text/plain": ["x"], **mime},
                    "metadata": {},
                }
            ]
    return notebook


def strip(notebook, released):
    """Lose every label: no metadata at all, no cell ids."""
    notebook["metadata"] = {}
    notebook["nbformat_minor"] = 0
    for cell in notebook["cells"]:
        cell["metadata"] = {}
        cell.pop("id", None)
    return notebook


def unlabel_tests(notebook, released):
    """Paste the checks into new cells."""
    for cell in notebook["cells"]:
        if is_test(cell):
            cell["metadata"], cell["id"] = {}, cell["id"][::-1]
    return notebook


def delete_tests(notebook, released):
    """Delete the checks."""
    notebook["cells"] = [c for c in notebook["cells"] if not is_test(c)]
    return notebook


def double(notebook, released):
    """Let every cell stand there twice, labels included."""
    notebook["cells"] = [c for c in notebook["cells"] for _ in range(2)]
    return notebook


def answer_below(notebook, released):
    """Leave the stubs alone; put each answer into a new cell below."""
    stubs = {c["id"]: c["source"] for c in released["cells"]}
    cells = []
    for cell in notebook["cells"]:
        cells.append(cell)
        if is_answer(cell) and cell["cell_type"] == "code":
            cells.append({**code_cell(cell["source"]), "id": f"n{len(cells)}"})
            cell["source"] = stubs[cell["id"]]
    notebook["cells"] = cells
    return notebook


def words_below(notebook, released):
    """Leave the stub of the words alone; write them into a new cell."""
    stubs = {c["id"]: c["source"] for c in released["cells"]}
    cells = []
    for cell in notebook["cells"]:
        cells.append(cell)
        if is_answer(cell) and cell["cell_type"] == "markdown":
            name = cell.get("id") or cell["metadata"]["id"]
            cells.append({**cell, "metadata": {}})
            cells[-1].pop("id", None)
            cell["source"] = stubs[name]
    notebook["cells"] = cells
    return notebook


def edit_points(notebook, released):
    """Raise the points, move the labels, skip and rewrite the checks."""
    notebook["metadata"]["kernelspec"] = {
        "name": "ir", "display_name": "R", "language": "R"
    }  # fmt: skip
    for cell in notebook["cells"]:
        tags = cell["metadata"].get("nbgrader", {})
        cell["metadata"]["tags"] = ["raises-exception", "skip-execution"]
        tags |= {"points": 100, "locked": False}
        if is_test(cell):
            cell["source"] = "print('all passed')"
        elif is_answer(cell):
            tags |= {"grade": True}
    return notebook


def another_course(notebook, released):
    """Be somebody else's notebook altogether."""
    source = "The Peloponnesian War: causes, course, and consequences."
    cell = {"cell_type": "markdown", "metadata": {}, "source": source}
    return {**notebook, "metadata": {}, "cells": [cell]}


def empty(notebook, released):
    """Be a file without a byte."""
    return b""


def web_page(notebook, released):
    """Be the sign-in page that the browser saved instead."""
    return PAGE


DAMAGE = {
    f.__name__.replace("_", " "): f
    for f in (
        colab, strip, unlabel_tests, delete_tests, double, answer_below,
        words_below, edit_points, another_course, empty, web_page,
    )
}  # fmt: skip


def damaged(notebook, released, names):
    """Apply the named damages in order; return the file's bytes."""
    encoding = "utf-8"
    for name in names:
        if name in ENCODED:
            encoding = ENCODED[name]
        else:
            notebook = DAMAGE[name](notebook, released)
    if isinstance(notebook, bytes):
        return notebook
    return json.dumps(notebook, indent=1, ensure_ascii=False).encode(encoding)


def is_test(cell):
    """Return whether a cell holds checks."""
    tags = cell["metadata"].get("nbgrader", {})
    return bool(tags.get("grade") and not tags.get("solution"))


def is_answer(cell):
    """Return whether a cell is a student's to fill."""
    return bool(cell["metadata"].get("nbgrader", {}).get("solution"))


def code_cell(source):
    """Return a code cell as a student adds it."""
    return {
        "cell_type": "code", "metadata": {}, "source": source,
        "outputs": [], "execution_count": None,
    }  # fmt: skip
