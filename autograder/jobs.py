"""What is to be graded: submissions, and the results that still hold."""

import hashlib
import json
import re
from dataclasses import dataclass

from autograder import Refusal, groups, releases

GLOB = re.compile(r"[*?{}\[\]]")  # nbgrader takes these for patterns
GRADED, REPAIRED, FAILED = "graded", "graded with repairs", "failed"


@dataclass(frozen=True)
class Job:
    """One student's submission of one assignment."""

    student: str
    assignment: str
    notebooks: tuple[str, ...]


def key_of(job, notebook):
    """Return the names that identify a result."""
    return job.student, job.assignment, notebook


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
    everyone = sorted(
        path.name
        for path in place.submitted.iterdir()
        if path.is_dir() and not path.name.startswith(".")
    )
    teams = groups.read(place)
    wanted = set() if students else set(everyone)
    for student in students or ():
        handed_in = {*groups.members_with(teams, student)} & {*everyone}
        if not handed_in:
            raise Refusal(f"nothing was submitted by {student!r}")
        wanted |= handed_in
    jobs = [
        job_of(place, student, assignment, teams)
        for student in sorted(wanted)
        for assignment in assignments or known
        if (place.submitted / student / assignment).is_dir()
    ]
    jobs = [j for j in jobs if j.notebooks or j.student not in teams]
    if not jobs:
        raise Refusal(f"nothing to grade in {place.submitted}")
    return jobs


def job_of(place, student, assignment, teams):
    """Return the job of one submission folder: the files that count."""
    folder = place.submitted / student / assignment
    if GLOB.search(student):
        raise Refusal(
            f"the folder name {str(folder)!r} cannot be a student's; rename "
            "it without * ? { } [ ]"
        )
    names = sorted(p.stem for p in folder.glob("*.ipynb"))
    if student in teams:
        task = place, teams, student, assignment
        names = [n for n in names if groups.counting(*task, n) == student]
    return Job(student, assignment, tuple(names))


def digest(place, job, notebook):
    """Return what a result depends on: submission and source, hashed."""
    path = place.submitted / job.student / job.assignment
    path = path / f"{notebook}.ipynb"
    state = hashlib.sha256(path.read_bytes() if path.is_file() else b"")
    state.update(b"|")
    state.update(releases.state_of(place, job.assignment, notebook, path))
    return state.hexdigest()


def stored(place, job, notebook):
    """Return the stored result if it is of these very files, else None."""
    path = place.result_file(job.student, job.assignment, notebook)
    try:
        result = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    fresh = result.get("digest") == digest(place, job, notebook)
    return result if fresh else None


def why(place, job, notebook, force=False):
    """Return why a notebook is to be graded; empty if it is not."""
    path = place.result_file(job.student, job.assignment, notebook)
    result = stored(place, job, notebook)
    if result is None:
        return "changed since it was graded" if path.exists() else "new"
    if result["status"] == FAILED:
        return f"failed: {result['reason']}"
    return "graded, but --force" if force else ""


def finished(place, job, notebook):
    """Return the stored result if nothing is left to do, else None."""
    result = stored(place, job, notebook)
    return result if result and result["status"] != FAILED else None
