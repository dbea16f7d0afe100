"""RMSNorm and LayerNorm, over the faces."""

import numpy as np
import pytest
import torch.nn.functional as F

from assembled.reference.norm import (
    layer_norm_backward,
    layer_norm_forward,
    rms_norm_backward,
    rms_norm_forward,
)
from tests.oracles import (
    COMPLEX_STEP_AGREES,
    FLOAT64_AGREES,
    autograd,
    complex_step,
    off_centre,
    relative_error,
)

EPS = 1e-5
SHAPES = [(7,), (3, 6), (2, 5, 8)]


def case(rng, shape):
    """Return off-centre x, a gain and a bias away from 1 and 0, and dy."""
    x, dy = off_centre(rng, *shape), off_centre(rng, *shape)
    gain = off_centre(rng, shape[-1], mean=1.5)
    bias = off_centre(rng, shape[-1], mean=-0.5)
    return x, gain, bias, dy


@pytest.mark.parametrize("shape", SHAPES)
def test_rms_norm_equals_torch(rng, shape):
    x, gain, _, dy = case(rng, shape)
    y, cache = rms_norm_forward(x, gain, EPS)
    expected, gradients = autograd(
        lambda x, g: F.rms_norm(x, x.shape[-1:], g, EPS), (x, gain), dy
    )
    assert relative_error(y, expected) < FLOAT64_AGREES
    for got, want in zip(
        rms_norm_backward(dy, cache), gradients, strict=True
    ):
        assert relative_error(got, want) < FLOAT64_AGREES


@pytest.mark.parametrize("shape", SHAPES)
def test_layer_norm_equals_torch(rng, shape):
    x, gain, bias, dy = case(rng, shape)
    y, cache = layer_norm_forward(x, gain, bias, EPS)
    expected, gradients = autograd(
        lambda x, g, b: F.layer_norm(x, x.shape[-1:], g, b, EPS),
        (x, gain, bias),
        dy,
    )
    assert relative_error(y, expected) < FLOAT64_AGREES
    for got, want in zip(
        layer_norm_backward(dy, cache), gradients, strict=True
    ):
        assert relative_error(got, want) < FLOAT64_AGREES


def test_rms_norm_equals_complex_step(rng):
    x, gain, _, dy = case(rng, (2, 5))
    dx, dgain = rms_norm_backward(dy, rms_norm_forward(x, gain, EPS)[1])
    want_x = complex_step(
        lambda z: (rms_norm_forward(z, gain, EPS)[0] * dy).sum(), x
    )
    want_gain = complex_step(
        lambda z: (rms_norm_forward(x, z, EPS)[0] * dy).sum(), gain
    )
    assert relative_error(dx, want_x) < COMPLEX_STEP_AGREES
    assert relative_error(dgain, want_gain) < COMPLEX_STEP_AGREES


def test_layer_norm_equals_complex_step(rng):
    x, gain, bias, dy = case(rng, (2, 5))
    cache = layer_norm_forward(x, gain, bias, EPS)[1]
    want = complex_step(
        lambda z: (layer_norm_forward(z, gain, bias, EPS)[0] * dy).sum(), x
    )
    dx = layer_norm_backward(dy, cache)[0]
    assert relative_error(dx, want) < COMPLEX_STEP_AGREES


def test_epsilon_stands_inside_the_root():
    x = np.full(8, 1e-3)
    y, _ = rms_norm_forward(x, np.ones(8), 1e-6)
    # mean(x²) = eps, so y = 1/√2; outside the root it would be 0.99900.
    np.testing.assert_allclose(y, np.sqrt(0.5), rtol=1e-12)


def test_layer_norm_epsilon_stands_inside_the_root():
    x = np.array([1e-3, -1e-3])
    y, _ = layer_norm_forward(x, np.ones(2), np.zeros(2), 1e-6)
    np.testing.assert_allclose(y, [np.sqrt(0.5), -np.sqrt(0.5)], rtol=1e-12)


def test_radial_direction_is_lost_but_for_epsilon(rng):
    x = off_centre(rng, 6)
    mean_square = (x * x).mean()
    dx, _ = rms_norm_backward(x, rms_norm_forward(x, np.ones(6), EPS)[1])
    r = np.sqrt(mean_square + EPS)
    # The gain along x itself is ε/(mean(x²) + ε)/r: small, and not zero.
    # What is left is a difference of numbers of size 1, so the bound is
    # absolute: a few 2⁻⁵² on entries of order 1.
    left = EPS / (mean_square + EPS) / r * x
    np.testing.assert_allclose(dx, left, rtol=0, atol=1e-14)


def test_layer_norm_loses_the_constant_and_rms_norm_keeps_it(rng):
    x, dy = off_centre(rng, 6), np.ones(6)
    kept, _ = rms_norm_backward(dy, rms_norm_forward(x, dy, EPS)[1])
    cache = layer_norm_forward(x, dy, np.zeros(6), EPS)[1]
    lost = layer_norm_backward(dy, cache)[0]
    assert np.abs(lost).max() < 1e-13
    assert np.abs(kept).max() > 1e-2


def test_doubling_the_gain_doubles_dx(rng):
    x, gain, _, dy = case(rng, (3, 6))
    once, _ = rms_norm_backward(dy, rms_norm_forward(x, gain, EPS)[1])
    twice, _ = rms_norm_backward(dy, rms_norm_forward(x, 2 * gain, EPS)[1])
    assert relative_error(twice, 2 * once) < FLOAT64_AGREES


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_norms_keep_the_dtype(rng, dtype):
    x, gain, bias, dy = (a.astype(dtype) for a in case(rng, (3, 6)))
    y, cache = rms_norm_forward(x, gain, EPS)
    z, layer_cache = layer_norm_forward(x, gain, bias, EPS)
    gradients = [
        *rms_norm_backward(dy, cache),
        *layer_norm_backward(dy, layer_cache),
    ]
    assert all(array.dtype == dtype for array in [y, z, *gradients])


@pytest.mark.usefixtures("shapes_unchecked")
def test_a_gain_of_the_wrong_width_is_named(rng):
    x = off_centre(rng, 3, 6)
    with pytest.raises(ValueError, match=r"gain has shape \(1,\).*\(6,\)"):
        rms_norm_forward(x, np.ones(1), EPS)
    with pytest.raises(ValueError, match=r"bias has shape \(3, 6\)"):
        layer_norm_forward(x, np.ones(6), x, EPS)


