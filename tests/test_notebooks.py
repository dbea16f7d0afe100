"""The released notebooks: current, complete, and without answers."""

import re

import nbformat
import pytest

from autograder import Refusal
from autograder.course import ROOT
from autograder.release import assignments, generate, release
from autograder.source import CHECKS, read_source, source_notebook

SOURCES = sorted((ROOT / "solutions").glob("*/*.py"))
KEPT = sorted((ROOT / "solutions").glob("*/releases/*.py"))


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """Release everything anew; return {(assignment, level): bytes}."""
    scratch = tmp_path_factory.mktemp("release")
    paths = [
        path
        for assignment in assignments()
        for path in release(
            assignment, scratch / "notebooks", scratch / "source"
        )
    ]
    return {(p.parent.name, p.stem): p.read_bytes() for p in paths}


def test_the_committed_notebooks_are_current(released):
    committed = {
        (p.parent.name, p.stem): p.read_bytes()
        for assignment in assignments()
        for p in (ROOT / "notebooks" / assignment).glob("*.ipynb")
    }
    stale = [k for k in released if committed.get(k) != released[k]]
    assert not stale, f"run `make notebooks`; not current: {stale}"
    assert set(committed) == set(released)


def _split(source):
    """Return (secret, public), the two kinds of lines of a source."""
    lines = {True: set(), False: set()}
    hidden = False
    for line in source.splitlines():
        if "### BEGIN" in line or "### END" in line:
            hidden = "### BEGIN" in line
        else:
            lines[hidden].add(line.strip())
    return {line for line in lines[True] if len(line) > 12}, lines[False]


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.stem)
def test_nothing_secret_is_released(released, path):
    secret, public = _split(path.read_text())
    assert len(secret) > 10
    raw = released[path.parent.name, path.stem].decode()
    cells = nbformat.reads(raw, as_version=4).cells
    shown = {ln.strip() for c in cells for ln in c.source.splitlines()}
    public |= {line.strip() for line in CHECKS.read_text().splitlines()}
    assert not (secret & shown) - public


ANSWER = '''# %% nbgrader={"grade_id": "one", "solution": true}
def one():
    ### BEGIN SOLUTION
    return 1
    ### END SOLUTION
'''


TEST = '# %% nbgrader={"grade_id": "t", "grade": true, "points": 2}\n'


@pytest.mark.parametrize(
    ("source", "words"),
    [
        *((f"{ANSWER}\n{TEST}two = one\n{last}\n", "the student's one")
          for last in ("one()", "one", "one()[0].value", "one.x(3)()")),
        (ANSWER.replace('"solution"', '"locked"'), '"solution": true'),
        (ANSWER.replace("### BEGIN SOLUTION", ""), "come in pairs"),
        (ANSWER.replace("###", "##").replace("SOLUTION", "ANSWER"),
         "without '### BEGIN SOLUTION'"),
        (ANSWER.replace('"grade_id": "one", ', ""), "no usable grade_id"),
        (ANSWER + "\n" + ANSWER, "already that of the cell at line 1"),
        (ANSWER.replace("solution", "soluton"), "unknown tag 'soluton'"),
        ("# %%\nx = 1\n", "must say what it is"),
        ("# %% [markdown]\n# ### BEGIN SOLUTION\n# ### END SOLUTION\n",
         "students would see it"),
        (ANSWER.replace("SOLUTION", "HIDDEN TESTS"), "students would see"),
        ('# %% nbgrader={"grade_id": "t", "grade": true}\nx = 1\n',
         "worth nothing"),
        (ANSWER.replace('"one", ', '"one",\n# '), "header can't be read"),
        ("# %% [markdown] A title\n# Text\n", "header can't be read"),
    ],
)
def test_a_faulty_source_is_refused_by_name(tmp_path, source, words):
    path = tmp_path / "wrong.py"
    path.write_text(source)
    with pytest.raises(Refusal, match=r"wrong\.py, cell at line") as refusal:
        read_source(path)
    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p)[-24:-3])
def test_the_points_and_minutes_are_those_that_the_text_names(path):
    """In the introduction, over each exercise, and in the rubric."""
    told, given, minutes, rubric, in_words = [], [], [], [], []
    for cell in read_source(path).cells:
        tags = cell.metadata.get("nbgrader", {})
        stated = re.search(r"\*\w+ · (\d+) points · (\d+) minutes",
                           cell.source)
        if stated and not tags:
            told.append(int(stated[1]))
            minutes.append(int(stated[2]))
            given.append(0)
            rows = re.findall(r"(?m)^\| (\d+) \|.*$", cell.source)
            rubric.append(sum(map(int, rows)))
            in_words.append("marked by hand" in cell.source)
        elif given:
            given[-1] += tags.get("points", 0)
    intro = re.search(r"about (\d+) minutes, (\d+) points",
                      read_source(path).cells[0].source)
    assert told == given
    assert [int(n) for n in intro.groups()] == [sum(minutes), sum(given)]
    for total, points, words in zip(rubric, given, in_words, strict=True):
        assert total == (points if words else 0)


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p)[-24:-3])
def test_a_tables_row_is_one_line(path):
    for cell in read_source(path).cells:
        if cell.cell_type == "markdown":
            rows = [x for x in cell.source.split("\n") if x[:1] == "|"]
            assert [row for row in rows if row[-1] != "|"] == []


@pytest.mark.parametrize(
    "last", ["check(one())", "two", "2.0 if one() else 1", "x = one()", "%%x"]
)
def test_a_test_may_use_the_students_value(tmp_path, last):
    path = tmp_path / "right.py"
    path.write_text(f"{ANSWER}\n{TEST}{last}\n")
    assert len(read_source(path).cells) == 2


def test_an_unknown_assignment_is_refused():
    with pytest.raises(Refusal, match=r"no assignment 'symbol'.*symbols"):
        release("symbol")


def test_the_command_ends_with_2_and_a_sentence(capsys):
    from autograder.__main__ import main

    assert main(["release", "symbol"]) == 2
    assert "no assignment 'symbol'" in capsys.readouterr().err


@pytest.mark.parametrize("path", SOURCES + KEPT, ids=lambda p: p.stem)
@pytest.mark.parametrize("seed", [20260, 7])
def test_the_reference_answers_pass_their_own_tests(path, seed):
    namespace = {"__name__": "__main__"}
    for cell in source_notebook(path).cells:
        if cell.cell_type == "code":
            name = cell.metadata.nbgrader.grade_id
            exec(compile(cell.source, name, "exec"), namespace)
            namespace["CHECK_SEED"] = seed


def test_the_release_is_named_in_metadata_and_in_a_locked_cell(released):
    for (assignment, level), raw in released.items():
        notebook = nbformat.reads(raw.decode(), as_version=4)
        ours = notebook.metadata.assembled
        assert (ours.assignment, ours.notebook) == (assignment, level)
        cell = next(c for c in notebook.cells if c.id == "assignment")
        assert cell.metadata.nbgrader.locked
        for words in (f"{assignment}/{level}", ours.version):
            assert words in cell.source
        assert notebook.metadata.kernelspec.name == "python3"


def test_nothing_beside_the_notebook_is_released(tmp_path):
    source = tmp_path / "source" / "symbols"
    source.mkdir(parents=True)
    path = tmp_path / "symbols" / "one.py"
    path.parent.mkdir()
    path.write_text(ANSWER)
    nbformat.write(source_notebook(path), source / "one.ipynb")
    (source / "one.py").write_text(ANSWER)
    (source / "notes.md").write_text("the answer is 1")
    released = generate("symbols", source.parent, tmp_path / "release")
    assert set(released) == {"one"}
    written = sorted(p.name for p in (tmp_path / "release").rglob("*.*"))
    assert written == ["one.ipynb"]
    assert not list(tmp_path.rglob("*.db"))
