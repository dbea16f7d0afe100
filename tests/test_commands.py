"""What every command of `python -m autograder` promises to whoever calls."""

import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import nbformat
import pytest
import small_course
from small_course import submission

from autograder import (
    bench,
    gradebook,
    mutants,
    pace,
    publish,
    release,
    sandbox,
    student_edition,
)
from autograder.__main__ import COMMANDS, main
from autograder.course import ROOT, Course
from autograder.jobs import Job, digest
from autograder.sample_class import command as sample_class
from autograder.sample_class.make import students

BEGINNER = ROOT / "notebooks" / "symbols" / "beginner.ipynb"
UNTAKEN = "untaken.ipynb"  # no student's name around it, and no notebook


@pytest.fixture(scope="module")
def made_once(tmp_path_factory):
    """A class of four: two graded, one failed, one still waiting."""
    tmp_path = tmp_path_factory.mktemp("made")
    everyone = {who: submission() for who in ("ann", "bob", "cid", "dee")}
    place = small_course.make(tmp_path, **everyone)
    gradebook.prepare(place, "tiny", list(everyone))
    keep(place, "ann", seconds=2.0)
    keep(place, "bob", seconds=4.0)
    keep(place, "cid", seconds=9.0, status="failed", reason="empty file")
    (place.source / "symbols").mkdir()
    master = release.source_notebook(ROOT / "solutions/symbols/beginner.py")
    nbformat.write(master, place.source / "symbols" / "beginner.ipynb")
    (tmp_path / "inbox" / "eve").mkdir(parents=True)
    shutil.copy(BEGINNER, tmp_path / "inbox" / "eve")
    (tmp_path / "inbox" / "eve" / UNTAKEN).write_bytes(b"{")
    return tmp_path


@pytest.fixture
def course(made_once, tmp_path):
    """The class, fresh for one test."""
    shutil.copytree(made_once, tmp_path / "made")
    return Course(tmp_path / "made" / "class", tmp_path / "made" / "source")


def keep(course, student, **changes):
    """Store a result as grading does."""
    job = Job(student, "tiny", ("beginner",))
    result = {
        "student": student, "assignment": "tiny", "notebook": "beginner",
        "status": "graded", "digest": digest(course, job, "beginner"),
        "reason": "", "repairs": [], "score": 0, "max_score": 7,
        "exercises": [], "answers": [], **changes,
    }  # fmt: skip
    path = course.result_file(student, "tiny", "beginner")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result))


def run(course, *words):
    """Run a command on the class; return the exit code."""
    places = {
        "--classroom": course.classroom, "--source": course.source,
        "--scratch": course.classroom.parent / "scratch",
    }  # fmt: skip
    taken = {
        "release": (), "publish": (), "mutants": (), "bench": (),
        "student-edition": (), "sample": ("--scratch",),
    }.get(words[0], ("--classroom", "--source"))  # fmt: skip
    options = [part for key in taken for part in (key, str(places[key]))]
    return main([*words, *options])


# What a command is asked, by the code that it must end with. `inbox` and
# `new` stand for a folder of files and for one that is not there.
ASKED = {
    0: {
        "release": ["symbols"],
        "publish": ["symbols"],
        "collect": ["inbox/eve/beginner.ipynb"],
        "doctor": ["inbox/eve/beginner.ipynb"],
        "grade": ["--dry-run"],
        "status": [],
        "report": [],
        "feedback": [],
        "mutants": [],
        "bench": [],
        "sample": [],
        "export": [],
        "remove": ["ann", "--yes"],
        "student-edition": ["new"],
        "where": [],
    },
    1: {
        "collect": ["inbox"],
        "doctor": [f"inbox/eve/{UNTAKEN}"],
        "grade": ["tiny"],
        "mutants": [],
        "sample": [],
        "remove": ["dee", "--yes"],
    },
    2: {
        "release": ["poetry"],
        "publish": ["poetry"],
        "collect": ["new"],
        "doctor": [],
        "grade": ["poetry"],
        "status": [],
        "report": ["poetry"],
        "feedback": [],
        "mutants": ["poetry"],
        "bench": [],
        "sample": [],
        "export": [],
        "remove": ["ann"],
        "student-edition": ["inbox"],
        "where": [],
    },
}


def prepared(course, monkeypatch, command, code):
    """Return the words of a call that must end with this code."""
    (student, *_) = students()
    miss = "no" if code == 1 else None
    row = mutants.Row("a/b", "c", "wrong", "d", 1, "", miss)
    given = {"student": student, "status": "graded", "expected": "1",
             "given": "1", "faults": [miss] if miss else []}  # fmt: skip
    result = {**json.loads(
        course.result_file("cid", "tiny", "beginner").read_text()
    ), "status": "failed" if code == 1 else "graded"}  # fmt: skip
    # what takes minutes, or writes into this checkout
    if code < 2:
        monkeypatch.setattr(sandbox, "require", lambda *args: None)
        monkeypatch.setattr(mutants, "matrix", lambda *args: [row])
        monkeypatch.setattr(
            release, "release", lambda name: [ROOT / name / "x.ipynb"]
        )
        monkeypatch.setattr(publish, "release", lambda name: [])
        monkeypatch.setattr(publish, "publish", lambda *args: {"x": "1"})
        for name in ("against_nbgrader", "heavy", "growth"):
            monkeypatch.setattr(bench, name, lambda *args: {})
        monkeypatch.setattr(student_edition, "write", lambda folder: 3)
        module = importlib.import_module("autograder.grade")
        monkeypatch.setattr(module, "grade", lambda *a, **k: [result])
        monkeypatch.setattr(
            sample_class, "grade_sample", lambda *a, **k: [given]
        )
    elif command in ("sample", "bench"):
        monkeypatch.setattr(sandbox, "installed", lambda: None)
    elif not ASKED[2][command]:
        (course.classroom / "course.toml").write_text("points = 3")
    if command == "remove" and code == 1:
        (course.classroom / "roster.csv").write_text("id\ndee\n")
    folder = course.classroom.parent
    return [
        str(folder / word) if word.startswith(("inbox", "new")) else word
        for word in (command, *ASKED[code][command])
    ]


CALLS = [(command, code) for code in ASKED for command in ASKED[code]]


@pytest.mark.parametrize(("command", "code"), CALLS)
def test_a_command_ends_with_the_code_that_is_documented(
    course, monkeypatch, capsys, command, code
):
    words = prepared(course, monkeypatch, command, code)
    assert run(course, *words) == code
    said = capsys.readouterr()
    if code == 2:
        assert said.err.startswith("autograder: ")
        assert said.err.count("\n") == 1
    else:
        assert said.out.strip()


def test_no_command_is_left_out():
    assert set(ASKED[0]) == set(ASKED[2]) == set(COMMANDS)


@pytest.mark.parametrize(("command", "code"), [c for c in CALLS if c[1] < 2])
def test_json_stands_alone_on_standard_output(
    course, monkeypatch, capsys, command, code
):
    words = prepared(course, monkeypatch, command, code)
    assert run(course, *words, "--json") == code
    assert json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_interrupted_ends_with_130(
    course, monkeypatch, capsys, command
):
    module = f"autograder.{COMMANDS[command][0]}"

    def interrupted(args):
        print("so far")
        raise KeyboardInterrupt

    monkeypatch.setattr(importlib.import_module(module), "run", interrupted)
    words = prepared(course, monkeypatch, command, 0)
    assert run(course, *words) == 130
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("so far\n", 1)


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_names_options_and_exit_codes(capsys, command):
    with pytest.raises(SystemExit) as end:
        main([command, "--help"] if command else ["--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert end.value.code == 0
    assert "exit codes: 0 done; 1 something failed" in said
    assert "130 interrupted" in said
    assert ("--json" in said) == bool(command)


def test_a_wrong_option_ends_with_2(capsys):
    with pytest.raises(SystemExit) as end:
        main(["grade", "--no-such-option"])
    assert end.value.code == 2
    assert "--no-such-option" in capsys.readouterr().err


@pytest.mark.slow
def test_a_reader_who_leaves_early_changes_nothing(course):
    for who in ("ann", "bob"):  # more than a pipe holds
        keep(course, who, repairs=["mended"] * 20_000)
    words = [sys.executable, "-m", "autograder", "status"]
    words += ["--classroom", str(course.classroom)]
    words += ["--source", str(course.source)]
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(words, stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")


# --- dry runs ---------------------------------------------------------------


def files(folder):
    """Everything in a folder: bytes, dates, folders."""
    return {
        path: (path.is_file() and path.read_bytes(), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
    }


def test_a_dry_run_of_grade_tells_all_and_changes_nothing(
    course, monkeypatch, capsys
):
    monkeypatch.setattr(sandbox, "require", lambda *args: None)
    small_course.put(course, "bob", submission({}))
    before = files(course.classroom)
    assert run(course, "grade", "--dry-run", "-j2", "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert {p["student"]: p["why"] for p in facts["todo"]} == {
        "bob": "changed since it was graded",
        "cid": "failed: empty file",
        "dee": "new",
    }
    assert facts["graded_already"] == 1
    assert facts["seconds"] == 6.0  # three of 4 s, the middle, in two rows
    assert run(course, "grade", "--dry-run", "--student", "ann") == 0
    assert "0 to grade, 1 graded already" in capsys.readouterr().out
    assert run(course, "grade", "--dry-run", "--force") == 0
    said = capsys.readouterr().out
    assert "ann/tiny/beginner: graded, but --force" in said
    assert "4 to grade" in said
    assert files(course.classroom) == before


def test_a_dry_run_of_collect_says_the_same_and_changes_nothing(
    course, capsys
):
    inbox = course.classroom.parent / "inbox"
    reports = []
    for change in (None, "# more"):
        if change:
            path = inbox / "eve" / "beginner.ipynb"
            notebook = json.loads(path.read_text("utf-8"))
            notebook["cells"][-1]["source"] = [change]
            path.write_text(json.dumps(notebook), "utf-8")
        for option in (["--dry-run"], []):
            before = files(course.classroom)
            run(course, "collect", str(inbox), "--json", *option)
            facts = json.loads(capsys.readouterr().out)
            reports.append(facts.pop("files"))
            assert facts["dry_run"] == bool(option)
            assert (files(course.classroom) == before) == bool(option)
        assert reports[-2] == reports[-1]
    assert reports[1] != reports[3]
    assert "replaces" in json.dumps(reports[3])


# --- while a run goes on ----------------------------------------------------


def test_status_counts_and_tells_the_pace(course, capsys):
    by_hand = {"id": "why", "score": 0, "max_score": 3, "manual": True}
    keep(course, "ann", seconds=2.0, exercises=[by_hand])
    (course.classroom / "course.toml").write_text("processes = 1")
    assert run(course, "status", "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["graded"], facts["failed"]) == (2, 1)
    assert facts["waiting"] == ["dee/tiny/beginner"]
    assert facts["by_hand"] == ["ann/tiny/beginner"]
    assert facts["slowest"] == ["cid/tiny/beginner", 9.0]
    assert (facts["seconds_each"], facts["seconds_left"]) == (4.0, 4.0)
    assert run(course, "status") == 0
    said = capsys.readouterr().out
    assert "1 waiting to be graded, 1 to be marked by hand" in said
    assert "4 s in the middle, the slowest 9 s: cid/tiny/beginner" in said
    assert "those that wait take about 00:04 in 1 processes" in said


def test_an_estimate_needs_something_to_go_by(course):
    tasks = [("dee", "tiny", "beginner"), ("dee", "tiny", "other")]
    assert pace.estimate(course, tasks, 1) == 8.0
    assert pace.estimate(course, tasks, 8) == 4.0
    assert pace.estimate(course, [], 1) == 0
    shutil.rmtree(course.grades)
    assert pace.estimate(course, tasks, 1) is None
    assert pace.duration(None) == "unknown"


@pytest.mark.slow
@pytest.mark.skipif(not sandbox.installed(), reason="no bubblewrap")
def test_interrupted_it_stops_soon_and_a_rerun_continues(tmp_path, capsys):
    loop = submission({"softmax": "while True:\n    pass"})
    course = small_course.make(
        tmp_path, ann=submission(), **{f"x{i}": loop for i in range(6)}
    )
    (course.classroom / "course.toml").write_text("processes = 2")
    words = [
        sys.executable, "-m", "autograder", "grade", "--json",
        "--classroom", str(course.classroom), "--source", str(course.source),
    ]  # fmt: skip
    first = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + 120
    while not course.result_file("ann", "tiny", "beginner").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert run(course, "status", "--json") == 0  # while it goes on
    facts = json.loads(capsys.readouterr().out)
    assert (facts["graded"], len(facts["waiting"])) == (1, 6)
    os.killpg(first.pid, signal.SIGINT)  # as Ctrl-C does
    out, err = first.communicate(timeout=25)
    assert (first.returncode, out) == (130, "")
    assert err == "autograder: interrupted; a rerun continues\n"
    assert run(course, "grade", "--student", "ann", "--json") == 0
    (result,) = json.loads(capsys.readouterr().out)
    assert result["score"] == 4
