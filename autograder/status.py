"""`status`: how each submission ended, which wait, and for how long.

It only reads, so it may be asked while a run of `grade` is going on.
"""

import json

from autograder import course, groups, pace, settings
from autograder.export import read_results
from autograder.grade import NAMES, table
from autograder.jobs import FAILED, job_of, stored


def add_arguments(parser):
    """Options of `status`."""
    course.add_course_arguments(parser)


def run(args):
    """Print the stored results, then what is not graded yet."""
    place = course.course_from(args)
    results, waiting = read_results(place), pending(place)
    unlike = groups.unlike(place, groups.read(place))
    facts = summary(place, results, waiting)
    if args.json:
        facts |= {"results": results, "waiting": waiting, "groups": unlike}
        print(json.dumps(facts, indent=1))
        return 0
    lines = [table(results) if results else "nothing is graded yet"]
    lines += [f"waiting: {name}" for name in waiting]
    print("\n".join([*lines, *unlike, *text(facts)]))
    return 0


def summary(place, results, waiting):
    """Return the counts, and what the time of earlier notebooks tells."""
    by_hand = {
        "/".join([r.get("file_of", r["student"]), *(r[n] for n in NAMES[1:])])
        for r in results
        if any(part["manual"] for part in r["exercises"])
    }
    seconds = pace.kept(place)
    slowest = max(seconds, key=seconds.get, default=None)
    tasks = [tuple(name.split("/")) for name in waiting]
    processes = settings.read(place).processes
    return {
        "graded": sum(r["status"] != FAILED for r in results),
        "failed": sum(r["status"] == FAILED for r in results),
        "waiting_count": len(waiting),
        "by_hand": sorted(by_hand),
        "seconds_each": pace.middle(seconds),
        "slowest": slowest and ["/".join(slowest), seconds[slowest]],
        "seconds_left": pace.estimate(place, tasks, processes),
        "processes": processes,
    }


def text(facts):
    """Return the summary as lines of text."""
    lines = [
        f"{facts['waiting_count']} waiting to be graded, "
        f"{len(facts['by_hand'])} to be marked by hand"
    ]
    if facts["slowest"]:
        name, seconds = facts["slowest"]
        lines.append(
            f"a notebook took {facts['seconds_each']:g} s in the middle, the "
            f"slowest {seconds:g} s: {name}"
        )
    if facts["waiting_count"]:
        lines.append(
            f"those that wait take about "
            f"{pace.duration(facts['seconds_left'])} in "
            f"{facts['processes']} processes"
        )
    return lines


def pending(place):
    """Return the submitted notebooks without a result that still holds."""
    found, teams = [], groups.read(place)
    for folder in sorted(place.submitted.glob("*/*/")):
        job = job_of(place, folder.parent.name, folder.name, teams)
        found += [
            f"{job.student}/{job.assignment}/{notebook}"
            for notebook in job.notebooks
            if not stored(place, job, notebook)
        ]
    return found
