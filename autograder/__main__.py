"""`python -m autograder COMMAND`: the instructor's command line.

Each command is one module with `add_arguments(parser)` and `run(args)`,
which returns the exit code: 0 done, 1 done but something failed and is
named, 2 nothing done, for the reason printed (bad request, bad setup).
Standard output holds the answer alone; all else goes to standard error.
"""

import argparse
import contextlib
import importlib
import io
import os
import sys

from autograder import Refusal, files

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
CODES = (
    "exit codes: 0 done; 1 something failed and is named; 2 nothing was "
    "done, for the reason printed; 130 interrupted, a rerun continues"
)


def build_parser(command):
    """Parser that knows every command, and the options of this one."""
    parser = argparse.ArgumentParser(
        prog="python -m autograder",
        description="Release, collect and grade the course's exercises.",
        epilog=CODES,
    )
    commands = parser.add_subparsers(
        dest="command", metavar="COMMAND", required=True
    )
    for name, (module, text) in COMMANDS.items():
        sub = commands.add_parser(
            name, help=text, description=text, epilog=CODES
        )
        if name == command:
            loaded = importlib.import_module(f"autograder.{module}")
            loaded.add_arguments(sub)
            sub.add_argument("--json", action="store_true", help="print JSON")
            sub.set_defaults(run=loaded.run)
    return parser


def main(argv=None):
    """Run one command; return the exit code."""
    argv = sys.argv[1:] if argv is None else argv
    args = build_parser(next(iter(argv), None)).parse_args(argv)
    said = io.StringIO()
    try:
        try:
            with contextlib.redirect_stdout(said):
                return args.run(args)
        finally:
            write(said.getvalue())
    except Refusal as refusal:
        print(f"autograder: {refusal}", file=sys.stderr)
        return refusal.code
    except OSError as error:
        if error.errno not in files.FULL:
            raise
        print(f"autograder: {files.NO_ROOM}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("autograder: interrupted; a rerun continues", file=sys.stderr)
        return 130


def write(text):
    """Print the answer; a reader who left early, as `head` does, is fine."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
