"""Where the course keeps things, for nbgrader and for us.

A *classroom* is a folder that holds submitted/, autograded/, feedback/,
grades/ and gradebook.db; `autograder/` itself is the default one.
"""

from dataclasses import dataclass
from pathlib import Path

from autograder.address import gradebook_url

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Course:
    """The folders of one class; all paths absolute."""

    classroom: Path = ROOT / "autograder"
    source: Path = ROOT / "_build" / "source"  # with answers and hidden tests
    released: Path = ROOT / "notebooks"  # what students open

    @property
    def submitted(self):
        """submitted/<student>/<assignment>/<notebook>.ipynb."""
        return self.classroom / "submitted"

    @property
    def autograded(self):
        """As submitted/, rebuilt and run; formgrader reads it."""
        return self.classroom / "autograded"

    @property
    def feedback(self):
        """feedback/<student>/<assignment>/<notebook>.html."""
        return self.classroom / "feedback"

    @property
    def grades(self):
        """CSV files, and results/<student>/<assignment>/<notebook>.json."""
        return self.classroom / "grades"

    @property
    def report(self):
        """The page on the whole class that `report` writes."""
        return self.grades / "report.html"

    @property
    def gradebook(self):
        """The address of nbgrader's database, password included."""
        return gradebook_url(self)

    def result_file(self, student, assignment, notebook):
        """How grading this notebook ended (JSON)."""
        folder = self.grades / "results" / student / assignment
        return folder / f"{notebook}.json"


def add_course_arguments(parser):
    """Options that say which class a command works on."""
    parser.add_argument(
        "--classroom",
        type=Path,
        default=Course.classroom,
        help="folder with submitted/ and gradebook.db (autograder/)",
    )
    parser.add_argument(
        "--source",
        type=Path,
        default=Course.source,
        help="folder with the source notebooks (_build/source)",
    )


def course_from(args):
    """Build the Course that the options name."""
    return Course(
        classroom=args.classroom.resolve(), source=args.source.resolve()
    )


def configure(config, course):
    """Point nbgrader at the course's folders (absolute paths work)."""
    folders = config.CourseDirectory
    folders.course_id = "the-transformer-assembled"
    folders.root = str(course.classroom)
    folders.source_directory = str(course.source)
    folders.release_directory = str(course.released)
    folders.submitted_directory = str(course.submitted)
    folders.autograded_directory = str(course.autograded)
    folders.feedback_directory = str(course.feedback)
    folders.db_url = course.gradebook
    return config
