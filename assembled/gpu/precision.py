"""The one dtype policy: what is wide, what is narrow, and why.

Chapter: The same model in PyTorch. Every upcast of this face goes through
`widen`, one a line, so that each can be taken away and missed by a test.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

# What a tensor's dtype is when the model holds `stored` weights and its
# matrix products run in `compute` (the same, unless autocast is on).
POLICY = {
    "weights, their gradients": (
        "stored", "the optimizer's small steps must not round away"),
    "residual stream": (
        "stored", "a sum of 2L branches; each addition rounds once"),
    "matrix products": (
        "compute", "nearly all the time; float32 sums inside the kernel"),
    "norm statistics": (
        "wide", "a mean of D squares; its error moves the whole row"),
    "RoPE angles, sine, cosine": (
        "wide", "bfloat16 cannot hold the integer 257"),
    "softmax, attention maps": (
        "wide", "rows must sum to one; exp magnifies an error"),
    "logits": (
        "compute", "one more matrix product"),
    "loss": (
        "wide", "a difference of two large, near numbers"),
}


def wide_dtype(dtype: torch.dtype) -> torch.dtype:
    """Return float32, or `dtype` itself where that is wider already."""
    return torch.promote_types(dtype, torch.float32)


def widen(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """Return x in float32 or wider; float64 stays float64.

    `.float()` would narrow float64 and ruin every gradient check.
    """
    return x.to(wide_dtype(x.dtype))


def unit_roundoff(dtype: torch.dtype) -> float:
    """Return u: rounding to `dtype` changes a number by at most u of it.

    Half the gap between 1 and the next number: 2^-8 in bfloat16, 2^-11 in
    float16, 2^-24 in float32 (Higham 2002, section 2.2).
    """
    return torch.finfo(dtype).eps / 2


@torch.no_grad()
def rounding_facts(model: nn.Module, tokens: Int[Tensor, "B T"]) -> dict:
    """Return what `instruments.rounding.logit_error` needs to know.

    That is the variance of each sublayer's output and of the embedding,
    and each layer's attention weights and values, as arrays.
    """
    branches, maps = [], []

    def keep(module, inputs, output):
        branches.append(output.var().item())

    hooks = [
        sublayer.register_forward_hook(keep)
        for block in model.blocks
        for sublayer in (block.attention, block.swiglu)
    ]
    model(tokens, maps=maps)
    for hook in hooks:
        hook.remove()
    return {
        "branches": branches,
        "embedding": model.embedding.weight.var().item(),
        "maps": [(p.numpy(), v.numpy()) for p, v in maps],
    }
