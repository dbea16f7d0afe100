"""Cross-entropy of the next token. Chapter: Blocks, forward and backward.

Axes: V vocabulary; every other axis is one prediction. Unit: nats.
"""

import numpy as np
from jaxtyping import Inexact, Integer
from numpy import ndarray

from assembled.reference.embedding import check_tokens


def cross_entropy_forward(
    logits: Inexact[ndarray, "*rows V"],
    targets: Integer[ndarray, "*rows"],
    ignore_index: int = -100,
) -> tuple[np.inexact, tuple]:
    """Return the mean of log Σ exp(logits) − logits[target], in nats.

    Targets equal to `ignore_index` count neither in the sum nor in the
    mean. Raises ValueError if none is left, or for a target outside
    0 … V − 1.
    """
    kept = targets != ignore_index
    n_kept = int(kept.sum())
    if n_kept == 0:
        raise ValueError(
            f"all {targets.size} targets are ignore_index={ignore_index}; "
            "the mean needs at least one that counts"
        )
    check_tokens("targets", targets[kept], logits.shape[-1])
    index = np.where(kept, targets, 0)[..., None]  # (..., 1)
    # log-sum-exp is shift-invariant: the largest logit is taken off first,
    # so exp cannot overflow and the sum is at least 1.
    shifted = logits - logits.real.max(-1, keepdims=True)
    exponential = np.exp(shifted)
    total = exponential.sum(-1, keepdims=True)
    losses = np.log(total) - np.take_along_axis(shifted, index, -1)
    loss = losses[kept].sum() / n_kept
    return loss, (exponential / total, kept, index, n_kept)


def cross_entropy_backward(cache: tuple) -> Inexact[ndarray, "*rows V"]:
    """Return dlogits = (softmax(logits) − onehot(target)) / kept targets."""
    p, kept, index, n_kept = cache
    dlogits = p.copy()
    at_target = np.take_along_axis(p, index, -1)
    np.put_along_axis(dlogits, index, at_target - 1, -1)
    dlogits[~kept] = 0
    return dlogits / n_kept
