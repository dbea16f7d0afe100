"""SwiGLU, over the faces."""

import numpy as np
import pytest

from assembled.reference.swiglu import (
    sigmoid,
    swiglu_backward,
    swiglu_forward,
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


def case(rng, *rows):
    """Return x, w_gate, w_up, w_down with D 6 and F 10, and dy."""
    shapes = [(*rows, 6), (6, 10), (6, 10), (10, 6)]
    arrays = [off_centre(rng, *shape, mean=0.3) for shape in shapes]
    return arrays, off_centre(rng, *rows, 6)


@pytest.mark.parametrize("rows", [(), (4,), (2, 3)])
def test_swiglu_equals_torch(rng, rows):
    arrays, dy = case(rng, *rows)
    y, cache = swiglu_forward(*arrays)
    expected, gradients = autograd(torch_oracle.swiglu, arrays, dy)
    assert relative_error(y, expected) < FLOAT64_AGREES
    for got, want in zip(swiglu_backward(dy, cache), gradients, strict=True):
        assert relative_error(got, want) < FLOAT64_AGREES


def test_swiglu_equals_complex_step(rng):
    (x, *weights), dy = case(rng, 3)
    want = complex_step(
        lambda z: (swiglu_forward(z, *weights)[0] * dy).sum(), x
    )
    dx = swiglu_backward(dy, swiglu_forward(x, *weights)[1])[0]
    assert relative_error(dx, want) < COMPLEX_STEP_AGREES


def test_the_gate_and_not_the_product_goes_through_silu():
    one = np.ones((1, 1))
    y, _ = swiglu_forward(one, 2 * one, -one, one)
    # −silu(2) = −2/(1 + e⁻²); swapped −0.5379, silu of the product −0.2384
    assert y.item() == pytest.approx(-2 / (1 + np.exp(-2)))


def test_sigmoid_does_not_overflow_in_float32():
    z = np.array([-1e4, -90, 0, 90, 1e4], dtype=np.float32)
    s = sigmoid(z)
    assert s.dtype == np.float32
    np.testing.assert_allclose(s, [0, 0, 0.5, 1, 1], atol=2**-24)
