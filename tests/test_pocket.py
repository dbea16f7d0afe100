"""The doctor that students run: one file, the same findings, no answers."""

import ast
import dataclasses
import importlib.util
import json
import re
import subprocess
import sys

import nbformat
import pytest
from test_sample_class import MARK, plant

from autograder import doctor, pocket
from autograder.course import Course
from autograder.release import assignments, release
from autograder.sample_class.damage import KINDS, damaged
from autograder.sample_class.damage_table import (
    FILE,
    copies,
    notebooks,
    table,
)
from autograder.sample_class.make import make
from autograder.student_edition import secrets


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Notebooks and sources of all assignments, made afresh."""
    folder = tmp_path_factory.mktemp("release")
    for assignment in assignments():
        release(assignment, folder / "notebooks", folder / "source")
    return Course(folder, folder / "source", folder / "notebooks")


@pytest.fixture(scope="module")
def at_home(course):
    """Load the file as a student's Python does."""
    path = course.classroom / "doctor.py"
    path.write_text(pocket.assembled(pocket.table_of(course)))
    spec = importlib.util.spec_from_file_location("pocket_doctor", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


def text_of(course):
    return pocket.assembled(pocket.table_of(course))


def test_the_committed_file_is_current(course):
    assert pocket.FILE.read_text() == text_of(course), "run `make notebooks`"


def test_the_table_of_damage_is_current(course):
    assert FILE.read_text() == table(course), "run `make notebooks`"


def same(at_home, course, path):
    """Compare both doctors on a file; return the finding."""
    theirs = at_home.examine_at_home(str(path), at_home.TABLE)
    ours = doctor.examine(path, course)
    assert dataclasses.asdict(theirs) == dataclasses.asdict(ours)
    assert at_home.text(theirs) == doctor.text(ours)
    return ours


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_it_finds_what_grading_finds(at_home, course, tmp_path, kind):
    given, handed_in = copies(*notebooks(course))
    path = tmp_path / "Untitled.ipynb"
    path.write_bytes(damaged(handed_in, given, [kind.name]))
    finding = same(at_home, course, path)
    assert kind.told in "; ".join([*finding.repairs, finding.problem])


def test_it_finds_the_same_in_the_sample_class(at_home, course, tmp_path):
    make(tmp_path / "inbox", course.released, course.source)
    files = sorted((tmp_path / "inbox").rglob("*.ipynb"))
    assert len(files) > 3
    for path in files:
        same(at_home, course, path)


def test_it_knows_every_kept_release(course, tmp_path):
    kept = course.source / "symbols" / "releases"
    older = nbformat.read(course.source / "symbols/beginner.ipynb", 4)
    older.metadata.assembled.version = "0123456789ab"
    older.cells[-1].metadata.nbgrader.grade_id = "older"
    nbformat.write(older, kept / "beginner-0123456789ab.ipynb")
    _, handed_in = copies(*notebooks(course))
    path = tmp_path / "my.ipynb"
    home = path.with_name("doctor.py")
    home.write_text(text_of(course))
    (kept / "beginner-0123456789ab.ipynb").unlink()
    for version, told in (("0123456789ab", "older"), ("fedc", "not keep")):
        handed_in["metadata"]["assembled"]["version"] = version
        path.write_text(json.dumps(handed_in))
        assert told in run(home, "my.ipynb").stdout


def run(path, *words):
    """Run the file with an empty environment; return the process."""
    return subprocess.run(
        [sys.executable, "-I", "-S", "-W", "error", path.name, *words],
        cwd=path.parent, capture_output=True, text=True, check=True,
    )  # fmt: skip


def test_it_runs_with_nothing_installed(course, tmp_path):
    path = tmp_path / "doctor.py"
    path.write_text(text_of(course))
    assert "There is no notebook here" in run(path).stdout
    _, handed_in = notebooks(course)
    (tmp_path / "my copy (1).ipynb").write_text(json.dumps(handed_in))
    for words in ([], ["my copy (1).ipynb"]):
        said = run(path, *words).stdout
        assert "nothing to mend" in said
        assert "softmax-jacobian" in said
    assert "there is no such file" in run(path, "other.ipynb").stdout


def test_it_imports_the_standard_library_alone(course):
    tree = ast.parse(text_of(course), feature_version=(3, 10))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found = {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found = {node.module.split(".")[0]}
        else:
            continue
        assert found <= sys.stdlib_module_names


def test_no_name_of_its_parts_hides_another(course):
    names = [
        getattr(node, "name", None) for node in ast.parse(text_of(course)).body
    ]
    names = [name for name in names if name]
    assert len(names) == len(set(names))


def test_it_holds_no_answer_and_is_small(course, tmp_path):
    source = tmp_path / "source"
    for path in course.source.glob("*/*.ipynb"):
        copy = source / path.parent.name / path.name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
        plant(copy)
    marked = Course(tmp_path, source, course.released)
    text = text_of(marked)
    assert MARK not in text
    assert not [line for line in secrets() if line in text]
    assert len(text) < 50_000
    shown = "".join(p.read_text() for p in course.released.rglob("*.ipynb"))
    for row in pocket.table_of(course):
        for _, grade_id, _, _, names in row["spots"]:
            for name in [grade_id or "", *names.split()]:
                assert re.search(rf"\b{name}\b", shown), name
