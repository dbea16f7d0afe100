"""Makes the sample class: students/*.toml -> the platforms' files.

The same texts always give the same files. A student's answers are the
reference answers or none, changed exercise by exercise: to an answer of
mutants/, named "wrong: ..." or "right: ...", or to the code given.
"""

import copy
import io
import json
import re
import tomllib
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

from autograder import mutants
from autograder.sample_class.cells import code_cell, is_answer
from autograder.sample_class.damage import damaged

STUDENTS = Path(__file__).with_name("students")
NOON = (2026, 1, 30, 12, 0, 0)  # when every file was saved
WORDS = """The exact part is the count of normalization Jacobians on a path.
The conclusion does not follow: the gradient is the sum of all paths, and
1 + J may amplify by as much as the normalization shrinks. Measure the
gradient's norm by layer at several depths; a geometric fall would confirm
the claim."""
PLATFORMS = {  # archive or folder, and the path of a file inside
    "canvas": ("canvas.zip", "{key}_{n}_{m}_{file}"),
    "moodle": ("moodle.zip", "{name}_{n}_assignsubmission_file_/{file}"),
    "zip in moodle": ("moodle.zip", "{name}_{n}_assignsubmission_file_/w.zip"),
    "blackboard": (
        "blackboard.zip",
        "Symbols_{key}_attempt_2026-01-30-12-00-00_{file}",
    ),
    "brightspace": (
        "brightspace.zip",
        "{n}-77 - {name} - Jan 30, 2026 1200 PM/{file}",
    ),
    "classroom": ("classroom", "{name} - {file}"),
    "folder": ("folders", "{key}/{file}"),
}


@dataclass(frozen=True)
class Student:
    """One student: what was done, and what grading must say of it."""

    key: str  # the student's id after intake
    story: str
    arrives: str  # a key of PLATFORMS
    answers: str = "reference"  # or "none"
    why: str = ""
    file: str = ""  # its name, if not the notebook's
    earlier: str = ""  # name of an earlier, untouched attempt
    first: str = ""  # code of a cell before the answers
    words: bool = False  # whether the question in words is answered
    change: dict = field(default_factory=dict)  # exercise -> answer
    damage: tuple = ()
    notebook: str = "symbols/beginner"
    score: dict = field(default_factory=dict)  # exercise -> points
    status: str = "graded"
    says: dict = field(default_factory=dict)  # exercise -> piece of message
    repairs: str = ""  # piece of a repair
    reason: str = ""  # piece of the reason


def students():
    """Read every student, in the files' order."""
    texts = [p.read_text("utf-8") for p in sorted(STUDENTS.glob("*.toml"))]
    found = [
        Student(key=key, **facts)
        for text in texts
        for key, facts in tomllib.loads(text).items()
    ]
    if len({s.key for s in found}) != len(found):
        raise ValueError("two students in sample_class/students share a key")
    return found


def make(inbox, notebooks, source, mark="", only=None, everyone=None):
    """Write the class's files into `inbox`; return the students.

    `everyone` is the class, if it is not the one that is written down.

    `mark` is put into every submission, with the student's key, to see
    that it stays there.
    """
    inbox.mkdir(parents=True)
    everyone = students() if everyone is None else everyone
    chosen = [s for s in everyone if only is None or s.key in only]
    files = {}
    for number, student in enumerate(chosen, start=101):
        place = f"{student.notebook}.ipynb"
        released = json.loads((notebooks / place).read_text("utf-8"))
        master = json.loads((source / place).read_text("utf-8"))
        for path, data in delivered(student, released, master, number, mark):
            files.setdefault(PLATFORMS[student.arrives][0], {})[path] = data
    for box, members in sorted(files.items()):
        if box.endswith(".zip"):
            (inbox / box).write_bytes(packed(members))
        else:
            for path, data in members.items():
                (inbox / box / path).parent.mkdir(parents=True, exist_ok=True)
                (inbox / box / path).write_bytes(data)
    return chosen


def delivered(student, released, master, number, mark):
    """Yield (path, bytes) of each file that the student hands in."""
    level = student.notebook.split("/")[1]
    name = student.file or f"{level}.ipynb"
    if student.earlier:
        data = json.dumps(released).encode()
        yield path_of(student, number, student.earlier), data
    notebook = answered(student, released, master)
    if mark:
        text = f"# {mark} {student.key}"
        notebook["cells"].append({**code_cell(text), "id": "mark"})
    data = damaged(notebook, released, student.damage)
    if student.arrives == "zip in moodle":
        data = packed({f"homework/{name}": data})
    yield path_of(student, number, name), data


def path_of(student, number, file):
    """Return the path that the platform gives the file."""
    name = student.key.replace("-", " ").title()
    return PLATFORMS[student.arrives][1].format(
        key=student.key, name=name, n=number, m=number + 1000, file=file
    )


def answered(student, released, master):
    """Return the released notebook with the student's answers."""
    reference = {c["id"]: text_of(c) for c in master["cells"]}
    known = mutants.load(*student.notebook.split("/"))
    notebook = copy.deepcopy(released)
    wrong_names = set(student.change) - set(reference)
    if wrong_names:
        raise ValueError(f"{student.key} changes unknown {wrong_names}")
    for cell in filter(is_answer, notebook["cells"]):
        name = cell["id"]
        if cell["cell_type"] == "markdown":
            cell["source"] = WORDS if student.words else cell["source"]
            continue
        base = reference[name] if student.answers == "reference" else None
        change = student.change.get(name)
        code = answer(change, reference[name], known[name]) if change else base
        cell["source"] = code or cell["source"]
    if student.first:
        after = [c["id"] for c in notebook["cells"]].index("checks") + 1
        own = {**code_cell(student.first), "id": "own"}
        notebook["cells"].insert(after, own)
    return notebook


def answer(change, reference, known):
    """Return the code that a student's `change` names, or is."""
    if change == "reference":
        return reference
    kind, _, name = change.partition(": ")
    if kind not in ("wrong", "right") or "\n" in change:
        return change.strip()
    found = [a for a in known if a.name == name]
    if not found or bool(found[0].loses) != (kind == "wrong"):
        raise ValueError(f"there is no answer {change!r} in mutants/")
    return found[0].code


def text_of(cell):
    """Return a cell's text without the marks around the solution."""
    text = "".join(cell["source"])
    return re.sub(r"(?m)^ *### (BEGIN|END) SOLUTION.*\n?", "", text).strip()


def packed(members):
    """Return the bytes of a zip archive of {name: bytes}."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in sorted(members.items()):
            info = zipfile.ZipInfo(name, NOON)
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
    return buffer.getvalue()
