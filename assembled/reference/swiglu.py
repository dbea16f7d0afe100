"""SwiGLU, the feed-forward branch. Chapter: Blocks, forward and backward.

Axes: D d_model, F d_ff. `gate` goes through SiLU, `up` does not; Llama
calls gate, up and down w1, w3 and w2. Source: Shazeer 2020.
"""

import numpy as np
from jaxtyping import Inexact
from numpy import ndarray

from assembled.reference.embedding import linear_backward, linear_forward


def swiglu_forward(
    x: Inexact[ndarray, "*rows D"],
    w_gate: Inexact[ndarray, "D F"],
    w_up: Inexact[ndarray, "D F"],
    w_down: Inexact[ndarray, "F D"],
) -> tuple[Inexact[ndarray, "*rows D"], tuple]:
    """Return (silu(x w_gate) · (x w_up)) w_down, silu(z) = z sigmoid(z)."""
    gate, gate_cache = linear_forward(x, w_gate)
    up, up_cache = linear_forward(x, w_up)
    s = sigmoid(gate)
    silu = gate * s
    y, down_cache = linear_forward(silu * up, w_down)
    return y, (gate, up, s, silu, gate_cache, up_cache, down_cache)


def swiglu_backward(
    dy: Inexact[ndarray, "*rows D"], cache: tuple
) -> tuple[
    Inexact[ndarray, "*rows D"],
    Inexact[ndarray, "D F"],
    Inexact[ndarray, "D F"],
    Inexact[ndarray, "F D"],
]:
    """Return (dx, dw_gate, dw_up, dw_down).

    The product rule, with silu'(z) = sigmoid(z) (1 + z − silu(z)).
    """
    gate, up, s, silu, gate_cache, up_cache, down_cache = cache
    dhidden, dw_down = linear_backward(dy, down_cache)
    dup = dhidden * silu
    dgate = 1 + gate
    dgate -= silu
    for factor in (s, up, dhidden):
        dgate *= factor
    dx_up, dw_up = linear_backward(dup, up_cache)
    dx_gate, dw_gate = linear_backward(dgate, gate_cache)
    return dx_up + dx_gate, dw_gate, dw_up, dw_down


def sigmoid(z: Inexact[ndarray, "*rows F"]) -> Inexact[ndarray, "*rows F"]:
    """Return 1/(1 + exp(−z)), as a tanh: exp overflows where z is low."""
    s = 0.5 * z
    np.tanh(s, out=s)
    s += 1
    s *= 0.5
    return s
