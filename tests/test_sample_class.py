"""The sample class gets the scores that are written beside it."""

import dataclasses
import json
import re
import shutil

import nbformat
import pytest

from autograder import export, gradebook, sandbox
from autograder.course import ROOT, Course
from autograder.matching import pieces_of
from autograder.rebuild import rebuild
from autograder.release import release
from autograder.sample_class.command import compare, grade_sample, table
from autograder.sample_class.damage import damaged
from autograder.sample_class.make import answered, make, students
from autograder.split import Cell, Limits, run_cells, warm_checker

pytestmark = [
    pytest.mark.skipif(
        not sandbox.installed(), reason="bubblewrap is not installed"
    ),
]
MARK = "canary-9f31"
# What an instructor might write who trusts the kernel's own verdict.
NAIVE = [
    "assert sp.simplify(softmax_jacobian(sp.Matrix(sp.symbols('a:2'))"
    ") - sp.eye(2)) == sp.zeros(2, 2)",
    "right = np.array([9.0, 9.0, 8.0])\n"
    "push = rms_norm_push(np.ones(3), np.ones(3), 0.1, np.arange(3.0))\n"
    "np.testing.assert_allclose(push, right)",
    "assert post_ln_gradient((0, 0, 0), sp.symbols('n:3')) == 1",
    "assert norms_met('pre', 1, 1, True) == (1, 2)",
]


@pytest.fixture(scope="module")
def release_folder(tmp_path_factory):
    """Notebooks and sources of `symbols`, made afresh."""
    folder = tmp_path_factory.mktemp("release")
    release("symbols", folder / "notebooks", folder / "source")
    return folder


def test_the_class_is_written_down():
    everyone = students()
    assert len(everyone) >= 30
    for student in everyone:
        assert student.story.endswith("."), student.key
        graded = student.status.startswith("graded")
        assert bool(student.score) == graded, student.key


def test_the_same_texts_make_the_same_files(release_folder, tmp_path):
    made = []
    for name in ("one", "two"):
        make(
            tmp_path / name,
            release_folder / "notebooks",
            release_folder / "source",
        )
        files = sorted((tmp_path / name).rglob("*"))
        made.append([p.read_bytes() for p in files if p.is_file()])
    assert made[0] == made[1]


@pytest.mark.slow
def test_every_score_is_the_expected_one_and_no_canary_leaks(
    release_folder, tmp_path, capfd
):
    source = tmp_path / "source"
    shutil.copytree(release_folder / "source", source)
    for path in source.rglob("*.ipynb"):
        plant(path)
    course = Course(classroom=tmp_path / "class", source=source)
    gradebook.prepare(course, "symbols", ["nobody"])
    with gradebook.opened(course) as book:
        book.update_or_create_student("nobody", last_name=f"{MARK} book")
    rows = grade_sample(
        tmp_path, 2, mark=MARK, source=source,
        released=release_folder / "notebooks",
    )  # fmt: skip
    assert not [row["faults"] for row in rows if row["faults"]], table(rows)
    said = capfd.readouterr()
    assert MARK not in said.out + said.err
    assert leaks(course) == []
    pages = {page.parts[-3] for page in course.feedback.rglob("*.html")}
    handed_in = {r["student"].key for r in rows if r["status"] != "not taken"}
    assert pages == handed_in


def leaks(course):
    """Return the files for students or other systems that say too much."""
    found = []
    for path in [*course.grades.glob("*.csv"), *course.feedback.rglob("*")]:
        if not path.is_file():
            continue
        text = path.read_text("utf-8", errors="replace")
        if path.is_relative_to(course.feedback):  # one's own code is fine
            owner = path.relative_to(course.feedback).parts[0]
            text = text.replace(f"{MARK} {owner}", "")
        if MARK in text or str(ROOT) in text:
            found.append(path)
    return found


def test_a_leak_is_seen(tmp_path):
    course = Course(tmp_path)
    page = course.feedback / "ann" / "symbols" / "beginner.html"
    page.parent.mkdir(parents=True)
    page.write_text(f"your cell: {MARK} ann")
    assert leaks(course) == []
    for text in (f"{MARK} bob", f"{MARK} HIDDEN TESTS", f"{ROOT}/x.py"):
        page.write_text(text)
        assert leaks(course) == [page]
    page.unlink()
    course.grades.mkdir()
    (course.grades / "grades.csv").write_text(f"ann,{MARK} ann")
    assert leaks(course) == [course.grades / "grades.csv"]


def plant(path):
    """Put canaries into a source notebook's answers and hidden tests."""
    notebook = json.loads(path.read_text("utf-8"))
    for cell in notebook["cells"]:
        lines = "".join(cell["source"])
        for part in ("SOLUTION", "HIDDEN TESTS"):
            begin = f"### BEGIN {part}"
            lines = lines.replace(begin, f"{begin} {MARK} {part}")
        cell["source"] = lines
    path.write_text(json.dumps(notebook), "utf-8")


TRICKS = [s for s in students() if s.key in (
    "tam-patch", "tam-equal", "tam-ipython", "tam-modules", "tam-climb",
)]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("student", TRICKS, ids=lambda s: s.key)
def test_without_the_split_the_trick_gains(student, release_folder):
    """The same naive tests, in the student's process and in the checker."""
    place = f"{student.notebook}.ipynb"
    released, master = (
        json.loads((release_folder / part / place).read_text("utf-8"))
        for part in ("notebooks", "source")
    )
    cells = answered(student, released, master)["cells"]
    own = {c["id"]: "".join(c["source"]) for c in cells}
    mine = [own[name] for name in ("own", *student.change)]
    names = tuple(re.findall(r"(?m)^(?:def )?(\w+_\w+)", "\n".join(mine)))
    setup = Cell("shared", own["setup"], "setup")
    answers = [Cell("answer", code, "answer") for code in mine]
    passed = {}
    with warm_checker() as checker:
        for kind in ("answer", "test"):
            tests = [Cell(kind, code, "naive", names) for code in NAIVE]
            outcomes = run_cells(
                [setup, *answers, *tests], 1, checker, Limits(9, 9, 60)
            )
            passed[kind] = sum(o.passed for o in outcomes[-len(tests) :])
    assert passed["answer"] > 0, outcomes
    assert passed["test"] == 0


@pytest.mark.slow
def test_without_the_rebuild_the_edited_points_gain(release_folder):
    """The student's own file, believed, is worth hundreds of points."""
    (student,) = (s for s in students() if s.key == "tam-points")
    place = f"{student.notebook}.ipynb"
    released, master = (
        json.loads((release_folder / part / place).read_text("utf-8"))
        for part in ("notebooks", "source")
    )
    notebook = answered(student, released, master)
    theirs = json.loads(damaged(notebook, released, student.damage))
    tags = [c["metadata"].get("nbgrader", {}) for c in theirs["cells"]]
    assert sum(t["points"] for t in tags if t.get("grade")) > 100
    whole = nbformat.reads(json.dumps(master), as_version=4)
    ours = rebuild(whole, pieces_of(theirs)).notebook
    tags = [c.metadata.get("nbgrader", {}) for c in ours.cells]
    assert sum(t["points"] for t in tags if t.get("grade")) == 24


def test_a_wrong_expectation_is_seen(release_folder, tmp_path):
    """The comparison can fail: a score, a status, a message, a file."""
    (ada,) = (s for s in students() if s.key == "ada-moss")
    tests = {name: [name] for name in ada.score}
    result = {
        "status": "graded", "reason": "", "repairs": [],
        "exercises": [
            {"id": n, "score": p, "manual": True, "instructor_message": ""}
            for n, p in ada.score.items()
        ],
    }  # fmt: skip
    assert not compare(ada, result, [], tests)["faults"]
    for change in (
        {"score": {**ada.score, "norms-met": 3}},
        {"status": "failed"},
        {"says": {"norms-met": "wrong"}},
        {"repairs": "mended"},
        {"reason": "because"},
        {"words": False},
    ):
        other = dataclasses.replace(ada, **change)
        assert len(compare(other, result, [], tests)["faults"]) == 1
    assert compare(ada, None, [], tests)["faults"]


def test_canvas_gets_its_own_numbers_back(tmp_path):
    place = Course(tmp_path)
    (tmp_path / "attempts").mkdir()
    text = json.dumps({"doejane": {"name": "doejane", "canvas": "77"}})
    (tmp_path / "attempts" / "_students.json").write_text(text)
    assert export.canvas_ids(place) == {"doejane": "77"}
    common = {"assignment": "symbols", "notebook": "beginner"}
    rows = export.canvas([
        {**common, "student": who, "mark": 3, "max_score": 4, "canvas": n}
        for who, n in (("doejane", "77"), ("ann", ""))
    ])  # fmt: skip
    assert rows[2][:4] == ["ann", "", "", "ann"]
    assert rows[3][:4] == ["doejane", "77", "", ""]
