"""Into and out of the residual stream: a lookup and a product.

Chapter: Blocks, forward and backward. Axes: B batch, T time, D d_model,
V vocabulary; I and O are the widths of any linear map.
"""

import numpy as np
from jaxtyping import Inexact, Integer
from numpy import ndarray


def embedding_forward(
    tokens: Integer[ndarray, "*rows"], weight: Inexact[ndarray, "V D"]
) -> tuple[Inexact[ndarray, "*rows D"], tuple]:
    """Return row `token` of `weight` for each token.

    Raises ValueError for a token outside 0 … V − 1: NumPy would read a
    negative one from the end of the table without a word.
    """
    check_tokens("tokens", tokens, len(weight))
    return weight[tokens], (tokens, weight)


def embedding_backward(
    dx: Inexact[ndarray, "*rows D"], cache: tuple
) -> Inexact[ndarray, "V D"]:
    """Return dweight: each row sums dx over the places of its token."""
    tokens, weight = cache
    dweight = np.zeros_like(weight)
    np.add.at(dweight, tokens, dx)
    return dweight


def linear_forward(
    x: Inexact[ndarray, "*rows I"], weight: Inexact[ndarray, "I O"]
) -> tuple[Inexact[ndarray, "*rows O"], tuple]:
    """Return x @ weight, with no bias; the output matrix is one of these.

    Raises ValueError if the rows of `weight` do not match x's width.
    """
    if x.shape[-1] != weight.shape[0]:
        raise ValueError(
            f"weight has shape {weight.shape} but x has width "
            f"{x.shape[-1]}; x @ weight needs {x.shape[-1]} rows "
            "(a torch nn.Linear stores the transpose)"
        )
    rows = x.reshape(-1, x.shape[-1])  # one large product, not B small ones
    y = (rows @ weight).reshape(*x.shape[:-1], -1)
    return y, (x, weight)


def linear_backward(
    dy: Inexact[ndarray, "*rows O"], cache: tuple
) -> tuple[Inexact[ndarray, "*rows I"], Inexact[ndarray, "I O"]]:
    """Return (dx, dweight) = (dy weightᵀ, xᵀ dy summed over the rows)."""
    x, weight = cache
    rows = x.reshape(-1, x.shape[-1])
    drows = dy.reshape(-1, dy.shape[-1])
    return (drows @ weight.T).reshape(x.shape), rows.T @ drows


def check_tokens(name: str, tokens: ndarray, vocab_size: int) -> None:
    """Raise ValueError, with the first culprit, for an id outside 0 … V−1."""
    outside = (tokens < 0) | (tokens >= vocab_size)
    if outside.any():
        raise ValueError(
            f"{name} holds {tokens[outside][0]}; ids must lie in "
            f"0 … {vocab_size - 1} (vocab_size={vocab_size})"
        )
