"""Causal grouped-query attention, over the faces."""

import dataclasses

import numpy as np
import pytest
from torch import tensor

from assembled import Config
from assembled.reference.attention import (
    attention_backward,
    attention_forward,
    mix_forward,
)
from tests import torch_oracle
from tests.oracles import (
    COMPLEX_STEP_AGREES,
    FLOAT64_AGREES,
    autograd,
    complex_step,
    off_centre,
    relative_error,
)

CONFIG = Config(d_model=24, n_heads=6, n_kv_heads=2)  # K 4, R 3, T 5 below
POSITIONS = np.arange(3, 8)
NAMES = ("wq", "wk", "wv", "wo")


def case(rng, config):
    """Return x, the four weights and dy, all off centre."""
    D, H, G, K = (
        config.d_model, config.n_heads, config.n_kv_heads, config.d_k,
    )
    shapes = [(D, H * K), (D, G * K), (D, G * K), (H * K, D)]
    x, dy = off_centre(rng, 2, 5, D, mean=0.5), off_centre(rng, 2, 5, D)
    weights = [off_centre(rng, *s, mean=0.1) / D**0.5 for s in shapes]
    return x, weights, dy


@pytest.mark.parametrize("pairing", ["half", "interleaved"])
@pytest.mark.parametrize("n_kv_heads", [6, 2, 1])
def test_attention_equals_torch(rng, n_kv_heads, pairing):
    config = dataclasses.replace(
        CONFIG, n_kv_heads=n_kv_heads, rope_pairing=pairing
    )
    x, weights, dy = case(rng, config)
    y, cache = attention_forward(
        x, dict(zip(NAMES, weights, strict=True)), config, POSITIONS
    )
    expected, (want_x, *want) = autograd(
        lambda x, *w: torch_oracle.attention(
            x, dict(zip(NAMES, w, strict=True)), config, tensor(POSITIONS)
        ),
        (x, *weights),
        dy,
    )
    assert relative_error(y, expected) < FLOAT64_AGREES
    dx, grads = attention_backward(dy, cache)
    assert relative_error(dx, want_x) < FLOAT64_AGREES
    for name, gradient in zip(NAMES, want, strict=True):
        assert relative_error(grads[name], gradient) < FLOAT64_AGREES, name


def test_attention_equals_complex_step(rng):
    config = Config(d_model=8, n_heads=2, n_kv_heads=1)
    x, weights, dy = case(rng, config)
    named = dict(zip(NAMES, weights, strict=True))
    _, cache = attention_forward(x, named, config, POSITIONS)
    want = complex_step(
        lambda z: (
            attention_forward(z, named, config, POSITIONS)[0] * dy
        ).sum(),
        x,
    )
    got = attention_backward(dy, cache)[0]
    assert relative_error(got, want) < COMPLEX_STEP_AGREES


def test_the_future_does_not_change_one_bit(rng):
    x, weights, _ = case(rng, CONFIG)
    named = dict(zip(NAMES, weights, strict=True))
    y, _ = attention_forward(x, named, CONFIG, POSITIONS)
    changed = x.copy()
    changed[:, 3:] = off_centre(rng, 2, 2, 24)
    z, _ = attention_forward(changed, named, CONFIG, POSITIONS)
    assert np.array_equal(y[:, :3], z[:, :3])
    assert not np.array_equal(y[:, 3:], z[:, 3:])


def test_no_gradient_flows_back_from_the_past(rng):
    x, weights, dy = case(rng, CONFIG)
    named = dict(zip(NAMES, weights, strict=True))
    dy[:, 3:] = 0  # only outputs 0 … 2 count, so inputs 3 and 4 must not
    _, cache = attention_forward(x, named, CONFIG, POSITIONS)
    dx, _ = attention_backward(dy, cache)
    assert (dx[:, 3:] == 0).all() and (dx[:, :3] != 0).all()


def test_query_heads_of_a_group_are_neighbours():
    # H 4, G 2, one token: each head must return its group's own value.
    q, k = np.ones((1, 4, 1, 2)), np.ones((1, 2, 1, 2))
    v = np.array([10.0, 20.0]).reshape(1, 2, 1, 1) * np.ones((1, 2, 1, 2))
    mixed, _ = mix_forward(q, k, v)
    assert mixed[0, :, 0, 0].tolist() == [10, 10, 20, 20]


def test_scores_are_divided_by_the_root_of_the_head_size():
    # The second query scores its keys 0 and 2·√K/√K = 2 apart, K = 4.
    q, k = np.ones((1, 1, 2, 4)), np.zeros((1, 1, 2, 4))
    k[0, 0, 1] = 1
    v = np.zeros((1, 1, 2, 4))
    v[0, 0, 1] = 1
    mixed, _ = mix_forward(q, k, v)
    # Its weight on the second key is the sigmoid of 4/√4 = 2.
    assert mixed[0, 0, 1, 0] == pytest.approx(1 / (1 + np.exp(-2)))


def test_the_first_token_sees_itself_alone(rng):
    q, k, v = (off_centre(rng, 1, 2, 3, 4) for _ in range(3))
    mixed, _ = mix_forward(q, k, v)
    np.testing.assert_allclose(mixed[:, :, 0], v[:, :, 0], rtol=1e-14)
