"""The benchmark compares like with like, and only right answers."""

import json
import subprocess
import sys

import pytest

from autograder import Refusal, bench, bench_classes


def test_a_class_hands_in_each_notebook_in_turn(tmp_path):
    sources = bench_classes.symbols_class()
    course, students = bench_classes.make(tmp_path, "symbols", sources, 4)
    handed_in = [
        [p.stem for p in (course.submitted / s / "symbols").iterdir()]
        for s in students
    ]
    assert handed_in == [
        ["advanced"], ["beginner"], ["intermediate"], ["advanced"],
    ]  # fmt: skip


def test_answers_differ_between_students(tmp_path):
    sources = {"beginner": bench_classes.symbols_class()["beginner"]}
    course, students = bench_classes.make(tmp_path, "symbols", sources, 5)
    texts = {
        (course.submitted / s / "symbols/beginner.ipynb").read_text()
        for s in students
    }
    assert len(texts) > 2


def test_a_lost_point_is_seen():
    row = {"score": 1, "max_score": 2, "manual": False}
    assert bench.missing({"reason": "", "exercises": [row]})
    assert not bench.missing({"reason": "", "exercises": [
        {**row, "manual": True}, {**row, "score": 2},
    ]})  # fmt: skip


def test_the_peer_has_nothing_of_ours():
    code = f"import runpy, sys; runpy.run_path({str(bench.PLAIN)!r})\n"
    code += "print([m for m in sys.modules if m.startswith('autograder')])"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        cwd="/", capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
def test_both_grade_the_same_class_and_a_wrong_answer_stops_it(tmp_path):
    sources = bench_classes.torch_class()
    course, students = bench_classes.make(tmp_path, "torch", sources, 2)
    assert bench.plain(course, "torch", students) > 0
    ours = bench.graded(course)
    assert ours.students == 2
    assert ours.whole > ours.largest > 50
    path = course.submitted / students[0] / "torch/torch.ipynb"
    notebook = json.loads(path.read_text())
    for cell in notebook["cells"]:
        if "def " in "".join(cell["source"]):
            cell["source"] = "pass"
    path.write_text(json.dumps(notebook))
    with pytest.raises(Refusal, match="lost points"):
        bench.graded(course)
    with pytest.raises(Refusal, match="no points to right answers"):
        bench.plain(course, "torch", students)
