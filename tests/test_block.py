"""The residual block, Pre-LN and Post-LN, over the faces."""

import itertools

import numpy as np
import pytest
from torch import tensor

from assembled import Config
from assembled.reference.block import (
    block_backward,
    block_forward,
    under,
    within,
)
from assembled.reference.model import param_shapes
from tests import torch_oracle
from tests.oracles import (
    FLOAT64_AGREES,
    autograd,
    off_centre,
    relative_error,
)

KINDS = list(itertools.product(["pre", "post"], ["rms", "layer"]))
POSITIONS = np.arange(3, 8)


def case(rng, placement, norm):
    """Return a Config, x, off-centre weights by name, and dy."""
    config = Config(
        d_model=12, n_heads=6, n_kv_heads=2, d_ff=20, n_layers=1,
        placement=placement, norm=norm,
    )
    shapes = under(param_shapes(config), "blocks.0.")
    weights = {
        name: off_centre(rng, *shape, mean=0.5) / shape[0] ** 0.5
        for name, shape in shapes.items()
    }
    return config, off_centre(rng, 2, 5, 12), weights, off_centre(
        rng, 2, 5, 12
    )


@pytest.mark.parametrize(("placement", "norm"), KINDS)
def test_block_equals_torch(rng, placement, norm):
    config, x, weights, dy = case(rng, placement, norm)
    y, cache = block_forward(x, weights, config, POSITIONS)
    expected, (want_x, *want) = autograd(
        lambda x, *w: torch_oracle.block(
            x, dict(zip(weights, w, strict=True)), config, tensor(POSITIONS)
        ),
        (x, *weights.values()),
        dy,
    )
    assert relative_error(y, expected) < FLOAT64_AGREES
    dx, grads = block_backward(dy, cache)
    assert relative_error(dx, want_x) < FLOAT64_AGREES
    assert grads.keys() == weights.keys()
    for name, gradient in zip(weights, want, strict=True):
        assert relative_error(grads[name], gradient) < FLOAT64_AGREES, name


def silent(weights):
    """Return the weights with both branches' last matrices at zero."""
    return weights | {
        name: np.zeros_like(weights[name])
        for name in ("attention.wo", "swiglu.w_down")
    }


@pytest.mark.parametrize("norm", ["rms", "layer"])
def test_pre_ln_with_silent_branches_is_the_identity(rng, norm):
    config, x, weights, dy = case(rng, "pre", norm)
    y, cache = block_forward(x, silent(weights), config, POSITIONS)
    assert np.array_equal(y, x)
    assert np.array_equal(block_backward(dy, cache)[0], dy)


def test_post_ln_normalizes_even_with_silent_branches(rng):
    config, x, weights, _ = case(rng, "post", "rms")
    y, _ = block_forward(x, silent(weights), config, POSITIONS)
    for name in ("attention_norm.gain", "swiglu_norm.gain"):
        root = np.sqrt((x * x).mean(-1, keepdims=True) + config.norm_eps)
        x = weights[name] * x / root
    assert relative_error(y, x) < FLOAT64_AGREES


def test_under_and_within_are_inverses():
    weights = {"attention.wq": 1, "attention_norm.gain": 2}
    assert under(weights, "attention.") == {"wq": 1}
    assert within("attention.", {"wq": 1}) == {"attention.wq": 1}
