"""Config refuses impossible shapes with one sentence."""

import pytest

from assembled import Config


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
