"""Text of a student's that people or programs read later.

A row is (guard, text, how it is shown, what must not be in it).
"""

import csv
import io

import numpy as np
import small_course

from autograder import (
    checker,
    class_figures,
    export,
    feedback,
    preprocessors,
    shown,
    split,
    worker,
)

MECHANISM = "text shown to people"


def in_feedback(text, place):
    """Return the student's page, where the text is an error's."""
    course = place.course()
    part = {
        "id": "softmax-check", "score": 0, "max_score": 2, "manual": False,
        "message": text, "instructor_message": text,
    }  # fmt: skip
    result = {
        "student": "a", "assignment": "tiny", "notebook": "beginner",
        "status": "graded", "reason": "", "repairs": [text], "score": 0,
        "answers": [{"id": "softmax", "error": text, "line": text}],
        "max_score": 2, "exercises": [part],
    }  # fmt: skip
    return feedback.page_of(course, result, {"softmax-check": text})


def in_markdown(text, place):
    """Return what formgrader shows of an answer in words."""
    return shown.safe_markdown(text)


def in_a_table(text, place):
    """Return a CSV file's first cell."""
    path = export.write(place.folder / "x.csv", [[text]])
    return next(csv.reader(io.StringIO(path.read_text())))[0]


def in_the_class_report(text, place):
    """Return the message as the class sees it, page and terminal."""
    words = class_figures.known_words(small_course.source_notebook())
    return class_figures.cut(text, words)


def in_a_file(text, place):
    """Return the text after it was written as UTF-8."""
    try:
        outcome = split.Outcome(False, text, printed=text)
        return f"{outcome.message}{outcome.printed}".encode().decode()
    except UnicodeEncodeError:
        return "not written"


def of_a_library(text, place):
    """Return what a student reads of an assertion in NumPy's words."""
    test = f"np.testing.assert_allclose(np.zeros(1), [{text}])"
    scope = {"np": np}
    task = {"source": test, "label": "softmax-check", "names": (), "seed": 1}
    verdict = checker.perform(None, scope, task)
    rows = [{"id": "softmax-check"}]
    said = [{"id": "softmax-check", **verdict}]
    master = small_course.source_notebook()
    return worker.exercises(master, rows, said)[0]["message"]


def in_the_outputs(text, place):
    """Return the outputs from which nbgrader reads a partial credit."""
    cell = small_course.source_notebook().cells[7]
    outcome = split.Outcome(True, credit=float(text))
    (output,) = preprocessors.outputs_of(cell, outcome)
    credit = float(output["data"]["text/plain"])
    return "over" if credit > 2 else "within"


SHOWN = {
    "script in an error": (
        "escaped HTML", "ValueError: <script>alert(1)</script>", in_feedback,
        "<script>alert",
    ),
    "handler in an error": (
        "escaped HTML", "<img src=x onerror=alert(1)>", in_feedback, "<img",
    ),
    "end of the paragraph": (
        "escaped HTML", "</p></section><h1>You passed", in_feedback,
        "<h1>You passed",
    ),
    "style in an error": (
        "escaped HTML", "<style>* {display: none}</style>", in_feedback,
        "<style>*",
    ),
    "path of the grader's machine": (
        "paths left out", "OSError: '/srv/secret/class/x.py'", in_feedback,
        "secret",
    ),
    "script in words": (
        "cleaned markdown", "<script>alert(1)</script>", in_markdown,
        "<script",
    ),
    "handler in words": (
        "cleaned markdown", '<svg onload="alert(1)">', in_markdown, "<svg",
    ),
    "form in words": (
        "cleaned markdown", '<form action="/x"><button>Give points',
        in_markdown, "<form",
    ),
    "frame in words": (
        "cleaned markdown", '<iframe src="/formgrader"></iframe>',
        in_markdown, "<iframe",
    ),
    "link that runs": (
        "cleaned markdown", '<a href="javascript:alert(1)">x</a>',
        in_markdown, "javascript:",
    ),
    "formula that leaves its place": (
        "cleaned formulas", r"$\cssId{x}{y}$", in_markdown, "cssId",
    ),
    "formula that links": (
        "cleaned formulas", r"$\href{javascript:alert(1)}{x}$", in_markdown,
        "href",
    ),
    "formula of a spreadsheet": (
        "quoted cells", "=HYPERLINK(\"http://192.0.2.1\")", in_a_table,
        "\0=",
    ),
    "command of a spreadsheet": (
        "quoted cells", "@SUM(1+1)", in_a_table, "\0@",
    ),
    "colours of a terminal": (
        "letters cut", "softmax: \x1b[2J\x1b[31m", in_the_class_report,
        "\x1b",
    ),
    "text turned around": (
        "letters cut", "softmax: \u202edessap", in_the_class_report,
        "\u202e",
    ),
    "a name for the class to read": (
        "words cut", "softmax: Mallory Jones wrote this",
        in_the_class_report, "Mallory",
    ),
    "half a character": (
        "whole characters", "\ud800", in_a_file, "not written",
    ),
    "expected value of a library's assertion": (
        "private messages", "12345.678", of_a_library, "12345.678",
    ),
    "credit over the points": (
        "credit within the points", "99", in_the_outputs, "over",
    ),
    "endless credit": (
        "credit within the points", "inf", in_the_outputs, "over",
    ),
}  # fmt: skip
