"""Norm, SwiGLU, loss and embedding in place, a cacheful at a time.

Axes: N rows, one a token; D d_model, F d_ff, V vocabulary.
"""

import numpy as np

PIECE = 32_768  # entries: a few such arrays stay in a core's own cache
ROWS = 64  # likewise, for work that goes row by row


def normalize(x, eps, normed, r):
    """Write x/√(mean(x²) + eps) into normed, (N, D), and 1/√… into r."""
    for part in row_slices(x):
        scale = np.einsum("nd,nd->n", x[part], x[part]) / x.shape[1]
        r[part, 0] = 1 / np.sqrt(scale + eps)
        np.multiply(x[part], r[part], out=normed[part])


def normalize_backward(dnormed, normed, r, dx):
    """Add r (I − x̂x̂ᵀ/D) dnormed to dx; dnormed is used up."""
    for part in row_slices(dx):
        d, n = dnormed[part], normed[part]
        mean = np.einsum("nd,nd->n", d, n)[:, None] / dx.shape[1]
        d -= n * mean
        d *= r[part]
        dx[part] += d


def gate_forward(gate, up, hidden, two):
    """Write silu(z) · up into hidden, with z = 2·gate.

    With p = 1 + tanh(gate), silu is gate · p, and its slope by gate is
    p + silu (2 − p). What dup and dgate need takes the place of gate and
    up: silu, and up · slope.
    """
    for g, u, h in pieces(gate, up, hidden):
        p, slope = two[:, : g.size]
        np.tanh(g, out=p)
        p += 1
        g *= p
        np.multiply(g, u, out=h)
        np.subtract(2, p, out=slope)
        slope *= g
        slope += p
        u *= slope


def gate_backward(dhidden, gate, up):
    """Turn what `gate_forward` left in gate and up into dup and dgate."""
    for d, silu, slope in pieces(dhidden, gate, up):
        silu *= d
        slope *= d


def cross_entropy(logits, targets):
    """Return the mean loss; the logits, (N, V), become its gradient."""
    N, total = len(logits), 0.0
    for part in row_slices(logits):
        z, at = logits[part], (np.arange(len(logits[part])), targets[part])
        z -= z.max(-1, keepdims=True)
        of_targets = z[at]
        np.exp(z, out=z)
        sums = z.sum(-1)
        total += float((np.log(sums) - of_targets).sum())
        z /= (sums * N)[:, None]
        z[at] -= 1 / N
    return total / N


def sum_by_token(dx, tokens, dweight):
    """Write into row v of dweight the sum of dx over the places of v."""
    order = np.argsort(tokens, kind="stable")
    tokens, dx = tokens[order], dx[order]
    starts = np.flatnonzero(np.diff(tokens, prepend=-1))
    dweight[:] = 0
    for start, end in zip(starts, [*starts[1:], len(dx)], strict=True):
        dx[start:end].sum(0, out=dweight[tokens[start]])


def row_slices(x):
    """Return slices of `ROWS` rows that cover x."""
    return [slice(i, i + ROWS) for i in range(0, len(x), ROWS)]


def pieces(*arrays):
    """Return views of the arrays' entries, `PIECE` of each at a time."""
    flat = [array.reshape(-1) for array in arrays]
    starts = range(0, flat[0].size, PIECE)
    return [[array[i : i + PIECE] for array in flat] for i in starts]
