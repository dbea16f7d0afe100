"""No submission raises its own score, and nothing stops the grading.

The corpus is in tests/tampering. Each entry is tried with every guard,
where it must gain and harm nothing, and with its own guard taken away,
where it must do so: that shows that the corpus can fail.
"""

import shutil
import time

import pytest
import small_course
from tampering import bench, corpus, guards, harm
from tampering.harm import HONEST_WRONG, WRONG, notebook_with, points

from autograder import preprocessors, sandbox, split
from autograder.matching import piece_of
from autograder.rebuild import rebuild

KEEPS = {  # wrong answers, which must not break the grading either
    "SystemExit in the function": """
def softmax(z): raise SystemExit(0)
""",
    "KeyboardInterrupt": "def softmax(z): raise KeyboardInterrupt",
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
    "empty array": "def softmax(z): return np.zeros((0,))",
    "NaN": "def softmax(z): return z * np.nan",
    "threads that go on": WRONG
    + """
import threading
def spin():
    while True: pass
for _ in range(3): threading.Thread(target=spin, daemon=True).start()
""",
    "partial credit as an answer": "slope = 99.0\nsoftmax = 99.0",
    "its own alarm": WRONG
    + """
import signal
signal.signal(signal.SIGALRM, signal.SIG_IGN)
""",
}


@pytest.fixture(scope="module")
def checker():
    """One checker for all; after them an honest notebook gets its points."""
    with split.warm_checker() as warm:
        yield warm
        limits = split.Limits()
        with pytest.MonkeyPatch.context() as patch:
            now = preprocessors.Session(checker=warm, limits=limits)
            patch.setattr(preprocessors, "session", now)
            answers = dict(small_course.ANSWERS)
            honest = notebook_with(answers.pop("softmax"), **answers)
            assert harm.run_split(honest)[0] == 4


@pytest.fixture
def session(checker, monkeypatch):
    limits = split.Limits(cell_s=4, test_s=4, notebook_s=60, busy=1)
    now = preprocessors.Session(checker=checker, limits=limits)
    monkeypatch.setattr(preprocessors, "session", now)
    return now


class Place:
    """What an entry may need around it, made when it is asked for."""

    def __init__(self, folder, patch):
        self.around, self.patch = folder, patch
        self.folder = folder / "work"
        self.folder.mkdir()
        self.made = None

    @property
    def scene(self):
        if not self.made:
            (self.around / "scene").mkdir()
            self.made = bench.Scene(self.around / "scene")
        return self.made

    def course(self):
        return small_course.make(self.around)

    def hurry(self):
        """Wait no longer than a check of time needs."""
        limits = split.Limits(cell_s=2, test_s=2, notebook_s=60, busy=2)
        preprocessors.session.limits = limits
        self.patch.setattr(split, "GRACE_S", 1.0)


@pytest.fixture
def place(tmp_path, monkeypatch):
    here = Place(tmp_path, monkeypatch)
    yield here
    if here.made:
        here.made.close()


@pytest.mark.slow
@pytest.mark.parametrize("entry", corpus.ENTRIES, ids=str)
def test_with_every_guard_it_does_nothing(entry, place, session):
    assert not getattr(harm, entry.family)(entry, place, guarded=True)


@pytest.mark.slow
@pytest.mark.parametrize("entry", corpus.ENTRIES, ids=str)
def test_without_its_guard_it_gains_or_harms(entry, place, session):
    assert getattr(harm, entry.family)(entry, place, guarded=False)


def test_the_corpus_is_as_large_as_its_page_says():
    assert corpus.PAGE.read_text("utf-8") == corpus.page(), (
        "run `python tests/tampering` and commit what it writes"
    )
    assert len(corpus.ENTRIES) >= 40
    mechanisms = {entry.mechanism for entry in corpus.ENTRIES}
    assert mechanisms == set(corpus.DAMAGE)
    assert {entry.guard for entry in corpus.ENTRIES} == set(guards.GUARDS)
    assert len({str(entry) for entry in corpus.ENTRIES}) == len(corpus.ENTRIES)


@pytest.mark.slow
@pytest.mark.parametrize("name", KEEPS)
def test_a_wrong_answer_gains_nothing(name, session):
    notebook = notebook_with(KEEPS[name])
    assert harm.run_split(notebook)[0] <= HONEST_WRONG


def test_growth_of_memory_is_seen():
    bench.forget_peak()
    before = bench.memory_mib("VmRSS")
    bytearray(2 * bench.MAX_GROWTH_MIB << 20)[:: 1 << 12]
    grown = bench.memory_mib("VmHWM") - before
    assert grown > bench.MAX_GROWTH_MIB


FORGED = """
import json, signal, types
forged = json.dumps({"printed": "x" * 100_000})
served = signal.getsignal(signal.SIGALRM).__globals__
served["json"] = types.SimpleNamespace(
    loads=json.loads, dumps=lambda reply: forged)
"""


@pytest.mark.slow
@pytest.mark.parametrize("most", [split.MAX_PRINTED, 1 << 40])
def test_printed_text_of_all_cells_is_bounded(most, session, monkeypatch):
    monkeypatch.setattr(split, "MAX_PRINTED", most)
    cells = [split.Cell("answer", FORGED, "")]
    cells += [split.Cell("answer", "pass", "")] * 4
    outcomes = split.run_cells(cells, 1, session.checker, session.limits)
    printed = sum(len(outcome.printed) for outcome in outcomes)
    assert printed == min(most, 500_000)


HOSTILE_REPLY = """
import sys
wire = sys.modules["autograder.wire"]
VALUES = {values!r}
honest = wire.dumps
def dumps(value, opaque=None):
    return VALUES[value.number] if type(value) is Hostile else honest(
        value, opaque)
class Hostile:
    def __init__(self, number): self.number = number
wire.dumps = dumps
{names}
after = 1
"""


@pytest.mark.slow
def test_hostile_values_cost_one_check_each(session):
    """All of them from one process, through the whole way to the checker."""
    slow = harm.values.SLOW
    hostile = [
        entry.body
        for entry in corpus.ENTRIES
        if entry.family == "value" and entry.guard not in slow
        and len(entry.body) < sandbox.MAX_FRAME
    ]  # fmt: skip
    names = [f"thing{i}" for i in range(len(hostile))]
    lines = [f"{name} = Hostile({i})" for i, name in enumerate(names)]
    code = HOSTILE_REPLY.format(values=hostile, names="\n".join(lines))
    use = "assert {} == {}.__class__(1)"
    cells = [
        split.Cell("answer", code, "answer"),
        *(split.Cell("test", use.format(n, n), n, (n,)) for n in names),
        split.Cell("test", "assert after == 1", "after", ("after",)),
    ]
    limits = split.Limits(cell_s=60, test_s=10)
    outcomes = split.run_cells(cells, 1, session.checker, limits)[1:]
    passed = [o.passed for o in outcomes]
    assert passed == [False] * len(hostile) + [True]


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
    first, second = split.run_cells(cells, 1, session.checker, session.limits)[
        1:
    ]
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
        ("text for simplify", "checker.py", "=guard_sympy", "=int"),
        ("text for lambdify", "checker.py", "=guard_sympy", "=int"),
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
