"""The comparison helpers: what they accept, refuse, and say."""

import numpy as np
import pytest
import sympy as sp

from autograder import checks
from autograder.checks import (
    Mistake,
    check_array,
    check_expression,
    check_function,
    check_integer,
    check_number,
    check_tuple,
)

x, y = sp.symbols("x y", real=True)
p = sp.symbols("p", positive=True)
n = sp.symbols("n", integer=True, positive=True)
A, B = sp.symbols("A B", commutative=False)
f = sp.Function("f")
WANT = np.array([[0.5, 0.25], [0.125, 1.0]])


@pytest.mark.parametrize(
    ("got", "words"),
    [
        (None, "is None: does the function end in `return`?"),
        ([[0.5, 0.25], [0.125, 1.0]], "is a list; return a NumPy array"),
        ("0.5", "is a string"),
        (np.ma.masked_array(WANT, mask=True), "is a masked array"),
        (WANT.astype(object), "has dtype object"),
        (WANT.astype(complex), "is complex"),
        (np.zeros((0, 2)), r"has shape \(0, 2\).* Yours is empty"),
        (np.array([]), "Yours is empty"),
        (np.array([0.5, 0.25]), r"has shape \(2,\); it needs \(2, 2\)"),
        (np.float64(0.5), r"has shape \(\)"),
        (WANT[:, :1], r"has shape \(2, 1\)"),
        (np.full((2, 2), np.nan), r"is nan at index \[0, 0\]"),
        (np.where(WANT == 1, np.inf, WANT), r"is inf at index \[1, 1\]"),
        (-WANT, "has the wrong sign"),
        (WANT.T.copy(), "is transposed"),
        (2 * WANT, "right up to a constant factor"),
        (WANT + np.diag([0, 0.1]), r"wrong in 1 of 4 .* \[1, 1\]"),
        (WANT + np.diag([0, 1e-4]), "close enough: .* is 1e-04, and 1e-06"),
        (WANT**2, "squares every entry"),
    ],
)
def test_a_wrong_array_is_named(got, words):
    with pytest.raises(Mistake, match=words):
        check_array(
            got, WANT, "it", mistakes=[(WANT**2, "it squares every entry.")]
        )


def test_an_array_of_another_kind_is_accepted_within_tolerance():
    check_array(WANT.astype(np.float32), WANT, "it")
    check_array(WANT * (1 + 5e-7), WANT, "it")
    check_array(np.asfortranarray(WANT), WANT, "it")
    check_array(np.zeros(2), np.zeros(2), "zeros")
    with pytest.raises(Mistake, match="dtype float32; it needs float64"):
        check_array(WANT.astype(np.float32), WANT, "it", dtype=np.float64)


def test_a_tensor_is_read_like_an_array():
    torch = pytest.importorskip("torch")
    check_array(torch.tensor(WANT, requires_grad=True), WANT, "it")


def test_a_mistake_that_equals_the_right_answer_never_fires():
    check_array(WANT, WANT, "it", mistakes=[(WANT, "never")])
    with pytest.raises(Mistake, match="wrong in"):
        check_array(WANT + np.eye(2), WANT, "it", mistakes=[(WANT, "never")])


@pytest.mark.parametrize(
    ("got", "words"),
    [
        (None, "is None"),
        (True, "is True or False"),
        (np.array([2.0]), "is a NumPy array"),
        (2 + 0j, "is a complex number"),
        (float("nan"), "is NaN"),
        (float("inf"), "is inf, which is not right"),
        (-2.0, "the sign is wrong"),
        (2.1, "is 2.1, which is not right"),
        (2.000002, "its relative error is 1e-06, and 1e-09 is asked for"),
    ],
)
def test_a_wrong_number_is_named(got, words):
    with pytest.raises(Mistake, match=words):
        check_number(got, 2.0, "it", mistakes=[(-2.0, "the sign is wrong.")])


def test_numbers_of_other_types_are_accepted():
    for two in (2, 2.0, np.float32(2), np.array(2.0), sp.Integer(2)):
        check_number(two, 2.0, "it")
    check_number(-np.inf, -np.inf, "it")
    check_number(0.0, 0.0, "it")


@pytest.mark.parametrize("got", [3.0, True, "3", None, [3], 4])
def test_a_wrong_whole_number_is_refused(got):
    with pytest.raises(Mistake):
        check_integer(got, 3, "it")


def test_whole_numbers_of_other_types_are_accepted():
    for three in (3, np.int8(3), sp.Integer(3)):
        check_integer(three, 3, "it")


def test_a_tuple_must_have_its_parts():
    check_tuple([1, 2], ("a", "b"), "it")
    with pytest.raises(Mistake, match=r"holds 1 values; .* \(a, b\)"):
        check_tuple((1,), ("a", "b"), "it")
    with pytest.raises(Mistake, match=r"return the tuple \(a, b\)"):
        check_tuple(np.zeros(2), ("a", "b"), "it")


def test_a_missing_function_is_named():
    check_function("len", {"len": len})
    with pytest.raises(Mistake, match="no function called g"):
        check_function("g", {"g": 3})


@pytest.mark.parametrize(
    ("got", "want"),
    [
        ((sp.tanh(x / 2) - 1) / 2, -1 / (1 + sp.exp(x))),
        (sp.sin(2 * x), 2 * sp.sin(x) * sp.cos(x)),
        (sp.sqrt(p**2), p),
        (sp.cos(n * sp.pi), (-1) ** n),
        (sp.Sum(sp.binomial(n, sp.Symbol("k", integer=True)),
                (sp.Symbol("k", integer=True), 0, n)), 2**n),
        (sp.Piecewise((x**2, x > 0), (x * x, True)), x**2),
        (sp.Max(x, 0), (x + sp.Abs(x)) / 2),  # mpmath has no such function
        (sp.log(x**2), 2 * sp.log(sp.Abs(x))),
        (sp.factorial(n + 1), (n + 1) * sp.factorial(n)),
        (sp.exp(sp.I * x), sp.cos(x) + sp.I * sp.sin(x)),
        (sp.Subs(sp.exp(y), y, x), sp.exp(x)),
        (sp.UnevaluatedExpr(x) * 2, 2 * x),
        (x + sp.KroneckerDelta(1, 2, evaluate=False), x),
        (0.5 * x, x / 2),
        (1, sp.Integer(1)),
        (np.float64(0.25), sp.Rational(1, 4)),
        ((1 + A) * (1 + B), 1 + A + B + A * B),
        (A * (1 + B * A), (1 + A * B) * A),
        (3 * x * A * 2, 6 * A * x),
        (f(x) ** 2 + 2 * f(x) + 1, (f(x) + 1) ** 2),
        (sp.Derivative(f(x) ** 2, x), 2 * f(x) * f(x).diff(x)),
        (sp.ImmutableMatrix([[x, 1]]), sp.Matrix([[x, sp.exp(0)]])),
        (sp.Identity(2) * 2, 2 * sp.eye(2)),
    ],
)
def test_an_equivalent_expression_is_accepted(got, want):
    check_expression(got, want, "it")


@pytest.mark.parametrize(
    ("got", "want", "words"),
    [
        (None, x, "is None"),
        ("x", x, "is a string; return a SymPy expression"),
        ([x], sp.Matrix([x]), r"is a list; return a SymPy matrix"),
        (sp.Matrix([x]), x, "return a SymPy expression"),
        (sp.sqrt(x**2), x, "not equivalent"),
        (sp.Matrix([[x], [1]]), sp.Matrix([[x, 1]]), "looks transposed"),
        (sp.Matrix([[0, x], [1, 0]]), sp.Matrix([[0, 1], [x, 0]]),
         "is transposed"),
        (sp.Matrix([x, 2]), sp.Matrix([x, 1]),
         r"wrong in 1 of 2 entries; .* \[1, 0\], where you return 2"),
        (x + y, 2 * x, "contains y, which the exercise does not give"),
        (sp.Symbol("x"), x, "only looks like the given one"),
        (-x, x, "has the wrong sign"),
        (sp.Max(x, 0), x, "not equivalent"),
        (p, p + x - x + y, "does not depend on y"),
        (sp.zoo, x, "is not finite"),
        (B * A, A * B, "not equivalent"),
        (1 + A + B, (1 + A) * (1 + B), "keeps the first order"),
        (x + sp.Rational(1, 10**12), x, "not equivalent"),
        (f(x), f(x) + 1, "not equivalent"),
    ],
)
def test_a_wrong_expression_is_named(got, want, words):
    named = [(1 + A + B, "it keeps the first order alone.")]
    with pytest.raises(Mistake, match=words):
        check_expression(got, want, "it", mistakes=named)


def test_a_string_is_never_evaluated(tmp_path):
    trace = tmp_path / "trace"
    with pytest.raises(Mistake, match="is a string"):
        check_expression(f"__import__('os').mkdir('{trace}')", x, "it")
    assert not trace.exists()


def test_the_inputs_follow_the_seed(monkeypatch):
    first = checks.check_rng().normal(size=3)
    assert np.array_equal(first, checks.check_rng().normal(size=3))
    monkeypatch.setattr(checks, "CHECK_SEED", 1)
    assert not np.array_equal(first, checks.check_rng().normal(size=3))


def test_a_notebook_shows_the_sentence_alone():
    shown = Mistake("it is off.")._render_traceback_()
    assert shown == ["Not yet: it is off."]
