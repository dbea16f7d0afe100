"""`collect`: archives and loose files become submitted/, file by file.

Which notebook a file is, is read inside it; whose it is, from the names
around it. Every file is reported, taken or not; of several attempts the
latest is graded and the others are kept in attempts/.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

from autograder import Refusal
from autograder.archives import Found, walk
from autograder.course import add_course_arguments, course_from
from autograder.identity import (
    Released,
    Unreadable,
    decode,
    identify,
    parse,
    released_notebooks,
)
from autograder.naming import SHAPES, Name, Roster, key, read_name, safe_id

CLOCK_SLACK = 2.0  # seconds; zip archives keep even seconds only


@dataclass
class Entry:
    """What became of one file."""

    file: str  # where it lay
    fate: str  # "taken", "kept" (an older attempt, a copy) or "refused"
    note: str = ""  # why not, or what was odd
    student: str = ""
    assignment: str = ""
    level: str = ""


@dataclass
class Attempt:
    """A file that has found its student and notebook."""

    entry: Entry
    path: Path  # its copy in attempts/
    readable: bool
    order: tuple  # the largest is the latest


class Intake:
    """One collection into one classroom.

    All that is written goes to `into`: a dry run's is thrown away.
    """

    def __init__(
        self,
        classroom: Path,
        known: list[Released],
        roster: Roster | None = None,
        into: Path | None = None,
        teams: dict[str, str] | None = None,
    ):
        self.submitted = classroom / "submitted"
        self.into = into or classroom
        self.attempts = self.into / "attempts"
        self.known = known
        self.roster = roster
        self.teams = teams or {}  # group -> the member it is kept under
        self.ours = frozenset(
            w for r in known for w in (r.assignment, r.level)
        )
        # no student's id begins with a bar
        self.students = Students(classroom / "attempts" / "_students.json")

    def collect(self, paths: list[Path]) -> list[Entry]:
        """Take what can be taken; return one entry a file found."""
        entries, attempts = [], {}
        for found in (f for path in paths for f in walk(path)):
            entry = Entry(found.where, "refused", found.reason)
            entries.append(entry)
            if found.data is None:
                continue
            attempt = self._read(found, entry)
            if attempt is not None:
                place = entry.student, entry.assignment, entry.level
                attempts.setdefault(place, []).append(attempt)
        for tries in attempts.values():
            self._place(sorted(tries, key=lambda a: a.order))
        self.students.write(self.attempts / self.students.path.name)
        return entries

    def _read(self, found: Found, entry: Entry) -> Attempt | None:
        """Find notebook and student; fill in the entry."""
        name = read_name(found.names, self.ours)
        notes, readable = [found.note] if found.note else [], True
        try:
            where = identify(parse(found.data), self.known)
            if where is None:
                entry.note = "a notebook, but none of this course's"
                return None
        except Unreadable as fault:
            readable, where = False, self._by_file_name(found, name)
            notes.append(str(fault))
        if not self._released(where, entry, notes):
            return None
        student = self._student(name, found, where[0], entry)
        if student is None:
            return None
        notes += [entry.note] if entry.note else []
        entry.student, (entry.assignment, entry.level) = student, where
        entry.note = "; ".join(notes + _odd_name(name, where, self.ours))
        date = name.date or found.date
        path = self._keep(entry, _normal(found.data), date)
        order = readable, name.date or 0.0, name.attempt, date
        return Attempt(entry, path, readable, order)

    def _released(
        self, where: tuple | None, entry: Entry, notes: list[str]
    ) -> bool:
        if where is None:
            entry.note = "; ".join(notes)
        elif where not in {(r.assignment, r.level) for r in self.known}:
            entry.note = f"{'/'.join(where)} is not released by this course"
        else:
            return True
        return False

    def _by_file_name(self, found: Found, name: Name) -> tuple | None:
        """Guess an unreadable notebook's place, so that it ends as failed."""
        if ".ipynb" not in name.file.lower():
            return None
        words = set(key(" ".join(found.names[-4:])).split())
        fits = [r for r in self.known if r.level in words]
        named = [r for r in fits if r.assignment in words]
        fits = named or fits
        if len(fits) != 1:
            return None
        return fits[0].assignment, fits[0].level

    def _student(
        self, name: Name, found: Found, assignment: str, entry: Entry
    ) -> str | None:
        if self.roster is not None:
            known = self.roster.find(*_clues(name, found.names))
            if known is None:
                entry.note = (
                    f"{name.student or 'its name'} is not in the roster"
                )
            return known
        if name.shape == "gradescope":
            entry.note = (
                "Gradescope's folders hold no names: pass a --roster with a "
                f"column that holds submission_{name.number}"
            )
            return None
        if not name.student or not safe_id(name.student):
            entry.note = (
                "no student's name in the names around it: put it into a "
                "folder named after the student, or pass --roster"
            )
            return None
        if member := self.teams.get(safe_id(name.student)):
            entry.note = f"of the group {name.student}"
            return member
        return self.students.id_for(name, assignment)

    def _keep(self, entry: Entry, data: bytes, date: float) -> Path:
        """Write one attempt into attempts/, where every one stays."""
        folder = self.attempts / entry.student / entry.assignment
        name = f"{hashlib.sha256(data).hexdigest()[:16]}.ipynb"
        path = folder / entry.level / name
        if not path.exists():
            _write(path, data, date)
        entry.fate = "kept"
        return path

    def _place(self, tries: list[Attempt]) -> None:
        """Copy the latest attempt into submitted/."""
        *older, latest = tries
        for attempt in older:
            _note(attempt.entry, "an earlier attempt, or a copy")
        entry, data = latest.entry, latest.path.read_bytes()
        folder = self.submitted / entry.student / entry.assignment
        target = folder / f"{entry.level}.ipynb"
        if target.exists():
            current = target.read_bytes()
            if current == data:
                _note(entry, "already collected")
                entry.fate = "taken"
                return
            self._keep(entry, current, _mtime(target))
            if not _replaces(latest, target, current):
                _note(entry, "older than, or not as good as, the last one")
                return
            _note(entry, "replaces an earlier collection")
        out = self.into / "submitted" / target.relative_to(self.submitted)
        _write(out, data, _mtime(latest.path))
        entry.fate = "taken"


class Students:
    """Gives two students of one name two ids, the same at every run."""

    def __init__(self, path: Path):
        self.path = path
        self.known: dict[str, dict] = {}
        if path.exists():
            self.known = json.loads(path.read_text(encoding="utf-8"))

    def id_for(self, name: Name, assignment: str) -> str:
        """Return the folder name for this student."""
        platform = name.shape  # Moodle numbers people anew per assignment
        if platform == "moodle":
            platform += f" {assignment}"
        spelled, plain = key(name.student), safe_id(name.student)
        other = name.number or hashlib.sha256(spelled.encode()).hexdigest()
        both = plain, f"{plain}-{other[:12]}"
        # Who has the long id keeps it when the namesake was removed.
        for who in sorted(both, key=lambda w: w not in self.known):
            owner = self.known.setdefault(who, {"name": spelled})
            number = owner.get(platform, name.number)
            if owner["name"] == spelled and number == name.number:
                break
        if name.number:
            owner[platform] = name.number
        return who

    def write(self, path: Path | None = None) -> None:
        """Keep the names for the next run, and for the platforms' CSV."""
        if self.known:
            text = json.dumps(self.known, indent=1, sort_keys=True)
            _write(path or self.path, text.encode("utf-8"), None)


def _clues(name: Name, names: tuple[str, ...]) -> list[str]:
    """Return what may lead to a student, outermost first.

    Inner names are the student's own choice, and might be another's. So
    nothing below the name that a platform gave counts.
    """
    clues = []
    for each in names:
        if name.shape in SHAPES and SHAPES[name.shape].fullmatch(each):
            return [*clues, each, name.student or "", name.number]
        clues.append(re.sub(r"(?i)\.zip$", "", each))
    return [*clues, name.student or ""]


def _odd_name(name: Name, where: tuple, ours: frozenset[str]) -> list[str]:
    """Say when the file's name claims another notebook than its content."""
    claimed = set(key(name.file).split()) & ours
    if claimed and not claimed & set(where):
        return [f"named {name.file}, but inside it is {'/'.join(where)}"]
    return []


def _replaces(new: Attempt, target: Path, current: bytes) -> bool:
    """Say whether `new` is to be graded instead of what lies there."""
    try:
        parse(current)
    except Unreadable:
        return True
    age = _mtime(target) - _mtime(new.path)
    return new.readable and age <= CLOCK_SLACK


def _normal(data: bytes) -> bytes:
    """Return the same text as UTF-8 without a mark; other bytes as is."""
    try:
        return decode(data).encode("utf-8")
    except UnicodeError:
        return data


def _note(entry: Entry, text: str) -> None:
    entry.note = f"{entry.note}; {text}" if entry.note else text


def _printable(text: str) -> str:
    """Keep control characters of file names out of the terminal."""
    return "".join(c if c.isprintable() else "?" for c in text)


def _mtime(path: Path) -> float:
    return path.stat().st_mtime


def _write(path: Path, data: bytes, date: float | None) -> None:
    """Write in one step, so that a killed run leaves no half file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.part")
    draft.write_bytes(data)
    if date:
        os.utime(draft, (date, date))
    draft.replace(path)


def add_arguments(parser) -> None:
    """Options of `collect`."""
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    parser.add_argument(
        "--roster",
        type=Path,
        help="CSV with a header; the first column is the student's id, "
        "any other (name, email, number) leads to it",
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="say what would be taken; write nothing into the classroom",
    )
    add_course_arguments(parser)


def run(args) -> int:
    """Collect; 0 if every notebook was taken, 1 if one was not, 2 none."""
    course = course_from(args)
    known = released_notebooks(course.released)
    if not known:
        raise Refusal(
            f"no released notebooks under {course.released}: "
            "run `make notebooks` first"
        )
    for path in args.paths:
        if not path.exists():
            raise Refusal(f"{path}: no such file or folder")
    roster = read_roster(args.roster)
    teams = read_teams(course)
    with tempfile.TemporaryDirectory() as scratch:
        into = Path(scratch) if args.dry_run else None
        intake = Intake(course.classroom, known, roster, into, teams)
        entries = intake.collect(args.paths)
    show(entries, course.submitted, args)
    return exit_code(entries)


def read_teams(course) -> dict[str, str]:
    """Return {group, as a folder may be named: its first member}."""
    if not (course.classroom / "groups.csv").exists():
        return {}
    from autograder import groups  # nbgrader takes 2 s to import

    teams = set(groups.read(course).values())
    return {safe_id(team.name): team.members[0] for team in teams}


def read_roster(path: Path | None) -> Roster | None:
    """Read the roster, or refuse in one sentence."""
    if path is None:
        return None
    try:
        return Roster.read(path)
    except (OSError, ValueError) as error:
        raise Refusal(f"the roster cannot be used: {error}") from error


def exit_code(entries: list[Entry]) -> int:
    """Return 0, 1 or 2, as `__main__` documents them."""
    if not any(e.fate == "taken" for e in entries):
        return 2
    missed = (e for e in entries if e.fate == "refused")
    return int(any(".ipynb" in e.file or ".zip" in e.file for e in missed))


def show(entries: list[Entry], submitted: Path, args) -> None:
    """Print one line a file, and the sum."""
    if args.json:
        files = [asdict(e) for e in entries]
        facts = {"dry_run": args.dry_run, "submitted": str(submitted)}
        print(json.dumps({**facts, "files": files}, indent=1))
        return
    for e in entries:
        place = "/".join(filter(None, (e.student, e.assignment, e.level)))
        arrow = f" -> {place}" if place else ""
        note = f" ({e.note})" if e.note else ""
        print(f"{e.fate:7} {_printable(e.file + arrow + note)}")
    count = Counter(e.fate for e in entries)
    students = {e.student for e in entries if e.fate == "taken"}
    end = f"They lie in {submitted}"
    print(
        f"{len(entries)} files: {count['taken']} taken, of "
        f"{len(students)} students; {count['kept']} kept aside; "
        f"{count['refused']} refused. "
        f"{'Nothing was written.' if args.dry_run else end}"
    )
