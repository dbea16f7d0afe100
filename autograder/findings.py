"""What grading will find in a file, before anything runs.

Needs only the standard library: `doctor` reads it from the masters, and
the doctor that students run from a table of the releases.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from autograder.identity import Released, Unreadable, identify, parse
from autograder.matching import (
    Spot,
    answer_text,
    fault_of,
    match,
    pieces_of,
    plain,
    version_of,
)

OPEN, WORDS, CODE = "as it was given", "{} words", "{} lines of code"


@dataclass
class Finding:
    """What one file holds."""

    file: str
    notebook: str = ""  # "symbols/beginner"
    problem: str = ""  # why it cannot be graded
    answers: dict[str, str] = field(default_factory=dict)
    extra_cells: int = 0
    repairs: list[str] = field(default_factory=list)


def find(file: str, data: bytes, known: list[Released], release_of) -> Finding:
    """Return what grading would find in the bytes of a file.

    `release_of` gives (version, spots) for a notebook's place and the
    version that a file claims.
    """
    finding = Finding(file)
    try:
        document = parse(data)
    except Unreadable as problem:
        finding.problem = str(problem)
        return finding
    place = identify(document, known)
    if place not in [(r.assignment, r.level) for r in known]:
        finding.problem = "it is none of the notebooks that were released"
        return finding
    finding.notebook = "/".join(place)
    pieces, version = pieces_of(document), version_of(document)
    ours, spots = release_of(*place, version)
    matched = match(spots, pieces, finding.notebook, ours, version)
    for i, found in matched.taken.items():
        answer = answer_text(spots[i].code, [matched.pieces[n] for n in found])
        finding.answers[spots[i].grade_id] = state(spots[i], answer)
    finding.extra_cells = sum(map(len, matched.extra.values()))
    finding.repairs = matched.repairs
    return finding


def state(spot: Spot, answer: str) -> str:
    """Say in a few words what an answer holds; it is empty if untouched."""
    if not answer.strip():
        return OPEN
    if not spot.code:
        return WORDS.format(len(answer.split()))
    lines = len(plain(answer).splitlines())
    fault = syntax_fault(answer)
    return CODE.format(lines) + (f", but {fault}" if fault else "")


def syntax_fault(code: str) -> str:
    """Say where code does not compile; lines of magic are left out."""
    error = fault_of(code)
    if isinstance(error, SyntaxError):
        return f"line {error.lineno} does not compile: {error.msg}"
    return "it does not compile" if error else ""


def text(finding: Finding) -> str:
    """Return a finding as lines for people."""
    file = "".join(c if c.isprintable() else "?" for c in finding.file)
    lines = [f"{file}: {finding.notebook}".rstrip(": ")]
    if finding.problem:
        lines.append(f"  cannot be graded: {finding.problem}")
    for name, what in finding.answers.items():
        lines.append(f"  {name:24} {what}")
    if finding.extra_cells:
        lines.append(f"  and {finding.extra_cells} code cells of their own")
    lines += [f"  mended: {repair}" for repair in finding.repairs]
    if not (finding.problem or finding.repairs):
        lines.append("  nothing to mend")
    return "\n".join(lines)
