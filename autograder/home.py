"""The doctor at home: what grading will find, from a table of releases.

The last part of the file that students run; `pocket` puts TABLE before it.
"""

from __future__ import annotations

import glob
import sys

from autograder.findings import Finding, find, text
from autograder.identity import Released, Unreadable, bytes_of
from autograder.matching import Spot

TABLE: list[dict] = []
NONE_HERE = """\
There is no notebook here. Give its name: python doctor.py my.ipynb
In Colab: File, Download, Download .ipynb; then upload that file to the
folder on the left, beside doctor.py."""
NOTE = """\
The doctor reads the form of a file. It runs nothing and knows no answers."""


def examine_at_home(path: str, table: list[dict]) -> Finding:
    """Return what grading would find in the file at `path`."""
    try:
        data = bytes_of(path)
    except Unreadable as problem:
        return Finding(path, problem=str(problem))
    known = [
        Released(*each["place"], frozenset(each["cells"]))
        for each in table
        if each["current"]
    ]

    def release_of(assignment, level, version):
        here = [e for e in table if e["place"] == [assignment, level]]
        own = [e for e in here if e["version"] == version]
        chosen = own or [e for e in here if e["current"]]
        return chosen[0]["version"], [spot_of(s) for s in chosen[0]["spots"]]

    return find(path, data, known, release_of)


def spot_of(row: list) -> Spot:
    """Return a spot from its row in the table."""
    code, grade_id, role, digest, names = row
    return Spot(bool(code), grade_id, role, digest, frozenset(names.split()))


def at_home() -> None:
    """Print the findings on the files named, or on all that lie here."""
    named = [word for word in sys.argv[1:] if ".ipynb" in word.lower()]
    for path in named or sorted(glob.glob("*.ipynb")):
        print(text(examine_at_home(path, TABLE)), end="\n\n")
    print(NOTE if named or glob.glob("*.ipynb") else NONE_HERE)


if __name__ == "__main__":
    at_home()
