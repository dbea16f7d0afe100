"""Softmax: its Jacobian, its conservation law, and where valves open.

Chapters: Softmax, masks, cross-entropy; Attention cannot attend to
nothing. Axes: T keys of one query (`n` where the size stays a symbol).
Logits z, weights p, both (T, 1).
Sources: Miller 2023 (softmax plus one), gpt-oss (learned sink logit).
"""

import sympy as sp


def logits(n_keys: int) -> sp.MatrixBase:
    """Return the column of real logits z_1 ... z_T.

    >>> logits(2).T
    Matrix([[z1, z2]])
    """
    return sp.Matrix(sp.symbols(f"z1:{n_keys + 1}", real=True))


def softmax(z: sp.MatrixBase) -> sp.MatrixBase:
    """p_i = exp(z_i) / sum_k exp(z_k); a logit of -oo gives exactly 0.

    >>> softmax(sp.Matrix([0, sp.log(3), -sp.oo])).T
    Matrix([[1/4, 3/4, 0]])
    """
    weights = z.applyfunc(sp.exp)
    total = sum(weights)
    if total == 0:
        raise ValueError(
            "softmax got a row whose logits are all -oo: it would be 0/0. "
            "Keep one logit finite, or define this row's output as zero"
        )
    return weights / total


def softmax_jacobian(p: sp.MatrixBase) -> sp.MatrixBase:
    """dp/dz = diag(p) - p p^T, row i and column j: dp_i/dz_j.

    >>> softmax_jacobian(sp.Matrix([sp.Rational(1, 4), sp.Rational(3, 4)]))
    Matrix([
    [ 3/16, -3/16],
    [-3/16,  3/16]])
    """
    return sp.diag(*p) - p * p.T


def log_sum_exp(z: sp.MatrixBase) -> sp.Expr:
    """log(sum_k exp(z_k)), a smooth maximum; its gradient is softmax.

    >>> log_sum_exp(sp.Matrix([0, sp.log(3)]))
    log(4)
    """
    return sp.log(sum(z.applyfunc(sp.exp)))


# The same for any number of keys: n is a symbol, i and j two of its keys.

n = sp.Symbol("n", integer=True, positive=True)
i, j, k = sp.symbols("i j k", integer=True)
z_any = sp.IndexedBase("z", real=True)


def weight(i: sp.Expr) -> sp.Expr:
    """p_i for n keys, n unspecified: exp(z_i) / sum_{k<n} exp(z_k).

    >>> weight(sp.Integer(0)).subs(n, 2).doit()
    exp(z[0])/(exp(z[0]) + exp(z[1]))
    """
    return sp.exp(z_any[i]) / sp.Sum(sp.exp(z_any[k]), (k, 0, n - 1))


def in_range(expression: sp.Expr, *keys: sp.Expr) -> sp.Expr:
    """Evaluate sums over k given that each of `keys` is one of the n keys.

    SymPy returns such a sum as two cases, key inside or outside 0 ... n-1.

    >>> in_range(sp.Sum(sp.KroneckerDelta(j, k), (k, 0, n - 1)), j)
    1
    """
    inside = sp.true
    for key in keys:
        inside &= sp.Q.ge(key, 0) & sp.Q.le(key, n - 1)
    return sp.refine(expression.doit(), inside)


def weight_derivative(i: sp.Expr, j: sp.Expr) -> sp.Expr:
    """dp_i/dz_j for any n, computed by SymPy from `weight`.

    >>> weight_derivative(i, j).subs({n: 1, i: 0, j: 0}).doit()
    0
    """
    return in_range(sp.diff(weight(i), z_any[j]), j)


def weight_derivative_sum(j: sp.Expr) -> sp.Expr:
    """sum_i dp_i/dz_j for any n, computed by SymPy; it is 0.

    >>> weight_derivative_sum(j)
    0
    """
    total = in_range(sp.summation(weight_derivative(i, j), (i, 0, n - 1)), j)
    return sp.simplify(total.xreplace({i: k}))  # one name for the summed key


def log_sum_exp_any(m: sp.Expr = sp.S.Zero) -> sp.Expr:
    """m + log(sum_k exp(z_k - m)) for any n; the same number for every m.

    >>> log_sum_exp_any(sp.log(2)).subs(n, 2).doit().subs(
    ...     {z_any[0]: 0, z_any[1]: sp.log(3)})
    2*log(2)
    """
    shifted = sp.Sum(sp.exp(z_any[k] - m), (k, 0, n - 1))
    return m + sp.log(shifted)


# What pressing one logit down does, and the valves.


def press(z: sp.MatrixBase, key: int) -> sp.MatrixBase:
    """The weights in the limit z_key -> -oo.

    >>> press(sp.Matrix([0, 0, sp.log(2)]), 2).T
    Matrix([[1/2, 1/2, 0]])
    """
    falling = sp.Dummy("t", real=True)
    pressed = z.as_mutable()
    pressed[key] = falling
    return softmax(pressed).applyfunc(
        lambda w: sp.simplify(sp.limit(w, falling, -sp.oo))
    )


def softmax_with_sink(z: sp.MatrixBase, s: sp.Expr) -> sp.MatrixBase:
    """Softmax with one more logit s that owns no value: p may sum to < 1.

    p_i = exp(z_i) / (exp(s) + sum_k exp(z_k)); s = 0 is softmax plus one.
    The sum of p is sigmoid(log_sum_exp(z) - s).

    >>> sum(softmax_with_sink(sp.Matrix([0, 0]), sp.log(2)))
    1/2
    """
    weights = z.applyfunc(sp.exp)
    return weights / (sp.exp(s) + sum(weights))


def softmax_plus_one(z: sp.MatrixBase) -> sp.MatrixBase:
    """Miller's softmax_1: p_i = exp(z_i) / (1 + sum_k exp(z_k)).

    >>> softmax_plus_one(sp.Matrix([0, 0])).T
    Matrix([[1/3, 1/3]])
    """
    return softmax_with_sink(z, sp.Integer(0))


def sigmoid(x: sp.Expr) -> sp.Expr:
    """1 / (1 + exp(-x)).

    >>> sigmoid(sp.log(3))
    3/4
    """
    return 1 / (1 + sp.exp(-x))


def sigmoid_weights(z: sp.MatrixBase, bias: sp.Expr) -> sp.MatrixBase:
    """Sigmoid attention: each weight alone, w_i = sigmoid(z_i + bias).

    >>> sigmoid_weights(sp.Matrix([0, sp.log(3)]), sp.Integer(0)).T
    Matrix([[1/2, 3/4]])
    """
    return (z + bias * sp.ones(*z.shape)).applyfunc(sigmoid)
