"""Rotary position embedding. Axes: B, H any, T time, K d_k.

Chapter: The same model in PyTorch. Source: Su et al. 2021, RoFormer.
"""

import torch
from jaxtyping import Float, Num
from torch import Tensor

from assembled.gpu.precision import wide_dtype


def rope_frequencies(
    d_k: int,
    base: float,
    dtype: torch.dtype,
    device: torch.device | str = "cpu",
) -> Float[Tensor, "{d_k//2}"]:
    """Return base^(−2i/K) for i = 0 … K/2 − 1, in radians a position."""
    i = torch.arange(0, d_k, 2, dtype=dtype, device=device)
    return base ** (-i / d_k)


def rope(
    x: Float[Tensor, "*B T K"],
    positions: Num[Tensor, "T"],
    base: float,
    pairing: str,
) -> Float[Tensor, "*B T K"]:
    """Turn each pair of channels by position × frequency.

    `pairing` is "half" (channel i with i + K/2) or "interleaved" (2i with
    2i + 1). Angles and products are wide: bfloat16 rounds 257 to 256.
    Raises ValueError for another pairing or an odd K.
    """
    if pairing not in ("half", "interleaved") or x.shape[-1] % 2:
        raise ValueError(
            f"rope got pairing={pairing!r} and K={x.shape[-1]}; it needs "
            "'half' or 'interleaved' and an even K"
        )
    wide = wide_dtype(x.dtype)
    frequencies = rope_frequencies(x.shape[-1], base, wide, x.device)
    angles = positions.to(wide)[:, None] * frequencies  # (T, K/2)
    cos, sin = angles.cos(), angles.sin()
    if pairing == "half":
        a, b = x.chunk(2, dim=-1)
    else:
        a, b = x[..., 0::2], x[..., 1::2]
    turned = (a * cos - b * sin, a * sin + b * cos)
    if pairing == "half":
        return torch.cat(turned, dim=-1).to(x.dtype)
    return torch.stack(turned, dim=-1).flatten(-2).to(x.dtype)
