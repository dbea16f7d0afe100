"""Embedding and the linear map, over the faces."""

import numpy as np
import pytest
import torch.nn.functional as F
from torch import tensor

from assembled.reference.embedding import (
    embedding_backward,
    embedding_forward,
    linear_backward,
    linear_forward,
)
from tests.oracles import (
    FLOAT64_AGREES,
    autograd,
    off_centre,
    relative_error,
)

# Token 1 stands three times, token 0 never.
TOKENS = np.array([[1, 4, 1], [2, 1, 3]])


def test_embedding_equals_torch(rng):
    weight, dx = off_centre(rng, 5, 4), off_centre(rng, 2, 3, 4)
    x, cache = embedding_forward(TOKENS, weight)
    expected, (want,) = autograd(
        lambda w: F.embedding(tensor(TOKENS), w), (weight,), dx
    )
    assert np.array_equal(x, expected)
    dweight = embedding_backward(dx, cache)
    assert relative_error(dweight, want) < FLOAT64_AGREES


def test_repeated_token_sums_and_absent_token_is_zero():
    dweight = embedding_backward(
        np.ones((2, 3, 4)), embedding_forward(TOKENS, np.zeros((5, 4)))[1]
    )
    assert (dweight[:, 0] == [0, 3, 1, 1, 1]).all()


@pytest.mark.parametrize("shape", [(6,), (3, 6), (2, 5, 6)])
def test_linear_equals_torch(rng, shape):
    x, weight = off_centre(rng, *shape), off_centre(rng, 6, 4)
    dy = off_centre(rng, *shape[:-1], 4)
    y, cache = linear_forward(x, weight)
    expected, gradients = autograd(lambda x, w: x @ w, (x, weight), dy)
    assert relative_error(y, expected) < FLOAT64_AGREES
    for got, want in zip(linear_backward(dy, cache), gradients, strict=True):
        assert relative_error(got, want) < FLOAT64_AGREES


@pytest.mark.parametrize("bad", [5, -1])
def test_token_outside_the_vocabulary_is_named(bad):
    with pytest.raises(ValueError, match=rf"tokens holds {bad}.*0 … 4"):
        embedding_forward(np.array([[0, bad]]), np.zeros((5, 4)))


@pytest.mark.usefixtures("shapes_unchecked")
def test_transposed_weight_is_named():
    with pytest.raises(ValueError, match=r"shape \(4, 6\).*needs 6 rows"):
        linear_forward(np.ones((2, 6)), np.ones((4, 6)))
