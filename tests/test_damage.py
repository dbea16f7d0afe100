"""Every kind of damage: honest work gets its honest score, or is told why."""

import copy
import json

import pytest
import small_course
from small_course import ANSWERS, source_notebook, submission

from autograder import sandbox
from autograder.identity import Unreadable, parse
from autograder.matching import pieces_of, version_of, without_magic
from autograder.rebuild import rebuild
from autograder.sample_class.damage import (
    ALL,
    DAMAGE,
    KINDS,
    NOTHING,
    WORDS,
    damaged,
)

MASTER = source_notebook()
GIVEN, HANDED_IN = (
    json.loads(json.dumps(each)) for each in (submission({}), submission())
)


def file_of(kind):
    """Return the bytes of honest work that met this damage."""
    return damaged(copy.deepcopy(HANDED_IN), GIVEN, [kind.name])


def rebuilt(data):
    """Return what grading makes of a file of the small course."""
    document = parse(data)
    return rebuild(MASTER, pieces_of(document), version_of(document))


def passed(notebook):
    """Run honest answers and the tests together; return who passed."""
    names, good = {}, set()
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        try:
            exec(without_magic(cell.source), names)
        except Exception:
            continue
        good.add(cell.metadata.get("nbgrader", {}).get("grade_id"))
    return good & {"softmax-check", "slope-check"}


def words(notebook):
    (cell,) = (
        c for c in notebook.cells
        if c.metadata.get("nbgrader", {}).get("grade_id") == "why"
    )
    return cell.source


def test_there_are_many_kinds_and_each_is_described():
    assert len(KINDS) == len(DAMAGE) >= 75
    for kind in KINDS:
        assert kind.do.__doc__.count("\n") == 0, kind.name
        if kind.do.__name__ != "colab":
            assert file_of(kind) != file_of(DAMAGE["colab"])


@pytest.mark.parametrize(
    "kind", [k for k in KINDS if k.kept != NOTHING], ids=lambda k: k.name
)
def test_what_can_be_undone_is_undone_and_told(kind):
    result = rebuilt(file_of(kind))
    wanted = {"softmax-check", "slope-check"} if kind.kept == ALL else set()
    assert passed(result.notebook) == wanted
    assert words(result.notebook).strip().endswith(ANSWERS["why"])
    told = "; ".join(result.repairs)
    assert kind.told in told
    assert bool(kind.told) == bool(told), told
    ours = [c for c in MASTER.cells if "nbgrader" in c.metadata]
    theirs = [c for c in result.notebook.cells if "nbgrader" in c.metadata]
    for mine, found in zip(ours, theirs, strict=True):
        if not mine.metadata.nbgrader.solution:
            assert found.source == mine.source
        found.metadata.nbgrader.pop("checksum")
        assert found.metadata == mine.metadata


@pytest.mark.parametrize(
    "kind", [k for k in KINDS if k.kept == NOTHING], ids=lambda k: k.name
)
def test_what_is_no_notebook_says_what_it_is(kind):
    if kind.name == "another course":
        return  # a notebook; intake and the doctor refuse it
    with pytest.raises(Unreadable, match=kind.told):
        parse(file_of(kind))


@pytest.mark.slow
@pytest.mark.skipif(
    not sandbox.installed(), reason="bubblewrap is not installed"
)
def test_each_kind_is_graded_as_the_table_says(tmp_path):
    from autograder.grade import grade

    files = {
        kind.do.__name__: file_of(kind)
        for kind in KINDS
        if kind.name != "another course"
    }
    place = small_course.make(tmp_path, **files)
    found = {result["student"]: result for result in grade(place, jobs=2)}
    for kind in KINDS:
        result = found.get(kind.do.__name__)
        if result is None:
            continue
        told = "; ".join([*result["repairs"], result["reason"]])
        assert kind.told in told, kind.name
        score = {ALL: 4, WORDS: 0, NOTHING: 0}[kind.kept]
        assert result["score"] == score, (kind.name, result)
        status = "graded with repairs" if kind.told else "graded"
        status = "failed" if kind.kept == NOTHING else status
        assert result["status"] == status, kind.name
