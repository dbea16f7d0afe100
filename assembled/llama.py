"""A Hugging Face Llama's weights under our names, and back.

Chapter: The transformer, assembled. Works on NumPy arrays; from torch,
pass {name: tensor.numpy()}. Its nn.Linear stores W transposed, and its
RoPE pairs channels half-split, as Config's default does.
"""

import numpy as np
from numpy import ndarray

from assembled.config import Config, RopeScaling

OUTER = {
    "embedding.weight": "model.embed_tokens.weight",
    "final_norm.gain": "model.norm.weight",
    "output.weight": "lm_head.weight",
}
LAYER = {
    "attention_norm.gain": "input_layernorm.weight",
    "attention.wq": "self_attn.q_proj.weight",
    "attention.wk": "self_attn.k_proj.weight",
    "attention.wv": "self_attn.v_proj.weight",
    "attention.wo": "self_attn.o_proj.weight",
    "swiglu_norm.gain": "post_attention_layernorm.weight",
    "swiglu.w_gate": "mlp.gate_proj.weight",
    "swiglu.w_up": "mlp.up_proj.weight",
    "swiglu.w_down": "mlp.down_proj.weight",
}
SIZES = {
    "vocab_size": "vocab_size",
    "context_length": "max_position_embeddings",
    "d_model": "hidden_size",
    "n_layers": "num_hidden_layers",
    "n_heads": "num_attention_heads",
    "n_kv_heads": "num_key_value_heads",
    "d_ff": "intermediate_size",
}
# What a file's RoPE entry may hold, and our name for it.
SCALING = {
    "factor": "factor",
    "original_max_position_embeddings": "old_context",
    "low_freq_factor": "low",
    "beta_slow": "low",
    "high_freq_factor": "high",
    "beta_fast": "high",
}


def names(config: Config) -> dict[str, str]:
    """Return {our name: Llama's name}, in network order.

    Raises ValueError for a Config that is no Llama.
    """
    kind = config.placement, config.norm, config.rope_pairing
    if kind != ("pre", "rms", "half"):
        raise ValueError(
            "a Llama is Pre-LN with RMSNorm and half-split RoPE; this "
            f"Config has placement, norm and pairing {kind}"
        )
    found = {"embedding.weight": OUTER["embedding.weight"]}
    for l in range(config.n_layers):
        for ours, theirs in LAYER.items():
            found[f"blocks.{l}.{ours}"] = f"model.layers.{l}.{theirs}"
    found["final_norm.gain"] = OUTER["final_norm.gain"]
    if not config.tied:
        found["output.weight"] = OUTER["output.weight"]
    return found


def from_llama(state: dict[str, ndarray], config: Config) -> dict:
    """Return our parameters from a Llama's state dict.

    Raises ValueError where a weight is missing or unknown. A tied model's
    state may hold the embedding again as `lm_head.weight`.
    """
    known = names(config)
    spare = {OUTER["output.weight"]} if config.tied else set()
    missing = set(known.values()) - state.keys()
    unknown = state.keys() - set(known.values()) - spare
    if missing or unknown:
        raise ValueError(
            f"the state dict lacks {sorted(missing)} and holds unknown "
            f"{sorted(unknown)}; compare n_layers and tied with its "
            "config.json"
        )
    return {
        ours: oriented(ours, state[theirs]) for ours, theirs in known.items()
    }


def to_llama(params: dict[str, ndarray], config: Config) -> dict:
    """Return a Llama's state dict from our parameters, or gradients."""
    return {
        theirs: oriented(ours, params[ours])
        for ours, theirs in names(config).items()
    }


def oriented(name: str, weight: ndarray) -> ndarray:
    """Return our W for nn.Linear's Wᵀ and back; the embedding is a table."""
    if name == "embedding.weight":
        return weight
    return np.ascontiguousarray(weight.T)


def config_of_llama(settings: dict) -> Config:
    """Return the Config that a Llama's config.json describes.

    Raises ValueError for a missing entry, and for what this course's model
    does not have: biases, another activation, a head size of its own, a
    RoPE that is scaled in another way.
    """
    for name in (*SIZES.values(), "rms_norm_eps"):
        if name not in settings:
            raise ValueError(
                f"config.json lacks {name!r}; is it that of a Llama?"
            )
    refused = {
        "attention_bias": settings.get("attention_bias", False),
        "mlp_bias": settings.get("mlp_bias", False),
        "hidden_act": settings.get("hidden_act", "silu") != "silu",
        "head_dim": settings.get("head_dim") not in (
            None,
            settings["hidden_size"] // settings["num_attention_heads"],
        ),
    }
    for name, wrong in refused.items():
        if wrong:
            raise ValueError(
                f"config.json sets {name} to {settings[name]!r}, which "
                "this model does not have; take another checkpoint"
            )
    rope = settings.get("rope_parameters") or settings
    return Config(
        **{ours: settings[theirs] for ours, theirs in SIZES.items()},
        norm_eps=settings["rms_norm_eps"],
        rope_base=float(rope.get("rope_theta", 10_000.0)),
        rope_scaling=scaling_of_llama(settings),
        tied=settings.get("tie_word_embeddings", False),
    )


def scaling_of_llama(settings: dict) -> RopeScaling | None:
    """Return how a config.json scales RoPE, None if it does not.

    Files of several years are read: `rope_scaling` or `rope_parameters`,
    `rope_type` or `type`. Raises ValueError for a type or an entry that
    this course does not have.
    """
    entry = settings.get("rope_scaling") or settings.get("rope_parameters")
    given = {k: v for k, v in (entry or {}).items() if v is not None}
    given.pop("rope_theta", None)
    kind = given.pop("type", "default")
    kind = given.pop("rope_type", kind)
    if kind == "default":
        return None
    unknown = sorted(given.keys() - SCALING)
    if kind not in ("linear", "yarn", "llama3") or unknown:
        raise ValueError(
            f"config.json sets rope_type to {kind!r} with {unknown or given},"
            " which this model does not have; take another checkpoint"
        )
    if "factor" not in given:
        raise ValueError(
            f"config.json scales RoPE as {kind!r} without a factor; add it"
        )
    named = {SCALING[name]: value for name, value in given.items()}
    named.setdefault("old_context", settings["max_position_embeddings"])
    return RopeScaling(kind, **named)
