"""RMSNorm and LayerNorm. Chapter: Blocks, forward and backward.

Axes: D d_model; every other axis is a row of its own.
Sources: Ba et al. 2016 (LayerNorm), Zhang and Sennrich 2019 (RMSNorm).
"""

import numpy as np
from jaxtyping import Inexact
from numpy import ndarray


def rms_norm_forward(
    x: Inexact[ndarray, "*rows D"], gain: Inexact[ndarray, "D"], eps: float
) -> tuple[Inexact[ndarray, "*rows D"], tuple]:
    """Return gain · x / r with r = √(mean(x²) + eps), row by row.

    Raises ValueError if `gain` does not have one entry a channel.
    """
    check_width("gain", gain, x)
    r = np.sqrt(row_means(x, x) + eps)  # (..., 1)
    normed = x * (1 / r)
    return gain * normed, (normed, r, gain)


def rms_norm_backward(
    dy: Inexact[ndarray, "*rows D"], cache: tuple
) -> tuple[Inexact[ndarray, "*rows D"], Inexact[ndarray, "D"]]:
    """Return (dx, dgain): dx = (I − x̂x̂ᵀ/D)(gain · dy) / r."""
    normed, r, gain = cache
    dx = gain * dy
    dx -= normed * row_means(dx, normed)
    dx *= 1 / r
    return dx, sum_rows(dy * normed)


def layer_norm_forward(
    x: Inexact[ndarray, "*rows D"],
    gain: Inexact[ndarray, "D"],
    bias: Inexact[ndarray, "D"],
    eps: float,
) -> tuple[Inexact[ndarray, "*rows D"], tuple]:
    """Return gain · (x − mean) / σ + bias, σ = √(variance + eps).

    The variance divides by D, not by D − 1. Raises ValueError if `gain`
    or `bias` does not have one entry a channel.
    """
    check_width("gain", gain, x)
    check_width("bias", bias, x)
    centred = x - x.mean(-1, keepdims=True)
    sigma = np.sqrt(row_means(centred, centred) + eps)
    normed = centred / sigma
    return gain * normed + bias, (normed, sigma, gain)


def layer_norm_backward(
    dy: Inexact[ndarray, "*rows D"], cache: tuple
) -> tuple[
    Inexact[ndarray, "*rows D"], Inexact[ndarray, "D"], Inexact[ndarray, "D"]
]:
    """Return (dx, dgain, dbias): dx = (I − 11ᵀ/D − x̂x̂ᵀ/D)(gain · dy) / σ."""
    normed, sigma, gain = cache
    dnormed = gain * dy
    mean = dnormed.mean(-1, keepdims=True)  # (..., 1)
    radial = row_means(dnormed, normed)
    dx = (dnormed - mean - normed * radial) / sigma
    return dx, sum_rows(dy * normed), sum_rows(dy)


def row_means(
    x: Inexact[ndarray, "*rows D"], y: Inexact[ndarray, "*rows D"]
) -> Inexact[ndarray, "*rows 1"]:
    """Return each row's mean of x · y, without an array of the products."""
    return np.einsum("...d,...d->...", x, y)[..., None] / x.shape[-1]


def sum_rows(x: Inexact[ndarray, "*rows D"]) -> Inexact[ndarray, "D"]:
    """Sum over every axis but the last: one gain serves all rows."""
    return x.reshape(-1, x.shape[-1]).sum(0)


def check_width(name: str, vector: ndarray, x: ndarray) -> None:
    """Raise ValueError unless `vector` has one entry a channel of `x`."""
    if vector.shape != x.shape[-1:]:
        raise ValueError(
            f"{name} has shape {vector.shape} but x has shape {x.shape}; "
            f"it needs one entry a channel, shape {x.shape[-1:]}"
        )


def norm_forward(
    x: Inexact[ndarray, "*rows D"], weights: dict, norm: str, eps: float
) -> tuple[Inexact[ndarray, "*rows D"], tuple]:
    """Apply the norm that `norm` names, "rms" or "layer", to each row."""
    if norm == "rms":
        y, cache = rms_norm_forward(x, weights["gain"], eps)
    else:
        y, cache = layer_norm_forward(
            x, weights["gain"], weights["bias"], eps
        )
    return y, (norm, cache)


def norm_backward(
    dy: Inexact[ndarray, "*rows D"], cache: tuple
) -> tuple[Inexact[ndarray, "*rows D"], dict]:
    """Return dx and the gradients of the norm's weights, by name."""
    norm, inner = cache
    if norm == "rms":
        dx, dgain = rms_norm_backward(dy, inner)
        return dx, {"gain": dgain}
    dx, dgain, dbias = layer_norm_backward(dy, inner)
    return dx, {"gain": dgain, "bias": dbias}
