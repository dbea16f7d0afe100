"""RoPE, over the faces and both pairings."""

import json
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from torch import tensor

from assembled import RopeScaling
from assembled.reference.rope import (
    rope_backward,
    rope_forward,
    rope_frequencies,
)
from assembled.symbolic import rope as symbolic
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


PUBLISHED = Path(__file__).parents[1] / "book/_data/published_rope.json"
LLAMA3 = RopeScaling("llama3", 8.0, 8192, low=1.0, high=4.0)
YARN = RopeScaling("yarn", 16.0, 4096)


@pytest.mark.parametrize(
    ("name", "base", "scaling"),
    [("llama3", 500_000.0, LLAMA3), ("yarn", 10_000.0, YARN)],
)
def test_the_maps_equal_the_published_frequencies(name, base, scaling):
    published = json.loads(PUBLISHED.read_text("utf-8"))[name]
    # The published ones are computed in float32: a few roundings of 2⁻²⁴.
    np.testing.assert_allclose(
        rope_frequencies(128, base, scaling), published, rtol=8 * 2**-24
    )


def test_the_maps_equal_the_symbolic_ones():
    base = sp.Integer(10_000)
    plain = [base ** sp.Rational(-i, 8) for i in range(8)]
    numbers = [sp.Integer(n) for n in (4, 100, 1, 4)]
    expected = {
        "linear": [symbolic.interpolate(f, sp.Integer(4)) for f in plain],
        "llama3": [symbolic.llama3(f, *numbers) for f in plain],
    }
    for kind, want in expected.items():
        scaling = RopeScaling(kind, 4.0, 100, low=1.0, high=4.0)
        np.testing.assert_allclose(
            rope_frequencies(16, BASE, scaling),
            [float(f) for f in want],
            rtol=1e-14,
        )


def test_ntk_is_a_larger_base():
    four, head = sp.Integer(4), sp.Integer(16)
    base = symbolic.ntk_aware_base(sp.Integer(10_000), four, head)
    np.testing.assert_allclose(
        rope_frequencies(16, BASE, RopeScaling("ntk", 4.0, 100)),
        rope_frequencies(16, float(base)),
        rtol=1e-14,
    )
    one_pair = rope_frequencies(2, BASE, RopeScaling("ntk", 4.0, 100))
    np.testing.assert_array_equal(one_pair, [1.0])


def test_yarn_stretches_and_turns_back(rng):
    x = off_centre(rng, 3, 4, 6)
    y, cache = rope_forward(x, np.arange(4), BASE, "half", YARN)
    plain, _ = rope_forward(x, np.arange(4), BASE, "half",
                            RopeScaling("linear", 1.0, 1))
    stretch = float(symbolic.yarn_score_scale(sp.Integer(16)))
    lengths = np.linalg.norm(y) / np.linalg.norm(plain)
    assert lengths == pytest.approx(stretch, rel=1e-12)
    # The transpose of R·s is Rᵀ·s, so there and back is s².
    back = rope_backward(y, cache) / stretch**2
    assert relative_error(back, x) < FLOAT64_AGREES


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
