"""RoPE, over the faces and both pairings."""

import numpy as np
import pytest
from torch import tensor

from assembled.reference.rope import (
    rope_backward,
    rope_forward,
    rope_frequencies,
)
from tests import torch_oracle
from tests.oracles import (
    FLOAT64_AGREES,
    autograd,
    off_centre,
    relative_error,
)

PAIRINGS = ("half", "interleaved")
BASE = 10_000.0


@pytest.mark.parametrize("pairing", PAIRINGS)
def test_rope_equals_complex_rotation(rng, pairing):
    x, dy = off_centre(rng, 2, 3, 5, 8), off_centre(rng, 2, 3, 5, 8)
    positions = np.arange(7, 12)
    y, cache = rope_forward(x, positions, BASE, pairing)
    expected, (want,) = autograd(
        lambda x: torch_oracle.rope(x, tensor(positions), BASE, pairing),
        (x,),
        dy,
    )
    assert relative_error(y, expected) < FLOAT64_AGREES
    assert relative_error(rope_backward(dy, cache), want) < FLOAT64_AGREES


@pytest.mark.parametrize(
    ("pairing", "expected"),
    [
        ("interleaved", [np.cos(1), np.sin(1), 0, 0]),
        ("half", [np.cos(1), 0, np.sin(1), 0]),
    ],
)
def test_pairing_decides_where_the_sine_goes(pairing, expected):
    q = np.array([[1.0, 0, 0, 0]])
    y, _ = rope_forward(q, np.array([1]), BASE, pairing)
    np.testing.assert_allclose(y[0], expected, atol=1e-15)


def test_the_second_pair_turns_by_the_second_frequency():
    q = np.array([[0.0, 0, 1, 0]])
    y, _ = rope_forward(q, np.array([3]), BASE, "interleaved")
    # d = 4: the second pair turns base^(−1/2) = 1/100 radian a position.
    expected = [0, 0, np.cos(0.03), np.sin(0.03)]
    np.testing.assert_allclose(y[0], expected, atol=1e-15)


def test_frequencies_run_from_one_down():
    np.testing.assert_allclose(
        rope_frequencies(8, BASE), [1, 0.1, 0.01, 0.001], rtol=1e-14
    )


@pytest.mark.parametrize("pairing", PAIRINGS)
def test_scores_depend_on_the_distance_alone(rng, pairing):
    q, k = off_centre(rng, 1, 8), off_centre(rng, 1, 8)

    def score(m, n):
        turned_q, _ = rope_forward(q, np.array([m]), BASE, pairing)
        turned_k, _ = rope_forward(k, np.array([n]), BASE, pairing)
        return (turned_q @ turned_k.T).item()

    # Angles near 1e3 are rounded to 1e3·2⁻⁵² ≈ 2e-13 radian.
    assert score(1007, 1002) == pytest.approx(score(12, 7), rel=1e-10)
    assert score(12, 7) != pytest.approx(score(7, 12), rel=1e-3)


@pytest.mark.parametrize("pairing", PAIRINGS)
def test_turning_back_is_the_inverse(rng, pairing):
    x = off_centre(rng, 3, 4, 6)
    y, cache = rope_forward(x, np.arange(5, 9), BASE, pairing)
    assert relative_error(rope_backward(y, cache), x) < FLOAT64_AGREES


def test_angles_stay_exact_for_large_positions_in_float32():
    # The second pair of four channels turns by 1/100 radian a position.
    x = np.array([[0, 1, 0, 0]], dtype=np.float32)
    y, _ = rope_forward(x, np.array([100_001]), BASE, "half")
    assert y.dtype == np.float32
    # Only the result is rounded: 2⁻²⁵ at most. A float32 angle near 1000
    # is off by up to 2⁻¹⁵.
    exact = [0, np.cos(1000.01), 0, np.sin(1000.01)]
    np.testing.assert_allclose(y[0], exact, rtol=0, atol=2**-24)


def test_unsigned_positions_turn_back_too(rng):
    x = off_centre(rng, 3, 4)
    positions = np.arange(3, dtype=np.uint8)
    y, cache = rope_forward(x, positions, BASE, "half")
    assert relative_error(rope_backward(y, cache), x) < FLOAT64_AGREES


def test_bad_input_is_named(rng):
    with pytest.raises(ValueError, match=r"d_k is 5.*must be even"):
        rope_frequencies(5, BASE)
    with pytest.raises(ValueError, match="base is 0"):
        rope_frequencies(4, 0.0)
    with pytest.raises(ValueError, match="pairing is 'both'"):
        rope_forward(np.ones((2, 4)), np.arange(2), BASE, "both")


@pytest.mark.usefixtures("shapes_unchecked")
def test_one_position_a_row():
    with pytest.raises(ValueError, match=r"shape \(3,\) but x has T=2"):
        rope_forward(np.ones((2, 4)), np.arange(3), BASE, "half")
