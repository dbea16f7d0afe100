"""nbgrader's extension points, filled with our rebuild and split run.

`nbgrader autograde` and our own `grade` go the same way through them.
"""

import random
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path

import nbformat
from nbconvert.exporters import NotebookExporter
from nbconvert.preprocessors import Preprocessor
from nbgrader.converters import Autograde
from nbgrader.preprocessors import (
    LimitOutput,
    NbGraderPreprocessor,
    SaveAutoGrades,
)
from nbgrader.utils import is_grade, is_solution

from autograder import gradebook
from autograder.course import Course
from autograder.matching import (
    names_defined,
    piece_of,
    pieces_of,
    version_of,
)
from autograder.rebuild import read_submission, rebuild_release
from autograder.releases import master_of, pair_of
from autograder.shown import safe_markdown
from autograder.split import Cell, Checker, Limits, run_cells

PRIVATE = (
    "The check did not accept the result: its type, shape or values are "
    "not what the exercise asks for."
)


@dataclass
class Session:
    """What one grading process holds on to between notebooks."""

    course: Course = field(default_factory=Course)
    limits: Limits = field(default_factory=Limits)
    seed: int | None = None  # None: drawn anew for each notebook
    checker: Checker = field(default_factory=Checker)


session = Session()  # `grade` replaces its parts; nbgrader's CLI uses these


def configure_autograde(config):
    """Let nbgrader's autograde step and its pages go our way."""
    config.Autograde.exporter_class = TolerantExporter
    config.Autograde.sanitize_preprocessors = [RebuildFromMaster]
    config.Autograde.autograde_preprocessors = [
        SplitExecute,
        LimitOutput,
        SavePatiently,
    ]
    # Nothing that lies beside a submitted notebook is copied or run.
    config.CourseDirectory.ignore = ["*"]
    config.HTMLExporter.filters = {"markdown2html": safe_markdown}
    config.HTMLExporter.preprocessors = [ShowModelAnswer]
    return config


class TolerantExporter(NotebookExporter):
    """Reads submitted files piece by piece; trusts only what we wrote."""

    def from_filename(self, filename, resources=None, **kwargs):
        """Read a notebook, a submitted one without believing its form."""
        if not Path(filename).is_relative_to(session.course.submitted):
            return super().from_filename(filename, resources, **kwargs)
        document = read_submission(filename)
        notebook = nbformat.v4.new_notebook()
        notebook.metadata.version = version_of(document)
        for piece in pieces_of(document):
            make = nbformat.v4.new_markdown_cell
            if piece.code:
                make = nbformat.v4.new_code_cell
            cell = make(piece.text)
            if piece.grade_id is not None:
                cell.metadata.nbgrader = {"grade_id": piece.grade_id}
            notebook.cells.append(cell)
        return self.from_notebook_node(notebook, resources, **kwargs)


class RebuildFromMaster(NbGraderPreprocessor):
    """Puts the student's answers into the instructor's notebook."""

    def preprocess(self, nb, resources):
        """Return the rebuilt notebook; its repairs are in the metadata."""
        names = resources["nbgrader"]
        version = nb.metadata.get("version")
        masters = pair_of(
            session.course, names["assignment"], names["notebook"], version
        )
        pieces = [piece_of(cell) for cell in nb.cells]
        rebuilt = rebuild_release(*masters, pieces, version)
        notebook = rebuilt.notebook
        notebook.metadata.grading = {"repairs": rebuilt.repairs}
        return notebook, resources


class SplitExecute(NbGraderPreprocessor):
    """Runs answers in the sandbox and tests in the checker."""

    def preprocess(self, nb, resources):
        """Fill in the outputs; the record of the run is in the metadata."""
        names = resources["nbgrader"]
        master = master_of(
            session.course,
            names["assignment"],
            names["notebook"],
            release_of(nb),
        )
        seed = session.seed
        if seed is None:
            seed = random.SystemRandom().getrandbits(31)
        record = execute(master, nb, seed)
        nb.metadata.setdefault("grading", {"repairs": []})
        nb.metadata.grading.update(seed=seed, outcomes=record)
        return nb, resources


class SavePatiently(SaveAutoGrades):
    """Saves the scores, again if the gradebook was away."""

    def preprocess(self, nb, resources):
        """Save every score of the notebook."""
        return gradebook.persist(self.save, nb, resources)

    def save(self, nb, resources):
        """Save them, if the gradebook is there."""
        with gradebook.explained(resources["nbgrader"]["db_url"]):
            return super().preprocess(nb, resources)


class PatientAutograde(Autograde):
    """nbgrader's step, which asks again for a gradebook that was away."""

    def init_assignment(self, assignment_id, student_id):
        """Enter student and submission."""
        gradebook.persist(self.enter, assignment_id, student_id)

    def enter(self, assignment_id, student_id):
        """Enter them, if the gradebook is there."""
        with gradebook.explained(self.coursedir.db_url):
            super().init_assignment(assignment_id, student_id)


def release_of(notebook):
    """Return the release whose master a rebuilt notebook comes from."""
    return notebook.metadata.get("assembled", {}).get("version")


class ShowModelAnswer(Preprocessor):
    """Puts the course's answer below a student's in words, in formgrader.

    It exists in that page alone: no file and no student's page has it.
    """

    def preprocess(self, nb, resources):
        """Return the notebook as the page shows it."""
        if "submission_id" not in resources:  # not a page of formgrader
            return nb, resources
        names = resources["assignment_id"], resources["notebook_id"]
        version = nb.metadata.get("assembled", {}).get("version")
        master = master_of(session.course, *names, version)
        model = {
            grade_id(cell): cell.source
            for cell in master.cells
            if cell.cell_type == "markdown" and is_solution(cell)
        }
        shown = []
        for cell in nb.cells:
            shown.append(cell)
            if grade_id(cell) in model:
                shown.append(model_cell(model[grade_id(cell)]))
        nb.cells = shown
        return nb, resources


def model_cell(text):
    """Return the cell that shows the course's own answer in words."""
    quoted = "\n".join(f"> {line}" for line in text.splitlines())
    head = "**The course's answer** (students never see it)"
    return nbformat.v4.new_markdown_cell(f"{head}\n\n{quoted}")


def execute(master, notebook, seed):
    """Run a rebuilt notebook, fill in its outputs; return the record."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    outcomes = run_cells(
        split_cells(master, code),
        seed,
        session.checker,
        session.limits,
    )
    record = []
    for cell, outcome in zip(code, outcomes, strict=True):
        cell.outputs = outputs_of(cell, outcome)
        record.append({"id": grade_id(cell), **asdict(outcome)})
    return record


def split_cells(master, code):
    """Return the cells for the two sides, with the names tests may use."""
    shared = {
        cell.source
        for cell in master.cells
        if cell.cell_type == "code"
        and not is_solution(cell)
        and not is_grade(cell)
    }
    locked = set().union(*(names_defined(source) for source in shared))
    answers = {
        grade_id(cell): names_defined(cell.source) - locked
        for cell in master.cells
        if cell.cell_type == "code" and is_solution(cell)
    }
    cells, names = [], set()
    for place, cell in enumerate(code):
        label = grade_id(cell) or f"cell {place}"
        names = names | answers.get(grade_id(cell), set())
        kind = kind_of(cell, shared)
        cells.append(Cell(kind, cell.source, label, tuple(sorted(names))))
    return cells


def kind_of(cell, shared):
    """Return the side a cell of the rebuilt notebook belongs to."""
    if is_solution(cell):
        return "answer"
    if is_grade(cell):
        return "test"
    return "shared" if cell.source in shared else "answer"


def grade_id(cell):
    """Return the cell's grade id, or None."""
    return cell.metadata.get("nbgrader", {}).get("grade_id")


def outputs_of(cell, outcome):
    """Return the outputs from which nbgrader reads the score."""
    new = nbformat.v4.new_output
    outputs = []
    if outcome.printed:
        outputs.append(new("stream", name="stdout", text=outcome.printed))
    if not outcome.passed:
        kind, _, text = outcome.message.partition(": ")
        if not re.fullmatch(r"\w+", kind):
            kind, text = "Failed", outcome.message
        outputs.append(new("error", ename=kind, evalue=text, traceback=[text]))
    elif outcome.credit is not None and is_grade(cell):
        points = float(cell.metadata.nbgrader.points)
        # nan is no credit: nbgrader would give it full marks
        credit = min(outcome.credit, points) if outcome.credit > 0 else 0.0
        data = {"text/plain": repr(credit)}
        outputs.append(new("execute_result", data=data))
    return outputs
