"""From submitted/ to the gradebook, the results and the CSV."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
import small_course
from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from small_course import ANSWERS, submission
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from autograder import (
    Refusal,
    export,
    grade,
    gradebook,
    preprocessors,
    sandbox,
    worker,
)
from autograder.__main__ import main
from autograder.course import ROOT, configure


def score_of(result):
    return {e["id"]: e["score"] for e in result["exercises"]}


@pytest.mark.slow
def test_a_small_class(tmp_path, capsys):
    wrong = {**ANSWERS, "softmax": "def softmax(z):\n    return z"}
    course = small_course.make(
        tmp_path,
        alice=submission(),
        bob=submission(wrong),
        carl=b'{"cells": [',
    )
    results = {r["student"]: r for r in grade.grade(course)}
    assert results["alice"]["status"] == grade.GRADED
    assert score_of(results["alice"]) == {
        "softmax-check": 2, "slope-check": 2, "why": 0,
    }
    assert score_of(results["bob"])["softmax-check"] == 0
    assert score_of(results["bob"])["slope-check"] == 2
    message = results["bob"]["exercises"][0]["message"]
    assert message == "softmax: the values do not add up."
    assert results["carl"]["status"] == grade.FAILED
    assert "no longer valid JSON" in results["carl"]["reason"]

    with gradebook.opened(course) as book:
        found = book.find_submission("tiny", "alice")
        assert (found.score, found.needs_manual_grade) == (4, True)
    grades, *_ = export.write_csv(course)
    assert "alice,tiny,beginner,4.0,7.0,graded," in grades.read_text()

    told = {
        "status": "carl                    tiny/beginner",
        "report": "softmax: the values do not add up.",
        "export": "canvas.csv",
        "where": str(grades),
    }
    for command, words in told.items():
        assert run(course, command) == 0
        assert words in capsys.readouterr().out
    moodle = (course.grades / "moodle.csv").read_text()
    assert moodle.startswith("username,tiny beginner\nalice,4.0\n")
    canvas = (course.grades / "canvas.csv").read_text()
    assert "    Points Possible,,,,,7.0\nalice,,,alice,,4.0" in canvas


def run(course, *words):
    """Run a command on this classroom; return its exit code."""
    places = ["--classroom", str(course.classroom)]
    return main([*words, *places, "--source", str(course.source)])


def lock(course):
    course.classroom.mkdir(exist_ok=True)
    book = sqlite3.connect(course.classroom / "gradebook.db")
    book.execute("BEGIN EXCLUSIVE")
    return book


def damage(course):
    course.classroom.mkdir(exist_ok=True)
    (course.classroom / "gradebook.db").write_bytes(b"no database" * 100)


BAD = {
    "unknown assignment": (
        ["grade", "numbers"], None, "no assignment 'numbers'; there is tiny",
    ),
    "unknown student": (
        ["grade", "--student", "zoe"], None, "nothing was submitted by 'zoe'",
    ),
    "no submissions": (
        ["grade"], lambda c: shutil.rmtree(c.submitted), "there is no folder",
    ),
    "no sources": (
        ["grade"], lambda c: shutil.rmtree(c.source), "there is no folder",
    ),
    "nothing submitted": (
        ["grade"], lambda c: shutil.rmtree(c.submitted / "alice"),
        "nothing to grade",
    ),
    "locked gradebook": (["grade"], lock, "locked by another program"),
    "damaged gradebook": (["grade"], damage, "damaged"),
    "no moment": (
        ["grade"],
        lambda c: (c.submitted / "alice/tiny/timestamp.txt").write_text("?"),
        "holds no moment",
    ),
    "odd folder": (
        ["grade"], lambda c: (c.submitted / "*" / "tiny").mkdir(parents=True),
        "cannot be a student's",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gets_one_sentence(name, tmp_path, capsys):
    words, spoil, told = BAD[name]
    course = small_course.make(tmp_path, alice=submission())
    held = spoil(course) if spoil else None
    assert run(course, *words) == 2
    err = capsys.readouterr().err
    assert told in err
    assert err.startswith("autograder: ")
    assert err.count("\n") == 1
    if isinstance(held, sqlite3.Connection):
        held.close()


def test_no_sandbox_no_grading(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sandbox, "installed", lambda: None)
    course = small_course.make(tmp_path, alice=submission())
    assert run(course, "grade") == 2
    assert "apt-get install bubblewrap" in capsys.readouterr().err


@pytest.mark.slow
def test_trusted_notebooks_run_without_a_sandbox(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(sandbox, "installed", lambda: None)
    course = small_course.make(tmp_path, alice=submission())
    assert run(course, "grade", "--unsafe-no-sandbox", "-j1") == 0
    assert "4/7" in capsys.readouterr().out


@pytest.mark.slow
def test_a_failure_never_keeps_an_old_score(tmp_path):
    course = small_course.make(tmp_path, alice=submission())
    (first,) = grade.grade(course)
    with gradebook.opened(course) as book:
        part = book.find_grade("why", "beginner", "tiny", "alice")
        part.manual_score = 3
        book.db.commit()
    small_course.put(course, "alice", b"{")
    (second,) = grade.grade(course)
    assert (first["score"], second["status"]) == (4, "failed")
    assert second["score"] == 3  # what was marked by hand stays
    grades, *_ = export.write_csv(course)
    assert "alice,tiny,beginner,3.0,7.0,failed" in grades.read_text()


@pytest.mark.slow
def test_a_lost_source_keeps_no_old_score_either(tmp_path):
    course = small_course.make(tmp_path, alice=submission())
    (first,) = grade.grade(course)
    (course.source / "tiny" / "beginner.ipynb").unlink()
    (second,) = grade.grade(course)
    assert (first["score"], second["status"]) == (4, "failed")
    assert second["score"] == 0


@pytest.mark.slow
def test_a_rerun_grades_only_what_is_missing(tmp_path):
    course = small_course.make(tmp_path, alice=submission(), bob=submission())
    before = grade.grade(course, jobs=2)
    assert [r["status"] for r in before] == ["graded", "graded"]
    small_course.put(course, "bob", submission({}))
    seen = {r["student"]: r for r in grade.grade(course)}
    assert seen["alice"]["seconds"] == before[0]["seconds"]
    assert seen["alice"]["seed"] == before[0]["seed"]
    assert seen["bob"]["score"] == 0


@pytest.mark.slow
def test_killed_and_run_again(tmp_path):
    students = {f"s{i}": submission() for i in range(4)}
    course = small_course.make(tmp_path, **students)
    words = [
        sys.executable, "-m", "autograder", "grade", "-j2", "--json",
        "--classroom", str(course.classroom), "--source", str(course.source),
    ]  # fmt: skip
    first = subprocess.Popen(
        words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    results = course.grades / "results"
    deadline = time.monotonic() + 120
    while not list(results.glob("*/*/*.json")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    first.kill()
    first.wait()
    deadline = time.monotonic() + 20  # its workers end with it
    while started_with(str(course.classroom)):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    done = {p: p.read_text() for p in results.glob("*/*/*.json")}
    assert len(done) < 4
    second = subprocess.run(words, capture_output=True, text=True, check=True)
    table = json.loads(second.stdout)
    assert [r["score"] for r in table] == [4] * 4
    for path, text in done.items():
        assert path.read_text() == text


def started_with(word):
    """Return the processes that have this word in their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += [path] * (word.encode() in path.read_bytes())
        except OSError:
            continue
    return found


@pytest.mark.slow
def test_a_forced_run_that_is_killed_leaves_no_old_result(
    tmp_path, monkeypatch
):
    def killed(*args):
        raise KeyboardInterrupt

    course = small_course.make(tmp_path, alice=submission())
    grade.grade(course)
    with monkeypatch.context() as patch:
        patch.setattr(worker, "autograde", killed)
        with pytest.raises(KeyboardInterrupt):
            grade.grade(course, force=True)
    grade.grade(course)
    with gradebook.opened(course) as book:
        assert book.find_submission("tiny", "alice").score == 4


@pytest.mark.slow
def test_a_worker_that_dies_does_not_stop_the_batch(tmp_path, monkeypatch):
    def graded(place, job, notebook):
        if job.student == "bob":
            os.kill(os.getpid(), signal.SIGKILL)
        return honest(place, job, notebook)

    honest = worker.graded
    monkeypatch.setattr(worker, "graded", graded)
    students = {name: submission() for name in ("alice", "bob")}
    course = small_course.make(tmp_path, **students)
    seen = {r["student"]: r for r in grade.grade(course, jobs=2)}
    assert seen["bob"]["status"] == "failed"
    assert "ended from outside" in seen["bob"]["reason"]
    assert seen["alice"]["score"] == 4


@pytest.mark.slow
def test_an_error_of_the_grader_is_logged_not_raised(tmp_path, monkeypatch):
    monkeypatch.setattr(worker, "autograde", lambda *a: 1 / 0)
    course = small_course.make(tmp_path, alice=submission())
    (result,) = grade.grade(course)
    assert "ZeroDivisionError" in result["reason"]
    assert "Traceback" in (course.grades / worker.LOG).read_text()


def test_a_page_that_cannot_be_written_stops_nothing(tmp_path, monkeypatch):
    course = small_course.make(tmp_path)
    result = {"student": "a", "assignment": "tiny", "notebook": "beginner"}
    monkeypatch.setattr(worker.feedback, "write", lambda *args: 1 / 0)
    worker.finish(course, result)
    stored = json.loads(course.result_file(*result.values()).read_text())
    assert stored == result
    assert "ZeroDivisionError" in (course.grades / worker.LOG).read_text()


@pytest.mark.slow
def test_nbgraders_own_command_goes_the_same_way(tmp_path):
    course = small_course.make(tmp_path, alice=submission())
    gradebook.prepare(course, "tiny", ["alice"])
    config = (
        "import sys\n"
        f"sys.path.insert(0, {str(ROOT)!r})\n"
        "from pathlib import Path\n"
        "from autograder import preprocessors\n"
        "from autograder.course import Course, configure\n"
        f"place = Course(Path({str(course.classroom)!r}), "
        f"Path({str(course.source)!r}))\n"
        "preprocessors.session.course = place\n"
        "c = configure(get_config(), place)\n"
        "preprocessors.configure_autograde(c)\n"
    )
    (course.classroom / "nbgrader_config.py").write_text(config)
    done = subprocess.run(
        [Path(sys.prefix) / "bin" / "nbgrader", "autograde", "tiny"],
        cwd=course.classroom, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    with gradebook.opened(course) as book:
        assert book.find_submission("tiny", "alice").score == 4
    (seen,) = formgrader_sees(course)
    assert (seen["autograded"], seen["score"]) == (True, 4)


def formgrader_sees(course):
    """Return what nbgrader's pages list for the assignment."""
    config = preprocessors.configure_autograde(configure(Config(), course))
    folders = CourseDirectory(config=config)
    return NbGraderAPI(folders, config=config).get_submissions("tiny")


def test_nbgraders_configuration_takes_our_way():
    folder = str(ROOT / "autograder")
    config = PyFileConfigLoader("nbgrader_config.py", folder).load_config()
    ours = preprocessors.SplitExecute
    assert ours in config.Autograde.autograde_preprocessors
    assert config.CourseDirectory.root == folder


def test_a_spreadsheet_runs_nothing():
    assert export.harmless("=1+1") == "'=1+1"
    assert export.harmless(-1.0) == -1.0


@pytest.mark.slow
def test_halves_of_characters_are_graded_too(tmp_path):
    code = 'print("\\ud800")\nraise ValueError("\\ud800")'
    document = json.loads(json.dumps(submission({"softmax": code})))
    document["cells"][-1]["source"] = "Because \ud800."
    data = json.dumps(document).encode()
    course = small_course.make(tmp_path, alice=data)
    (result,) = grade.grade(course)
    assert (result["status"], result["reason"]) == ("graded", "")


def test_a_class_is_entered_whole_or_not_at_all(tmp_path):
    course = small_course.make(
        tmp_path, alice=submission(), bob=submission()
    )
    stamp = course.submitted / "bob/tiny/timestamp.txt"
    stamp.write_text("no moment")
    with pytest.raises(Refusal):
        gradebook.prepare(course, "tiny", ["alice", "bob"])
    with gradebook.opened(course) as book:
        assert [s.id for s in book.students] == []
    stamp.write_text("2026-03-01 12:00:00 UTC")
    gradebook.prepare(course, "tiny", ["alice", "bob"])
    with gradebook.opened(course) as book:
        assert sorted(s.id for s in book.students) == ["alice", "bob"]


@pytest.mark.slow
def test_a_new_gradebooks_version_is_what_nbgraders_own_program_says():
    """In a process of its own, where nothing of ours stands in its place."""
    tools = str(Path(sys.prefix) / "bin")
    done = subprocess.run(
        [sys.executable, "-c",
         "import nbgrader.api as api; print(api.get_alembic_version())"],
        env={**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert gradebook.newest_version() == done.stdout.split()[-1]
