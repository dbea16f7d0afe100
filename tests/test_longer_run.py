"""The record of the longer run: complete, and what its script would give."""

import json

import numpy as np
import pytest

from assembled import Config
from assembled.reference.model import init_params, param_shapes
from assembled.reference.training import all_windows, evaluate
from experiments import longer_run

RECORD = json.loads(longer_run.RECORD.read_text("utf-8"))
CURVE, CONFIG = RECORD["curve"], Config(**RECORD["config"])


@pytest.fixture(scope="module")
def texts():
    """The texts of the record; they differ between Python versions."""
    tokens, held_out, alphabet = longer_run.texts()
    if longer_run.text_record(alphabet)["sha256"] != RECORD["text"]["sha256"]:
        pytest.skip(f"the text is that of Python {RECORD['text']['python']}")
    return tokens, held_out, len(alphabet)


def test_the_record_is_of_this_script():
    assert RECORD["command"].endswith(longer_run.__name__)
    shape = longer_run.SHAPE | {"vocab_size": RECORD["text"]["characters"]}
    assert Config(**shape) == CONFIG
    assert RECORD["training"] == {
        "seed": longer_run.SEED, "steps": longer_run.STEPS,
        **longer_run.TRAINING,
    }  # fmt: skip
    sizes = [np.prod(shape) for shape in param_shapes(CONFIG).values()]
    assert RECORD["parameters"] == sum(sizes)
    looks = range(0, longer_run.STEPS + 1, longer_run.LOOK)
    assert CURVE["step"] == list(looks)
    assert len(CURVE["training"]) == len(CURVE["held out"]) == len(looks)


def test_the_n_grams_are_counted_again(texts):
    again = longer_run.lines(*texts)
    assert again.keys() == RECORD["n-grams"].keys()
    for name, losses in again.items():
        assert losses == pytest.approx(RECORD["n-grams"][name], rel=1e-9)


def test_the_curve_starts_where_the_seed_says(texts):
    params = init_params(CONFIG, np.random.default_rng(longer_run.SEED))
    windows = all_windows(texts[1], CONFIG.context_length)
    first = evaluate(params, *windows, CONFIG)
    assert first == pytest.approx(CURVE["held out"][0], rel=1e-5)  # float32


def test_it_ends_below_all_trigrams():
    trigrams = [losses[2] for losses in RECORD["n-grams"].values()]
    assert CURVE["held out"][-1] < min(trigrams)


@pytest.mark.slow
def test_the_script_writes_such_a_record(tmp_path, monkeypatch):
    monkeypatch.setattr(longer_run, "RECORD", tmp_path / "record.json")
    monkeypatch.setattr(longer_run, "STEPS", 4)
    monkeypatch.setattr(longer_run, "LOOK", 2)
    small = {"n_layers": 1, "d_model": 8, "d_ff": 8}
    monkeypatch.setattr(longer_run, "SHAPE", longer_run.SHAPE | small)
    longer_run.main()
    record = json.loads(longer_run.RECORD.read_text("utf-8"))
    assert record.keys() == RECORD.keys()
    assert record["curve"].keys() == CURVE.keys()
    assert record["curve"]["step"] == [0, 2, 4]
    assert record["curve"]["training"][0] is None
    assert len(record["sample"]) == len("The value of ") + 240
