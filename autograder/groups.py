"""`groups.csv` in the classroom: who hands in together, for one mark.

Of the files of a group's members the latest counts. It is graded once,
under the name of who handed it in; every member gets the result.
"""

import csv
from dataclasses import dataclass

from autograder import Refusal
from autograder.identity import Unreadable
from autograder.rebuild import read_submission

FILE = "groups.csv"
HEAD = ["group", "student"]


@dataclass(frozen=True)
class Group:
    """Students who share a submission."""

    name: str
    members: tuple[str, ...]


def read(place):
    """Return {student: Group}; Refusal names what is wrong in the file."""
    path = place.classroom / FILE
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise Refusal(f"{path} cannot be read: {error}") from None
    rows = [stripped(row) for row in csv.reader(lines) if any(row)]
    head, rows = rows[:1], rows[1:]
    if head != [HEAD] or not all(len(r) == 2 and all(r) for r in rows):
        raise Refusal(
            f"{path} is no list of groups: it needs the header group,student "
            "and one row a student, with the id as in submitted/"
        )
    home, members = {}, {}
    for name, student in rows:
        if student in home:
            raise Refusal(
                f"{path} lists {student!r} twice, in {home[student]!r} and "
                f"in {name!r}; a student has one group"
            )
        home[student] = name
        members.setdefault(name, []).append(student)
    found = {n: Group(n, tuple(sorted(m))) for n, m in members.items()}
    return {student: found[name] for student, name in home.items()}


def stripped(row):
    """Return the cells without blanks around them."""
    return [cell.strip() for cell in row]


def members_with(teams, student):
    """Return the student's group, or the student alone."""
    return teams[student].members if student in teams else (student,)


def file_of(place, student, assignment, notebook):
    """Return the path of a submitted notebook."""
    return place.submitted / student / assignment / f"{notebook}.ipynb"


def counting(place, teams, student, assignment, notebook):
    """Return the member whose file counts, None if there is none.

    The latest, by the date that `collect` sets; as for one student, a file
    that nobody can read never replaces one that can be read.
    """
    files = [
        (member, path)
        for member in members_with(teams, student)
        if (path := file_of(place, member, assignment, notebook)).exists()
    ]
    if len(files) < 2:
        return files[0][0] if files else None
    ranks = [
        (readable(path), path.stat().st_mtime, member)
        for member, path in files
    ]
    return max(ranks)[-1]


def readable(path):
    """Say whether a file is a notebook at all."""
    try:
        read_submission(path)
    except Unreadable:
        return False
    return True


def shared(place, teams, results):
    """Yield each result that counts, once for each member of its group."""
    for result in results:
        student = result["student"]
        if student not in teams or "file_of" in result:
            yield result
            continue
        names = student, result["assignment"], result["notebook"]
        if counting(place, teams, *names) == student:
            for member in teams[student].members:
                yield {**result, "student": member, "file_of": student}


def unlike(place, teams):
    """Return a sentence for each group with more than one version."""
    lines = []
    for group in sorted(set(teams.values()), key=lambda g: g.name):
        found = {}
        for member in group.members:
            for path in (place.submitted / member).glob("*/*.ipynb"):
                key = path.parent.name, path.stem
                found.setdefault(key, {})[member] = path.read_bytes()
        for (assignment, notebook), files in sorted(found.items()):
            if len(set(files.values())) > 1:
                one = next(iter(files))
                names = one, assignment, notebook
                lines.append(
                    f"group {group.name}: {' and '.join(sorted(files))} "
                    f"handed in different files of {assignment}/{notebook}; "
                    f"that of {counting(place, teams, *names)} counts, as "
                    "the latest"
                )
    return lines
