"""No submission raises its own score, and nothing stops the grading.

Each tampering submission holds wrong answers. Run as plain nbgrader runs
it, tests in the student's own process, the marked ones gain points: that
is what the split takes away, and what shows that the corpus can fail.
"""

import contextlib
import re
import shutil
import time
from pathlib import Path

import pytest
import small_course
from nbgrader.utils import determine_grade, is_grade, is_solution

from autograder import preprocessors, sandbox, split
from autograder.rebuild import piece_of, rebuild

WRONG = "def softmax(z):\n    return z\nslope = sp.Integer(7)\n"

GAINS = {  # gain points where tests run beside the answers
    "allclose patched": WRONG + "np.allclose = lambda *a, **k: True",
    "np is a fake": """
class Yes:
    shape = 1
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __getattr__(self, name): return self
    def __call__(self, *a, **k): return self
    def __truediv__(self, other): return self
np = Yes()
np.ndarray = Yes
def softmax(z): return Yes()
slope = sp.Integer(7)
""",
    "helper replaced": WRONG + "check_close = lambda *a: None",
    "simplify patched": WRONG + "sp.simplify = lambda e: 0",
    "isinstance patched and equal to all": """
class Same(np.ndarray):
    def __eq__(self, other): return True
def softmax(z):
    return np.asarray(z).view(Same)
np.allclose = lambda *a: True
slope = sp.Integer(7)
""",
    "syntax tree of later cells changed": WRONG + """
import ast
class Luck(ast.NodeTransformer):
    def visit_IfExp(self, node): return node.body
get_ipython().ast_transformers.append(Luck())
""",
    "run_code replaced": WRONG + """
async def nothing(*args, **kwargs): return False
get_ipython().run_code = nothing
""",
    "expression that always matches": """
def softmax(z): return z
class Zero(sp.Symbol):
    def __sub__(self, other): return sp.Integer(0)
slope = Zero("x")
""",
    "hidden test's expected value taken from the caller": """
import sys
def softmax(z):
    e = sys._getframe(1).f_globals.get("e", np.ones((1, 2)))
    return e / e.sum(-1, keepdims=True)
slope = sp.Integer(7)
""",
    "exception class made silent": WRONG + """
class Mistake:
    def __new__(cls, text): return SystemExit(0)
def check_close(*a): pass
""",
    "numpy's array class replaced": WRONG + """
class Any(type):
    def __instancecheck__(cls, x): return True
class Array(metaclass=Any):
    shape = None
np.random  # loaded on first use, by code that needs the real class
np.ndarray, np.allclose = Array, lambda *a: True
def softmax(z):
    class Shape:
        def __ne__(self, other): return False
    class Result:
        shape = Shape()
    return Result()
""",
    "bytecode of the helper swapped": WRONG + """
check_close.__code__ = (lambda got, want, name: None).__code__
""",
    "garbage collector finds the helper": WRONG + """
import gc
for thing in gc.get_objects():
    if getattr(thing, "__name__", "") == "check_close":
        thing.__code__ = (lambda got, want, name: None).__code__
""",
    "library shadowed in sys.modules": WRONG + """
import sys, types
fake = types.ModuleType("sympy")
fake.__dict__.update(sp.__dict__)
fake.simplify = lambda e: 0
fake.Expr = object
sys.modules["sympy"] = sp = fake
""",
}

KEEPS = {  # gain nothing anywhere, but must not break the grading either
    "exit": WRONG + "exit()",
    "sys.exit": WRONG + "import sys\nsys.exit(0)",
    "SystemExit in the function": """
def softmax(z): raise SystemExit(0)
""",
    "os._exit in the cell": WRONG + "import os\nos._exit(0)",
    "os._exit in the function": """
import os
def softmax(z): os._exit(0)
""",
    "KeyboardInterrupt": "def softmax(z): raise KeyboardInterrupt",
    "kills its parent": WRONG + """
import os, signal
os.kill(os.getppid(), signal.SIGKILL)
os.kill(1, signal.SIGKILL)
os.kill(-1, signal.SIGKILL)
""",
    "opaque object": "class Any: pass\nsoftmax = slope = Any()",
    "object equal to everything": """
class Same:
    def __eq__(self, other): return True
    def __bool__(self): return True
    def __array_function__(self, *a): return True
    def __getattr__(self, name): return self
    def __call__(self, *a, **k): return self
softmax = slope = Same()
""",
    "code in a string": """
slope = "__import__('os').system('touch /tmp/owned') or 1"
def softmax(z): return slope
""",
    "class that lies about itself": """
class Liar:
    __class__ = np.ndarray
    shape = (1, 2)
def softmax(z): return Liar()
slope = Liar()
""",
    "empty array": "def softmax(z): return np.zeros((0,))",
    "NaN": "def softmax(z): return z * np.nan",
    "threads that go on": WRONG + """
import threading
def spin():
    while True: pass
for _ in range(3): threading.Thread(target=spin, daemon=True).start()
""",
    "writes a start-up file": WRONG + """
import os
home = os.path.expanduser("~/.ipython/profile_default/startup")
os.makedirs(home, exist_ok=True)
open(home + "/x.py", "w").write("poison = 1")
""",
    "forged reply from a thread": WRONG + """
import os, json, stat
for fd in range(3, 64):
    try:
        if stat.S_ISSOCK(os.fstat(fd).st_mode):
            body = json.dumps({"value": {}, "printed": ""}).encode()
            os.write(fd, b"V" + len(body).to_bytes(4, "big") + body)
    except OSError:
        pass
""",
    "closes every descriptor": WRONG + "import os\nos.closerange(3, 64)",
    "hostile frame": WRONG + """
import os, stat
for fd in range(3, 64):
    try:
        if stat.S_ISSOCK(os.fstat(fd).st_mode):
            os.write(fd, b"\\xff" * 64)
    except OSError:
        pass
""",
    "process replaced": WRONG + """
import os, sys
os.execv(sys.executable, [sys.executable, "-c", "while True: pass"])
""",
    "partial credit as an answer": "slope = 99.0\nsoftmax = 99.0",
    "its own alarm": WRONG + """
import signal
signal.signal(signal.SIGALRM, signal.SIG_IGN)
""",
}


@pytest.fixture(scope="module")
def checker():
    with split.warm_checker() as warm:
        yield warm


@pytest.fixture
def session(checker, monkeypatch):
    limits = split.Limits(cell_s=4, test_s=4, notebook_s=60, busy=1)
    now = preprocessors.Session(checker=checker, limits=limits)
    monkeypatch.setattr(preprocessors, "session", now)
    return now


def notebook_with(code):
    """Return the rebuilt notebook whose first answer is this code."""
    answers = {"softmax": code, "slope": "pass", "why": "x"}
    cells = small_course.submission(answers).cells
    pieces = [piece_of(cell) for cell in cells]
    return rebuild(small_course.source_notebook(), pieces).notebook


def points(notebook):
    """Return the automatic points as nbgrader reads them."""
    return sum(
        determine_grade(cell)[0]
        for cell in notebook.cells
        if is_grade(cell) and not is_solution(cell)
    )


def split_points(code):
    notebook = notebook_with(code)
    master = small_course.source_notebook()
    preprocessors.execute(master, notebook, 1)
    return points(notebook)


def plain_points(code):
    """Return the points if the student's process runs the tests itself."""
    notebook = notebook_with(code)
    session = preprocessors.session
    clock = split.Clock(session.limits)
    student = split.Student(clock, session.checker.students)
    try:
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.outputs = plain_outputs(cell, student)
    finally:
        student.drop()
    return points(notebook)


def plain_outputs(cell, student):
    """Return what a notebook would show: an error, or the last value."""
    outcome = student.run(split.Cell("answer", cell.source, ""))
    shown = outcome.printed.rpartition("Out[")[2].partition(": ")[2].strip()
    with contextlib.suppress(ValueError):
        outcome.credit = float(shown) if outcome.passed else None
    outcome.printed = ""
    return preprocessors.outputs_of(cell, outcome)


HONEST_WRONG = 0.5  # the slope's check gives this for any expression


@pytest.mark.slow
@pytest.mark.parametrize("name", GAINS)
def test_tampering_gains_nothing(name, session):
    assert split_points(GAINS[name]) <= HONEST_WRONG


@pytest.mark.slow
@pytest.mark.parametrize("name", GAINS)
def test_tampering_would_gain_without_the_split(name, session):
    assert plain_points(GAINS[name]) > HONEST_WRONG


@pytest.mark.slow
@pytest.mark.parametrize("name", KEEPS)
def test_damage_costs_only_itself(name, session):
    assert split_points(KEEPS[name]) <= HONEST_WRONG


DENIAL = {  # each ends, costs only its own points, and says why
    "endless loop": ("def softmax(z):\n    while True: pass", "took too long"),
    "loop that swallows the interrupt": (
        """
import time
from pathlib import Path
def softmax(z):
    while True:
        try:
            while True: time.sleep(1)
        except BaseException:
            pass
""",
        "took too long",
    ),
    "loop in C": ("def softmax(z): sum(iter(int, 1))", "took too long"),
    "endless recursion": (
        "def softmax(z): return softmax(z)", "RecursionError",
    ),
    "memory bomb": (
        "def softmax(z): return bytearray(1 << 40)", "MemoryError",
    ),
    "slow memory bomb": (
        """
def softmax(z):
    kept = []
    while True: kept.append(bytearray(64 << 20))
""",
        "",
    ),
    "fork bomb": (
        """
import os
def softmax(z):
    while True: os.fork()
""",
        "",
    ),
    "half a gigabyte printed": (
        """
def softmax(z):
    for _ in range(500): print("x" * (1 << 20))
    return z
""",
        "",
    ),
    "huge value": (
        "def softmax(z): return np.zeros((5000, 5000))", "the shape must be",
    ),
    "deep value": (
        """
def softmax(z):
    deep = []
    for _ in range(100_000): deep = [deep]
    return deep
""",
        "the shape must be",
    ),
    "huge name of an error": (
        """
def softmax(z):
    raise type("E" * 10_000_000, (Exception,), {})("x" * 10_000_000)
""",
        "softmax raised EEE",
    ),
    "expression that never ends": (
        """
def softmax(z): return z
slope = sp.Pow(sp.Integer(9), sp.Integer(9) ** 30, evaluate=False)
""",
        "",
    ),
    "string for simplify": (
        'softmax = slope = "9**9**9**9"', "",
    ),
}  # fmt: skip


MAX_GROWTH_MIB = 200  # a flood of half a gigabyte would show


def memory_mib(field):
    """Return this process's VmRSS (now) or VmHWM (its peak), in MiB."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(rf"{field}:\s+(\d+) kB", status)[1]) / 1024


def forget_peak():
    """Let VmHWM start anew: other tests may have needed more."""
    Path("/proc/self/clear_refs").write_text("5")


def test_growth_of_memory_is_seen():
    forget_peak()
    before = memory_mib("VmRSS")
    bytearray(2 * MAX_GROWTH_MIB << 20)[:: 1 << 12]
    assert memory_mib("VmHWM") - before > MAX_GROWTH_MIB


@pytest.mark.slow
@pytest.mark.parametrize("name", DENIAL)
def test_denial_of_service_costs_only_itself(name, session):
    code, told = DENIAL[name]
    notebook = notebook_with(code + "\nafter = 1\n")
    master = small_course.source_notebook()
    forget_peak()
    before = memory_mib("VmRSS")
    record = preprocessors.execute(master, notebook, 1)
    assert points(notebook) <= HONEST_WRONG
    check = next(r for r in record if r["id"] == "softmax-check")
    assert told in check["message"]
    assert memory_mib("VmHWM") - before < MAX_GROWTH_MIB


@pytest.mark.slow
def test_one_bad_answer_costs_only_itself(session):
    answers = {
        **small_course.ANSWERS,
        "softmax": "import os\nos._exit(0)",
    }
    cells = small_course.submission(answers).cells
    master = small_course.source_notebook()
    notebook = rebuild(master, [piece_of(cell) for cell in cells]).notebook
    record = preprocessors.execute(master, notebook, 1)
    assert points(notebook) == 2  # the slope's, in full
    assert "ended Python's process" in record[1]["message"]


SLOW = {
    "a cell": "import time\ntime.sleep(60)",
    "a function": "import time\ndef softmax(z):\n    time.sleep(60)",
}


@pytest.mark.slow
@pytest.mark.parametrize("where", SLOW)
def test_the_notebooks_time_is_bounded(where, session):
    session.limits = split.Limits(cell_s=60, test_s=60, notebook_s=5, busy=1)
    notebook = notebook_with(SLOW[where])
    began = time.monotonic()
    record = preprocessors.execute(small_course.source_notebook(), notebook, 1)
    assert time.monotonic() - began < 5 + 5 * split.GRACE_S
    assert points(notebook) <= HONEST_WRONG
    assert record[-1]["message"]


@pytest.mark.slow
def test_a_cell_that_hung_is_not_replayed(session):
    cells = [
        split.Cell("answer", "while True: pass", "loop"),
        split.Cell("answer", "x = 3", "x"),
        split.Cell("answer", "import os\nos._exit(0)", "end"),
        split.Cell("test", "assert x == 3", "check", ("x",)),
    ]
    limits = split.Limits(cell_s=8, test_s=8, notebook_s=60, busy=1)
    began = time.monotonic()
    outcomes = split.run_cells(cells, 1, session.checker, limits)
    assert time.monotonic() - began < 8 + 8
    assert outcomes[3].passed


@pytest.mark.slow
def test_a_hanging_check_loses_no_later_one(session):
    cells = [
        split.Cell("shared", "base = 3", "setup"),
        split.Cell("test", "while True: pass", "first"),
        split.Cell("test", "assert base == 3", "second"),
    ]
    first, second = split.run_cells(
        cells, 1, session.checker, session.limits
    )[1:]
    assert (first.passed, first.message) == (False, "the check took too long")
    assert second.passed


USES = [  # each must fail on an opaque object, none may give a verdict
    "bool(thing)", "thing == thing", "len(thing)", "list(thing)",
    "thing[0]", "1 in thing", "thing + 1", "1 + thing", "float(thing)",
    "np.asarray(thing)", "np.sum(thing)", "np.allclose(thing, 1)",
    "np.exp(thing)", "np.add(thing, 1)", "thing < 1", "not thing",
    "sp.sympify(thing)", "max(thing, 1)", "f'{thing:.3f}'",
    "torch.sum(thing)", "torch.as_tensor(thing)", "thing.real",
]  # fmt: skip


@pytest.mark.slow
def test_opaque_objects_are_no_data(session):
    setup = "import numpy as np, sympy as sp, torch"
    cells = [
        split.Cell("shared", setup, "setup"),
        split.Cell("answer", "class T: pass\nthing = T()", "answer"),
        *(split.Cell("test", use, use, ("thing",)) for use in USES),
    ]
    limits = split.Limits(cell_s=60, test_s=10)
    outcomes = split.run_cells(cells, 1, session.checker, limits)[2:]
    given = zip(USES, outcomes, strict=True)
    assert [use for use, outcome in given if outcome.passed] == []


COMMAND = "__import__('os').mknod('/tmp/owned')"
TEXT = {  # values that become code where a test hands them to SymPy
    "text for simplify": (repr(COMMAND), "sp.simplify(thing)"),
    "text for sympify": (repr(COMMAND), "sp.sympify(thing)"),
    "text for a matrix": (f"[[{COMMAND!r}]]", "sp.Matrix(thing)"),
    "text for lambdify": (repr(COMMAND), "sp.lambdify((), thing)()"),
    "list for lambdify": (f"[{COMMAND!r}]", "sp.lambdify((), thing)()"),
    "text for subs": (repr(COMMAND), "sp.Symbol('a').subs('a', thing)"),
    "symbol for lambdify": (
        f"sp.Symbol({COMMAND!r})", "sp.lambdify((), thing)()",
    ),
    "symbol in a matrix": (
        f"sp.Matrix([[sp.Symbol({COMMAND!r})]])", "sp.lambdify((), thing)()",
    ),
}  # fmt: skip


def owned(thing, use, session):
    """Return (the verdict on the use, whether the command was run)."""
    cells = [
        split.Cell("shared", "import os\nimport sympy as sp", "setup"),
        split.Cell("answer", f"thing = {thing}", "answer"),
        split.Cell("test", use, "check", ("thing",)),
        split.Cell("test", "assert not os.path.exists('/tmp/owned')", "after"),
    ]
    outcomes = split.run_cells(cells, 1, session.checker, session.limits)
    return outcomes[2].passed, not outcomes[3].passed


@pytest.mark.slow
@pytest.mark.parametrize("name", TEXT)
def test_text_never_becomes_code_in_the_checker(name, session):
    assert owned(*TEXT[name], session) == (False, False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "file", "guard", "gone"),
    [
        ("text for simplify", "checker.py", "    guard_sympy()\n", ""),
        ("text for lambdify", "checker.py", "    guard_sympy()\n", ""),
        (
            "symbol for lambdify", "wire_sympy.py",
            "if not NAME.fullmatch(text):", "if False:",
        ),
    ],
)  # fmt: skip
def test_text_becomes_code_without_its_guard(
    name, file, guard, gone, session, monkeypatch, tmp_path
):
    weak = tmp_path / "autograder"
    shutil.copytree(sandbox.HERE, weak)
    text = (weak / file).read_text()
    assert guard in text
    (weak / file).write_text(text.replace(guard, gone))
    monkeypatch.setattr(sandbox, "HERE", weak)
    with split.warm_checker() as session.checker:
        assert owned(*TEXT[name], session)[1]
