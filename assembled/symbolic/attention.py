"""Attention: output, Jacobians, many heads, causal mask, the no-op.

Chapter: Attention cannot attend to nothing. Axes: T keys, K d_k. One
query q (K, 1); keys and values (T, K), one row a token.
"""

import sympy as sp

from assembled.symbolic.softmax import (
    in_range,
    k,
    n,
    sigmoid,
    softmax,
    softmax_jacobian,
    z_any,
)


def scores(q: sp.MatrixBase, keys: sp.MatrixBase) -> sp.MatrixBase:
    """z_j = k_j . q / sqrt(K), (T, 1).

    >>> scores(sp.Matrix([2, 0, 0, 0]), sp.eye(4)[:2, :]).T
    Matrix([[1, 0]])
    """
    return keys * q / sp.sqrt(q.rows)


def attend(
    q: sp.MatrixBase, keys: sp.MatrixBase, values: sp.MatrixBase
) -> sp.MatrixBase:
    """o = sum_j p_j v_j, (K, 1), with p = softmax(scores).

    >>> attend(sp.Matrix([0]), sp.Matrix([1, 2]), sp.Matrix([3, 5]))
    Matrix([[4]])
    """
    return values.T * softmax(scores(q, keys))


def jacobian_in_query(
    q: sp.MatrixBase, keys: sp.MatrixBase, values: sp.MatrixBase
) -> sp.MatrixBase:
    """do/dq = V^T (diag(p) - p p^T) K / sqrt(d_k), (K, K).

    >>> keys, values = sp.Matrix([1, -1]), sp.Matrix([2, 4])
    >>> jacobian_in_query(sp.Matrix([0]), keys, values)
    Matrix([[-1]])
    """
    p = softmax(scores(q, keys))
    return values.T * softmax_jacobian(p) * keys / sp.sqrt(q.rows)


def jacobian_in_key(
    q: sp.MatrixBase, keys: sp.MatrixBase, values: sp.MatrixBase, j: int
) -> sp.MatrixBase:
    """do/dk_j = p_j (v_j - o) q^T / sqrt(d_k), (K, K).

    >>> q, keys, values = sp.ones(1, 1), sp.zeros(2, 1), sp.Matrix([2, 4])
    >>> jacobian_in_key(q, keys, values, 0)
    Matrix([[-1/2]])
    """
    p = softmax(scores(q, keys))
    o = values.T * p
    return p[j] * (values[j, :].T - o) * q.T / sp.sqrt(q.rows)


def jacobian_in_value(
    q: sp.MatrixBase, keys: sp.MatrixBase, j: int
) -> sp.MatrixBase:
    """do/dv_j = p_j I, (K, K).

    >>> jacobian_in_value(sp.ones(2, 1), sp.zeros(4, 2), 0)
    Matrix([
    [1/4,   0],
    [  0, 1/4]])
    """
    return softmax(scores(q, keys))[j] * sp.eye(q.rows)


v_any = sp.IndexedBase("v", real=True)


def output_any() -> sp.Expr:
    """One channel of o for n keys, n a symbol: sum_k p_k v_k.

    >>> output_any().subs(n, 1).doit()
    v[0]
    """
    top = sp.Sum(sp.exp(z_any[k]) * v_any[k], (k, 0, n - 1))
    return top / sp.Sum(sp.exp(z_any[k]), (k, 0, n - 1))


def output_derivative(j: sp.Expr) -> sp.Expr:
    """do/dz_j for any n, computed by SymPy: it is p_j (v_j - o).

    >>> alone = output_derivative(sp.Integer(0)).subs(n, 1)
    >>> sp.simplify(alone.doit())  # one key has no choice
    0
    """
    return in_range(sp.diff(output_any(), z_any[j]), j)


def causal(all_scores: sp.MatrixBase) -> sp.MatrixBase:
    """Put -oo where the key comes after the query; scores (T, T).

    >>> causal(sp.zeros(2, 2))
    Matrix([
    [0, -oo],
    [0,   0]])
    """
    return sp.Matrix(
        *all_scores.shape,
        lambda t, s: all_scores[t, s] if s <= t else -sp.oo,
    )


def causal_weights(all_scores: sp.MatrixBase) -> sp.MatrixBase:
    """Softmax of each row of the masked scores, (T, T).

    >>> causal_weights(sp.zeros(2, 2))
    Matrix([
    [  1,   0],
    [1/2, 1/2]])
    """
    masked = causal(all_scores)
    rows = [softmax(masked[t, :].T).T for t in range(masked.rows)]
    return sp.Matrix.vstack(*rows)


def heads_map(patterns: list, channel_maps: list) -> sp.MatrixBase:
    """Y = sum_h P_h X W_h as one matrix (T D, T D) on X's entries.

    P_h (T, T) is head h's weights, W_h (D, D) its w_v w_o; X and Y are
    read row by row. It is sum_h of P_h kron W_h^T, a block for each (t, s).

    >>> swap = sp.Matrix([[0, 1], [1, 0]])
    >>> heads_map([swap], [sp.Matrix([7])])
    Matrix([
    [0, 7],
    [7, 0]])
    """
    products = [
        sp.kronecker_product(P, W.T)
        for P, W in zip(patterns, channel_maps, strict=True)
    ]
    return sum(products[1:], products[0])


def heads_needed(mixing: sp.MatrixBase, T: int) -> int:
    """Rank of the (D, D) blocks of a (T D, T D) map, each one a row.

    Each head gives them one common direction, W_h, so fewer heads than
    this cannot compute the map.

    >>> heads_needed(sp.eye(6), 3)
    1
    """
    D = mixing.rows // T
    blocks = [
        mixing[t * D:(t + 1) * D, s * D:(s + 1) * D].reshape(1, D * D)
        for t in range(T) for s in range(T)
    ]
    return sp.Matrix.vstack(*blocks).rank()


def null_value_head(
    z: sp.MatrixBase, values: sp.MatrixBase
) -> sp.MatrixBase:
    """The output when key 0 owns the value 0; values (T-1, K) of the rest.

    >>> null_value_head(sp.Matrix([sp.log(3), 0]), sp.Matrix([[8]]))
    Matrix([[2]])
    """
    null = sp.zeros(1, values.cols)
    return sp.Matrix.vstack(null, values).T * softmax(z)


def gated(output: sp.MatrixBase, gate: sp.Expr) -> sp.MatrixBase:
    """sigmoid(gate) * o: the valve behind the mix, weights untouched.

    >>> gated(sp.Matrix([6]), sp.log(2))
    Matrix([[4]])
    """
    return sigmoid(gate) * output
