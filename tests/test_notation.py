"""The converters that the notation page shows."""

import numpy as np
import pytest

from assembled import Config
from assembled.reference.model import init_params, model_forward
from assembled.reference.rope import (
    half_from_interleaved,
    interleaved_from_half,
)

SHAPE = dict(vocab_size=11, context_length=9, d_model=24, n_layers=2,
             n_heads=4, n_kv_heads=2, d_ff=20)


def converted(params, config, convert):
    """The parameters with every wq and wk reordered."""
    heads = {".wq": config.n_heads, ".wk": config.n_kv_heads}
    return {
        name: convert(p, heads[name[-3:]]) if name[-3:] in heads else p
        for name, p in params.items()
    }


def test_a_model_converted_to_the_other_pairing_says_the_same():
    inter = Config(**SHAPE, rope_pairing="interleaved")
    half = Config(**SHAPE, rope_pairing="half")
    rng = np.random.default_rng(0)
    params = init_params(inter, rng, np.float64)
    tokens = rng.integers(0, 11, size=(2, 9))
    want, _ = model_forward(params, tokens, inter)
    moved = converted(params, half, half_from_interleaved)
    got, _ = model_forward(moved, tokens, half)
    wrong, _ = model_forward(params, tokens, half)
    # The sums run in another order: some tens of roundings of 1e-16.
    assert np.abs(got - want).max() < 1e-13 * np.abs(want).max()
    assert np.abs(wrong - want).max() > 1e-3 * np.abs(want).max()


def test_the_columns_of_a_small_head_by_hand():
    # One head of width 6: pairs (0,1) (2,3) (4,5) become (0,3) (1,4) (2,5).
    weight = np.arange(6.0)[None]
    moved = half_from_interleaved(weight, 1)
    assert moved.tolist() == [[0, 2, 4, 1, 3, 5]]
    two = np.arange(8.0)[None]
    assert half_from_interleaved(two, 2).tolist() == [
        [0, 2, 1, 3, 4, 6, 5, 7]
    ]


@pytest.mark.parametrize("n_heads", [1, 2, 3])
def test_the_converters_undo_each_other(n_heads):
    weight = np.random.default_rng(n_heads).normal(size=(5, 24))
    there = half_from_interleaved(weight, n_heads)
    assert np.array_equal(interleaved_from_half(there, n_heads), weight)
    assert not np.array_equal(there, weight)


@pytest.mark.parametrize("convert", [half_from_interleaved,
                                     interleaved_from_half])
@pytest.mark.parametrize("n_heads", [0, 5])
def test_columns_that_are_no_pairs_are_refused(convert, n_heads):
    with pytest.raises(ValueError, match="pass H for wq and G for wk"):
        convert(np.ones((2, 24)), n_heads)
