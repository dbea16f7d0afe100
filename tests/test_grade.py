"""From submitted/ to the gradebook, the results and the CSV."""

import small_course
from small_course import ANSWERS, submission

from autograder import export, grade, gradebook


def score_of(result):
    return {e["id"]: e["score"] for e in result["exercises"]}


def test_a_small_class(tmp_path):
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
    assert "broken JSON" in results["carl"]["reason"]

    with gradebook.opened(course) as book:
        found = book.find_submission("tiny", "alice")
        assert (found.score, found.needs_manual_grade) == (4, True)
    grades, _ = export.write_csv(course)
    assert "alice,tiny,beginner,4.0,7.0,graded," in grades.read_text()
