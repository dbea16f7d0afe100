"""The whole model: logits and every gradient, over the faces."""

import itertools

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from assembled import Config
from assembled.reference.loss import (
    cross_entropy_backward,
    cross_entropy_forward,
)
from assembled.reference.model import (
    empty_cache,
    init_params,
    model_backward,
    model_forward,
    model_step,
    param_shapes,
)
from tests import torch_oracle
from tests.oracles import (
    FLOAT64_AGREES,
    complex_slope,
    off_centre,
    relative_error,
)

# Ten norms, products and softmaxes in a row, each with sums of up to 24
# terms in another order than torch's: the rounding of the parts adds up
# to about ten times that of one block.
WHOLE_MODEL_AGREES = 1e-9

KINDS = list(
    itertools.product(
        ["pre", "post"], ["rms", "layer"], [False, True],
        ["half", "interleaved"],
    )
)
POSITIONS = np.arange(4, 11)  # T 7, not from 0


def make_config(placement="pre", norm="rms", tied=False, pairing="half"):
    return Config(
        vocab_size=11, context_length=9, d_model=12, n_layers=2, n_heads=6,
        n_kv_heads=2, d_ff=20, norm=norm, placement=placement, tied=tied,
        rope_pairing=pairing,
    )


def off_centre_params(rng, config):
    """Return float64 parameters without a zero mean or a gain of 1."""
    return {
        name: off_centre(rng, *shape, mean=0.5) / shape[0] ** 0.5
        for name, shape in param_shapes(config).items()
    }


def case(rng, config):
    """Return parameters, tokens with repeats, and targets, some ignored."""
    params = off_centre_params(rng, config)
    tokens = rng.integers(0, config.vocab_size, (3, 7))
    targets = rng.integers(0, config.vocab_size, (3, 7))
    targets[:, ::4] = -100
    return params, tokens, targets


def loss_and_grads(params, tokens, targets, config):
    logits, cache = model_forward(params, tokens, config, POSITIONS)
    loss, loss_cache = cross_entropy_forward(logits, targets)
    return loss, model_backward(cross_entropy_backward(loss_cache), cache)


@pytest.mark.parametrize(("placement", "norm", "tied", "pairing"), KINDS)
def test_every_gradient_equals_torch(rng, placement, norm, tied, pairing):
    config = make_config(placement, norm, tied, pairing)
    params, tokens, targets = case(rng, config)
    loss, grads = loss_and_grads(params, tokens, targets, config)

    leaves = torch_oracle.as_leaves(params)
    logits = torch_oracle.model(
        leaves, torch.tensor(tokens), config, torch.tensor(POSITIONS)
    )
    expected = F.cross_entropy(
        logits.flatten(0, 1), torch.tensor(targets.ravel())
    )
    want = torch.autograd.grad(expected, list(leaves.values()))

    assert loss == pytest.approx(expected.item(), rel=WHOLE_MODEL_AGREES)
    assert grads.keys() == params.keys()
    for name, gradient in zip(leaves, want, strict=True):
        error = relative_error(grads[name], gradient)
        assert error < WHOLE_MODEL_AGREES, (name, error)


@pytest.mark.parametrize("placement", ["pre", "post"])
@pytest.mark.parametrize("norm", ["rms", "layer"])
def test_every_gradient_equals_complex_step(rng, placement, norm):
    config = make_config(placement, norm, tied=True)
    params, tokens, targets = case(rng, config)
    _, grads = loss_and_grads(params, tokens, targets, config)
    for name, weight in params.items():

        def loss_at(moved, name=name):
            logits, _ = model_forward(
                params | {name: moved}, tokens, config, POSITIONS
            )
            return cross_entropy_forward(logits, targets)[0]

        # One direction through all entries: a wrong one shows in the sum.
        direction = rng.normal(size=weight.shape)
        slope = complex_slope(loss_at, weight, direction)
        got = (grads[name] * direction).sum()
        assert got == pytest.approx(slope, rel=WHOLE_MODEL_AGREES), name


@pytest.mark.parametrize("placement", ["pre", "post"])
def test_the_future_does_not_change_one_bit(rng, placement):
    config = make_config(placement)
    params, tokens, _ = case(rng, config)
    logits, _ = model_forward(params, tokens, config)
    changed = tokens.copy()
    changed[:, 5:] = (tokens[:, 5:] + 1) % config.vocab_size
    moved, _ = model_forward(params, changed, config)
    assert np.array_equal(logits[:, :5], moved[:, :5])
    assert not np.array_equal(logits[:, 5:], moved[:, 5:])


def test_a_shift_of_all_positions_changes_nothing(rng):
    config = make_config()
    params, tokens, _ = case(rng, config)
    near, _ = model_forward(params, tokens, config)  # from 0
    far, _ = model_forward(params, tokens, config, np.arange(50, 57))
    stretched, _ = model_forward(params, tokens, config, 2 * np.arange(7))
    assert relative_error(far, near) < WHOLE_MODEL_AGREES
    assert relative_error(stretched, near) > 1e-3


def test_pre_ln_ends_in_one_norm_so_the_stream_has_no_scale(rng):
    config = make_config()
    params, tokens, _ = case(rng, config)
    silent = {
        name: w * (0 if name.endswith((".wo", ".w_down")) else 1)
        for name, w in params.items()
    }
    logits, _ = model_forward(silent, tokens, config)
    ten = silent | {"embedding.weight": 10 * silent["embedding.weight"]}
    scaled, _ = model_forward(ten, tokens, config)
    # ε weighs 1e-5 against a mean square of order 0.1.
    assert relative_error(scaled, logits) < 1e-3


def test_float32_follows_float64_and_stays_float32(rng):
    config = make_config()
    params, tokens, targets = case(rng, config)
    loss, grads = loss_and_grads(params, tokens, targets, config)
    narrow = {name: w.astype(np.float32) for name, w in params.items()}
    loss32, grads32 = loss_and_grads(narrow, tokens, targets, config)
    # 2⁻²⁴ ≈ 6e-8 a rounding, and the 1e9/1e10 of the float64 tests above
    # times the ratio of the two precisions gives a few 1e-4 at the worst.
    assert loss32 == pytest.approx(loss, rel=1e-5)
    assert loss32.dtype == np.float32
    for name, gradient in grads32.items():
        assert gradient.dtype == np.float32, name
        assert relative_error(gradient, grads[name]) < 1e-3, name


def test_fresh_parameters_are_seeded_and_predict_nothing():
    config = Config(vocab_size=50)
    params = init_params(config, np.random.default_rng(3))
    again = init_params(config, np.random.default_rng(3))
    assert all(np.array_equal(params[name], again[name]) for name in params)
    assert all(w.dtype == np.float32 for w in params.values())
    assert {n: w.shape for n, w in params.items()} == param_shapes(config)


def test_bad_parameters_are_named(rng):
    config = make_config()
    params, tokens, _ = case(rng, config)
    gone = {n: w for n, w in params.items() if n != "final_norm.gain"}
    with pytest.raises(ValueError, match="params lack 'final_norm"):
        model_forward(gone, tokens, config)
    with pytest.raises(ValueError, match="hold 'extra'"):
        model_forward(params | {"extra": np.ones(1)}, tokens, config)
    wrong = params | {"blocks.1.attention.wk": np.ones((4, 12))}
    with pytest.raises(ValueError, match=r"attention.wk has shape \(4, 12\)"):
        model_forward(wrong, tokens, config)
    holed = params["blocks.0.swiglu.w_up"].copy()
    holed[0, 0] = np.nan
    wrong = params | {"blocks.0.swiglu.w_up": holed}
    with pytest.raises(ValueError, match="w_up holds a value that is not fi"):
        model_forward(wrong, tokens, config)


def test_bad_tokens_are_named(rng):
    config = make_config()
    params, _, _ = case(rng, config)
    with pytest.raises(ValueError, match="tokens holds 11"):
        model_forward(params, np.array([[11]]), config)
    with pytest.raises(ValueError, match=r"T=10 .*context_length=9"):
        model_forward(params, np.zeros((1, 10), int), config)
    with pytest.raises(ValueError, match="T=0"):
        model_forward(params, np.zeros((1, 0), int), config)


@pytest.mark.parametrize(("placement", "norm", "tied", "pairing"), KINDS)
def test_steps_with_a_cache_equal_the_full_forward(
    rng, placement, norm, tied, pairing
):
    config = make_config(placement, norm, tied, pairing)
    params = off_centre_params(rng, config)
    tokens = rng.integers(0, config.vocab_size, (3, 9))
    cache = empty_cache(params, config, 3)
    for begin, end in ((0, 4), (4, 5), (5, 6), (6, 9)):  # a prompt, steps
        logits = model_step(params, tokens[:, begin:end], config, cache)
        full, _ = model_forward(params, tokens[:, :end], config)
        assert relative_error(logits, full[:, begin:]) < FLOAT64_AGREES
    assert cache["length"] == 9


def test_a_full_cache_says_so(rng):
    config = make_config()
    params = off_centre_params(rng, config)
    cache = empty_cache(params, config, 1)
    tokens = rng.integers(0, config.vocab_size, (1, 8))
    model_step(params, tokens, config, cache)
    with pytest.raises(ValueError, match=r"8 of 9 .* no room for 2 more"):
        model_step(params, tokens[:, :2], config, cache)
    model_step(params, tokens[:, :1], config, cache)  # nothing was lost
    with pytest.raises(ValueError, match=r"lack .output\.weight"):
        empty_cache({k: v for k, v in params.items() if k[0] != "o"},
                    config, 1)
