"""`grade`: everything in submitted/ -> gradebook, CSV, feedback, class report.

Every notebook ends as graded, graded with repairs, or failed with a
reason, in a result file that is written last: killed at any moment, a
rerun grades exactly what is missing.
"""

import json
import os
from collections import Counter

from autograder import (
    course,
    gradebook,
    groups,
    policy,
    pool,
    sandbox,
    selftest,
)
from autograder.jobs import FAILED, GRADED, REPAIRED, find_jobs, finished
from autograder.split import Limits


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
    place = course.course_from(args)
    rules = policy.read(place)
    sandbox.require(args.unsafe_no_sandbox)
    results = grade(
        place,
        assignments=args.assignments,
        students=args.student,
        jobs=args.jobs,
        force=args.force,
        seed=args.seed,
        limits=limits_from(args),
        unsafe=args.unsafe_no_sandbox,
    )
    from autograder import export, report

    export.write_csv(place)
    page = report.write(place)
    teams = groups.read(place)
    shared = groups.shared(place, teams, results)
    results = [policy.marked(place, rules, result) for result in shared]
    if args.json:
        print(json.dumps(results, indent=1))
    else:
        print("\n".join([table(results), *groups.unlike(place, teams)]))
        print(f"how the class did: {page}")
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
    if todo and not how.get("unsafe"):
        selftest.require_sound()
    results += pool.run_all(place, todo, jobs, how)
    return sorted(results, key=lambda r: (r["assignment"], r["student"],
                                          r["notebook"]))


def table(results):
    """Return the results as lines of text."""
    lines = [f"{'student':24}{'notebook':28}{'score':>12}  status"]
    for r in results:
        score = f"{r['score']:g}/{r['max_score']:g}"
        name = f"{r['assignment']}/{r['notebook']}"
        line = f"{r['student']:24}{name:28}{score:>12}  {r['status']}"
        lines.append(line + (f": {r['reason']}" if r["reason"] else ""))
        notes = [*r["repairs"], policy.remark(r)]
        lines += [f"{'':24}- {text}" for text in notes if text]
    counts = {s: sum(r["status"] == s for r in results)
              for s in (GRADED, REPAIRED, FAILED)}
    lines.append(", ".join(f"{n} {s}" for s, n in counts.items()))
    return "\n".join([*lines, *releases_of(results)])


def releases_of(results):
    """Return one line for each notebook that was graded as two releases."""
    found = {}
    for r in results:
        name = f"{r['assignment']}/{r['notebook']}"
        if r.get("release"):
            found.setdefault(name, Counter())[r["release"]] += 1
    return [
        f"{name}: " + ", ".join(
            f"{n} of {'' if i else 'release '}{version}"
            for i, (version, n) in enumerate(counts.items())
        )
        for name, counts in found.items()
        if len(counts) > 1
    ]
