"""`where`: where the site, notebooks and grades are; what is in force."""

import json
from dataclasses import asdict
from datetime import UTC, datetime

from autograder import address, classfile, policy, settings
from autograder.course import ROOT, add_course_arguments, course_from

SAMPLE = ROOT / "_build" / "sample" / "class"


def add_arguments(parser):
    """Options of `where`."""
    add_course_arguments(parser)


def run(args):
    """Print each product that exists, or how to make it; then the rules."""
    course = course_from(args)
    found, rules = places(course), in_force(course)
    if args.json:
        print(json.dumps({"places": found, "in_force": rules}, indent=1))
        return 0
    for name, (path, command) in found.items():
        print(f"{name:18} {f'not yet: {command}' if command else path}")
    print(f"\nin force, from {rules.pop('from')}")
    for name, value in rules.items():
        print(f"{name:18} {text(value)}")
    return 0


def places(course):
    """Return {product: [path, the command that makes it if missing]}."""
    found = [
        ("site", ROOT / "_build" / "html" / "index.html", "make book"),
        ("notebooks", course.released, "make notebooks"),
        ("grades", course.grades / "grades.csv", "make grade"),
        ("class report", course.report, "make grade"),
        ("feedback", course.feedback, "make grade"),
        ("sample's grades", SAMPLE / "grades" / "grades.csv", "make sample"),
        ("sample's report", SAMPLE / "grades" / "report.html", "make sample"),
        ("sample's feedback", SAMPLE / "feedback", "make sample"),
    ]
    return {
        name: [str(path), "" if path.exists() else command]
        for name, path, command in found
    }


def in_force(course):
    """Return the class's settings and rules, defaults included."""
    path = course.classroom / classfile.FILE
    chosen, rules = settings.read(course), policy.read(course)
    return {
        "from": str(path) if path.exists() else f"no {path}: all is default",
        "processes": chosen.processes,
        "seconds": {
            key: getattr(chosen.limits, name)
            for key, name in settings.SECONDS.items()
        },
        "due": {name: moment(due) for name, due in rules.due.items()},
        "late": {key: asdict(rules)[key] for key in policy.LATE},
        "gradebook": address.shown(course.gradebook),
    }


def moment(seconds):
    """Return a moment as text, in UTC."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"


def text(value):
    """Return a setting as one line."""
    if not isinstance(value, dict):
        return str(value)
    return ", ".join(f"{key} {each}" for key, each in value.items()) or "none"
