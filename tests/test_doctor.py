"""The doctor says what grading will find, in plain words."""

import dataclasses
import json

import pytest

from autograder import Refusal, doctor, findings, releases
from autograder.__main__ import main
from autograder.course import Course
from autograder.release import release
from autograder.sample_class.damage import damaged
from autograder.sample_class.make import answered, students


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Notebooks and sources of `symbols`, made afresh."""
    folder = tmp_path_factory.mktemp("release")
    release("symbols", folder / "notebooks", folder / "source")
    return Course(folder, folder / "source", folder / "notebooks")


@pytest.fixture
def examine(course, tmp_path):
    """Examine the file of a sample student, changed as asked."""

    def run(key, **change):
        (student,) = (s for s in students() if s.key == key)
        student = dataclasses.replace(student, **change)
        place = f"{student.notebook}.ipynb"
        released = json.loads((course.released / place).read_text("utf-8"))
        master = json.loads((course.source / place).read_text("utf-8"))
        notebook = answered(student, released, master)
        path = tmp_path / "Copy of Untitled.ipynb"
        path.write_bytes(damaged(notebook, released, student.damage))
        return doctor.examine(path, course)

    return run


def test_a_sound_notebook_has_nothing_to_mend(examine):
    found = examine("ada-moss")
    assert found.notebook == "symbols/beginner"
    assert not found.problem and not found.repairs
    assert found.answers["norms-met"].endswith("lines of code")
    assert found.answers["does-it-follow"].endswith("words")
    assert "nothing to mend" in doctor.text(found)


def test_open_answers_and_own_cells_are_counted(examine):
    found = examine("tam-climb")
    assert found.answers["gradients"] == findings.OPEN
    assert found.answers["does-it-follow"] == findings.OPEN
    assert found.extra_cells == 1


def test_a_syntax_error_is_named_before_anything_runs(examine):
    found = examine("jun-mori")
    assert "does not compile" in found.answers["softmax-jacobian"]
    assert findings.syntax_fault("%matplotlib inline\n!ls\nx = 1") == ""
    assert "line 2" in findings.syntax_fault("x = 1\nreturn )")


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("nia-diaz", "lost its label"),
        ("otto-weil", "found by the names"),
        ("ria-smit", "missing; put back"),
        ("pia-novak", "joined in their order"),
    ],
)
def test_repairs_are_those_of_grading(examine, key, words):
    assert any(words in repair for repair in examine(key).repairs)


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("una-vos", "empty"),
        ("vic-hale", "a web page"),
        ("wes-lamb", "none of the notebooks"),
    ],
)
def test_what_cannot_be_graded_is_said(examine, key, words):
    found = examine(key)
    assert words in found.problem
    assert "cannot be graded" in doctor.text(found)


def test_another_release_is_noticed(examine, course):
    place = course.source / "symbols" / "beginner.ipynb"
    text = place.read_text("utf-8")
    version = json.loads(text)["metadata"]["assembled"]["version"]
    place.write_text(text.replace(f'"version": "{version}"',
                                  '"version": "0123456789ab"'))  # fmt: skip
    try:
        repairs = examine("ada-moss").repairs
    finally:
        place.write_text(text)
    assert repairs == [
        f"made from release {version}, which the course does not keep; "
        "graded as release 0123456789ab"
    ]


def test_it_asks_for_something_to_do(capsys):
    assert main(["doctor"]) == 2
    assert "--sandbox" in capsys.readouterr().err


def test_exit_codes(examine, course, tmp_path, capsys):
    examine("ada-moss")
    path = str(tmp_path / "Copy of Untitled.ipynb")
    where = ["--source", str(course.source)]
    with pytest.raises(Refusal):
        releases.master_of(Course(tmp_path, tmp_path), "symbols", "beginner")
    assert main(["doctor", "--json", path, *where]) in (0, 1)
    report = json.loads(capsys.readouterr().out)
    assert report["files"][0]["notebook"] == "symbols/beginner"


def test_a_file_name_cannot_speak_to_the_terminal():
    told = findings.text(findings.Finding("\x1b[2Jx\u202e.ipynb"))
    assert told.startswith("?[2Jx?.ipynb")
