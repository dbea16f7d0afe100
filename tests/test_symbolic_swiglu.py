"""SwiGLU, cross-entropy, embedding and the depth gains, in symbols."""

import numpy as np
import pytest
import sympy as sp

from assembled.reference import swiglu as swiglu_numpy
from assembled.symbolic import embedding, loss, model, softmax, swiglu
from assembled.symbolic.proof import prove_equal

z = swiglu.z
half = sp.Rational(1, 2)


def matrix(name, rows, cols):
    return sp.Matrix(rows, cols,
                     lambda r, c: sp.Symbol(f"{name}{r}{c}", real=True))


def test_silu_derivative():
    prove_equal(sp.diff(swiglu.silu(), z), swiglu.silu_derivative())


def test_the_minimum_of_silu_is_one():
    where, value = swiglu.silu_minimum()
    assert abs(swiglu.silu_derivative().subs(z, where).n(30)) < 1e-25
    assert abs(swiglu.silu().subs(z, where).n(30) - value.n(30)) < 1e-25
    nearby = [swiglu.silu().subs(z, where.n() + d).n() for d in (-0.1, 0.1)]
    assert min(nearby) > value.n()


def test_small_inputs_are_multiplied():
    a, b, t = sp.symbols("a b t", real=True)
    prove_equal(swiglu.small_input(a, b, t), t**2 * a * b / 2)


def test_swiglu_jacobian_by_differentiation():
    """One hidden unit; more units add up, as the output is their sum."""
    x = matrix("x", 1, 2)
    weights = matrix("g", 2, 1), matrix("u", 2, 1), matrix("w", 1, 2)
    computed = swiglu.swiglu(x, *weights).jacobian(x)
    prove_equal(computed, swiglu.swiglu_jacobian(x, *weights))
    swapped = swiglu.swiglu_jacobian(x, weights[1], weights[0], weights[2])
    with pytest.raises(AssertionError, match="false"):
        prove_equal(computed, swapped)


def test_swiglu_gradients_by_differentiation():
    """Of dy · y; one hidden unit, as above."""
    x, dy = matrix("x", 1, 2), matrix("dy", 1, 2)
    weights = matrix("g", 2, 1), matrix("u", 2, 1), matrix("w", 1, 2)
    number = swiglu.swiglu(x, *weights).dot(dy)
    claims = swiglu.swiglu_gradients(dy, x, *weights)
    for by, claim in zip((x, *weights), claims, strict=True):
        prove_equal(by.applyfunc(number.diff), claim)


def test_all_numpy_gradients_of_swiglu_are_the_symbolic_ones():
    D, F = 3, 4
    x, dy = matrix("x", 1, D), matrix("dy", 1, D)
    weights = matrix("g", D, F), matrix("u", D, F), matrix("w", F, D)
    formulas = sp.lambdify((dy, x, *weights),
                           swiglu.swiglu_gradients(dy, x, *weights))
    rng = np.random.default_rng(4)
    numbers = [rng.normal(size=a.shape) for a in (dy, x, *weights)]
    _, cache = swiglu_numpy.swiglu_forward(*numbers[1:])
    ours = swiglu_numpy.swiglu_backward(numbers[0], cache)
    wanted = formulas(*(a.ravel() for a in numbers))
    for got, want in zip(ours, wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-13)


def test_swiglu_jacobian_adds_up_over_hidden_units():
    x = matrix("x", 1, 1)
    gate, up, down = matrix("g", 1, 2), matrix("u", 1, 2), matrix("w", 2, 1)
    units = (
        swiglu.swiglu_jacobian(x, gate[:, f], up[:, f], down[f, :])
        for f in range(2)
    )
    total = sum(units, sp.zeros(1))
    prove_equal(swiglu.swiglu_jacobian(x, gate, up, down), total)


def test_matched_width_is_two_thirds():
    F_mlp = sp.Symbol("F_mlp", positive=True)
    prove_equal(swiglu.matched_width(), 2 * F_mlp / 3)


def test_the_numpy_swiglu_is_the_symbolic_one():
    D, F = 3, 4
    x = matrix("x", 1, D)
    weights = matrix("g", D, F), matrix("u", D, F), matrix("w", F, D)
    jacobian = sp.lambdify(
        (x, *weights), swiglu.swiglu_jacobian(x, *weights)
    )
    rng = np.random.default_rng(3)
    for _ in range(3):
        at = rng.normal(size=(1, D))
        numbers = [rng.normal(size=w.shape) for w in weights]
        dy = rng.normal(size=(1, D))
        _, cache = swiglu_numpy.swiglu_forward(at, *numbers)
        dx = swiglu_numpy.swiglu_backward(dy, cache)[0]
        flat = (a.ravel() for a in (at, *numbers))
        want = dy @ jacobian(*flat)
        np.testing.assert_allclose(dx, want, rtol=1e-11, atol=1e-13)


def test_cross_entropy_gradient_for_every_vocabulary():
    claimed = loss.softmax_entry() - sp.KroneckerDelta(loss.j, loss.y)
    prove_equal(loss.gradient_entry(), claimed)


def test_cross_entropy_hessian_is_the_jacobian_of_softmax():
    i, j = loss.i, loss.j
    y_i, y_j = loss.softmax_entry(i), loss.softmax_entry(j)
    claimed = y_j * (sp.KroneckerDelta(i, j) - y_i)
    prove_equal(loss.hessian_entry(), claimed)

    logits = matrix("z", 1, 3)
    computed = sp.hessian(loss.mean_cross_entropy(logits, [2]), list(logits))
    p = softmax.softmax(logits.T)
    prove_equal(computed, softmax.softmax_jacobian(p))


def test_ignored_tokens_have_no_gradient_and_no_weight():
    logits = matrix("z", 3, 2)
    targets = [1, -100, 0]
    mean = loss.mean_cross_entropy(logits, targets, ignore=-100)
    for r, target in enumerate(targets):
        total = sum(sp.exp(u) for u in logits.row(r))
        for v in range(2):
            hot = int(v == target)
            share = (sp.exp(logits[r, v]) / total - hot) / 2
            claimed = 0 if target == -100 else share
            prove_equal(sp.diff(mean, logits[r, v]), sp.sympify(claimed))


def test_the_embedding_gradient_scatter_adds():
    tokens, table = [2, 0, 2, 2], matrix("e", 4, 3)
    dy = matrix("dy", 4, 3)
    computed = embedding.embedding_gradient(tokens, table, dy)
    prove_equal(computed, embedding.scatter_add(tokens, 4, dy))
    prove_equal(computed, embedding.one_hot(tokens, 4).T * dy)
    assert computed.row(1).is_zero_matrix


def test_the_gains_of_homogeneous_branches_are_equal():
    assert model.mlp_gains(z) == (1, 1)
    assert model.mlp_gains(sp.Max(z, 0)) == (half, half)
    assert model.post_ln_factor(half, half) == 1


@pytest.mark.slow  # two numeric integrals by SymPy
def test_swiglu_gains_agree_with_gauss_quadrature():
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    weights = weights / np.sqrt(2 * np.pi)
    s = 1 / (1 + np.exp(-nodes))
    silu_square = weights @ (nodes * s) ** 2
    slope_square = weights @ (s * (1 + nodes * (1 - s))) ** 2
    f, J = (float(v.evalf(15)) for v in model.swiglu_gains())
    assert f == pytest.approx(silu_square, rel=1e-10)
    assert J == pytest.approx(silu_square + slope_square, rel=1e-10)


def test_pre_ln_total_is_the_product_of_its_factors():
    f, J = sp.Rational(1, 3), sp.Rational(3, 4)
    for depth in (1, 2, 5):
        product = sp.prod(model.pre_ln_factor(l, f, J) for l in range(depth))
        prove_equal(model.pre_ln_total(depth, f, J), product)


def test_pre_ln_total_step_for_any_depth():
    n, f, J = model.n, model.chi_f, model.chi_J
    step = model.pre_ln_total(n + 1) ** 2 / model.pre_ln_total(n) ** 2
    prove_equal(sp.gammasimp(step), model.pre_ln_factor(n, f, J) ** 2)


def test_pre_ln_grows_as_the_stated_power():
    f, J = 0.35, 0.73
    small, large = (float(model.pre_ln_total(L, f, J)) for L in (1e4, 2e4))
    slope = np.log2(large / small)
    assert slope == pytest.approx(float(model.pre_ln_exponent(f, J)), abs=1e-3)


def test_gains_of_gelu_that_the_page_states():
    """A practice solution states them; 120 nodes give ten digits."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(120)
    weights = weights / np.sqrt(2 * np.pi)
    gelu = z * (1 + sp.erf(z / sp.sqrt(2))) / 2
    square, slope = (
        np.array([float(e.subs(z, v)) for v in nodes]) ** 2
        for e in (gelu, sp.diff(gelu, z))
    )
    f, J = weights @ square, weights @ slope
    assert (round(f, 4), round(J, 4)) == (0.4252, 0.4559)
    rate = float(model.post_ln_factor(f, J))
    assert round(rate, 4) == 1.0107
    assert round(rate**96, 1) == 2.8


def test_the_constant_part_explains_softplus():
    """χ_J − χ_f = −a₀² + a₂² + 2 a₃² + …, from Hermite coefficients."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(120)
    weights = weights / np.sqrt(2 * np.pi)
    phi, slope = np.logaddexp(0, nodes), 1 / (1 + np.exp(-nodes))
    gap = weights @ slope**2 - weights @ phi**2
    basis = np.polynomial.hermite_e.hermevander(nodes, 20)
    sizes = np.cumprod([1, *range(1, 21)]) ** 0.5  # √k!
    a = (weights * phi) @ basis / sizes
    assert gap == pytest.approx((np.arange(21) - 1) @ a**2, rel=1e-6)
    assert round(a[0], 2) == 0.81
    assert gap < 0
