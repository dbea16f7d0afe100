"""RMSNorm's and LayerNorm's Jacobians: for every d, and at small d."""

import numpy as np
import pytest
import sympy as sp

from assembled.reference import norm as norm_numpy
from assembled.symbolic import norm
from assembled.symbolic.proof import prove_equal

SIZES = (2, 3, 4, 5)
LARGEST = pytest.param(5, marks=pytest.mark.slow)


def column(name, size):
    return sp.Matrix(sp.symbols(f"{name}:{size}", real=True))


def explicit(entry, size, values, row, col):
    """The general entry, at one d and one (i, j), on numbers."""
    placed = entry.subs({norm.d: size, norm.i: row, norm.j: col}).doit()
    return placed.subs({
        norm.x[q]: values["x"][q] for q in range(size)
    } | {norm.g[q]: values["g"][q] for q in range(size)}
      | {norm.epsilon: values["eps"]})


def some_values(size):
    return {
        "x": [sp.Rational(3 * q * q - 7 * q + 5, 4) for q in range(size)],
        "g": [sp.Rational(2 * q - 3, 5) for q in range(size)],
        "eps": sp.Rational(1, 7),
    }


def test_rms_norm_jacobian_for_every_width():
    computed = norm.differentiate(norm.rms_norm_entry())
    prove_equal(computed, norm.rms_norm_jacobian_entry())


def test_layer_norm_jacobian_for_every_width():
    computed = norm.differentiate(norm.layer_norm_entry())
    prove_equal(computed, norm.layer_norm_jacobian_entry())


def test_a_forgotten_mean_is_refused():
    wrong = norm.layer_norm_jacobian_entry() + norm.g[norm.i] / (
        norm.d * norm.deviation())
    with pytest.raises(AssertionError, match="claim"):
        prove_equal(norm.differentiate(norm.layer_norm_entry()), wrong)


@pytest.mark.parametrize("size", SIZES)
def test_the_general_variance_is_the_variance(size):
    x = column("x", size)
    mean = sum(x) / size
    direct = sum((u - mean) ** 2 for u in x) / size
    general = norm.variance().subs(norm.d, size).doit()
    prove_equal(
        general.subs({norm.x[q]: x[q] for q in range(size)}), direct
    )


@pytest.mark.parametrize("size", (2, 3, 4, LARGEST))
def test_general_entries_are_the_explicit_jacobians(size):
    values = some_values(size)
    x, g = sp.Matrix(values["x"]), sp.Matrix(values["g"])
    rms = norm.rms_norm_jacobian(x, g, values["eps"])
    layer = norm.layer_norm_jacobian(x, g, values["eps"])
    for row in range(size):
        for col in range(size):
            at = (size, values, row, col)
            prove_equal(
                explicit(norm.rms_norm_jacobian_entry(), *at), rms[row, col]
            )
            prove_equal(
                explicit(norm.layer_norm_jacobian_entry(), *at),
                layer[row, col],
            )


@pytest.mark.parametrize("size", (2, 3))
def test_explicit_jacobians_are_the_derivatives(size):
    x, g, b = (column(name, size) for name in "xgb")
    at = dict(zip([*x, *g], [*some_values(size)["x"],
                             *some_values(size)["g"]], strict=True))
    computed = norm.rms_norm(x, g).jacobian(x).subs(at)
    prove_equal(computed, norm.rms_norm_jacobian(x, g).subs(at))
    computed = norm.layer_norm(x, g, b).jacobian(x).subs(at)
    prove_equal(computed, norm.layer_norm_jacobian(x, g).subs(at))


@pytest.mark.parametrize("size", SIZES)
def test_null_directions(size):
    """At ε = 0 RMSNorm forgets one direction, LayerNorm two."""
    x, one = sp.Matrix(some_values(size)["x"]), sp.ones(size, 1)
    rms = norm.rms_norm_jacobian(x, one, 0)
    assert rms.rank() == size - 1
    prove_equal(rms * x, sp.zeros(size, 1))
    layer = norm.layer_norm_jacobian(x, one, 0)
    assert layer.rank() == size - 2
    prove_equal(layer * x, sp.zeros(size, 1))
    prove_equal(layer * one, sp.zeros(size, 1))


def test_radial_gain_is_what_the_jacobian_does_along_x():
    x, one = sp.Matrix([3, -1, 2]), sp.ones(3, 1)
    ms = sp.Symbol("ms", positive=True)
    factor = norm.radial_gain().subs(ms, sp.Rational(14, 3))
    prove_equal(norm.rms_norm_jacobian(x, one) * x, factor * x)
    assert norm.radial_gain().subs(norm.epsilon, 0) == 0


def test_the_numpy_backward_is_the_symbolic_jacobian():
    """dx = Jᵀ dy, at random points far from the origin."""
    size, eps = 5, 1e-2
    x, g = (column(name, size) for name in "xg")
    rng = np.random.default_rng(2)
    jacobians = {
        "rms": sp.lambdify((x, g), norm.rms_norm_jacobian(x, g, eps)),
        "layer": sp.lambdify((x, g), norm.layer_norm_jacobian(x, g, eps)),
    }
    for _ in range(4):
        at, gain, bias, dy = rng.normal(size=(4, size))
        at = 3 * at + 8
        _, cache = norm_numpy.rms_norm_forward(at[None], gain, eps)
        dx = norm_numpy.rms_norm_backward(dy[None], cache)[0][0]
        want = jacobians["rms"](at, gain).T @ dy
        np.testing.assert_allclose(dx, want, rtol=1e-11, atol=1e-13)
        _, cache = norm_numpy.layer_norm_forward(at[None], gain, bias, eps)
        dx = norm_numpy.layer_norm_backward(dy[None], cache)[0][0]
        want = jacobians["layer"](at, gain).T @ dy
        np.testing.assert_allclose(dx, want, rtol=1e-11, atol=1e-13)
