"""Every exercise has enough named wrong and unusual right answers."""

import pytest

from autograder import Refusal
from autograder.course import ROOT
from autograder.mutants import exercises, load, read_answers, shortage
from autograder.release import source_notebook

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
