"""`grade`: everything in submitted/ -> gradebook, CSV, feedback, class report.

Every notebook ends as graded, graded with repairs, or failed with a
reason, in a result file that is written last: killed at any moment, a
rerun grades exactly what is missing.
"""

import json
from collections import Counter
from dataclasses import replace

from autograder import (
    Refusal,
    course,
    gradebook,
    groups,
    pace,
    policy,
    pool,
    sandbox,
    selftest,
    settings,
)
from autograder.jobs import (
    FAILED,
    GRADED,
    REPAIRED,
    find_jobs,
    finished,
    key_of,
    why,
)

NAMES = ("student", "assignment", "notebook")


def add_arguments(parser):
    """Options of `grade`."""
    course.add_course_arguments(parser)
    parser.add_argument(
        "assignments", nargs="*", help="as in submitted/; default: all"
    )
    parser.add_argument("--student", action="append", help="only this one")
    parser.add_argument(
        "-j", "--jobs", type=int, help="processes (course.toml, or the cores)"
    )
    parser.add_argument(
        "--scheduler",
        help="of a Dask cluster, tcp://HOST:8786; `local` starts one here",
    )
    parser.add_argument(
        "--force", action="store_true", help="grade again what is graded"
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="say what would be graded and how long it may take",
    )
    parser.add_argument("--seed", type=int, help="of the checks' inputs")
    for name in settings.SECONDS:
        parser.add_argument(
            f"--{name}-seconds",
            type=float,
            help="limit of time (course.toml, or "
            f"{getattr(settings.Limits, settings.SECONDS[name]):g})",
        )
    parser.add_argument(
        "--unsafe-no-sandbox",
        action="store_true",
        help="run notebooks that you trust where there is no bubblewrap",
    )


def run(args):
    """Grade what is missing; print a table; 1 if any notebook failed."""
    place = course.course_from(args)
    rules, chosen = policy.read(place), settings_from(place, args)
    sandbox.require(args.unsafe_no_sandbox)
    if args.dry_run:
        return tell(place, args, chosen.processes)
    results = grade(
        place,
        assignments=args.assignments,
        students=args.student,
        jobs=chosen.processes,
        force=args.force,
        scheduler=args.scheduler,
        seed=args.seed,
        limits=chosen.limits,
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


def settings_from(place, args):
    """Return the class's settings, changed by the options that were given."""
    chosen = settings.read(place)
    given = {
        field: seconds
        for name, field in settings.SECONDS.items()
        if (seconds := getattr(args, f"{name}_seconds")) is not None
    }
    jobs = chosen.processes if args.jobs is None else args.jobs
    if jobs < 1 or not all(seconds > 0 for seconds in given.values()):
        raise Refusal("processes and seconds must be more than 0")
    return replace(
        chosen, processes=jobs, limits=replace(chosen.limits, **given)
    )


def tell(place, args, processes):
    """Print what a run would grade, why, and for how long; do nothing."""
    found = find_jobs(place, args.assignments, args.student)
    reasons = {
        key_of(job, notebook): why(place, job, notebook, args.force)
        for job in found
        for notebook in job.notebooks
    }
    todo = [names for names, reason in reasons.items() if reason]
    facts = {
        "dry_run": True,
        "todo": [
            {**dict(zip(NAMES, names, strict=True)), "why": reasons[names]}
            for names in todo
        ],
        "graded_already": len(reasons) - len(todo),
        "processes": processes,
        "seconds": pace.estimate(place, todo, processes),
    }
    print(json.dumps(facts, indent=1) if args.json else told(facts))
    return 0


def told(facts):
    """Return what `tell` found as lines of text."""
    lines = [
        f"{'/'.join(part[name] for name in NAMES)}: {part['why']}"
        for part in facts["todo"]
    ]
    lines.append(
        f"{len(lines)} to grade, {facts['graded_already']} graded already; "
        f"{facts['processes']} processes; estimated time "
        f"{pace.duration(facts['seconds'])}. Nothing was done."
    )
    return "\n".join(lines)


def grade(
    place,
    assignments=(),
    students=None,
    jobs=1,
    force=False,
    scheduler=None,
    **how,
):
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
    if scheduler and todo:
        from autograder import cluster  # Dask is slow to import

        results += cluster.run_all(place, todo, jobs, how, force, scheduler)
    else:
        results += pool.run_all(place, todo, jobs, how, force)
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
