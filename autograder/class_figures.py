"""The figures of a class, exercise by exercise, without names.

What students wrote stays out: of a message remain the words that the
course's notebook and the grader use themselves.
"""

import builtins
import functools
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from nbgrader.utils import is_solution

from autograder import Refusal, feedback, matching, rebuild
from autograder.export import read_results
from autograder.identity import Unreadable
from autograder.jobs import FAILED, GRADED, REPAIRED
from autograder.preprocessors import grade_id
from autograder.releases import master_of

WORD = re.compile(r"\w+")
RAISED = re.compile(r"( raised \w+): .*", re.DOTALL)
GAPS = re.compile(r"…(?:[^\w…]*…)+")
ODD = re.compile(r"[^\w !-~…·×−–]")  # emoji, marks that turn text around
DECIMAL = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?")
SHORT = 3  # digits; a longer number may be somebody's


@dataclass
class Check:
    """One graded test cell, over the students who changed the answer."""

    tried: int = 0
    failed: int = 0  # got less than its points


@dataclass
class Exercise:
    """One exercise over the class."""

    title: str
    max_score: float = 0
    points: list[float] = field(default_factory=list)  # of each answer
    untouched: int = 0
    waiting: int = 0  # for marks given by hand
    messages: dict[str, int] = field(default_factory=dict)  # -> students
    checks: dict[str, Check] = field(default_factory=dict)

    @property
    def mean(self):
        """Return the mean share of points, untouched as zero; or None."""
        if self.waiting and not self.points:
            return None
        count = len(self.points) + self.untouched
        whole = count * self.max_score
        return sum(self.points) / whole if whole else None

    @property
    def full(self):
        """Return how many answers got all points."""
        return sum(points >= self.max_score for points in self.points)

    @property
    def zero(self):
        """Return how many answers got no point."""
        return sum(points <= 0 for points in self.points)


@dataclass
class Notebook:
    """One notebook over the class."""

    name: str  # "symbols/beginner"
    ended: dict[str, int] = field(default_factory=dict)  # status -> number
    reasons: dict[str, int] = field(default_factory=dict)  # why they failed
    repairs: dict[str, int] = field(default_factory=dict)
    max_score: float = 0
    totals: list[float] = field(default_factory=list)  # of what was graded
    exercises: list[Exercise] = field(default_factory=list)
    problem: str = ""  # why there is no more than this

    def checks(self):
        """Return the checks that anybody tried, by name."""
        return {
            name: check
            for exercise in self.exercises
            for name, check in exercise.checks.items()
        }

    def never_failed(self):
        """Return the checks that nobody failed: they told nothing apart."""
        return [n for n, c in self.checks().items() if not c.failed]

    def always_failed(self):
        """Return the checks that all failed: is the check itself right?"""
        return [n for n, c in self.checks().items() if c.failed == c.tried]


# --- counting ---------------------------------------------------------------


def notebooks(place, assignments=()):
    """Return one Notebook for each that was graded; Refusal if none."""
    kept = defaultdict(list)
    for result in read_results(place):
        if not assignments or result["assignment"] in assignments:
            kept[result["assignment"], result["notebook"]].append(result)
    missing = set(assignments) - {assignment for assignment, _ in kept}
    if missing or not kept:
        what = " or ".join(sorted(missing)) or place.submitted
        raise Refusal(
            f"nothing of {what} is graded yet; run `python -m autograder "
            "grade` first"
        )
    return [count(place, *key, kept[key]) for key in sorted(kept)]


def count(place, assignment, notebook, results):
    """Return the figures of one notebook."""
    found = Counter(result["status"] for result in results)
    ended = {s: found[s] for s in (GRADED, REPAIRED, FAILED) if found[s]}
    book = Notebook(f"{assignment}/{notebook}", ended)
    try:
        master = master_of(place, assignment, notebook)
    except Refusal as problem:
        book.problem = str(problem)
        return book
    words, stubs = known_words(master), {}
    exercises = {}
    for result in results:
        count_end(book, result, words)
        if result["exercises"]:
            book.max_score = max(book.max_score, result["max_score"])
            book.totals.append(result["score"])
            release = result.get("release")
            if release not in stubs:
                theirs = master_of(place, assignment, notebook, release)
                stubs[release] = stubs_of(theirs)
            open_cells = untouched(place, stubs[release], result)
            count_points(exercises, master, result, open_cells, words)
    book.exercises = [exercises[place] for place in sorted(exercises)]
    for exercise in book.exercises:
        exercise.points.sort()  # the order would tell who is who
    book.totals.sort()
    return book


def count_end(book, result, words):
    """Count why one submission failed, and what was mended in it."""
    if result["reason"]:
        reason = re.sub(r" \(.*\)", "", result["reason"])
        add(book.reasons, {cut(reason, words)})
    mended = {text.partition(": ")[2] or text for text in result["repairs"]}
    add(book.repairs, {cut(text, words) for text in mended})


def count_points(exercises, master, result, open_cells, words):
    """Count one submission into {place in the notebook: Exercise}."""
    answers = {grade_id(c) for c in master.cells if is_solution(c)}
    parts = feedback.grouped(master, result["exercises"])
    for place, (heading, _, cells) in enumerate(parts):
        names = {cell["id"] for cell in cells}
        graded = [cell for cell in cells if cell["max_score"]]
        if not graded:
            continue
        exercise = exercises.setdefault(place, Exercise(heading))
        exercise.max_score = sum(cell["max_score"] for cell in graded)
        score = sum(cell["score"] for cell in graded)
        if any(cell["manual"] for cell in graded):
            exercise.waiting += 1
        elif score == 0 and names & answers <= open_cells:
            exercise.untouched += 1
        else:
            exercise.points.append(score)
            count_checks(exercise, graded, answers)
            said = messages(graded, names, result["answers"])
            add(exercise.messages, {cut(text, words) for text in said})


def count_checks(exercise, graded, answers):
    """Count which checks an answer failed."""
    for cell in graded:
        if cell["id"] not in answers:
            check = exercise.checks.setdefault(cell["id"], Check())
            check.tried += 1
            check.failed += cell["score"] < cell["max_score"]


def messages(graded, names, troubles):
    """Return what was said about one answer, each message once."""
    stopped = {
        f"the answer stopped: {trouble['error'].partition(':')[0]}"
        for trouble in troubles
        if trouble["id"] in names
    }
    return stopped | {c["message"] for c in graded if c["message"]}


def add(counts, texts):
    """Count each of the texts once more."""
    for one in texts:
        counts[one] = counts.get(one, 0) + 1


def stubs_of(master):
    """Return {answer cell: its text as it was released}."""
    return {
        grade_id(cell): matching.plain(stub)
        for cell, stub in zip(
            master.cells, rebuild.released(master), strict=True
        )
        if is_solution(cell)
    }


def untouched(place, stubs, result):
    """Return the answer cells that a student left as they were given."""
    names = result["student"], result["assignment"]
    path = place.autograded.joinpath(*names, f"{result['notebook']}.ipynb")
    try:
        pieces = matching.pieces_of(rebuild.read_submission(path))
    except Unreadable:  # removed since, perhaps; then it counts as answered
        return set()
    return {
        piece.grade_id
        for piece in pieces
        if piece.grade_id in stubs
        and matching.plain(piece.text) == stubs[piece.grade_id]
    }


# --- leaving out what students wrote ----------------------------------------


def known_words(master):
    """Return the words of the course's notebook and of the grader."""
    text = "\n".join(cell.source for cell in master.cells)
    return {*WORD.findall(text), *grader_words()}


@functools.cache
def grader_words():
    """Return the words of the grader's own sentences, and of Python's."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    text = "\n".join(path.read_text("utf-8") for path in files)
    python = [*dir(builtins), *"name is not defined".split()]
    return frozenset([*WORD.findall(text), *python])


def cut(text, words):
    """Return the text with an ellipsis for all that is not in `words`.

    An error's own text goes as a whole; short numbers stay.
    """

    def known(match):
        word = match[0]
        short = word.isascii() and word.isdecimal() and len(word) <= SHORT
        return word if short or word in words else "…"

    text = RAISED.sub(r"\1", " ".join(text.split()))
    text = WORD.sub(known, DECIMAL.sub("…", text))
    return GAPS.sub("…", ODD.sub("", text)).replace("….", "…")
