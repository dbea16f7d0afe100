"""What tables of n-grams reach on a text: the lines for a model to beat.

Chapter: Training it. Axes: V vocabulary. Unit: nats a token.
Source: Witten and Bell 1991 (how much to trust a rare context).
"""

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray


def ngram_counts(
    tokens: Int[ndarray, "N"], n: int, V: int
) -> Float[ndarray, "*context V"]:
    """Return how often each token follows each n − 1 tokens, n axes."""
    counts = np.zeros((V,) * n)
    np.add.at(counts, ngrams(tokens, n), 1)
    return counts


def ngram_entropy(tokens: Int[ndarray, "N"], n: int) -> float:
    """Return H(next | the n − 1 before), counted on these very tokens.

    No table of n-grams has a lower mean loss on this text, wherever its
    counts are from.
    """
    return joint_entropy(ngrams(tokens, n)) - joint_entropy(
        ngrams(tokens, n)[:-1]
    )


def ngram_losses(
    tokens: Int[ndarray, "N"],
    held_out: Int[ndarray, "M"],
    V: int,
    longest: int = 3,
    trust: float = 2.0,
) -> list[float]:
    """Return the mean loss on `held_out` of tables counted on `tokens`.

    One loss for each n = 1 … `longest`. A table adds to its counts the
    probabilities of the next shorter one, with the weight of `trust` tokens
    for each different token that was seen to follow, and one at least.
    """
    p, losses = np.full(V, 1 / V), []
    for n in range(1, longest + 1):
        counts = ngram_counts(tokens, n, V)
        weight = trust * np.maximum((counts > 0).sum(-1, keepdims=True), 1)
        p = (counts + weight * p) / (counts.sum(-1, keepdims=True) + weight)
        losses.append(float(-np.log(p[ngrams(held_out, n)]).mean()))
    return losses


def ngrams(
    tokens: Int[ndarray, "N"], n: int
) -> tuple[Int[ndarray, "M"], ...]:
    """Return the n columns of all n-grams: first tokens, …, last tokens."""
    end = tokens.size - n + 1
    return tuple(tokens[i : end + i] for i in range(n))


def joint_entropy(columns: tuple[Int[ndarray, "M"], ...]) -> float:
    """Return the entropy of the rows' frequencies; 0 for no columns."""
    if not columns:
        return 0.0
    _, counts = np.unique(np.stack(columns), axis=1, return_counts=True)
    p = counts / counts.sum()
    return float(-(p * np.log(p)).sum())
