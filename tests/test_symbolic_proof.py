"""prove_equal accepts true identities, refuses false ones, says which."""

import pytest
import sympy as sp

from assembled.symbolic.proof import prove_equal

x, y = sp.symbols("x y", real=True)
p = sp.Symbol("p", positive=True)
n = sp.Symbol("n", integer=True, nonnegative=True)
J, N = sp.symbols("J N", commutative=False)

TRUE = {
    "polynomial": ((x + y) ** 2, x**2 + 2 * x * y + y**2),
    "angles": (sp.cos(x - y), sp.cos(x) * sp.cos(y) + sp.sin(x) * sp.sin(y)),
    "double angle": (sp.sin(2 * x), 2 * sp.sin(x) * sp.cos(x)),
    "complex": (sp.exp(sp.I * x) * sp.exp(-sp.I * y), sp.exp(sp.I * (x - y))),
    "tanh": (1 / (1 + sp.exp(-x)), (1 + sp.tanh(x / 2)) / 2),
    "root": (1 / (1 + sp.sqrt(p)), (1 - sp.sqrt(p)) / (1 - p)),
    "nested root": (sp.sqrt(3 + 2 * sp.sqrt(2)), 1 + sp.sqrt(2)),
    "power": ((1 + x) ** (n + 1), (1 + x) * (1 + x) ** n),
    "absolute": (sp.sqrt(x**2), sp.Abs(x)),
    "ordered": ((1 + J) * (1 + N), 1 + J + N + J * N),
    "log": (sp.log(p**2 * sp.E), 1 + 2 * sp.log(p)),
}
FALSE = {
    "first order": ((1 + x) * (1 + y), 1 + x + y),
    "order": (J * N, N * J),
    "sign": (sp.sqrt(x**2), x),
    "small": (x, x * (1 + sp.Rational(1, 10**9))),
    "angle": (sp.cos(x - y), sp.cos(x - y) + sp.Rational(1, 10**6)),
    "constant": (sp.Integer(1), sp.Integer(2)),
    "not a number": (sp.nan, sp.nan),
}


@pytest.mark.parametrize("name", TRUE)
def test_true_identities_are_proved(name):
    computed, claimed = TRUE[name]
    assert prove_equal(computed, claimed) is computed


@pytest.mark.parametrize("name", FALSE)
def test_false_identities_are_refused(name):
    with pytest.raises(AssertionError, match="the claim is"):
        prove_equal(*FALSE[name])


k, j = sp.symbols("k j", integer=True, nonnegative=True)
v, z = sp.IndexedBase("v"), sp.IndexedBase("z")
total = sp.Sum(sp.exp(z[k]), (k, 0, n - 1))
weighted = sp.Sum(v[k] * sp.exp(z[k]), (k, 0, n - 1))
mean_pull = sp.exp(z[j]) * (v[j] / total - weighted / total**2)


def test_an_entry_keeps_its_sign():
    w = sp.IndexedBase("w", positive=True)
    six = [w[place] for place in range(6)]
    prove_equal(sp.log(sp.prod(six)), sum(map(sp.log, six)))
    with pytest.raises(AssertionError, match="the claim is false"):
        prove_equal(sp.sqrt(v[k] ** 2), v[k])


def test_a_false_sum_of_any_size_is_called_false():
    prove_equal(mean_pull, sp.expand(mean_pull))
    with pytest.raises(AssertionError, match="the claim is false"):
        prove_equal(mean_pull, 2 * mean_pull)
    with pytest.raises(AssertionError, match="the claim is false"):
        prove_equal(total, total + sp.exp(z[j]))


def test_a_false_sum_that_sympy_stumbles_over_is_refused():
    f = sp.Function("f")(x)  # has no number: the exact routes stand alone
    with pytest.raises(AssertionError, match="not proved"):
        prove_equal(f * mean_pull, 2 * f * mean_pull)


def test_matrices_are_compared_entry_by_entry():
    good = sp.Matrix([[x, 1], [0, (1 + x) ** 2]])
    prove_equal(good, good.expand())
    with pytest.raises(AssertionError, match="false"):
        prove_equal(good, good + sp.Matrix([[0, 0], [0, x]]))


@pytest.mark.parametrize("claimed", [sp.zeros(2, 1), sp.zeros(1, 2), 0])
def test_a_wrong_shape_is_named(claimed):
    with pytest.raises(AssertionError, match="shape"):
        prove_equal(sp.zeros(2, 2), claimed)


def test_strings_are_refused():
    with pytest.raises(TypeError, match="string"):
        prove_equal(x, "x")


def test_a_simplifier_that_lies_is_caught(monkeypatch):
    """The second witness: the values at random points."""
    monkeypatch.setattr(sp, "simplify", lambda e: sp.Integer(0))
    with pytest.raises(AssertionError, match="false"):
        prove_equal(sp.cos(x), sp.sin(x))


def test_true_but_unproved_is_not_called_false(monkeypatch):
    for route in ("simplify", "expand", "radsimp"):
        monkeypatch.setattr(sp, route, lambda e, **_: e)
    with pytest.raises(AssertionError, match="not proved"):
        prove_equal((x + 1) ** 2, x**2 + 2 * x + 1)
