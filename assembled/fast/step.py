"""Loss, gradients and one AdamW step, for Llama's arrangement.

Axes: B batch, T time; H query heads, G key/value heads, K d_k.
"""

import numpy as np
from jaxtyping import Integer
from numpy import ndarray

from assembled.config import Config
from assembled.fast.attention import LOG2E, mix_backward, mix_forward
from assembled.fast.layers import (
    PIECE,
    cross_entropy,
    gate_backward,
    gate_forward,
    normalize,
    normalize_backward,
    sum_by_token,
)
from assembled.fast.room import check_room
from assembled.reference.block import under
from assembled.reference.embedding import check_tokens
from assembled.reference.model import check_params
from assembled.reference.optimizer import adamw_step, clip_gradients
from assembled.reference.rope import (
    half_from_interleaved,
    interleaved_from_half,
)


def train_step(
    params: dict,
    state: dict,
    inputs: Integer[ndarray, "B T"],
    targets: Integer[ndarray, "B T"],
    config: Config,
    lr: float,
    room: dict,
    clip: float = 1.0,
) -> float:
    """Do as `reference.training.train_step`, in the `room` of `new_room`.

    Raises ValueError as `value_and_grad`, and for a parameter that is a
    transposed or cut view.
    """
    loss, grads = value_and_grad(params, inputs, targets, config, room)
    clip_gradients(grads, clip)
    moments = {name: in_pieces(state[name]) for name in ("m", "v")}
    part = {"step": state["step"], **moments}
    adamw_step(in_pieces(params), in_pieces(grads), part, lr)
    state["step"] = part["step"]
    return loss


def value_and_grad(
    params: dict,
    inputs: Integer[ndarray, "B T"],
    targets: Integer[ndarray, "B T"],
    config: Config,
    room: dict,
) -> tuple[float, dict]:
    """Return the mean loss and the gradient of every parameter, by name.

    The gradients lie in `room`: the next call overwrites them. Raises
    ValueError for wrong parameters, tokens or targets, and for a room made
    for others; there is no `ignore_index`.
    """
    check_params(params, config)
    check_room(room, params, inputs, config)
    check_tokens("tokens", inputs, config.vocab_size)
    check_tokens("targets", targets, config.vocab_size)
    x, dx, grads = room["x"], room["dx"], room["grads"]
    tokens = inputs.reshape(-1)
    np.take(params["embedding.weight"], tokens, axis=0, out=x)
    packed = [pack(params, config, l) for l in range(config.n_layers)]
    for weights, kept in zip(packed, room["layers"], strict=True):
        attention_forward(x, weights, kept, config, room)
        swiglu_forward(x, weights, kept, config, room)
    loss = output(x, params, targets.reshape(-1), config, room)
    for l in reversed(range(config.n_layers)):
        kept, own = room["layers"][l], under(grads, f"blocks.{l}.")
        dpacked = own | {"qkv": room["dqkv"]}
        swiglu_backward(dx, packed[l], kept, room, dpacked)
        attention_backward(dx, packed[l], kept, room, dpacked)
        unpack(dpacked, params, config, l)
    sum_by_token(dx, tokens, grads["embedding.weight"])
    return loss, grads


def attention_forward(x, weights, kept, config, room):
    """Add attention's branch to the stream."""
    normed = kept["attention_normed"]
    normalize(x, config.norm_eps, normed, kept["attention_r"])
    qkv = np.matmul(normed, weights["qkv"], out=room["qkv"])
    for rows, one in sequences(kept):
        mix_forward(qkv[rows], one, room)
    x += np.matmul(kept["mixed"], weights["attention.wo"], out=room["change"])


def attention_backward(dx, weights, kept, room, dweights):
    """Add to dx what comes back through the branch; write dweights."""
    np.matmul(kept["mixed"].T, dx, out=dweights["attention.wo"])
    dmixed = np.matmul(dx, weights["attention.wo"].T, out=room["change"])
    dqkv = room["qkv"]
    for rows, one in sequences(kept):
        mix_backward(dmixed[rows], one, room, dqkv[rows])
    normed = kept["attention_normed"]
    np.matmul(normed.T, dqkv, out=dweights["qkv"])
    dnormed = np.matmul(dqkv, weights["qkv"].T, out=room["change"])
    normalize_backward(dnormed, normed, kept["attention_r"], dx)


def swiglu_forward(x, weights, kept, config, room):
    """Add SwiGLU's branch to the stream."""
    normed = kept["swiglu_normed"]
    normalize(x, config.norm_eps, normed, kept["swiglu_r"])
    gate = np.matmul(normed, weights["swiglu.w_gate"], out=kept["gate"])
    up = np.matmul(normed, weights["swiglu.w_up"], out=kept["up"])
    gate_forward(gate, up, kept["hidden"], room["two"])
    down = weights["swiglu.w_down"]
    x += np.matmul(kept["hidden"], down, out=room["change"])


def swiglu_backward(dx, weights, kept, room, dweights):
    """Add to dx what comes back through the branch; write dweights."""
    np.matmul(kept["hidden"].T, dx, out=dweights["swiglu.w_down"])
    down, dnormed = weights["swiglu.w_down"], room["change"]
    dhidden = np.matmul(dx, down.T, out=room["dhidden"])
    dup, dgate = kept["gate"], kept["up"]
    gate_backward(dhidden, dup, dgate)
    normed = kept["swiglu_normed"]
    np.matmul(normed.T, dgate, out=dweights["swiglu.w_gate"])
    np.matmul(normed.T, dup, out=dweights["swiglu.w_up"])
    np.matmul(dgate, weights["swiglu.w_gate"].T, out=dnormed)
    dnormed += np.matmul(dup, weights["swiglu.w_up"].T, out=room["other"])
    normalize_backward(dnormed, normed, kept["swiglu_r"], dx)


def output(x, params, targets, config, room):
    """Return the loss; start dx, and write the last two gradients."""
    normed, r, logits = room["normed"], room["r"], room["logits"]
    gain, grads = params["final_norm.gain"], room["grads"]
    weight = params["output.weight"] * gain[:, None]
    normalize(x, config.norm_eps, normed, r)
    np.matmul(normed, weight, out=logits)
    loss = cross_entropy(logits, targets)
    dweight = np.matmul(normed.T, logits, out=grads["output.weight"])
    dgain = take_gain_out(dweight, params["output.weight"], gain)
    grads["final_norm.gain"][:] = dgain
    dnormed = np.matmul(logits, weight.T, out=room["change"])
    room["dx"][:] = 0
    normalize_backward(dnormed, normed, r, room["dx"])
    return loss


def pack(params, config, l):
    """Return a layer's weights with gains and constants in them.

    The pairs of RoPE become neighbours, whichever the pairing.
    """
    w = under(params, f"blocks.{l}.")
    wq, wk = w["attention.wq"], w["attention.wk"]
    if config.rope_pairing == "half":
        wq = interleaved_from_half(wq, config.n_heads)
        wk = interleaved_from_half(wk, config.n_kv_heads)
    wq = wq * (LOG2E * config.d_k**-0.5)
    qkv = np.concatenate([wq, wk, w["attention.wv"]], axis=1)
    qkv *= w["attention_norm.gain"][:, None]
    gain = w["swiglu_norm.gain"][:, None]
    return w | {
        "qkv": qkv,
        "swiglu.w_gate": w["swiglu.w_gate"] * (0.5 * gain),
        "swiglu.w_up": w["swiglu.w_up"] * gain,
    }


def unpack(dpacked, params, config, l):
    """Turn the gradients of `pack`'s weights into those of the params."""
    w = under(params, f"blocks.{l}.")
    H, G, K = config.n_heads, config.n_kv_heads, config.d_k
    dwq, dwk, dwv = np.split(dpacked["qkv"], [H * K, (H + G) * K], axis=1)
    dwq *= LOG2E * K**-0.5
    if config.rope_pairing == "half":
        dwq, dwk = half_from_interleaved(dwq, H), half_from_interleaved(dwk, G)
    for name, dw in (("wq", dwq), ("wk", dwk), ("wv", dwv)):
        dpacked[f"attention.{name}"][:] = dw
    dpacked["swiglu.w_gate"] *= 0.5
    sides = {"attention": ("wq", "wk", "wv"), "swiglu": ("w_gate", "w_up")}
    for side, names in sides.items():
        gain = w[f"{side}_norm.gain"]
        dpacked[f"{side}_norm.gain"][:] = sum(
            take_gain_out(dpacked[f"{side}.{n}"], w[f"{side}.{n}"], gain)
            for n in names
        )


def take_gain_out(dpacked, weight, gain):
    """Return dgain; turn the gradient of gain · weight into weight's."""
    dgain = np.einsum("do,do->d", weight, dpacked)
    dpacked *= gain[:, None]
    return dgain


def sequences(kept):
    """Return each sequence's rows, and what attention keeps of it."""
    B, _, T, _ = kept["k"].shape
    own = ("q", "k", "kt", "vt", "share", "safe")
    slices = [slice(b * T, (b + 1) * T) for b in range(B)]
    return [
        (rows, {n: kept[n][b] for n in own} | {"mixed": kept["mixed"][rows]})
        for b, rows in enumerate(slices)
    ]


def in_pieces(arrays):
    """Return views of `PIECE` entries, named so that decay knows them."""
    parts = {}
    for name, array in arrays.items():
        if not array.flags.c_contiguous:
            raise ValueError(
                f"{name} does not lie in one piece, row by row; store "
                "np.ascontiguousarray of it"
            )
        for i in range(0, array.size, PIECE):
            parts[f"{i} {name}"] = array.reshape(-1)[i : i + PIECE]
    return parts
