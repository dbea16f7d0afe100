"""Attention of one sequence, by blocks of queries.

Axes: T time, S the keys that a block sees, G key/value heads, R = H/G,
K d_k. A group's query rows run over time, then over its R heads, so that
a block of positions is one slice. Source: Dao et al. 2022.
"""

import math

import numpy as np

BLOCK = 64  # positions: a block's scores stay in a core's own cache
SAFE = 60  # if no |score| is larger, 2^score needs no shift
LOG2E = math.log2(math.e)


def mix_forward(qkv, kept, room):
    """Write softmax(q kᵀ/√K, causal) v into kept["mixed"], (T, H·K).

    q comes with log₂ e/√K in it: e^x = 2^(x log₂ e), and 2^x is cheaper.
    """
    split_qkv(qkv, kept, room)
    v, share = room["v"], kept["share"]
    G, T, K = v.shape
    mixed = kept["mixed"].reshape(T, G, -1, K).swapaxes(0, 1)
    for start, end, rows in blocks(kept):
        e = exponentials(kept, start, end, rows, room)  # (G, rows, S)
        np.einsum("gts->gt", e, out=share[:, rows, 0])
        np.reciprocal(share[:, rows], out=share[:, rows])
        part = e @ v[:, :end]
        part *= share[:, rows]
        mixed[:, start:end] = part.reshape(G, end - start, -1, K)


def mix_backward(dmixed, kept, room, dqkv):
    """Write the gradients of q, k and v, side by side, into dqkv.

    A row's dscores are p (dp − Σ p dp), where p = e · share. One product
    gives share (dp − Σ p dp): see `widen`.
    """
    q, k, vt = kept["q"], kept["k"], kept["vt"]
    dq, dk, dv = room["dq"], room["dk"], room["dv"]
    widen(dmixed, kept, room["wide"])
    dk[:] = dv[:] = 0
    for start, end, rows in blocks(kept):
        wide = room["wide"][:, rows]  # (G, rows, K + 1)
        e = exponentials(kept, start, end, rows, room)
        ds = first_of(room["ds"], e.shape)
        np.matmul(wide, vt[:, :, :end], out=ds)
        ds *= e
        np.matmul(ds, k[:, :end], out=dq[:, rows])
        dk[:, :end] += ds.swapaxes(1, 2) @ q[:, rows]
        dv[:, :end] += e.swapaxes(1, 2) @ wide[..., :-1]
    join_qkv(dq, dk, dv, room["rotation"], dqkv)


def exponentials(kept, start, end, rows, room):
    """Return 2^score for the block's queries, and 0 for later keys."""
    q, kt = kept["q"][:, rows], kept["kt"][:, :, :end]
    e = first_of(room["e"], (*q.shape[:2], end))
    np.matmul(q, kt, out=e)
    past = room["past"][: q.shape[1], : end - start]  # 1 up to the diagonal
    if not kept["safe"]:
        e[..., start:][:, past == 0] = -np.inf
        e -= e.max(-1, keepdims=True)
    np.exp2(e, out=e)
    e[..., start:] *= past
    return e


def split_qkv(qkv, kept, room):
    """Move heads before time, turn q and k, and see whether all is safe."""
    q, k, v, vt = kept["q"], kept["k"], room["v"], kept["vt"]
    G, T, K = k.shape
    of_q, of_k, of_v = by_group(qkv, G, K)
    turn = room["rotation"]  # (T, R·K/2)
    np.multiply(pairs(of_q), turn, out=pairs(q.reshape(G, T, -1)))
    np.multiply(pairs(of_k), turn[:, : K // 2], out=pairs(k))
    v[:] = of_v
    kept["kt"][:] = k.swapaxes(1, 2)
    vt[:, :K] = v.swapaxes(1, 2)
    vt[:, K] = 1
    squares = [np.einsum("gtk,gtk->gt", x, x).max() for x in (q, k)]
    kept["safe"][:] = squares[0] * squares[1] < SAFE**2  # |q·k| ≤ ‖q‖‖k‖


def join_qkv(dq, dk, dv, rotation, dqkv):
    """Undo `split_qkv`. The scores' base was 2: ln 2 is due."""
    G, T, K = dk.shape
    of_q, of_k, of_v = by_group(dqkv, G, K)
    back = rotation.conj() * rotation.real.dtype.type(math.log(2))
    np.multiply(pairs(dq.reshape(G, T, -1)), back, out=pairs(of_q))
    np.multiply(pairs(dk), back[:, : K // 2], out=pairs(of_k))
    of_v[:] = dv


def widen(dmixed, kept, wide):
    """Write share · dmixed, and beside it −share · Σ p dp, into wide.

    The K + 1 columns meet the K + 1 rows of vt, whose last holds ones.
    Σ p dp is dmixed · mixed, for mixed = p v: rows of K, not of S, entries.
    """
    G, T, K = kept["k"].shape
    rows = dmixed.reshape(T, G, -1, K)
    heads = wide.reshape(G, T, -1, K + 1)
    heads[..., :K] = rows.swapaxes(0, 1)
    mixed = kept["mixed"].reshape(rows.shape)
    heads[..., K] = -np.einsum("tgrk,tgrk->gtr", rows, mixed)
    wide *= kept["share"]


def blocks(kept):
    """Return (start, end, query rows) of each block of positions."""
    T = kept["k"].shape[1]
    R = kept["q"].shape[1] // T
    ends = [(s, min(T, s + BLOCK)) for s in range(0, T, BLOCK)]
    return [(s, e, slice(s * R, e * R)) for s, e in ends]


def by_group(qkv, G, K):
    """Return views of the q, k and v columns, each (G, T, a group's)."""
    q, k, v = np.split(qkv, [-2 * G * K, -G * K], axis=1)
    return [x.reshape(len(x), G, -1).swapaxes(0, 1) for x in (q, k, v)]


def pairs(x):
    """Return neighbours in the last axis as one complex number each.

    RoPE is then one complex product; `step.pack` makes pairs neighbours.
    """
    return x.view(np.result_type(x.dtype, np.complex64))


def first_of(buffer, shape):
    """Return as many first entries of a flat buffer as fill `shape`."""
    return buffer[: math.prod(shape)].reshape(shape)
