"""How a page proves what it shows: compute, subtract, reach exact zero.

A proof needs two witnesses. One of several exact routes must turn the
difference into zero, and the two sides must agree at exact random points.
"""

import random

import sympy as sp

POINTS = 3  # random points at which a proved identity is evaluated
DIGITS = 40  # of working precision there
ENTRIES = 4  # of a vector of any size, at those points
SIZE = 3  # of the random matrices that stand for noncommuting symbols
SMALL = sp.Rational(1, 10**25)  # rounding at 40 digits stays far below


def prove_equal(computed, claimed):
    """Return `computed` once `computed - claimed` is shown to be zero.

    Both are expressions or matrices of one shape. Raises AssertionError
    with the difference, so a page that claims a false identity cannot be
    built, and says whether the claim is false or only not proved.

    >>> x = sp.Symbol("x", real=True)
    >>> prove_equal((x + 1) ** 2, x**2 + 2 * x + 1)
    (x + 1)**2
    """
    for name, side in (("computed", computed), ("claimed", claimed)):
        if isinstance(side, str):
            raise TypeError(
                f"{name} is the string {side!r}; build it from symbols, "
                "because a parsed string loses their assumptions"
            )
    for left, right in zip(*_entries(computed, claimed), strict=True):
        _prove_entry(sp.sympify(left), sp.sympify(right))
    return computed


def _entries(computed, claimed):
    """List the entries of two matrices of one shape, or of two scalars."""
    shapes = [
        side.shape if isinstance(side, sp.MatrixBase) else ()
        for side in (computed, claimed)
    ]
    if shapes[0] != shapes[1]:
        raise AssertionError(
            f"the claim is false: computed has shape {shapes[0]} and "
            f"claimed has shape {shapes[1]}"
        )
    if shapes[0] == ():
        return [computed], [claimed]
    return list(computed), list(claimed)


def _prove_entry(left, right):
    difference = left - right
    gap = _largest_gap(left, right)
    if gap is not None and not gap < SMALL:
        raise AssertionError(
            "the claim is false: it differs from the computed result by "
            f"{sp.expand(difference)}"
        )
    rest = _exact_zero(difference)
    if rest != 0:
        raise AssertionError(
            "the claim is not proved: no route turns the difference into "
            f"zero, and what is left is {rest}"
        )


def _exact_zero(difference):
    """Return 0 when one route reaches it, else the shortest form found."""
    routes = [
        sp.expand,
        lambda e: sp.expand(e.doit()),
        sp.simplify,
        lambda e: sp.simplify(e.rewrite(sp.exp)),
        lambda e: sp.simplify(sp.expand(e, trig=True, func=True)),
        lambda e: sp.radsimp(sp.together(e)),
    ]
    shortest = difference
    for route in routes:
        try:
            form = route(difference)
        except StopIteration:  # SymPy's, from a sum in a denominator
            continue
        if form == 0:
            return form
        shortest = min(shortest, form, key=sp.count_ops)
    return shortest


def _largest_gap(left, right):
    """Largest relative gap at random points; None if it has no number.

    Unknown functions, their derivatives and sums without end have none, so
    there the exact route stands alone. Other sums are tried at one size.
    """
    abstract = (sp.Product, sp.Derivative, sp.core.function.AppliedUndef)
    if any(side.has(*abstract) for side in (left, right)):
        return None
    draw = random.Random(0)
    gaps = []
    for _ in range(POINTS):
        sides = _at_one_size(left, right, draw)
        if any(side.has(sp.Sum) for side in sides):  # without end
            return None
        names = set().union(*(side.free_symbols for side in sides))
        at = {s: _point(s, draw) for s in sorted(names, key=str)}
        values = [_evaluate(side, at) for side in sides]
        if not all(v.is_number and v.is_finite for v in values):
            continue
        gaps.append(abs(values[0] - values[1]) / (1 + abs(values[1])))
    return max(gaps, default=None)


def _at_one_size(left, right, draw):
    """Both sides with ENTRIES terms in each sum, and named entries.

    Only an expression with x[i] or a sum is changed. A symbol in a sum's
    limits is a size; every other integer is taken for an index in range.
    """
    if not any(side.has(sp.Sum, sp.Indexed) for side in (left, right)):
        return left, right
    limits = [limit for side in (left, right)
              for total in side.atoms(sp.Sum) for limit in total.limits]
    sizes = {s for _, *ends in limits for end in ends
             for s in end.free_symbols}
    integers = {s for side in (left, right) for s in side.free_symbols
                if s.is_integer}
    at = {s: ENTRIES if s in sizes
          else draw.randrange(bool(s.is_positive), ENTRIES)
          for s in sorted(integers | sizes, key=str)}
    sides = [side.subs(at).doit() for side in (left, right)]
    entries = {
        x: sp.Symbol(str(x), real=True, nonnegative=x.is_nonnegative)
        for side in sides for x in side.atoms(sp.Indexed)
    }
    return [side.xreplace(entries) for side in sides]


def _evaluate(side, at):
    """Return one number; a noncommutative product gives a matrix entry."""
    if all(s.is_commutative for s in at):
        return side.subs(at).evalf(DIGITS)
    return _matrix_value(side, at)[0, 1].evalf(DIGITS)


def _matrix_value(side, at):
    """Evaluate sums, products and powers with a matrix for each symbol."""
    if side.is_commutative:
        return side.subs(at) * sp.eye(SIZE)
    if side.is_Symbol:
        return at[side]
    parts = [_matrix_value(part, at) for part in side.args]
    if side.is_Add:
        return sum(parts, sp.zeros(SIZE))
    if side.is_Mul:
        return sp.prod(parts[1:], start=parts[0])
    if side.is_Pow and side.exp.is_Integer:
        return _matrix_value(side.base, at) ** side.exp
    return sp.eye(SIZE) * sp.nan  # no value; the exact route stands alone


def _point(symbol, draw):
    """Draw an exact value that the symbol's assumptions allow."""
    if not symbol.is_commutative:
        return sp.Matrix(SIZE, SIZE, lambda r, c: draw.randint(-9, 9))
    value = (
        sp.Integer(draw.randint(2, 9))
        if symbol.is_integer
        else sp.Rational(draw.randint(11, 99), 37)
    )
    signed = not symbol.is_nonnegative and draw.random() < 0.5
    return -value if signed or symbol.is_negative else value
