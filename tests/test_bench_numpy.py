"""The benchmark of the NumPy model runs, on two models that agree."""

import pytest

from experiments import bench_numpy


@pytest.mark.slow
def test_it_prints_both_rows(capsys, monkeypatch):
    monkeypatch.setitem(bench_numpy.SHAPE, "n_layers", 1)
    monkeypatch.setitem(bench_numpy.SHAPE, "context_length", 24)
    assert bench_numpy.main(["--rounds", "1"]) == 0
    rows = capsys.readouterr().out.splitlines()[-2:]
    assert [row[:15].strip() for row in rows] == [
        "a training step", "16 tokens",
    ]  # fmt: skip


@pytest.mark.slow
def test_models_that_differ_are_not_compared(monkeypatch):
    def other(model, optimizer, text):
        return 0.0

    monkeypatch.setattr(bench_numpy, "llama_step", other)
    monkeypatch.setitem(bench_numpy.SHAPE, "n_layers", 1)
    with pytest.raises(SystemExit, match="the two models differ"):
        bench_numpy.steps(1)
