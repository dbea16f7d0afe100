"""`doctor`: what the grader will see in a file, before anything runs.

It reads and mends exactly as grading does, and tells per exercise whether
there is an answer, whether it compiles, and what had to be mended. With
`--sandbox` it tries from inside the sandbox what must not work there.
"""

import json
from dataclasses import asdict
from pathlib import Path

from autograder import Refusal, identity
from autograder.course import add_course_arguments, course_from
from autograder.findings import Finding, find, text
from autograder.rebuild import place_of, spots_of
from autograder.releases import master_of


def add_arguments(parser):
    """Options of `doctor`."""
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument(
        "--sandbox", action="store_true", help="test the sandbox itself"
    )
    add_course_arguments(parser)


def run(args):
    """Examine each file; 1 if one is damaged or a sandbox wall is open."""
    if not args.files and not args.sandbox:
        raise Refusal("name a notebook to examine, or say --sandbox")
    course = course_from(args)
    findings = [examine(path, course) for path in args.files]
    walls = {}
    if args.sandbox:
        from autograder import selftest

        walls = selftest.findings()
    if args.json:
        files = [asdict(finding) for finding in findings]
        print(json.dumps({"files": files, "sandbox": walls}, indent=1))
    else:
        print("\n\n".join([*map(text, findings), *wall_text(walls)]))
    sick = any(f.problem or f.repairs for f in findings)
    return int(sick or not all(walls.values()))


def examine(path, course):
    """Return what grading would find in the file at `path`."""
    try:
        data = identity.bytes_of(path)
    except identity.Unreadable as problem:
        return Finding(str(path), problem=str(problem))
    return examine_bytes(str(path), data, course)


def examine_bytes(file, data, course):
    """Return what grading would find in these bytes."""
    known = identity.released_notebooks(course.released)

    def release_of(assignment, notebook, version):
        master = master_of(course, assignment, notebook, version)
        return place_of(master)[1], spots_of(master)

    return find(file, data, known, release_of)


def wall_text(walls):
    """Return the sandbox's self-test as one block of lines."""
    lines = [
        f"  {'holds' if holds else 'FAILS'}  {claim}"
        for claim, holds in walls.items()
    ]
    return ["\n".join(["sandbox:", *lines])] if walls else []
