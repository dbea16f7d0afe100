"""The whole transformer. Chapter: The transformer, assembled.

Axes: B batch, T time, D d_model, V vocabulary. Parameters are one flat
dict of arrays; a name is a path, such as blocks.0.attention.wq.
"""

import numpy as np
from jaxtyping import Inexact, Integer, Num
from numpy import ndarray

from assembled.config import Config
from assembled.reference.block import (
    block_backward,
    block_forward,
    block_step,
    under,
    within,
)
from assembled.reference.embedding import (
    embedding_backward,
    embedding_forward,
    linear_backward,
    linear_forward,
)
from assembled.reference.norm import norm_backward, norm_forward


def model_forward(
    params: dict,
    tokens: Integer[ndarray, "B T"],
    config: Config,
    positions: Num[ndarray, "T"] | None = None,
) -> tuple[Inexact[ndarray, "B T V"], dict]:
    """Return the logits of each next token, and what the backward needs.

    Positions count from 0 unless given. Raises ValueError for wrong
    parameters, for a token outside the vocabulary, and for more tokens
    than `context_length`.
    """
    check_params(params, config)
    check_length(tokens.shape[1], config)
    if positions is None:
        positions = np.arange(tokens.shape[1])
    x, embedding_cache = embedding_forward(
        tokens, params["embedding.weight"]
    )
    block_caches = []
    for l in range(config.n_layers):
        weights = under(params, f"blocks.{l}.")
        x, block_cache = block_forward(x, weights, config, positions)
        block_caches.append(block_cache)
    logits, output_cache = output_forward(x, params, config)
    return logits, {
        "config": config,
        "embedding": embedding_cache,
        "blocks": block_caches,
        "output": output_cache,
    }


def model_backward(
    dlogits: Inexact[ndarray, "B T V"], cache: dict
) -> dict:
    """Return the gradient of every parameter, by name."""
    config = cache["config"]
    dx, grads = output_backward(dlogits, cache["output"], config)
    for l in reversed(range(config.n_layers)):
        dx, block_grads = block_backward(dx, cache["blocks"][l])
        grads |= within(f"blocks.{l}.", block_grads)
    dembedding = embedding_backward(dx, cache["embedding"])
    # Tied, one matrix is used twice: its two gradients add up.
    grads["embedding.weight"] = dembedding + grads.get("embedding.weight", 0)
    return grads


def output_forward(
    x: Inexact[ndarray, "B T D"], params: dict, config: Config
) -> tuple[Inexact[ndarray, "B T V"], tuple]:
    """Normalize the stream (Pre-LN only) and project it onto V logits."""
    norm_cache = None
    if config.placement == "pre":
        norm = under(params, "final_norm.")
        x, norm_cache = norm_forward(x, norm, config.norm, config.norm_eps)
    if config.tied:
        weight = params["embedding.weight"].T
    else:
        weight = params["output.weight"]
    logits, linear_cache = linear_forward(x, weight)
    return logits, (norm_cache, linear_cache)


def output_backward(
    dlogits: Inexact[ndarray, "B T V"], cache: tuple, config: Config
) -> tuple[Inexact[ndarray, "B T D"], dict]:
    """Return dx at the end of the last block, and the gradients by name."""
    norm_cache, linear_cache = cache
    dx, dweight = linear_backward(dlogits, linear_cache)
    if config.tied:
        grads = {"embedding.weight": dweight.T}
    else:
        grads = {"output.weight": dweight}
    if config.placement == "pre":
        dx, norm_grads = norm_backward(dx, norm_cache)
        grads |= within("final_norm.", norm_grads)
    return dx, grads


def empty_cache(params: dict, config: Config, B: int) -> dict:
    """Return room for the keys and values of B sequences, none kept yet.

    Raises ValueError for wrong parameters; `model_step` looks no more.
    """
    check_params(params, config)
    L, G, K = config.n_layers, config.n_kv_heads, config.d_k
    shape = (L, 2, B, G, config.context_length, K)
    dtype = params["embedding.weight"].dtype
    return {"length": 0, "kept": np.empty(shape, dtype)}


def model_step(
    params: dict,
    tokens: Integer[ndarray, "B T"],
    config: Config,
    cache: dict,
) -> Inexact[ndarray, "B T V"]:
    """Return the logits after T more tokens, and keep them in `cache`.

    They are those of `model_forward` on all tokens so far, at the last T
    places. Raises ValueError when the context is full.
    """
    start, T = cache["length"], tokens.shape[1]
    if start + T > config.context_length:
        raise ValueError(
            f"the cache holds {start} of {config.context_length} positions, "
            f"no room for {T} more; start an empty one with the last tokens"
        )
    x, _ = embedding_forward(tokens, params["embedding.weight"])
    for l in range(config.n_layers):
        weights = under(params, f"blocks.{l}.")
        x = block_step(x, weights, config, start, cache["kept"][l])
    cache["length"] = start + T
    return output_forward(x, params, config)[0]


def param_shapes(config: Config) -> dict[str, tuple[int, ...]]:
    """Return the name and shape of every parameter, in network order."""
    D, K, F = config.d_model, config.d_k, config.d_ff
    H, G, V = config.n_heads, config.n_kv_heads, config.vocab_size
    norm = {"gain": (D,)}
    if config.norm == "layer":
        norm["bias"] = (D,)
    block = {
        **within("attention_norm.", norm),
        "attention.wq": (D, H * K),
        "attention.wk": (D, G * K),
        "attention.wv": (D, G * K),
        "attention.wo": (H * K, D),
        **within("swiglu_norm.", norm),
        "swiglu.w_gate": (D, F),
        "swiglu.w_up": (D, F),
        "swiglu.w_down": (F, D),
    }
    shapes = {"embedding.weight": (V, D)}
    for l in range(config.n_layers):
        shapes |= within(f"blocks.{l}.", block)
    if config.placement == "pre":
        shapes |= within("final_norm.", norm)
    if not config.tied:
        shapes["output.weight"] = (D, V)
    return shapes


def init_params(
    config: Config, rng: np.random.Generator, dtype: type = np.float32
) -> dict[str, ndarray]:
    """Return fresh parameters, the same for the same `rng` state.

    Gains are 1 and biases 0. A matrix has standard deviation 1/√rows, so
    it keeps the size of its input; `wo` and `w_down` are divided by
    √(2·n_layers), the number of branches that add up in the stream.
    """
    params = {}
    for name, shape in param_shapes(config).items():
        if name.endswith(".gain"):
            params[name] = np.ones(shape, dtype)
        elif name.endswith(".bias"):
            params[name] = np.zeros(shape, dtype)
        else:
            std = initial_std(name, shape, config)
            params[name] = (std * rng.standard_normal(shape)).astype(dtype)
    return params


def initial_std(name: str, shape: tuple[int, ...], config: Config) -> float:
    """Return the standard deviation that `init_params` gives a matrix."""
    if name == "embedding.weight":
        return config.d_model**-0.5
    if name.endswith((".wo", ".w_down")):
        return (shape[0] * 2 * config.n_layers) ** -0.5
    return shape[0] ** -0.5


def check_params(params: dict, config: Config) -> None:
    """Raise ValueError unless names and shapes fit, and all is finite."""
    shapes = param_shapes(config)
    for name in shapes.keys() - params.keys():
        raise ValueError(f"params lack {name!r}, of shape {shapes[name]}")
    for name in params.keys() - shapes.keys():
        raise ValueError(
            f"params hold {name!r}, which a model of this Config does not "
            "have; compare tied, norm, placement and n_layers"
        )
    for name, shape in shapes.items():
        if params[name].shape != shape:
            raise ValueError(
                f"{name} has shape {params[name].shape}; this Config needs "
                f"{shape} (x @ W: rows in, columns out)"
            )
        if not np.isfinite(params[name]).all():
            raise ValueError(
                f"{name} holds a value that is not finite; reload it, or "
                "train with a lower learning rate"
            )


def check_length(T: int, config: Config) -> None:
    """Raise ValueError if T tokens do not fit the context."""
    if not 1 <= T <= config.context_length:
        raise ValueError(
            f"tokens hold T={T} columns; this model takes 1 to "
            f"context_length={config.context_length}: cut them shorter"
        )
