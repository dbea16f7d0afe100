"""Gradients by two roads that share no code with the library.

Torch's autograd on formulas written in the tests, and the complex step,
which knows nothing of torch. `relative_error` measures the agreement.
"""

import numpy as np
import torch

# Float64 carries 2⁻⁵² ≈ 2e-16. The sums in these tests have fewer than 1e3
# terms, and no step magnifies a relative error by more than about 1e2.
FLOAT64_AGREES = 1e-10
# A complex step has no cancellation, so only rounding remains.
COMPLEX_STEP_AGREES = 1e-10


def relative_error(got, expected):
    """Return max |got − expected| over max |expected|; shapes must agree."""
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.shape == expected.shape, (got.shape, expected.shape)
    scale = np.abs(expected).max()
    return np.abs(got - expected).max() / (scale if scale > 0 else 1.0)


def off_centre(rng, *shape, mean=2.0):
    """Return float64 input whose mean is not zero: zero hides bugs."""
    return mean + rng.normal(size=shape)


def autograd(function, arrays, dy):
    """Return torch's y and the gradients of Σ dy·y, as NumPy arrays."""
    leaves = [torch.tensor(a, requires_grad=True) for a in arrays]
    y = function(*leaves)
    gradients = torch.autograd.grad((y * torch.tensor(dy)).sum(), leaves)
    return y.detach().numpy(), [g.numpy() for g in gradients]


def complex_step(function, array):
    """Return the gradient of a real scalar `function`, entry by entry.

    The imaginary part of f(x + ih)/h is f'(x) without any subtraction
    (Squire and Trapp 1998).
    """
    step = 1e-30
    gradient = np.empty(array.shape)
    for index in np.ndindex(array.shape):
        moved = array.astype(complex)
        moved[index] += 1j * step
        gradient[index] = function(moved).imag / step
    return gradient


def complex_slope(function, array, direction):
    """Return the slope of a real scalar `function` along `direction`."""
    step = 1e-30
    return function(array + 1j * step * direction).imag / step
