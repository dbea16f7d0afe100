"""How a page proves what it shows: compute, subtract, simplify to zero."""

import sympy as sp


def prove_equal(computed, claimed):
    """Return `computed` once `computed - claimed` is shown to be zero.

    Both are expressions or matrices of one shape. Raises AssertionError
    with the simplified difference, so a page that claims a false identity
    cannot be built.
    """
    difference = sp.simplify(computed - claimed)
    zero = (
        difference.is_zero_matrix
        if isinstance(difference, sp.MatrixBase)
        else difference == 0
    )
    if not zero:
        raise AssertionError(
            f"the claim is false: it differs from the computed result by "
            f"{difference}"
        )
    return computed
