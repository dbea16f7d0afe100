"""Rules of a class: what is late by how much, and what it costs."""

import json
import os
from datetime import UTC, datetime

import pytest
import small_course
from small_course import submission

from autograder import Refusal, export, grade, gradebook, policy
from autograder.__main__ import main
from autograder.course import Course

RULES = """time_zone = "Europe/Berlin"
[due]
tiny = 2026-03-01 23:59:00
[late]
grace_minutes = 15
percent_a_day = 10
most_percent = 25
"""
DUE = datetime(2026, 3, 1, 22, 59, tzinfo=UTC).timestamp()  # UTC+1 in winter
MINUTE, DAY = 60, 86_400


def class_with(tmp_path, rules, **students):
    course = small_course.make(tmp_path, **students)
    course.classroom.mkdir(exist_ok=True)
    (course.classroom / policy.FILE).write_text(rules)
    return course


def hand_in(course, student, moment):
    """Set the date that `collect` sets."""
    path = course.submitted / student / "tiny" / "beginner.ipynb"
    os.utime(path, (moment, moment))


@pytest.mark.parametrize(
    ("seconds", "days", "mark"),
    [
        (-DAY, 0, 6),
        (0, 0, 6),
        (15 * MINUTE, 0, 6),
        (15 * MINUTE + 1, 1, 5.4),
        (DAY, 1, 5.4),
        (DAY + 1, 2, 4.8),
        (2 * DAY + 1, 3, 4.5),  # 30 percent, but never more than 25
        (400 * DAY, 400, 4.5),
    ],
)
def test_each_day_begun_costs(tmp_path, seconds, days, mark):
    course = class_with(tmp_path, RULES, ann=submission())
    hand_in(course, "ann", DUE + seconds)
    # nbgrader would believe the student's own file
    claim = course.submitted / "ann" / "tiny" / "timestamp.txt"
    claim.write_text("2020-01-01 00:00:00 UTC")
    result = {
        "student": "ann", "assignment": "tiny", "notebook": "beginner",
        "score": 6,
    }  # fmt: skip
    seen = policy.marked(course, policy.read(course), result)
    assert (seen["days_late"], seen["mark"]) == (days, mark)
    assert bool(policy.remark(seen)) == bool(days)


def test_a_zone_in_the_date_wins(tmp_path):
    rules = RULES.replace("23:59:00", "23:59:00-05:00")
    course = class_with(tmp_path, rules)
    assert policy.read(course).due["tiny"] == DUE + 6 * 3600


def test_no_file_no_rules(tmp_path):
    assert policy.read(Course(tmp_path)) == policy.Policy()


BAD = {
    "unknown key": ("points = 3", "no key points; there is due, gradebook"),
    "unknown late key": (
        "[late]\nmax = 3", "no key late.max; there is grace_minutes",
    ),
    "unknown assignment": (
        "[due]\nnumbers = 2026-03-01 23:59:00",
        "no assignment numbers; there is tiny",
    ),
    "a day without a time": (
        "[due]\ntiny = 2026-03-01", "due 2026-03-01; it needs day and time",
    ),
    "a date in quotes": (
        '[due]\ntiny = "2026-03-01 23:59"', "without quotes",
    ),
    "a zone nobody has": (
        'time_zone = "Europe/Atlantis"', "a name such as",
    ),
    "a zone that is a path": ('time_zone = "../etc"', "a name such as"),
    "a zone that is a number": ("time_zone = 1", "a name such as"),
    "too much": ("[late]\npercent_a_day = 101", "a number from 0 to 100"),
    "less than nothing": ("[late]\ngrace_minutes = -1", "a number from 0"),
    "not a number": ("[late]\nmost_percent = nan", "a number from 0 to 100"),
    "a word": ('[late]\npercent_a_day = "5"', "a number from 0 to 100"),
    "yes": ("[late]\npercent_a_day = true", "a number from 0 to 100"),
    "no table": ("late = 3", "late must be a table, as in [late]"),
    "no toml": ("due: tomorrow", "cannot be read"),
    "twice": ("[due]\n[due]", "cannot be read"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_gets_one_sentence(tmp_path, name):
    text, told = BAD[name]
    course = class_with(tmp_path, text)
    with pytest.raises(Refusal) as refused:
        policy.read(course)
    assert told in str(refused.value)
    assert str(refused.value).count("\n") == 0


def run(course, *words):
    places = ["--classroom", str(course.classroom)]
    return main([*words, *places, "--source", str(course.source)])


def result_of(student, score):
    return {
        "student": student, "assignment": "tiny", "notebook": "beginner",
        "status": "graded", "reason": "", "repairs": [], "score": score,
        "max_score": 7, "exercises": [], "answers": [], "digest": "",
    }  # fmt: skip


def test_the_mark_is_exported_and_the_score_kept(tmp_path, capsys):
    students = {who: submission() for who in ("ann", "bob")}
    course = class_with(tmp_path, RULES, **students)
    gradebook.prepare(course, "tiny", list(students))
    for who, days in (("ann", -1), ("bob", 1.5)):
        hand_in(course, who, DUE + days * DAY)
        path = course.result_file(who, "tiny", "beginner")
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(result_of(who, 4)))
        with gradebook.opened(course) as book:
            part = book.find_grade("why", "beginner", "tiny", who)
            part.manual_score = 3
            book.db.commit()
    assert run(course, "export") == 0
    totals = (course.grades / "grades.csv").read_text().splitlines()
    assert totals[1:] == [
        "ann,tiny,beginner,3.0,7.0,graded,,0,3.0",
        "bob,tiny,beginner,3.0,7.0,graded,,2,2.4",
    ]
    assert "bob,2.4" in (course.grades / "moodle.csv").read_text()
    assert (2.4, 3, 0.6) == in_gradebook(course, "bob")
    assert (3, 3, None) == in_gradebook(course, "ann")
    assert run(course, "feedback") == 0
    page = (course.feedback / "bob/tiny/beginner.html").read_text()
    assert "2 days late: 2.4 of the 3 points reached count" in page
    capsys.readouterr()
    assert run(course, "status") == 0
    assert "2 days late: 2.4 of" in capsys.readouterr().out
    (course.classroom / policy.FILE).unlink()
    export.write_csv(course)
    assert (3, 3, None) == in_gradebook(course, "bob")


def in_gradebook(course, student):
    """Return mark, raw score and penalty, as nbgrader stores them."""
    with gradebook.opened(course) as book:
        row = book.find_submission_notebook("beginner", "tiny", student)
        penalty = row.late_submission_penalty
        rounded = None if penalty is None else round(penalty, 9)
        return row.score - (rounded or 0), row.score, rounded


def test_a_bad_file_stops_grading_before_it_starts(tmp_path, capsys):
    course = class_with(tmp_path, "[late]\nmax = 3", ann=submission())
    assert run(course, "grade") == 2
    assert "no key late.max" in capsys.readouterr().err
    assert not course.grades.exists()


@pytest.mark.slow
def test_a_run_tells_the_mark(tmp_path, capsys):
    course = class_with(tmp_path, RULES, ann=submission())
    hand_in(course, "ann", DUE + DAY / 2)
    assert run(course, "grade", "-j1") == 0
    assert "1 day late: 3.6 of the 4 points" in capsys.readouterr().out
    page = course.feedback / "ann" / "tiny" / "beginner.html"
    assert "1 day late: 3.6 of the 4 points" in page.read_text()
    (result,) = grade.grade(course)
    assert "mark" not in result  # nothing is stored but the raw score
