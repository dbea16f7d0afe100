"""Llama's weights in and out, against Hugging Face's own model."""

import dataclasses
import warnings

import numpy as np
import pytest

from assembled import Config, RopeScaling
from assembled.llama import config_of_llama, from_llama, names, to_llama
from assembled.reference.loss import (
    cross_entropy_backward,
    cross_entropy_forward,
)
from assembled.reference.model import (
    init_params,
    model_backward,
    model_forward,
    param_shapes,
)
from tests.oracles import relative_error

SHAPE = Config(
    vocab_size=23, context_length=16, d_model=24, n_layers=2, n_heads=6,
    n_kv_heads=2, d_ff=20, norm_eps=1e-5, rope_base=500.0,
)  # fmt: skip
# Theirs has float32 angles in a float64 model; 9e-8 was measured.
AGREES = 1e-6


SCALED = {
    "linear": {"factor": 4.0},
    "yarn": {"factor": 4.0, "original_max_position_embeddings": 8},
    "llama3": {
        "factor": 8.0, "original_max_position_embeddings": 16,
        "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    },
}  # fmt: skip


def their_model(config, rope_type="default"):
    """Return Hugging Face's Llama of this shape, float64, off centre."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import torch
        from transformers import LlamaConfig, LlamaForCausalLM
    torch.manual_seed(0)
    settings = LlamaConfig(
        vocab_size=config.vocab_size, hidden_size=config.d_model,
        intermediate_size=config.d_ff,
        num_hidden_layers=config.n_layers,
        num_attention_heads=config.n_heads,
        num_key_value_heads=config.n_kv_heads,
        max_position_embeddings=config.context_length,
        rms_norm_eps=config.norm_eps, tie_word_embeddings=config.tied,
        rope_parameters={"rope_type": rope_type,
                         "rope_theta": config.rope_base,
                         **SCALED.get(rope_type, {})},
    )  # fmt: skip
    model = LlamaForCausalLM(settings).double()
    with torch.no_grad():
        for p in model.parameters():
            p.normal_(mean=0.3, std=1.0).mul_(p.shape[-1] ** -0.5)
    return model


@pytest.mark.slow
@pytest.mark.parametrize("tied", [False, True])
def test_a_llama_loads_and_agrees(rng, tied):
    import torch

    config = dataclasses.replace(SHAPE, tied=tied)
    model = their_model(config)
    assert config_of_llama(model.config.to_dict()) == config
    state = {n: t.numpy() for n, t in model.state_dict().items()}
    params = from_llama(state, config)
    tokens = rng.integers(0, config.vocab_size, (2, 2, 11))

    logits, cache = model_forward(params, tokens[0], config)
    theirs = model(torch.from_numpy(tokens[0])).logits
    assert relative_error(logits, theirs.detach().numpy()) < AGREES

    torch.nn.functional.cross_entropy(
        theirs.flatten(0, 1), torch.from_numpy(tokens[1].ravel())
    ).backward()
    _, loss_cache = cross_entropy_forward(logits, tokens[1])
    grads = model_backward(cross_entropy_backward(loss_cache), cache)
    expected = {n: p.grad.numpy() for n, p in model.named_parameters()}
    for name, grad in to_llama(grads, config).items():
        assert relative_error(grad, expected[name]) < AGREES, name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rope_type", "expected"),
    [
        ("linear", RopeScaling("linear", 4.0, 16)),
        ("yarn", RopeScaling("yarn", 4.0, 8)),
        ("llama3", RopeScaling("llama3", 8.0, 16, 1.0, 4.0)),
    ],
)
def test_a_scaled_llama_loads_and_agrees(rng, rope_type, expected):
    import torch

    model = their_model(SHAPE, rope_type)
    config = config_of_llama(model.config.to_dict())
    assert config == dataclasses.replace(SHAPE, rope_scaling=expected)
    state = {n: t.numpy() for n, t in model.state_dict().items()}
    params = from_llama(state, config)
    tokens = rng.integers(0, SHAPE.vocab_size, (2, 13))
    logits, _ = model_forward(params, tokens, config)
    theirs = model(torch.from_numpy(tokens)).logits.detach().numpy()
    assert relative_error(logits, theirs) < AGREES
    unscaled, _ = model_forward(params, tokens, SHAPE)
    assert relative_error(unscaled, theirs) > 1e3 * AGREES


@pytest.mark.parametrize("tied", [False, True])
def test_out_and_in_again_changes_nothing(rng, tied):
    config = dataclasses.replace(SHAPE, tied=tied)
    params = init_params(config, rng)
    state = to_llama(params, config)
    if tied:  # as files of tied models often have it
        state["lm_head.weight"] = state["model.embed_tokens.weight"]
    again = from_llama(state, config)
    assert list(again) == list(param_shapes(config))
    assert all((again[name] == params[name]).all() for name in params)


def test_what_is_missing_is_named(rng):
    state = to_llama(init_params(SHAPE, rng), SHAPE)
    gone = state.pop("model.layers.1.mlp.up_proj.weight")
    with pytest.raises(ValueError, match=r"lacks .*layers\.1\.mlp\.up_proj"):
        from_llama(state, SHAPE)
    state["model.layers.1.mlp.up_proj.weight"] = gone
    state["model.layers.2.mlp.up_proj.weight"] = gone
    with pytest.raises(ValueError, match=r"unknown .*layers\.2\.mlp"):
        from_llama(state, SHAPE)


@pytest.mark.parametrize("fault", [
    {"placement": "post"}, {"norm": "layer"}, {"rope_pairing": "interleaved"},
])  # fmt: skip
def test_what_is_no_llama_is_refused(fault):
    with pytest.raises(ValueError, match="a Llama is Pre-LN"):
        names(dataclasses.replace(SHAPE, **fault))


SETTINGS = {
    "vocab_size": 32, "max_position_embeddings": 64, "hidden_size": 16,
    "num_hidden_layers": 1, "num_attention_heads": 2,
    "num_key_value_heads": 1, "intermediate_size": 24, "rms_norm_eps": 1e-6,
}  # fmt: skip


def test_settings_of_both_generations():
    old = config_of_llama({**SETTINGS, "rope_theta": 500_000.0})
    new = config_of_llama({**SETTINGS, "rope_parameters": {
        "rope_type": "default", "rope_theta": 500_000.0,
    }})
    assert old == new
    assert (old.rope_base, old.norm_eps, old.d_k) == (500_000.0, 1e-6, 8)
    assert np.isclose(config_of_llama(SETTINGS).rope_base, 10_000.0)


@pytest.mark.parametrize(("name", "value"), [
    ("attention_bias", True), ("mlp_bias", True), ("hidden_act", "gelu"),
    ("head_dim", 32), ("rope_scaling", {"type": "dynamic", "factor": 2.0}),
    ("rope_scaling", {"rope_type": "yarn", "factor": 2.0, "mscale": 0.7}),
])  # fmt: skip
def test_what_the_model_does_not_have_is_refused(name, value):
    with pytest.raises(ValueError, match=r"config\.json sets"):
        config_of_llama({**SETTINGS, name: value})


def test_older_files_scale_too():
    old = {**SETTINGS, "rope_scaling": {"type": "linear", "factor": 2.0}}
    assert config_of_llama(old).rope_scaling == RopeScaling("linear", 2.0, 64)


def test_a_missing_setting_is_named():
    with pytest.raises(ValueError, match="'yarn' without a factor"):
        config_of_llama({**SETTINGS, "rope_scaling": {"type": "yarn"}})
    short = {k: v for k, v in SETTINGS.items() if k != "rms_norm_eps"}
    with pytest.raises(ValueError, match="lacks 'rms_norm_eps'"):
        config_of_llama(short)
