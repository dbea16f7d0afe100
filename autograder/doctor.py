"""`doctor`: what the grader will see in a file, before anything runs.

It reads and mends exactly as grading does, and tells per exercise whether
there is an answer, whether it compiles, and what had to be mended. With
`--sandbox` it tries from inside the sandbox what must not work there.
"""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from nbgrader.utils import is_solution

from autograder import Refusal, identity, rebuild
from autograder.course import add_course_arguments, course_from
from autograder.preprocessors import grade_id
from autograder.releases import pair_of

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


def add_arguments(parser):
    """Options of `doctor`."""
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument(
        "--sandbox", action="store_true", help="test the sandbox itself"
    )
    add_course_arguments(parser)


def run(args):
    """Examine each file; 1 if one is damaged or a sandbox wall is open."""
    if not args.files and not args.sandbox:
        raise Refusal("name a notebook to examine, or say --sandbox")
    course = course_from(args)
    findings = [examine(path, course) for path in args.files]
    walls = {}
    if args.sandbox:
        from autograder import selftest

        walls = selftest.findings()
    if args.json:
        files = [asdict(finding) for finding in findings]
        print(json.dumps({"files": files, "sandbox": walls}, indent=1))
    else:
        print("\n\n".join([*map(text, findings), *wall_text(walls)]))
    sick = any(f.problem or f.repairs for f in findings)
    return int(sick or not all(walls.values()))


def examine(path, course):
    """Return what grading would find in the file at `path`."""
    finding = Finding(str(path))
    try:
        document = rebuild.read_submission(path)
    except identity.Unreadable as problem:
        finding.problem = str(problem)
        return finding
    known = identity.released_notebooks(course.released)
    place = identity.identify(document, known)
    if place not in [(r.assignment, r.level) for r in known]:
        finding.problem = "it is none of the notebooks that were released"
        return finding
    finding.notebook = "/".join(place)
    pieces, version = rebuild.pieces_of(document), rebuild.version_of(document)
    own, grading = pair_of(course, *place, version)
    rebuilt = rebuild.rebuild_release(own, grading, pieces, version)
    finding.repairs = rebuilt.repairs
    stubs = [rebuild.plain(stub) for stub in rebuild.released(grading)]
    for cell in rebuilt.notebook.cells:
        if is_solution(cell):
            finding.answers[grade_id(cell)] = state(cell, stubs)
        elif cell.cell_type == "code" and grade_id(cell) is None:
            known_text = rebuild.plain(cell.source) in stubs
            finding.extra_cells += not known_text
    return finding


def state(cell, stubs):
    """Say in a few words what an answer cell holds."""
    if rebuild.plain(cell.source) in stubs:
        return OPEN
    if cell.cell_type != "code":
        return WORDS.format(len(cell.source.split()))
    lines = len(rebuild.plain(cell.source).splitlines())
    fault = syntax_fault(cell.source)
    return CODE.format(lines) + (f", but {fault}" if fault else "")


def syntax_fault(source):
    """Say where code does not compile; lines of magic are left out."""
    lines = [
        "pass" if line.lstrip()[:1] in ("%", "!") else line
        for line in source.splitlines()
    ]
    try:
        compile("\n".join(lines), "answer", "exec", dont_inherit=True)
    except SyntaxError as error:
        return f"line {error.lineno} does not compile: {error.msg}"
    except (ValueError, RecursionError, MemoryError, OverflowError):
        return "it does not compile"
    return ""


def text(finding):
    """Return a finding as lines for people."""
    lines = [f"{finding.file}: {finding.notebook}".rstrip(": ")]
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


def wall_text(walls):
    """Return the sandbox's self-test as one block of lines."""
    lines = [
        f"  {'holds' if holds else 'FAILS'}  {claim}"
        for claim, holds in walls.items()
    ]
    return ["\n".join(["sandbox:", *lines])] if walls else []
