"""The student edition holds the course and none of its answers."""

import subprocess

import pytest

from autograder import Refusal
from autograder import student_edition as edition
from autograder.course import ROOT

pytestmark = pytest.mark.skipif(
    not (ROOT / ".git").exists(), reason="the edition needs a git checkout"
)


def test_it_holds_the_course_and_no_answer(tmp_path):
    edition.write(tmp_path / "out")
    names = {p.name for p in (tmp_path / "out").iterdir()}
    assert {"book", "notebooks", "assembled", "Makefile"} <= names
    assert (tmp_path / "out" / "book" / "doctor.py").exists()
    assert not {"solutions", "autograder", "tests", ".git"} & names


def test_it_has_secrets_to_look_for():
    lines = edition.secrets()
    answer = "return gain * (v - x_hat * np.mean(x_hat * v)) / r"
    hidden = 'z = sp.Matrix(sp.symbols(f"u:{n}", real=True))'
    in_words = "The exact part is about the counts: every Post-LN path meets L"
    assert {answer, hidden, in_words} <= lines


@pytest.mark.parametrize("kind", ["line", "region"])
def test_a_leak_is_refused_by_name(tmp_path, kind):
    line = max(edition.secrets(), key=len)
    region = "### BEGIN SOLUTION\nx = 1\n### END SOLUTION\n"
    (tmp_path / "page.md").write_text(line if kind == "line" else region)
    with pytest.raises(Refusal, match=r"page\.md holds a line"):
        edition.refuse_secrets(tmp_path, edition.secrets())


def test_another_folder_is_not_replaced(tmp_path):
    (tmp_path / "mine.txt").write_text("keep me")
    with pytest.raises(Refusal, match="is no student edition"):
        edition.write(tmp_path)
    assert (tmp_path / "mine.txt").exists()


def test_an_earlier_edition_is_replaced(tmp_path):
    edition.write(tmp_path / "out")
    (tmp_path / "out" / "old.txt").write_text("stale")
    edition.write(tmp_path / "out")
    assert not (tmp_path / "out" / "old.txt").exists()


def test_its_makefile_needs_nothing_that_is_left_out(tmp_path):
    edition.write(tmp_path / "out")
    plan = subprocess.run(
        ["make", "-n", "book", "links", "serve"],
        cwd=tmp_path / "out", capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "autograder" not in plan.stdout
