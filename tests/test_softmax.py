"""Softmax and the causal mask, over the faces."""

import numpy as np
import pytest
import torch

from assembled.reference.softmax import (
    causal_mask,
    softmax_backward,
    softmax_forward,
)
from tests.oracles import (
    COMPLEX_STEP_AGREES,
    FLOAT64_AGREES,
    autograd,
    complex_step,
    off_centre,
    relative_error,
)


@pytest.mark.parametrize("shape", [(4,), (3, 5), (2, 3, 4, 4)])
def test_softmax_equals_torch(rng, shape):
    scores, dp = off_centre(rng, *shape), off_centre(rng, *shape)
    p = softmax_forward(scores)
    expected, (want,) = autograd(
        lambda s: torch.softmax(s, -1), (scores,), dp
    )
    assert relative_error(p, expected) < FLOAT64_AGREES
    assert relative_error(softmax_backward(dp, p), want) < FLOAT64_AGREES


def test_softmax_equals_complex_step(rng):
    scores, dp = off_centre(rng, 2, 4), off_centre(rng, 2, 4)
    want = complex_step(lambda s: (softmax_forward(s) * dp).sum(), scores)
    got = softmax_backward(dp, softmax_forward(scores))
    assert relative_error(got, want) < COMPLEX_STEP_AGREES


def test_rows_sum_to_one_and_columns_do_not():
    p = softmax_forward(np.array([[0.0, 1.0], [3.0, -1.0]]))
    np.testing.assert_allclose(p.sum(-1), 1, rtol=1e-15)
    assert abs(p.sum(0) - 1).min() > 0.1


def test_only_differences_matter(rng):
    scores = off_centre(rng, 3, 5)
    # Adding 1000 rounds each score by up to 1000·2⁻⁵² ≈ 2e-13.
    np.testing.assert_allclose(
        softmax_forward(scores + 1000), softmax_forward(scores), rtol=1e-12
    )


def test_huge_scores_do_not_overflow():
    p = softmax_forward(np.array([1e4, 0.0], dtype=np.float32))
    assert (p == [1, 0]).all() and p.dtype == np.float32


def test_minus_infinity_gets_exactly_zero(rng):
    p = softmax_forward(np.array([0.3, -np.inf, 0.1]))
    assert p[1] == 0.0
    assert softmax_backward(off_centre(rng, 3), p)[1] == 0.0


def test_a_row_without_keys_is_zero_forward_and_backward(rng):
    scores = np.array([[-np.inf] * 3, [0.0, 1.0, -np.inf]])
    p = softmax_forward(scores)
    assert (p[0] == 0).all() and p[1].sum() == pytest.approx(1)
    assert (softmax_backward(off_centre(rng, 2, 3), p)[0] == 0).all()


def test_gradient_of_a_row_sums_to_zero(rng):
    p = softmax_forward(off_centre(rng, 3, 5))
    rows = softmax_backward(off_centre(rng, 3, 5), p).sum(-1)
    np.testing.assert_allclose(rows, 0, atol=1e-15)


def test_mask_lets_each_query_see_itself_and_the_past():
    expected = [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert causal_mask(3).dtype == bool
    assert (causal_mask(3) == expected).all()


def test_scores_are_left_as_they_were(rng):
    scores = off_centre(rng, 2, 3)
    before = scores.copy()
    softmax_forward(scores)
    assert (scores == before).all()
