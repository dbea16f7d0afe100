"""The gradebook: filled once and serially, reset before a regrade.

It may be away for a moment: what one submission needs of it is repeated.
"""

import contextlib
import functools
import sqlite3
import threading
import warnings
from pathlib import Path
from time import sleep

import nbformat
import nbgrader.api
import sqlalchemy
from alembic.script import ScriptDirectory
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.preprocessors import SaveCells
from nbgrader.utils import parse_utc

from autograder import Refusal
from autograder.address import shown

PAUSES_S = (0.5, 1, 2, 4, 8, 8)  # between tries while it is away
given_up = threading.Event()  # all of them were in vain, the last time
BUSY = (
    "the gradebook {} is locked by another program; close the formgrader "
    "and other graders, then run this again"
)


@contextlib.contextmanager
def quiet():
    """Silence what SQLAlchemy 2.1 says about nbgrader's harmless habits."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sqlalchemy.exc.SAWarning)
        yield


# SQLAlchemy keeps the statements that it has translated with an engine, and
# nbgrader makes an engine whenever it opens the gradebook.
nbgrader.api.create_engine = functools.cache(sqlalchemy.create_engine)


@functools.cache
def newest_version():
    """Return the version of a new gradebook's tables.

    nbgrader starts a program to ask for it, which takes seconds.
    """
    versions = Path(nbgrader.api.__file__).with_name("alembic")
    return ScriptDirectory(str(versions)).get_current_head()


nbgrader.api.get_alembic_version = newest_version


class Away(Refusal):
    """The gradebook cannot be reached now; another try may do."""


@contextlib.contextmanager
def explained(url):
    """Let errors of the database be a Refusal, without its password."""
    try:
        yield
    except sqlalchemy.exc.DBAPIError as error:
        raise refusal_for(url, error) from None


def refusal_for(url, error):
    """Return the Refusal, Away if another try may do."""
    said, name = " ".join(str(error.orig).split()), shown(url)
    if url.startswith(SQLITE) and "locked" in said:
        return Away(BUSY.format(name))
    if not error.connection_invalidated and not isinstance(error, UNUSABLE):
        return Refusal(
            f"the gradebook {name} is damaged: {said}; restore it from "
            "a copy, or move it away and grade again"
        )
    kind = Refusal if url.startswith(SQLITE) else Away
    return kind(f"the gradebook {name} cannot be used: {said}")


UNUSABLE = (sqlalchemy.exc.OperationalError, sqlalchemy.exc.InterfaceError)
SQLITE = "sqlite:///"


@contextlib.contextmanager
def opened(course):
    """Open the gradebook; a locked, lost or broken one is a Refusal."""
    url = course.gradebook
    with (
        explained(url),
        Gradebook(url, "the-transformer-assembled") as book,
    ):
        yield book


def persist(operation, *args):
    """Return what the operation returns; repeat it while Away.

    Where all patience was in vain, one try must do until one succeeds, so
    that a class does not wait for a lost database student by student.
    """
    for pause in PAUSES_S if not given_up.is_set() else ():
        try:
            return operation(*args)
        except Away:
            sleep(pause)
    given_up.set()
    result = operation(*args)
    given_up.clear()
    return result


def file_of(course):
    """Return the path of a SQLite gradebook, None for another database."""
    url = course.gradebook
    return Path(url[len(SQLITE) :]) if url.startswith(SQLITE) else None


def require_unlocked(course):
    """Raise a Refusal if another program holds the SQLite gradebook."""
    path = file_of(course)
    if path is None or not path.exists():
        return
    connection = sqlite3.connect(path, timeout=2)
    try:
        connection.execute("BEGIN IMMEDIATE")
        connection.rollback()
    except sqlite3.OperationalError:
        raise Refusal(BUSY.format(path)) from None
    except sqlite3.DatabaseError as error:
        raise Refusal(f"the gradebook {path} is damaged: {error}") from None
    finally:
        connection.close()


def prepare(course, assignment, students):
    """Enter the assignment, its cells, the students and submissions."""
    sources = sorted((course.source / assignment).glob("*.ipynb"))
    course.classroom.mkdir(parents=True, exist_ok=True)
    with opened(course) as book:
        book.update_or_create_assignment(assignment)
    for path in sources:
        enter_cells(course, assignment, path)
    with quiet(), opened(course) as book, one_commit(book):
        for student in students:
            book.update_or_create_student(student)
            book.update_or_create_submission(
                assignment,
                student,
                timestamp=handed_in(course, student, assignment),
            )


@contextlib.contextmanager
def one_commit(book):
    """Let nbgrader, which commits at each step, commit once at the end."""
    book.db.commit = book.db.flush
    try:
        yield
    finally:
        del book.db.commit
    book.db.commit()


def handed_in(course, student, assignment):
    """Return the moment in timestamp.txt, UTC without a zone, or None.

    nbgrader calls a submission graded only if this is what it stored.
    """
    path = course.submitted / student / assignment / "timestamp.txt"
    try:
        return parse_utc(path.read_text().strip())
    except FileNotFoundError:
        return None
    except (ValueError, OverflowError):
        raise Refusal(
            f"{path} holds no moment; write one such as "
            "2026-03-01 12:00:00 UTC, or remove the file"
        ) from None


def enter_cells(course, assignment, path):
    """Enter the graded cells of one source notebook."""
    notebook = nbformat.read(path, as_version=4)
    resources = {
        "nbgrader": {
            "notebook": path.stem,
            "assignment": assignment,
            "db_url": course.gradebook,
        }
    }
    try:
        SaveCells().preprocess(notebook, resources)
    except RuntimeError:
        raise Refusal(
            f"{assignment}/{path.stem} has gained or lost graded cells since "
            f"submissions were entered in {shown(course.gradebook)}; grade "
            "the new release in a new classroom"
        ) from None


def reset(course, student, assignment, notebook):
    """Take back the automatic scores; scores given by hand stay."""
    persist(reset_once, course, student, assignment, notebook)


def reset_once(course, student, assignment, notebook):
    """Take them back, if the gradebook is there."""
    with opened(course) as book:
        try:
            grades = grades_of(book, student, assignment, notebook)
        except MissingEntry:
            return  # never graded
        for grade in grades:
            grade.auto_score = 0
            grade.needs_manual_grade = True
        book.db.commit()


def marked_by_hand(course, student, assignment, notebook):
    """Return the cells that a person has marked, and need not again."""
    with opened(course) as book:
        try:
            grades = grades_of(book, student, assignment, notebook)
        except MissingEntry:
            return set()
        return {
            grade.name
            for grade in grades
            if grade.manual_score is not None and not grade.needs_manual_grade
        }


def keep_marked(course, student, assignment, notebook, names):
    """Say of these cells that their mark still holds."""
    with opened(course) as book:
        for grade in grades_of(book, student, assignment, notebook):
            if grade.name in names:
                grade.needs_manual_grade = False
        book.db.commit()


def grades_of(book, student, assignment, notebook):
    """Return nbgrader's grade rows of one submitted notebook."""
    found = book.find_submission_notebook(notebook, assignment, student)
    return found.grades


def enter_penalties(course, results):
    """Store what lateness costs in nbgrader's own column, for its pages."""
    if results:
        persist(enter_penalties_once, course, results)


def enter_penalties_once(course, results):
    """Store them, if the gradebook is there."""
    with opened(course) as book:
        for result in results:
            penalty = result["score"] - result["mark"] or None
            try:
                found = book.find_submission_notebook(
                    result["notebook"],
                    result["assignment"],
                    result.get("file_of", result["student"]),
                )
            except MissingEntry:
                continue
            if found.late_submission_penalty != penalty:
                found.late_submission_penalty = penalty
        book.db.commit()


def scores_of(course, student, assignment, notebook):
    """Return one notebook's rows, as `scores` does."""
    return persist(scores_once, course, student, assignment, notebook)


def scores_once(course, *names):
    """Return them, if the gradebook is there."""
    with opened(course) as book:
        return scores(book, *names)


def scores(book, student, assignment, notebook):
    """Return the exercises' rows: id, points, maximum, hand needed."""
    return [
        {
            "id": grade.name,
            "score": grade.score,
            "max_score": grade.max_score,
            "manual": bool(grade.needs_manual_grade),
        }
        for grade in grades_of(book, student, assignment, notebook)
    ]
