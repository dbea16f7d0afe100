"""What becomes of notebooks on their way, and what the grader does then.

DAMAGE lists every kind: how it is made, which part of the work it leaves
to be graded, and a piece of what is told. cells.py holds what happens to
cells; what happens to a file stands here.
"""

import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass

from autograder.sample_class import cells

PAGE = b"<!DOCTYPE html>\n<html><title>Sign in</title></html>\n"
ALL, WORDS, NOTHING = "everything", "the words", "nothing"


@dataclass(frozen=True)
class Damage:
    """One kind of damage."""

    do: Callable  # (notebook, released) -> notebook or bytes
    told: str = ""  # piece of a repair, or of the reason for a failure
    kept: str = ALL  # what can still be graded

    @property
    def name(self):
        """Return "answer below" for the function answer_below."""
        return self.do.__name__.replace("_", " ")


def written(notebook, encoding="utf-8"):
    """Return a notebook as the bytes of a file."""
    text = json.dumps(notebook, indent=1, ensure_ascii=False)
    return text.encode(encoding)


# --- what happens to the file -----------------------------------------------


def byte_order_mark(notebook, released):
    """Save it as UTF-8 with a byte order mark."""
    return written(notebook, "utf-8-sig")


def utf_16(notebook, released):
    """Save it as UTF-16."""
    return written(notebook, "utf-16")


def utf_16_without_a_mark(notebook, released):
    """Save it as UTF-16, big-endian, without a byte order mark."""
    return written(notebook, "utf-16-be")


def utf_32(notebook, released):
    """Save it as UTF-32."""
    return written(notebook, "utf-32")


def old_windows_encoding(notebook, released):
    """Save it in the encoding that Windows had before Unicode."""
    notebook["cells"][0]["source"] += " · für Zoë"
    text = json.dumps(notebook, ensure_ascii=False)
    return text.encode("cp1252", "ignore")


def half_characters(notebook, released):
    """Write the text of emoji as halves of characters."""
    notebook["cells"][0]["source"] += " \ud83d"
    return json.dumps(notebook).encode()


def format_3(notebook, released):
    """Save it in the format of IPython 3: worksheets, input, no ids."""
    for cell in notebook["cells"]:
        cell.pop("id", None)
        if cell["cell_type"] == "code":
            cell |= {"input": cell.pop("source"), "language": "python"}
    sheet = {"cells": notebook["cells"], "metadata": {}}
    return written({
        "nbformat": 3, "nbformat_minor": 0, "worksheets": [sheet],
        "metadata": {**notebook["metadata"], "name": ""},
    })  # fmt: skip


def stray_commas(notebook, released):
    """Edit the JSON by hand: a comma after every last item."""
    text = json.dumps(notebook, indent=1)
    return text.replace("\n ]", ",\n ]").replace("\n}", ",\n}").encode()


def raw_line_ends(notebook, released):
    """Write the line ends inside the JSON's strings as they are."""
    return json.dumps(notebook).replace("\\n", "\n").encode()


def padded(notebook, released):
    """Fill the file up with null bytes, as a full disk or a sync does."""
    return written(notebook) + b"\0" * 512


def one_line(notebook, released):
    """Write the JSON as one line, keys sorted."""
    return json.dumps(notebook, sort_keys=True).encode()


def cut_off(notebook, released):
    """Break the upload off in the middle."""
    data = written(notebook)
    return data[: len(data) // 2]


def merge_in_the_file(notebook, released):
    """Leave both sides of a merge in the file."""
    return b"<<<<<<< HEAD\n%b\n=======\n%b\n>>>>>>> theirs\n" % (
        written(notebook), written(released),
    )  # fmt: skip


def a_program(notebook, released):
    """Download the program (.py) and name it .ipynb."""
    code = [c["source"] for c in notebook["cells"] if c["cell_type"] == "code"]
    return "\n\n".join(["# -*- coding: utf-8 -*-", *code]).encode()


def a_zip(notebook, released):
    """Name a zip archive with the notebook in it .ipynb."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        info = zipfile.ZipInfo("beginner.ipynb", (2026, 1, 30, 12, 0, 0))
        archive.writestr(info, written(notebook))
    return buffer.getvalue()


def a_pdf(notebook, released):
    """Print the notebook to a PDF and name that .ipynb."""
    return b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\n"


def empty(notebook, released):
    """Be a file without a byte."""
    return b""


def web_page(notebook, released):
    """Be the sign-in page that the browser saved instead."""
    return PAGE


def a_list(notebook, released):
    """Be JSON without being a notebook: the bare list of cells."""
    return json.dumps(notebook["cells"]).encode()


def without_cells(notebook, released):
    """Lose the list of cells."""
    return json.dumps({**notebook, "cells": None}).encode()


def another_course(notebook, released):
    """Be somebody else's notebook altogether."""
    source = "The Peloponnesian War: causes, course, and consequences."
    cell = {"cell_type": "markdown", "metadata": {}, "source": source}
    return {**notebook, "metadata": {}, "cells": [cell]}


BY_NAME, BY_PLACE = "found by the names", "found by its place"
KINDS = [
    # what editors and platforms save
    Damage(cells.colab),
    Damage(cells.editor_metadata),
    Damage(cells.another_kernel),
    Damage(cells.one_id_for_all),
    Damage(cells.sources_as_lists),
    Damage(cells.cells_of_nonsense),
    Damage(cells.widgets_without_state),
    Damage(cells.pictures_attached),
    Damage(cells.huge_outputs),
    Damage(cells.hidden_and_collapsed),
    Damage(cells.form_fields),
    Damage(cells.percent_marks),
    Damage(cells.timed),
    Damage(cells.captured),
    # labels lost or wrong
    Damage(cells.strip, BY_NAME),
    Damage(cells.labels_of_answers_lost, BY_NAME),
    Damage(cells.labels_renamed, BY_NAME),
    Damage(cells.answers_locked),
    Damage(cells.unlabel_tests, "the check had lost its label"),
    Damage(cells.edit_points, "the check was changed; the course's own"),
    Damage(cells.blanks_at_line_ends, BY_NAME),
    # cells moved, copied, deleted
    Damage(cells.delete_tests, "the check was missing; put back"),
    Damage(cells.double, "joined in their order"),
    Damage(cells.handed_in_twice, "joined in their order"),
    Damage(cells.stubs_kept_above, "joined in their order"),
    Damage(cells.earlier_versions_above, "joined in their order"),
    Damage(cells.rotated),
    Damage(cells.upside_down),
    Damage(cells.another_notebook_joined, "cells of symbols/other stand in"),
    Damage(cells.answer_split),
    Damage(cells.check_merged_into_the_answer, "missing; put back"),
    Damage(cells.answer_merged_into_the_check, BY_NAME),
    # answers elsewhere
    Damage(cells.answer_below, BY_NAME),
    Damage(cells.answer_above, BY_NAME),
    Damage(cells.answers_at_the_end, BY_NAME),
    Damage(cells.answer_over_the_check, BY_NAME),
    Damage(cells.answers_fenced_in_text, BY_NAME),
    Damage(cells.words_below, BY_PLACE),
    # cells of another kind
    Damage(cells.checks_turned_raw),
    Damage(cells.checks_turned_into_text, "the check was missing; put back"),
    Damage(cells.answers_turned_into_text, "the cell's kind was changed"),
    Damage(cells.answers_turned_raw, BY_NAME),
    Damage(cells.words_in_a_code_cell, "the cell's kind was changed"),
    # texts changed
    Damage(cells.renamed_and_aliased),
    Damage(cells.translated),
    Damage(cells.translated_without_labels, BY_NAME),
    Damage(cells.smart_quotes, "typographic"),
    Damage(cells.hard_blanks, "typographic"),
    Damage(cells.invisible_marks, "typographic"),
    Damage(cells.minus_signs, "typographic"),
    Damage(cells.tabs_and_blanks, "tabs were turned into four blanks"),
    Damage(cells.indented, "a common indent was taken away"),
    Damage(cells.prompts, "prompts were taken away"),
    Damage(cells.html_signs, "signs such as &lt; were turned back"),
    Damage(cells.windows_line_ends),
    Damage(cells.old_line_ends),
    Damage(cells.unicode_line_ends, "typographic"),
    Damage(cells.null_characters),
    Damage(cells.form_feeds),
    Damage(cells.merge_in_the_cells, "both sides of a merge", WORDS),
    # the file
    Damage(byte_order_mark),
    Damage(utf_16),
    Damage(utf_16_without_a_mark),
    Damage(utf_32),
    Damage(old_windows_encoding),
    Damage(half_characters),
    Damage(format_3),
    Damage(stray_commas),
    Damage(raw_line_ends),
    Damage(padded),
    Damage(one_line),
    # nothing left to grade
    Damage(cut_off, "damaged or cut off", NOTHING),
    Damage(merge_in_the_file, "torn by a merge", NOTHING),
    Damage(a_program, "a program, not the notebook", NOTHING),
    Damage(a_zip, "a zip archive named .ipynb", NOTHING),
    Damage(a_pdf, "a PDF", NOTHING),
    Damage(empty, "empty file", NOTHING),
    Damage(web_page, "a web page", NOTHING),
    Damage(a_list, "not a notebook", NOTHING),
    Damage(without_cells, "not a notebook", NOTHING),
    Damage(another_course, "none of", NOTHING),
]
DAMAGE = {kind.name: kind for kind in KINDS}


def damaged(notebook, released, names):
    """Apply the named damages in order; return the file's bytes."""
    for name in names:
        notebook = DAMAGE[name].do(notebook, released)
    return notebook if isinstance(notebook, bytes) else written(notebook)
