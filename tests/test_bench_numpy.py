"""The benchmark of the NumPy model runs, on models that agree."""

import json

import pytest

from experiments import bench_numpy


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setitem(bench_numpy.SHAPE, "n_layers", 1)
    monkeypatch.setitem(bench_numpy.SHAPE, "context_length", 24)


@pytest.mark.slow
def test_it_prints_every_row(capsys, small, monkeypatch, tmp_path):
    record = tmp_path / "bench.json"
    monkeypatch.setattr(bench_numpy, "RECORD", record)
    assert bench_numpy.main(["--rounds", "1", "--record"]) == 0
    lines = capsys.readouterr().out.splitlines()
    steps = ["Llama's step", "a readable step", "a fast step"]
    tables = [
        "", *steps,
        "", *steps[1:], "its products alone", steps[0],
        "16 tokens", "Llama's 16 tokens", "matrix products take",
    ]  # fmt: skip
    lines = [line for line in lines if line][1:]
    assert [line[:20].strip() for line in lines] == tables
    # In processes of their own, so at full size: moments alone take 34.
    assert all(int(line[20:].split()[0]) > 34 for line in lines[1:4])
    facts = json.loads(record.read_text("utf-8"))
    assert list(facts["memory"]) == steps
    assert facts["training"][steps[0]]["ratio"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("side", ["READABLE", "FAST", "LLAMA"])
def test_models_that_differ_are_not_compared(side, small):
    steps, _ = bench_numpy.jobs(1)
    steps[getattr(bench_numpy, side)] = lambda: 0.0
    with pytest.raises(SystemExit, match="the models differ"):
        bench_numpy.check_agreement(steps)


def test_the_record_is_of_this_script():
    facts = json.loads(bench_numpy.RECORD.read_text("utf-8"))
    batch = {"batch": bench_numpy.BATCH}
    assert facts["shape"] == bench_numpy.SHAPE | batch
    for kind in ("training", "decoding"):
        for row in facts[kind].values():
            assert 0 < row["least"] <= row["ratio"] <= row["most"]
