"""Which master grades a submission: that of the release it was made from.

A file says which release that is; a claim selects among the releases that
are kept, nothing else. `publish` keeps them, `release` builds their masters
into releases/ beside the current ones.
"""

import copy
import functools
import re

import nbformat

from autograder import Refusal
from autograder.identity import Unreadable
from autograder.matching import version_of
from autograder.rebuild import read_submission

VERSION = re.compile(r"[0-9A-Za-z]{1,40}")


def kept_path(course, assignment, notebook, version):
    """Return where the master of a release lies that is not the current."""
    folder = course.source / assignment / "releases"
    return folder / f"{notebook}-{version}.ipynb"


def master_path(course, assignment, notebook, version=None):
    """Return the master of a kept release, else the current one's path."""
    if isinstance(version, str) and VERSION.fullmatch(version):
        path = kept_path(course, assignment, notebook, version)
        if path.is_file():
            return path
    return course.source / assignment / f"{notebook}.ipynb"


def master_of(course, assignment, notebook, version=None):
    """Return the source notebook; Refusal if it is not there."""
    path = master_path(course, assignment, notebook, version)
    if not path.exists():
        raise Refusal(
            f"there is no source notebook {path}; run "
            f"`python -m autograder release {assignment}` first"
        )
    return copy.deepcopy(master_at(path, path.stat().st_mtime_ns))


@functools.lru_cache(maxsize=16)
def master_at(path, when):
    """Return the notebook of a file that has not changed since `when`."""
    return nbformat.read(path, as_version=4)


def pair_of(course, assignment, notebook, version):
    """Return (what the student was given, what grades it), two masters.

    They differ where a later release corrects the student's.
    """
    own = master_of(course, assignment, notebook, version)
    by = own.metadata.get("assembled", {}).get("graded_by")
    if by is None:
        return own, own
    return own, master_of(course, assignment, notebook, by)


def state_of(course, assignment, notebook, submission):
    """Return the bytes of the masters that grade the file `submission`.

    The file is opened only where there is more than one release.
    """
    kept = kept_path(course, assignment, notebook, "*")
    version = None
    if next(kept.parent.glob(kept.name), None):
        version = claim(submission)
    own = master_path(course, assignment, notebook, version)
    if not own.is_file():
        return b""
    data = own.read_bytes()
    master = master_at(own, own.stat().st_mtime_ns)
    by = master.metadata.get("assembled", {}).get("graded_by")
    if by:
        data += master_path(course, assignment, notebook, by).read_bytes()
    return data


def claim(path):
    """Return the release that a submitted file names, or None."""
    try:
        return version_of(read_submission(path))
    except Unreadable:
        return None
