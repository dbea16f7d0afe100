"""One grading process: grade a notebook, whatever is in it."""

import ctypes
import json
import logging
import signal
import sys
import time
import traceback

import nbformat
from nbgrader.api import MissingEntry
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import is_grade, is_solution
from traitlets.config import Config

from autograder import (
    Refusal,
    course,
    feedback,
    files,
    gradebook,
    preprocessors,
    releases,
)
from autograder.identity import Unreadable
from autograder.jobs import FAILED, GRADED, REPAIRED, digest, key_of
from autograder.rebuild import read_submission
from autograder.split import Limits

LOG = "errors.log"  # in grades/


def start_worker(place, how, alone=False):
    """Set up this process: its own checker, nbgrader kept quiet."""
    if not alone:
        die_with_parent()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    session = preprocessors.session
    session.course = place
    session.limits = how.get("limits") or Limits()
    session.seed = how.get("seed")
    session.checker = preprocessors.Checker(how.get("unsafe", False))


def die_with_parent():
    """Let this worker, and so its sandboxes, end when the parent does."""
    set_death_signal = 1
    ctypes.CDLL(None).prctl(set_death_signal, signal.SIGKILL)


def grade_one(task):
    """Grade one notebook; whatever happens, return and store a result."""
    job, notebook = task
    place = preprocessors.session.course
    began = time.monotonic()
    result = blank(place, job, notebook)
    try:
        result |= graded(place, job, notebook)
    except (Unreadable, Refusal) as problem:
        result |= failed(place, job, notebook, str(problem))
    except (Exception, SystemExit) as problem:  # nbgrader exits at times
        log_error(place, key_of(job, notebook))
        reason = f"the grader failed ({type(problem).__name__}), see {LOG}"
        result |= failed(place, job, notebook, reason)
    result["seconds"] = round(time.monotonic() - began, 2)
    finish(place, result)
    return result


def blank(place, job, notebook):
    """Return a result that says nothing yet."""
    return {
        "student": job.student,
        "assignment": job.assignment,
        "notebook": notebook,
        "status": FAILED,
        "digest": digest(place, job, notebook),
    }


def log_error(place, names):
    """Keep the traceback for whoever mends the grader."""
    place.grades.mkdir(parents=True, exist_ok=True)
    with (place.grades / LOG).open("a") as file:
        file.write(f"{names}\n{traceback.format_exc()}\n")


def finish(place, result):
    """Write the student's page, then, last of all, the result."""
    names = result["student"], result["assignment"], result["notebook"]
    try:
        feedback.write(place, result)
    except gradebook.Away as problem:  # so that a rerun writes the page
        result |= {"status": FAILED, "reason": str(problem)}
    except Exception as problem:  # it must not stop the batch
        if getattr(problem, "errno", None) in files.FULL:
            raise  # without a result, so that a rerun writes the page
        log_error(place, names)
    files.write_whole(place.result_file(*names), json.dumps(result, indent=1))


def graded(place, job, notebook):
    """Run nbgrader's autograde on one notebook; return the result's part."""
    key = key_of(job, notebook)
    marked = gradebook.persist(gradebook.marked_by_hand, place, *key)
    before = answers_in_words(place, *key) if marked else {}
    # before all else, so that no failure below keeps an old score, and so
    # that a run that is killed here does not find the old result in the rerun
    place.result_file(*key).unlink(missing_ok=True)
    gradebook.reset(place, *key)
    releases.master_of(place, job.assignment, notebook)
    path = place.submitted / job.student / job.assignment
    read_submission(path / f"{notebook}.ipynb")  # says why, if it cannot
    autograde(place, job, notebook)
    path = place.autograded / job.student / job.assignment
    run_notebook = nbformat.read(path / f"{notebook}.ipynb", as_version=4)
    after = answers_in_words(place, *key) if marked else {}
    same = {n for n in marked & set(after) if before.get(n) == after[n]}
    if same:
        gradebook.persist(gradebook.keep_marked, place, *key, same)
    record = run_notebook.metadata.grading
    release = preprocessors.release_of(run_notebook)
    master = releases.master_of(place, job.assignment, notebook, release)
    rows = gradebook.scores_of(place, *key)
    result = {
        "status": REPAIRED if record.repairs else GRADED,
        "reason": "",
        "repairs": list(record.repairs),
        "release": release,
        "seed": record.seed,
        "score": sum(row["score"] for row in rows),
        "max_score": sum(row["max_score"] for row in rows),
        "exercises": exercises(master, rows, record.outcomes),
        "answers": troubles(record.outcomes),
    }
    return result


def answers_in_words(place, student, assignment, notebook):
    """Return {cell: text} of what people mark, as it was last graded."""
    path = place.autograded / student / assignment / f"{notebook}.ipynb"
    if not path.is_file():
        return {}
    cells = nbformat.read(path, as_version=4).cells
    return {
        preprocessors.grade_id(cell): cell.source
        for cell in cells
        if is_grade(cell) and is_solution(cell)
    }


def autograde(place, job, notebook):
    """Run nbgrader's autograde step, which goes through our classes."""
    config = course.configure(Config(), place)
    preprocessors.configure_autograde(config)
    folders = CourseDirectory(config=config)
    folders.student_id = job.student
    folders.assignment_id = job.assignment
    folders.notebook_id = notebook
    converter = preprocessors.PatientAutograde(
        coursedir=folders, config=config
    )
    converter.force = True
    converter.log, cause = quiet_log()
    with gradebook.quiet():
        try:
            converter.start()
        except NbGraderException:
            raise cause.error from None  # nbgrader only says that it failed


def quiet_log():
    """Return a logger that prints nothing, and what keeps its errors."""
    log, cause = logging.getLogger("autograder.nbgrader"), Cause()
    log.propagate = False
    log.handlers = [cause]
    return log, cause


class Cause(logging.Handler):
    """Keeps the exception that nbgrader logs where it handles it."""

    error = NbGraderException("it gave no reason")

    def handle(self, record):
        """Keep it."""
        self.error = sys.exc_info()[1] or self.error


def exercises(master, rows, outcomes):
    """Return the graded cells in the notebook's order, with messages."""
    by_id = {row["id"]: row for row in rows}
    said = {outcome["id"]: outcome for outcome in outcomes}
    result = []
    for cell in master.cells:
        name = preprocessors.grade_id(cell)
        if name in by_id:
            outcome = said.get(name, {})
            public = outcome.get("public", True)
            message = outcome.get("message", "")
            result.append({
                **by_id[name],
                "message": message if public else preprocessors.PRIVATE,
                "instructor_message": message,
            })
    return result


def troubles(outcomes):
    """Return the student's own cells that raised: id, error."""
    return [
        {
            "id": outcome["id"],
            "error": outcome["message"],
            "line": outcome["error"]["line"],
        }
        for outcome in outcomes
        if outcome["error"]
    ]


def failed(place, job, notebook, reason):
    """Return the result's part for a notebook that could not be graded."""
    try:
        rows = gradebook.scores_of(place, *key_of(job, notebook))
    except (Refusal, MissingEntry):  # the gradebook may be what failed
        rows = []
    return {
        "status": FAILED,
        "reason": reason,
        "repairs": [],
        "score": sum(row["score"] for row in rows),
        "max_score": sum(row["max_score"] for row in rows),
        "exercises": [],
        "answers": [],
    }
