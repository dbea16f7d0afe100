"""Damaged files give their honest answers; nothing else is the student's."""

import json
import time

import nbformat
import pytest
from small_course import ANSWERS, source_notebook, submission

from autograder import matching, rebuild
from autograder.identity import Unreadable, parse
from autograder.matching import pieces_of

MASTER = source_notebook()
STUBS = rebuild.released(MASTER)


def raw(notebook):
    return json.loads(json.dumps(notebook))


def rebuilt(document):
    return rebuild.rebuild(MASTER, pieces_of(document))


def answers(result):
    return {
        cell.metadata.nbgrader.grade_id: cell.source
        for cell in result.notebook.cells
        if cell.metadata.get("nbgrader", {}).get("solution")
    }


def is_honest(result):
    """Whether answers and tests are what they must be."""
    tests = {
        cell.metadata.nbgrader.grade_id: cell.source
        for cell in result.notebook.cells
        if "nbgrader" in cell.metadata
        and not cell.metadata.nbgrader.solution
    }
    for cell in MASTER.cells:
        tags = cell.metadata.get("nbgrader", {})
        if tags and not tags["solution"]:
            assert tests[tags["grade_id"]] == cell.source
    return answers(result) == ANSWERS


def find(document, grade_id):
    return next(
        cell for cell in document["cells"]
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == grade_id
    )


def test_an_intact_file_needs_no_repair():
    result = rebuilt(raw(submission()))
    assert is_honest(result)
    assert result.repairs == []


def test_the_release_itself_gives_the_stubs():
    result = rebuilt(raw(submission({})))
    assert list(answers(result).values()) == [
        STUBS[i] for i in (3, 6, 9)
    ]


def test_an_answer_in_a_new_cell_below_the_stub_is_found():
    document = raw(submission({**ANSWERS, "softmax": STUBS[3]}))
    new = {"cell_type": "code", "source": ANSWERS["softmax"], "metadata": {}}
    document["cells"].append(new)
    result = rebuilt(document)
    assert is_honest(result)
    assert "softmax: the answer was found by the names" in result.repairs[0]


def test_an_answer_split_in_two_is_joined():
    document = raw(submission())
    cell = find(document, "slope")
    first, second = cell["source"].split("\n")
    cell["source"] = first
    new = {"cell_type": "code", "source": second, "metadata": {}}
    document["cells"].insert(document["cells"].index(cell) + 1, new)
    places = [c.source for c in rebuilt(document).notebook.cells]
    assert places.index(second) == places.index(first) + 1


def test_extra_cells_keep_their_place_and_get_no_tags():
    document = raw(submission())
    tags = {"tags": ["raises-exception"], "nbgrader": {"grade": True}}
    new = {"cell_type": "code", "source": "helper = 1", "metadata": tags}
    document["cells"].insert(3, new)
    cells = rebuilt(document).notebook.cells
    assert cells[3].source == "helper = 1"
    assert cells[3].metadata == {}


def test_two_versions_of_an_answer_are_joined_in_order():
    document = raw(submission())
    cell = json.loads(json.dumps(find(document, "slope")))
    cell["source"] = "slope = 1"
    document["cells"].append(cell)
    joined = answers(rebuilt(document))["slope"]
    assert joined == ANSWERS["slope"] + "\n\nslope = 1"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b'{"cells": [', "cut off"),
        (b"<!doctype html>", "web page"),
        (b"[]", "no list of cells"),
        (b'{"cells": 3}', "no list of cells"),
        (b"[" * 100_000, "too deep"),
        (b"\xff\xfe\x00\xd8", "not text"),
    ],
)
def test_what_is_no_notebook_says_why(data, reason):
    with pytest.raises(Unreadable, match=reason):
        pieces_of(parse(data))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_of_other_editors_are_read(encoding):
    data = nbformat.writes(submission()).encode(encoding)
    assert is_honest(rebuilt(parse(data)))


def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "x.ipynb").symlink_to("/etc/passwd")
    with pytest.raises(Unreadable, match="no such file"):
        rebuild.read_submission(tmp_path / "x.ipynb")


def test_another_release_is_told():
    pieces = pieces_of(raw(submission()))
    assert rebuild.rebuild(MASTER, pieces, "1").repairs == []
    told = rebuild.rebuild(MASTER, pieces, "0").repairs
    assert told == [
        "made from release 0, which the course does not keep; graded as "
        "release 1"
    ]


@pytest.mark.parametrize("version", ["\ud800", "\x1b[2Jgone", "a\nb", 7])
def test_a_release_that_no_terminal_should_print_is_not_told(version):
    document = {"metadata": {"assembled": {"version": version}}}
    assert matching.version_of(document) is None


@pytest.mark.parametrize("line", ["\n", "%\n", " \n", "a.b\n", "x ="])
def test_a_long_cell_takes_no_long_time(line):
    text = (line * matching.MAX_TEXT)[: matching.MAX_TEXT]
    began = time.process_time()
    matching.names_defined(text)
    assert time.process_time() - began < 10  # once quadratic: minutes


def test_code_without_end_is_cut_and_told():
    notebook = submission()
    pieces = [matching.Piece("x = 1\n" * 30_000, True, None)] * 7
    pieces = [*map(matching.piece_of, notebook.cells), *pieces]
    rebuilt = rebuild.rebuild(source_notebook(), pieces)
    (told,) = [r for r in rebuilt.repairs if "characters of code" in r]
    assert "1000000 was left out" in told
    assert sum(len(c.source) for c in rebuilt.notebook.cells) < 1_010_000
    answers = [c.source for c in rebuilt.notebook.cells]
    assert ANSWERS["slope"] in answers


@pytest.mark.parametrize("code", [
    "label = 'a &lt; b'", "x = 1  # a &amp; b", 'page = f"{x}&nbsp;"',
])
def test_signs_in_strings_and_comments_are_the_students_own(code):
    assert matching.mend(code) == (code, "")


def test_signs_in_code_are_turned_back():
    told = "signs such as &lt; were turned back"
    assert matching.mend("y = x &lt; 1  # &gt;") == ("y = x < 1  # >", told)
