"""One submission, one mark and a page for each member of a group."""

import json
import os
import shutil
from dataclasses import replace

import pytest
import small_course
from small_course import ANSWERS, submission

from autograder import Refusal, grade, gradebook, groups, policy
from autograder.__main__ import main
from autograder.jobs import find_jobs

RED = "group,student\nred,ann\nred,bob\nblue,cid\n"
NAMES = "tiny", "beginner"
OTHER = submission({**ANSWERS, "softmax": "def softmax(z):\n    return z"})


def class_with(tmp_path, text, **students):
    """Return a classroom in which each student hands in a day later."""
    course = small_course.make(tmp_path, **students)
    course.classroom.mkdir(exist_ok=True)
    (course.classroom / groups.FILE).write_text(text)
    for day, student in enumerate(students):
        path = groups.file_of(course, student, *NAMES)
        os.utime(path, (day * 86_400, day * 86_400))
    return course


def run(course, *words):
    places = ["--classroom", str(course.classroom)]
    return main([*words, *places, "--source", str(course.source)])


def graded(course, **scores):
    """Put down what grading leaves of these files, without a run."""
    gradebook.prepare(course, "tiny", list(scores))
    with gradebook.opened(course) as book:
        for student, score in scores.items():
            part = book.find_grade("why", "beginner", "tiny", student)
            part.manual_score = score
        book.db.commit()
    for student, score in scores.items():
        path = course.result_file(student, *NAMES)
        path.parent.mkdir(parents=True)
        result = {
            "student": student, "assignment": "tiny", "notebook": "beginner",
            "status": "graded", "reason": f"said to {student}",
            "repairs": [], "score": score, "max_score": 7, "exercises": [],
            "answers": [], "digest": "",
        }  # fmt: skip
        path.write_text(json.dumps(result))


@pytest.fixture(scope="module")
def made_once(tmp_path_factory):
    """Return a class whose group has two graded files; Ann's is later."""
    folder = tmp_path_factory.mktemp("made")
    course = class_with(folder, RED, bob=submission(), ann=OTHER)
    graded(course, bob=1, ann=3)
    return course


@pytest.fixture
def red(made_once, tmp_path):
    """Return a copy of that class, with the files' dates."""
    shutil.copytree(made_once.classroom, tmp_path / "class")
    return replace(made_once, classroom=tmp_path / "class")


def test_no_file_no_groups(tmp_path):
    assert groups.read(class_with(tmp_path, "group,student\n")) == {}
    assert groups.read(small_course.Course(tmp_path)) == {}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "needs the header group,student"),
        ("team,student\nred,ann\n", "needs the header group,student"),
        ("group,student\nred\n", "one row a student"),
        ("group,student\nred,\n", "one row a student"),
        ("group,student\nred,ann\nblue,ann\n", "'ann' twice, in 'red' and"),
    ],
)
def test_an_unclear_list_gets_one_sentence(tmp_path, text, told):
    course = class_with(tmp_path, text, ann=submission())
    with pytest.raises(Refusal, match=told) as refused:
        find_jobs(course)
    assert "\n" not in str(refused.value)


def test_only_the_latest_file_is_graded(tmp_path):
    students = {who: submission() for who in ("bob", "ann", "dan")}
    course = class_with(tmp_path, RED, **students)
    jobs = {job.student: job.notebooks for job in find_jobs(course)}
    assert jobs == {"ann": ("beginner",), "dan": ("beginner",)}
    (only,) = find_jobs(course, students=["bob"])
    assert only.student == "ann"  # hers is his
    with pytest.raises(Refusal, match="nothing was submitted by 'cid'"):
        find_jobs(course, students=["cid"])


def test_a_file_nobody_can_read_never_counts_before_another(tmp_path):
    course = class_with(tmp_path, RED, ann=submission(), bob=b"{")
    teams = groups.read(course)
    assert groups.counting(course, teams, "bob", *NAMES) == "ann"
    groups.file_of(course, "ann", *NAMES).unlink()
    assert groups.counting(course, teams, "ann", *NAMES) == "bob"


def test_different_files_are_told_equal_ones_are_not(tmp_path):
    course = class_with(tmp_path, RED, bob=submission(), ann=submission())
    teams = groups.read(course)
    assert groups.unlike(course, teams) == []
    small_course.put(course, "ann", OTHER)
    assert groups.unlike(course, teams) == [
        "group red: ann and bob handed in different files of tiny/beginner; "
        "that of ann counts, as the latest"
    ]


def test_one_mark_for_all(red, capsys):
    course = red
    assert run(course, "export") == 0
    rows = (course.grades / "grades.csv").read_text().splitlines()
    assert rows[1:] == [
        f"{who},tiny,beginner,3.0,7.0,graded,said to ann,0,3.0"
        for who in ("ann", "bob")
    ]
    moodle = (course.grades / "moodle.csv").read_text().splitlines()
    assert moodle[1:] == ["ann,3.0", "bob,3.0"]
    assert run(course, "feedback") == 0
    pages = [
        (course.feedback / who / "tiny" / "beginner.html").read_text()
        for who in ("ann", "bob")
    ]
    assert pages[0] == pages[1]
    assert "Your group shares this mark" in pages[0]
    capsys.readouterr()
    assert run(course, "status") == 0
    told = capsys.readouterr().out
    assert "that of ann counts" in told
    assert "waiting: bob" not in told


def test_who_goes_leaves_the_group_and_its_pages(red):
    course = red
    assert run(course, "feedback") == 0
    page = course.feedback / "bob" / "tiny" / "beginner.html"
    assert "said to ann" in page.read_text()
    assert run(course, "remove", "ann", "--yes") == 0
    text = (course.classroom / groups.FILE).read_text()
    assert text == "group,student\nred,bob\nblue,cid\n"
    files = [p for p in course.classroom.rglob("*") if p.is_file()]
    assert not [p for p in files if b"said to ann" in p.read_bytes()]
    rows = (course.grades / "grades.csv").read_text().splitlines()
    assert rows[1:] == ["bob,tiny,beginner,1.0,7.0,graded,said to bob,0,1.0"]


@pytest.mark.slow
def test_a_run_serves_the_whole_group(tmp_path, capsys):
    course = class_with(tmp_path, RED, ann=OTHER, bob=submission())
    assert run(course, "grade", "-j1") == 0
    told = capsys.readouterr().out
    assert "ann and bob handed in different files" in told
    assert "2 graded" in told
    for who in ("ann", "bob"):
        page = (course.feedback / who / "tiny" / "beginner.html").read_text()
        assert "4 of 7 points" in page
    results = grade.grade(course)
    assert [r["student"] for r in results] == ["bob"]


def test_a_late_file_costs_every_member_and_is_entered_once(red):
    (red.classroom / policy.FILE).write_text(
        "[due]\ntiny = 1970-01-01 00:00:00\n[late]\npercent_a_day = 10\n"
    )
    assert run(red, "export") == 0
    moodle = (red.grades / "moodle.csv").read_text().splitlines()
    assert moodle[1:] == ["ann,2.7", "bob,2.7"]
    with gradebook.opened(red) as book:
        costs = [
            book.find_submission_notebook("beginner", "tiny", who)
            .late_submission_penalty
            for who in ("ann", "bob")
        ]
    assert costs == [pytest.approx(0.3), None]
