"""A submission is graded by the release that it was made from."""

import json

import pytest

from autograder import (
    Refusal,
    doctor,
    gradebook,
    jobs,
    publish,
    published,
    releases,
    sandbox,
)
from autograder.course import Course
from autograder.grade import grade, table
from autograder.identity import released_notebooks
from autograder.intake import Intake
from autograder.matching import version_of
from autograder.release import release

SOURCE = '''# %% [markdown]
# # Doubling

# %% nbgrader={"grade_id": "setup", "locked": true}
FACTOR = 2

# %% [markdown]
# ## 1 · Double
#
# Write `double(x)`, which returns twice the number.

# %% nbgrader={"grade_id": "double", "solution": true}
def double(x):
    """Return twice x."""
    ### BEGIN SOLUTION
    return FACTOR * x
    ### END SOLUTION

# %% nbgrader={"grade_id": "seen", "grade": true, "points": 1}
# Check, 1 point: one number.
assert double(1) == 2
### BEGIN HIDDEN TESTS
assert double(3) == 6
### END HIDDEN TESTS

# %% nbgrader={"grade_id": "graded", "grade": true, "points": 2}
# Grading, 2 points: other numbers.
### BEGIN HIDDEN TESTS
assert double(-1.5) == -3
### END HIDDEN TESTS

# %% [markdown]
# ## 2 · In words
#
# Why?

# %% [markdown] nbgrader={"grade_id": "why", "grade": true, "points": 3, "solution": true}
# Because twice is two times.
'''  # noqa: E501
TRIPLE = (
    SOURCE.replace("FACTOR = 2", "FACTOR = 3").replace("twice", "thrice")
    .replace("(1) == 2", "(1) == 3").replace("== 6", "== 9")
    .replace("-1.5) == -3", "-1.5) == -4.5")
)  # fmt: skip
TWICE = "def double(x):\n    return x + x"
THRICE = "def double(x):\n    return x + x + x"
CORRECT = SOURCE.replace("double(-1.5) == -3", "double(2.5) == 5")
NAMES = "tiny", "beginner"


class Class:
    """One assignment with its sources, and a classroom."""

    def __init__(self, folder):
        self.folder = folder / "solutions" / "tiny"
        self.folder.mkdir(parents=True)
        self.course = Course(
            folder / "class", folder / "source", folder / "notebooks"
        )

    def release(self, text):
        """Write the source and release it; return the new version."""
        (self.folder / "beginner.py").write_text(text)
        place = self.course
        release("tiny", place.released, place.source, self.folder.parent)
        return releases.master_of(place, *NAMES).metadata.assembled.version

    def publish(self, text, corrects=()):
        """Release and publish; return the version."""
        version = self.release(text)
        publish.publish(self.folder, corrects)
        self.release(text)
        return version

    def given(self):
        """Return the notebook that students are given now."""
        path = self.course.released / "tiny" / "beginner.ipynb"
        return json.loads(path.read_text())

    def hand_in(self, student, document, code, words="Because."):
        """Answer a notebook and put it into submitted/."""
        for cell in document["cells"]:
            if cell["metadata"].get("nbgrader", {}).get("solution"):
                is_code = cell["cell_type"] == "code"
                cell["source"] = code if is_code else words
        path = self.course.submitted / student / "tiny" / "beginner.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(document))
        return path

    def grade(self):
        """Grade; return {student: result}."""
        return {r["student"]: r for r in grade(self.course)}


@pytest.fixture
def group(tmp_path):
    return Class(tmp_path)


needs_sandbox = pytest.mark.skipif(
    not sandbox.installed(), reason="bubblewrap is not installed"
)


def claim(document, version):
    """Let a notebook say that it is of this release."""
    document["metadata"]["assembled"]["version"] = version
    return document


def test_only_what_students_see_makes_a_version(group):
    first = group.release(SOURCE)
    assert group.release(SOURCE.replace("FACTOR * x", "x + x")) == first
    assert group.release(SOURCE.replace("(3) == 6", "(4) == 8")) == first
    assert group.release(SOURCE.replace("Because", "For")) == first
    for old, new in (
        ("Why?", "Why so?"),
        ("double(1) == 2", "double(2) == 4"),
        ("FACTOR = 2", "FACTOR = 2.0"),
        ('"points": 2', '"points": 3'),
    ):
        assert group.release(SOURCE.replace(old, new)) != first
    assert group.release(SOURCE) == first


@needs_sandbox
@pytest.mark.slow
def test_two_releases_are_graded_side_by_side(group):
    first = group.publish(SOURCE)
    group.hand_in("ann", group.given(), TWICE)
    group.hand_in("bob", group.given(), THRICE)
    second = group.publish(TRIPLE)
    group.hand_in("cas", group.given(), THRICE)
    group.hand_in("dan", group.given(), TWICE)
    group.hand_in("eve", claim(group.given(), first), THRICE)
    group.hand_in("fay", claim(group.given(), "no-such"), THRICE)
    results = group.grade()
    assert {s: r["score"] for s, r in results.items()} == {
        "ann": 3, "bob": 0, "cas": 3, "dan": 0, "eve": 0, "fay": 3,
    }  # fmt: skip
    assert [results[s]["release"] for s in ("ann", "cas", "eve", "fay")] == [
        first, second, first, second,
    ]  # fmt: skip
    assert results["ann"]["repairs"] == results["cas"]["repairs"] == []
    told = "made from release no-such, which the course does not keep; graded"
    assert told in results["fay"]["repairs"][0]
    lines = table(list(results.values()))
    assert f"tiny/beginner: 3 of release {first}, 3 of {second}" in lines


@needs_sandbox
@pytest.mark.slow
def test_a_mended_hidden_test_regrades_and_keeps_marks_by_hand(group):
    wrong = SOURCE.replace("(-1.5) == -3", "(-1.5) == 3")
    group.publish(wrong)
    group.hand_in("ann", group.given(), TWICE)
    assert group.grade()["ann"]["score"] == 1
    with gradebook.opened(group.course) as book:
        row = book.find_grade("why", "beginner", "tiny", "ann")
        row.manual_score, row.needs_manual_grade = 2.5, False
        book.db.commit()
    group.publish(TRIPLE)
    group.hand_in("bob", group.given(), THRICE)
    before = group.grade()
    kept = published.source_of(group.folder, "beginner", "*")
    (path,) = [
        p for p in kept.parent.glob(kept.name) if "twice" in p.read_text()
    ]
    path.write_text(path.read_text().replace("(-1.5) == 3", "(-1.5) == -3"))
    group.release(TRIPLE)
    after = group.grade()
    assert after["ann"]["score"] == 5.5
    assert after["bob"] == before["bob"]  # seed and seconds too: not run
    why = after["ann"]["exercises"][-1]
    assert (why["id"], why["score"], why["manual"]) == ("why", 2.5, False)


@needs_sandbox
@pytest.mark.slow
def test_a_correction_grades_the_older_release(group):
    wrong = SOURCE.replace("double(1) == 2", "double(1) == 1")
    first = group.publish(wrong)
    group.hand_in("ann", group.given(), TWICE)
    group.hand_in("bob", group.given(), "def double(x):\n    return x")
    second = group.publish(SOURCE, [first])
    assert first != second
    results = group.grade()
    assert (results["ann"]["score"], results["bob"]["score"]) == (3, 0)
    assert results["ann"]["release"] == second
    assert results["ann"]["repairs"] == []


def test_a_hidden_test_mended_while_current_is_in_the_kept_text(group):
    first = group.publish(SOURCE)
    group.release(CORRECT)
    group.release(TRIPLE)
    text = published.source_of(group.folder, "beginner", first).read_text()
    assert text == CORRECT


def test_a_new_release_leaves_old_results_as_they_are(group):
    first = group.publish(SOURCE)
    path = group.hand_in("ann", group.given(), TWICE)
    job = jobs.Job("ann", "tiny", ("beginner",))
    before = jobs.digest(group.course, job, "beginner")
    group.publish(TRIPLE)
    assert jobs.digest(group.course, job, "beginner") == before
    path.write_text(path.read_text().replace(first, "0" * 12))
    assert jobs.digest(group.course, job, "beginner") != before


def test_a_retired_release_counts_as_the_current_one(group):
    first = group.publish(SOURCE)
    path = group.hand_in("ann", group.given(), TWICE)
    second = group.publish(TRIPLE)
    record = group.folder / "releases.toml"
    text = record.read_text().replace(
        f"[beginner.{first}]", f"[beginner.{first}]\nretired = true"
    )
    record.write_text(text)
    group.release(TRIPLE)
    version = version_of(json.loads(path.read_text()))
    own, grading = releases.pair_of(group.course, *NAMES, version)
    assert own.metadata.assembled.version == second
    assert own is grading
    assert f"graded as release {second}" in examined(group, path).repairs[0]


def examined(group, path):
    return doctor.examine(path, group.course)


@pytest.mark.parametrize(
    "version", ["x/../../mine", "*", "", 7, None, "\x00"]
)
def test_a_forged_version_selects_nothing_else(group, version):
    first = group.publish(SOURCE)
    second = group.publish(TRIPLE)
    kept = releases.kept_path(group.course, *NAMES, first)
    (kept.parent / "beginner-x").mkdir()
    (kept.parent.parent / "mine.ipynb").write_bytes(kept.read_bytes())
    own, grading = releases.pair_of(group.course, *NAMES, version)
    assert own.metadata.assembled.version == second
    assert own is grading


def test_without_metadata_the_locked_cell_names_the_release(group):
    first = group.publish(SOURCE)
    document = group.given()
    group.publish(TRIPLE)
    document["metadata"] = {}
    path = group.hand_in("ann", document, TWICE)
    assert version_of(json.loads(path.read_text())) == first
    assert examined(group, path).repairs == []


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ('"points": 2', '"points": 5', "graded"),
        ("seen", "also-seen", "also-seen, seen"),
        ('"grade_id": "double"', '"grade_id": "twice"', "double, twice"),
    ],
)
def test_graded_cells_gained_or_lost_are_refused(group, old, new, names):
    first = group.publish(SOURCE)
    changed = SOURCE.replace(old, new)
    with pytest.raises(Refusal, match=rf"points \({names}\).*retired = true"):
        group.release(changed)
    record = group.folder / "releases.toml"
    record.write_text(record.read_text() + "retired = true\n")
    assert group.release(changed) != first


def test_a_correction_may_gain_and_lose_graded_cells(group):
    first = group.publish(SOURCE)
    changed = SOURCE.replace("seen", "also-seen")
    (group.folder / "beginner.py").write_text(changed)
    publish.publish(group.folder, [first])
    assert group.release(changed) != first


def test_corrections_are_followed_to_the_last():
    entries = {"a": {}, "b": {"corrects": ["a"]}, "c": {"corrects": ["b"]}}
    assert [published.graded_by(entries, v) for v in "abc"] == ["c"] * 3
    entries["a"] = {"corrects": ["c"]}  # a circle, written by hand
    assert published.graded_by(entries, "a") in "abc"


def test_the_kept_text_must_show_the_same(group):
    first = group.publish(SOURCE)
    group.publish(TRIPLE)
    path = published.source_of(group.folder, "beginner", first)
    path.write_text(SOURCE.replace("Why?", "How?"))
    with pytest.raises(Refusal, match=f"--corrects {first}"):
        group.release(TRIPLE)
    path.unlink()
    with pytest.raises(Refusal, match=f"release {first} is gone"):
        group.release(TRIPLE)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[beginner.x", "is not TOML"),
        ("[beginner.x]\nretierd = true\n", "unknown key 'retierd'"),
        ('[beginner.x]\ncorrects = ["y"]\n', "corrects y, which is not"),
        ("[later.x]\npublished = 2026-01-01\n", "no source later.py"),
    ],
)
def test_a_faulty_record_is_refused(group, text, words):
    (group.folder / "releases.toml").write_text(text)
    with pytest.raises(Refusal, match=words):
        group.release(SOURCE)


def test_publishing_twice_changes_nothing(group):
    first = group.publish(SOURCE)
    text = (group.folder / "releases.toml").read_text()
    assert publish.publish(group.folder) == {}
    assert (group.folder / "releases.toml").read_text() == text
    with pytest.raises(Refusal, match="nothing was published"):
        publish.publish(group.folder, [first])
    with pytest.raises(Refusal, match="no assignment 'other'"):
        publish.publish(group.folder.parent / "other")


@pytest.mark.slow
def test_kept_masters_are_no_assignment_and_no_notebook(group):
    group.publish(SOURCE)
    group.hand_in("ann", group.given(), TWICE)
    group.publish(TRIPLE)
    (job,) = jobs.find_jobs(group.course)
    assert job == jobs.Job("ann", "tiny", ("beginner",))
    gradebook.prepare(group.course, "tiny", ["ann"])
    with gradebook.opened(group.course) as book:
        (notebook,) = book.find_assignment("tiny").notebooks
    assert notebook.name == "beginner"


def test_an_older_release_is_collected(group, tmp_path):
    first = group.publish(SOURCE)
    path = group.hand_in("ann", group.given(), TWICE)
    group.publish(TRIPLE)
    box = tmp_path / "ann" / "Untitled3.ipynb"
    box.parent.mkdir()
    path.rename(box)
    known = released_notebooks(group.course.released)
    (entry,) = Intake(group.course.classroom, known).collect([box.parent])
    assert entry.fate == "taken"
    assert version_of(json.loads(path.read_text())) == first
