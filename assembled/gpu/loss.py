"""Cross-entropy of the next token. Axes: B batch, T time, V vocabulary.

Chapter: The same model in PyTorch.
"""

from jaxtyping import Float, Int
from torch import Tensor

from assembled.gpu.embedding import check_indices
from assembled.gpu.precision import widen


def cross_entropy(
    logits: Float[Tensor, "*B V"],
    targets: Int[Tensor, "*B"],
    ignore_index: int = -100,
) -> Float[Tensor, ""]:
    """Return the mean of log Σ exp(logits) − logits[target], in nats.

    Targets equal to `ignore_index` count neither above nor below the line.
    """
    wide = widen(logits)
    kept = targets != ignore_index
    targets = targets.masked_fill(~kept, 0)
    check_indices("targets", targets, logits.shape[-1])
    picked = wide.gather(-1, targets[..., None]).squeeze(-1)
    losses = wide.logsumexp(-1) - picked
    return losses.masked_fill(~kept, 0.0).sum() / kept.sum()
