"""Tells which exercise notebook a file is, by what is inside it.

Names lie ("Copy of Untitled (1).ipynb"); the released notebook's id in
the metadata, the locked cell that repeats it, and the cells themselves
seldom do.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it holds
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
MAX_FILE = 20 * 2**20  # bytes of one file, a notebook's outputs left out
MAX_PARTS = 2_000_000  # of JSON, 60 bytes each; a notebook has thousands
# A string, which is kept, or a comma before a bracket, which goes.
STRAY_COMMA = re.compile(r'("(?:\\.|[^"\\])*"?)|,(?=\s*[\]}])', re.DOTALL)
LONG_CELL = 60  # characters; shorter cells are alike in every notebook


class Unreadable(ValueError):
    """The bytes are no notebook; the text says what they are instead."""


@dataclass(frozen=True)
class Released:
    """One released notebook: its place in the course and digests of its
    long cells."""

    assignment: str
    level: str
    cells: frozenset[str]

    @property
    def id(self) -> str:
        """Return "symbols/beginner"."""
        return f"{self.assignment}/{self.level}"


def released_notebooks(folder: Path) -> list[Released]:
    """Read the assignments that lie under notebooks/, chapters aside."""
    found = []
    for path in sorted(folder.glob("*/*.ipynb")):
        if path.parent.name != "chapters":
            cells = _long_cells(parse(path.read_bytes()))
            found.append(Released(path.parent.name, path.stem, cells))
    return found


def bytes_of(path: str | Path) -> bytes:
    """Return a submitted file's bytes, if it is a file and not too large."""
    path = Path(path)
    if path.is_symlink() or not path.is_file():
        raise Unreadable("there is no such file")
    if path.stat().st_size > MAX_FILE:
        raise Unreadable(
            f"the file is larger than {MAX_FILE >> 20} MiB; clear its outputs"
        )
    return path.read_bytes()


def decode(data: bytes) -> str:
    """Decode text with or without a byte order mark, UTF-8 or UTF-16."""
    for mark, encoding in MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding)
    if data[1:2] == b"\0":
        return data.decode("utf-16-le")
    if data[:1] == b"\0":
        return data.decode("utf-16-be")
    return data.decode("utf-8")


def parse(data: bytes) -> dict:
    """Return the notebook in `data`, or raise Unreadable with the reason."""
    if not data.strip(b"\0 \t\r\n"):
        raise Unreadable(f"empty file ({len(data)} bytes)")
    if sum(data.count(mark) for mark in b"{[,") > MAX_PARTS:
        raise Unreadable(f"over {MAX_PARTS} parts, too many for a notebook")
    try:
        text = decode(data)
    except UnicodeDecodeError:
        if data.startswith(tuple(mark for mark, _ in MARKS)):
            raise Unreadable("not text in UTF-8 or UTF-16") from None
        text = data.decode("cp1252", "replace")  # old Windows editors
    notebook = _with_cells(_json(text.strip("\0\ufeff \t\r\n")))
    if not isinstance(notebook, dict) or not isinstance(
        notebook.get("cells"), list
    ):
        raise Unreadable("JSON, but not a notebook: it has no list of cells")
    return notebook


def _json(text: str):
    """Read JSON; raw line ends in strings and stray commas do no harm."""
    try:
        try:
            return json.loads(text, strict=False)
        except json.JSONDecodeError as error:
            whole = STRAY_COMMA.sub(lambda found: found[1] or "", text)
            if whole == text:
                raise
            try:
                return json.loads(whole, strict=False)
            except json.JSONDecodeError:
                raise error from None
    except RecursionError:
        raise Unreadable("JSON nested too deep for a notebook") from None
    except ValueError as error:
        raise Unreadable(_what_else(text, error)) from None


def _with_cells(notebook):
    """Return a notebook of format 3 as a later one: cells in one list."""
    sheets = notebook.get("worksheets") if isinstance(notebook, dict) else None
    if not isinstance(sheets, list):
        return notebook
    cells = []
    for sheet in sheets:
        found = sheet.get("cells") if isinstance(sheet, dict) else None
        cells += found if isinstance(found, list) else []
    cells = [
        {**cell, "source": cell["input"]}
        if isinstance(cell, dict) and "input" in cell else cell
        for cell in cells
    ]  # fmt: skip
    return {**notebook, "cells": cells}


def _what_else(text: str, error: ValueError) -> str:
    start = text.lstrip()[:200].lower()
    if start.startswith(("<!doctype", "<html", "<?xml")):
        return "a web page saved as .ipynb, not the notebook itself"
    if re.search(r"(?m)^<{7} ", text):
        return (
            "torn by a merge: resolve the conflict between <<<<<<< and "
            ">>>>>>>, and hand in the notebook again"
        )
    if start.startswith("{"):
        return f"damaged or cut off: no longer valid JSON ({error})"
    if start.startswith("pk\x03\x04"):
        return "a zip archive named .ipynb; unpack it"
    if start.startswith("%pdf"):
        return "a PDF, not the notebook itself"
    if re.match(r"(#|import |from |def |[\"']{3})", start):
        return "a program, not the notebook: download it as .ipynb"
    return "not JSON, so not a notebook"


def identify(notebook: dict, known: list[Released]) -> tuple[str, str] | None:
    """Return (assignment, level), or None if nothing inside tells."""
    return (
        _by_metadata(notebook)
        or _by_text(notebook, known)
        or _by_cells(notebook, known)
    )


def _by_metadata(notebook: dict) -> tuple[str, str] | None:
    metadata = notebook.get("metadata")
    ours = metadata.get("assembled") if isinstance(metadata, dict) else None
    if not isinstance(ours, dict):
        return None
    place = ours.get("assignment"), ours.get("notebook")
    safe = all(isinstance(p, str) and re.fullmatch(r"\w+", p) for p in place)
    return place if safe else None


def _by_text(notebook: dict, known: list[Released]) -> tuple[str, str] | None:
    """Find the one id that the locked cell repeats."""
    text = "\n".join(cell_texts(notebook))
    named = [
        r for r in known if re.search(rf"(?<![\w/]){r.id}(?![\w/])", text)
    ]
    if len(named) != 1:
        return None
    return named[0].assignment, named[0].level


def _by_cells(notebook: dict, known: list[Released]) -> tuple[str, str] | None:
    """Find the released notebook that shares most of its long cells."""
    cells = _long_cells(notebook)
    shared = Counter({r: len(cells & r.cells) for r in known})
    best = shared.most_common(2)
    if not best or best[0][1] < 2:
        return None
    if len(best) == 2 and best[0][1] == best[1][1]:
        return None
    return best[0][0].assignment, best[0][0].level


def cell_texts(notebook: dict) -> list[str]:
    """Return each cell's source as one string, however it was saved."""
    texts = []
    for cell in notebook["cells"]:
        source = cell.get("source", "") if isinstance(cell, dict) else ""
        if isinstance(source, list):
            source = "".join(part for part in source if isinstance(part, str))
        texts.append(source if isinstance(source, str) else "")
    return texts


def _long_cells(notebook: dict) -> frozenset[str]:
    """Return digests: who holds them need not know the texts."""
    plain = (" ".join(text.split()) for text in cell_texts(notebook))
    return frozenset(
        hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]
        for text in plain
        if len(text) >= LONG_CELL
    )
