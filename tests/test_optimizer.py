"""AdamW, clipping and the learning rate's course."""

import numpy as np
import pytest
import torch

from assembled.reference.optimizer import (
    adamw_init,
    adamw_step,
    clip_gradients,
    cosine_schedule,
    is_decayed,
)
from tests import torch_oracle
from tests.oracles import FLOAT64_AGREES, off_centre, relative_error

SHAPES = {"attention.wq": (4, 6), "attention_norm.gain": (4,)}


def test_adamw_equals_torch(rng):
    params = {n: off_centre(rng, *s) for n, s in SHAPES.items()}
    leaves = torch_oracle.as_leaves(params)
    torch_adamw = torch.optim.AdamW(
        [
            {"params": [leaves["attention.wq"]], "weight_decay": 0.1},
            {"params": [leaves["attention_norm.gain"]], "weight_decay": 0.0},
        ],
        lr=0.01, betas=(0.9, 0.95), eps=1e-8,
    )
    state = adamw_init(params)
    for _ in range(5):
        grads = {n: off_centre(rng, *s) for n, s in SHAPES.items()}
        for name, leaf in leaves.items():
            leaf.grad = torch.tensor(grads[name])
        adamw_step(params, grads, state, lr=0.01)
        torch_adamw.step()
    for name, leaf in leaves.items():
        got, want = params[name], leaf.detach().numpy()
        assert relative_error(got, want) < FLOAT64_AGREES, name


def test_the_first_step_is_the_learning_rate_whatever_the_gradient():
    params = {"output.weight": np.zeros((1, 2))}
    grads = {"output.weight": np.array([[1e-3, -50.0]])}
    adamw_step(params, grads, adamw_init(params), lr=0.1, weight_decay=0.0)
    np.testing.assert_allclose(
        params["output.weight"], [[-0.1, 0.1]], rtol=1e-4
    )


def test_no_decay_on_gains_biases_and_embeddings():
    names = [
        "embedding.weight", "blocks.0.attention_norm.gain",
        "blocks.0.swiglu_norm.bias", "blocks.0.attention.wq",
        "output.weight",
    ]
    params = {n: np.ones((2, 2)) for n in names}
    still = {n: np.zeros((2, 2)) for n in names}
    adamw_step(params, still, adamw_init(params), lr=0.1, weight_decay=0.1)
    ends = [float(params[n][0, 0]) for n in names]
    assert ends == pytest.approx([1, 1, 1, 0.99, 0.99])
    assert [is_decayed(n) for n in names] == [0, 0, 0, 1, 1]


def test_adamw_keeps_float32():
    params = {"output.weight": np.ones((2, 2), np.float32)}
    grads = {"output.weight": np.ones((2, 2), np.float32)}
    state = adamw_init(params)
    adamw_step(params, grads, state, lr=0.1)
    assert params["output.weight"].dtype == np.float32
    assert state["v"]["output.weight"].dtype == np.float32


def test_clipping_scales_all_gradients_together():
    grads = {"a": np.array([3.0, 0.0]), "b": np.array([4.0])}
    assert clip_gradients(grads, 1.0) == pytest.approx(5)
    np.testing.assert_allclose(grads["a"], [0.6, 0])
    np.testing.assert_allclose(grads["b"], [0.8])
    assert clip_gradients(grads, 2.0) == pytest.approx(1)
    np.testing.assert_allclose(grads["b"], [0.8])


def test_a_gradient_that_is_not_finite_is_named():
    grads = {"a": np.ones(2), "output.weight": np.array([np.nan])}
    with pytest.raises(ValueError, match=r"gradient of output\.weight"):
        clip_gradients(grads, 1.0)


def test_the_learning_rate_climbs_then_falls():
    rates = [cosine_schedule(s, 101, 1.0, warmup=10) for s in range(101)]
    np.testing.assert_allclose(rates[:10], np.arange(1, 11) / 10)
    assert rates[10] == 1 and rates[100] == pytest.approx(0.1)
    assert rates[55] == pytest.approx(0.55)  # half way down: the mean
    assert (np.diff(rates[10:]) < 0).all()
