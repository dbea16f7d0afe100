"""`status`: how each submission ended, and which still wait."""

import json

from autograder import course, groups
from autograder.export import read_results
from autograder.grade import table
from autograder.jobs import job_of, stored


def add_arguments(parser):
    """Options of `status`."""
    course.add_course_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args):
    """Print the stored results, then what is not graded yet."""
    place = course.course_from(args)
    results, waiting = read_results(place), pending(place)
    unlike = groups.unlike(place, groups.read(place))
    if args.json:
        facts = {"results": results, "waiting": waiting, "groups": unlike}
        print(json.dumps(facts, indent=1))
        return 0
    print(table(results) if results else "nothing is graded yet")
    for name in waiting:
        print(f"waiting: {name}")
    print("".join(f"{line}\n" for line in unlike), end="")
    return 0


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
