"""What a student reads: the mistake, and nothing that must stay hidden."""

import math

import numpy as np
import pytest
import small_course
import sympy as sp
from small_course import ANSWERS, submission

from autograder import feedback, grade, gradebook, preprocessors, remote
from autograder.course import ROOT

MESSAGE = "softmax: the values do not add up."


@pytest.fixture
def course(tmp_path):
    return small_course.make(tmp_path)


def result(**changes):
    """Return a result with one wrong exercise, one of them in words."""
    parts = [
        {"id": "softmax-check", "score": 0, "max_score": 2, "manual": False,
         "message": MESSAGE, "instructor_message": "canary-expected"},
        {"id": "slope-check", "score": 2, "max_score": 2, "manual": False,
         "message": "", "instructor_message": ""},
        {"id": "why", "score": 0, "max_score": 3, "manual": True,
         "message": "", "instructor_message": ""},
    ]  # fmt: skip
    base = {
        "student": "alice", "assignment": "tiny", "notebook": "beginner",
        "status": "graded", "reason": "", "repairs": [], "answers": [],
        "score": 2, "max_score": 7, "exercises": parts,
    }  # fmt: skip
    return {**base, **changes}


def page(course, **changes):
    return feedback.page_of(course, result(**changes), {})


def test_it_names_the_mistake_and_the_chapter(course):
    text = page(course)
    assert MESSAGE in text
    assert "2 of 7 points; 3 points are still to be marked by hand" in text
    assert "1 · Softmax" in text
    link = "notebooks/chapters/symbols/rope.ipynb"
    assert link in text


def test_it_hides_tests_answers_and_expected_values(course):
    text = page(course)
    assert "canary" not in text
    assert "check_close" not in text


def test_it_is_built_for_a_phone_and_runs_nothing(course):
    text = page(course)
    assert 'name="viewport"' in text
    assert "default-src 'none'" in text
    assert "<script" not in text


@pytest.mark.parametrize(
    "hostile",
    ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "a & b"],
)
def test_what_a_student_wrote_is_escaped(course, hostile):
    trouble = {"id": "softmax", "error": f"ValueError: {hostile}", "line": 2}
    text = page(course, answers=[trouble], repairs=[hostile])
    assert hostile not in text
    assert "stopped in line 2" in text


def test_paths_are_left_out(course):
    error = "FileNotFoundError: '/home/student/secret/x.py'"
    text = page(course, answers=[{"id": None, "error": error, "line": 1}])
    assert "secret" not in text
    assert "A cell of your own stopped" in text


def test_hints_and_chapters_come_from_the_exercise():
    text = (
        '*Beginner · chapters "RoPE" and "No\nsuch chapter"*\n'
        "<details><summary>Hint</summary>Turn $x$ & <b>.</details>"
    )
    hint, known, unknown = feedback.help_for(text)
    assert hint.startswith("<p>Hint: Turn <math")
    assert hint.endswith("</math> &amp; &lt;b&gt;.</p>")
    assert 'symbols/rope.ipynb">RoPE</a>' in known
    assert unknown == "<p>Reread: No such chapter</p>"


SOURCES = sorted((ROOT / "solutions").glob("*/*.py"))


@pytest.mark.parametrize(
    "path", SOURCES, ids=lambda p: f"{p.parent.name}-{p.stem}"
)
def test_help_is_readable_and_leads_to_a_chapter(path):
    text = path.read_text("utf-8")
    exercises = text.replace("\n# ", "\n").split("\n## ")[1:]
    lines = [line for e in exercises for line in feedback.help_for(e)]
    hints = [line for line in lines if line.startswith("<p>Hint")]
    chapters = [line for line in lines if line.startswith("<p>Reread")]
    in_code = [e for e in exercises if "in words" not in e]
    assert len(hints) == len(in_code) >= 3
    assert all("Reread" in "".join(feedback.help_for(e)) for e in exercises)
    assert [h for h in hints if "\\" in h or "`" in h or "$" in h] == []
    assert [c for c in chapters if "<a href" not in c] == []


@pytest.mark.parametrize("function", [np.exp, np.sqrt, math.exp])
def test_a_function_that_takes_no_symbol_is_explained(function):
    with pytest.raises(TypeError) as refusal:
        function(sp.Symbol("x"))
    error = {"type": "TypeError", "text": str(refusal.value)}
    assert "use SymPy's" in remote.told({"label": "f"}, error)


def test_messages_of_libraries_are_not_shown():
    outcomes = [
        {"id": "softmax-check", "public": False, "message": "DESIRED: 0.25"}
    ]
    rows = [{"id": "softmax-check", "score": 0}]
    from autograder.worker import exercises

    (part,) = exercises(small_course.source_notebook(), rows, outcomes)
    assert part["message"] == preprocessors.PRIVATE
    assert part["instructor_message"] == "DESIRED: 0.25"


@pytest.mark.slow
def test_nothing_leaks_and_comments_arrive(tmp_path):
    spy = """
def softmax(z):
    import glob, sys
    names = sorted(sys._getframe(1).f_globals)
    files = glob.glob("/**/*.ipynb", recursive=True)[:3]
    raise ValueError(f"{names} {files} {z!r}")
"""
    course = small_course.make(
        tmp_path,
        alice=submission({**ANSWERS, "softmax": spy}),
        bob=submission({**ANSWERS, "why": "canary-other-student"}),
    )
    grade.grade(course)
    with gradebook.opened(course) as book:
        comment = book.find_comment("why", "beginner", "tiny", "alice")
        comment.manual_comment = "Say why."
        book.db.commit()
    places = ["--classroom", str(course.classroom)]
    from autograder.__main__ import main

    main(["feedback", *places, "--source", str(course.source)])
    pages = {p: p.read_text() for p in course.feedback.rglob("*.html")}
    assert len(pages) == 2
    for text in pages.values():
        assert "canary" not in text
        assert str(tmp_path) not in text
    assert any("Comment: Say why." in text for text in pages.values())


def test_the_math_of_a_hint_is_typeset_and_the_rest_escaped():
    page = feedback.typeset(r"if $x_i<r^{-1}$, then <b>so</b>")
    assert "<msub><mi>x</mi><mi>i</mi></msub>" in page
    assert "$" not in page
    assert "<b>" not in page
