"""Rotary position embedding. Axes: B, H any, T time, K d_k.

Chapter: The same model in PyTorch. Source: Su et al. 2021, RoFormer.
"""

import math

import torch
from jaxtyping import Float, Num
from torch import Tensor

from assembled.config import RopeScaling
from assembled.gpu.precision import wide_dtype


def rope_frequencies(
    d_k: int,
    base: float,
    dtype: torch.dtype,
    device: torch.device | str = "cpu",
    scaling: RopeScaling | None = None,
) -> Float[Tensor, "{d_k//2}"]:
    """Return base^(−2i/K) for i = 0 … K/2 − 1, in radians a position."""
    i = torch.arange(0, d_k, 2, dtype=dtype, device=device)
    theta = base ** (-i / d_k)
    return theta if scaling is None else lowered(theta, base, scaling)


def lowered(
    theta: Float[Tensor, "P"], base: float, scaling: RopeScaling
) -> Float[Tensor, "P"]:
    """Return the P frequencies after one of the four maps.

    Sources: Chen et al. 2023 (linear), Peng et al. 2024 (ntk, and yarn as
    in their released code), Llama 3.1's released code (llama3).
    """
    factor, old = scaling.factor, scaling.old_context
    n_pairs = len(theta)
    pairs = torch.arange(n_pairs, dtype=theta.dtype, device=theta.device)
    if scaling.kind == "ntk":
        return theta * factor ** (-pairs / max(n_pairs - 1, 1))
    if scaling.kind == "linear":
        return theta / factor
    if scaling.kind == "llama3":
        turns = old * theta / (2 * math.pi)
        kept = (turns - scaling.low) / (scaling.high - scaling.low)
    else:  # yarn
        first, last = (
            n_pairs * math.log(old / (2 * math.pi * turns)) / math.log(base)
            for turns in (scaling.high, scaling.low)
        )
        first = max(math.floor(first), 0)
        last = min(math.ceil(last), 2 * n_pairs - 1)
        kept = 1 - (pairs - first) / (last - first or 0.001)
    kept = kept.clamp(0, 1)
    return kept * theta + (1 - kept) * theta / factor


def rope(
    x: Float[Tensor, "*B T K"],
    positions: Num[Tensor, "T"],
    base: float,
    pairing: str,
    scaling: RopeScaling | None = None,
) -> Float[Tensor, "*B T K"]:
    """Turn each pair of channels by position × frequency.

    `pairing` is "half" (channel i with i + K/2) or "interleaved" (2i with
    2i + 1). Angles and products are wide: bfloat16 rounds 257 to 256. YaRN
    also stretches x, by 0.1 ln(factor) + 1.
    Raises ValueError for another pairing or an odd K.
    """
    if pairing not in ("half", "interleaved") or x.shape[-1] % 2:
        raise ValueError(
            f"rope got pairing={pairing!r} and K={x.shape[-1]}; it needs "
            "'half' or 'interleaved' and an even K"
        )
    wide = wide_dtype(x.dtype)
    theta = rope_frequencies(x.shape[-1], base, wide, x.device, scaling)
    angles = positions.to(wide)[:, None] * theta  # (T, K/2)
    cos, sin = angles.cos(), angles.sin()
    if scaling is not None and scaling.kind == "yarn":
        stretch = 1 + 0.1 * math.log(scaling.factor)
        cos, sin = stretch * cos, stretch * sin
    if pairing == "half":
        a, b = x.chunk(2, dim=-1)
    else:
        a, b = x[..., 0::2], x[..., 1::2]
    turned = (a * cos - b * sin, a * sin + b * cos)
    if pairing == "half":
        return torch.cat(turned, dim=-1).to(x.dtype)
    return torch.stack(turned, dim=-1).flatten(-2).to(x.dtype)
