# %% wrong: no mask
# loses 8: the mask is missing
def attention_backward(do, q, k, v):
    H, T, K = q.shape
    G = len(k)
    R = H // G
    group = np.arange(H) // R
    s = q @ k[group].swapaxes(1, 2) / np.sqrt(K)
    e = np.exp(s - s.max(-1, keepdims=True))
    p = e / e.sum(-1, keepdims=True)
    dp = do @ v[group].swapaxes(1, 2)
    ds = p * (dp - (p * dp).sum(-1, keepdims=True))
    dq = ds @ k[group] / np.sqrt(K)
    dk = ds.swapaxes(1, 2) @ q / np.sqrt(K)
    dv = p.swapaxes(1, 2) @ do
    dk = dk.reshape(G, R, T, K).sum(1)
    dv = dv.reshape(G, R, T, K).sum(1)
    return dq, dk, dv


# %% wrong: the mask upside down
# loses 8: the mask is upside down
def attention_backward(do, q, k, v):
    H, T, K = q.shape
    G = len(k)
    R = H // G
    group = np.arange(H) // R
    s = q @ k[group].swapaxes(1, 2) / np.sqrt(K)
    s[:, ~np.tri(T, dtype=bool).T] = -np.inf
    e = np.exp(s - s.max(-1, keepdims=True))
    p = e / e.sum(-1, keepdims=True)
    dp = do @ v[group].swapaxes(1, 2)
    ds = p * (dp - (p * dp).sum(-1, keepdims=True))
    dq = ds @ k[group] / np.sqrt(K)
    dk = ds.swapaxes(1, 2) @ q / np.sqrt(K)
    dv = p.swapaxes(1, 2) @ do
    dk = dk.reshape(G, R, T, K).sum(1)
    dv = dv.reshape(G, R, T, K).sum(1)
    return dq, dk, dv


# %% wrong: no scale
# loses 8: not divided by the root
def attention_backward(do, q, k, v):
    H, T, K = q.shape
    G = len(k)
    R = H // G
    group = np.arange(H) // R
    s = q @ k[group].swapaxes(1, 2)
    s[:, ~np.tri(T, dtype=bool)] = -np.inf
    e = np.exp(s - s.max(-1, keepdims=True))
    p = e / e.sum(-1, keepdims=True)
    dp = do @ v[group].swapaxes(1, 2)
    ds = p * (dp - (p * dp).sum(-1, keepdims=True))
    dq = ds @ k[group]
    dk = ds.swapaxes(1, 2) @ q
    dv = p.swapaxes(1, 2) @ do
    dk = dk.reshape(G, R, T, K).sum(1)
    dv = dv.reshape(G, R, T, K).sum(1)
    return dq, dk, dv


# %% wrong: divided by K
# loses 8: divided by K, not
def attention_backward(do, q, k, v):
    H, T, K = q.shape
    G = len(k)
    R = H // G
    group = np.arange(H) // R
    s = q @ k[group].swapaxes(1, 2) / K
    s[:, ~np.tri(T, dtype=bool)] = -np.inf
    e = np.exp(s - s.max(-1, keepdims=True))
    p = e / e.sum(-1, keepdims=True)
    dp = do @ v[group].swapaxes(1, 2)
    ds = p * (dp - (p * dp).sum(-1, keepdims=True))
    dq = ds @ k[group] / K
    dk = ds.swapaxes(1, 2) @ q / K
    dv = p.swapaxes(1, 2) @ do
    dk = dk.reshape(G, R, T, K).sum(1)
    dv = dv.reshape(G, R, T, K).sum(1)
    return dq, dk, dv


# %% wrong: the scale left out of the backward
# loses 6: belongs to the backward too
def attention_backward(do, q, k, v):
    H, T, K = q.shape
    G = len(k)
    R = H // G
    group = np.arange(H) // R
    s = q @ k[group].swapaxes(1, 2) / np.sqrt(K)
    s[:, ~np.tri(T, dtype=bool)] = -np.inf
    e = np.exp(s - s.max(-1, keepdims=True))
    p = e / e.sum(-1, keepdims=True)
    dp = do @ v[group].swapaxes(1, 2)
    ds = p * (dp - (p * dp).sum(-1, keepdims=True))
    dq = ds @ k[group]
    dk = ds.swapaxes(1, 2) @ q
    dv = p.swapaxes(1, 2) @ do
    dk = dk.reshape(G, R, T, K).sum(1)
    dv = dv.reshape(G, R, T, K).sum(1)
    return dq, dk, dv


# %% wrong: the scale twice in the backward
# loses 6: applied twice
def attention_backward(do, q, k, v):
    H, T, K = q.shape
    G = len(k)
    R = H // G
    group = np.arange(H) // R
    s = q @ k[group].swapaxes(1, 2) / np.sqrt(K)
    s[:, ~np.tri(T, dtype=bool)] = -np.inf
    e = np.exp(s - s.max(-1, keepdims=True))
    p = e / e.sum(-1, keepdims=True)
    dp = do @ v[group].swapaxes(1, 2)
    ds = p * (dp - (p * dp).sum(-1, keepdims=True))
    dq = ds @ k[group] / K
    dk = ds.swapaxes(1, 2) @ q / K
    dv = p.swapaxes(1, 2) @ do
    dk = dk.reshape(G, R, T, K).sum(1)
    dv = dv.reshape(G, R, T, K).sum(1)
    return dq, dk, dv


# %% wrong: softmax's second term left out
# loses 6: has a second term
def attention_backward(do, q, k, v):
    H, T, K = q.shape
    G = len(k)
    R = H // G
    group = np.arange(H) // R
    s = q @ k[group].swapaxes(1, 2) / np.sqrt(K)
    s[:, ~np.tri(T, dtype=bool)] = -np.inf
    e = np.exp(s - s.max(-1, keepdims=True))
    p = e / e.sum(-1, keepdims=True)
    dp = do @ v[group].swapaxes(1, 2)
    ds = p * dp
    dq = ds @ k[group] / np.sqrt(K)
    dk = ds.swapaxes(1, 2) @ q / np.sqrt(K)
    dv = p.swapaxes(1, 2) @ do
    dk = dk.reshape(G, R, T, K).sum(1)
    dv = dv.reshape(G, R, T, K).sum(1)
    return dq, dk, dv


# %% wrong: softmax's second term added
# loses 6: has the wrong sign
def attention_backward(do, q, k, v):
    H, T, K = q.shape
    G = len(k)
    R = H // G
    group = np.arange(H) // R
    s = q @ k[group].swapaxes(1, 2) / np.sqrt(K)
    s[:, ~np.tri(T, dtype=bool)] = -np.inf
    e = np.exp(s - s.max(-1, keepdims=True))
    p = e / e.sum(-1, keepdims=True)
    dp = do @ v[group].swapaxes(1, 2)
    ds = p * (dp + (p * dp).sum(-1, keepdims=True))
    dq = ds @ k[group] / np.sqrt(K)
    dk = ds.swapaxes(1, 2) @ q / np.sqrt(K)
    dv = p.swapaxes(1, 2) @ do
    dk = dk.reshape(G, R, T, K).sum(1)
    dv = dv.reshape(G, R, T, K).sum(1)
    return dq, dk, dv


# %% wrong: softmax's sum over the queries
# loses 6: not over the queries
def attention_backward(do, q, k, v):
    H, T, K = q.shape
    G = len(k)
    R = H // G
    group = np.arange(H) // R
    s = q @ k[group].swapaxes(1, 2) / np.sqrt(K)
    s[:, ~np.tri(T, dtype=bool)] = -np.inf
    e = np.exp(s - s.max(-1, keepdims=True))
    p = e / e.sum(-1, keepdims=True)
    dp = do @ v[group].swapaxes(1, 2)
    ds = p * (dp - (p * dp).sum(-2, keepdims=True))
    dq = ds @ k[group] / np.sqrt(K)
    dk = ds.swapaxes(1, 2) @ q / np.sqrt(K)
    dv = p.swapaxes(1, 2) @ do
    dk = dk.reshape(G, R, T, K).sum(1)
    dv = dv.reshape(G, R, T, K).sum(1)
    return dq, dk, dv


# %% wrong: the heads dealt out in turn
# loses 8: the wrong heads share
def attention_backward(do, q, k, v):
    H, T, K = q.shape
    G = len(k)
    R = H // G
    group = np.arange(H) % G
    s = q @ k[group].swapaxes(1, 2) / np.sqrt(K)
    s[:, ~np.tri(T, dtype=bool)] = -np.inf
    e = np.exp(s - s.max(-1, keepdims=True))
    p = e / e.sum(-1, keepdims=True)
    dp = do @ v[group].swapaxes(1, 2)
    ds = p * (dp - (p * dp).sum(-1, keepdims=True))
    dq = ds @ k[group] / np.sqrt(K)
    dk = ds.swapaxes(1, 2) @ q / np.sqrt(K)
    dv = p.swapaxes(1, 2) @ do
    dk = dk.reshape(R, G, T, K).sum(0)
    dv = dv.reshape(R, G, T, K).sum(0)
    return dq, dk, dv


# %% wrong: the first head of each group
# loses 6: only the first head
def attention_backward(do, q, k, v):
    H, T, K = q.shape
    G = len(k)
    R = H // G
    group = np.arange(H) // R
    s = q @ k[group].swapaxes(1, 2) / np.sqrt(K)
    s[:, ~np.tri(T, dtype=bool)] = -np.inf
    e = np.exp(s - s.max(-1, keepdims=True))
    p = e / e.sum(-1, keepdims=True)
    dp = do @ v[group].swapaxes(1, 2)
    ds = p * (dp - (p * dp).sum(-1, keepdims=True))
    dq = ds @ k[group] / np.sqrt(K)
    dk = ds.swapaxes(1, 2) @ q / np.sqrt(K)
    dv = p.swapaxes(1, 2) @ do
    dk = dk[::R]
    dv = dv[::R]
    return dq, dk, dv


# %% wrong: the mean over a group
# loses 6: takes their mean
def attention_backward(do, q, k, v):
    H, T, K = q.shape
    G = len(k)
    R = H // G
    group = np.arange(H) // R
    s = q @ k[group].swapaxes(1, 2) / np.sqrt(K)
    s[:, ~np.tri(T, dtype=bool)] = -np.inf
    e = np.exp(s - s.max(-1, keepdims=True))
    p = e / e.sum(-1, keepdims=True)
    dp = do @ v[group].swapaxes(1, 2)
    ds = p * (dp - (p * dp).sum(-1, keepdims=True))
    dq = ds @ k[group] / np.sqrt(K)
    dk = ds.swapaxes(1, 2) @ q / np.sqrt(K)
    dv = p.swapaxes(1, 2) @ do
    dk = dk.reshape(G, R, T, K).mean(1)
    dv = dv.reshape(G, R, T, K).mean(1)
    return dq, dk, dv


# %% wrong: not added up
# loses 6: one entry a query head
def attention_backward(do, q, k, v):
    H, T, K = q.shape
    G = len(k)
    R = H // G
    group = np.arange(H) // R
    s = q @ k[group].swapaxes(1, 2) / np.sqrt(K)
    s[:, ~np.tri(T, dtype=bool)] = -np.inf
    e = np.exp(s - s.max(-1, keepdims=True))
    p = e / e.sum(-1, keepdims=True)
    dp = do @ v[group].swapaxes(1, 2)
    ds = p * (dp - (p * dp).sum(-1, keepdims=True))
    dq = ds @ k[group] / np.sqrt(K)
    dk = ds.swapaxes(1, 2) @ q / np.sqrt(K)
    dv = p.swapaxes(1, 2) @ do
    return dq, dk, dv


# %% wrong: dk of the first head alone, dv right
# loses 4: dk of the small case: only the first head
def attention_backward(do, q, k, v):
    H, T, K = q.shape
    G = len(k)
    R = H // G
    group = np.arange(H) // R
    s = q @ k[group].swapaxes(1, 2) / np.sqrt(K)
    s[:, ~np.tri(T, dtype=bool)] = -np.inf
    e = np.exp(s - s.max(-1, keepdims=True))
    p = e / e.sum(-1, keepdims=True)
    dp = do @ v[group].swapaxes(1, 2)
    ds = p * (dp - (p * dp).sum(-1, keepdims=True))
    dq = ds @ k[group] / np.sqrt(K)
    dk = ds.swapaxes(1, 2) @ q / np.sqrt(K)
    dv = p.swapaxes(1, 2) @ do
    dk = dk[::R]
    dv = dv.reshape(G, R, T, K).sum(1)
    return dq, dk, dv


# %% wrong: P not transposed
# loses 3: P is not transposed
def attention_backward(do, q, k, v):
    H, T, K = q.shape
    G = len(k)
    R = H // G
    group = np.arange(H) // R
    s = q @ k[group].swapaxes(1, 2) / np.sqrt(K)
    s[:, ~np.tri(T, dtype=bool)] = -np.inf
    e = np.exp(s - s.max(-1, keepdims=True))
    p = e / e.sum(-1, keepdims=True)
    dp = do @ v[group].swapaxes(1, 2)
    ds = p * (dp - (p * dp).sum(-1, keepdims=True))
    dq = ds @ k[group] / np.sqrt(K)
    dk = ds.swapaxes(1, 2) @ q / np.sqrt(K)
    dv = p @ do
    dk = dk.reshape(G, R, T, K).sum(1)
    dv = dv.reshape(G, R, T, K).sum(1)
    return dq, dk, dv


# %% wrong: dq alone
# loses 8: return the tuple
def attention_backward(do, q, k, v):
    H, T, K = q.shape
    G = len(k)
    R = H // G
    group = np.arange(H) // R
    s = q @ k[group].swapaxes(1, 2) / np.sqrt(K)
    s[:, ~np.tri(T, dtype=bool)] = -np.inf
    e = np.exp(s - s.max(-1, keepdims=True))
    p = e / e.sum(-1, keepdims=True)
    dp = do @ v[group].swapaxes(1, 2)
    ds = p * (dp - (p * dp).sum(-1, keepdims=True))
    dq = ds @ k[group] / np.sqrt(K)
    dk = ds.swapaxes(1, 2) @ q / np.sqrt(K)
    dv = p.swapaxes(1, 2) @ do
    dk = dk.reshape(G, R, T, K).sum(1)
    dv = dv.reshape(G, R, T, K).sum(1)
    return dq


# %% wrong: only where every head has keys of its own
# loses 8: raised
def attention_backward(do, q, k, v):
    H, T, K = q.shape
    G = len(k)
    R = H // G
    s = q @ k.swapaxes(1, 2) / np.sqrt(K)
    s[:, ~np.tri(T, dtype=bool)] = -np.inf
    e = np.exp(s - s.max(-1, keepdims=True))
    p = e / e.sum(-1, keepdims=True)
    dp = do @ v.swapaxes(1, 2)
    ds = p * (dp - (p * dp).sum(-1, keepdims=True))
    dq = ds @ k / np.sqrt(K)
    dk = ds.swapaxes(1, 2) @ q / np.sqrt(K)
    dv = p.swapaxes(1, 2) @ do
    dk = dk.reshape(G, R, T, K).sum(1)
    dv = dv.reshape(G, R, T, K).sum(1)
    return dq, dk, dv


# %% right: row by row
def attention_backward(do, q, k, v):
    H, T, K = q.shape
    R = H // k.shape[0]
    dq, dk, dv = np.zeros(q.shape), np.zeros(k.shape), np.zeros(v.shape)
    for h in range(H):
        g = h // R
        for t in range(T):
            s = np.array([q[h, t] @ k[g, j] for j in range(t + 1)]) / K**0.5
            p = np.exp(s - s.max())
            p /= p.sum()
            dp = np.array([do[h, t] @ v[g, j] for j in range(t + 1)])
            for j in range(t + 1):
                ds = p[j] * (dp[j] - p @ dp) / K**0.5
                dq[h, t] += ds * k[g, j]
                dk[g, j] += ds * q[h, t]
                dv[g, j] += p[j] * do[h, t]
    return dq, dk, dv


# %% right: einsum, and do·o for the second term
def attention_backward(do, q, k, v):
    G, T, K = k.shape
    q = q.reshape(G, -1, T, K) * K**-0.5
    do = do.reshape(q.shape)
    s = np.einsum("grtk,gsk->grts", q, k)
    s += np.where(np.arange(T) > np.arange(T)[:, None], -1e300, 0)
    s -= np.logaddexp.reduce(s, axis=-1, keepdims=True)
    p = np.exp(s)
    o = np.einsum("grts,gsk->grtk", p, v)
    ds = np.einsum("grtk,gsk->grts", do, v) - (do * o).sum(-1)[..., None]
    ds *= p
    dq = np.einsum("grts,gsk->grtk", ds, k) * K**-0.5
    dk = np.einsum("grts,grtk->gsk", ds, q)
    dv = np.einsum("grts,grtk->gsk", p, do)
    return [dq.reshape(-1, T, K), dk, dv]


# %% right: the Jacobian of each row of softmax
def attention_backward(do, q, k, v):
    H, T, K = q.shape
    G = k.shape[0]
    keys, values = np.repeat(k, H // G, 0), np.repeat(v, H // G, 0)
    dq = np.zeros((H, T, K))
    dk, dv = np.zeros((G, T, K)), np.zeros((G, T, K))
    for h in range(H):
        s = q[h] @ keys[h].T / np.sqrt(K)
        p = np.tril(np.exp(s))
        p = p / p.sum(1)[:, None]
        ds = np.zeros((T, T))
        for t in range(T):
            J = np.diag(p[t]) - np.outer(p[t], p[t])
            ds[t] = J @ (values[h] @ do[h, t])
        dq[h] = ds @ keys[h] / np.sqrt(K)
        dk[h * G // H] += ds.T @ q[h] / np.sqrt(K)
        dv[h * G // H] += p.T @ do[h]
    return dq, dk, dv


# %% right: the heads of a group as one long list of rows
def attention_backward(do, q, k, v):
    G, T, K = k.shape
    shape, R = q.shape, len(q) // G
    rows, d = q.reshape(G, R * T, K), do.reshape(G, R * T, K)
    seen = np.tile(np.tri(T), (R, 1))
    p = np.exp(rows @ k.transpose(0, 2, 1) * K**-0.5) * seen
    p /= p.sum(-1, keepdims=True)
    dp = d @ v.transpose(0, 2, 1)
    ds = p * (dp - (p * dp).sum(-1, keepdims=True)) * K**-0.5
    dv = p.transpose(0, 2, 1) @ d
    return (ds @ k).reshape(shape), ds.transpose(0, 2, 1) @ rows, dv
