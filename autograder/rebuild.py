"""The graded notebook: the instructor's own, with the student's answers.

Only the text of answers and of extra code cells comes from the student.
matching.py finds them; what was mended is told in plain words.
"""

import json
import re
from dataclasses import dataclass, field

import nbformat
from nbgrader.preprocessors import ClearHiddenTests, ClearSolutions
from nbgrader.utils import compute_checksum, is_grade, is_solution

from autograder.identity import bytes_of, parse
from autograder.matching import (
    Piece,
    Spot,
    answer_text,
    digest_of,
    match,
    names_defined,
)


@dataclass
class Rebuilt:
    """The notebook to run, and what had to be mended to get it."""

    notebook: nbformat.NotebookNode
    repairs: list[str] = field(default_factory=list)


def read_submission(path):
    """Return the submitted file's JSON; Unreadable says why it is none."""
    return parse(bytes_of(path))


def released(master):
    """Return the text of each of the master's cells as students got it."""
    copy = nbformat.from_dict(json.loads(json.dumps(master)))
    resources = {"language": "python"}
    for clear in (ClearSolutions(), ClearHiddenTests()):
        for i, cell in enumerate(copy.cells):
            if is_grade(cell) or is_solution(cell):
                cell, resources = clear.preprocess_cell(cell, resources, i)
    return [cell.source for cell in copy.cells]


def spots_of(master, stubs=None):
    """Return the master's cells as spots: what students got, in digests.

    Of the names that a reference answer defines only those count that
    stand in the released text, so that the rest stays secret.
    """
    stubs = stubs or released(master)
    seen = set(re.findall(r"\w+", "\n".join(stubs)))
    spots = []
    for cell, stub in zip(master.cells, stubs, strict=True):
        names, role = frozenset(), "check" if is_grade(cell) else ""
        if cell.cell_type == "code":
            names = names_defined(stub)
        if is_solution(cell):
            role = "answer"
        if is_solution(cell) and cell.cell_type == "code":
            names = names_defined(cell.source) & seen
        spots.append(Spot(
            cell.cell_type == "code", tags_of(cell).get("grade_id"), role,
            digest_of(stub), frozenset(names),
        ))  # fmt: skip
    return spots


def tags_of(cell):
    """Return what nbgrader knows of a cell, perhaps nothing."""
    return cell.metadata.get("nbgrader", {})


def place_of(master):
    """Return ("symbols/beginner", version), as the master says it is."""
    ours = master.metadata.get("assembled", {})
    place = f"{ours.get('assignment')}/{ours.get('notebook')}"
    return place if ours else "", ours.get("version")


def rebuild(master, pieces, version=None):
    """Return the master with the student's answers put in."""
    stubs = released(master)
    spots = spots_of(master, stubs)
    matched = match(spots, pieces, *place_of(master), version)
    return Rebuilt(filled(master, stubs, matched), matched.repairs)


def rebuild_release(own, grading, pieces, version):
    """Return the grading master with the answers to the release `own`."""
    rebuilt = rebuild(own, pieces, version)
    if grading is own:
        return rebuilt
    known = {tags_of(cell).get("grade_id") for cell in grading.cells}
    stubs = {spot.grade_id: spot.text for spot in spots_of(own)}
    carried = [
        Piece(cell.source, cell.cell_type == "code", name)
        for cell in rebuilt.notebook.cells
        for name in [tags_of(cell).get("grade_id")]
        if (name in known or (name is None and cell.cell_type == "code"))
        and not (is_solution(cell) and digest_of(cell.source) == stubs[name])
    ]
    return Rebuilt(rebuild(grading, carried).notebook, rebuilt.repairs)


def filled(master, stubs, matched):
    """Return the notebook, answers and extra cells in their places."""
    pieces = matched.pieces
    notebook = nbformat.v4.new_notebook(
        metadata=master.metadata, nbformat_minor=5
    )
    notebook.cells = extra_cells(pieces, matched.extra.get(-1, []))
    for i, cell in enumerate(master.cells):
        copy = fresh(cell, stubs[i])
        if i in matched.taken:
            found = [pieces[n] for n in matched.taken[i]]
            is_code = cell.cell_type == "code"
            copy.source = answer_text(is_code, found) if found else stubs[i]
        notebook.cells.append(copy)
        notebook.cells += extra_cells(pieces, matched.extra.get(i, []))
    for i, cell in enumerate(notebook.cells):
        cell.id = f"cell-{i}"
    return notebook


def fresh(cell, stub):
    """Return a copy of a master's cell that tells an untouched answer."""
    copy = nbformat.from_dict(json.loads(json.dumps(cell)))
    if copy.cell_type == "code":
        copy.outputs, copy.execution_count = [], None
    if "nbgrader" in copy.metadata:
        copy.source = stub
        copy.metadata.nbgrader.checksum = compute_checksum(copy)
        copy.source = cell.source
    return copy


def extra_cells(pieces, found):
    """Return the student's own code cells as new cells."""
    return [nbformat.v4.new_code_cell(pieces[n].text) for n in found]
