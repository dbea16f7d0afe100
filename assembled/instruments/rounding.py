"""How far the logits of a narrow model are off, from counting roundings.

Chapter: The same model in PyTorch. Everything is a mean square, relative,
in units of u², where u is the dtype's unit roundoff. First order in u, and
statistical: roundings are independent of each other and of the signal.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

# One rounding: the error is uniform within ±u of the significand m, and m
# is log-uniform on [1, 2) (Benford), so E[(u²/3)/m²] = u² / (8 ln 2).
ONE_ROUNDING = 1 / (8 * np.log(2))


def silu_moments() -> tuple[float, float]:
    """Return E[(silu'(g) g)²] / E[silu²] and 1 + E[silu'²] / E[silu²].

    For g ~ N(0, 1): what a relative error of the gate alone, and one of the
    whole input, become after silu(gate) · up. The second is χ_J/χ_f of the
    chapter on Pre-LN and Post-LN.
    """
    g = np.linspace(-9, 9, 4001)
    weight = np.exp(-g * g / 2)
    sigmoid = 1 / (1 + np.exp(-g))
    silu = g * sigmoid
    slope = sigmoid + silu * (1 - sigmoid)

    def mean(f):
        return (f * weight).sum() / weight.sum()

    forward = mean(silu**2)
    return mean((slope * g) ** 2) / forward, 1 + mean(slope**2) / forward


def mixing(
    weights: Float[ndarray, "*B T S"], values: Float[ndarray, "*B S K"]
) -> tuple[float, float]:
    """Return what attention leaves of independent errors: (noise, spread).

    With o = Σ p v: errors of the values reach it as Σ p²|v|² / |o|², those
    of the scores as Σ p²|v − o|² / |o|². Both are 1 for independent values
    and fall as the values grow alike: the mean keeps what they share.
    """
    outputs = weights @ values  # (*B, T, K)
    size = (outputs**2).sum()
    square = weights**2
    noise = (square * (values**2).sum(-1)[..., None, :]).sum()
    apart = (values[..., None, :, :] - outputs[..., None, :]) ** 2
    spread = (square * apart.sum(-1)).sum()
    return float(noise / size), float(spread / size)


def attention_error(e: float, noise: float = 1.0, spread: float = 1.0):
    """Return the error of attention's output for error e of its input.

    Scores have variance 1, as at the start. The input reaches the output
    through the values (noise) and through q and k (spread each). Rounded
    are the values and weights (noise each), q and k, both as products and
    after RoPE (spread each), the mixed values and the output.
    """
    rounded = 2 * noise + 4 * spread + 2
    return (noise + 2 * spread) * e + rounded * ONE_ROUNDING


def swiglu_error(e: float) -> float:
    """Return the error of SwiGLU's output for error e of its input.

    Rounded are the gate (weighted by what silu makes of it), up, silu,
    their product and the output.
    """
    gate, through = silu_moments()
    return through * e + (gate + 4) * ONE_ROUNDING


def logit_error(
    branches: list, embedding: float, placement: str, maps: list
) -> float:
    """Return the predicted relative rms error of the logits, in units of u.

    `branches` holds the variance of each sublayer's output, attention and
    SwiGLU in turn, `embedding` that of the stream at the start, `maps`
    each layer's attention weights and values. A sum of independent signals
    mixes their errors by their shares of the variance.
    """
    e, stream = 0.0, embedding
    for i, branch in enumerate(branches):
        # the norm before the sublayer rounds once
        normed = e + ONE_ROUNDING if placement == "pre" else e
        if i % 2 == 0:
            error = attention_error(normed, *mixing(*maps[i // 2]))
        else:
            error = swiglu_error(normed)
        share = branch / (stream + branch)
        e = (1 - share) * e + share * error + ONE_ROUNDING  # and the sum
        stream += branch
        if placement == "post":  # and the norm after it
            e, stream = e + ONE_ROUNDING, 1.0
    final = 2 if placement == "pre" else 1  # final norm, output matrix
    return float(np.sqrt(e + final * ONE_ROUNDING))
