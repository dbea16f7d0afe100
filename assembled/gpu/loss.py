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

    Targets equal to `ignore_index` count neither in the sum nor in the
    mean. If none is left, the CPU raises ValueError; a GPU, which a check
    would hold up, returns 0/0 = NaN.
    """
    wide = widen(logits)
    kept = targets != ignore_index
    if targets.device.type == "cpu" and not kept.any():
        raise ValueError(
            f"all {targets.numel()} targets are ignore_index={ignore_index}; "
            "the mean needs at least one that counts"
        )
    targets = targets.masked_fill(~kept, 0)
    check_indices("targets", targets, logits.shape[-1])
    picked = wide.gather(-1, targets[..., None]).squeeze(-1)
    losses = wide.logsumexp(-1) - picked
    return losses.masked_fill(~kept, 0.0).sum() / kept.sum()
