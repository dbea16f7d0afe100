"""`grade`: everything in submitted/ -> gradebook, CSV, feedback.

Every notebook ends as graded, graded with repairs, or failed with a
reason, in a result file that is written last: killed at any moment, a
rerun grades exactly what is missing.
"""

import hashlib
import json
import logging
import multiprocessing
import os
import re
import time
from dataclasses import dataclass

import nbformat
from tqdm import tqdm

from autograder import Refusal, course, gradebook, preprocessors, sandbox
from autograder.rebuild import Unreadable, read_pieces
from autograder.split import Limits

NAME = re.compile(r"[\w][\w.@+' -]*")  # of a student, assignment, notebook
GRADED, REPAIRED, FAILED = "graded", "graded with repairs", "failed"


@dataclass(frozen=True)
class Job:
    """One student's submission of one assignment."""

    student: str
    assignment: str
    notebooks: tuple[str, ...]


def add_arguments(parser):
    """Options of `grade`."""
    course.add_course_arguments(parser)
    parser.add_argument(
        "assignments", nargs="*", help="as in submitted/; default: all"
    )
    parser.add_argument("--student", action="append", help="only this one")
    parser.add_argument(
        "-j", "--jobs", type=int, default=os.cpu_count(), help="processes"
    )
    parser.add_argument(
        "--force", action="store_true", help="grade again what is graded"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--seed", type=int, help="of the checks' inputs")
    parser.add_argument("--cell-seconds", type=float, default=Limits.cell_s)
    parser.add_argument("--test-seconds", type=float, default=Limits.test_s)
    parser.add_argument(
        "--notebook-seconds", type=float, default=Limits.notebook_s
    )
    parser.add_argument(
        "--unsafe-no-sandbox",
        action="store_true",
        help="run notebooks that you trust where there is no bubblewrap",
    )


def run(args):
    """Grade what is missing; print a table; 1 if any notebook failed."""
    sandbox.require(args.unsafe_no_sandbox)
    results = grade(
        course.course_from(args),
        assignments=args.assignments,
        students=args.student,
        jobs=args.jobs,
        force=args.force,
        seed=args.seed,
        limits=limits_from(args),
        unsafe=args.unsafe_no_sandbox,
    )
    from autograder import export

    export.write_csv(course.course_from(args))
    print(json.dumps(results, indent=1) if args.json else table(results))
    return int(any(result["status"] == FAILED for result in results))


def limits_from(args):
    """Return the time limits that the options set."""
    return Limits(args.cell_seconds, args.test_seconds, args.notebook_seconds)


def grade(place, assignments=(), students=None, jobs=1, force=False, **how):
    """Grade a classroom; return one result for each notebook."""
    found = find_jobs(place, assignments, students)
    gradebook.require_unlocked(place)
    for assignment in sorted({job.assignment for job in found}):
        names = [j.student for j in found if j.assignment == assignment]
        gradebook.prepare(place, assignment, names)
    results, todo = [], []
    for job in found:
        for notebook in job.notebooks:
            old = None if force else finished(place, job, notebook)
            (results if old else todo).append(old or (job, notebook))
    results += run_all(place, todo, jobs, how)
    return sorted(results, key=lambda r: (r["assignment"], r["student"],
                                          r["notebook"]))


def find_jobs(place, assignments=(), students=None):
    """Return the submissions to grade; Refusal if a name is unknown."""
    if not place.submitted.is_dir():
        raise Refusal(
            f"there is no folder {place.submitted}; run `python -m "
            "autograder collect` on the archive first"
        )
    if not place.source.is_dir():
        raise Refusal(
            f"there is no folder {place.source} with source notebooks; run "
            "`python -m autograder release` first"
        )
    known = sorted(p.name for p in place.source.iterdir() if p.is_dir())
    for assignment in assignments:
        if assignment not in known:
            raise Refusal(
                f"there is no assignment {assignment!r}; there is "
                f"{', '.join(known) or 'none'}"
            )
    everyone = sorted(p.name for p in place.submitted.iterdir() if p.is_dir())
    for student in students or ():
        if student not in everyone:
            raise Refusal(f"nothing was submitted by {student!r}")
    jobs = [
        job_of(place, student, assignment)
        for student in students or everyone
        for assignment in assignments or known
        if (place.submitted / student / assignment).is_dir()
    ]
    if not jobs:
        raise Refusal(f"nothing to grade in {place.submitted}")
    return jobs


def job_of(place, student, assignment):
    """Return the job of one submission folder."""
    folder = place.submitted / student / assignment
    if not NAME.fullmatch(student):
        raise Refusal(
            f"the folder name {str(folder)!r} cannot be a student's; rename "
            "it (letters, digits, . _ @ + - and blanks)"
        )
    names = sorted(p.stem for p in folder.glob("*.ipynb"))
    return Job(student, assignment, tuple(names))


def digest(place, job, notebook):
    """Return what a result depends on: submission and source, hashed."""
    theirs = place.submitted / job.student / job.assignment
    ours = place.source / job.assignment
    state = hashlib.sha256()
    for path in (theirs / f"{notebook}.ipynb", ours / f"{notebook}.ipynb"):
        if path.is_file():
            state.update(path.read_bytes())
        state.update(b"|")
    return state.hexdigest()


def finished(place, job, notebook):
    """Return the stored result if it still holds, else None."""
    path = place.result_file(job.student, job.assignment, notebook)
    try:
        result = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    fresh = result.get("digest") == digest(place, job, notebook)
    return result if fresh and result["status"] != FAILED else None


# --- the workers ------------------------------------------------------------


def run_all(place, todo, jobs, how):
    """Grade in `jobs` processes, with a progress bar."""
    jobs = max(1, min(jobs, len(todo)))
    if jobs == 1:
        start_worker(place, how)
        try:
            return [grade_one(x) for x in bar(todo, len(todo))]
        finally:
            preprocessors.session.checker.close()
    context = multiprocessing.get_context("fork")
    with context.Pool(jobs, start_worker, (place, how)) as pool:
        return list(bar(pool.imap_unordered(grade_one, todo), len(todo)))


def bar(work, total):
    """Return the iterable with a progress bar on a terminal."""
    return tqdm(work, total=total, unit="notebook", disable=None)


def start_worker(place, how):
    """Set up this process: its own checker, nbgrader kept quiet."""
    from nbgrader.converters import Autograde  # before the first notebook

    assert Autograde
    session = preprocessors.session
    session.course = place
    session.limits = how.get("limits") or Limits()
    session.seed = how.get("seed")
    session.unsafe = how.get("unsafe", False)
    session.checker = preprocessors.Checker(session.unsafe)


def grade_one(task):
    """Grade one notebook; whatever happens, return and store a result."""
    job, notebook = task
    place = preprocessors.session.course
    began = time.monotonic()
    result = {
        "student": job.student,
        "assignment": job.assignment,
        "notebook": notebook,
        "status": FAILED,
        "digest": digest(place, job, notebook),
    }
    try:
        result |= graded(place, job, notebook)
    except (Unreadable, Refusal) as problem:
        result |= failed(place, job, notebook, str(problem))
    result["seconds"] = round(time.monotonic() - began, 2)
    store(place.result_file(job.student, job.assignment, notebook), result)
    return result


def graded(place, job, notebook):
    """Run nbgrader's autograde on one notebook; return the result's part."""
    master = preprocessors.master_of(place, job.assignment, notebook)
    gradebook.reset(place, job.student, job.assignment, notebook)
    path = place.submitted / job.student / job.assignment
    read_pieces(path / f"{notebook}.ipynb")  # says why, if it cannot be read
    autograde(place, job, notebook)
    path = place.autograded / job.student / job.assignment
    run_notebook = nbformat.read(path / f"{notebook}.ipynb", as_version=4)
    record = run_notebook.metadata.grading
    rows = gradebook.scores(place, job.student, job.assignment, notebook)
    result = {
        "status": REPAIRED if record.repairs else GRADED,
        "reason": "",
        "repairs": list(record.repairs),
        "seed": record.seed,
        "score": sum(row["score"] for row in rows),
        "max_score": sum(row["max_score"] for row in rows),
        "exercises": exercises(master, rows, record.outcomes),
        "answers": troubles(record.outcomes),
    }
    return result


def autograde(place, job, notebook):
    """Run nbgrader's autograde step, which goes through our classes."""
    from nbgrader.converters import Autograde
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config import Config

    config = course.configure(Config(), place)
    preprocessors.configure_autograde(config)
    folders = CourseDirectory(config=config)
    folders.student_id = job.student
    folders.assignment_id = job.assignment
    folders.notebook_id = notebook
    converter = Autograde(coursedir=folders, config=config)
    converter.force = True
    converter.log = quiet_log()
    with gradebook.quiet():
        converter.start()


def quiet_log():
    """Return a logger that keeps nbgrader from printing."""
    log = logging.getLogger("autograder.nbgrader")
    log.propagate = False
    log.handlers = log.handlers or [logging.NullHandler()]
    return log


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
        {"id": outcome["id"], "error": outcome["message"]}
        for outcome in outcomes
        if outcome["error"]
    ]


def failed(place, job, notebook, reason):
    """Return the result's part for a notebook that could not be graded."""
    try:
        rows = gradebook.scores(place, job.student, job.assignment, notebook)
    except Exception:  # the gradebook itself may be what failed
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


def store(path, result):
    """Write a result so that it is there in full or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_suffix(".part")
    scratch.write_text(json.dumps(result, indent=1))
    os.replace(scratch, path)


def table(results):
    """Return the results as lines of text."""
    lines = [f"{'student':24}{'notebook':28}{'score':>12}  status"]
    for r in results:
        score = f"{r['score']:g}/{r['max_score']:g}"
        name = f"{r['assignment']}/{r['notebook']}"
        line = f"{r['student']:24}{name:28}{score:>12}  {r['status']}"
        lines.append(line + (f": {r['reason']}" if r["reason"] else ""))
        lines += [f"{'':24}- {text}" for text in r["repairs"]]
    counts = {s: sum(r["status"] == s for r in results)
              for s in (GRADED, REPAIRED, FAILED)}
    lines.append(", ".join(f"{n} {s}" for s, n in counts.items()))
    return "\n".join(lines)
