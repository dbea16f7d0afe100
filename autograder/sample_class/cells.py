"""What editors and people do to the cells of a notebook.

Every function takes the notebook (nbformat 4.5, as plain JSON) and the
released one, and returns a notebook. Its docstring says what was done.
"""

import copy
import html
import itertools
import re
import textwrap


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


def labels_of_answers_lost(notebook, released):
    """Lose the metadata of the answer cells alone."""
    for cell in filter(is_answer, notebook["cells"]):
        cell["metadata"] = {}
    return notebook


def labels_renamed(notebook, released):
    """Give the answer cells labels that the course does not know."""
    for number, cell in enumerate(filter(is_answer, notebook["cells"])):
        cell["metadata"]["nbgrader"]["grade_id"] = f"cell-{number}"
    return notebook


def answers_locked(notebook, released):
    """Mark the answer cells as locked, with an old schema."""
    for cell in filter(is_answer, notebook["cells"]):
        cell["metadata"]["nbgrader"] |= {
            "solution": False, "locked": True, "schema_version": 1,
        }  # fmt: skip
    return notebook


def one_id_for_all(notebook, released):
    """Give every cell the same cell id."""
    for cell in notebook["cells"]:
        cell["id"] = "same"
    return notebook


def sources_as_lists(notebook, released):
    """Write each source as a list of lines."""
    for cell in notebook["cells"]:
        cell["source"] = cell["source"].splitlines(keepends=True)
    return notebook


def cells_of_nonsense(notebook, released):
    """Add what is no cell, and cells without source or metadata."""
    notebook["cells"] += [
        "no cell", None, {"cell_type": "code"},
        {"cell_type": "code", "source": 3, "metadata": [1]},
    ]  # fmt: skip
    return notebook


def rotated(notebook, released):
    """Move the first half of the cells behind the second."""
    middle = len(notebook["cells"]) // 2
    cells = notebook["cells"]
    notebook["cells"] = cells[middle:] + cells[:middle]
    return notebook


def upside_down(notebook, released):
    """Turn the order of the cells around."""
    notebook["cells"].reverse()
    return notebook


def handed_in_twice(notebook, released):
    """Paste the whole notebook below itself, labels included."""
    notebook["cells"] += copy.deepcopy(notebook["cells"])
    return notebook


def another_notebook_joined(notebook, released):
    """Paste the cells of another notebook of the course below."""
    says = "Assignment: `symbols/other` · release `0123456789ab`"
    notebook["cells"] += [
        {"cell_type": "markdown", "metadata": {}, "source": says},
        code_cell("other_answer = 42"),
    ]
    return notebook


def stubs_kept_above(notebook, released):
    """Answer in a copy of each answer cell; the stub stays above it."""
    stubs = sources_of(released)
    return each_answer(
        notebook, lambda cell: [{**cell, "source": stubs[cell["id"]]}, cell]
    )


def earlier_versions_above(notebook, released):
    """Keep an earlier, wrong version of each answer in a copy above it."""
    def copies(cell):
        source = f"{cell['source']}\n# not yet right"
        return [{**cell, "source": source}, cell]

    return each_answer(notebook, copies, code_only=True)


def answer_above(notebook, released):
    """Leave the stubs alone; put each answer into a new cell above."""
    stubs = sources_of(released)

    def above(cell):
        own = code_cell(cell["source"])
        return [own, {**cell, "source": stubs[cell["id"]]}]

    return each_answer(notebook, above, code_only=True)


def answers_at_the_end(notebook, released):
    """Leave the stubs alone; put all answers into new cells at the end."""
    stubs = sources_of(released)
    for cell in list(notebook["cells"]):
        if is_answer(cell) and cell["cell_type"] == "code":
            notebook["cells"].append(code_cell(cell["source"]))
            cell["source"] = stubs[cell["id"]]
    return notebook


def answer_split(notebook, released):
    """Split each answer cell: imports above, the answer in a new cell."""
    def split(cell):
        return [
            {**cell, "source": "import math\nimport numpy as np"},
            code_cell(cell["source"]),
        ]

    return each_answer(notebook, split, code_only=True)


def check_merged_into_the_answer(notebook, released):
    """Merge each answer cell with the check below it; one cell is left."""
    return merged(notebook, keep=0)


def answer_merged_into_the_check(notebook, released):
    """Merge each answer cell with the check below, whose label stays."""
    return merged(notebook, keep=1)


def answer_over_the_check(notebook, released):
    """Write each answer over the check below it; the stub stays."""
    stubs, cells = sources_of(released), notebook["cells"]
    for cell, below in itertools.pairwise(cells):
        if is_answer(cell) and is_test(below):
            below["source"] = cell["source"]
            cell["source"] = stubs[cell["id"]]
    return notebook


def checks_turned_raw(notebook, released):
    """Turn the checks into raw cells."""
    return retyped(notebook, is_test, "raw")


def checks_turned_into_text(notebook, released):
    """Turn the checks into text cells without labels."""
    return retyped(unlabel_tests(notebook, released), has_asserts, "markdown")


def answers_turned_into_text(notebook, released):
    """Turn the answers into text cells; the labels stay."""
    return retyped(notebook, is_answer, "markdown")


def answers_turned_raw(notebook, released):
    """Turn the answers in code into raw cells without labels."""
    for cell in filter(is_code_answer, notebook["cells"]):
        cell |= {"cell_type": "raw", "metadata": {}}
    return notebook


def answers_fenced_in_text(notebook, released):
    """Write the code of each answer, fenced, into a text cell below."""
    stubs = sources_of(released)

    def fenced(cell):
        source = f"```python\n{cell['source']}\n```"
        text = {"cell_type": "markdown", "metadata": {}, "source": source}
        return [{**cell, "source": stubs[cell["id"]]}, text]

    return each_answer(notebook, fenced, code_only=True)


def words_in_a_code_cell(notebook, released):
    """Turn the answer in words into a code cell; the label stays."""
    for cell in filter(is_answer, notebook["cells"]):
        if cell["cell_type"] == "markdown":
            cell |= {"cell_type": "code", "outputs": []}
    return notebook


def renamed_and_aliased(notebook, released):
    """Name the functions otherwise; give them the right names at the end."""
    def rename(source):
        for name in re.findall(r"(?m)^def (\w+)", source):
            source = re.sub(rf"\b{name}\b", f"my_{name}", source)
            source += f"\n\n{name} = my_{name}"
        return source

    return each_source(notebook, rename)


def translated(notebook, released):
    """Let the browser translate all text cells but the answers."""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown" and not is_answer(cell):
            words = len(cell["source"].split())
            cell["source"] = " ".join(["Übersetzter Text."] * words)
    return notebook


def translated_without_labels(notebook, released):
    """Let the browser translate the text cells; all labels are lost too."""
    return strip(translated(notebook, released), released)


def hidden_and_collapsed(notebook, released):
    """Hide and collapse every cell."""
    for cell in notebook["cells"]:
        cell["metadata"] |= {
            "collapsed": True, "hidden": True, "cellView": "form",
            "jupyter": {"source_hidden": True, "outputs_hidden": True},
        }  # fmt: skip
    return notebook


def form_fields(notebook, released):
    """Put a Colab title and a form field on top of each answer."""
    top = '#@title My answer { run: "auto" }\nmine = 3 #@param {type:"number"}'
    return each_source(notebook, lambda source: f"{top}\n{source}")


def timed(notebook, released):
    """Put %%time on top of each answer."""
    return each_source(notebook, lambda source: f"%%time\n{source}")


def captured(notebook, released):
    """Put %%capture on top of each answer."""
    return each_source(notebook, lambda source: f"%%capture out\n{source}")


def percent_marks(notebook, released):
    """Put an editor's cell mark, # %%, on top of each answer."""
    return each_source(notebook, lambda source: f"# %% [my answer]\n{source}")


def smart_quotes(notebook, released):
    """Pass all code through a word processor: typographic quotes."""
    return each_source(
        notebook, lambda s: s.replace('"', "”").replace("'", "’"), all_code=1
    )


def hard_blanks(notebook, released):
    """Let a web page turn the indents of all code into hard blanks."""
    return each_source(
        notebook, lambda s: s.replace("    ", "\u00a0" * 4), all_code=1
    )


def invisible_marks(notebook, released):
    """Copy the answers from a web page that hides marks in them."""
    return each_source(notebook, lambda s: s.replace("(", "(\u200b"))


def minus_signs(notebook, released):
    """Copy the answers from a PDF: minus signs that are none."""
    return each_source(notebook, lambda s: s.replace(" - ", " − "))


def tabs_and_blanks(notebook, released):
    """Indent an added line of each function by a tab, others by blanks."""
    return each_source(
        notebook,
        lambda s: re.sub(r"(?m)^(def .*:)$", r"\1\n\ttab = 1", s),
    )


def indented(notebook, released):
    """Paste each answer with four blanks before every line."""
    return each_source(notebook, lambda s: textwrap.indent(s, "    "))


def prompts(notebook, released):
    """Paste each answer from a terminal, prompts included."""
    def prompted(source):
        lines = [f"... {line}" for line in source.splitlines()]
        return "\n".join(lines).replace("... ", ">>> ", 1)

    return each_source(notebook, prompted)


def html_signs(notebook, released):
    """Pass the answers through a web form: <, > and & as entities."""
    return each_source(
        notebook, lambda s: html.escape(f"{s}\nless = 1 < 2 & 3")
    )


def merge_in_the_cells(notebook, released):
    """Leave both sides of a merge in each answer."""
    return each_source(
        notebook,
        lambda s: f"<<<<<<< HEAD\n{s}\n=======\n{s}\n>>>>>>> theirs",
    )


def windows_line_ends(notebook, released):
    """End the lines of every cell as Windows does."""
    return each_source(notebook, ends("\r\n"), all_code=1)


def old_line_ends(notebook, released):
    """End the lines of every cell with a carriage return alone."""
    return each_source(notebook, ends("\r"), all_code=1)


def unicode_line_ends(notebook, released):
    """End the lines of every cell with U+2028."""
    return each_source(notebook, ends("\u2028"), all_code=1)


def null_characters(notebook, released):
    """Put a null character at the end of every cell."""
    return each_source(notebook, lambda s: s + "\0", all_code=1)


def form_feeds(notebook, released):
    """Put a form feed between the lines of every cell."""
    return each_source(notebook, lambda s: "\f\n" + s, all_code=1)


def blanks_at_line_ends(notebook, released):
    """Add blanks at the ends of lines, lose all labels."""
    strip(notebook, released)
    return each_source(
        notebook, lambda s: s.replace("\n", "  \n"), all_code=1
    )


def editor_metadata(notebook, released):
    """Add what Jupytext, VS Code and Deepnote write; no kernel is named."""
    notebook["metadata"].pop("kernelspec", None)
    notebook["metadata"] |= {
        "jupytext": {"formats": "ipynb,py:percent"},
        "vscode": {"interpreter": {"hash": "31f2"}},
        "deepnote_notebook_id": "3a1b",
    }
    for number, cell in enumerate(notebook["cells"]):
        cell["id"] = f"{number:08x}"
        cell["metadata"] |= {"vscode": {"languageId": "python"}}
    return notebook


def another_kernel(notebook, released):
    """Save it for Julia."""
    notebook["metadata"]["kernelspec"] = {
        "name": "julia-1.10", "display_name": "Julia", "language": "julia",
    }  # fmt: skip
    notebook["metadata"]["language_info"] = {"name": "julia"}
    return notebook


def widgets_without_state(notebook, released):
    """Keep widgets in the metadata, without their state."""
    mime = "application/vnd.jupyter.widget-state+json"
    notebook["metadata"]["widgets"] = {mime: {"version_major": 2}}
    return notebook


def pictures_attached(notebook, released):
    """Paste a picture into every text cell."""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["attachments"] = {"p.png": {"image/png": "iVBORw0KGgo="}}
    return notebook


def huge_outputs(notebook, released):
    """Keep a megabyte of output below each answer."""
    for cell in filter(is_code_answer, notebook["cells"]):
        text = "0123456789abcdef\n" * 60_000
        cell["outputs"] = [
            {"output_type": "stream", "name": "stdout", "text": text}
        ]
    return notebook


# --- helpers ----------------------------------------------------------------


def sources_of(released):
    """Return {cell id: source} of the released notebook."""
    return {cell["id"]: cell["source"] for cell in released["cells"]}


def each_answer(notebook, cells_for, code_only=False):
    """Put the cells that `cells_for` returns in place of each answer."""
    cells = []
    for cell in notebook["cells"]:
        wanted = is_code_answer(cell) or (is_answer(cell) and not code_only)
        cells += cells_for(cell) if wanted else [cell]
    notebook["cells"] = cells
    return notebook


def each_source(notebook, change, all_code=False):
    """Change the text of each answer in code, or of every code cell."""
    for cell in notebook["cells"]:
        if is_code_answer(cell) or (all_code and cell["cell_type"] == "code"):
            cell["source"] = change(cell["source"])
    return notebook


def ends(mark):
    """Return a function that ends a text's lines with `mark`."""
    return lambda source: source.replace("\n", mark)


def retyped(notebook, which, kind):
    """Turn some cells into another kind."""
    for cell in filter(which, notebook["cells"]):
        cell["cell_type"] = kind
    return notebook


def merged(notebook, keep):
    """Merge each answer with the check below; keep the label of one."""
    cells = []
    for cell in notebook["cells"]:
        if cells and is_code_answer(cells[-1]) and is_test(cell):
            both = cells.pop(), cell
            texts = [part["source"] for part in both]
            cell = {**both[keep], "source": "\n".join(texts)}
        cells.append(cell)
    notebook["cells"] = cells
    return notebook


def has_asserts(cell):
    """Return whether a code cell holds checks, by its text."""
    return cell["cell_type"] == "code" and "check_" in cell["source"][:200]


def is_code_answer(cell):
    """Return whether a cell is an answer in code."""
    return is_answer(cell) and cell["cell_type"] == "code"


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
