"""Comparison helpers of the exercises' test cells.

A release copies this file into one locked cell of each notebook, so it
needs only numpy and sympy, which brings mpmath. Every helper compares in
stages (type, shape, dtype, finite, value) and stops at the first that
fails, in a sentence.
"""

import mpmath
import numpy as np
import sympy as sp

WAITING = (  # what evalf leaves as it is until `doit`
    sp.Derivative, sp.Integral, sp.Sum, sp.Product, sp.Limit,
    sp.Subs, sp.KroneckerDelta,
)
UNKNOWN = sp.core.function.AppliedUndef  # f(x) of a function without a rule
PLAIN = {  # what mpmath computes; the rest is SymPy's
    sp.Add: lambda *parts: mpmath.fsum(parts),
    sp.Mul: lambda *parts: mpmath.fprod(parts),
    sp.Pow: mpmath.power,
    **{f: getattr(mpmath, f.__name__) for f in (
        sp.exp, sp.log, sp.sin, sp.cos, sp.tan, sp.sinh, sp.cosh, sp.tanh,
    )},
}  # fmt: skip
DIGITS = 50  # of values; two answers must agree in 18
CHECK_SEED = 20260  # fixed in Colab; grading draws its own and records it


class Mistake(AssertionError):
    """A wrong answer; the message names the likely mistake."""

    def _render_traceback_(self):
        return [f"Not yet: {self}"]  # in a notebook the sentence is enough


def check_rng():
    """Return the generator that draws the inputs of a check."""
    return np.random.default_rng(CHECK_SEED)


def check_function(name, namespace):
    """Check that `namespace` holds a function called `name`."""
    if not callable(namespace.get(name)):
        raise Mistake(
            f"there is no function called {name}: run the cell with your "
            "answer first, and keep the name that the exercise gives."
        )


def check_tuple(got, parts, name):
    """Check that `got` is a tuple or list with one entry a part."""
    _refuse_none(got, name)
    wanted = f"({', '.join(parts)})"
    if not isinstance(got, (tuple, list)):
        raise Mistake(
            f"{name} is {_kind(got)}; return the tuple {wanted}."
        )
    if len(got) != len(parts):
        raise Mistake(
            f"{name} holds {len(got)} values; return these "
            f"{len(parts)}: {wanted}."
        )


def check_integer(got, want, name, mistakes=()):
    """Check one whole number; `mistakes` holds (wrong number, message)."""
    _refuse_none(got, name)
    whole = (int, np.integer, sp.Integer)
    if isinstance(got, np.ndarray) and got.shape == ():
        got = got[()]
    if isinstance(got, (bool, np.bool_)) or not isinstance(got, whole):
        raise Mistake(f"{name} is {_kind(got)}; return a whole number.")
    if int(got) == int(want):
        return
    for wrong, message in mistakes:
        if int(got) == int(wrong) != int(want):
            raise Mistake(f"{name}: {message}")
    raise Mistake(f"{name} is {int(got)}, which is not right.")


def check_number(got, want, name, rtol=1e-9, mistakes=()):
    """Check one real number to `rtol`; an infinity must be that infinity."""
    _refuse_none(got, name)
    scalar = (int, float, np.integer, np.floating, sp.Number)
    if isinstance(got, np.ndarray) and got.shape == ():
        got = got[()]
    if isinstance(got, (bool, np.bool_)) or not isinstance(got, scalar):
        raise Mistake(f"{name} is {_kind(got)}; return one real number.")
    got = float(got)
    if _same_number(got, want, rtol):
        return
    for wrong, message in mistakes:
        if _same_number(got, wrong, rtol):
            raise Mistake(f"{name}: {message}")
    if np.isnan(got):
        raise Mistake(f"{name} is NaN: something divides 0 by 0 or takes "
                      "the logarithm of a negative number.")
    if _same_number(got, want, 1e-3):
        raise Mistake(_too_coarse(name, abs(got / want - 1), rtol))
    raise Mistake(f"{name} is {got:.6g}, which is not right.")


def check_array(got, want, name, rtol=1e-6, dtype=None, mistakes=()):
    """Check a real array against `want`, entry by entry.

    The error may be `rtol` times the largest entry of `want`. `mistakes`
    holds pairs of a wrong array and the sentence for it.
    """
    got = _plain_array(got, name)
    want = np.asarray(want)
    _check_shape(got.shape, want.shape, name)
    if dtype is not None and got.dtype != np.dtype(dtype):
        raise Mistake(f"{name} has dtype {got.dtype}; it needs "
                      f"{np.dtype(dtype)}.")
    bad = np.argwhere(~np.isfinite(got))
    if len(bad):
        raise Mistake(
            f"{name} is {got[tuple(bad[0])]} at {_index(bad[0])}; every "
            "entry must be finite. Does an exponential overflow, or is 0 "
            "divided by 0?"
        )
    if _close(got, want, rtol):
        return
    for wrong, message in mistakes:
        wrong = np.asarray(wrong)
        separate = not _close(wrong, want, rtol)
        if wrong.shape == got.shape and separate and _close(got, wrong, rtol):
            raise Mistake(f"{name}: {message}")
    raise Mistake(_array_difference(got, want, name, rtol))


def check_expression(got, want, name, symbols=None, mistakes=()):
    """Check that `got` equals `want` as a function of its symbols.

    Any form is right: the two are compared by their expanded difference
    and by their values at random points (whole, positive or real, as each
    symbol is assumed to be; random matrices for noncommutative symbols).
    Works entry by entry on matrices. `symbols` are those that an answer
    may contain; without it, those of `want`.
    """
    got = _plain_expression(got, isinstance(want, sp.MatrixBase), name)
    want = sp.sympify(want)
    if isinstance(want, sp.MatrixBase):
        _check_shape(got.shape, want.shape, name)
    _refuse_foreign(got, want, symbols, name)
    mistakes = [(sp.sympify(wrong), message) for wrong, message in mistakes]
    points = list(_points(got, want, *(wrong for wrong, _ in mistakes)))
    if _equal(got, want, points):
        return
    for wrong, message in mistakes:
        if not _equal(wrong, want, points) and _equal(got, wrong, points):
            raise Mistake(f"{name}: {message}")
    for entry in _entries(got):
        if entry.has(sp.nan, sp.zoo, sp.oo, -sp.oo):
            raise Mistake(f"{name} is not finite: it contains {entry}.")
    raise Mistake(_expression_difference(got, want, points, name))


# What follows serves the checks above.


def _refuse_none(got, name):
    if got is None:
        raise Mistake(f"{name} is None: does the function end in `return`?")


def _kind(got):
    names = {"str": "a string", "list": "a list", "tuple": "a tuple",
             "dict": "a dictionary", "bool": "True or False",
             "int": "a whole number",
             "Remote": "a function or another object that is no data",
             "float": "a float", "complex": "a complex number",
             "ndarray": "a NumPy array"}
    kind = type(got).__name__
    return names.get(kind, f"an object of type {kind}")


def _index(index):
    numbers = ", ".join(str(int(i)) for i in index)
    return f"index [{numbers}]" if numbers else "its only entry"


def _check_shape(got, want, name):
    if tuple(got) == tuple(want):
        return
    hint = ""
    if tuple(got) == tuple(want)[::-1]:
        hint = " It looks transposed."
    elif 0 in got:
        hint = " Yours is empty."
    raise Mistake(f"{name} has shape {tuple(got)}; it needs "
                  f"{tuple(want)}.{hint}")


def _plain_array(got, name):
    _refuse_none(got, name)
    if type(got).__module__.split(".")[0] == "torch":
        got = got.detach().cpu().numpy()
    if isinstance(got, np.ma.MaskedArray):
        raise Mistake(f"{name} is a masked array; return a plain array.")
    if not isinstance(got, (np.ndarray, np.floating)):
        raise Mistake(f"{name} is {_kind(got)}; return a NumPy array.")
    got = np.asarray(got)
    if got.dtype.kind == "c":
        raise Mistake(f"{name} is complex; return its real part.")
    if got.dtype.kind not in "fiu":
        raise Mistake(f"{name} has dtype {got.dtype}; it needs real "
                      "numbers.")
    return got


def _close(got, want, rtol):
    if got.shape != want.shape or not np.all(np.isfinite(got)):
        return False
    scale = np.max(np.abs(want), initial=0.0)
    error = np.abs(np.asarray(got, float) - np.asarray(want, float))
    return bool(np.all(error <= rtol * (scale if scale > 0 else 1.0)))


def _same_number(got, want, rtol):
    if not (np.isfinite(want) and np.isfinite(got)):
        return bool(got == want or (np.isnan(want) and np.isnan(got)))
    return bool(abs(got - want) <= rtol * max(abs(want), 1e-300))


def _too_coarse(name, error, rtol):
    return (
        f"{name} is close, but not close enough: its relative error is "
        f"{error:.0e}, and {rtol:.0e} is asked for."
    )


def _array_difference(got, want, name, rtol):
    if _close(-got, want, rtol):
        return f"{name} has the wrong sign."
    if got.ndim == 2 and _close(got.T, want, rtol):
        return f"{name} is transposed."
    scale = np.max(np.abs(want))
    if scale > 0 and _close(got, want, 2e-3):
        return _too_coarse(name, np.max(np.abs(got - want)) / scale, rtol)
    wrong = np.abs(got - want) > rtol * (scale if scale > 0 else 1.0)
    first = tuple(np.argwhere(wrong)[0])
    norm = np.vdot(got, got)
    factor = np.vdot(got, want) / norm if norm > 0 else 0.0
    if got.size > 1 and factor and _close(got * factor, want, rtol):
        return f"{name} is right up to a constant factor."
    return (
        f"{name} is wrong in {wrong.sum()} of {got.size} entries; the "
        f"first is at {_index(first)}, where you return {got[first]:.6g}."
    )


def _plain_expression(got, matrix, name):
    _refuse_none(got, name)
    kind = "matrix (sp.Matrix)" if matrix else "expression"
    if matrix and isinstance(got, sp.MatrixExpr):
        got = got.doit().as_explicit()
    numbers = (int, float, np.integer, np.floating)
    if not matrix and isinstance(got, numbers) and type(got) is not bool:
        got = sp.sympify(got)
    fits = isinstance(got, sp.MatrixBase if matrix else sp.Expr)
    if not fits or (not matrix and isinstance(got, sp.MatrixExpr)):
        raise Mistake(f"{name} is {_kind(got)}; return a SymPy {kind}.")
    if got.has(sp.UnevaluatedExpr):
        got = got.replace(sp.UnevaluatedExpr, lambda inside: inside)
    return got


def _refuse_foreign(got, want, symbols, name):
    allowed = want.free_symbols if symbols is None else set(symbols)
    foreign = sorted(got.free_symbols - allowed, key=str)
    if not foreign:
        return
    if foreign[0].name in {s.name for s in allowed}:
        raise Mistake(
            f"{name} contains a symbol {foreign[0]} of your own that only "
            "looks like the given one; use the arguments of the function."
        )
    names = ", ".join(map(str, foreign))
    raise Mistake(
        f"{name} contains {names}, which the exercise does not give; write "
        "the answer in the given symbols alone."
    )


def _entries(value):
    return list(value) if isinstance(value, sp.MatrixBase) else [value]


class _Point(dict):
    """A value for every symbol; `known` holds those of expressions."""

    def __init__(self, values):
        super().__init__(values)
        self.known = {}


def _points(*values):
    """Yield eight random points."""
    rng = check_rng()
    symbols = set().union(*(v.free_symbols for v in values))
    ordered = sorted(symbols, key=lambda s: (str(s), str(s.assumptions0)))
    for _ in range(8):
        yield _Point({s: _draw(s, rng) for s in ordered})


def _draw(symbol, rng):
    if not symbol.is_commutative:
        return sp.Matrix(3, 3, [int(i) for i in rng.integers(-5, 6, 9)])
    if symbol.is_integer:
        low = 1 if symbol.is_positive else 0 if symbol.is_nonnegative else -4
        return sp.Integer(int(rng.integers(low, 6)))
    value = sp.Rational(int(rng.integers(10, 300)), 101)
    return value if symbol.is_nonnegative else value * int(rng.choice([-1, 1]))


def _equal(got, want, points):
    if getattr(got, "shape", ()) != getattr(want, "shape", ()):
        return False
    pairs = zip(_entries(got), _entries(want), strict=True)
    return all(_equal_entry(g, w, points) for g, w in pairs)


def _equal_entry(got, want, points):
    if got == want:
        return True
    if not (got.is_commutative and want.is_commutative):
        return _equal_ordered(got, want, points)
    exact = not (got.has(sp.Float) or want.has(sp.Float))
    gaps = [_gap(got, want, point) for point in points]
    known = [gap for gap in gaps if gap is not None]
    if len(known) >= 3:
        return max(known) < (1e-18 if exact else 1e-9)
    return sp.simplify(got - want) == 0


def _equal_ordered(got, want, points):
    """Compare where the order of factors counts: matrices for symbols."""
    return sp.expand(got - want) == 0 or all(
        _as_matrix(got - want, point).is_zero_matrix for point in points
    )


def _gap(got, want, point):
    """Return the relative difference at a point, None where undefined."""
    with mpmath.workdps(DIGITS):
        a, b = _evaluate(got, point), _evaluate(want, point)
        if a is None or b is None:
            return None
        return float(abs(a - b) / max(1, abs(b)))


def _evaluate(expression, point):
    if expression.has(*WAITING, UNKNOWN):
        for f in expression.atoms(UNKNOWN):
            expression = expression.replace(f.func, _sample(f.func))
        expression = expression.subs(point).doit()
    try:
        value = _value(expression, point)
    except (ArithmeticError, TypeError, ValueError):
        return None
    return value if mpmath.isfinite(value) else None


def _sample(function):
    """Return the one smooth function that stands for an unknown f(x)."""
    slope = 2 + sum(map(ord, function.__name__)) % 7
    return lambda *a: sp.sin(slope * sum(a)) + sum(a) ** 2


def _value(expression, point):
    """Return the value at a point; that of each part is computed once.

    The entries of a matrix have most of their parts in common.
    """
    if expression not in point.known:
        compute = PLAIN.get(expression.func)
        if compute:
            value = compute(*[_value(a, point) for a in expression.args])
        else:
            value = mpmath.mpmathify(expression.evalf(DIGITS, subs=point))
        point.known[expression] = value
    return point.known[expression]


def _as_matrix(expression, point):
    """Evaluate sums, products and powers with matrices for symbols."""
    if expression in point:
        value = point[expression]
        return value if isinstance(value, sp.MatrixBase) else value * sp.eye(3)
    parts = [_as_matrix(a, point) for a in expression.args]
    if expression.is_Add:
        return sum(parts, sp.zeros(3))
    if expression.is_Mul:
        return sp.prod(parts, start=sp.eye(3))
    if expression.is_Pow and expression.exp.is_integer:
        return parts[0] ** int(expression.exp)
    return expression * sp.eye(3)


def _expression_difference(got, want, points, name):
    if _equal(-got, want, points):
        return f"{name} has the wrong sign."
    if isinstance(got, sp.MatrixBase):
        pairs = zip(got, want, strict=True)
        wrong = [not _equal_entry(g, w, points) for g, w in pairs]
        first = divmod(wrong.index(True), got.cols)
        if got.T.shape == want.shape and _equal(got.T, want, points):
            return f"{name} is transposed."
        return (
            f"{name} is wrong in {sum(wrong)} of {len(wrong)} entries; the "
            f"first is at {_index(first)}, where you return {got[first]}."
        )
    missing = sorted(want.free_symbols - got.free_symbols, key=str)
    hint = f" It does not depend on {missing[0]}." if missing else ""
    return f"{name} is not equivalent to the right answer.{hint}"
