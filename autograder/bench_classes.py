"""Classes of honest submissions for `bench`: names, sources, answers."""

import random
import shutil
from pathlib import Path

import nbformat
from nbgrader.utils import is_solution

from autograder import mutants, rebuild
from autograder.course import Course
from autograder.preprocessors import grade_id
from autograder.release import SOLUTIONS, source_notebook

TORCH_SETUP = """import torch

CHECK_SEED = 7


def check_close(got, want):
    assert isinstance(got, torch.Tensor), "return a tensor"
    assert got.shape == want.shape, f"the shape must be {tuple(want.shape)}"
    assert torch.allclose(got, want), "the values are not right"
"""
TORCH = {  # exercise: its answer, its test
    "softmax": (
        "def softmax(z):\n    e = torch.exp(z - z.amax(-1, keepdim=True))\n"
        "    return e / e.sum(-1, keepdim=True)",
        "z = torch.randn(3, 5, dtype=torch.float64)\n"
        "check_close(softmax(z), torch.softmax(z, -1))",
    ),
    "rms_norm": (
        "def rms_norm(x):\n"
        "    return x / x.square().mean(-1, keepdim=True).sqrt()",
        "x = torch.randn(4, 6, dtype=torch.float64) + 3\n"
        "check_close(rms_norm(x).square().mean(-1),"
        " torch.ones(4, dtype=torch.float64))",
    ),
    "causal": (
        "def causal(scores):\n    n = scores.shape[-1]\n"
        "    hidden = torch.ones(n, n, dtype=torch.bool).triu(1)\n"
        "    return scores.masked_fill(hidden, -torch.inf)",
        "masked = causal(torch.zeros(4, 4, dtype=torch.float64))\n"
        "check_close(masked.isinf().sum(), torch.tensor(6))",
    ),
}
SPIN = (
    "import time\n\n\ndef spin():\n    start = time.process_time()\n"
    "    while time.process_time() - start < {seconds}:\n        pass\n"
    "    return 1"
)


def torch_class():
    """Return the one source notebook of the class that imports torch."""
    return {"torch": small_notebook(TORCH_SETUP, TORCH)}


def heavy_class(seconds):
    """Return a notebook whose one test takes these seconds of one core."""
    answer = SPIN.format(seconds=seconds)
    return {"heavy": small_notebook("", {
        "spin": (answer, "assert spin() == 1"),
    })}


def symbols_class():
    """Return the three source notebooks of the assignment `symbols`."""
    return {
        path.stem: source_notebook(path)
        for path in sorted((SOLUTIONS / "symbols").glob("*.py"))
    }


def small_notebook(setup, exercises):
    """Return a source notebook of these exercises, two points each."""
    new = nbformat.v4.new_code_cell
    cells = [new(setup, metadata=tags("setup", locked=True))]
    for name, (answer, test) in exercises.items():
        marked = f"### BEGIN SOLUTION\n{answer}\n### END SOLUTION"
        cells += [
            new(marked, metadata=tags(name, solution=True)),
            new(test, metadata=tags(f"{name}-check", grade=True, points=2,
                                    locked=True)),
        ]
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
    kernel = {"name": "python3", "display_name": "", "language": "python"}
    return nbformat.v4.new_notebook(cells=cells,
                                    metadata={"kernelspec": kernel})


def tags(name, **more):
    """Return nbgrader's metadata for a cell."""
    plain = dict.fromkeys(("grade", "solution", "locked", "task"), False)
    tags = {**plain, "grade_id": name, "schema_version": 3, **more}
    return {"nbgrader": tags}


def make(folder, assignment, sources, size, seed=1):
    """Write a class of `size` students; return its Course and students.

    Student n hands in the notebook n modulo their number, each exercise
    with the reference answer or one of the unusual right ones.
    """
    shutil.rmtree(folder, ignore_errors=True)
    course = Course(classroom=Path(folder), source=Path(folder) / "source")
    home = course.source / assignment
    home.mkdir(parents=True)
    for name, source in sources.items():
        nbformat.write(source, home / f"{name}.ipynb")
    students, draw = [], random.Random(seed)
    for number in range(size):
        level = sorted(sources)[number % len(sources)]
        students.append(f"student-{number:03}")
        home = course.submitted / students[-1] / assignment
        home.mkdir(parents=True)
        notebook = submission(sources[level], assignment, level, draw)
        nbformat.write(notebook, home / f"{level}.ipynb")
    return course, students


def submission(source, assignment, level, draw):
    """Return the released notebook with right answers put in."""
    notebook = nbformat.from_dict(source)
    unusual = mutants.load(assignment, level)
    texts = rebuild.released(source)
    for cell, text in zip(notebook.cells, texts, strict=True):
        own = cell.source
        cell.source = text
        if is_solution(cell):
            right = [a.code for a in unusual.get(grade_id(cell), ())
                     if not a.loses]
            cell.source = draw.choice([own, *right])
    return notebook
