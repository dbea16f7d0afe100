"""How a class did: the right figures, and nobody to be recognised."""

import html
import json
import re
import shutil

import nbformat
import pytest
import small_course
from playwright.sync_api import sync_playwright
from small_course import ANSWERS, submission
from test_site import FLAGS, NAMES, without_browser

from autograder import Refusal, class_figures, class_page, report, sandbox
from autograder.__main__ import main

NAME = "Zoltan"
WRONG = "softmax: the values do not add up."
STUB = "softmax raised NotImplementedError"
DONE = {"softmax": (2, ""), "slope": (2, ""), "why": (0, "")}


@pytest.fixture
def course(tmp_path):
    return small_course.make(tmp_path)


def result(course, student, answers=ANSWERS, told=DONE, **changes):
    """Store what was graded of one student; return the result."""
    home = course.autograded / student / "tiny"
    home.mkdir(parents=True)
    nbformat.write(submission(answers), home / "beginner.ipynb")
    most = {"softmax": 2, "slope": 2, "why": 3}
    parts = [
        {"id": name if name == "why" else f"{name}-check", "score": score,
         "max_score": most[name], "message": message,
         "manual": name == "why" and name in answers}
        for name, (score, message) in told.items()
    ]  # fmt: skip
    base = {
        "student": student, "assignment": "tiny", "notebook": "beginner",
        "status": "graded", "reason": "", "repairs": [], "answers": [],
        "score": sum(part["score"] for part in parts), "max_score": 7,
        "exercises": parts,
    }  # fmt: skip
    return {**base, **changes}


def failed(student, reason):
    """Return the result of a file that could not be graded."""
    return {
        "student": student, "status": "failed", "reason": reason,
        "repairs": [], "exercises": [], "answers": [], "score": 0,
    }  # fmt: skip


def small_class(course):
    """One right, one wrong, one who touched nothing, one without a file."""
    wrong = {**DONE, "softmax": (0, WRONG)}
    nothing = {"softmax": (0, STUB), "slope": (0, ""), "why": (0, "")}
    return [
        result(course, "ann"),
        result(course, "bob", told=wrong, repairs=["softmax: mended"]),
        result(course, "cid", answers={}, told=nothing),
        failed("dee", "empty file (0 bytes)"),
    ]


def count(course, results):
    return class_figures.count(course, "tiny", "beginner", results)


def test_points_messages_and_checks_are_counted(course):
    book = count(course, small_class(course))
    softmax, slope, why = book.exercises
    assert softmax.title == "1 · Softmax"
    assert (softmax.points, softmax.untouched) == ([0, 2], 1)
    assert (softmax.full, softmax.zero, softmax.mean) == (1, 1, 2 / 6)
    assert softmax.messages == {WRONG: 1}  # the stub's own error is none
    assert softmax.checks == {"softmax-check": class_figures.Check(2, 1)}
    assert slope.mean == 4 / 6
    assert (why.waiting, why.untouched, why.mean) == (2, 1, None)
    assert book.totals == [0, 2, 4]


def test_the_ends_of_the_submissions_are_counted(course):
    book = count(course, small_class(course))
    assert book.ended == {"graded": 3, "failed": 1}
    assert book.reasons == {"empty file": 1}
    assert len(book.repairs) == 1


def test_checks_that_tell_nothing_apart_are_named(course):
    results = small_class(course)
    book = count(course, results)
    assert (book.never_failed(), book.always_failed()) == (["slope-check"], [])
    book = count(course, results[1:])
    assert book.always_failed() == ["softmax-check"]
    book = count(course, results[2:])  # nobody tried
    assert (book.never_failed(), book.always_failed()) == ([], [])


def test_an_answer_that_stopped_is_counted(course):
    trouble = {"id": "softmax", "error": f"KeyError: {NAME}", "line": 1}
    book = count(course, [result(course, "ann", answers=ANSWERS)
                          | {"answers": [trouble]}])
    said = book.exercises[0].messages
    assert said == {"the answer stopped: KeyError": 1}


HOSTILE = [
    f"softmax raised ValueError: {NAME} did it, ask 1234567",
    f"softmax raised {NAME}",
    f"softmax is a {NAME}, not an array.",
    f"{NAME}\u202e <script>alert('{NAME}')</script> \N{PILE OF POO}",
]


@pytest.mark.parametrize("message", HOSTILE)
def test_what_a_student_wrote_stays_out(course, message):
    told = {**DONE, "softmax": (0, message)}
    people = [result(course, NAME + str(i), told=told,
                     repairs=[f"made from release {NAME}; and so on"])
              for i in range(class_page.FEW)]  # fmt: skip
    book = count(course, [*people, failed(NAME, f"not this: {NAME}")])
    for shown in (
        class_page.page_of([book]),
        report.text(book),
        json.dumps(report.figures(book), ensure_ascii=False),
    ):
        assert "softmax" in shown
        for bad in (NAME, "1234567", "\u202e", "\N{PILE OF POO}"):
            assert bad not in shown
    assert "<script" not in class_page.page_of([book])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a raised KeyError: whatever\nit says", "a raised KeyError"),
        ("the shape is (3, 1).", "the shape is (3, 1)."),
        ("the shape is -0.1234e-5.", "the shape is …"),
        ("the x y z shape", "the … shape"),
        ("12345 shape", "… shape"),
    ],
)
def test_a_message_keeps_only_known_words(text, shown):
    words = {"a", "raised", "KeyError", "the", "shape", "is"}
    assert class_figures.cut(text, words) == shown


def test_the_page_is_built_for_a_phone_and_runs_nothing(course):
    page = class_page.page_of([count(course, small_class(course))])
    assert 'name="viewport"' in page
    assert "default-src 'none'" in page
    assert "prefers-color-scheme: dark" in page
    assert "<script" not in page
    assert "http:" not in page


def test_the_course_s_own_text_is_escaped(course):
    book = count(course, full_class(course))
    book.exercises[0].title = "<b> & $x$"
    page = class_page.page_of([book])
    assert "<h3>&lt;b&gt; &amp; <math" in page


def full_class(course):
    """Return as many results as the page needs to show figures."""
    return [result(course, f"s{i}") for i in range(class_page.FEW)]


def test_the_page_shows_the_figures(course):
    results = full_class(course)
    results[0]["exercises"][0] |= {"score": 0, "message": WRONG}
    page = class_page.page_of([count(course, results)])
    shown = html.unescape(re.sub(r"<[^>]*>", " ", page)).replace("\xa0", " ")
    for piece in (
        "5 submissions: 5 graded",
        "5 answers · on average 1.6 of 2 points · 4 with full marks · "
        "1 with zero · 0 untouched",
        "softmax-check 1 of 5",
        "3 points · 0 untouched · 5 still to be marked by hand",
        "Checks that no answer failed: slope-check.",
        "Checks that every answer failed: none.",
    ):
        assert piece in shown
    assert re.search(rf"1 ×\s+{re.escape(WRONG)}", shown)
    assert 'aria-label="Points: answers. 0: 1, 2: 4"' in page


def test_few_submissions_are_not_shown_but_printed(course):
    book = count(course, full_class(course)[1:])
    page = class_page.page_of([book])
    assert "Softmax" not in page
    assert "Fewer than 5 submissions" in page
    assert "Softmax" in report.text(book)


def test_every_answer_falls_into_one_bar():
    assert class_page.histogram([0, 0.5, 2], 2) == [
        ("0", 2), ("1", 0), ("2", 1),
    ]  # fmt: skip
    columns = class_page.histogram([0, 23, 24, 30, -1], 24)
    assert columns[0] == ("0–3", 2)
    assert columns[-2:] == [("20–23", 1), ("24", 2)]
    for most in range(1, 300):
        columns = class_page.histogram([most], most)
        assert len(columns) <= class_page.COLUMNS
        assert columns[-1][1] == 1


def test_a_lost_rebuilt_notebook_counts_as_answered(course):
    results = small_class(course)
    shutil.rmtree(course.autograded)
    book = count(course, results)
    assert [e.untouched for e in book.exercises] == [0, 0, 0]
    assert book.exercises[0].points == [0, 0, 2]


def test_a_lost_source_is_named(course):
    shutil.rmtree(course.source)
    book = count(course, [failed("ann", "empty file")])
    assert "release tiny" in book.problem
    assert book.problem in report.text(book)


def test_nothing_graded_is_refused(course):
    with pytest.raises(Refusal, match="is graded yet"):
        class_figures.notebooks(course)
    with pytest.raises(Refusal, match="nothing of other is graded"):
        class_figures.notebooks(course, ["other"])


@pytest.mark.slow
@pytest.mark.skipif(not sandbox.installed(), reason="no bubblewrap")
def test_grading_writes_the_page_and_report_the_same(tmp_path, capsys):
    sum_only = "def softmax(z):\n    return z / z.sum()"
    course = small_course.make(
        tmp_path,
        ann=submission(),
        bob=submission({**ANSWERS, "softmax": sum_only}),
        cid=submission({}),
        **{f"right-{i}": submission() for i in range(2)},
    )
    places = ["--classroom", str(course.classroom)]
    places += ["--source", str(course.source)]
    assert main(["grade", *places]) == 0
    page = course.grades / "report.html"
    assert f"how the class did: {page}" in capsys.readouterr().out
    first = page.read_text("utf-8")
    assert main(["report", "--html", *places]) == 0
    assert page.read_text("utf-8") == first
    assert main(["report", "--json", *places]) == 0
    said = capsys.readouterr().out
    (book,) = json.loads(said[said.index("[") :])
    softmax = book["exercises"][0]
    assert softmax["untouched"] == 1
    assert softmax["points"] == [0, 2, 2, 2]
    assert softmax["messages"] == {WRONG: 1}
    for who in ("ann", "bob", "cid", "right-"):
        assert not re.search(rf"\b{who}\b", first)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_overflows_on_a_phone(scheme):
    found = [path for path in map(shutil.which, NAMES) if path]
    if not found:
        without_browser(f"none of {', '.join(NAMES)} is on the PATH")
    exercises = [
        class_figures.Exercise(
            "A title that is as long as titles get, with $x_i$",
            max_score=most, points=[0, most, most / 2], untouched=2,
            messages={"a_name_without_a_break_" * 6: 3},
            checks={"a-check-of-this-graded": class_figures.Check(3, 1)},
        )
        for most in (4, class_page.COLUMNS - 1, 24, 99)
    ]  # fmt: skip
    book = class_figures.Notebook(
        "symbols/beginner", {"graded": 9}, max_score=99,
        totals=[1.0] * 9, exercises=exercises,
    )  # fmt: skip
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=found[0], args=FLAGS)
        page = browser.new_page(
            viewport={"width": 390, "height": 844}, color_scheme=scheme
        )
        page.set_content(class_page.page_of([book]))
        width = page.evaluate("document.documentElement.scrollWidth")
        spills = page.evaluate(
            "[...document.querySelectorAll('.axis, p, h3, li')]"
            ".filter(e => e.scrollWidth > e.clientWidth)"
            ".map(e => e.textContent)"
        )
        colour = page.evaluate(
            "getComputedStyle(document.querySelector("
            "'li:not(.open) > .bar')).backgroundColor"
        )
        browser.close()
    assert width == 390
    assert spills == []
    wanted = {"light": "rgb(47, 111, 159)", "dark": "rgb(108, 178, 224)"}
    assert colour == wanted[scheme]
