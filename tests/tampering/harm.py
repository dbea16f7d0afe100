"""What an entry of the corpus does, with every guard and without its own.

Each function returns whether the entry gains a point or does its damage.
"""

import contextlib
import json
import os
import resource
import signal
import time

import nbformat
import small_course
import sympy as sp
from jupyter_client.kernelspec import KernelSpecManager
from nbgrader.preprocessors import CheckCellMetadata
from nbgrader.utils import determine_grade, is_grade, is_solution

from autograder import (
    identity,
    matching,
    preprocessors,
    rebuild,
    split,
    wire,
)
from tampering import bench, values
from tampering.guards import take_away

WRONG = "def softmax(z):\n    return z\nslope = sp.Integer(7)\n"
HONEST_WRONG = 0.5  # the slope's check gives this for any expression
HIDDEN = "canary-hidden-test"


def notebook_with(code, **more):
    """Return the rebuilt notebook whose first answer is this code."""
    answers = {"softmax": code, "slope": "pass", "why": "x", **more}
    cells = small_course.submission(answers).cells
    pieces = [matching.piece_of(cell) for cell in cells]
    return rebuild.rebuild(small_course.source_notebook(), pieces).notebook


def points(notebook):
    """Return the automatic points as nbgrader reads them."""
    return sum(
        determine_grade(cell)[0]
        for cell in notebook.cells
        if is_grade(cell) and not is_solution(cell)
    )


def run_split(notebook):
    """Grade the notebook as we do; return (points, what was said)."""
    master = small_course.source_notebook()
    record = preprocessors.execute(master, notebook, 1)
    return points(notebook), json.dumps(record, ensure_ascii=False)


def run_alone(notebook, folder):
    """Grade it as plain nbgrader does, tests beside the answers."""
    code = [c for c in notebook.cells if c.cell_type == "code"]
    replies, _ = bench.alone([c.source for c in code], folder)
    for cell, reply in zip(code[: len(replies)], replies, strict=True):
        cell.outputs = plain_outputs(cell, split.report(reply))
    for cell in code[len(replies) :]:
        gone = split.Outcome(False, "the kernel died")
        cell.outputs = preprocessors.outputs_of(cell, gone)
    return points(notebook), b"".join(replies).decode(errors="replace")


def plain_outputs(cell, outcome):
    """Return what a notebook would show: an error, or the last value."""
    shown = outcome.printed.rpartition("Out[")[2].partition(": ")[2].strip()
    with contextlib.suppress(ValueError):
        outcome.credit = float(shown) if outcome.passed else None
    outcome.printed = ""
    return preprocessors.outputs_of(cell, outcome)


def answers(entry, place, guarded):
    """An answer that gains points, or reads the hidden test."""
    notebook = notebook_with(WRONG + entry.body["code"])
    if guarded:
        got, said = run_split(notebook)
    else:
        got, said = run_alone(notebook, place.folder)
    if entry.body.get("damage") == "reads":
        return HIDDEN in said
    return got > HONEST_WRONG


def walls(entry, place, guarded):
    """Code that reaches for something outside of its process."""
    code = place.scene.dressed(entry.body["code"])
    if not guarded:
        replies, end = bench.alone([code], place.folder)
        said = b"".join(replies).decode(errors="replace")
        return place.scene.harmed(said) or end == "grows"
    if entry.guard == "watch over memory":
        place.patch.setattr(split.sandbox, "MAX_MEMORY", 350 << 20)
    cells = [split.Cell("answer", code, "")]
    session = preprocessors.session
    (outcome,) = split.run_cells(cells, 1, session.checker, session.limits)
    return place.scene.harmed(f"{outcome.printed} {outcome.error}")


def denial(entry, place, guarded):
    """An answer that takes time, memory or space, or ends its process."""
    code = entry.body["code"]
    if guarded:
        honest = small_course.ANSWERS["slope"]
        notebook = notebook_with(f"{code}\nafter = 1\n", slope=honest)
        if entry.mechanism == "time used up":
            place.hurry()
        bench.forget_peak()
        before = bench.memory_mib("VmRSS")
        got, said = run_split(notebook)
        grown = bench.memory_mib("VmHWM") - before
        told = entry.body["told"] in said
        return got != 2 or not told or grown > bench.MAX_GROWTH_MIB
    take_away(entry.guard, place.patch)
    sources = [small_course.SETUP, code, CALL, "1"]
    if entry.guard == "limit of a value":
        take_away("limit of printed text", place.patch)
        sources[2] = SENT
    floods = entry.mechanism == "floods of output"
    stubborn = entry.guard == "kill from outside"
    replies, end = bench.alone(
        sources, place.folder, 30 if floods else 2, stubborn
    )
    return bool(end) or max(map(len, replies)) > split.sandbox.MAX_FRAME


CALL = "softmax(np.zeros((1, 2)))"
SENT = f"""import sys
print(sys.modules["autograder.wire"].dumps({CALL}).decode())
"""


def line(entry, place, guarded):
    """Bytes on the student's line to the grader."""
    guard, make, with_guard, without = entry.body
    place.patch.setattr(split, "GRACE_S", 0.0)
    if not guarded:
        take_away(guard, place.patch)
    met = bench.spoken(make)
    assert met in (with_guard, without)
    return met == without


def report(entry, place, guarded):
    """A report on a cell that is none."""
    if not guarded:
        take_away(entry.guard, place.patch)
    try:
        return split.report(entry.body).passed
    except Exception:
        return True  # it would stop the notebook


def value(entry, place, guarded):
    """A value on the wire that is let in, runs code, or never ends."""
    data = entry.body
    place.patch.chdir(place.folder)
    if not guarded:
        take_away(entry.guard, place.patch)
    if entry.guard in values.SLOW:
        return endless(lambda: wire.loads(data))
    handle = None if guarded else lambda *parts: parts
    try:
        found = wire.loads(data, handle)
    except wire.WireError:
        return os.path.exists("owned")
    except Exception:
        return True  # an error that nobody said would come
    if entry.mechanism == values.HOSTILE:
        return True
    return os.path.exists("owned") or used(found) or "." in str(found)


def used(expression):
    """Return whether using the expression ran a command."""
    try:
        with contextlib.suppress(Exception):
            sp.lambdify([], expression)()
    except SystemExit:
        return True
    return os.path.exists("owned")


def endless(action):
    """Return whether the action is not over after a second."""
    child = os.fork()
    if child == 0:
        try:
            room = 2 << 30
            resource.setrlimit(resource.RLIMIT_DATA, (room, room))
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
            signal.alarm(30)
            action()
        except wire.WireError:
            pass
        except BaseException:
            os._exit(1)
        finally:
            os._exit(0)
    time.sleep(1.0)
    ended, status = os.waitpid(child, os.WNOHANG)
    if ended != child:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return ended != child or status != 0


def file(entry, place, guarded):
    """A change to the notebook file."""
    _, damage, change = entry.body
    answers = {"softmax": WRONG, "slope": "pass", "why": "x"}
    honest = json.loads(json.dumps(small_course.submission(answers)))
    theirs = json.loads(json.dumps(honest))
    change(theirs)
    if guarded:
        whole = json.dumps(rebuilt(theirs))
        same = graded(rebuilt(theirs)) == graded(rebuilt(honest))
        return not same or "smuggled" in whole
    return BELIEVED[damage](theirs, place)


def rebuilt(document):
    """Return the notebook that is run for a file."""
    pieces = matching.pieces_of(document)
    return rebuild.rebuild(small_course.source_notebook(), pieces).notebook


def graded(notebook):
    """Return what is graded in a notebook, in full, and its metadata."""
    cells = [
        {**cell, "id": ""}  # its place, which a cell of their own moves
        for cell in notebook.cells
        if "nbgrader" in cell.metadata
    ]
    return cells, notebook.metadata


def gains(document, place):
    """Return whether the file, believed, is worth more."""
    notebook = nbformat.from_dict(document)
    return run_alone(notebook, place.folder)[0] > HONEST_WRONG


def loses(document, place):
    """Return whether a check is not there to be graded."""
    wanted = {"softmax-check", "slope-check"}
    cells = nbformat.from_dict(document).cells
    found = {
        cell.metadata.nbgrader.grade_id
        for cell in cells
        if cell.cell_type == "code" and is_grade(cell)
        and not is_solution(cell)
    }  # fmt: skip
    return not wanted <= found


def stops(document, place):
    """Return whether reading or checking the file raises."""
    try:
        text = json.dumps(document)
        notebook = nbformat.reads(text, as_version=4)
        nbformat.validate(notebook)
        CheckCellMetadata().preprocess(notebook, {})
        kernel = notebook.metadata.kernelspec.name
        KernelSpecManager().get_kernel_spec(kernel)
        points(notebook)
    except Exception:
        return True
    return False


def carries(document, place):
    """Return whether what was smuggled in is in the believed file."""
    return "smuggled" in json.dumps(document)


BELIEVED = {
    "points": gains, "lost": loses, "stops": stops, "carried": carries,
}  # fmt: skip


def handed(entry, place, guarded):
    """A file that is no notebook of the student's."""
    path = place.folder / "handed.ipynb"
    entry.body(path)
    if not guarded:
        take_away(entry.guard, place.patch)
    try:
        if guarded:
            rebuild.read_submission(path)
        return endless(lambda: rebuild.read_submission(path)) or bool(
            rebuild.read_submission(path)
        )
    except identity.Unreadable:
        return False


def text(entry, place, guarded):
    """Text of a student's where people or programs read it."""
    guard, words, show, sign = entry.body
    if not guarded:
        take_away(guard, place.patch)
    return sign.encode("utf-8", "replace") in (
        b"\0" + show(words, place).encode("utf-8", "replace")
    )
