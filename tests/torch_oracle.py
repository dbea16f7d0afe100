"""The transformer once more, in torch's own functions and float64.

Written for the tests and sharing no code with the library: RoPE is a
complex product, attention is torch's own with its own grouped queries.
Weights are oriented x @ W, as in the NumPy model.
"""

import torch
import torch.nn.functional as F


def rope(x, positions, base, pairing):
    """Multiply channel pairs, read as complex numbers, by exp(i·angle)."""
    K = x.shape[-1]
    frequency = base ** (-torch.arange(0, K, 2, dtype=torch.float64) / K)
    turn = torch.exp(1j * torch.outer(positions.double(), frequency))
    if pairing == "half":
        pairs = torch.complex(x[..., : K // 2], x[..., K // 2 :]) * turn
        return torch.cat([pairs.real, pairs.imag], -1)
    pairs = torch.complex(x[..., 0::2], x[..., 1::2]) * turn
    return torch.stack([pairs.real, pairs.imag], -1).flatten(-2)


def attention(x, weights, config, positions):
    B, T, _ = x.shape
    q, k, v = (
        (x @ weights[name]).view(B, T, -1, config.d_k).transpose(1, 2)
        for name in ("wq", "wk", "wv")
    )
    q, k = (
        rope(z, positions, config.rope_base, config.rope_pairing)
        for z in (q, k)
    )
    mixed = F.scaled_dot_product_attention(
        q, k, v, is_causal=True, enable_gqa=True
    )
    return mixed.transpose(1, 2).reshape(B, T, -1) @ weights["wo"]


def swiglu(x, w_gate, w_up, w_down):
    return (F.silu(x @ w_gate) * (x @ w_up)) @ w_down


def norm(x, weights, name, config):
    gain = weights[f"{name}.gain"]
    if config.norm == "rms":
        return F.rms_norm(x, gain.shape, gain, config.norm_eps)
    bias = weights[f"{name}.bias"]
    return F.layer_norm(x, gain.shape, gain, bias, config.norm_eps)


def block(x, weights, config, positions):
    for name in ("attention", "swiglu"):
        inner = {
            key.removeprefix(f"{name}."): weight
            for key, weight in weights.items()
            if key.startswith(f"{name}.")
        }

        def branch(z, name=name, inner=inner):
            if name == "attention":
                return attention(z, inner, config, positions)
            return swiglu(z, **inner)

        if config.placement == "pre":
            x = x + branch(norm(x, weights, f"{name}_norm", config))
        else:
            x = norm(x + branch(x), weights, f"{name}_norm", config)
    return x


def model(params, tokens, config, positions):
    x = F.embedding(tokens, params["embedding.weight"])
    for l in range(config.n_layers):
        prefix = f"blocks.{l}."
        weights = {
            name.removeprefix(prefix): weight
            for name, weight in params.items()
            if name.startswith(prefix)
        }
        x = block(x, weights, config, positions)
    if config.placement == "pre":
        x = norm(x, params, "final_norm", config)
    if config.tied:
        return F.linear(x, params["embedding.weight"])
    return x @ params["output.weight"]


def as_leaves(params):
    """Return the NumPy parameters as torch leaves, by name."""
    return {
        name: torch.tensor(weight, requires_grad=True)
        for name, weight in params.items()
    }
