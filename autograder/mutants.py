"""Named wrong and unusual right answers, sent through the grading.

mutants/<assignment>/<level>/<exercise>.py holds the answers to one answer
cell, each under a header: `# %% wrong: its name`, then the points it must
lose and a piece of the message it must get; or `# %% right: its name`.
"""

import json
import multiprocessing
import re
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

from autograder import Refusal, sandbox
from autograder.matching import Piece
from autograder.pool import bar
from autograder.preprocessors import grade_id, split_cells
from autograder.rebuild import rebuild, released
from autograder.release import SOLUTIONS, assignments
from autograder.source import source_notebook
from autograder.split import Checker, run_cells

SEED = 20261  # not the seed that students see
FOLDER = Path(__file__).with_name("mutants")
HEADER = re.compile(r"# %% (wrong|right): (.+)")
VERDICT = re.compile(r"# loses (\d+): (.+)")


@dataclass(frozen=True)
class Answer:
    """One answer to one exercise, and what grading must say of it."""

    exercise: str
    name: str
    code: str
    loses: int = 0  # points; 0 for a right answer
    says: str = ""  # a piece of the message


def read_answers(path):
    """Return the answers in one file; raise Refusal where one is unclear."""
    path, answers = Path(path), []
    for part in re.split(r"(?m)^(?=# %% )", path.read_text())[1:]:
        header, _, code = part.partition("\n")
        kind = HEADER.fullmatch(header)
        verdict = VERDICT.match(code)
        if not kind or (kind[1] == "wrong") != bool(verdict):
            raise Refusal(
                f"{path.name}: under {header!r}; write '# %% wrong: name' "
                "and below it '# loses 3: piece of the message', or "
                "'# %% right: name' alone."
            )
        expected = (int(verdict[1]), verdict[2]) if verdict else ()
        answers.append(Answer(path.stem, kind[2], code.strip(), *expected))
    return answers


def load(assignment, level):
    """Return {exercise: [answers]} for one notebook."""
    folder = FOLDER / assignment / level
    return {p.stem: read_answers(p) for p in sorted(folder.glob("*.py"))}


def exercises(notebook):
    """Return {answer cell: its test cells}, for what is graded by code.

    The tests of an answer are the test cells between it and the next.
    """
    found, current = {}, None
    for cell in notebook.cells:
        tags = cell.metadata.get("nbgrader", {})
        if cell.cell_type != "code":
            continue
        if tags.get("solution"):
            current = tags["grade_id"]
        elif tags.get("grade"):
            found.setdefault(current, []).append(tags["grade_id"])
    return found


def judge(answer, lost, messages):
    """Return what is wrong with a verdict, or None."""
    if lost != answer.loses:
        return f"lost {lost:g} points, not {answer.loses}"
    if answer.says and not any(answer.says in m for m in messages):
        return f"no message says {answer.says!r}: {messages}"
    return None


def shortage(answers):
    """Return why these answers are too few or too alike, or None."""
    right = [a for a in answers if not a.loses]
    wrong = [a for a in answers if a.loses]
    texts = Counter(a.code for a in answers)
    if len(wrong) < 6:
        return f"{len(wrong)} wrong answers; at least 6 are needed"
    if len(right) < 3:
        return f"{len(right)} unusual right answers; at least 3 are needed"
    if max(texts.values()) > 1:
        return "two answers are the same text"
    return None


# --- through the grading ----------------------------------------------------


@dataclass(frozen=True)
class Row:
    """One line of the kill matrix."""

    notebook: str
    exercise: str
    kind: str  # "wrong", "right" or "untouched"
    answer: str
    lost: float
    message: str  # the first that the student reads
    miss: str | None  # what is wrong with the verdict


def add_arguments(parser):
    """Options of `mutants`."""
    parser.add_argument(
        "assignments", nargs="*", metavar="ASSIGNMENT", help="default: all"
    )
    parser.add_argument("-j", "--jobs", type=int, default=2, help="processes")
    parser.add_argument(
        "--messages", action="store_true", help="print what students read"
    )


def run(args):
    """Print the kill matrix; 1 if any answer gets another verdict."""
    sandbox.require(False)
    start = time.monotonic()
    rows = matrix(args.assignments or assignments(), args.jobs)
    seconds = time.monotonic() - start
    if args.json:
        print(json.dumps([asdict(row) for row in rows], indent=1))
    else:
        print(table(rows, args.messages), f"in {seconds:.0f} s")
    return int(any(row.miss for row in rows))


def matrix(names, jobs=2):
    """Grade all the answers to the assignments; return the rows."""
    work = []
    for path in sorted(p for n in names for p in SOLUTIONS.glob(f"{n}/*.py")):
        answers = load(path.parent.name, path.stem)
        work += [(path, {})]  # the notebook as students get it
        work += [(path, dealt) for dealt in deal(answers)]
    if not work:
        raise Refusal(f"there are no answers for {', '.join(names)}")
    context = multiprocessing.get_context("fork")
    with context.Pool(jobs, start_worker) as pool:
        found = list(bar(pool.imap(grade_pair, work), len(work)))
    return sorted(
        (row for rows in found for row in rows),
        key=lambda row: (row.notebook, row.exercise),
    )


def deal(answers):
    """Yield submissions: one answer to each exercise, while there are any."""
    for i in range(max(map(len, answers.values()), default=0)):
        yield {e: a[i] for e, a in answers.items() if i < len(a)}


def start_worker():
    """Give this process a checker of its own, warm for all its work."""
    global checker
    checker = Checker()


def grade_pair(pair):
    """Call `grade` with the two parts of a pair."""
    return grade(*pair)


def grade(path, answers):
    """Grade one notebook with these answers; return a row for each."""
    master = source_notebook(path)
    scores = scores_of(master, answers)
    name = f"{path.parent.name}/{path.stem}"
    points = points_of(master)
    if not answers:
        won = sum(score for score, _ in scores.values())
        miss = f"starting cells score {won:g}" if won else None
        total = sum(points[test] for test in scores)
        return [Row(name, "", "untouched", "", total - won, "", miss)]
    rows = []
    for exercise, tests in exercises(master).items():
        if exercise not in answers:
            continue
        answer = answers[exercise]
        lost = sum(points[test] - scores[test][0] for test in tests)
        messages = [scores[test][1] for test in tests if scores[test][1]]
        said = [m for m in messages if answer.says in m] or [*messages, ""]
        kind = "wrong" if answer.loses else "right"
        miss = judge(answer, lost, messages)
        rows.append(
            Row(name, exercise, kind, answer.name, lost, said[0], miss)
        )
    return rows


def scores_of(master, answers):
    """Grade as a submission is graded; return {test: (score, message)}."""
    pieces = []
    for cell, stub in zip(master.cells, released(master), strict=True):
        answer = answers.get(grade_id(cell))
        text = answer.code if answer else stub
        pieces.append(Piece(text, cell.cell_type == "code", grade_id(cell)))
    notebook = rebuild(master, pieces).notebook
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    outcomes = run_cells(split_cells(master, code), SEED, checker)
    points = points_of(master)
    return {
        grade_id(cell): (
            points[grade_id(cell)] if outcome.passed else 0,
            outcome.message if outcome.public else "",
        )
        for cell, outcome in zip(code, outcomes, strict=True)
        if grade_id(cell) in points and not cell.metadata.nbgrader.solution
    }


def points_of(notebook):
    """Return {graded cell: its points}."""
    tags = [c.metadata.get("nbgrader", {}) for c in notebook.cells]
    return {t["grade_id"]: t["points"] for t in tags if t.get("grade")}


def table(rows, messages=False):
    """Return the matrix as text, the misses at its end."""
    lines, above = [], None
    for row in rows:
        if (row.notebook, row.exercise) != above:
            above = row.notebook, row.exercise
            lines.append(f"\n{row.notebook} {row.exercise}".rstrip())
        verdict = "MISS" if row.miss else "ok"
        name = f"{row.kind}: {row.answer}".rstrip(": ")
        lines.append(f"  {verdict:4} {-row.lost:4g}  {name}")
        if messages and row.message:
            lines.append(f"             {row.message}")
    kinds = Counter(row.kind for row in rows if not row.miss)
    missed = [row for row in rows if row.miss]
    lines += [f"\nMISS {r.notebook} {r.exercise}, {r.answer}: {r.miss}"
              for r in missed]
    lines.append(
        f"\n{kinds['wrong']} wrong answers killed with their message, "
        f"{kinds['right']} right ones at full marks, {kinds['untouched']} "
        f"untouched notebooks at zero, {len(missed)} missed"
    )
    return "\n".join(lines)
