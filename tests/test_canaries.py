"""What must stay hidden is in nothing that a submission can bring about.

A class of anglers looks for canaries in hidden tests, answers, gradebook,
a neighbour's file and the grader's environment, and puts what it finds
into every channel it has. Without the sandbox the same class finds them.
"""

import json
import os
import re
import subprocess
import sys

import pytest
import small_course
from small_course import ANSWERS, submission

from autograder import gradebook, sandbox
from autograder.course import ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not sandbox.installed(), reason="bubblewrap is not installed"
    ),
]
CANARIES = {
    "canary-hidden-test", "canary-solution", "canary-gradebook",
    "canary-neighbour", "canary-environment",
}  # fmt: skip
FISH = r"""
import glob, os, re, sys
from pathlib import Path

def ancestors():
    place = "self"
    for _ in range(3):  # the zygote, a worker, the command itself
        stat = Path(f"/proc/{place}/stat").read_text()
        place = stat.rpartition(")")[2].split()[1]
        yield f"/proc/{place}/environ"

def fish():
    catch = []
    for path in [*glob.glob("CLASSROOM/**/*", recursive=True), *ancestors()]:
        try:
            catch.append(Path(path).read_text("latin-1"))
        except OSError:
            pass
    frame = sys._getframe()
    while frame:
        catch.append(str(frame.f_globals.get("CANARY_HIDDEN")))
        frame = frame.f_back
    return "_".join(sorted({*re.findall(r"canary-[a-z-]+", str(catch))}))
"""
ANGLERS = {
    "prints": "print(fish())",
    "prints-errors": "print(fish(), file=sys.stderr)",
    "shows": "display(fish())",
    "raises": "raise ValueError(fish())",
    "raises-later": "def softmax(z): raise ValueError(fish())",
    "names-an-error": "raise type(fish() or 'E', (Exception,), {})",
    "returns-text": "def softmax(z): return fish()",
    "returns-a-symbol": "slope = sp.Symbol(fish() or 'x')",
    "lacks-an-attribute": "softmax = slope = type(fish() or 'T', (), {})()",
    "exits": "sys.exit(fish())",
}


@pytest.fixture
def course(tmp_path):
    """A class of anglers, and bob, who has something to lose."""
    bob = submission({**ANSWERS, "why": "My canary-neighbour."})
    course = small_course.make(tmp_path, bob=bob)
    for name, code in ANGLERS.items():
        code = FISH.replace("CLASSROOM", str(tmp_path)) + code
        small_course.put(course, name, submission({"softmax": code}))
    gradebook.prepare(course, "tiny", ["bob"])
    with gradebook.opened(course) as book:
        book.update_or_create_student("bob", last_name="canary-gradebook")
    return course


def graded(course, *words):
    """Grade the class in a process of its own; return what was printed."""
    done = subprocess.run(
        [sys.executable, "-m", "autograder", "grade", "-j1", *words,
         "--classroom", str(course.classroom), "--source", str(course.source)],
        env={**os.environ, "GRADER_SECRET": "canary-environment"},
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def brought_about(course, angler):
    """Yield (channel, text) for all that an angler's file can reach."""
    for folder in (course.feedback / angler, course.grades):
        for path in folder.rglob("*"):
            theirs = "results" not in path.parts or angler in path.parts
            if path.is_file() and theirs:
                yield path.name, path.read_text("utf-8")
    path = course.autograded / angler / "tiny" / "beginner.ipynb"
    notebook = json.loads(path.read_text("utf-8"))
    outputs = [cell.get("outputs") for cell in notebook["cells"]]
    yield "outputs", json.dumps([outputs, notebook["metadata"]])


def caught(course, printed):
    """Return {canary: who brought it where}."""
    found = {}
    for angler in ANGLERS:
        channels = [("printed", printed), *brought_about(course, angler)]
        for channel, text in channels:
            for canary in CANARIES & {*re.findall(r"canary-[a-z-]+", text)}:
                found.setdefault(canary, []).append((angler, channel))
    return found


def test_no_canary_is_in_anything(course):
    assert caught(course, graded(course)) == {}


def test_without_the_sandbox_they_are_found(course):
    found = caught(course, graded(course, "--unsafe-no-sandbox"))
    assert set(found) == CANARIES
    quiet = {"returns-text", "returns-a-symbol"}  # nothing is said of values
    anglers = {angler for catches in found.values() for angler, _ in catches}
    assert anglers >= set(ANGLERS) - quiet
