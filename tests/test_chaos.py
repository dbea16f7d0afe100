"""The chaos of `make stress`, small; and that it can find a difference."""

import json

import pytest

from autograder.course import Course
from tests import chaos
from tests.database import BIN, MISSING


@pytest.mark.slow
@pytest.mark.skipif(BIN is None, reason=MISSING)
def test_after_kills_the_gradebook_is_that_of_a_calm_run(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(chaos, "SCRATCH", tmp_path)
    assert chaos.main(["--size", "6", "--kills", "3"]) == 0
    assert "\n3 kills, " in capsys.readouterr().out


def test_what_is_graded_twice_is_seen(tmp_path):
    storm = chaos.Storm.__new__(chaos.Storm)
    storm.place, storm.kept, storm.twice = Course(tmp_path), {}, []
    path = storm.place.result_file("ann", "symbols", "beginner")
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"status": "failed"}))
    storm.look()  # what failed may be graded again
    path.write_text(json.dumps({"status": "graded", "score": 3}))
    storm.look()
    storm.look()
    assert storm.twice == []
    path.write_text(json.dumps({"status": "graded", "score": 4}))
    storm.look()
    assert storm.twice == [path]


def test_a_lost_mark_is_seen():
    calm = {("ann", "words"): (None, 3.0), ("ann", "sums"): (4.0, None)}
    assert chaos.unlike(calm, dict(calm)) == ([], [])
    assert chaos.unlike(calm, {**calm, ("ann", "words"): (None, None)}) == (
        [("ann", "words")], [("ann", "words")],
    )  # fmt: skip
    assert chaos.unlike(calm, {("ann", "words"): (None, 3.0)}) == (
        [("ann", "sums")], [],
    )  # fmt: skip
