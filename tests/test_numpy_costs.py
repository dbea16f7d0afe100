"""The record of what training costs: complete, and of its script."""

import json

import pytest

from assembled import Config
from assembled.costs import block_products, training_flops
from experiments import numpy_costs

RECORD = json.loads(numpy_costs.RECORD.read_text("utf-8"))


def test_the_record_is_of_this_script():
    base = numpy_costs.BASE | {"batch": numpy_costs.BATCH}
    assert RECORD["base"] == base
    assert RECORD["wide"] == numpy_costs.WIDE
    rows = [(row["grows"], row["to"]) for row in RECORD["growth"]]
    assert rows == [
        (name, to) for name, all_ in numpy_costs.GROWING.items()
        for to in all_
    ]  # fmt: skip
    assert all(row["seconds"] > 0 for row in RECORD["growth"])


def test_its_counts_are_counted_again():
    for name in ("context_length", "n_layers"):
        rows = [r for r in RECORD["growth"] if r["grows"] == name]
        for row in rows:
            config = Config(**numpy_costs.BASE | {name: row["to"]})
            T = config.context_length
            flops = training_flops(config, numpy_costs.BATCH, T)
            assert row["flops"] == flops
    config = Config(**numpy_costs.WIDE)
    found = {
        (p["mode"], p["name"]): p["intensity"]
        for p in RECORD["roofline"]["products"]
    }
    for mode, T, S in (("training", 256, 256), ("decoding", 1, 1024)):
        for product in block_products(config, 8, T, S):
            intensity = found[mode, product.name]
            assert intensity == pytest.approx(product.intensity(4))


def test_jobs_take_turns_and_the_first_turn_is_not_counted():
    seen = []
    jobs = {name: lambda name=name: seen.append(name) for name in "ab"}
    assert set(numpy_costs.timed(jobs, rounds=2)) == {"a", "b"}
    assert seen == list("ababab")


@pytest.mark.slow
def test_a_small_version_runs(monkeypatch):
    small = {"context_length": (8, 16), "d_model": (64,), "n_layers": (1,)}
    monkeypatch.setattr(numpy_costs, "GROWING", small)
    rows = numpy_costs.growth()
    assert [row["to"] for row in rows] == [8, 16, 64, 1]
    assert rows[0]["flops"] < rows[1]["flops"]
