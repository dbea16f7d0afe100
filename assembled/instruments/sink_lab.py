"""A sink in seconds: one head learns to act at a trigger and else to rest.

Chapter: Attention sinks. Axes: R independent runs, B batch, T time,
C = E + 3 channels of a token, E content, K d_k. The task follows the idea
of arXiv 2603.11487: no MLP, no residual stream, no positions.
"""

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from assembled.instruments.sinks import attention_to, value_drain

VALVES = ("softmax", "softmax1", "sink_logit", "relu")


def trigger_batch(
    rng: np.random.Generator,
    R: int,
    B: int,
    T: int = 16,
    E: int = 8,
    bos: bool = True,
) -> tuple[
    Float[ndarray, "R B T C"], Float[ndarray, "R B T E"], Int[ndarray, "R B"]
]:
    """Return tokens, targets and the place of each sequence's trigger.

    A token is E normal numbers, a trigger flag, a BOS flag and a constant
    1, from which keys and queries learn their offsets. The target is the
    mean of the earlier content at the trigger and 0 everywhere else.
    """
    x = np.zeros((R, B, T, E + 3), np.float32)
    x[..., :E] = rng.standard_normal((R, B, T, E), dtype=np.float32)
    x[..., E + 2] = 1
    first = int(bos)  # the first token that holds content
    if bos:
        x[:, :, 0, : E + 2] = [0.0] * (E + 1) + [1.0]
    trigger = rng.integers(first + 1, T, (R, B))
    r, b = np.ogrid[:R, :B]
    x[r, b, trigger, : E + 2] = [0.0] * E + [1.0, 0.0]
    y = np.zeros((R, B, T, E), np.float32)
    earlier = np.arange(T) < trigger[..., None]  # (R, B, T)
    total = (x[..., :E] * earlier[..., None]).sum(2)
    y[r, b, trigger] = total / (trigger - first)[..., None]
    return x, y, trigger


def attend_forward(
    scores: Float[ndarray, "R B T T"], valve: str, sink=0.0
) -> tuple[Float[ndarray, "R B T T"], Float[ndarray, "R B T 1"]]:
    """Return the weights and the rest, the share that no token gets.

    softmax: no rest. softmax1 and sink_logit: one more logit, 0 or
    learned, stands in the denominator alone. relu: max(score, 0) over the
    number of visible keys; it shares nothing out, so the rest is unused.
    """
    T = scores.shape[-1]
    mask = np.tri(T, dtype=bool)
    if valve == "relu":
        seen = np.arange(1, T + 1, dtype=scores.dtype)[:, None]
        weights = np.maximum(scores, 0) * mask / seen
        return weights, np.zeros_like(scores[..., :1])
    extra = {"softmax": -np.inf, "softmax1": 0.0, "sink_logit": sink}[valve]
    scores = np.where(mask, scores, -np.inf)
    top = np.maximum(scores.max(-1, keepdims=True), extra)
    e, e_extra = np.exp(scores - top), np.exp(extra - top)
    total = e.sum(-1, keepdims=True) + e_extra
    return e / total, e_extra / total


def attend_backward(
    dweights: Float[ndarray, "R B T T"],
    weights: Float[ndarray, "R B T T"],
    rest: Float[ndarray, "R B T 1"],
    valve: str,
) -> tuple[Float[ndarray, "R B T T"], Float[ndarray, "R 1 1 1"]]:
    """Return dscores and dsink.

    The extra token has no value, so its own gradient is 0 and softmax's
    p (dp − Σ p dp) becomes −rest Σ p dp.
    """
    T = weights.shape[-1]
    if valve == "relu":
        seen = np.arange(1, T + 1, dtype=weights.dtype)[:, None]
        none = np.zeros_like(weights[:, :1, :1, :1])
        return dweights * (weights > 0) / seen, none
    inner = (weights * dweights).sum(-1, keepdims=True)
    dsink = -(rest * inner).sum((1, 2), keepdims=True)
    return weights * (dweights - inner), dsink


def head_forward(
    x: Float[ndarray, "R B T C"], params: dict, valve: str
) -> tuple[Float[ndarray, "R B T E"], tuple]:
    """Return one head's output, and its cache (x, q, k, v, weights, rest)."""
    q, k, v = x @ params["wq"], x @ params["wk"], x @ params["wv"]
    q = q * q.dtype.type(q.shape[-1] ** -0.5)
    scores = q @ k.swapaxes(-1, -2)  # (R, B, T, T)
    sink = params.get("sink", 0.0)
    weights, rest = attend_forward(scores, valve, sink)
    return weights @ v, (x, q, k, v, weights, rest)


def head_backward(
    dy: Float[ndarray, "R B T E"], cache: tuple, valve: str
) -> dict:
    """Return the gradients of wq, wk, wv and, where learned, the sink."""
    x, q, k, v, weights, rest = cache
    dv = weights.swapaxes(-1, -2) @ dy
    dscores, dsink = attend_backward(
        dy @ v.swapaxes(-1, -2), weights, rest, valve
    )
    dq = dscores @ k * q.dtype.type(q.shape[-1] ** -0.5)
    dk = dscores.swapaxes(-1, -2) @ q
    R, C = x.shape[0], x.shape[-1]
    rows = x.reshape(R, 1, -1, C).swapaxes(-1, -2)  # (R, 1, C, B·T)
    grads = {
        name: rows @ d.reshape(R, 1, -1, d.shape[-1])
        for name, d in (("wq", dq), ("wk", dk), ("wv", dv))
    }
    return grads | ({"sink": dsink} if valve == "sink_logit" else {})


def init_head(
    rng: np.random.Generator, R: int, valve: str, E: int = 8, K: int = 16
) -> dict[str, ndarray]:
    """Return R heads of deviation 1/√C, and a sink logit of 0 if asked."""
    C = E + 3
    params = {
        name: rng.standard_normal((R, 1, C, n), dtype=np.float32)
        / np.float32(C**0.5)
        for name, n in (("wq", K), ("wk", K), ("wv", E))
    }
    if valve == "sink_logit":
        params["sink"] = np.zeros((R, 1, 1, 1), np.float32)
    return params


def train(
    valve: str = "softmax",
    bos: bool = True,
    runs: int = 8,
    steps: int = 600,
    batch: int = 32,
    lr: float = 0.03,
    seed: int = 0,
) -> tuple[dict, dict]:
    """Train `runs` heads side by side; return them and their history.

    Adam (Kingma & Ba 2015), its rate falling linearly to 5 %. The history
    holds, every 20 steps and for each run, the loss, the weight on token 0
    and the length of its value.
    """
    if valve not in VALVES:
        raise ValueError(f"valve is {valve!r}; it must be one of {VALVES}")
    rng = np.random.default_rng(seed)
    params = init_head(rng, runs, valve)
    first = {name: np.zeros_like(p) for name, p in params.items()}
    second = {name: np.zeros_like(p) for name, p in params.items()}
    history = {"step": [], "loss": [], "to_first": [], "drain": []}
    for step in range(1, steps + 1):
        x, y, trigger = trigger_batch(rng, runs, batch, bos=bos)
        z, cache = head_forward(x, params, valve)
        if step % 20 == 1:
            record(history, step, z - y, cache, trigger)
        dz = (z - y) * np.float32(2 / y[0].size)
        grads = head_backward(dz, cache, valve)
        rate = lr * (1 - 0.95 * step / steps)
        for name, g in grads.items():
            first[name] += 0.1 * (g - first[name])
            second[name] += 0.001 * (g * g - second[name])
            m = first[name] / (1 - 0.9**step)
            s = second[name] / (1 - 0.999**step)
            params[name] -= rate * m / (np.sqrt(s) + 1e-8)
    return params, {name: np.array(h) for name, h in history.items()}


def record(history, step, error, cache, trigger) -> None:
    """Append one line, a number a run, to the history."""
    _, _, _, v, weights, _ = cache
    rests = bystanders(trigger, weights.shape[-1])
    history["step"].append(step)
    history["loss"].append((error**2).mean((1, 2, 3)))
    history["to_first"].append(run_mean(attention_to(weights), rests))
    history["drain"].append(value_drain(v).mean(1))


def bystanders(
    trigger: Int[ndarray, "R B"], T: int
) -> ndarray:
    """Return True at the queries that must rest and have a choice of keys.

    That is all but the trigger, from the third token on.
    """
    at = np.arange(T)
    return (at != trigger[..., None]) & (at >= 2)  # (R, B, T)


def run_mean(
    values: Float[ndarray, "R B T"], where: ndarray
) -> Float[ndarray, "R"]:
    """Return each run's mean over the queries where `where` holds."""
    return values.mean((1, 2), where=where)
