"""Damaged files give their honest answers; nothing else is the student's."""

import json
import time

import nbformat
import pytest
from small_course import ANSWERS, source_notebook, submission

from autograder import rebuild
from autograder.identity import Unreadable, parse
from autograder.rebuild import pieces_of

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


def strip_all(document):
    for cell in document["cells"]:
        cell["metadata"] = {"id": "colab"}
        cell.pop("id", None)
    document["nbformat_minor"] = 0


def strip_answers(document):
    for name in ANSWERS:
        find(document, name)["metadata"] = {}


def strip_test(document):
    find(document, "softmax-check")["metadata"] = {}


def duplicate(document):
    cell = find(document, "softmax")
    document["cells"].insert(4, json.loads(json.dumps(cell)))


def stub_copied(document):
    cell = json.loads(json.dumps(find(document, "softmax")))
    cell["source"] = STUBS[3]
    document["cells"].insert(3, cell)


def delete_tests(document):
    document["cells"] = [
        cell for cell in document["cells"]
        if "check" not in str(cell["metadata"])
    ]


def edit_tests(document):
    for name in ("softmax-check", "slope-check"):
        find(document, name)["source"] = "pass"


def raise_points(document):
    for cell in document["cells"]:
        if "nbgrader" in cell["metadata"]:
            cell["metadata"]["nbgrader"].update(points=100, grade=True)


def check_turned_raw(document):
    find(document, "softmax-check")["cell_type"] = "raw"


def wrong_ids(document):
    find(document, "softmax")["metadata"]["nbgrader"]["grade_id"] = "other"


def answer_as_locked(document):
    tags = find(document, "softmax")["metadata"]["nbgrader"]
    tags.update(solution=False, locked=True, grade=False)


def old_schema(document):
    for cell in document["cells"]:
        if "nbgrader" in cell["metadata"]:
            cell["metadata"]["nbgrader"]["schema_version"] = 1


def source_as_lists(document):
    for cell in document["cells"]:
        cell["source"] = cell["source"].splitlines(keepends=True)


def trailing_blanks(document):
    strip_all(document)
    for cell in document["cells"]:
        if "check_close" in cell["source"]:
            cell["source"] = cell["source"].replace("\n", " \n")


def metadata_nonsense(document):
    for cell in document["cells"][:3]:
        cell["metadata"] = [1, 2]
    document["cells"].append("no cell")
    document["cells"].append({"cell_type": "code", "source": 3})


def rotated(document):
    document["cells"] = document["cells"][5:] + document["cells"][:5]


def answer_over_the_test(document):
    cell = find(document, "softmax")
    find(document, "softmax-check")["source"] = cell["source"]
    cell["source"] = STUBS[3]


DAMAGE = [
    strip_all, strip_answers, strip_test, duplicate, stub_copied,
    delete_tests, edit_tests, raise_points,
    check_turned_raw, wrong_ids,
    answer_as_locked, old_schema, source_as_lists, metadata_nonsense,
    rotated, answer_over_the_test, trailing_blanks,
]  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda f: f.__name__)
def test_honest_work_survives(damage):
    document = raw(submission())
    damage(document)
    assert is_honest(rebuilt(document))


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (strip_all, "found by the names"),
        (duplicate, "joined"),
        (delete_tests, "put back"),
        (edit_tests, "the course's own was run"),
        (strip_test, "lost its label"),
    ],
)
def test_repairs_are_told(damage, told):
    document = raw(submission())
    damage(document)
    assert told in "; ".join(rebuilt(document).repairs)


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
    assert rebuild.version_of(document) is None


@pytest.mark.parametrize("line", ["\n", "%\n", " \n", "a.b\n", "x ="])
def test_a_long_cell_takes_no_long_time(line):
    text = (line * rebuild.MAX_TEXT)[: rebuild.MAX_TEXT]
    began = time.process_time()
    rebuild.names_defined(text)
    assert time.process_time() - began < 10  # once quadratic: minutes
