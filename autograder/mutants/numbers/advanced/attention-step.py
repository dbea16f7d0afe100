# %% wrong: the positions start at 0 again
# loses 7: positions start at 0 again
def attention_step(x, weights, K, kept):
    T, S = len(x), kept[0].shape[1]
    at = np.arange(T)
    q = (x @ weights["wq"]).reshape(T, -1, K).swapaxes(0, 1)
    k = (x @ weights["wk"]).reshape(T, -1, K).swapaxes(0, 1)
    v = (x @ weights["wv"]).reshape(T, -1, K).swapaxes(0, 1)
    q, k = turn(q, at), turn(k, at)
    keys = np.concatenate([kept[0], k], axis=1)
    values = np.concatenate([kept[1], v], axis=1)
    H, G = len(q), len(k)
    group = np.arange(H) // (H // G)
    s = q @ keys[group].swapaxes(1, 2) / np.sqrt(K)
    seen = np.arange(S + T) <= np.arange(T)[:, None] + S
    s = np.where(seen, s, -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True))
    o = e / e.sum(-1, keepdims=True) @ values[group]
    y = o.swapaxes(0, 1).reshape(T, -1) @ weights["wo"]
    return y, (keys, values)


# %% wrong: the queries' positions start at 0 again
# loses 7: the queries' positions start
def attention_step(x, weights, K, kept):
    T, S = len(x), kept[0].shape[1]
    at = np.arange(S, S + T)
    q = (x @ weights["wq"]).reshape(T, -1, K).swapaxes(0, 1)
    k = (x @ weights["wk"]).reshape(T, -1, K).swapaxes(0, 1)
    v = (x @ weights["wv"]).reshape(T, -1, K).swapaxes(0, 1)
    q, k = turn(q, at - S), turn(k, at)
    keys = np.concatenate([kept[0], k], axis=1)
    values = np.concatenate([kept[1], v], axis=1)
    H, G = len(q), len(k)
    group = np.arange(H) // (H // G)
    s = q @ keys[group].swapaxes(1, 2) / np.sqrt(K)
    seen = np.arange(S + T) <= np.arange(T)[:, None] + S
    s = np.where(seen, s, -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True))
    o = e / e.sum(-1, keepdims=True) @ values[group]
    y = o.swapaxes(0, 1).reshape(T, -1) @ weights["wo"]
    return y, (keys, values)


# %% wrong: positions counted from 1
# loses 7: off by one
def attention_step(x, weights, K, kept):
    T, S = len(x), kept[0].shape[1]
    at = np.arange(S + 1, S + T + 1)
    q = (x @ weights["wq"]).reshape(T, -1, K).swapaxes(0, 1)
    k = (x @ weights["wk"]).reshape(T, -1, K).swapaxes(0, 1)
    v = (x @ weights["wv"]).reshape(T, -1, K).swapaxes(0, 1)
    q, k = turn(q, at), turn(k, at)
    keys = np.concatenate([kept[0], k], axis=1)
    values = np.concatenate([kept[1], v], axis=1)
    H, G = len(q), len(k)
    group = np.arange(H) // (H // G)
    s = q @ keys[group].swapaxes(1, 2) / np.sqrt(K)
    seen = np.arange(S + T) <= np.arange(T)[:, None] + S
    s = np.where(seen, s, -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True))
    o = e / e.sum(-1, keepdims=True) @ values[group]
    y = o.swapaxes(0, 1).reshape(T, -1) @ weights["wo"]
    return y, (keys, values)


# %% wrong: no mask
# loses 7: comes after it
def attention_step(x, weights, K, kept):
    T, S = len(x), kept[0].shape[1]
    at = np.arange(S, S + T)
    q = (x @ weights["wq"]).reshape(T, -1, K).swapaxes(0, 1)
    k = (x @ weights["wk"]).reshape(T, -1, K).swapaxes(0, 1)
    v = (x @ weights["wv"]).reshape(T, -1, K).swapaxes(0, 1)
    q, k = turn(q, at), turn(k, at)
    keys = np.concatenate([kept[0], k], axis=1)
    values = np.concatenate([kept[1], v], axis=1)
    H, G = len(q), len(k)
    group = np.arange(H) // (H // G)
    s = q @ keys[group].swapaxes(1, 2) / np.sqrt(K)
    seen = True
    s = np.where(seen, s, -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True))
    o = e / e.sum(-1, keepdims=True) @ values[group]
    y = o.swapaxes(0, 1).reshape(T, -1) @ weights["wo"]
    return y, (keys, values)


# %% wrong: the mask of a first step
# loses 7: ignores the earlier tokens
def attention_step(x, weights, K, kept):
    T, S = len(x), kept[0].shape[1]
    at = np.arange(S, S + T)
    q = (x @ weights["wq"]).reshape(T, -1, K).swapaxes(0, 1)
    k = (x @ weights["wk"]).reshape(T, -1, K).swapaxes(0, 1)
    v = (x @ weights["wv"]).reshape(T, -1, K).swapaxes(0, 1)
    q, k = turn(q, at), turn(k, at)
    keys = np.concatenate([kept[0], k], axis=1)
    values = np.concatenate([kept[1], v], axis=1)
    H, G = len(q), len(k)
    group = np.arange(H) // (H // G)
    s = q @ keys[group].swapaxes(1, 2) / np.sqrt(K)
    seen = np.arange(S + T) <= np.arange(T)[:, None]
    s = np.where(seen, s, -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True))
    o = e / e.sum(-1, keepdims=True) @ values[group]
    y = o.swapaxes(0, 1).reshape(T, -1) @ weights["wo"]
    return y, (keys, values)


# %% wrong: blind to itself
# loses 7: sees itself as well
def attention_step(x, weights, K, kept):
    T, S = len(x), kept[0].shape[1]
    at = np.arange(S, S + T)
    q = (x @ weights["wq"]).reshape(T, -1, K).swapaxes(0, 1)
    k = (x @ weights["wk"]).reshape(T, -1, K).swapaxes(0, 1)
    v = (x @ weights["wv"]).reshape(T, -1, K).swapaxes(0, 1)
    q, k = turn(q, at), turn(k, at)
    keys = np.concatenate([kept[0], k], axis=1)
    values = np.concatenate([kept[1], v], axis=1)
    H, G = len(q), len(k)
    group = np.arange(H) // (H // G)
    s = q @ keys[group].swapaxes(1, 2) / np.sqrt(K)
    seen = np.arange(S + T) < np.maximum(np.arange(T)[:, None] + S, 1)
    s = np.where(seen, s, -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True))
    o = e / e.sum(-1, keepdims=True) @ values[group]
    y = o.swapaxes(0, 1).reshape(T, -1) @ weights["wo"]
    return y, (keys, values)


# %% wrong: the earlier tokens not seen
# loses 7: earlier tokens are not
def attention_step(x, weights, K, kept):
    T, S = len(x), kept[0].shape[1]
    at = np.arange(S, S + T)
    q = (x @ weights["wq"]).reshape(T, -1, K).swapaxes(0, 1)
    k = (x @ weights["wk"]).reshape(T, -1, K).swapaxes(0, 1)
    v = (x @ weights["wv"]).reshape(T, -1, K).swapaxes(0, 1)
    q, k = turn(q, at), turn(k, at)
    keys = np.concatenate([kept[0], k], axis=1)
    values = np.concatenate([kept[1], v], axis=1)
    H, G = len(q), len(k)
    group = np.arange(H) // (H // G)
    s = q @ keys[group].swapaxes(1, 2) / np.sqrt(K)
    seen = np.arange(S + T) <= np.arange(T)[:, None] + S
    seen = seen & (np.arange(S + T) >= S)
    s = np.where(seen, s, -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True))
    o = e / e.sum(-1, keepdims=True) @ values[group]
    y = o.swapaxes(0, 1).reshape(T, -1) @ weights["wo"]
    return y, (keys, values)


# %% wrong: no scale
# loses 7: not divided by the root
def attention_step(x, weights, K, kept):
    T, S = len(x), kept[0].shape[1]
    at = np.arange(S, S + T)
    q = (x @ weights["wq"]).reshape(T, -1, K).swapaxes(0, 1)
    k = (x @ weights["wk"]).reshape(T, -1, K).swapaxes(0, 1)
    v = (x @ weights["wv"]).reshape(T, -1, K).swapaxes(0, 1)
    q, k = turn(q, at), turn(k, at)
    keys = np.concatenate([kept[0], k], axis=1)
    values = np.concatenate([kept[1], v], axis=1)
    H, G = len(q), len(k)
    group = np.arange(H) // (H // G)
    s = q @ keys[group].swapaxes(1, 2)
    seen = np.arange(S + T) <= np.arange(T)[:, None] + S
    s = np.where(seen, s, -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True))
    o = e / e.sum(-1, keepdims=True) @ values[group]
    y = o.swapaxes(0, 1).reshape(T, -1) @ weights["wo"]
    return y, (keys, values)


# %% wrong: divided by K
# loses 7: divided by K, not
def attention_step(x, weights, K, kept):
    T, S = len(x), kept[0].shape[1]
    at = np.arange(S, S + T)
    q = (x @ weights["wq"]).reshape(T, -1, K).swapaxes(0, 1)
    k = (x @ weights["wk"]).reshape(T, -1, K).swapaxes(0, 1)
    v = (x @ weights["wv"]).reshape(T, -1, K).swapaxes(0, 1)
    q, k = turn(q, at), turn(k, at)
    keys = np.concatenate([kept[0], k], axis=1)
    values = np.concatenate([kept[1], v], axis=1)
    H, G = len(q), len(k)
    group = np.arange(H) // (H // G)
    s = q @ keys[group].swapaxes(1, 2) / K
    seen = np.arange(S + T) <= np.arange(T)[:, None] + S
    s = np.where(seen, s, -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True))
    o = e / e.sum(-1, keepdims=True) @ values[group]
    y = o.swapaxes(0, 1).reshape(T, -1) @ weights["wo"]
    return y, (keys, values)


# %% wrong: the heads dealt out in turn
# loses 7: the wrong heads share
def attention_step(x, weights, K, kept):
    T, S = len(x), kept[0].shape[1]
    at = np.arange(S, S + T)
    q = (x @ weights["wq"]).reshape(T, -1, K).swapaxes(0, 1)
    k = (x @ weights["wk"]).reshape(T, -1, K).swapaxes(0, 1)
    v = (x @ weights["wv"]).reshape(T, -1, K).swapaxes(0, 1)
    q, k = turn(q, at), turn(k, at)
    keys = np.concatenate([kept[0], k], axis=1)
    values = np.concatenate([kept[1], v], axis=1)
    H, G = len(q), len(k)
    group = np.arange(H) % G
    s = q @ keys[group].swapaxes(1, 2) / np.sqrt(K)
    seen = np.arange(S + T) <= np.arange(T)[:, None] + S
    s = np.where(seen, s, -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True))
    o = e / e.sum(-1, keepdims=True) @ values[group]
    y = o.swapaxes(0, 1).reshape(T, -1) @ weights["wo"]
    return y, (keys, values)


# %% wrong: the new tokens alone kept
# loses 3: new tokens alone
def attention_step(x, weights, K, kept):
    T, S = len(x), kept[0].shape[1]
    at = np.arange(S, S + T)
    q = (x @ weights["wq"]).reshape(T, -1, K).swapaxes(0, 1)
    k = (x @ weights["wk"]).reshape(T, -1, K).swapaxes(0, 1)
    v = (x @ weights["wv"]).reshape(T, -1, K).swapaxes(0, 1)
    q, k = turn(q, at), turn(k, at)
    keys = np.concatenate([kept[0], k], axis=1)
    values = np.concatenate([kept[1], v], axis=1)
    H, G = len(q), len(k)
    group = np.arange(H) // (H // G)
    s = q @ keys[group].swapaxes(1, 2) / np.sqrt(K)
    seen = np.arange(S + T) <= np.arange(T)[:, None] + S
    s = np.where(seen, s, -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True))
    o = e / e.sum(-1, keepdims=True) @ values[group]
    y = o.swapaxes(0, 1).reshape(T, -1) @ weights["wo"]
    return y, (k, v)


# %% wrong: keys kept unturned
# loses 3: these are not turned
def attention_step(x, weights, K, kept):
    T, S = len(x), kept[0].shape[1]
    at = np.arange(S, S + T)
    q = (x @ weights["wq"]).reshape(T, -1, K).swapaxes(0, 1)
    k = (x @ weights["wk"]).reshape(T, -1, K).swapaxes(0, 1)
    v = (x @ weights["wv"]).reshape(T, -1, K).swapaxes(0, 1)
    plain, q, k = k, turn(q, at), turn(k, at)
    keys = np.concatenate([kept[0], k], axis=1)
    values = np.concatenate([kept[1], v], axis=1)
    H, G = len(q), len(k)
    group = np.arange(H) // (H // G)
    s = q @ keys[group].swapaxes(1, 2) / np.sqrt(K)
    seen = np.arange(S + T) <= np.arange(T)[:, None] + S
    s = np.where(seen, s, -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True))
    o = e / e.sum(-1, keepdims=True) @ values[group]
    y = o.swapaxes(0, 1).reshape(T, -1) @ weights["wo"]
    return y, (np.concatenate([kept[0], plain], 1), values)


# %% wrong: values turned too
# loses 7: not values
def attention_step(x, weights, K, kept):
    T, S = len(x), kept[0].shape[1]
    at = np.arange(S, S + T)
    q = (x @ weights["wq"]).reshape(T, -1, K).swapaxes(0, 1)
    k = (x @ weights["wk"]).reshape(T, -1, K).swapaxes(0, 1)
    v = (x @ weights["wv"]).reshape(T, -1, K).swapaxes(0, 1)
    q, k, v = turn(q, at), turn(k, at), turn(v, at)
    keys = np.concatenate([kept[0], k], axis=1)
    values = np.concatenate([kept[1], v], axis=1)
    H, G = len(q), len(k)
    group = np.arange(H) // (H // G)
    s = q @ keys[group].swapaxes(1, 2) / np.sqrt(K)
    seen = np.arange(S + T) <= np.arange(T)[:, None] + S
    s = np.where(seen, s, -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True))
    o = e / e.sum(-1, keepdims=True) @ values[group]
    y = o.swapaxes(0, 1).reshape(T, -1) @ weights["wo"]
    return y, (keys, values)


# %% wrong: the new ones in front
# loses 3: the earlier ones come first
def attention_step(x, weights, K, kept):
    T, S = len(x), kept[0].shape[1]
    at = np.arange(S, S + T)
    q = (x @ weights["wq"]).reshape(T, -1, K).swapaxes(0, 1)
    k = (x @ weights["wk"]).reshape(T, -1, K).swapaxes(0, 1)
    v = (x @ weights["wv"]).reshape(T, -1, K).swapaxes(0, 1)
    q, k = turn(q, at), turn(k, at)
    keys = np.concatenate([k, kept[0]], axis=1)
    values = np.concatenate([v, kept[1]], axis=1)
    H, G = len(q), len(k)
    group = np.arange(H) // (H // G)
    s = q @ keys[group].swapaxes(1, 2) / np.sqrt(K)
    seen = (np.arange(S + T) <= np.arange(T)[:, None]) | (
        np.arange(S + T) >= T
    )
    s = np.where(seen, s, -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True))
    o = e / e.sum(-1, keepdims=True) @ values[group]
    y = o.swapaxes(0, 1).reshape(T, -1) @ weights["wo"]
    return y, (keys, values)


# %% wrong: heads cut across the columns
# loses 7: y of the first two tokens
def attention_step(x, weights, K, kept):
    T, S = len(x), kept[0].shape[1]
    at = np.arange(S, S + T)
    q = (x @ weights["wq"]).reshape(T, K, -1).transpose(2, 0, 1)
    k = (x @ weights["wk"]).reshape(T, -1, K).swapaxes(0, 1)
    v = (x @ weights["wv"]).reshape(T, -1, K).swapaxes(0, 1)
    q, k = turn(q, at), turn(k, at)
    keys = np.concatenate([kept[0], k], axis=1)
    values = np.concatenate([kept[1], v], axis=1)
    H, G = len(q), len(k)
    group = np.arange(H) // (H // G)
    s = q @ keys[group].swapaxes(1, 2) / np.sqrt(K)
    seen = np.arange(S + T) <= np.arange(T)[:, None] + S
    s = np.where(seen, s, -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True))
    o = e / e.sum(-1, keepdims=True) @ values[group]
    y = o.swapaxes(0, 1).reshape(T, -1) @ weights["wo"]
    return y, (keys, values)


# %% wrong: without wo
# loses 7: has shape
def attention_step(x, weights, K, kept):
    T, S = len(x), kept[0].shape[1]
    at = np.arange(S, S + T)
    q = (x @ weights["wq"]).reshape(T, -1, K).swapaxes(0, 1)
    k = (x @ weights["wk"]).reshape(T, -1, K).swapaxes(0, 1)
    v = (x @ weights["wv"]).reshape(T, -1, K).swapaxes(0, 1)
    q, k = turn(q, at), turn(k, at)
    keys = np.concatenate([kept[0], k], axis=1)
    values = np.concatenate([kept[1], v], axis=1)
    H, G = len(q), len(k)
    group = np.arange(H) // (H // G)
    s = q @ keys[group].swapaxes(1, 2) / np.sqrt(K)
    seen = np.arange(S + T) <= np.arange(T)[:, None] + S
    s = np.where(seen, s, -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True))
    o = e / e.sum(-1, keepdims=True) @ values[group]
    y = o.swapaxes(0, 1).reshape(T, -1)
    return y, (keys, values)


# %% wrong: y alone
# loses 7: return the tuple
def attention_step(x, weights, K, kept):
    T, S = len(x), kept[0].shape[1]
    at = np.arange(S, S + T)
    q = (x @ weights["wq"]).reshape(T, -1, K).swapaxes(0, 1)
    k = (x @ weights["wk"]).reshape(T, -1, K).swapaxes(0, 1)
    v = (x @ weights["wv"]).reshape(T, -1, K).swapaxes(0, 1)
    q, k = turn(q, at), turn(k, at)
    keys = np.concatenate([kept[0], k], axis=1)
    values = np.concatenate([kept[1], v], axis=1)
    H, G = len(q), len(k)
    group = np.arange(H) // (H // G)
    s = q @ keys[group].swapaxes(1, 2) / np.sqrt(K)
    seen = np.arange(S + T) <= np.arange(T)[:, None] + S
    s = np.where(seen, s, -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True))
    o = e / e.sum(-1, keepdims=True) @ values[group]
    y = o.swapaxes(0, 1).reshape(T, -1) @ weights["wo"]
    return y


# %% right: token by token
def attention_step(x, weights, K, kept):
    keys, values = kept
    G, S, _ = keys.shape
    rows = []
    for t in range(len(x)):
        at = np.array([S + t])
        q = turn((x[t] @ weights["wq"]).reshape(-1, 1, K), at)
        k = turn((x[t] @ weights["wk"]).reshape(-1, 1, K), at)
        v = (x[t] @ weights["wv"]).reshape(-1, 1, K)
        keys = np.concatenate([keys, k], axis=1)
        values = np.concatenate([values, v], axis=1)
        joined = []
        for h in range(len(q)):
            g = h // (len(q) // G)
            e = np.exp(keys[g] @ q[h, 0] / np.sqrt(K))
            joined.append(e @ values[g] / e.sum())
        rows.append(np.concatenate(joined) @ weights["wo"])
    return np.array(rows), (keys, values)


# %% right: einsum over groups
def attention_step(x, weights, K, kept):
    T, S = x.shape[0], kept[0].shape[1]
    split = {
        n: np.stack(np.split(x @ weights[n], weights[n].shape[1] // K, 1))
        for n in ("wq", "wk", "wv")
    }
    positions = S + np.arange(T)
    keys = np.append(kept[0], turn(split["wk"], positions), axis=1)
    values = np.append(kept[1], split["wv"], axis=1)
    q = turn(split["wq"], positions).reshape(len(keys), -1, T, K)
    s = np.einsum("grtk,gsk->grts", q, keys) * K**-0.5
    s[..., np.triu(np.ones((T, S + T), bool), S + 1)] = -1e300
    s -= np.logaddexp.reduce(s, axis=-1, keepdims=True)
    o = np.einsum("grts,gsk->tgrk", np.exp(s), values)
    return [o.reshape(T, -1) @ weights["wo"], [keys, values]]


# %% right: wo cut into heads, and a loop over them
def attention_step(x, weights, K, kept):
    T, S = len(x), kept[0].shape[1]
    G = kept[0].shape[0]
    H = weights["wo"].shape[0] // K
    at = np.arange(T) + S
    keys, values = np.zeros((G, S + T, K)), np.zeros((G, S + T, K))
    for g in range(G):
        columns = slice(g * K, (g + 1) * K)
        keys[g, :S], values[g, :S] = kept[0][g], kept[1][g]
        keys[g, S:] = turn((x @ weights["wk"][:, columns])[None], at)[0]
        values[g, S:] = x @ weights["wv"][:, columns]
    y = np.zeros((T, weights["wo"].shape[1]))
    for h in range(H):
        columns, g = slice(h * K, (h + 1) * K), h * G // H
        q = turn((x @ weights["wq"][:, columns])[None], at)[0]
        p = np.exp(q @ keys[g].T / K**0.5) * np.tri(T, S + T, S)
        p /= p.sum(1, keepdims=True)
        y += p @ values[g] @ weights["wo"][columns]
    return y, (keys, values)
