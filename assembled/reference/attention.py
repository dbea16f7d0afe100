"""Causal grouped-query attention. Chapter: Blocks, forward and backward.

Axes: B batch, T time, S keys (T unless some are kept from before),
D d_model, H query heads, G key/value heads, R = H/G queries a group, K d_k.
Query head h reads group h // R.
Sources: Vaswani et al. 2017, Ainslie et al. 2023 (grouped queries).
"""

import numpy as np
from jaxtyping import Inexact, Num
from numpy import ndarray

from assembled.config import Config
from assembled.reference.embedding import linear_backward, linear_forward
from assembled.reference.rope import rope_backward, rope_forward
from assembled.reference.softmax import (
    causal_mask,
    softmax_backward,
    softmax_forward,
)


def attention_forward(
    x: Inexact[ndarray, "B T D"],
    weights: dict,
    config: Config,
    positions: Num[ndarray, "T"],
) -> tuple[Inexact[ndarray, "B T D"], tuple]:
    """Return every head's mix of values, joined and projected by wo.

    `weights` holds wq (D, H·K), wk and wv (D, G·K), and wo (H·K, D).
    """
    q, q_cache = linear_forward(x, weights["wq"])
    k, k_cache = linear_forward(x, weights["wk"])
    v, v_cache = linear_forward(x, weights["wv"])
    rope = (positions, *rope_settings(config))
    q, rope_cache = rope_forward(split_heads(q, config.d_k), *rope)
    k, _ = rope_forward(split_heads(k, config.d_k), *rope)
    mixed, mix_cache = mix_forward(q, k, split_heads(v, config.d_k))
    y, o_cache = linear_forward(join_heads(mixed), weights["wo"])
    linear_caches = (q_cache, k_cache, v_cache, o_cache)
    return y, (linear_caches, rope_cache, mix_cache, config.d_k)


def attention_backward(
    dy: Inexact[ndarray, "B T D"], cache: tuple
) -> tuple[Inexact[ndarray, "B T D"], dict]:
    """Return dx, the sum of three roads, and the gradients by name."""
    linear_caches, rope_cache, mix_cache, d_k = cache
    q_cache, k_cache, v_cache, o_cache = linear_caches
    dmixed, dwo = linear_backward(dy, o_cache)
    dq, dk, dv = mix_backward(split_heads(dmixed, d_k), mix_cache)
    dq = join_heads(rope_backward(dq, rope_cache))
    dk = join_heads(rope_backward(dk, rope_cache))
    dx_q, dwq = linear_backward(dq, q_cache)
    dx_k, dwk = linear_backward(dk, k_cache)
    dx_v, dwv = linear_backward(join_heads(dv), v_cache)
    grads = {"wq": dwq, "wk": dwk, "wv": dwv, "wo": dwo}
    return dx_q + dx_k + dx_v, grads


def attention_step(
    x: Inexact[ndarray, "B T D"],
    weights: dict,
    config: Config,
    start: int,
    kept: Inexact[ndarray, "2 B G _ K"],
) -> Inexact[ndarray, "B T D"]:
    """Return what `attention_forward` would at positions start, start + 1, …

    `kept` holds this layer's keys and values of the earlier positions;
    those of the T new tokens are written into it.
    """
    end = start + x.shape[1]
    q, k, v = (
        split_heads(x @ weights[name], config.d_k)
        for name in ("wq", "wk", "wv")
    )
    rope = (np.arange(start, end), *rope_settings(config))
    kept[0, :, :, start:end] = rope_forward(k, *rope)[0]
    kept[1, :, :, start:end] = v
    keys, values = kept[:, :, :, :end]
    mixed, _ = mix_forward(rope_forward(q, *rope)[0], keys, values)
    return join_heads(mixed) @ weights["wo"]


def rope_settings(config: Config) -> tuple:
    """Return what `rope_forward` needs of the configuration, in order."""
    return config.rope_base, config.rope_pairing, config.rope_scaling


def mix_forward(
    q: Inexact[ndarray, "B H T K"],
    k: Inexact[ndarray, "B G S K"],
    v: Inexact[ndarray, "B G S K"],
) -> tuple[Inexact[ndarray, "B H T K"], tuple]:
    """Return softmax(q kᵀ/√K, causal) v for every query head.

    The queries stand at the last T of the S positions. The R query heads
    of a group become rows of one product, so keys and values are never
    copied.
    """
    B, G, S, K = k.shape
    T = q.shape[2]
    rows = q.reshape(B, G, -1, K)  # (B, G, R·T, K)
    scores = (rows * K**-0.5) @ k.swapaxes(-1, -2)  # (B, G, R·T, S)
    by_head = scores.reshape(B, -1, T, S)  # (B, H, T, S), the same memory
    np.copyto(by_head, -np.inf, where=~causal_mask(T, S))
    p = softmax_forward(scores, out=scores)
    return (p @ v).reshape(q.shape), (rows, k, v, p)


def mix_backward(
    dmixed: Inexact[ndarray, "B H T K"], cache: tuple
) -> tuple[
    Inexact[ndarray, "B H T K"],
    Inexact[ndarray, "B G T K"],
    Inexact[ndarray, "B G T K"],
]:
    """Return (dq, dk, dv); dk and dv sum over the queries of their group.

    That sum is the inner axis R·T of the two transposed products.
    """
    rows, k, v, p = cache
    dout = dmixed.reshape(rows.shape)  # (B, G, R·T, K)
    dv = p.swapaxes(-1, -2) @ dout
    dp = dout @ v.swapaxes(-1, -2)  # (B, G, R·T, T)
    dscores = softmax_backward(dp, p, out=dp)
    scale = k.shape[-1] ** -0.5
    dq = (dscores @ k * scale).reshape(dmixed.shape)
    dk = dscores.swapaxes(-1, -2) @ rows * scale
    return dq, dk, dv


def split_heads(
    x: Inexact[ndarray, "B T W"], d_k: int
) -> Inexact[ndarray, "B N T {d_k}"]:
    """Cut the last axis into heads and move them before time, in memory."""
    B, T, _ = x.shape
    heads = x.reshape(B, T, -1, d_k).swapaxes(1, 2)
    return np.ascontiguousarray(heads)


def join_heads(x: Inexact[ndarray, "B N T K"]) -> Inexact[ndarray, "B T N*K"]:
    """Undo `split_heads`."""
    B, _, T, _ = x.shape
    return x.swapaxes(1, 2).reshape(B, T, -1)
