"""Which cell of a student's file is which cell of the release.

Works on plain data and digests alone, with the standard library: grading
and the doctor that students run share it. An answer is found by its grade
id, else by the names that it defines, else by its place.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import html
import io
import re
import textwrap
import tokenize
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

from autograder.identity import cell_texts

MAX_TEXT = 200_000  # characters of one cell
MAX_CELLS = 1000
MAX_CODE = 1_000_000  # characters of all code: reading it takes seconds
SAYS_RELEASE = re.compile(
    r"\W*Assignment: `(\w+/\w+)` · release `(\w{1,40})`"
)
UNPARSED = (
    SyntaxError, ValueError, RecursionError, MemoryError, OverflowError,
)  # fmt: skip
TORN = re.compile(r"(?m)^<{7} ")
FENCE = re.compile(r"(?m)^\s*```.*$")


@dataclass
class Piece:
    """A cell of the student's file: only what we take from it."""

    text: str
    code: bool
    grade_id: str | None
    mended: str = ""  # what was put right in its text


@dataclass(frozen=True)
class Spot:
    """A cell of a release, as students got it: never its text."""

    code: bool
    grade_id: str | None
    role: str  # "answer", "check" or "" (locked cells, statements)
    text: str  # digest of its text
    names: frozenset[str]  # an answer must define them; others do


@dataclass
class Match:
    """Which pieces are the answers, which are extra cells, and why."""

    pieces: list[Piece]  # as they were read, their code mended
    taken: dict[int, list[int]]  # spot of an answer -> pieces
    extra: dict[int, list[int]]  # spot, or -1 -> code cells that follow it
    repairs: list[str] = field(default_factory=list)


# --- reading ----------------------------------------------------------------


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
        version = next((match[2] for match in found if match), None)
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
    text = source[:MAX_TEXT] if isinstance(source, str) else ""
    text = text.encode("utf-8", "replace").decode()  # no halves of characters
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    tags = mapping(mapping(cell.get("metadata")).get("nbgrader"))
    grade_id = tags.get("grade_id")
    known = grade_id if isinstance(grade_id, str) else None
    return Piece(text, cell.get("cell_type") == "code", known)


# --- mending what word processors and editors do to code --------------------

TYPOGRAPHY = str.maketrans({
    "“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "‚": "'",
    "–": "-", "—": "-", "−": "-", "…": "...",
    "\u00a0": " ", "\u2007": " ", "\u202f": " ", "\u3000": " ",
    "\u2028": "\n", "\u2029": "\n", "\x85": "\n",
    "\u200b": "", "\u200c": "", "\u200d": "", "\u2060": "", "\ufeff": "",
    "\u00ad": "",
})  # fmt: skip
ENTITY = re.compile(r"&(?:lt|gt|amp|quot|#39|nbsp);")
QUOTED = {tokenize.STRING, tokenize.COMMENT}
QUOTED.add(getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING))
PROMPT = re.compile(r"(?m)^(?:>>>|\.\.\.) ?|^In \[\d*\]: ")


def within_reason(pieces):
    """Return the pieces, code beyond MAX_CODE left out."""
    room, kept = MAX_CODE, []
    for piece in pieces:
        text = piece.text[:room] if piece.code else piece.text
        room -= len(text) if piece.code else 0
        kept.append(Piece(text, piece.code, piece.grade_id))
    return kept


def mended(piece):
    """Return the piece with its code put right, if that was needed."""
    text, what = mend(piece.text) if piece.code else (piece.text, "")
    return Piece(text, piece.code, piece.grade_id, what)


@functools.lru_cache(maxsize=256)
def mend(code):
    """Return (code, what was mended), changed only where that compiles."""
    if entity_in(code) and fault_of(html.unescape(code)) is None:
        return html.unescape(code), "signs such as &lt; were turned back"
    if fault_of(code) is None:
        return code, ""
    straight = code.translate(TYPOGRAPHY)
    for text, what in (
        (straight, "typographic quotes, dashes or blanks were turned back"),
        (straight.expandtabs(4), "tabs were turned into four blanks"),
        (PROMPT.sub("", straight), "prompts were taken away"),
        (textwrap.dedent(straight), "a common indent was taken away"),
    ):
        if text != code and fault_of(text) is None:
            return text, what
    return code, ""


def entity_in(code):
    """Return whether signs such as &lt; stand outside strings and comments."""
    try:
        read = io.StringIO(without_magic(code)).readline
        tokens = list(tokenize.generate_tokens(read))
    except (tokenize.TokenError, SyntaxError):
        return bool(ENTITY.search(code))
    quoted = [t.string for t in tokens if t.type in QUOTED]
    found = sum(len(ENTITY.findall(text)) for text in quoted)
    return len(ENTITY.findall(without_magic(code))) > found


def fault_of(code):
    """Return the SyntaxError of a cell's code, or another error, or None."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of odd escapes, say
            compile(without_magic(code), "answer", "exec", dont_inherit=True)
    except UNPARSED as error:
        return error
    return None


def without_magic(code):
    """Return the code with `pass` for each line of magic."""
    return re.sub(r"(?m)^([ \t]*)[%!].*$", r"\1pass", code)


# --- comparing --------------------------------------------------------------


def plain(text):
    """Return the text without what editors change: ends, blank lines."""
    lines = [line.rstrip() for line in text.strip().splitlines()]
    return "\n".join(line for line in lines if line)


def digest_of(text):
    """Return a short digest of the text as `plain` has it."""
    return hashlib.sha256(plain(text).encode()).hexdigest()[:12]


@functools.lru_cache(maxsize=256)  # most cells of a class are the same
def names_defined(text):
    """Return the names that a cell's top level defines; imports excluded."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(without_magic(text))
    except UNPARSED:
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


# --- matching ---------------------------------------------------------------


def match(spots, pieces, place="", ours=None, version=None):
    """Match a student's pieces with the spots of the release `ours`.

    `place` is the notebook, "symbols/beginner"; `version` is what the file
    says of its release.
    """
    whole = sum(len(piece.text) for piece in pieces if piece.code)
    pieces = [mended(piece) for piece in within_reason(pieces)]
    job = Job(spots, pieces)
    if whole > MAX_CODE:
        job.say(
            f"the file holds {whole} characters of code; what follows the "
            f"first {MAX_CODE} was left out"
        )
    job.compare_version(ours, version)
    job.compare_place(place)
    job.recognise()
    job.fill_by_id()
    job.fill_by_names(lambda n: pieces[n].code)
    job.fill_by_place()
    job.fill_by_names(lambda n: not pieces[n].code)
    job.tell_mended()
    return job.result()


class Job:
    """The state of one matching: which piece went where, and why."""

    def __init__(self, spots, pieces):
        self.spots, self.pieces = spots, pieces
        self.slots = [i for i, s in enumerate(spots) if s.role == "answer"]
        self.defined = [names_in(piece) for piece in pieces]
        self.digests = [digest_of(piece.text) for piece in pieces]
        self.ids = {s.grade_id: i for i, s in enumerate(spots) if s.grade_id}
        self.place = {}  # piece -> spot that it is (or follows)
        self.free = []  # pieces that are no copy of a released cell
        self.taken = {i: [] for i in self.slots}
        self.repairs = []

    def say(self, text):
        """Note a repair, once."""
        if text not in self.repairs:
            self.repairs.append(text)

    def title(self, spot):
        """Return the name of a spot for people."""
        return self.spots[spot].grade_id

    def compare_version(self, ours, version):
        """Tell when the file was made from another release."""
        if version and ours and version != ours:
            self.say(
                f"made from release {version[:20]}, which the course does "
                f"not keep; graded as release {ours}"
            )

    def compare_place(self, place):
        """Tell when cells of another notebook stand in the file too."""
        found = (SAYS_RELEASE.match(piece.text) for piece in self.pieces)
        for other in sorted({m[1] for m in found if m} - {place}):
            if place:
                self.say(
                    f"cells of {other} stand in it too; hand those in as a "
                    "file of their own"
                )

    def recognise(self):
        """Find the pieces that are released cells, by id, else by text."""
        by_text = {}
        for i, spot in enumerate(self.spots):
            by_text.setdefault((spot.text, spot.code), i)
        for n, piece in enumerate(self.pieces):
            same = by_text.get((self.digests[n], piece.code))
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
        wanted = set().union(*(self.spots[s].names for s in self.slots))
        return bool(self.defined[n] & wanted - self.spots[spot].names)

    def compare_locked(self):
        """Tell which tests were changed, lost or relabelled."""
        here = {spot: n for n, spot in self.place.items()}
        for i, spot in enumerate(self.spots):
            if spot.role != "check":
                continue
            if i not in here:
                self.say(f"{self.title(i)}: the check was missing; put back")
            elif self.digests[here[i]] != spot.text:
                self.say(f"{self.title(i)}: the check was changed; the "
                         "course's own was run")
            elif self.pieces[here[i]].grade_id is None:
                self.say(f"{self.title(i)}: the check had lost its label")

    def fill_by_id(self):
        """Take answers that still carry their slot's label or text."""
        for n, spot in self.place.items():
            if spot in self.taken:
                self.tell_kind(n, spot)
                self.taken[spot].append(n)
        for slot, found in self.taken.items():
            kept = [n for n in found if not self.untouched(n, slot)]
            if len(kept) > 1:
                kept = self.without_copies(kept)
            if len(found) > 1:
                self.say(f"{self.title(slot)}: {len(found)} cells carried "
                         "this label; joined in their order")
            self.taken[slot] = kept

    def tell_kind(self, n, slot):
        """Tell when the piece has not the slot's kind of cell."""
        if self.pieces[n].code != self.spots[slot].code:
            self.say(f"{self.title(slot)}: the cell's kind was changed; "
                     "read as the course has it")

    def untouched(self, n, slot):
        """Return whether the piece is the stub as it was released."""
        return self.digests[n] == self.spots[slot].text

    def without_copies(self, found):
        """Return the pieces without repetitions of the same text."""
        kept = {}
        for n in found:
            kept.setdefault(self.digests[n], n)
        return list(kept.values())

    def fill_by_names(self, wanted_kind: Callable):
        """Give empty slots the free cells that define their names."""
        for slot in self.slots:
            wanted = self.spots[slot].names
            if self.taken[slot] or not wanted:
                continue
            found = [
                n for n in self.free
                if wanted_kind(n) and self.defined[n] & wanted
            ]  # fmt: skip
            for n in found:
                self.free.remove(n)
                self.tell_kind(n, slot)
            if found:
                self.taken[slot] = found
                self.say(f"{self.title(slot)}: the answer was found by the "
                         "names that it defines")

    def fill_by_place(self):
        """Give empty slots the free cells that stand where they should."""
        for slot in self.slots:
            if self.taken[slot] or self.spots[slot].names:
                continue
            found = [
                n
                for n in self.free
                if self.pieces[n].code == self.spots[slot].code
                and self.pieces[n].text.strip()
                and self.between(n, slot)
            ]
            for n in found:
                self.free.remove(n)
            if found:
                self.taken[slot] = found
                self.say(f"{self.title(slot)}: the answer was found by its "
                         "place")

    def between(self, n, slot):
        """Return whether n stands between the neighbours of the slot."""
        before, after = self.anchors(n)
        return before < slot < after or before == slot

    def anchors(self, n):
        """Return the spots around piece n, -1 and the end included."""
        spots = [spot for m, spot in self.place.items() if m < n]
        later = [spot for m, spot in self.place.items() if m > n]
        before = max(spots, default=-1)
        after = min((s for s in later if s > before), default=10**9)
        return before, after

    def tell_mended(self):
        """Tell what was put right, or cannot be, in an answer's text."""
        for slot, found in self.taken.items():
            for what in (self.pieces[n].mended for n in found):
                if what:
                    self.say(f"{self.title(slot)}: {what}")
            if any(TORN.search(self.pieces[n].text) for n in found):
                self.say(f"{self.title(slot)}: it holds both sides of a "
                         "merge (<<<<<<<); keep one")

    def result(self):
        """Return the match, extra code cells at their places."""
        extra = {}
        for n in self.free:
            if self.pieces[n].code and self.pieces[n].text.strip():
                extra.setdefault(self.anchors(n)[0], []).append(n)
        return Match(self.pieces, self.taken, extra, self.repairs)


def names_in(piece):
    """Return what a piece defines; text counts if it is code."""
    if piece.code:
        return names_defined(piece.text)
    text = code_in(piece.text)
    return names_defined(text) if fault_of(text) is None else set()


def code_in(text):
    """Return the text of a cell without a fence around its code."""
    return FENCE.sub("", text)


def answer_text(is_code, pieces):
    """Return the text of an answer from the pieces that it was found in."""
    texts = [
        code_in(piece.text) if is_code and not piece.code else piece.text
        for piece in pieces
    ]
    return "\n\n".join(texts)
