"""From solutions/ to notebooks/: the release of an assignment.

source.py turns the sources into notebooks, nbgrader itself clears them, and
the masters of earlier releases are built beside. Nothing here touches a
gradebook, and the same source always gives the same bytes.
"""

import json
import shutil

import nbformat

from autograder import Refusal, published
from autograder.course import ROOT, Course
from autograder.source import REGIONS, source_notebook

SOLUTIONS = ROOT / "solutions"


def add_arguments(parser):
    """Options of `release`."""
    parser.add_argument(
        "assignments", nargs="*", metavar="ASSIGNMENT",
        help="as in solutions/; all of them, if none is named",
    )


def run(args):
    """Release what was asked for; say what was written."""
    names = args.assignments or assignments()
    paths = [p.relative_to(ROOT) for name in names for p in release(name)]
    if args.json:
        print(json.dumps([str(path) for path in paths], indent=1))
    else:
        print("\n".join(f"released {path}" for path in paths))
    return 0


def assignments(solutions=SOLUTIONS):
    """Return the assignments that have sources, sorted."""
    return sorted(p.parent.name for p in solutions.glob("*/beginner.py"))


def release(
    assignment,
    notebooks=Course.released,
    scratch=Course.source,
    solutions=SOLUTIONS,
):
    """Release every level of `assignment`; return the written paths.

    Leaves the notebooks with answers in `scratch`/assignment, those of
    earlier releases in releases/ there, and the students' in
    `notebooks`/assignment, and removes notebooks there whose source is
    gone. Raises Refusal for a source it cannot release.
    """
    sources = sorted((solutions / assignment).glob("*.py"))
    if not sources:
        raise Refusal(
            f"there is no assignment {assignment!r} in solutions/; "
            f"choose one of: {', '.join(assignments()) or 'none yet'}."
        )
    built = {p.stem: source_notebook(p) for p in sources}
    earlier = published.masters(solutions / assignment, built)
    _write_all(built, scratch / assignment)
    cleared = generate(assignment, scratch, scratch.parent / "release")
    for name, text in cleared.items():
        _refuse_leak(text, f"solutions/{assignment}/{name}.py")
    _write_all(earlier, scratch / assignment / "releases")
    return _replace_folder(cleared, notebooks / assignment)


def generate(assignment, source, target):
    """Let nbgrader clear answers and hidden tests; return {name: text}."""
    from nbgrader.apps import NbGraderAPI
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config import Config  # nbgrader takes 2 s to import

    config = Config()
    config.CourseDirectory.root = str(source.parent)
    config.CourseDirectory.source_directory = source.name
    config.CourseDirectory.release_directory = target.name
    config.CourseDirectory.ignore = ["*.py", "*.md", "__pycache__"]
    config.SaveCells.enabled = False  # no gradebook
    config.GenerateAssignment.no_database = True
    course = CourseDirectory(config=config)
    result = NbGraderAPI(course, config=config).generate_assignment(assignment)
    if not result["success"]:
        raise Refusal(
            f"nbgrader could not release {assignment}: "
            f"{result.get('error') or result.get('log')}"
        )
    folder = target / assignment
    return {p.stem: p.read_text("utf-8") for p in folder.glob("*.ipynb")}


def _write_all(notebooks, folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, notebook in notebooks.items():
        nbformat.validate(notebook)
        nbformat.write(notebook, folder / f"{name}.ipynb")


def _refuse_leak(text, where):
    for region in REGIONS:
        if f"BEGIN {region}" in text:
            raise Refusal(f"{where}: the released notebook still holds "
                              f"'BEGIN {region}'; nothing was written.")


def _replace_folder(texts, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.ipynb"):
        if old.stem not in texts:
            old.unlink()
    paths = [folder / f"{name}.ipynb" for name in sorted(texts)]
    for path in paths:
        path.write_text(texts[path.stem], encoding="utf-8")
    return paths
