"""Run one notebook split in two: answers here, verdicts there.

The student's process runs answers; the checker's process runs tests and
asks for the student's values through us. We pass bytes on without looking
inside, watch the clock, and restart whichever side dies or hangs.
"""

import contextlib
import json
import os
import time
from dataclasses import dataclass, field

from autograder import nursery, sandbox
from autograder.nursery import Nursery
from autograder.sandbox import Box, Gone, Late

GRACE_S = 3.0  # between the interrupt inside and the kill from outside
MAX_STALE = 100  # replies to earlier requests that are dropped
MAX_REPORT = 1 << 18  # bytes of what a cell reports: error and printed text
MAX_PRINTED = 200_000  # characters that all cells of a notebook print


@dataclass(frozen=True)
class Limits:
    """Seconds of wall time; a cell has more of them on a busy machine."""

    cell_s: float = 30.0
    test_s: float = 30.0
    notebook_s: float = 300.0
    busy: float = 4.0  # so many times longer at most


def crowding(most):
    """Return how many programs share a core now, from 1 to `most`.

    Another submission's loops must not cost an honest answer its time.
    """
    shared = os.getloadavg()[0] / (os.cpu_count() or 1)
    return min(max(shared, 1.0), most)


@dataclass(frozen=True)
class Cell:
    """A code cell of the rebuilt notebook, as the two sides see it."""

    kind: str  # "answer": student's side · "test": checker's · "shared": both
    source: str
    label: str  # grade id, or its place
    names: tuple[str, ...] = ()  # the student's names it may use


@dataclass
class Outcome:
    """What became of one cell; an answer is `passed` if it did not raise."""

    passed: bool
    message: str = ""
    public: bool = True  # whether the student may read the message
    credit: float | None = None  # a test's own partial credit
    printed: str = ""
    error: dict | None = None

    def __post_init__(self):
        self.message, self.printed = clean(self.message), clean(self.printed)


def clean(text):
    """Return the text without halves of characters, which no file takes."""
    return text.encode("utf-8", "replace").decode("utf-8")


class Clock:
    """The notebook's deadline, and those of cells below it."""

    def __init__(self, limits):
        self.limits = limits
        self.end = time.monotonic() + limits.notebook_s

    def deadline(self, seconds):
        """Return the moment that is `seconds` away, or the notebook's end."""
        seconds *= crowding(self.limits.busy)
        return min(time.monotonic() + seconds, self.end)

    def over(self):
        """Return whether the notebook's time is used up."""
        return time.monotonic() >= self.end


# --- the student's side -----------------------------------------------------


@dataclass
class Student:
    """The student's process, and what must be replayed if it dies."""

    clock: Clock
    nursery: Nursery
    extras: int = 0  # bits: the libraries that its cells need
    box: Box | None = None
    number: int = 0  # of the last request, modulo 256
    done: list[Cell] = field(default_factory=list)

    def run(self, cell):
        """Run a cell; one that hangs or kills is never run again."""
        try:
            self.revive()
            reply = self.run_in(cell)
        except (Gone, Late) as problem:
            self.drop()
            return Outcome(False, sentence(problem, "the cell"))
        outcome = report(reply)
        if not outcome.error or outcome.error["type"] != "Overtime":
            self.done.append(cell)
        return outcome

    def run_in(self, cell):
        """Send one cell to the living process; return the reply's bytes."""
        request = {"op": "run", "source": cell.source}
        deadline = self.clock.deadline(self.clock.limits.cell_s)
        return self.exchange(request, deadline)

    def ask(self, payload, deadline):
        """Pass a checker's request on; return the reply's bytes."""
        try:
            self.revive()
            return self.exchange(json.loads(payload), deadline)
        except (Gone, Late):
            self.drop()
            raise

    def exchange(self, request, deadline):
        """Send a numbered request, wait for the reply of that number."""
        seconds = deadline - time.monotonic()
        if seconds <= 0:
            raise Late
        self.number = (self.number + 1) % 256
        kind = bytes([self.number])
        request = json.dumps({**request, "seconds": seconds})
        data = request.encode("utf-8", "surrogatepass")
        sandbox.send(self.box, kind, data, deadline)
        for _ in range(MAX_STALE):
            found, payload = sandbox.receive(self.box, deadline + GRACE_S)
            if found == kind:
                return payload
        raise Gone("flooded the line with replies")

    def revive(self):
        """Start the process if there is none; replay the earlier cells."""
        while self.box is None:
            if self.clock.over():
                raise Late
            self.box = self.nursery.fresh(self.extras)
            for cell in list(self.done):
                try:
                    self.run_in(cell)
                except (Gone, Late):
                    self.done.remove(cell)
                    self.drop()
                    break

    def drop(self):
        """End the process, and all that it has started."""
        self.nursery.end()
        self.box = None


def report(payload):
    """Return the Outcome that a cell's reply describes; trust none of it."""
    broken = Outcome(False, "the cell broke the connection to the grader")
    if len(payload) > MAX_REPORT:
        return broken
    try:
        reply = json.loads(payload)
        error, printed = reply.get("error"), str(reply["printed"])
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        return broken
    if not error:
        return Outcome(True, printed=printed)
    if not isinstance(error, dict):
        return broken
    error = {
        key: clean(str(error.get(key) or ""))[:600] for key in ERROR_PARTS
    }
    message = f"{error['type']}: {error['text']}".rstrip(": ")
    return Outcome(False, message, printed=printed, error=error)


ERROR_PARTS = ("type", "text", "line")


def sentence(problem, what):
    """Return why a process had to be ended."""
    if isinstance(problem, Late):
        return f"{what} took too long"
    return f"{what} {problem}"


# --- the checker's side -----------------------------------------------------


@dataclass
class Checker:
    """The checker's process for this notebook, and the two nurseries."""

    unsafe: bool = False
    line: Box | None = None
    done: list[dict] = field(default_factory=list)
    extras: int = 0  # bits: the libraries that the cells need

    def __post_init__(self):
        self.checkers = nursery.checkers(self.unsafe)
        self.students = nursery.students(self.unsafe)

    def fresh(self):
        """Take a child with nothing in it; the former one is ended."""
        self.line = self.checkers.fresh(self.extras)

    def begin(self, cells):
        """Forget the former notebook; be ready for this one's cells."""
        self.done = []
        self.extras = nursery.extras_of(cell.source for cell in cells)
        self.fresh()

    def judge(self, task, student, seconds):
        """Run one cell in the checker; return its verdict.

        A checker that hangs or dies is replaced, and the shared cells are
        replayed in it, so that the next test finds its place.
        """
        try:
            return self.converse(task, student, seconds)
        except (Gone, Late) as problem:
            self.recover(student)
            return {**FAILED, "message": sentence(problem, "the check")}

    def recover(self, student):
        """Fork a new child and replay the shared cells."""
        self.fresh()
        for task in list(self.done):
            try:
                self.converse(task, student, student.clock.limits.cell_s)
            except (Gone, Late):
                self.done.remove(task)
                self.fresh()

    def converse(self, task, student, seconds):
        """Send a task, serve its questions, return the verdict."""
        deadline = student.clock.deadline(seconds)
        last = deadline + 2 * GRACE_S
        data = json.dumps(task).encode("utf-8", "surrogatepass")
        sandbox.send(self.line, b"T", data, last)
        while True:
            kind, payload = sandbox.receive(self.line, last)
            if kind == b"V":
                return json.loads(payload)
            try:
                reply = student.ask(payload, deadline)
                sandbox.send(self.line, b"R", reply, last)
            except (Gone, Late) as problem:
                text = sentence(problem, "your code").encode()
                sandbox.send(self.line, b"X", text, last)

    def close(self):
        """End all processes."""
        self.checkers.close()
        self.students.close()
        self.line = None


FAILED = {"passed": False, "credit": None, "public": True}


# --- both -------------------------------------------------------------------


def run_cells(cells, seed, checker, limits=Limits()):
    """Run a notebook's code cells in order; return one Outcome each."""
    checker.begin(cells)
    student = Student(Clock(limits), checker.students, checker.extras)
    outcomes, room = [], MAX_PRINTED
    try:
        for place, cell in enumerate(cells):
            outcome = run_one(cell, seed + place, student, checker)
            outcome.printed = outcome.printed[:room]
            room -= len(outcome.printed)
            outcomes.append(outcome)
    finally:
        student.drop()
    return outcomes


def run_one(cell, seed, student, checker):
    """Run one cell where it belongs."""
    clock = student.clock
    if clock.over():
        return Outcome(False, "the notebook's time was used up before this")
    outcome = None
    if cell.kind != "test":
        outcome = student.run(cell)
    if cell.kind == "answer":
        return outcome
    task = {
        "source": cell.source,
        "label": cell.label,
        "names": cell.names,
        "seed": seed,
    }
    if cell.kind == "shared":
        checker.judge(task, student, clock.limits.cell_s)
        checker.done.append(task)
        return outcome
    verdict = checker.judge(task, student, clock.limits.test_s)
    return Outcome(**{key: verdict[key] for key in VERDICT})


VERDICT = ("passed", "message", "public", "credit")


@contextlib.contextmanager
def warm_checker(unsafe=False):
    """Hold a checker server for a series of notebooks."""
    checker = Checker(unsafe)
    try:
        yield checker
    finally:
        checker.close()
