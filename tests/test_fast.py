"""The fast step is the readable one: every number, and what it refuses."""

import numpy as np
import pytest

from assembled import Config, RopeScaling
from assembled.fast import attention, layers, step
from assembled.fast.room import new_room
from assembled.fast.step import train_step, value_and_grad
from assembled.reference import training
from assembled.reference.loss import (
    cross_entropy_backward,
    cross_entropy_forward,
)
from assembled.reference.model import (
    init_params,
    model_backward,
    model_forward,
)
from assembled.reference.optimizer import adamw_init
from tests.oracles import FLOAT64_AGREES, relative_error

CONFIG = Config(
    vocab_size=11, context_length=150, d_model=24, n_layers=2, n_heads=6,
    n_kv_heads=2, d_ff=20,
)  # fmt: skip


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Cut arrays of a test's size into several pieces, the last one short."""
    monkeypatch.setattr(layers, "ROWS", 7)
    monkeypatch.setattr(layers, "PIECE", 100)
    monkeypatch.setattr(step, "PIECE", 100)


def case(rng, T=9, config=CONFIG, B=2):
    """Return float64 parameters with gains off 1, tokens and targets."""
    params = init_params(config, rng, np.float64)
    for name in params:
        if name.endswith(".gain"):
            params[name] = rng.uniform(0.5, 1.5, params[name].shape)
    return params, *rng.integers(0, config.vocab_size, (2, B, T))


def readable(params, inputs, targets, config=CONFIG):
    logits, cache = model_forward(params, inputs, config)
    loss, loss_cache = cross_entropy_forward(logits, targets)
    return loss, model_backward(cross_entropy_backward(loss_cache), cache)


def check_same(params, inputs, targets, config=CONFIG):
    room = new_room(config, *inputs.shape, np.float64)
    loss, grads = value_and_grad(params, inputs, targets, config, room)
    expected, others = readable(params, inputs, targets, config)
    assert abs(loss - expected) < FLOAT64_AGREES * expected
    assert grads.keys() == others.keys()
    for name, grad in grads.items():
        assert relative_error(grad, others[name]) < FLOAT64_AGREES, name
    return room


@pytest.mark.parametrize("pairing", ["half", "interleaved"])
@pytest.mark.parametrize("n_kv_heads", [1, 2, 6])
@pytest.mark.parametrize("T", [1, 9, attention.BLOCK, 150])
def test_loss_and_every_gradient_equal_the_reference(
    rng, T, n_kv_heads, pairing
):
    config = Config(**vars(CONFIG) | {
        "n_kv_heads": n_kv_heads, "rope_pairing": pairing
    })  # fmt: skip
    room = check_same(*case(rng, T, config), config)
    assert all(kept["safe"].all() for kept in room["layers"])


def test_scaled_rope_equals_the_reference(rng):
    scaling = RopeScaling("yarn", 4.0, 4096)
    config = Config(**vars(CONFIG) | {"rope_scaling": scaling})
    check_same(*case(rng, config=config), config)


def test_large_scores_are_shifted(rng):
    """In a softmax without a shift they would overflow, or vanish."""
    params, inputs, targets = case(rng, 70)
    params["blocks.0.attention.wq"] *= 3000
    room = check_same(params, inputs, targets)
    assert not room["layers"][0]["safe"].any()


def test_the_gradient_is_the_slope(rng):
    params, inputs, targets = case(rng)
    room = new_room(CONFIG, *inputs.shape, np.float64)
    _, grads = value_and_grad(params, inputs, targets, CONFIG, room)
    way = {n: rng.standard_normal(w.shape) for n, w in params.items()}
    slope = sum((way[n] * grads[n]).sum() for n in params)

    def loss_at(distance):
        moved = {n: w + distance * way[n] for n, w in params.items()}
        return value_and_grad(moved, inputs, targets, CONFIG, room)[0]

    h = 1e-5  # error: h² of truncation, 1e-16/h of rounding
    measured = (loss_at(h) - loss_at(-h)) / (2 * h)
    assert abs(measured - slope) < 1e-6 * abs(slope)


def test_steps_equal_the_reference(rng):
    """In one room for all steps: what an earlier one left is not read."""
    params, _, _ = case(rng)
    other = {name: w.copy() for name, w in params.items()}
    state, other_state = adamw_init(params), adamw_init(other)
    room = new_room(CONFIG, 2, 9, np.float64)
    for _ in range(3):
        batch = rng.integers(0, CONFIG.vocab_size, (2, 2, 9))
        loss = train_step(params, state, *batch, CONFIG, 1e-2, room)
        expected = training.train_step(
            other, other_state, *batch, CONFIG, 1e-2
        )
        assert abs(loss - expected) < FLOAT64_AGREES * expected
    assert state["step"] == other_state["step"] == 3
    for name in params:
        assert relative_error(params[name], other[name]) < 1e-8, name
        for moment in ("m", "v"):
            error = relative_error(
                state[moment][name], other_state[moment][name]
            )
            assert error < 1e-8, name


def test_float32_stays_float32(rng):
    params = init_params(CONFIG, rng)
    inputs, targets = rng.integers(0, CONFIG.vocab_size, (2, 2, 9))
    room = new_room(CONFIG, 2, 9)
    _, grads = value_and_grad(params, inputs, targets, CONFIG, room)
    _, others = readable(params, inputs, targets)
    for name, grad in grads.items():
        assert grad.dtype == np.float32
        # 2⁻²⁴ ≈ 6e-8 a rounding, sums of up to 24 terms, two layers.
        assert relative_error(grad, others[name]) < 1e-4, name


def test_a_room_for_others_is_refused(rng):
    params, inputs, targets = case(rng)
    room = new_room(CONFIG, 3, 9, np.float64)
    with pytest.raises(ValueError, match="this room was made for"):
        value_and_grad(params, inputs, targets, CONFIG, room)


@pytest.mark.parametrize(
    "other", [{"norm": "layer"}, {"placement": "post"}, {"tied": True}]
)
def test_another_arrangement_is_refused(other):
    with pytest.raises(ValueError, match="the fast step knows"):
        new_room(Config(**vars(CONFIG) | other), 1, 4)


def test_ignored_targets_are_refused(rng):
    params, inputs, targets = case(rng)
    targets[0, 3] = -100
    room = new_room(CONFIG, *inputs.shape, np.float64)
    with pytest.raises(ValueError, match="targets holds -100"):
        value_and_grad(params, inputs, targets, CONFIG, room)


def test_a_parameter_that_is_a_view_is_refused(rng):
    params, inputs, targets = case(rng)
    params["output.weight"] = params["output.weight"].T.copy().T
    room = new_room(CONFIG, *inputs.shape, np.float64)
    state = adamw_init(params)
    with pytest.raises(ValueError, match="weight does not lie in one"):
        train_step(params, state, inputs, targets, CONFIG, 1e-3, room)
