"""`report`: how a class did: as text, as JSON, or as a page to show in class.

The page is grades/report.html; `grade` writes it too.
"""

import json
from dataclasses import asdict

from autograder import class_page, course, files
from autograder.class_figures import notebooks
from autograder.class_page import number, ranked


def add_arguments(parser):
    """Options of `report`."""
    course.add_course_arguments(parser)
    parser.add_argument(
        "assignments", nargs="*", metavar="ASSIGNMENT", help="default: all"
    )
    parser.add_argument(
        "--html", action="store_true", help="write grades/report.html"
    )


def run(args):
    """Print how the class did, or write the page of it."""
    place = course.course_from(args)
    found = notebooks(place, args.assignments)
    page = write(place, found) if args.html else None
    if args.json:
        print(json.dumps([figures(book) for book in found], indent=1))
    elif page:
        print(page)
    else:
        print("\n\n".join(map(text, found)))
    return 0


def write(place, found=None):
    """Write the page; return its path."""
    found = notebooks(place) if found is None else found
    path = place.report
    files.write_whole(path, class_page.page_of(found))
    return path


def text(book):
    """Return one notebook as lines, the hardest exercise first."""
    ends = [f"{count} {status}" for status, count in book.ended.items()]
    lines = [f"{book.name}: {', '.join(ends)}"]
    if book.problem:
        lines.append(f"  {book.problem}")
    for name, counts in (("failed", book.reasons), ("mended", book.repairs)):
        lines += [f"  {n} × {name}: {why}" for why, n in ranked(counts)]
    known = [e for e in book.exercises if e.mean is not None]
    for exercise in sorted(known, key=lambda e: e.mean):
        answers = number(len(exercise.points), "answer")
        lines.append(f"{exercise.mean:6.0%} {exercise.title} ({answers})")
        for message, count in ranked(exercise.messages)[:3]:
            lines.append(f"{'':7}{count} × {message}")
    for what, names in (
        ("never failed", book.never_failed()),
        ("always failed", book.always_failed()),
    ):
        if names:
            lines.append(f"  {what}: {', '.join(names)}")
    return "\n".join(lines)


def figures(book):
    """Return one notebook as plain data, with what follows from it."""
    plain = asdict(book)
    for part, exercise in zip(
        plain["exercises"], book.exercises, strict=True
    ):
        part |= {"mean": exercise.mean, "full": exercise.full,
                 "zero": exercise.zero}
    plain["never_failed"] = book.never_failed()
    plain["always_failed"] = book.always_failed()
    return plain
