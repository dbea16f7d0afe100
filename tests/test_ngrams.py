"""Tables of n-grams, against entropies known in closed form."""

import numpy as np
import pytest

from assembled.instruments.ngrams import (
    ngram_counts,
    ngram_entropy,
    ngram_losses,
)
from assembled.reference.training import bigram_entropy, unigram_entropy

CYCLE = np.array([0, 1, 0, 2] * 100)  # after 0 comes 1 or 2, by turns


def test_counts_of_a_known_text():
    assert ngram_counts(np.array([0, 1, 0, 1]), 2, 2).tolist() == [
        [0, 2], [1, 0],
    ]  # fmt: skip


def test_entropies_of_a_cycle():
    assert ngram_entropy(CYCLE, 1) == pytest.approx(1.5 * np.log(2))
    # 200 of 399 pairs start with 0, and toss a coin.
    assert ngram_entropy(CYCLE, 2) == pytest.approx(np.log(2) / 2, rel=0.01)
    # The one before the 0 tells which turn it is.
    assert ngram_entropy(CYCLE, 3) == pytest.approx(0, abs=1e-9)


def test_the_short_ones_are_those_of_the_training_module(rng):
    tokens = rng.integers(0, 5, 300)
    assert ngram_entropy(tokens, 1) == pytest.approx(unigram_entropy(tokens))
    assert ngram_entropy(tokens, 2) == pytest.approx(bigram_entropy(tokens))


def test_a_table_of_much_text_reaches_the_entropy():
    rng = np.random.default_rng(0)
    chain = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]])
    tokens = [0]
    for u in rng.random(30_000):
        tokens.append(int((u > chain[tokens[-1]].cumsum()).sum()))
    text, other = np.split(np.array(tokens), [20_000])
    losses = ngram_losses(text, other, 3)
    entropies = [ngram_entropy(other, n) for n in (1, 2, 3)]
    assert losses == pytest.approx(entropies, abs=0.01)


def test_no_table_beats_the_texts_own(rng):
    tokens, other = rng.integers(0, 4, (2, 500))
    losses = ngram_losses(tokens, other, 4)
    assert all(
        loss > ngram_entropy(other, n) for n, loss in enumerate(losses, 1)
    )


def test_probabilities_sum_to_one_where_nothing_was_seen():
    """A context that the training text lacks falls back, and stays whole."""
    tokens = np.array([0, 1] * 50)
    for first in (0, 2):
        losses = [
            ngram_losses(tokens, np.array([first, last]), 3, longest=2)[1]
            for last in (0, 1, 2)
        ]
        assert np.exp(-np.array(losses)).sum() == pytest.approx(1), first
