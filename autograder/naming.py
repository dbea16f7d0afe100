"""Reads the student's name out of the names learning platforms give files.

Each platform has its shape; a plain folder named after the student works
too. A roster, where there is one, has the last word.
"""

from __future__ import annotations

import csv
import re
import unicodedata
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

# Outermost name first, so the student's own file names never matter.
SHAPES = {
    "moodle": re.compile(
        r"(?P<name>.+?)_(?P<number>\d+)_assignsubmission_[a-z]+_?(?P<file>.*)"
    ),
    "blackboard": re.compile(
        r".+_(?P<name>[^_]+)_attempt_(?P<date>\d{4}(?:-\d\d){5})"
        r"(?:_(?P<file>.+)|\.txt)"
    ),
    "brightspace": re.compile(
        r"(?P<number>\d+)-\d+ ?- ?(?P<name>.+?) ?- ?"
        r"(?P<date>\w+\.? \d{1,2}, \d{4},? \d{1,2}:?\d\d ?[AP]M)"
    ),
    "canvas": re.compile(
        r"(?P<name>[^_]+?)(?:_LATE)?_(?P<number>\d+)_\d+_(?P<file>.+)",
        re.IGNORECASE,
    ),
    "gradescope": re.compile(r"submission_(?P<number>\d+)"),
    "classroom": re.compile(r"(?P<name>[^-]+?) - (?P<file>.+\.ipynb)"),
}
# The operating system's, Jupyter's and git's own files, by their folders.
LITTER = {
    "__macosx": "the operating system's, not a submission",
    ".ds_store": "the operating system's, not a submission",
    "thumbs.db": "the operating system's, not a submission",
    "desktop.ini": "the operating system's, not a submission",
    ".ipynb_checkpoints": "Jupyter's own copy, not what was handed in",
    ".git": "git's own, not a submission",
}
ARCHIVES = (".7z", ".rar", ".tar", ".tgz", ".gz", ".xz", ".bz2", ".zst")
COPY = re.compile(
    r"^(?:(?:cop(?:y|ie|ia)|cópia|kopi[ea]?) (?:of|von|van|d[ei]|a[vf]) )+",
    re.IGNORECASE,
)
COUNT = re.compile(r"(?: ?\((\d+)\)|-(\d+))$")
NOBODY = frozenset(
    "submitted submissions submission download downloads desktop documents "
    "document tmp temp files file home users root assignment assignments "
    "homework notebook notebooks solutions attempts archive archives inbox "
    "data upload uploads final copy of the my new untitled class drive "
    "export".split()
)
DEVICES = frozenset(  # no names of folders on Windows
    "con prn aux nul".split()
    + [f"{port}{i}" for port in ("com", "lpt") for i in range(10)]
)


@dataclass(frozen=True)
class Name:
    """What the names on the way to a file say about it."""

    student: str | None  # as written, e.g. "Jane Doe"
    shape: str  # a key of SHAPES, "folder", "file" or "roster"
    file: str  # the file's own name, without the platform's additions
    number: str = ""  # the platform's number for the student
    date: float | None = None  # seconds since 1970, where the name has one
    attempt: int = 0  # Canvas's "-1", a browser's " (1)"


@dataclass
class Roster:
    """Who is in the class: any cell of a row leads to its first cell."""

    ids: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Roster:
        """Read a CSV with a header; the first column is the student's id."""
        text = path.read_text(encoding="utf-8-sig")
        rows = [r for r in csv.reader(text.splitlines()) if any(r)]
        if len(rows) < 2 or not all(row[0].strip() for row in rows[1:]):
            raise ValueError(
                f"{path} is no roster: it needs a header row and one row a "
                "student, with the student's id in the first column"
            )
        pairs = [(key(cell), row[0]) for row in rows[1:] for cell in row]
        return cls({cell: safe_id(who) for cell, who in pairs if cell})

    def find(self, *clues: str) -> str | None:
        """Return the id that the first known clue leads to."""
        found = (self.ids.get(key(clue)) for clue in clues if clue)
        return next((who for who in found if who), None)


def no_submission(names: tuple[str, ...]) -> str:
    """Say why a file is no submission by its name alone; empty if it may."""
    last = names[-1].lower()
    for name in names:
        if name.lower() in LITTER:
            return LITTER[name.lower()]
    if last[:2] == "._":
        return LITTER["__macosx"]
    if last.endswith(ARCHIVES):
        return "an archive of another kind: unpack it, or use .zip"
    if re.search(r"\.z\d\d$|\.zip\.\d{3}$", last):
        return "a part of a split archive: join the parts, or use one .zip"
    if ".ipynb" in last or last.endswith((".json", ".zip")):
        return ""
    return "not a notebook"


def read_name(names: tuple[str, ...], ours: frozenset[str]) -> Name:
    """Find the student in `names`; `ours` are the course's own words."""
    for name in names:
        for shape, pattern in SHAPES.items():
            if match := pattern.fullmatch(name):
                parts = match.groupdict()
                if name is not names[-1]:  # a folder or an archive
                    parts["file"] = names[-1]
                return _from_platform(shape, parts, names[-1])
    own, attempt = own_name(names[-1])
    for name in reversed(names[:-1]):
        stem = re.sub(r"\.zip$", "", name, flags=re.IGNORECASE)
        stem = own_name(stem)[0]
        if not _words(stem):  # not one letter; further out is not the student
            return Name(None, "folder", own, attempt=attempt)
        if not _is_ours(stem, ours):
            stem = _without_assignment(stem, ours)
            return Name(stem, "folder", own, attempt=attempt)
    rest = [w for w in _words(Path(own).stem) if w not in ours | NOBODY]
    rest = [word for word in rest if not word.isdigit()]
    return Name(" ".join(rest) or None, "file", own, attempt=attempt)


def own_name(name: str) -> tuple[str, int]:
    """Strip "Copy of " and " (1)"; return the name and the count."""
    stem, dot, suffix = COPY.sub("", name).partition(".ipynb")
    count = 0
    while match := COUNT.search(stem):
        count = max(count, int(match[1] or match[2]))
        stem = stem[: match.start()]
    return stem.strip() + dot + suffix, count


def safe_id(name: str) -> str:
    """Turn a name into a folder name: "José Núñez" is jose-nunez."""
    apart = unicodedata.normalize("NFKD", name)
    plain = "".join(c for c in apart if not unicodedata.combining(c))
    if not plain.isascii():  # other scripts keep their marks
        plain = unicodedata.normalize("NFC", name)
    name = re.sub(r"[^\w.]+", "-", plain.casefold()).strip("-._")[:80]
    if name.partition(".")[0] in DEVICES:
        name = f"student-{name}"
    return name.encode()[:200].decode(errors="ignore")  # a file's name has 255


def key(text: str) -> str:
    """Return what two spellings of one name have in common."""
    return " ".join(_words(text))


def _words(text: str) -> list[str]:
    text = unicodedata.normalize("NFC", text)
    return re.findall(r"[^\W_]+", text.casefold())


def _is_ours(stem: str, ours: frozenset[str]) -> bool:
    """Say whether a folder's name holds nothing but the course's words."""
    words = [w for w in _words(stem) if not re.fullmatch(r"\d+(t\d+z)?", w)]
    return all(word in ours | NOBODY for word in words)


def _without_assignment(stem: str, ours: frozenset[str]) -> str:
    """Strip "symbols-" from a folder of GitHub Classroom."""
    slug = "|".join(map(re.escape, sorted(ours)))
    return re.sub(rf"(?i)^(?:(?:{slug})[-_])+", "", stem) if slug else stem


def _from_platform(shape: str, parts: dict, last: str) -> Name:
    file, attempt = own_name(parts.get("file") or last)
    date = parts.get("date")
    return Name(
        student=parts.get("name"),
        shape=shape,
        file=file,
        number=parts.get("number") or "",
        date=_read_date(date) if date else None,
        attempt=attempt,
    )


def _read_date(text: str) -> float | None:
    """Read Blackboard's and Brightspace's dates; None if they are strange."""
    try:
        if text[:4].isdigit():
            return datetime.strptime(text, "%Y-%m-%d-%H-%M-%S").timestamp()
        day, clock, half = (
            re.fullmatch(
                r"(\w{3})\w*\.?( \d{1,2}, \d{4}),? (\d{1,2}:?\d\d) ?([AP]M)",
                text,
            )
            .expand(r"\1\2|\3|\4")
            .split("|")
        )
        clock = clock.replace(":", "").zfill(4)  # "300" is three o'clock
        text = f"{day} {clock} {half}"
        return datetime.strptime(text, "%b %d, %Y %I%M %p").timestamp()
    except (ValueError, AttributeError):
        return None
