"""Is there an attention sink, and is it empty? Chapter: Attention sinks.

Axes: T queries, S keys, K the width of a value; leading axes are free
(batch, heads, runs). Sources: Xiao et al. 2023, Gu et al. 2024.
"""

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray


def attention_to(
    weights: Float[ndarray, "*B T S"], key: int = 0
) -> Float[ndarray, "*B T"]:
    """Return the weight that each query gives to one key."""
    return weights[..., key]


def null_tokens(
    values: Float[ndarray, "*B S K"], share: float = 0.1
) -> Bool[ndarray, "*B S"]:
    """Return True where a value is shorter than `share` of the median.

    The median is that of the token's own sequence: a sink is empty beside
    its neighbours, not by an absolute measure.
    """
    length = np.linalg.norm(values, axis=-1)  # (*B, S)
    return length < share * np.median(length, axis=-1, keepdims=True)


def null_mass(
    weights: Float[ndarray, "*B T S"],
    values: Float[ndarray, "*B S K"],
    share: float = 0.1,
) -> Float[ndarray, "*B T"]:
    """Return the weight that each query gives to tokens without a value.

    It is the honest sink score of a head: such weight moves no output,
    whether one token carries it or several.
    """
    empty = null_tokens(values, share)
    return (weights * empty[..., None, :]).sum(-1)


def value_drain(
    values: Float[ndarray, "*B S K"], key: int = 0
) -> Float[ndarray, "*B"]:
    """Return the length of one token's value over the sequence's median."""
    length = np.linalg.norm(values, axis=-1)
    return length[..., key] / np.median(length, axis=-1)
