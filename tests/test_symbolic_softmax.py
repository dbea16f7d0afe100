"""Softmax in symbols: proved here, and against torch at numbers."""

import pytest
import sympy as sp
import torch

from assembled.symbolic import softmax as sm
from assembled.symbolic.proof import prove_equal


@pytest.mark.parametrize("n_keys", [2, 3])
def test_jacobian_is_diag_minus_outer(n_keys):
    z = sm.logits(n_keys)
    p = sm.softmax(z)
    prove_equal(p.jacobian(z), sm.softmax_jacobian(p))


def test_derivative_for_any_number_of_keys():
    delta = sp.KroneckerDelta(sm.i, sm.j)
    prove_equal(
        sm.weight_derivative(sm.i, sm.j),
        sm.weight(sm.i) * (delta - sm.weight(sm.j)),
    )
    assert sm.weight_derivative_sum(sm.j) == 0


def test_rows_and_columns_sum_to_zero():
    p = sm.softmax(sm.logits(3))
    jacobian = sm.softmax_jacobian(p)
    ones = sp.ones(3, 1)
    prove_equal(jacobian * ones, sp.zeros(3, 1))
    prove_equal(ones.T * jacobian, sp.zeros(1, 3))


def test_a_shift_changes_nothing():
    z, c = sm.logits(3), sp.Symbol("c", real=True)
    prove_equal(sm.softmax(z + c * sp.ones(3, 1)), sm.softmax(z))


def test_log_sum_exp_has_softmax_as_gradient():
    z = sm.logits(3)
    gradient = sp.Matrix([sm.log_sum_exp(z)]).jacobian(z).T
    prove_equal(gradient, sm.softmax(z))


def test_log_sum_exp_is_the_same_from_every_shift():
    m = sp.Symbol("m", real=True)
    shifted = sm.log_sum_exp_any(m)
    prove_equal(shifted, sm.log_sum_exp_any())
    z = sm.logits(3)
    three = shifted.subs(sm.n, 3).doit().subs(
        {sm.z_any[key]: z[key] for key in range(3)}
    )
    prove_equal(three, sm.log_sum_exp(z))


def test_the_jacobian_is_a_variance():
    """So it has no negative direction, and a settled row passes little."""
    p = sm.softmax(sm.logits(3))
    u = sp.Matrix(sp.symbols("u1:4", real=True))
    deviation = (u - p.dot(u) * sp.ones(3, 1)).applyfunc(lambda d: d**2)
    prove_equal((u.T * sm.softmax_jacobian(p) * u)[0], p.dot(deviation))


def test_a_pressed_logit_scales_the_others_by_one_over_one_minus_p():
    z = sm.logits(4)
    p, pressed = sm.softmax(z), sm.press(z, 1)
    assert pressed[1] == 0
    for key in (0, 2, 3):
        prove_equal(pressed[key], p[key] / (1 - p[1]))


def test_minus_infinity_is_exactly_zero_and_an_empty_row_is_refused():
    assert sm.softmax(sp.Matrix([1, -sp.oo]))[1] == 0
    with pytest.raises(ValueError, match="Keep one logit finite"):
        sm.softmax(sp.Matrix([-sp.oo, -sp.oo]))


def test_the_valve_opens_by_a_sigmoid():
    z, s = sm.logits(3), sp.Symbol("s", real=True)
    p = sm.softmax_with_sink(z, s)
    mass = sm.sigmoid(sm.log_sum_exp(z) - s)
    prove_equal(sum(p), mass)
    prove_equal(p, mass * sm.softmax(z))
    prove_equal(sm.softmax_plus_one(z), p.subs(s, 0))


def test_jacobian_agrees_with_torch():
    numbers = [0.3, -1.2, 2.0, 0.7]
    expected = torch.autograd.functional.jacobian(
        lambda z: z.softmax(-1), torch.tensor(numbers, dtype=torch.float64)
    )
    z = sm.logits(4)
    ours = sm.softmax_jacobian(sm.softmax(z))
    ours = ours.subs(dict(zip(z, numbers, strict=True)))
    difference = torch.tensor(ours.tolist(), dtype=torch.float64) - expected
    assert difference.abs().max() < 1e-14  # 64 roundings of values below 1
