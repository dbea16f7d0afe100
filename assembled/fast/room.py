"""The arrays that a fast step works in, kept from step to step.

Axes: B batch, T time, N = B·T rows, D d_model, F d_ff, H query heads, G
key/value heads, R = H/G, K d_k, V vocabulary.
"""

import numpy as np
from numpy import ndarray

from assembled.config import Config
from assembled.fast.attention import BLOCK
from assembled.fast.layers import PIECE
from assembled.reference.model import param_shapes
from assembled.reference.rope import rope_frequencies, rope_stretch


def new_room(config: Config, B: int, T: int, dtype: type = np.float32) -> dict:
    """Return the arrays for steps with B sequences of T tokens.

    Raises ValueError for a model that is not arranged as Llama's.
    """
    check_arrangement(config)
    D, F, V = config.d_model, config.d_ff, config.vocab_size
    H, G, K = config.n_heads, config.n_kv_heads, config.d_k
    N, R, scores = B * T, H // G, H * min(BLOCK, T) * T
    layer = {
        "attention_normed": (N, D), "attention_r": (N, 1),
        "q": (B, G, T * R, K), "k": (B, G, T, K), "kt": (B, G, K, T),
        "vt": (B, G, K + 1, T), "share": (B, G, T * R, 1), "safe": (B, 1),
        "mixed": (N, H * K), "swiglu_normed": (N, D), "swiglu_r": (N, 1),
        "gate": (N, F), "up": (N, F), "hidden": (N, F),
    }  # fmt: skip
    shared = {
        "x": (N, D), "dx": (N, D), "change": (N, D), "other": (N, D),
        "qkv": (N, (H + 2 * G) * K), "dqkv": (D, (H + 2 * G) * K),
        "dhidden": (N, F), "two": (2, PIECE), "normed": (N, D), "r": (N, 1),
        "logits": (N, V), "v": (G, T, K), "dq": (G, T * R, K),
        "dk": (G, T, K), "dv": (G, T, K), "wide": (G, T * R, K + 1),
        "e": (scores,), "ds": (scores,),
    }  # fmt: skip
    theta = rope_frequencies(K, config.rope_base, config.rope_scaling)
    rotation = np.exp(1j * np.tile(np.outer(np.arange(T), theta), R))
    rotation *= rope_stretch(config.rope_scaling)
    return empty(shared, dtype) | {
        "made for": (config, (B, T), np.dtype(dtype)),
        "layers": [empty(layer, dtype) for _ in range(config.n_layers)],
        "grads": empty(param_shapes(config), dtype),
        "past": np.tri(BLOCK, dtype=dtype).repeat(R, 0),
        "rotation": rotation.astype(np.result_type(dtype, np.complex64)),
    }


def empty(shapes: dict, dtype: type) -> dict[str, ndarray]:
    """Return an array of each shape, by name; memory comes at first use."""
    return {name: np.empty(shape, dtype) for name, shape in shapes.items()}


def check_arrangement(config: Config) -> None:
    """Raise ValueError unless this is Pre-LN, RMSNorm and not tied."""
    found = config.norm, config.placement, config.tied
    if found != ("rms", "pre", False):
        raise ValueError(
            f"norm={config.norm!r}, placement={config.placement!r}, "
            f"tied={config.tied}; the fast step knows 'rms', 'pre' and False "
            "alone: take reference.training.train_step"
        )


def check_room(room: dict, params: dict, inputs: ndarray, config: Config):
    """Raise ValueError unless the room was made for these."""
    needed = config, inputs.shape, params["embedding.weight"].dtype
    if room["made for"] != needed:
        raise ValueError(
            f"this room was made for {room['made for']}, not for {needed}; "
            "make another with new_room(config, *inputs.shape, dtype)"
        )
