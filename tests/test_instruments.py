"""The instruments: what they say of cases with a known answer."""

import numpy as np
import pytest
import torch

from assembled.instruments import rounding, sink_lab, sinks

RNG = np.random.default_rng


def test_a_full_and_empty_sink_scores_one():
    weights = np.zeros((2, 3, 4, 4))
    weights[..., 0] = 1
    values = RNG(0).standard_normal((2, 3, 4, 5))
    values[..., 0, :] *= 1e-3
    np.testing.assert_array_equal(sinks.attention_to(weights), 1)
    np.testing.assert_array_equal(sinks.null_mass(weights, values), 1)
    assert (sinks.value_drain(values) < 0.01).all()


def test_a_first_token_with_a_value_is_no_empty_sink():
    weights = np.zeros((4, 4))
    weights[:, 0] = 1
    values = RNG(0).standard_normal((4, 5))
    assert not sinks.null_tokens(values).any()
    np.testing.assert_array_equal(sinks.null_mass(weights, values), 0)


def test_null_mass_adds_up_over_several_tokens():
    weights = np.array([[0.5, 0.25, 0.25, 0, 0]])
    values = np.ones((5, 3))
    values[[0, 2]] = 0
    assert sinks.null_mass(weights, values) == 0.75


@pytest.mark.parametrize("bos", [True, False])
def test_the_target_is_the_mean_of_the_earlier_content(bos):
    x, y, trigger = sink_lab.trigger_batch(RNG(0), 2, 5, T=7, E=3, bos=bos)
    assert trigger.min() > int(bos)
    for r in range(2):
        for b in range(5):
            j = trigger[r, b]
            content = x[r, b, int(bos):j, :3]
            np.testing.assert_allclose(y[r, b, j], content.mean(0), 1e-5)
            assert not np.delete(y[r, b], j, axis=0).any()
            np.testing.assert_array_equal(x[r, b, j], [0, 0, 0, 1, 0, 1])
    assert (x[:, :, 0, 4] == bos).all() and not x[:, :, 1:, 4].any()


def torch_head(x, w, valve):
    """Return the head's output by torch, written without our softmax."""
    q, k, v = x @ w["wq"], x @ w["wk"], x @ w["wv"]
    scores = q @ k.mT / q.shape[-1] ** 0.5
    T = scores.shape[-1]
    if valve == "relu":
        seen = torch.arange(1, T + 1)[:, None]
        return (scores.relu() / seen).tril() @ v
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    scores = scores.masked_fill(future, -torch.inf)
    extra = {
        "softmax": torch.tensor(-torch.inf),
        "softmax1": torch.tensor(0.0),
        "sink_logit": w.get("sink"),
    }[valve].expand_as(scores[..., :1])
    return torch.cat([scores, extra], -1).softmax(-1)[..., :-1] @ v


@pytest.mark.parametrize("valve", sink_lab.VALVES)
def test_the_heads_gradients_equal_autograd(valve):
    """Float64, sums of at most B·T = 20 terms: 1e-12 leaves room."""
    rng = RNG(3)
    x = rng.standard_normal((2, 4, 5, 7))
    dy = rng.standard_normal((2, 4, 5, 4))
    params = {
        name: rng.standard_normal(p.shape)
        for name, p in sink_lab.init_head(rng, 2, valve, E=4, K=3).items()
    }
    y, cache = sink_lab.head_forward(x, params, valve)
    grads = sink_lab.head_backward(dy, cache, valve)
    w = {n: torch.tensor(p, requires_grad=True) for n, p in params.items()}
    expected = torch_head(torch.tensor(x), w, valve)
    expected.backward(torch.tensor(dy))
    np.testing.assert_allclose(y, expected.detach(), 1e-12, 1e-13)
    assert grads.keys() == w.keys()
    for name, g in grads.items():
        np.testing.assert_allclose(g, w[name].grad, 1e-12, 1e-12)


def test_softmax_with_bos_grows_an_empty_sink_and_a_logit_replaces_it():
    x, _, trigger = sink_lab.trigger_batch(RNG(9), 2, 64)
    rests = sink_lab.bystanders(trigger, 16)
    mass = {}
    for valve in ("softmax", "sink_logit"):
        params, history = sink_lab.train(valve, runs=2)
        _, _, _, v, weights, _ = sink_lab.head_forward(x, params, valve)[1]
        empty = sinks.null_mass(weights, v)
        mass[valve] = sink_lab.run_mean(empty, rests)
        assert (history["loss"][-1] < 0.01 * history["loss"][0]).all()
    assert (mass["softmax"] > 0.95).all()
    assert (mass["sink_logit"] < 0.2).all()


def test_without_bos_the_loss_stays_near_that_of_doing_nothing():
    """The floor, 92 % of it, is derived in the chapter."""
    _, history = sink_lab.train(bos=False, runs=2, steps=300)
    _, y, _ = sink_lab.trigger_batch(RNG(9), 2, 512, bos=False)
    assert (history["loss"][-1] > 0.8 * (y**2).mean((1, 2, 3))).all()


def test_training_is_the_same_twice_and_an_unknown_valve_is_refused():
    one, two = (sink_lab.train(runs=1, steps=3)[0] for _ in range(2))
    assert all(np.array_equal(one[n], two[n]) for n in one)
    with pytest.raises(ValueError, match="valve is 'gate'"):
        sink_lab.train("gate")


def test_one_rounding_of_normal_numbers_has_the_predicted_size():
    """Normal numbers are near enough to Benford: within 2 %, measured."""
    x = RNG(0).standard_normal(200_000)
    narrow = torch.tensor(x).bfloat16().double().numpy()
    error = np.mean((narrow / x - 1) ** 2) / 2.0**-16
    assert abs(error / rounding.ONE_ROUNDING - 1) < 0.02


def test_silu_moments_equal_a_sample():
    """200 000 draws of heavy-tailed squares: 3 % is about six deviations."""
    g = torch.tensor(RNG(0).standard_normal(200_000), requires_grad=True)
    silu = torch.nn.functional.silu(g)
    (slope,) = torch.autograd.grad(silu.sum(), g)
    forward = (silu**2).mean()
    sample = (
        ((slope * g) ** 2).mean() / forward, 1 + (slope**2).mean() / forward
    )
    for got, want in zip(rounding.silu_moments(), sample, strict=True):
        assert abs(got / want.item() - 1) < 0.03
