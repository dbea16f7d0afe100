"""The PyTorch face equals the NumPy reference in float64, piece by piece.

Same weights, same tokens. What may differ is the order of sums of at most
a few hundred terms: n · 2^-53 < 1e-13 each. Logits pass about 20 of them,
gradients twice as many, so 1e-10 and 1e-9 leave room for amplification
and none for a formula that differs.
"""

from itertools import product

import numpy as np
import pytest
import torch

from assembled import Config, RopeScaling
from assembled.gpu.attention import Attention
from assembled.gpu.loss import cross_entropy
from assembled.gpu.model import Transformer
from assembled.gpu.norm import layer_norm, rms_norm
from assembled.gpu.rope import rope, rope_frequencies
from assembled.gpu.softmax import causal_mask, softmax
from assembled.gpu.swiglu import SwiGLU
from assembled.reference import norm as ref_norm
from assembled.reference import rope as ref_rope
from assembled.reference.attention import attention_forward
from assembled.reference.loss import (
    cross_entropy_backward,
    cross_entropy_forward,
)
from assembled.reference.model import (
    init_params,
    model_backward,
    model_forward,
)
from assembled.reference.softmax import causal_mask as ref_causal_mask
from assembled.reference.softmax import softmax_forward
from assembled.reference.swiglu import swiglu_forward
from tests.oracles import off_centre, relative_error

LOGITS_AGREE, GRADIENTS_AGREE = 1e-10, 1e-9
# odd sizes, T ≠ d, and positions that do not start at 0
SIZES = {
    "vocab_size": 11, "context_length": 9, "d_model": 24, "n_heads": 4,
    "d_ff": 14, "norm_eps": 1e-3,
}
T, POSITIONS = 7, np.arange(7) + 3
EVERY_KIND = [
    {"placement": p, "norm": n, "tied": t, "rope_pairing": r, "n_kv_heads": g}
    for p, n, t, r, g in product(
        ("pre", "post"), ("rms", "layer"), (False, True),
        ("half", "interleaved"), (1, 2, 4),
    )
]


def case(options, rng):
    """Return config, parameters with gains and biases of their own, data."""
    config = Config(**SIZES, **options)
    params = init_params(config, rng, np.float64)
    for array in params.values():
        if array.ndim == 1:
            array += 0.3 * rng.standard_normal(array.shape)
    tokens = rng.integers(0, config.vocab_size, (2, T))
    targets = rng.integers(0, config.vocab_size, (2, T))
    targets[1, 2:4] = -100
    return config, params, tokens, targets


@pytest.mark.parametrize(
    "options", EVERY_KIND, ids=lambda o: "-".join(map(str, o.values()))
)
def test_logits_loss_and_every_gradient_equal_the_reference(options, rng):
    config, params, tokens, targets = case(options, rng)
    logits, cache = model_forward(params, tokens, config, POSITIONS)
    loss, loss_cache = cross_entropy_forward(logits, targets)
    grads = model_backward(cross_entropy_backward(loss_cache), cache)

    model = Transformer(config).load_reference(params)
    got = model(torch.tensor(tokens), torch.tensor(POSITIONS))
    got_loss = cross_entropy(got, torch.tensor(targets))
    got_loss.backward()
    assert relative_error(got.detach(), logits) < LOGITS_AGREE
    assert relative_error(got_loss.detach(), loss) < LOGITS_AGREE
    got_grads = model.reference_gradients()
    assert got_grads.keys() == grads.keys()
    for name, g in grads.items():
        assert relative_error(got_grads[name], g) < GRADIENTS_AGREE, name


def test_the_eager_path_has_the_same_gradients(rng):
    config, params, tokens, targets = case({}, rng)
    grads = []
    for maps in (None, []):
        model = Transformer(config).load_reference(params)
        logits = model(torch.tensor(tokens), maps=maps)
        cross_entropy(logits, torch.tensor(targets)).backward()
        grads.append(model.reference_gradients())
    for name, g in grads[0].items():
        assert relative_error(grads[1][name], g) < GRADIENTS_AGREE, name


def test_norms_equal_the_reference(rng):
    x, gain = off_centre(rng, 3, 5, mean=8), off_centre(rng, 5)
    bias = off_centre(rng, 5)
    tensors = [torch.tensor(a) for a in (x, gain, bias)]
    expected, _ = ref_norm.rms_norm_forward(x, gain, 1e-3)
    got = rms_norm(*tensors[:2], 1e-3)
    assert relative_error(got, expected) < LOGITS_AGREE
    expected, _ = ref_norm.layer_norm_forward(x, gain, bias, 1e-3)
    got = layer_norm(*tensors, 1e-3)
    assert relative_error(got, expected) < LOGITS_AGREE


def test_epsilon_stands_inside_the_root():
    x = torch.full((8,), 1e-3, dtype=torch.float64)
    y = rms_norm(x, torch.ones_like(x), 1e-6)
    torch.testing.assert_close(y, torch.full_like(x, 0.5**0.5))


@pytest.mark.parametrize("pairing", ["half", "interleaved"])
def test_rope_equals_the_reference(pairing, rng):
    x = off_centre(rng, 2, 4, 6)
    positions = np.array([5, 0, 257, 1000])
    expected, _ = ref_rope.rope_forward(x, positions, 1e4, pairing)
    got = rope(torch.tensor(x), torch.tensor(positions), 1e4, pairing)
    assert relative_error(got, expected) < LOGITS_AGREE
    frequencies = rope_frequencies(6, 1e4, torch.float64)
    expected = ref_rope.rope_frequencies(6, 1e4)
    assert relative_error(frequencies, expected) < LOGITS_AGREE


def test_mask_and_softmax_equal_the_reference(rng):
    mask = causal_mask(5)
    assert np.array_equal(mask, ref_causal_mask(5))
    scores = 30 * rng.standard_normal((3, 5, 5))
    scores = np.where(mask, scores, -np.inf)
    scores[0, 0] = -np.inf  # a row with nothing to look at
    got = softmax(torch.tensor(scores))
    assert relative_error(got, softmax_forward(scores)) < LOGITS_AGREE


SCALINGS = [
    RopeScaling("linear", 4.0, 32), RopeScaling("ntk", 4.0, 32),
    RopeScaling("yarn", 4.0, 4096), RopeScaling("llama3", 4.0, 64, high=4.0),
]  # fmt: skip


@pytest.mark.parametrize("scaling", SCALINGS, ids=lambda s: s.kind)
def test_scaled_rope_equals_the_reference(scaling, rng):
    x, positions = off_centre(rng, 2, 4, 5, 16), np.arange(2, 7)
    expected, _ = ref_rope.rope_forward(x, positions, 1e4, "half", scaling)
    plain, _ = ref_rope.rope_forward(x, positions, 1e4, "half")
    assert not np.allclose(expected, plain)
    got = rope(torch.tensor(x), torch.tensor(positions), 1e4, "half", scaling)
    assert relative_error(got, expected) < LOGITS_AGREE


@pytest.mark.parametrize(
    ("n_kv_heads", "scaling"), [(1, None), (2, SCALINGS[2]), (4, None)]
)
def test_attention_equals_the_reference(n_kv_heads, scaling, rng):
    config = Config(**SIZES, n_kv_heads=n_kv_heads, rope_scaling=scaling)
    x = off_centre(rng, 2, T, 24)
    module = Attention(config).double()
    weights = {
        name.removesuffix(".weight"): w.detach().numpy().T
        for name, w in module.named_parameters()
    }
    expected, _ = attention_forward(x, weights, config, POSITIONS)
    got = module(torch.tensor(x), torch.tensor(POSITIONS))
    assert relative_error(got.detach(), expected) < LOGITS_AGREE


def test_swiglu_equals_the_reference(rng):
    module = SwiGLU(Config(**SIZES)).double()
    x = off_centre(rng, 2, 3, 24)
    weights = [
        w.weight.detach().numpy().T
        for w in (module.w_gate, module.w_up, module.w_down)
    ]
    expected, _ = swiglu_forward(x, *weights)
    got = module(torch.tensor(x))
    assert relative_error(got.detach(), expected) < LOGITS_AGREE


def test_loss_equals_the_reference(rng):
    logits = 20 + 5 * rng.standard_normal((2, T, 11))
    targets = rng.integers(0, 11, (2, T))
    targets[0, :3] = -100
    expected, _ = cross_entropy_forward(logits, targets)
    got = cross_entropy(torch.tensor(logits), torch.tensor(targets))
    assert relative_error(got, expected) < LOGITS_AGREE


def test_both_faces_start_from_the_same_distribution(rng):
    """Deviations of ≥ 4096 draws: standard error 1/√8192, six of them."""
    config = Config(d_model=64, d_ff=64, n_kv_heads=4)
    torch.manual_seed(0)
    ours = Transformer(config).to_reference()
    for name, theirs in init_params(config, rng).items():
        assert ours[name].shape == theirs.shape, name
        if theirs.ndim == 2:
            ratio = ours[name].std() / theirs.std()
            assert abs(ratio - 1) < 6 * (2 / 8192) ** 0.5, name
        else:
            assert np.array_equal(ours[name], theirs), name
