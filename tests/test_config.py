"""Config refuses impossible shapes with one sentence."""

import pytest

from assembled import Config, RopeScaling


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ({"n_layers": 0}, "n_layers is 0"),
        ({"d_model": 62}, "does not divide"),
        ({"n_kv_heads": 3}, "no multiple"),
        ({"d_model": 20, "n_heads": 4}, "is odd"),
        ({"placement": "middle"}, "one of"),
    ],
)
def test_impossible_shape_is_refused(fault, words):
    with pytest.raises(ValueError, match=words):
        Config(**fault)


def test_head_size():
    assert Config(d_model=96, n_heads=6).d_k == 16


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ({"kind": "dynamic"}, "kind is 'dynamic'; it must be one of"),
        ({"factor": 0.5}, "factor=0.5"),
        ({"old_context": 0}, "old_context=0"),
        ({"low": 40.0}, "below low=40.0"),
    ],
)
def test_impossible_scaling_is_refused(fault, words):
    fine = {"kind": "yarn", "factor": 2.0, "old_context": 8}
    with pytest.raises(ValueError, match=words):
        RopeScaling(**{**fine, **fault})
