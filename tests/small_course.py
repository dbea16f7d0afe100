"""A course of one tiny notebook, for the tests of grading."""

import nbformat

from autograder.course import Course

SETUP = """import numpy as np
import sympy as sp

CHECK_SEED = 1


class Mistake(AssertionError):
    pass


def check_close(got, want, name):
    if not isinstance(got, np.ndarray) or got.shape != want.shape:
        raise Mistake(f"{name}: the shape must be {want.shape}.")
    if not np.allclose(got, want):
        raise Mistake(f"{name}: the values do not add up.")
"""

SOFTMAX = """def softmax(z):
    ### BEGIN SOLUTION
    e = np.exp(z - z.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)
    ### END SOLUTION
"""
SOFTMAX_CHECK = """half = np.full((1, 2), 0.5)
check_close(softmax(np.zeros((1, 2))), half, "softmax")
### BEGIN HIDDEN TESTS
CANARY_HIDDEN = "canary-hidden-test"
z = np.random.default_rng(CHECK_SEED).normal(size=(3, 5))
e = np.exp(z)
check_close(softmax(z), e / e.sum(-1, keepdims=True), "softmax")
### END HIDDEN TESTS
"""
SLOPE = """x = sp.Symbol("x", real=True)
### BEGIN SOLUTION
slope = sp.diff(sp.tanh(x), x)
### END SOLUTION
"""
SLOPE_CHECK = """right = isinstance(slope, sp.Expr)
### BEGIN HIDDEN TESTS
t = sp.Symbol("x", real=True)
right = right and sp.simplify(slope - (1 - sp.tanh(t) ** 2)) == 0
### END HIDDEN TESTS
2.0 if right else 0.5
"""


def tags(grade_id, **more):
    """Return nbgrader's metadata for a cell."""
    base = {
        "grade": False, "solution": False, "locked": False, "task": False,
        "grade_id": grade_id, "schema_version": 3,
    }  # fmt: skip
    return {"nbgrader": {**base, **more}}


def source_notebook():
    """Return the notebook with answers and hidden tests."""
    code, text = nbformat.v4.new_code_cell, nbformat.v4.new_markdown_cell
    test = {"grade": True, "locked": True}
    hand = {"grade": True, "solution": True, "points": 3}
    cells = [
        text("# Tiny"),
        code(SETUP, metadata=tags("setup", locked=True)),
        text("## 1 · Softmax\n\n*Beginner · 2 points · chapter \"RoPE\"*"),
        code(SOFTMAX, metadata=tags("softmax", solution=True)),
        code(SOFTMAX_CHECK, metadata=tags("softmax-check", points=2, **test)),
        text("## 2 · Slope"),
        code(SLOPE, metadata=tags("slope", solution=True)),
        code(SLOPE_CHECK, metadata=tags("slope-check", points=2, **test)),
        text("## 3 · In words"),
        text("The answer, canary-solution.", metadata=tags("why", **hand)),
    ]
    for i, cell in enumerate(cells):
        cell.id = f"cell-{i}"
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata = nbformat.from_dict({
        "assembled": {
            "assignment": "tiny", "notebook": "beginner", "version": "1",
        },
        "kernelspec": {
            "display_name": "Python 3", "language": "python",
            "name": "python3",
        },
    })
    return notebook


ANSWERS = {
    "softmax": SOFTMAX.replace("### BEGIN SOLUTION", "").replace(
        "### END SOLUTION", ""
    ),
    "slope": 'x = sp.Symbol("x", real=True)\nslope = 1 - sp.tanh(x) ** 2',
    "why": "Because it does.",
}


def submission(answers=ANSWERS):
    """Return the released notebook with these answers put in."""
    from autograder.rebuild import released

    notebook = source_notebook()
    for cell, stub in zip(
        notebook.cells, released(source_notebook()), strict=True
    ):
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
        cell.source = answers.get(grade_id, stub)
    return notebook


def make(folder, **submissions):
    """Write the course and these students' notebooks; return the Course."""
    course = Course(classroom=folder / "class", source=folder / "source")
    (course.source / "tiny").mkdir(parents=True)
    nbformat.write(source_notebook(), course.source / "tiny/beginner.ipynb")
    for student, notebook in submissions.items():
        put(course, student, notebook)
    return course


def put(course, student, notebook):
    """Write one student's notebook; text and bytes are written as given."""
    home = course.submitted / student / "tiny"
    home.mkdir(parents=True, exist_ok=True)
    path = home / "beginner.ipynb"
    if isinstance(notebook, bytes):
        path.write_bytes(notebook)
    else:
        nbformat.write(notebook, path)
    return path
