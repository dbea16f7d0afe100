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
