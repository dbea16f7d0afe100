"""Rotary position embedding. Chapter: Blocks, forward and backward.

Axes: T time, K d_k. Pair i of a head turns by position · base^(−2i/K);
i counts from 0. Source: Su et al. 2021.
"""

import numpy as np
from jaxtyping import Float, Inexact, Num
from numpy import ndarray

from assembled.config import RopeScaling


def rope_frequencies(
    d_k: int, base: float, scaling: RopeScaling | None = None
) -> Float[ndarray, "{d_k}//2"]:
    """Return radians a position, pair by pair, in float64.

    Raises ValueError if d_k is odd or base is not positive.
    """
    if d_k % 2:
        raise ValueError(
            f"d_k is {d_k}; RoPE turns pairs of channels, so it must be even"
        )
    if base <= 0:
        raise ValueError(f"base is {base}; it must be positive")
    theta = base ** (-np.arange(0, d_k, 2) / d_k)
    return theta if scaling is None else lowered(theta, base, scaling)


def lowered(
    theta: Float[ndarray, "P"], base: float, scaling: RopeScaling
) -> Float[ndarray, "P"]:
    """Return the P frequencies after one of the four maps.

    Sources: Chen et al. 2023 (linear), Peng et al. 2024 (ntk, and yarn as
    in their released code), Llama 3.1's released code (llama3).
    """
    factor, old = scaling.factor, scaling.old_context
    n_pairs = len(theta)
    pairs = np.arange(n_pairs)
    if scaling.kind == "ntk":  # the last pair by factor, the first not
        return theta * factor ** (-pairs / max(n_pairs - 1, 1))
    if scaling.kind == "linear":
        return theta / factor
    if scaling.kind == "llama3":
        turns = old * theta / (2 * np.pi)
        kept = (turns - scaling.low) / (scaling.high - scaling.low)
    else:  # yarn: a ramp over the pair's index, between rounded corners
        limits = np.array([scaling.high, scaling.low])
        corners = n_pairs * np.log(old / (2 * np.pi * limits)) / np.log(base)
        first = max(np.floor(corners[0]), 0)
        last = min(np.ceil(corners[1]), 2 * n_pairs - 1)
        kept = 1 - (pairs - first) / (last - first or 0.001)
    kept = np.clip(kept, 0, 1)
    return kept * theta + (1 - kept) * theta / factor


def rope_stretch(scaling: RopeScaling | None) -> float:
    """Return what queries and keys are multiplied by: 1, except in YaRN."""
    if scaling is None or scaling.kind != "yarn":
        return 1.0
    return 1.0 + 0.1 * float(np.log(scaling.factor))


def rope_forward(
    x: Inexact[ndarray, "*heads T K"],
    positions: Num[ndarray, "T"],
    base: float,
    pairing: str,
    scaling: RopeScaling | None = None,
) -> tuple[Inexact[ndarray, "*heads T K"], tuple]:
    """Turn each pair of channels of x by its position's angle.

    `pairing` "half" pairs channel i with i + K/2, "interleaved" 2i with
    2i + 1. Positions may start anywhere and need not be whole. Angles are
    float64 whatever x is: in half precision, position 257 is 256. YaRN
    also stretches x. Raises ValueError for another
    pairing or one position too few.
    """
    if positions.shape != x.shape[-2:-1]:
        raise ValueError(
            f"positions has shape {positions.shape} but x has T="
            f"{x.shape[-2]} rows; give one position a row"
        )
    theta = rope_frequencies(x.shape[-1], base, scaling)
    angles = np.outer(positions, theta)
    stretch = rope_stretch(scaling)
    cos = (stretch * np.cos(angles)).astype(x.real.dtype)  # (T, K/2)
    sin = (stretch * np.sin(angles)).astype(x.real.dtype)
    return turn_pairs(x, cos, sin, pairing), (cos, sin, pairing)


def rope_backward(
    dy: Inexact[ndarray, "*heads T K"], cache: tuple
) -> Inexact[ndarray, "*heads T K"]:
    """Turn back: a rotation's transpose is the rotation by minus its angle.

    (A stretch stays a stretch: it is its own transpose.)
    """
    cos, sin, pairing = cache
    return turn_pairs(dy, cos, -sin, pairing)


def turn_pairs(
    x: Inexact[ndarray, "*heads T K"],
    cos: Float[ndarray, "T K//2"],
    sin: Float[ndarray, "T K//2"],
    pairing: str,
) -> Inexact[ndarray, "*heads T K"]:
    """Apply [[cos, −sin], [sin, cos]] to every pair of channels."""
    first, second = pair_slices(x.shape[-1], pairing)
    a, b = x[..., first], x[..., second]
    # A fresh array, not empty_like: x may be a transposed view, and the
    # batched products that follow need their operands contiguous.
    y = np.empty(x.shape, x.dtype)
    np.multiply(a, cos, out=y[..., first])
    y[..., first] -= b * sin
    np.multiply(a, sin, out=y[..., second])
    y[..., second] += b * cos
    return y


def pair_slices(d_k: int, pairing: str) -> tuple[slice, slice]:
    """Return where the first and the second members of all pairs lie."""
    if pairing == "half":
        return slice(0, d_k // 2), slice(d_k // 2, d_k)
    if pairing == "interleaved":
        return slice(0, d_k, 2), slice(1, d_k, 2)
    raise ValueError(
        f"pairing is {pairing!r}; it must be 'half' or 'interleaved'"
    )


def half_from_interleaved(
    weight: Inexact[ndarray, "D C"], n_heads: int
) -> Inexact[ndarray, "D C"]:
    """Reorder the columns of wq or wk for the half-split pairing.

    In each head, columns 2i and 2i + 1 move to i and i + K/2. wv and wo
    stay as they are. Raises ValueError if the columns are no whole pairs.
    """
    check_pairs(weight, n_heads)
    pairs = weight.reshape(len(weight), n_heads, -1, 2)  # (D, H, K/2, 2)
    return pairs.swapaxes(-1, -2).reshape(weight.shape)


def interleaved_from_half(
    weight: Inexact[ndarray, "D C"], n_heads: int
) -> Inexact[ndarray, "D C"]:
    """Undo `half_from_interleaved`; the same errors."""
    check_pairs(weight, n_heads)
    halves = weight.reshape(len(weight), n_heads, 2, -1)  # (D, H, 2, K/2)
    return halves.swapaxes(-1, -2).reshape(weight.shape)


def check_pairs(weight: ndarray, n_heads: int) -> None:
    """Raise ValueError unless every head's columns come in pairs."""
    if n_heads < 1 or weight.shape[1] % (2 * n_heads):
        raise ValueError(
            f"{weight.shape[1]} columns are no {n_heads} heads of whole "
            "pairs; pass H for wq and G for wk"
        )
