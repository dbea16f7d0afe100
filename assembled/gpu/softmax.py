"""Softmax over keys, and the causal mask. Axes: T time, S keys.

Chapter: The same model in PyTorch.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from assembled.gpu.precision import widen


def causal_mask(T: int, device: torch.device | str = "cpu") -> Bool[
    Tensor, "T T"
]:
    """Return True where query t may look at key s, that is s ≤ t."""
    return torch.ones(T, T, dtype=torch.bool, device=device).tril()


def softmax(scores: Float[Tensor, "*B T S"]) -> Float[Tensor, "*B T S"]:
    """Return exp(scores) normalized over the last axis, float32 or wider.

    Forbidden keys hold −∞ and get exactly zero. A row with nothing but −∞
    gives zeros, as torch's fused attention does, where torch.softmax gives
    NaN.
    """
    scores = widen(scores)
    top = scores.detach().amax(-1, keepdim=True)
    top = top.masked_fill(top == -torch.inf, 0.0)
    e = (scores - top).exp()
    total = e.sum(-1, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0)
