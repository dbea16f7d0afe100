"""One layer: two residual sublayers. Chapter: The transformer, assembled.

Axes: B batch, T time, D d_model. Pre-LN: x + f(norm(x)). Post-LN:
norm(x + f(x)). Sources: Vaswani et al. 2017, Xiong et al. 2020.
"""

from jaxtyping import Inexact, Num
from numpy import ndarray

from assembled.config import Config
from assembled.reference.attention import (
    attention_backward,
    attention_forward,
    attention_step,
)
from assembled.reference.norm import norm_backward, norm_forward
from assembled.reference.swiglu import swiglu_backward, swiglu_forward


def block_forward(
    x: Inexact[ndarray, "B T D"],
    weights: dict,
    config: Config,
    positions: Num[ndarray, "T"],
) -> tuple[Inexact[ndarray, "B T D"], tuple]:
    """Pass the stream through attention, then through SwiGLU.

    `weights` holds attention_norm.gain, attention.wq, … by name.
    """
    x, attention_cache = sublayer_forward(
        x, weights, "attention", config, positions
    )
    x, swiglu_cache = sublayer_forward(
        x, weights, "swiglu", config, positions
    )
    return x, (attention_cache, swiglu_cache)


def block_backward(
    dx: Inexact[ndarray, "B T D"], cache: tuple
) -> tuple[Inexact[ndarray, "B T D"], dict]:
    """Return dx and the gradients by name, from the last sublayer up."""
    attention_cache, swiglu_cache = cache
    dx, swiglu_grads = sublayer_backward(dx, "swiglu", swiglu_cache)
    dx, attention_grads = sublayer_backward(dx, "attention", attention_cache)
    return dx, attention_grads | swiglu_grads


def block_step(
    x: Inexact[ndarray, "B T D"],
    weights: dict,
    config: Config,
    start: int,
    kept: Inexact[ndarray, "2 B G _ K"],
) -> Inexact[ndarray, "B T D"]:
    """Do as `block_forward` for tokens from position `start` on.

    `kept` holds the layer's keys and values of the tokens before them.
    """

    def attend(z):
        attention = under(weights, "attention.")
        return attention_step(z, attention, config, start, kept)

    def feed(z):
        return swiglu_forward(z, **under(weights, "swiglu."))[0]

    for name, branch in (("attention", attend), ("swiglu", feed)):
        norm = under(weights, f"{name}_norm."), config.norm, config.norm_eps
        if config.placement == "pre":
            x = x + branch(norm_forward(x, *norm)[0])
        else:
            x = norm_forward(x + branch(x), *norm)[0]
    return x


def sublayer_forward(
    x: Inexact[ndarray, "B T D"],
    weights: dict,
    name: str,
    config: Config,
    positions: Num[ndarray, "T"],
) -> tuple[Inexact[ndarray, "B T D"], tuple]:
    """Add one branch to the stream, normalized before or after."""
    norm = (under(weights, f"{name}_norm."), config.norm, config.norm_eps)
    branch = (under(weights, f"{name}."), name, config, positions)
    if config.placement == "pre":
        normed, norm_cache = norm_forward(x, *norm)
        change, branch_cache = branch_forward(normed, *branch)
        y = x + change
    else:
        change, branch_cache = branch_forward(x, *branch)
        y, norm_cache = norm_forward(x + change, *norm)
    return y, (config.placement, norm_cache, branch_cache)


def sublayer_backward(
    dy: Inexact[ndarray, "B T D"], name: str, cache: tuple
) -> tuple[Inexact[ndarray, "B T D"], dict]:
    """Split dy between the identity path and the branch, and add them."""
    placement, norm_cache, branch_cache = cache
    if placement == "pre":
        dnormed, branch_grads = branch_backward(dy, name, branch_cache)
        dchange, norm_grads = norm_backward(dnormed, norm_cache)
        dx = dy + dchange
    else:
        dsum, norm_grads = norm_backward(dy, norm_cache)
        dchange, branch_grads = branch_backward(dsum, name, branch_cache)
        dx = dsum + dchange
    grads = within(f"{name}_norm.", norm_grads)
    return dx, grads | within(f"{name}.", branch_grads)


def branch_forward(
    x: Inexact[ndarray, "B T D"],
    weights: dict,
    name: str,
    config: Config,
    positions: Num[ndarray, "T"],
) -> tuple[Inexact[ndarray, "B T D"], tuple]:
    """Run the branch called `name`: attention or swiglu."""
    if name == "attention":
        return attention_forward(x, weights, config, positions)
    return swiglu_forward(x, **weights)


def branch_backward(
    dy: Inexact[ndarray, "B T D"], name: str, cache: tuple
) -> tuple[Inexact[ndarray, "B T D"], dict]:
    """Return dx and the gradients of the branch, by name."""
    if name == "attention":
        return attention_backward(dy, cache)
    dx, dw_gate, dw_up, dw_down = swiglu_backward(dy, cache)
    return dx, {"w_gate": dw_gate, "w_up": dw_up, "w_down": dw_down}


def under(weights: dict, prefix: str) -> dict:
    """Return the weights whose name starts with `prefix`, without it."""
    return {
        name.removeprefix(prefix): weight
        for name, weight in weights.items()
        if name.startswith(prefix)
    }


def within(prefix: str, grads: dict) -> dict:
    """Put `prefix` before every name: the inverse of `under`."""
    return {prefix + name: grad for name, grad in grads.items()}
