"""`python -m autograder COMMAND`: the instructor's command line.

Each command is one module with `add_arguments(parser)` and `run(args)`,
which returns the exit code: 0 done, 1 done but something failed and is
named, 2 nothing done, for the reason printed (bad request, bad setup).
"""

import argparse
import importlib
import sys

from autograder import Refusal

COMMANDS = {
    "release": ("release", "solutions/ -> notebooks/, without answers"),
    "publish": ("publish", "what students have been given is kept"),
    "collect": ("intake", "archives and loose files -> submitted/"),
    "doctor": ("doctor", "what is damaged in a submission; the sandbox"),
    "grade": ("grade", "submitted/ -> gradebook, CSV, feedback"),
    "status": ("status", "how each submission ended"),
    "report": ("report", "points per exercise, over the class"),
    "feedback": ("feedback", "pages for students, after marking by hand"),
    "mutants": ("mutants", "named wrong and right answers, graded"),
    "bench": ("bench", "students per minute, against plain nbgrader"),
    "sample": ("sample_class.command", "the sample class: expected, given"),
    "export": ("export", "grades as CSV: per question, Canvas, Moodle"),
    "remove": ("remove", "takes a student's data out of the classroom"),
    "student-edition": ("student_edition", "a folder without answers"),
    "where": ("where", "where site, notebooks and grades are"),
}


def build_parser(command):
    """Parser that knows every command, and the options of this one."""
    parser = argparse.ArgumentParser(
        prog="python -m autograder",
        description="Release, collect and grade the course's exercises.",
        epilog="exit codes: 0 done, 1 something failed and is named, "
        "2 nothing was done, for the reason printed",
    )
    commands = parser.add_subparsers(
        dest="command", metavar="COMMAND", required=True
    )
    for name, (module, text) in COMMANDS.items():
        sub = commands.add_parser(name, help=text, description=text)
        if name == command:
            loaded = importlib.import_module(f"autograder.{module}")
            loaded.add_arguments(sub)
            sub.set_defaults(run=loaded.run)
    return parser


def main(argv=None):
    """Run one command; return the exit code."""
    argv = sys.argv[1:] if argv is None else argv
    args = build_parser(next(iter(argv), None)).parse_args(argv)
    try:
        return args.run(args)
    except Refusal as refusal:
        print(f"autograder: {refusal}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("autograder: interrupted; a rerun continues", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
