"""`where`: where the site, the notebooks and the grades are."""

from autograder.course import ROOT, add_course_arguments, course_from

SAMPLE = ROOT / "_build" / "sample" / "class"


def add_arguments(parser):
    """Options of `where`."""
    add_course_arguments(parser)


def run(args):
    """Print one line for each product that exists, or how to make it."""
    course = course_from(args)
    places = [
        ("site", ROOT / "_build" / "html" / "index.html", "make book"),
        ("notebooks", course.released, "make notebooks"),
        ("grades", course.grades / "grades.csv", "make grade"),
        ("class report", course.report, "make grade"),
        ("feedback", course.feedback, "make grade"),
        ("sample's grades", SAMPLE / "grades" / "grades.csv", "make sample"),
        ("sample's report", SAMPLE / "grades" / "report.html", "make sample"),
        ("sample's feedback", SAMPLE / "feedback", "make sample"),
    ]
    for name, path, command in places:
        found = str(path) if path.exists() else f"not yet: {command}"
        print(f"{name:18} {found}")
    return 0
