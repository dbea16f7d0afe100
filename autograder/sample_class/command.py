"""`sample`: make, collect and grade the sample class.

Prints what each student must get beside what was given, and exits with 1
at any difference. Everything happens in a scratch classroom.
"""

import json
import os
import shutil
import time
from pathlib import Path

from autograder import Refusal, export, report, sandbox
from autograder.course import ROOT, Course
from autograder.grade import grade
from autograder.identity import released_notebooks
from autograder.intake import Intake
from autograder.mutants import exercises
from autograder.releases import master_of
from autograder.sample_class.make import make
from autograder.split import Limits

SCRATCH = ROOT / "_build" / "sample"
LIMITS = Limits(cell_s=6.0, test_s=6.0, notebook_s=120.0, busy=1.0)
SEED = 20260130  # of the checks' inputs


def add_arguments(parser):
    """Options of `sample`."""
    parser.add_argument("--jobs", "-j", type=int, default=os.cpu_count())
    parser.add_argument("--only", nargs="*", help="only these students")
    parser.add_argument("--scratch", type=Path, default=SCRATCH)


def run(args):
    """Make, collect, grade and compare; 1 at any difference."""
    sandbox.require()
    scratch = args.scratch.resolve()
    shutil.rmtree(scratch, ignore_errors=True)
    began = time.monotonic()
    rows = grade_sample(scratch, args.jobs, only=args.only)
    wrong = sum(bool(row["faults"]) for row in rows)
    if args.json:
        print(json.dumps([facts(row) for row in rows], indent=1))
        return int(bool(wrong))
    print(table(rows))
    print(
        f"{len(rows)} students, {wrong} not as expected, "
        f"{time.monotonic() - began:.0f} s; the class lies in {scratch}"
    )
    print(f"how it did: {scratch / 'class' / 'grades' / 'report.html'}")
    return int(bool(wrong))


def facts(row):
    """Return one student's row as plain data."""
    student = row["student"]
    return {
        "student": student.key,
        "story": student.story,
        "status": row["status"],
        "expected": row["expected"],
        "given": row["given"],
        "faults": row["faults"],
    }


def grade_sample(
    scratch,
    jobs,
    only=None,
    mark="",
    source=Course.source,
    released=Course.released,
    everyone=None,
    limits=LIMITS,
):
    """Grade the class into `scratch`; return one row a student."""
    place = Course(scratch / "class", source, released)
    if not released.is_dir() or not source.is_dir():
        raise Refusal("there are no notebooks yet; run `make notebooks` first")
    inbox = scratch / "inbox"
    chosen = make(inbox, released, source, mark, only, everyone)
    known = released_notebooks(place.released)
    entries = Intake(place.classroom, known).collect(sorted(inbox.iterdir()))
    results = grade(place, jobs=jobs, seed=SEED, limits=limits)
    export.write_csv(place)
    report.write(place)
    by_student = {r["student"]: r for r in results}
    masters = {
        s.notebook: exercises(master_of(place, *s.notebook.split("/")))
        for s in chosen
    }
    return [
        compare(s, by_student.get(s.key), entries, masters[s.notebook])
        for s in chosen
    ]


def compare(student, result, entries, tests):
    """Return what was expected and given, and every difference."""
    row = {"student": student, "expected": "", "given": "", "faults": []}
    if result is None:
        return row | not_taken(student, entries)
    points = {e["id"]: e for e in result["exercises"]}
    given = {
        answer: sum(points[t]["score"] for t in its)
        for answer, its in tests.items()
        if all(t in points for t in its)
    }
    row["expected"] = show(student.score)
    row["given"] = show(given)
    row["status"], row["result"] = result["status"], result
    faults = row["faults"]
    if given != student.score:
        faults.append(f"scores {given}")
    if result["status"] != student.status:
        faults.append(f"ended as {result['status']}: {result['reason']}")
    if student.reason not in result["reason"]:
        faults.append(f"the reason is {result['reason']!r}")
    repairs = " · ".join(result["repairs"])
    if student.repairs not in repairs:
        faults.append(f"the repairs are {repairs!r}")
    for answer, piece in student.says.items():
        said = [points[t]["instructor_message"] for t in tests[answer]]
        if not any(piece in text for text in said):
            faults.append(f"{answer}: not told {piece!r} but {said}")
    by_hand = any(e["manual"] for e in result["exercises"])
    if result["status"] != "failed" and by_hand != student.words:
        faults.append("the answer in words is " + (
            "waiting for a reader, but nothing was written" if by_hand
            else "not waiting for a reader"
        ))
    return row


def not_taken(student, entries):
    """Return the row of a student whose file intake must not take."""
    name = student.key.replace("-", " ").title()
    notes = [e.note for e in entries if name in e.file and e.fate == "refused"]
    row = {"status": "not taken", "faults": []}
    if student.status != "not taken":
        row["faults"].append(f"was not taken: {notes}")
    elif not any(student.reason in note for note in notes):
        row["faults"].append(f"intake says {notes}")
    return row


def show(score):
    """Return points as text: 4+1+7+4 = 16."""
    if not score:
        return "–"
    each = "+".join(f"{points:g}" for points in score.values())
    return f"{each} = {sum(score.values()):g}"


def table(rows):
    """Return the class as lines of text, faults below their student."""
    lines = [f"{'student':14}{'expected':>14}{'given':>14}  status, story"]
    for row in rows:
        student = row["student"]
        lines.append(
            f"{student.key:14}{row['expected']:>14}{row['given']:>14}  "
            f"{row['status']}: {student.story}"
        )
        lines += [f"{'':14}  ✗ {fault}" for fault in row["faults"]]
    return "\n".join(lines)

