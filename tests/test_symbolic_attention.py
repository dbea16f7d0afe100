"""One attention head in symbols: Jacobians, mask, no-op, valves."""

import pytest
import sympy as sp
import torch

from assembled.symbolic import attention as at
from assembled.symbolic import softmax as sm
from assembled.symbolic.proof import prove_equal

T, K = 3, 2


def head():
    """A query, keys and values of real symbols."""
    q = sp.Matrix(sp.symbols(f"q1:{K + 1}", real=True))
    keys = sp.Matrix(T, K, sp.symbols(f"k1:{T * K + 1}", real=True))
    values = sp.Matrix(T, K, sp.symbols(f"v1:{T * K + 1}", real=True))
    return q, keys, values


def test_jacobian_in_the_query():
    q, keys, values = head()
    computed = at.attend(q, keys, values).jacobian(q)
    prove_equal(computed, at.jacobian_in_query(q, keys, values))


@pytest.mark.parametrize("j", [0, 2])
def test_jacobians_in_key_and_value(j):
    q, keys, values = head()
    output = at.attend(q, keys, values)
    prove_equal(
        output.jacobian(keys[j, :]), at.jacobian_in_key(q, keys, values, j)
    )
    prove_equal(
        output.jacobian(values[j, :]), at.jacobian_in_value(q, keys, j)
    )


def test_jacobian_in_the_query_agrees_with_torch():
    q, keys, values = head()
    generator = torch.Generator().manual_seed(0)
    numbers = [
        torch.randn(a.shape, generator=generator, dtype=torch.float64)
        for a in (q, keys, values)
    ]

    def output(query):
        p = (numbers[1] @ query / K**0.5).softmax(0)
        return (numbers[2].T @ p)[:, 0]

    expected = torch.autograd.functional.jacobian(output, numbers[0])[..., 0]
    at_numbers = {
        symbol: number
        for a, values_of in zip((q, keys, values), numbers, strict=True)
        for symbol, number in zip(a, values_of.flatten().tolist(),
                                  strict=True)
    }
    ours = at.jacobian_in_query(q, keys, values).subs(at_numbers).n(17)
    ours = torch.tensor(ours.tolist(), dtype=torch.float64)
    assert (ours - expected).abs().max() < 1e-14


def test_output_derivative_for_any_number_of_keys():
    claimed = sm.weight(sm.j) * (at.v_any[sm.j] - at.output_any())
    prove_equal(at.output_derivative(sm.j), claimed)


def test_future_weights_are_exactly_zero_and_do_not_depend_on_the_future():
    all_scores = sp.Matrix(T, T, sp.symbols("s0:9", real=True))
    weights = at.causal_weights(all_scores)
    for t in range(T):
        for s in range(t + 1, T):
            assert weights[t, s] == 0
            assert not weights.has(all_scores[t, s])


def mixed(patterns, channel_maps):
    """Tokens, and what the heads make of them one after the other."""
    x = sp.Matrix(T, K, sp.symbols("x0:6", real=True))
    outputs = [P * x * W for P, W in zip(patterns, channel_maps, strict=True)]
    return x, sum(outputs, sp.zeros(T, K))


def two_heads():
    """Two patterns of three tokens, two channel maps, none symmetric."""
    patterns = [sp.Matrix(T, T, sp.symbols(f"{n}0:9", real=True))
                for n in "PQ"]
    maps = [sp.Matrix(K, K, sp.symbols(f"{n}0:4", real=True)) for n in "UW"]
    return patterns, maps


def test_heads_as_one_matrix():
    patterns, maps = two_heads()
    x, y = mixed(patterns, maps)
    whole = at.heads_map(patterns, maps)
    prove_equal((whole * x.reshape(T * K, 1)).reshape(T, K), y)


def test_a_head_adds_one_to_the_rank():
    patterns, maps = two_heads()
    assert at.heads_needed(at.heads_map(patterns[:1], maps[:1]), T) == 1
    ahead = sp.Matrix(T, T, lambda t, s: max(s - t, 0))  # empty diagonal
    patterns = [ahead, ahead.T]
    assert at.heads_needed(at.heads_map(patterns, maps), T) == 2
    alike = at.heads_map([patterns[0], patterns[0]], maps)
    assert at.heads_needed(alike, T) == 1


def test_heads_needed_agrees_with_the_singular_values():
    """torch finds as many directions among the blocks."""
    generator = torch.Generator().manual_seed(1)
    patterns = torch.randn(3, T, T, generator=generator).softmax(-1)
    maps = torch.randn(3, K, K, generator=generator)
    whole = torch.einsum("hts,hij->tjsi", patterns, maps)
    blocks = whole.permute(0, 2, 1, 3).reshape(T * T, K * K)
    expected = torch.linalg.matrix_rank(blocks.double(), rtol=1e-5)
    exact = [[sp.Matrix(a.shape[0], a.shape[1],
                        [sp.Rational(v) for v in a.flatten().tolist()])
              for a in stack] for stack in (patterns, maps)]
    assert at.heads_needed(at.heads_map(*exact), T) == int(expected) == 3


def test_the_no_op_head_goes_to_zero():
    z = sm.logits(3)
    values = sp.Matrix(2, K, sp.symbols("v0:4", real=True))
    output = at.null_value_head(z, values)
    rest = values.T * sm.softmax(z[1:, :])
    prove_equal(output, (1 - sm.softmax(z)[0]) * rest)
    assert output.limit(z[0], sp.oo) == sp.zeros(K, 1)


def test_a_gate_scales_the_output():
    output = sp.Matrix(sp.symbols("o0:2", real=True))
    assert at.gated(output, sp.Integer(0)) == output / 2
