"""RoPE in symbols: relative position for every pair, and the maps."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

from assembled.symbolic import rope
from assembled.symbolic.proof import prove_equal

RECORD = Path(__file__).parent.parent / "book/_data/published_rope.json"
m, n, shift, theta = sp.symbols("m n c theta", real=True)
THETAS = sp.symbols("theta0:3", positive=True)
Q = sp.Matrix(sp.symbols("q0:6", real=True))
K = sp.Matrix(sp.symbols("k0:6", real=True))
PAIRINGS = ["interleaved", "half"]


@pytest.mark.parametrize("pairing", PAIRINGS)
def test_r_m_transposed_times_r_n_is_r_of_the_difference(pairing):
    product = (
        rope.rope_matrix(m, THETAS, pairing).T
        * rope.rope_matrix(n, THETAS, pairing)
    )
    prove_equal(product, rope.rope_matrix(n - m, THETAS, pairing))


@pytest.mark.parametrize("pairing", PAIRINGS)
def test_scores_survive_a_shift_but_not_a_change_of_distance(pairing):
    q, k, thetas = Q[:4, :], K[:4, :], THETAS[:2]
    at_zero = rope.score(q, k, m - n, sp.Integer(0), thetas, pairing)
    prove_equal(rope.score(q, k, m, n, thetas, pairing), at_zero)
    # one position too many on the query alone is seen by no shift
    numbers = {m: 5, n: 2, **dict(zip([*q, *k, *thetas], range(1, 11),
                                      strict=True))}
    late = at_zero.subs(m, m + 1)
    assert abs((late - at_zero).subs(numbers).n()) > 1


def test_pairing_from_a_hand_computed_rotation():
    one = sp.Matrix([1, 0, 0, 0])
    thetas = [sp.Integer(1), sp.Rational(1, 100)]
    c, s = sp.cos(1), sp.sin(1)
    turned = {
        pairing: list(rope.rope_matrix(sp.Integer(1), thetas, pairing) * one)
        for pairing in PAIRINGS
    }
    assert turned["interleaved"] == [c, s, 0, 0]
    assert turned["half"] == [c, 0, s, 0]


def test_permutation_is_orthogonal_and_carries_the_scores():
    p = rope.interleaved_to_half(6)
    assert p.T * p == sp.eye(6)
    prove_equal(
        rope.score(p * Q, p * K, m, n, THETAS, "half"),
        rope.score(Q, K, m, n, THETAS, "interleaved"),
    )


def test_an_unknown_pairing_is_refused():
    with pytest.raises(ValueError, match="'interleaved' or 'half'"):
        rope.rope_matrix(m, THETAS, "neox")


def test_any_number_of_pairs():
    defined, relative = rope.score_of_any_size(m, n)
    assert defined.limits == relative.limits
    prove_equal(defined.function, relative.function)
    distance = sp.Symbol("distance", real=True)
    only = relative.function.subs(m, n + distance)
    assert n not in only.free_symbols


def test_one_more_pair_keeps_the_property():
    grown = rope.with_one_more_pair(m, n, theta)
    old, new = grown.blocks[0, 0], grown.blocks[1, 1]
    assert str(old) == "A(n-m)"
    prove_equal(sp.Matrix(new), rope.rotation((n - m) * theta))
    assert grown.blocks[0, 1] == sp.ZeroMatrix(*grown.blocks[0, 1].shape)
    assert grown.blocks[1, 0] == sp.ZeroMatrix(*grown.blocks[1, 0].shape)


def test_complex_form():
    q, k = Q[:2, :], K[:2, :]
    prove_equal(
        rope.complex_pair_score(q, k, m - n, theta),
        rope.score(q, k, m, n, [theta]),
    )


def test_the_printed_identity_with_a_stray_factor_is_false():
    q = k = sp.Matrix([1, 0])
    stray = sp.cos((m - n) * m * theta)
    with pytest.raises(AssertionError, match="the claim is false"):
        prove_equal(rope.score(q, k, m, n, [theta]), stray)


def frequencies(base, d_k=128):
    """All K/2 frequencies as exact expressions."""
    return [
        rope.frequency(sp.Integer(pair), sp.Integer(d_k), sp.Integer(base))
        for pair in range(d_k // 2)
    ]


def test_published_wavelengths():
    waves = [float(rope.wavelength(f)) for f in frequencies(10_000)]
    assert round(max(waves)) == 54_410
    assert sum(wave > 4096 for wave in waves) == 18
    assert round(float(rope.wavelength(frequencies(500_000)[-1]))) == 2_559_196


def test_llama3_is_by_parts_with_low_1_and_high_4():
    numbers = [sp.Integer(x) for x in (8, 8192, 1, 4)]
    kinds = []
    for f in frequencies(500_000):
        published = rope.llama3(f.n(20), *numbers)
        assert abs(published - rope.by_parts(f.n(20), *numbers)) < 1e-18
        kept, divided = published == f.n(20), published == f.n(20) / 8
        kinds.append("kept" if kept else "divided" if divided else "blend")
    assert [kinds.count(kind) for kind in ("kept", "blend", "divided")] \
        == [29, 6, 29]


def llama3(base, factor):
    """The 64 mapped frequencies as floats, old context 8192."""
    numbers = [sp.Integer(x) for x in (factor, 8192, 1, 4)]
    return np.array([float(rope.llama3(f.n(20), *numbers))
                     for f in frequencies(base)])


def test_llama3_is_the_published_map_value_by_value():
    published = json.loads(RECORD.read_text("utf-8"))
    rounding = 2.0**-24  # the record is float32, after a few operations
    relative = llama3(500_000, 8) / published["llama3"] - 1
    assert relative.shape == (64,) and abs(relative).max() < 8 * rounding
    scale = rope.yarn_score_scale(sp.Integer(16))
    assert abs(scale - published["yarn_scale"]) < 1e-12


def test_llama3_gives_the_sum_that_torchtune_publishes():
    """Cosines and sines of 4,096 positions, by Meta's own code, base 10^4."""
    angles = np.outer(np.arange(4096), llama3(10_000, 8))
    total = np.cos(angles).sum() + np.sin(angles).sum()
    # theirs are float32: an angle up to 4096 is off by up to 2^-13
    assert abs(total - 91141.7656) < 0.1


def test_ntk_aware_moves_the_slowest_pair_alone_by_the_factor():
    pairs_after_first, base, factor = sp.symbols("h b s", positive=True)
    d_k = 2 * pairs_after_first + 2
    new = rope.ntk_aware_base(base, factor, d_k)
    slowest, fastest = d_k / 2 - 1, sp.Integer(0)
    prove_equal(
        rope.frequency(slowest, d_k, new),
        rope.interpolate(rope.frequency(slowest, d_k, base), factor),
    )
    assert rope.frequency(fastest, d_k, new) == 1


@pytest.mark.slow  # imports transformers
def test_the_record_is_what_the_library_gives(tmp_path, monkeypatch):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from experiments import published_rope
    monkeypatch.setattr(published_rope, "RECORD", tmp_path / "record.json")
    published_rope.main()
    assert (tmp_path / "record.json").read_text() == RECORD.read_text()
