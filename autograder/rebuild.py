"""The graded notebook: the instructor's own, with the student's answers.

Only the text of answers and of extra code cells comes from the student.
An answer is found by its grade id, else by the names that it defines,
else by its place. What was mended is told in plain words.
"""

import ast
import functools
import json
import re
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbgrader.preprocessors import ClearHiddenTests, ClearSolutions
from nbgrader.utils import compute_checksum, is_grade, is_solution

from autograder.archives import MAX_FILE
from autograder.identity import Unreadable, cell_texts, parse
from autograder.split import clean

MAX_TEXT = 200_000  # characters of one cell
MAX_CELLS = 1000
SAYS_RELEASE = re.compile(r"Assignment: `[\w/]+` · release `(\w{1,40})`")


@dataclass
class Piece:
    """A cell of the student's file: only what we take from it."""

    text: str
    code: bool
    grade_id: str | None


@dataclass
class Rebuilt:
    """The notebook to run, and what had to be mended to get it."""

    notebook: nbformat.NotebookNode
    repairs: list[str] = field(default_factory=list)


# --- reading ----------------------------------------------------------------


def read_submission(path):
    """Return the submitted file's JSON; Unreadable says why it is none."""
    path = Path(path)
    if path.is_symlink() or not path.is_file():
        raise Unreadable("there is no such file")
    if path.stat().st_size > MAX_FILE:
        raise Unreadable(f"the file is larger than {MAX_FILE >> 20} MiB")
    return parse(path.read_bytes())


def pieces_of(document):
    """Return the cells of a notebook's JSON, tolerantly."""
    cells = document["cells"][:MAX_CELLS]
    return [piece_of(mapping(cell)) for cell in cells]


def version_of(document):
    """Return the release that the file says it was made from, or None.

    Where the metadata is gone, the locked cell that repeats it tells.
    """
    ours = mapping(mapping(document.get("metadata")).get("assembled"))
    version = ours.get("version")
    if version is None:
        found = map(SAYS_RELEASE.match, cell_texts(document))
        version = next((match[1] for match in found if match), None)
    if not isinstance(version, str) or not version.isprintable():
        return None
    return version


def mapping(value):
    """Return the value if it is a dictionary, else an empty one."""
    return value if isinstance(value, dict) else {}


def piece_of(cell):
    """Return one cell as a Piece."""
    source = cell.get("source", "")
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    text = clean(source[:MAX_TEXT]) if isinstance(source, str) else ""
    tags = mapping(mapping(cell.get("metadata")).get("nbgrader"))
    grade_id = tags.get("grade_id")
    known = grade_id if isinstance(grade_id, str) else None
    return Piece(text, cell.get("cell_type") == "code", known)


# --- comparing --------------------------------------------------------------


def plain(text):
    """Return the text without what editors change: ends, blank lines."""
    lines = [line.rstrip() for line in text.strip().splitlines()]
    return "\n".join(line for line in lines if line)


@functools.lru_cache(maxsize=256)  # most cells of a class are the same
def names_defined(text):
    """Return the names that a cell's top level defines; imports excluded."""
    try:
        tree = ast.parse(re.sub(r"(?m)^[ \t]*[%!].*$", "pass", text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        found = re.findall(r"(?m)^(?:def|class)\s+(\w+)|^(\w+)\s*=[^=]", text)
        return frozenset(a or b for a, b in found)
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    names = {node.name for node in tree.body if isinstance(node, kinds)}
    for node in tree.body:
        if not isinstance(node, kinds):
            names |= names_stored(node)
    return frozenset(names)


def names_stored(node):
    """Return the names that a top-level statement assigns."""
    return {
        leaf.id
        for leaf in ast.walk(node)
        if isinstance(leaf, ast.Name) and isinstance(leaf.ctx, ast.Store)
    }


def released(master):
    """Return the text of each of the master's cells as students got it."""
    copy = nbformat.from_dict(json.loads(json.dumps(master)))
    resources = {"language": "python"}
    for clear in (ClearSolutions(), ClearHiddenTests()):
        for i, cell in enumerate(copy.cells):
            if is_grade(cell) or is_solution(cell):
                cell, resources = clear.preprocess_cell(cell, resources, i)
    return [cell.source for cell in copy.cells]


# --- matching ---------------------------------------------------------------


def rebuild(master, pieces, version=None):
    """Return the master with the student's answers put in."""
    stubs = released(master)
    slots = [i for i, cell in enumerate(master.cells) if is_solution(cell)]
    job = Job(master, stubs, slots, pieces)
    job.compare_version(version)
    job.recognise()
    job.fill_by_id()
    job.fill_by_names()
    job.fill_by_place()
    return job.result()


def rebuild_release(own, grading, pieces, version):
    """Return the grading master with the answers to the release `own`."""
    rebuilt = rebuild(own, pieces, version)
    if grading is own:
        return rebuilt
    known = {tags_of(cell).get("grade_id") for cell in grading.cells}
    stubs = {
        tags_of(cell).get("grade_id"): plain(stub)
        for cell, stub in zip(own.cells, released(own), strict=True)
    }
    carried = [
        Piece(cell.source, cell.cell_type == "code", name)
        for cell in rebuilt.notebook.cells
        for name in [tags_of(cell).get("grade_id")]
        if (name in known or (name is None and cell.cell_type == "code"))
        and not (is_solution(cell) and plain(cell.source) == stubs[name])
    ]
    return Rebuilt(rebuild(grading, carried).notebook, rebuilt.repairs)


def tags_of(cell):
    """Return what nbgrader knows of a cell, perhaps nothing."""
    return cell.metadata.get("nbgrader", {})


class Job:
    """The state of one matching: which piece went where, and why."""

    def __init__(self, master, stubs, slots, pieces):
        self.master, self.stubs, self.slots = master, stubs, slots
        self.pieces = pieces
        self.defined = [
            names_defined(piece.text) if piece.code else set()
            for piece in pieces
        ]
        self.ids = {
            cell.metadata.nbgrader.grade_id: i
            for i, cell in enumerate(master.cells)
            if "nbgrader" in cell.metadata
        }
        self.place = {}  # piece -> master cell that it is (or follows)
        self.free = []  # pieces that are no copy of a master cell
        self.taken = {i: [] for i in slots}  # slot -> pieces
        self.repairs = []

    def say(self, text):
        """Note a repair, once."""
        if text not in self.repairs:
            self.repairs.append(text)

    def title(self, slot):
        """Return the name of a slot for people."""
        return self.master.cells[slot].metadata.nbgrader.grade_id

    def compare_version(self, version):
        """Tell when the file was made from another release."""
        ours = self.master.metadata.get("assembled", {}).get("version")
        if version and ours and version != ours:
            self.say(
                f"made from release {version[:20]}, which the course does "
                f"not keep; graded as release {ours}"
            )

    def recognise(self):
        """Find the pieces that are master cells, by id, else by text."""
        by_text = {}
        for i, stub in enumerate(self.stubs):
            by_text.setdefault((plain(stub), self.is_code(i)), i)
        for n, piece in enumerate(self.pieces):
            same = by_text.get((plain(piece.text), piece.code))
            spot = self.ids.get(piece.grade_id, same)
            if spot is None or self.misplaced(n, spot, same):
                self.free.append(n)
            else:
                self.place[n] = spot
        self.compare_locked()

    def misplaced(self, n, spot, same):
        """Return whether an answer was written over a locked cell."""
        if spot in self.slots or same == spot:
            return False
        wanted = set().union(*(self.names(slot) for slot in self.slots))
        own = names_defined(self.stubs[spot]) if self.is_code(spot) else set()
        return bool(self.defined[n] & wanted - own)

    def is_code(self, i):
        """Return whether the master's cell i holds code."""
        return self.master.cells[i].cell_type == "code"

    def names(self, slot):
        """Return the names that the reference solution of a slot defines."""
        if not self.is_code(slot):
            return set()
        return names_defined(self.master.cells[slot].source)

    def compare_locked(self):
        """Tell which tests were changed, lost or relabelled."""
        here = {spot: n for n, spot in self.place.items()}
        for i, cell in enumerate(self.master.cells):
            if not is_grade(cell) or is_solution(cell):
                continue
            if i not in here:
                self.say(f"{self.title(i)}: the check was missing; put back")
            elif plain(self.pieces[here[i]].text) != plain(self.stubs[i]):
                self.say(f"{self.title(i)}: the check was changed; the "
                         "course's own was run")
            elif self.pieces[here[i]].grade_id is None:
                self.say(f"{self.title(i)}: the check had lost its label")

    def fill_by_id(self):
        """Take answers that still carry their slot's label or text."""
        for n, spot in self.place.items():
            if spot in self.taken and self.fits(n, spot):
                self.taken[spot].append(n)
        for slot, found in self.taken.items():
            kept = [n for n in found if not self.untouched(n, slot)]
            if len(kept) > 1:
                kept = self.without_copies(kept)
            if len(found) > 1:
                self.say(f"{self.title(slot)}: {len(found)} cells carried "
                         "this label; joined in their order")
            self.taken[slot] = kept

    def fits(self, n, slot):
        """Return whether the piece has the slot's kind of cell."""
        if self.pieces[n].code != self.is_code(slot):
            self.say(f"{self.title(slot)}: the cell's kind was changed; "
                     "read as the course has it")
        return True

    def untouched(self, n, slot):
        """Return whether the piece is the stub as it was released."""
        return plain(self.pieces[n].text) == plain(self.stubs[slot])

    def without_copies(self, found):
        """Return the pieces without repetitions of the same text."""
        kept = {}
        for n in found:
            kept.setdefault(plain(self.pieces[n].text), n)
        return list(kept.values())

    def fill_by_names(self):
        """Give empty slots the free code cells that define their names."""
        for slot in self.slots:
            wanted = self.names(slot)
            if self.taken[slot] or not wanted:
                continue
            found = [n for n in self.free if self.defined[n] & wanted]
            for n in found:
                self.free.remove(n)
            if found:
                self.taken[slot] = found
                self.say(f"{self.title(slot)}: the answer was found by the "
                         "names that it defines")

    def fill_by_place(self):
        """Give empty slots the free cells that stand where they should."""
        for slot in self.slots:
            if self.taken[slot]:
                continue
            found = [
                n
                for n in self.free
                if self.pieces[n].code == self.is_code(slot)
                and self.pieces[n].text.strip()
                and self.between(n, slot)
            ]
            if found and not self.names(slot):
                for n in found:
                    self.free.remove(n)
                self.taken[slot] = found
                self.say(f"{self.title(slot)}: the answer was found by its "
                         "place")

    def between(self, n, slot):
        """Return whether n stands between the neighbours of the slot."""
        before, after = self.anchors(n)
        return before < slot < after or before == slot

    def anchors(self, n):
        """Return the master cells around piece n, -1 and the end included."""
        spots = [spot for m, spot in self.place.items() if m < n]
        later = [spot for m, spot in self.place.items() if m > n]
        before = max(spots, default=-1)
        after = min((s for s in later if s > before), default=10**9)
        return before, after

    def result(self):
        """Return the notebook, answers and extra cells in their places."""
        extra = {}
        for n in self.free:
            if self.pieces[n].code and self.pieces[n].text.strip():
                spot = self.anchors(n)[0]
                extra.setdefault(spot, []).append(n)
        notebook = nbformat.v4.new_notebook(
            metadata=self.master.metadata, nbformat_minor=5
        )
        notebook.cells = self.extra_cells(extra.get(-1, []))
        for i, cell in enumerate(self.master.cells):
            notebook.cells.append(self.filled(i, cell))
            notebook.cells += self.extra_cells(extra.get(i, []))
        for i, cell in enumerate(notebook.cells):
            cell.id = f"cell-{i}"
        return Rebuilt(notebook, self.repairs)

    def filled(self, i, cell):
        """Return a fresh copy of master cell i, with its answer if a slot."""
        copy = nbformat.from_dict(json.loads(json.dumps(cell)))
        if copy.cell_type == "code":
            copy.outputs, copy.execution_count = [], None
        if "nbgrader" in copy.metadata:  # tells an untouched answer
            copy.source = self.stubs[i]
            copy.metadata.nbgrader.checksum = compute_checksum(copy)
            copy.source = cell.source
        if i in self.taken:
            texts = [self.pieces[n].text for n in self.taken[i]]
            copy.source = "\n\n".join(texts) if texts else self.stubs[i]
        return copy

    def extra_cells(self, pieces):
        """Return the student's own code cells as new cells."""
        new = nbformat.v4.new_code_cell
        return [new(self.pieces[n].text) for n in pieces]
