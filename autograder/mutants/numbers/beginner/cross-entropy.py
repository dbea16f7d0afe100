# %% wrong: softmax without a shift
# loses 3: subtract the row's largest
def cross_entropy(logits, targets):
    e = np.exp(logits)
    p = e / e.sum(-1, keepdims=True)
    rows = np.flatnonzero(targets != -100)
    y = targets[rows]
    d = np.zeros_like(logits)
    d[rows] = p[rows]
    d[rows, y] -= 1
    return -np.log(p[rows, y]).mean(), d / len(rows)


# %% wrong: the logarithm of a probability that became 0
# loses 2: before its logarithm was taken
def cross_entropy(logits, targets):
    e = np.exp(logits - logits.max(-1, keepdims=True))
    p = e / e.sum(-1, keepdims=True)
    rows = np.flatnonzero(targets != -100)
    y = targets[rows]
    d = np.zeros_like(logits)
    d[rows] = p[rows]
    d[rows, y] -= 1
    return -np.log(p[rows, y]).mean(), d / len(rows)


# %% wrong: probabilities cut off at 1e-12
# loses 2: cut off at a small number
def cross_entropy(logits, targets):
    e = np.exp(logits - logits.max(-1, keepdims=True))
    p = e / e.sum(-1, keepdims=True)
    rows = np.flatnonzero(targets != -100)
    y = targets[rows]
    d = np.zeros_like(logits)
    d[rows] = p[rows]
    d[rows, y] -= 1
    return -np.log(np.maximum(p[rows, y], 1e-12)).mean(), d / len(rows)


# %% wrong: the sum
# loses 6: this is the sum
def cross_entropy(logits, targets):
    z = logits - logits.max(-1, keepdims=True)
    log_p = z - np.log(np.exp(z).sum(-1, keepdims=True))
    rows = np.flatnonzero(targets != -100)
    y = targets[rows]
    d = np.zeros_like(logits)
    d[rows] = np.exp(log_p[rows])
    d[rows, y] -= 1
    return -log_p[rows, y].sum(), d


# %% wrong: divided by all positions
# loses 6: divides by all the positions
def cross_entropy(logits, targets):
    z = logits - logits.max(-1, keepdims=True)
    log_p = z - np.log(np.exp(z).sum(-1, keepdims=True))
    rows = np.flatnonzero(targets != -100)
    y = targets[rows]
    d = np.zeros_like(logits)
    d[rows] = np.exp(log_p[rows])
    d[rows, y] -= 1
    T = len(targets)
    return -log_p[rows, y].sum() / T, d / T


# %% wrong: 1/N in the loss alone
# loses 5: factor 1/N is missing
def cross_entropy(logits, targets):
    z = logits - logits.max(-1, keepdims=True)
    log_p = z - np.log(np.exp(z).sum(-1, keepdims=True))
    rows = np.flatnonzero(targets != -100)
    y = targets[rows]
    d = np.zeros_like(logits)
    d[rows] = np.exp(log_p[rows])
    d[rows, y] -= 1
    return -log_p[rows, y].mean(), d


# %% wrong: the minus sign forgotten
# loses 4: minus the logarithm
def cross_entropy(logits, targets):
    z = logits - logits.max(-1, keepdims=True)
    log_p = z - np.log(np.exp(z).sum(-1, keepdims=True))
    rows = np.flatnonzero(targets != -100)
    y = targets[rows]
    d = np.zeros_like(logits)
    d[rows] = np.exp(log_p[rows])
    d[rows, y] -= 1
    return log_p[rows, y].mean(), d / len(rows)


# %% wrong: no one-hot
# loses 5: one-hot target is not subtracted
def cross_entropy(logits, targets):
    z = logits - logits.max(-1, keepdims=True)
    log_p = z - np.log(np.exp(z).sum(-1, keepdims=True))
    rows = np.flatnonzero(targets != -100)
    d = np.zeros_like(logits)
    d[rows] = np.exp(log_p[rows]) / len(rows)
    return -log_p[rows, targets[rows]].mean(), d


# %% wrong: ignored rows keep their softmax
# loses 5: must be 0
def cross_entropy(logits, targets):
    z = logits - logits.max(-1, keepdims=True)
    log_p = z - np.log(np.exp(z).sum(-1, keepdims=True))
    rows = np.flatnonzero(targets != -100)
    d = np.exp(log_p)
    d[rows, targets[rows]] -= 1
    return -log_p[rows, targets[rows]].mean(), d / len(rows)


# %% wrong: ignored targets counted as class 0
# loses 6: class 0
def cross_entropy(logits, targets):
    y = np.where(targets == -100, 0, targets)
    z = logits - logits.max(-1, keepdims=True)
    log_p = z - np.log(np.exp(z).sum(-1, keepdims=True))
    rows = np.arange(len(y))
    d = np.exp(log_p)
    d[rows, y] -= 1
    return -log_p[rows, y].mean(), d / len(y)


# %% wrong: -100 as an index
# loses 6: out of bounds
def cross_entropy(logits, targets):
    z = logits - logits.max(-1, keepdims=True)
    log_p = z - np.log(np.exp(z).sum(-1, keepdims=True))
    rows = np.arange(len(targets))
    d = np.exp(log_p)
    d[rows, targets] -= 1
    return -log_p[rows, targets].mean(), d / len(targets)


# %% wrong: -100 as an index where there are enough classes
# loses 3: was taken for an index
def cross_entropy(logits, targets):
    z = logits - logits.max(-1, keepdims=True)
    log_p = z - np.log(np.exp(z).sum(-1, keepdims=True))
    rows = np.flatnonzero(targets >= -logits.shape[1])
    y = targets[rows]
    d = np.zeros_like(logits)
    d[rows] = np.exp(log_p[rows])
    d[rows, y] -= 1
    return -log_p[rows, y].mean(), d / len(rows)


# %% wrong: bits
# loses 4: in bits
def cross_entropy(logits, targets):
    z = logits - logits.max(-1, keepdims=True)
    log_p = z - np.log(np.exp(z).sum(-1, keepdims=True))
    rows = np.flatnonzero(targets != -100)
    y = targets[rows]
    d = np.zeros_like(logits)
    d[rows] = np.exp(log_p[rows])
    d[rows, y] -= 1
    return -log_p[rows, y].mean() / np.log(2), d / len(rows)


# %% wrong: the loss alone
# loses 6: return the tuple
def cross_entropy(logits, targets):
    z = logits - logits.max(-1, keepdims=True)
    log_p = z - np.log(np.exp(z).sum(-1, keepdims=True))
    rows = np.flatnonzero(targets != -100)
    return -log_p[rows, targets[rows]].mean()


# %% right: a loop, and math
def cross_entropy(logits, targets):
    import math

    T, V = logits.shape
    loss, count, d = 0.0, 0, np.zeros((T, V))
    for t in range(T):
        if targets[t] < 0:
            continue
        top = max(logits[t])
        total = math.fsum(math.exp(v - top) for v in logits[t])
        loss += top + math.log(total) - logits[t, targets[t]]
        for v in range(V):
            d[t, v] = math.exp(logits[t, v] - top) / total
        d[t, targets[t]] -= 1
        count += 1
    return loss / count, d / count


# %% right: logaddexp, and a one-hot matrix
def cross_entropy(logits, targets):
    V = logits.shape[1]
    counts = targets != -100
    hot = (targets[:, None] == np.arange(V)).astype(float)
    log_p = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
    N = hot.sum()
    d = (np.exp(log_p) - hot) * counts[:, None] / N
    return -(hot * log_p).sum() / N, d


# %% right: masked with weights, indices clipped
def cross_entropy(logits, targets):
    weight = (targets != -100) / np.count_nonzero(targets != -100)
    y = np.clip(targets, 0, None)[:, None]
    logits -= np.max(logits, axis=-1, keepdims=True)
    e = np.exp(logits)
    total = e.sum(-1, keepdims=True)
    losses = np.log(total) - np.take_along_axis(logits, y, -1)
    d = e / total
    np.put_along_axis(d, y, np.take_along_axis(d, y, -1) - 1, -1)
    return np.float64(weight @ losses[:, 0]), d * weight[:, None]


# %% right: a list, and a zero-dimensional array
def cross_entropy(logits, targets):
    kept = logits[targets >= 0]
    y = targets[targets >= 0]
    top = kept.max(1)
    lse = top + np.log(np.exp(kept - top[:, None]).sum(1))
    out = np.zeros(logits.shape)
    out[targets >= 0] = np.exp(kept - lse[:, None]) - np.eye(
        logits.shape[1]
    )[y]
    loss = np.array((lse - kept[np.arange(len(y)), y]).mean())
    return [loss, out / y.size]
