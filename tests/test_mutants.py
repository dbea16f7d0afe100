"""Every exercise has enough named wrong and unusual right answers."""

import re

import pytest

from autograder import Refusal
from autograder.course import ROOT
from autograder.mutants import (
    Answer,
    exercises,
    judge,
    load,
    matrix,
    read_answers,
    shortage,
    table,
)
from autograder.release import assignments
from autograder.source import source_notebook

SOURCES = sorted((ROOT / "solutions").glob("*/*.py"))


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.stem)
def test_every_exercise_has_enough_answers(path):
    answers = load(path.parent.name, path.stem)
    graded = exercises(source_notebook(path))
    assert set(answers) == set(graded)
    short = {name: shortage(answers[name]) for name in graded}
    assert not any(short.values()), short


@pytest.mark.parametrize(
    "text",
    [
        "# %% wrong: no verdict\nx = 1\n",
        "# %% right: with a verdict\n# loses 3: a message\nx = 1\n",
        "# %% strange: neither\nx = 1\n",
    ],
)
def test_an_unclear_answer_is_refused(tmp_path, text):
    path = tmp_path / "one.py"
    path.write_text(text)
    with pytest.raises(Refusal, match="write '# %% wrong: name'"):
        read_answers(path)


def test_a_verdict_is_judged_by_points_and_message():
    wrong = Answer("e", "no skip", "", 3, "skip is missing")
    assert judge(wrong, 3, ["the skip is missing."]) is None
    assert "lost 2 points, not 3" in judge(wrong, 2, ["skip is missing"])
    assert "no message says" in judge(wrong, 3, ["is wrong in 2 entries"])
    assert judge(Answer("e", "a loop", ""), 0, []) is None
    assert "lost 1" in judge(Answer("e", "a loop", ""), 1, ["off"])


FORM = re.compile(
    r"; return | has shape | has dtype | is None: | is complex;|"
    r" which the exercise does not give| of your own | raised "
)


@pytest.mark.slow
def test_every_answer_gets_its_verdict():
    rows = matrix(assignments())
    missed = [row for row in rows if row.miss]
    assert not missed, table(missed)
    assert sum(row.kind == "untouched" for row in rows) == len(SOURCES)
    well_formed = {}
    for row in rows:
        if row.kind == "wrong" and not FORM.search(row.message):
            place = row.notebook, row.exercise
            well_formed[place] = well_formed.get(place, 0) + 1
    graded = {(r.notebook, r.exercise) for r in rows if r.kind == "wrong"}
    assert {p for p in graded if well_formed.get(p, 0) < 4} == set()
