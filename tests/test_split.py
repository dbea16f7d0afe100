"""What a test cell may do when answers run elsewhere."""

import math
import os
import time

import pytest
import small_course
from nbgrader.utils import determine_grade

from autograder import preprocessors, split
from autograder.split import Cell

SETUP = "import numpy as np\nimport sympy as sp\nCHECK_SEED = 1"
ANSWER = """
def half(x):
    if not isinstance(x, (int, float, np.ndarray)):
        raise TypeError("a number, please")
    return x / 2

class Counter:
    def __init__(self, start): self.value = start
    def step(self): self.value += 1; return self.value

table = {"a": np.arange(3.0), "b": [sp.Symbol("x") ** 2]}
print("noise")
import warnings
warnings.warn("more noise")
"""
NAMES = ("half", "Counter", "table", "absent")

GOOD = [
    "assert half(3) == 1.5",
    "assert np.array_equal(half(np.ones((2, 3))), np.full((2, 3), 0.5))",
    "c = Counter(4)\nc.step()\nassert c.step() == 6\nassert c.value == 6",
    "assert table['a'].dtype == np.float64 and table['a'][2] == 2",
    "assert table['b'][0] == sp.Symbol('x') ** 2",
    "assert callable(half) and not callable(table)",
    "assert 'absent' not in globals()",
    "assert not hasattr(Counter(1), 'nothing')",
    "assert CHECK_SEED != 1",
    "assert student_run('half(v) + 1', v=3.0) == 2.5",
    "assert student_run('a = [half(i) for i in range(3)]\\na[2]') == 1.0",
    "try:\n    half('x')\nexcept TypeError as e:\n    assert 'num' in str(e)",
    "assert sorted(k for k in table) == ['a', 'b']",
    "import sys\nprint('to stderr', file=sys.stderr)",
    "%matplotlib inline\ndisplay(3)",
]
BAD = {  # test cell: (what the message says, whether the student sees it)
    "assert half(3) == 2, 'half of 3 is not 2'": ("half of 3 is not 2", True),
    "half('x')": ("half raised TypeError: a number, please", True),
    "absent": ("its cell is missing", True),
    "half(lambda: 1)": ("use student_run", False),
    "np.testing.assert_allclose(half(3), 7)": ("DESIRED", False),
    "assert half(3) == 7": ("AssertionError", False),
    "assert half": ("not plain data", True),
    "raise SystemExit": ("SystemExit", False),
}


@pytest.fixture(scope="module")
def checker():
    with split.warm_checker() as warm:
        yield warm


def run(checker, *tests, answer=ANSWER, setup=SETUP):
    """Run these test cells after the answer; return their outcomes."""
    cells = [Cell("shared", setup, "setup"), Cell("answer", answer, "answer")]
    cells += [Cell("test", text, text, NAMES) for text in tests]
    limits = split.Limits(60, 60, 300)
    return split.run_cells(cells, 7, checker, limits)[2:]


@pytest.mark.slow
def test_what_an_author_may_write(checker):
    outcomes = run(checker, *GOOD)
    told = zip(GOOD, outcomes, strict=True)
    assert {cell: o.message for cell, o in told if not o.passed} == {}


@pytest.mark.slow
def test_what_a_student_is_told(checker):
    for cell, outcome in zip(BAD, run(checker, *BAD), strict=True):
        text, public = BAD[cell]
        assert not outcome.passed
        assert text in outcome.message, cell
        assert outcome.public == public, cell


@pytest.mark.slow
@pytest.mark.parametrize(
    ("last", "credit"),
    [("1.5", 1.5), ("np.float32(2)", 2.0), ("True", None), ("'2'", None)],
)
def test_the_last_line_may_give_partial_credit(last, credit, checker):
    (outcome,) = run(checker, f"x = 1\n{last}")
    assert (outcome.passed, outcome.credit) == (True, credit)


@pytest.mark.parametrize(
    ("credit", "points"),
    [(1.5, 1.5), (99.0, 2), (-1.0, 0), (math.nan, 0), (math.inf, 2), (0, 0)],
)
def test_partial_credit_stays_within_the_points(credit, points):
    cell = small_course.source_notebook().cells[7]
    outcome = split.Outcome(True, credit=credit)
    cell.outputs = preprocessors.outputs_of(cell, outcome)
    assert determine_grade(cell) == (points, 2)


@pytest.mark.slow
def test_torch_modules_stay_with_the_student(checker):
    answer = """
import torch
class Head(torch.nn.Module):
    def __init__(self, d):
        super().__init__()
        self.q = torch.nn.Linear(d, d, bias=False)
    def forward(self, x): return self.q(x)
Counter = Head
"""
    test = """
import torch
h = Counter(4)
x = torch.randn(2, 4)
assert torch.allclose(h(x), x @ h.q.weight.T, atol=1e-6)
g = student_run("o = h(x).sum(); o.backward(); h.q.weight.grad", h=h, x=x)
assert g.shape == (4, 4)
"""
    (outcome,) = run(checker, test, answer=answer)
    assert outcome.message == ""


@pytest.mark.slow
def test_nothing_of_one_notebook_is_left_in_the_next(checker):
    spoil = "import builtins\nbuiltins.left = np.left = 3\nleft = 4"
    run(checker, spoil, answer=spoil)
    (outcome,) = run(checker, "assert not hasattr(np, 'left')\nleft")
    assert "left" in outcome.message  # a NameError, not 3


@pytest.mark.slow
def test_a_new_process_has_the_earlier_answers(checker):
    answer = "import os\nhalf = lambda x: os._exit(0)\ntable = {'a': 1}"
    outcomes = run(checker, "half(1)", "assert table['a'] == 1", answer=answer)
    assert [outcome.passed for outcome in outcomes] == [False, True]


@pytest.mark.parametrize(
    ("load", "seconds"), [(0.1, 30), (2.0, 30), (5.0, 75), (90.0, 120)]
)
def test_a_busy_machine_costs_no_honest_answer(load, seconds, monkeypatch):
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0))
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    clock = split.Clock(split.Limits())
    left = clock.deadline(30) - time.monotonic()
    assert left == pytest.approx(seconds, abs=1)
    assert clock.deadline(1000) == clock.end
