"""One source of an assignment, checked and turned into a notebook.

A source is percent-format text with nbgrader's tags in its cell headers.
The notebook has answers and hidden tests, and everything that nbgrader and
Colab need; its version is a digest of what students get to see.
"""

import ast
import hashlib
import re
from pathlib import Path

import jupytext
import nbformat

from autograder import Refusal
from autograder.course import ROOT
from autograder.matching import names_defined

CHECKS = Path(__file__).with_name("checks.py")
HEADER = re.compile(r"# %%( \[markdown\])?( nbgrader=\{.*\})?\s*")
TAGS = {"grade_id", "locked", "solution", "grade", "points"}
REGIONS = {
    "SOLUTION": ("solution", '"solution": true'),
    "HIDDEN TESTS": ("grade", '"grade": true, "points": 1'),
}


def source_notebook(path, assignment=None, name=None):
    """Return the notebook with answers that the source at `path` means.

    Its names are those of the path, if no others are given.
    """
    path = Path(path)
    notebook = read_source(path)
    assignment, name = assignment or path.parent.name, name or path.stem
    version = visible_version(notebook)
    for cell in notebook.cells:
        cell.metadata.pop("lines_to_next_cell", None)
        _complete_tags(cell)
        if "from autograder.checks import" in cell.source:
            cell.source = "#@title Checking helpers (run, no need to read)\n"
            cell.source += CHECKS.read_text()
            cell.metadata.update(
                cellView="form", jupyter={"source_hidden": True}
            )
    notebook.cells.insert(1, _identity_cell(assignment, name, version))
    _number_cells(notebook)
    notebook.metadata = nbformat.from_dict({
        "assembled": {
            "assignment": assignment, "notebook": name, "version": version,
        },
        "kernelspec": {
            "display_name": "Python 3", "language": "python",
            "name": "python3",
        },
        "language_info": {"name": "python"},
    })
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    return notebook


def read_source(path):
    """Read and check one source; raise Refusal at the first fault."""
    text = Path(path).read_text(encoding="utf-8")
    notebook = jupytext.reads(text, fmt="py:percent")
    headers = {i: line for i, line in enumerate(text.splitlines(), 1)
               if line.startswith("# %%")}
    seen, answers = {}, set()
    for line, cell in zip(headers, notebook.cells, strict=True):
        where = f"{_short(path)}, cell at line {line}"
        if not HEADER.fullmatch(headers[line]):
            raise Refusal(
                f"{where}: its header can't be read, so its tags would be "
                "lost; it must be one line, '# %%' or '# %% [markdown]', "
                "and then nbgrader={...} or nothing."
            )
        _check_cell(cell, where)
        answers |= _check_code(cell, answers, where)
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
        if grade_id in seen:
            raise Refusal(
                f"{where}: its grade_id {grade_id!r} is already that of "
                f"the cell at line {seen[grade_id]}; give it another."
            )
        if grade_id:
            seen[grade_id] = line
    return notebook


def visible_version(notebook):
    """Return the digest of what students get to see of a read source.

    Answers and hidden tests do not count, so mending them makes no new
    release; nor do the checking helpers, whose newest text always grades.
    """
    parts = []
    for cell in notebook.cells:
        tags = cell.metadata.get("nbgrader", {})
        text = cell.source
        for region in REGIONS:
            text = re.sub(
                rf"(?s)\n?[^\n]*### BEGIN {region}.*?### END {region}[^\n]*",
                f"\n### {region}", text,
            )  # fmt: skip
        if cell.cell_type == "markdown" and tags.get("solution"):
            text = ""  # an answer in words is cleared as a whole
        parts += [cell.cell_type, repr(sorted(tags.items())), text.strip()]
    return _digest(*parts)


def _check_cell(cell, where):
    tags = cell.metadata.get("nbgrader", {})
    unknown = sorted(set(tags) - TAGS)
    if unknown:
        raise Refusal(
            f"{where}: unknown tag {unknown[0]!r}; the tags are "
            f"{', '.join(sorted(TAGS))}."
        )
    for region, (needed, tag) in REGIONS.items():
        _check_region(cell.source, region, where)
        if f"BEGIN {region}" in cell.source and not tags.get(needed):
            raise Refusal(
                f"{where}: it holds '### BEGIN {region}' but is not tagged "
                f"for it, so students would see it; put {tag} into the "
                "nbgrader tags of its header."
            )
    if cell.cell_type == "code" and not tags:
        raise Refusal(
            f"{where}: a code cell must say what it is; give it an nbgrader "
            'tag with a "grade_id" and "solution", "grade" or "locked".'
        )
    if tags and not re.fullmatch(r"[\w-]{1,60}", tags.get("grade_id", "")):
        raise Refusal(
            f"{where}: it has nbgrader tags but no usable grade_id; give it "
            "one of letters, digits, - and _."
        )
    if tags.get("grade") and not tags.get("points", 0) > 0:
        raise Refusal(
            f'{where}: it is graded but worth nothing; add "points".'
        )
    code_answer = cell.cell_type == "code" and tags.get("solution")
    if code_answer and "BEGIN SOLUTION" not in cell.source:
        raise Refusal(
            f"{where}: an answer cell without '### BEGIN SOLUTION' and "
            "'### END SOLUTION'; put them around what students must write."
        )


def _check_code(cell, answers, where):
    """Refuse a test whose points a student could name; return new names.

    A number on a test's last line is its partial credit, so that line must
    not be a student's value. `answers` are the names of earlier answers.
    """
    tags = cell.metadata.get("nbgrader", {})
    if cell.cell_type != "code":
        return set()
    if tags.get("solution"):
        return names_defined(cell.source)
    root = _root_of_last_line(cell.source) if tags.get("grade") else None
    if root in answers:
        raise Refusal(
            f"{where}: its last line is a bare value of the student's "
            f"{root}, which would be the points it earns; compare it, or "
            "end with a line of your own."
        )
    return set()


def _root_of_last_line(source):
    """Return f for a last line such as `f`, `f(x)`, `f(x)[0].y`, or None."""
    try:
        body = ast.parse(re.sub(r"(?m)^[ \t]*[%!].*$", "pass", source)).body
    except SyntaxError:
        return None  # the reference answers' own run will say so
    node = body[-1].value if body and isinstance(body[-1], ast.Expr) else None
    while isinstance(node, ast.Call | ast.Attribute | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


def _check_region(source, region, where):
    marks = re.findall(rf"(BEGIN|END) {region}", source)
    if marks != ["BEGIN", "END"] * (len(marks) // 2):
        raise Refusal(
            f"{where}: '### BEGIN {region}' and '### END {region}' must "
            f"come in pairs; here they read {' '.join(marks)}."
        )


def _complete_tags(cell):
    """Write out what a short tag means: nbgrader wants every key."""
    tags = cell.metadata.get("nbgrader")
    if not tags:
        return
    for key in ("grade", "solution", "task"):
        tags.setdefault(key, False)
    tags["locked"] = not tags["solution"]
    tags["schema_version"] = 3


def _identity_cell(assignment, name, version):
    """Name the assignment in text too: metadata may not survive."""
    cell = nbformat.v4.new_markdown_cell(
        f"Assignment: `{assignment}/{name}` · release `{version}`"
    )
    cell.metadata["nbgrader"] = {"grade_id": "assignment", "locked": True}
    _complete_tags(cell)
    return cell


def _number_cells(notebook):
    """Give each cell an id made from what it is, not a random one."""
    for cell in notebook.cells:
        tags = cell.metadata.get("nbgrader", {})
        cell.id = tags.get("grade_id") or f"text-{_digest(cell.source)}"


def _digest(*texts):
    whole = "\0".join(texts).encode()
    return hashlib.sha256(whole).hexdigest()[:12]


def _short(path):
    path = Path(path).resolve()
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path.name
