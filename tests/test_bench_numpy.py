"""The benchmark of the NumPy model runs, on models that agree."""

import pytest

from experiments import bench_numpy


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setitem(bench_numpy.SHAPE, "n_layers", 1)
    monkeypatch.setitem(bench_numpy.SHAPE, "context_length", 24)


@pytest.mark.slow
def test_it_prints_every_row(capsys, small):
    assert bench_numpy.main(["--rounds", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    steps = ["Llama's step", "a readable step", "a fast step"]
    tables = [
        "", *steps,
        "", *steps[1:], "its products alone", steps[0],
        "matrix products take", "16 tokens", "Llama's 16 tokens",
    ]  # fmt: skip
    lines = [line for line in lines if line][1:]
    assert [line[:20].strip() for line in lines] == tables
    # In processes of their own, so at full size: moments alone take 34.
    assert all(int(line[20:].split()[0]) > 34 for line in lines[1:4])


@pytest.mark.slow
@pytest.mark.parametrize("side", ["READABLE", "FAST", "LLAMA"])
def test_models_that_differ_are_not_compared(side, small):
    steps, _ = bench_numpy.jobs(1)
    steps[getattr(bench_numpy, side)] = lambda: 0.0
    with pytest.raises(SystemExit, match="the models differ"):
        bench_numpy.check_agreement(steps)
