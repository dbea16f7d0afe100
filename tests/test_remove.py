"""A student who is taken out leaves no byte behind, and nobody else goes."""

import json
import shutil
from dataclasses import replace

import pytest
import small_course
import sqlalchemy
from small_course import submission

from autograder import grade, gradebook
from autograder.__main__ import main
from autograder.intake import Students
from autograder.naming import Name

SECRET = "zanzibar"  # stands in everything that Anna Lindqvist wrote
ANNA = "anna-lindqvist"
OTHERS = ("bob", "anna")


def run(course, *words):
    places = ["--classroom", str(course.classroom)]
    return main([*words, *places, "--source", str(course.source)])


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def result_of(student):
    return {
        "student": student, "assignment": "tiny", "notebook": "beginner",
        "status": "failed", "reason": "", "repairs": [], "score": 0,
        "max_score": 7, "exercises": [], "answers": [], "digest": "",
    }  # fmt: skip


@pytest.fixture(scope="module")
def made_once(tmp_path_factory):
    """Return a classroom as grading leaves it, made without a run."""
    everyone = (ANNA, *OTHERS)
    folder = tmp_path_factory.mktemp("made")
    course = small_course.make(
        folder, **{who: submission() for who in everyone}
    )
    gradebook.prepare(course, "tiny", everyone)
    known = {}
    for who in everyone:
        text = SECRET if who == ANNA else "plain"
        for home in (course.autograded, course.classroom / "attempts"):
            write(home / who / "tiny" / "beginner.ipynb", f"{who} {text}")
        write(course.submitted / who / "tiny" / "notes.txt", text)
        write(course.feedback / who / "tiny" / "beginner.html", text)
        write(
            course.result_file(who, "tiny", "beginner"),
            json.dumps({**result_of(who), "reason": text}),
        )
        known[who] = {"name": who, "canvas": text}
        with gradebook.opened(course) as book:
            found = book.find_submission_notebook("beginner", "tiny", who)
            found.comments[0].manual_comment = text * 200
            book.db.commit()
    names = course.classroom / "attempts" / "_students.json"
    write(names, json.dumps(known))
    log = course.grades / "errors.log"
    write(log, f"('{ANNA}', 'tiny', 'beginner')\n{SECRET}\n")
    assert run(course, "export") == 0
    write(course.grades / "report.html", SECRET)
    return course


@pytest.fixture
def graded(made_once, tmp_path):
    """Return a copy of that classroom."""
    folder = tmp_path / "class"
    shutil.copytree(made_once.classroom, folder)
    return replace(made_once, classroom=folder)


def holding(course, text):
    """Return the files whose bytes or path hold this text."""
    files = [p for p in course.classroom.rglob("*") if p.is_file()]
    inside = course.classroom.parent
    return [
        path
        for path in files
        if text.encode() in path.read_bytes()
        or text in str(path.relative_to(inside))
    ]


@pytest.fixture
def sqlite_keeps_deleted_text():
    """Have SQLite as most systems build it; Debian's overwrites."""

    def connected(connection, record):
        connection.execute("PRAGMA secure_delete=OFF")

    sqlalchemy.event.listen(sqlalchemy.Engine, "connect", connected)
    yield
    sqlalchemy.event.remove(sqlalchemy.Engine, "connect", connected)


def test_no_byte_is_left_and_nobody_else_goes(
    graded, capsys, sqlite_keeps_deleted_text
):
    course = graded
    assert len(holding(course, SECRET)) >= 9
    before = {p for p in course.classroom.rglob("*") if p.is_file()}
    capsys.readouterr()
    assert run(course, "remove", ANNA, "--yes") == 0
    told = capsys.readouterr().out
    for place in (
        "gradebook: the student and 1 submissions", f"submitted/{ANNA} (2",
        f"attempts/{ANNA} (1", f"autograded/{ANNA} (1", f"feedback/{ANNA} (1",
        f"results/{ANNA} (1", "_students.json: the name", "errors.log: all",
        "report.html: `rep", "grades.csv: the rows", "moodle.csv: the rows",
    ):  # fmt: skip
        assert place in told
    assert holding(course, SECRET) == []
    assert holding(course, ANNA) == []
    gone = before - {p for p in course.classroom.rglob("*") if p.is_file()}
    whole = {"errors.log", "report.html"}
    assert {p.name for p in gone if ANNA not in p.parts} == whole
    with gradebook.opened(course) as book:
        assert {s.id for s in book.students} == set(OTHERS)
        for who in OTHERS:
            assert book.find_submission("tiny", who).max_score == 7
    assert run(course, "remove", ANNA, "--yes") == 2
    assert "holds nothing of 'anna-lindqvist'" in capsys.readouterr().err


def test_without_yes_nothing_goes(graded, capsys):
    before = {p: p.read_bytes() for p in holding(graded, ANNA)}
    capsys.readouterr()
    assert run(graded, "remove", ANNA) == 2
    out, err = capsys.readouterr()
    assert "found: gradebook" in out
    assert err.startswith("autograder: nothing was removed yet; add --yes")
    assert before == {p: p.read_bytes() for p in holding(graded, ANNA)}


def test_nobody_by_that_name(graded, capsys):
    before = {p for p in graded.classroom.rglob("*") if p.is_file()}
    for name in ("..", ".", "zoe", "bob/tiny", "*", "", "score", "tiny"):
        assert run(graded, "remove", name, "--yes") == 2
        assert f"holds nothing of {name!r}" in capsys.readouterr().err
    assert before == {p for p in graded.classroom.rglob("*") if p.is_file()}


def test_a_file_of_your_own_is_named_not_changed(graded, capsys):
    roster = graded.classroom / "class.csv"
    write(roster, f"id,name\n{ANNA},Anna\nanna,Anna\n")
    write(graded.classroom / "other.csv", f"{ANNA}-two\n")
    (graded.classroom / "gradebook.db.old").write_bytes(ANNA.encode())
    capsys.readouterr()
    assert run(graded, "remove", ANNA, "--yes", "--json") == 1
    told = json.loads(capsys.readouterr().out)
    left = [str(roster), str(graded.classroom / "gradebook.db.old")]
    assert (told["removed"], told["left"]) == (True, left)
    assert ANNA in roster.read_text()


def test_a_link_goes_and_what_it_leads_to_stays(graded, tmp_path):
    write(tmp_path / "elsewhere" / "kept.txt", "kept")
    link = graded.submitted / "linked"
    link.symlink_to(tmp_path / "elsewhere")
    assert run(graded, "remove", "linked", "--yes") == 0
    assert not link.is_symlink()
    assert (tmp_path / "elsewhere" / "kept.txt").exists()


def test_a_namesake_keeps_the_long_id(tmp_path):
    path = tmp_path / "students.json"
    students = Students(path)
    anna, other = (Name("Anna", "canvas", "b", number=n) for n in "12")
    assert students.id_for(anna, "tiny") == "anna"
    assert students.id_for(other, "tiny") == "anna-2"
    del students.known["anna"]
    students.write()
    assert Students(path).id_for(other, "tiny") == "anna-2"


@pytest.mark.slow
def test_after_a_real_run(tmp_path):
    words = {"why": f"Because of {SECRET}."}
    answers = {**small_course.ANSWERS, **words}
    course = small_course.make(
        tmp_path, **{ANNA: submission(answers), "bob": submission()}
    )
    grade.grade(course)
    assert run(course, "export") == 0
    assert holding(course, SECRET)
    assert run(course, "remove", ANNA, "--yes") == 0
    assert holding(course, SECRET) + holding(course, ANNA) == []
    assert [r["student"] for r in grade.grade(course)] == ["bob"]
    assert "bob,tiny,beginner,4.0" in (
        course.grades / "grades.csv"
    ).read_text()
