"""Named wrong and unusual right answers, sent through the grading.

mutants/<assignment>/<level>/<exercise>.py holds the answers to one answer
cell, each under a header: `# %% wrong: its name`, then the points it must
lose and a piece of the message it must get; or `# %% right: its name`.
"""

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from autograder import Refusal

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


def submissions(answers):
    """Deal the answers into notebooks: one of each exercise at a time."""
    rounds = max(map(len, answers.values()), default=0)
    for i in range(rounds):
        yield {e: a[i] for e, a in answers.items() if i < len(a)}


def fill(notebook, answers):
    """Put the answers into their cells of a copy of `notebook`."""
    filled = notebook.copy()
    filled.cells = [cell.copy() for cell in notebook.cells]
    for cell in filled.cells:
        answer = answers.get(cell.metadata.get("nbgrader", {}).get("grade_id"))
        if answer:
            cell.source = answer.code
    return filled


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
