"""`publish`: the current releases are handed out; keep their sources.

From then on a submission is graded by the release that it was made from,
also when the source has changed since.
"""

import datetime
import json

from autograder import Refusal, published
from autograder.release import SOLUTIONS, assignments, release
from autograder.source import read_source, visible_version

HEAD = """\
# What students have been given; `python -m autograder publish` adds to it.
# `retired = true` under a version takes it out of use: whoever hands it in
# is graded by the current release.
"""


def add_arguments(parser):
    """Options of `publish`."""
    parser.add_argument(
        "assignment", help="as in solutions/: all its notebooks"
    )
    parser.add_argument(
        "--corrects", action="append", default=[], metavar="VERSION",
        help="an older release with a mistake that students could see; the "
        "new one grades it",
    )  # fmt: skip


def run(args):
    """Publish an assignment; say which versions are new."""
    new = publish(SOLUTIONS / args.assignment, args.corrects)
    release(args.assignment)
    if args.json:
        print(json.dumps({"published": new}))
        return 0
    for notebook, version in new.items():
        print(f"published {args.assignment}/{notebook}, release {version}")
    if not new:
        print("nothing to publish: the current releases are published")
    return 0


def publish(folder, corrects=()):
    """Enter what is new in the folder's releases.toml; return it."""
    if folder.name not in assignments(folder.parent):
        raise Refusal(
            f"there is no assignment {folder.name!r} in solutions/; choose "
            f"one of: {', '.join(assignments(folder.parent)) or 'none yet'}"
        )
    book = published.read(folder)
    current = {
        path.stem: visible_version(read_source(path))
        for path in sorted(folder.glob("*.py"))
    }
    new = {
        notebook: version
        for notebook, version in current.items()
        if version not in book.get(notebook, {})
    }
    corrected = {notebook: [] for notebook in new}
    for old in corrects:
        corrected[_notebook_of(old, book, new)].append(old)
    for notebook, version in new.items():
        _enter(folder, notebook, version, corrected[notebook])
    return new


def _notebook_of(old, book, new):
    """Return the notebook that release `old` is of, if it has a new one."""
    for notebook, entries in book.items():
        if old in entries and notebook in new:
            return notebook
    raise Refusal(
        f"--corrects {old}: releases.toml lists no such release of a "
        "notebook that has changed since, so nothing was published"
    )


def _enter(folder, notebook, version, corrects):
    """Add one release to the folder's releases.toml, and keep its text."""
    path = folder / "releases.toml"
    text = path.read_text(encoding="utf-8") if path.exists() else HEAD
    text += f"\n[{notebook}.{version}]\npublished = {datetime.date.today()}\n"
    if corrects:
        quoted = ", ".join(f'"{old}"' for old in corrects)
        text += f"corrects = [{quoted}]\n"
    path.write_text(text, encoding="utf-8")
