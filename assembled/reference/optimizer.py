"""AdamW and what surrounds it: clipping and the learning rate's course.

Chapter: Training it. Sources: Kingma and Ba 2014 (Adam),
Loshchilov and Hutter 2017 (decoupled decay, cosine).
"""

import math

import numpy as np
from numpy import ndarray


def adamw_init(params: dict[str, ndarray]) -> dict:
    """Return the state before the first step: no steps, zero moments."""
    return {
        "step": 0,
        "m": {name: np.zeros_like(w) for name, w in params.items()},
        "v": {name: np.zeros_like(w) for name, w in params.items()},
    }


def adamw_step(
    params: dict[str, ndarray],
    grads: dict[str, ndarray],
    state: dict,
    lr: float,
    betas: tuple[float, float] = (0.9, 0.95),
    eps: float = 1e-8,
    weight_decay: float = 0.1,
) -> None:
    """Move `params` and `state` one step, in place.

    m ← β₁m + (1 − β₁)g, v ← β₂v + (1 − β₂)g², both divided by 1 − βᵗ;
    then w ← w − lr · decay · w − lr · m̂/(√v̂ + eps). The decay does not
    pass through the moments, and spares what `is_decayed` spares.
    """
    state["step"] += 1
    t, (beta1, beta2) = state["step"], betas
    for name, w in params.items():
        g, m, v = grads[name], state["m"][name], state["v"][name]
        m += (1 - beta1) * (g - m)
        v += (1 - beta2) * (g * g - v)
        if is_decayed(name):
            w *= 1 - lr * weight_decay
        root = np.sqrt(v / (1 - beta2**t))
        root += eps
        w -= m * (lr / (1 - beta1**t)) / root


def is_decayed(name: str) -> bool:
    """Return whether weight decay shrinks this parameter.

    Matrices decay. Gains and biases do not: a norm's gain belongs at 1,
    not at 0. Nor do embeddings, where a rare token's row would fade away
    between the steps that see it.
    """
    return not name.endswith((".gain", ".bias", "embedding.weight"))


def clip_gradients(grads: dict[str, ndarray], largest: float) -> float:
    """Scale all gradients, in place, to a joint norm of at most `largest`.

    Returns the norm before. Raises ValueError where it is not finite,
    naming the first parameter at fault.
    """
    norms = {n: float(np.linalg.norm(g)) for n, g in grads.items()}
    norm = math.hypot(*norms.values())
    if not math.isfinite(norm):
        name = next(n for n, s in norms.items() if not math.isfinite(s))
        raise ValueError(
            f"the gradient of {name} is not finite; lower the learning rate, "
            "or look for overflow in the forward"
        )
    if norm > largest:
        for g in grads.values():
            g *= largest / norm
    return norm


def cosine_schedule(
    step: int, n_steps: int, peak: float, warmup: int, floor: float = 0.1
) -> float:
    """Return the learning rate at `step`, which counts from 0.

    It climbs in a line to `peak` over `warmup` steps, then follows half a
    cosine down to `floor` · `peak` at the last step.
    """
    if step < warmup:
        return peak * (step + 1) / warmup
    way = (step - warmup) / max(1, n_steps - 1 - warmup)  # 0 … 1
    return peak * (floor + (1 - floor) * 0.5 * (1 + math.cos(math.pi * way)))
