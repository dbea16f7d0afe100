"""Softmax over the last axis, and the causal mask.

Chapter: Blocks, forward and backward. Axes: T queries, S keys.
"""

import numpy as np
from jaxtyping import Bool, Inexact
from numpy import ndarray


def causal_mask(T: int, S: int | None = None) -> Bool[ndarray, "T S"]:
    """Return which of S keys each of T queries may see; S is T by default.

    The queries are the last T of the S positions. Row t holds True up to
    and including its own column, S − T + t, so row 0 of T = S sees itself.
    """
    S = T if S is None else S
    return np.tri(T, S, S - T, dtype=bool)


def softmax_forward(
    scores: Inexact[ndarray, "*rows S"],
    out: Inexact[ndarray, "*rows S"] | None = None,
) -> Inexact[ndarray, "*rows S"]:
    """Return exp(scores) / Σ exp(scores), row by row; it is its own cache.

    A score of −∞ gets exactly 0, for exp(−∞) = 0 in IEEE 754. A row that
    is −∞ throughout has nothing to share out and is defined as all 0.
    """
    # The largest score of each row is subtracted, so that exp cannot
    # overflow; .real lets a complex step pass through.
    largest = scores.real.max(-1, keepdims=True)  # (..., 1)
    shift = np.where(largest == -np.inf, 0, largest)
    p = np.subtract(scores, shift, out=out)
    np.exp(p, out=p)
    total = p.sum(-1, keepdims=True)
    p *= 1 / np.where(total == 0, 1, total)
    return p


def softmax_backward(
    dp: Inexact[ndarray, "*rows S"],
    p: Inexact[ndarray, "*rows S"],
    out: Inexact[ndarray, "*rows S"] | None = None,
) -> Inexact[ndarray, "*rows S"]:
    """Return dscores = (diag(p) − ppᵀ) dp = p · (dp − Σ p·dp)."""
    mean = np.einsum("...s,...s->...", p, dp)[..., None]  # (..., 1)
    dscores = np.subtract(dp, mean, out=out)
    dscores *= p
    return dscores
