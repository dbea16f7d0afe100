# %% wrong: the other logits forgotten
# loses 5: the other logits count too
def sink_logit(z, values, budget):
    p = np.exp(z - z.max())
    norm = np.linalg.norm(p @ values / p.sum())
    return float(np.log(norm / budget - 1)) if norm > budget else -np.inf


# %% wrong: the largest logit for the log of the sum
# loses 5: the largest logit is not the logarithm
def sink_logit(z, values, budget):
    p = np.exp(z - z.max())
    norm = np.linalg.norm(p @ values / p.sum())
    if norm <= budget:
        return -np.inf
    return float(z.max() + np.log(norm / budget - 1))


# %% wrong: the 1 left out of the odds
# loses 5: leaves out the 1
def sink_logit(z, values, budget):
    p = np.exp(z - z.max())
    norm = np.linalg.norm(p @ values / p.sum())
    if norm <= budget:
        return -np.inf
    return float(z.max() + np.log(p.sum()) + np.log(norm / budget))


# %% wrong: the odds upside down
# loses 5: the odds are upside down
def sink_logit(z, values, budget):
    p = np.exp(z - z.max())
    norm = np.linalg.norm(p @ values / p.sum())
    if norm <= budget:
        return -np.inf
    return float(z.max() + np.log(p.sum()) - np.log(norm / budget - 1))


# %% wrong: values averaged equally
# loses 4: averaged with softmax's weights
def sink_logit(z, values, budget):
    lse = z.max() + np.log(np.exp(z - z.max()).sum())
    norm = np.linalg.norm(values.mean(0))
    if norm <= budget:
        return -np.inf
    return float(lse + np.log(norm / budget - 1))


# %% wrong: the average of the norms
# loses 4: not the average of the norms
def sink_logit(z, values, budget):
    p = np.exp(z - z.max())
    norm = p @ np.linalg.norm(values, axis=1) / p.sum()
    if norm <= budget:
        return -np.inf
    return float(z.max() + np.log(p.sum()) + np.log(norm / budget - 1))


# %% wrong: the longest value as a bound
# loses 4: values may cancel
def sink_logit(z, values, budget):
    lse = z.max() + np.log(np.exp(z - z.max()).sum())
    norm = np.linalg.norm(values, axis=1).max()
    if norm <= budget:
        return -np.inf
    return float(lse + np.log(norm / budget - 1))


# %% wrong: the square of the norm
# loses 5: not its square
def sink_logit(z, values, budget):
    p = np.exp(z - z.max())
    out = p @ values / p.sum()
    if out @ out <= budget**2:
        return -np.inf
    odds = out @ out / budget**2 - 1
    return float(z.max() + np.log(p.sum()) + np.log(odds))


# %% wrong: exponentials without a shift
# loses 4: large logits overflow
def sink_logit(z, values, budget):
    with np.errstate(all="ignore"):
        e = np.exp(z)
        norm = np.linalg.norm(e @ values / e.sum())
        if norm <= budget:
            return -np.inf
        return float(np.log(e.sum()) + np.log(norm / budget - 1))


# %% wrong: no answer for a head within its budget
# loses 4: return -np.inf
def sink_logit(z, values, budget):
    p = np.exp(z - z.max())
    norm = np.linalg.norm(p @ values / p.sum())
    with np.errstate(all="ignore"):
        odds = np.log(norm / budget - 1)
    return float(z.max() + np.log(p.sum()) + odds)


# %% wrong: the weight, not the logit
# loses 5: return its logit
def sink_logit(z, values, budget):
    p = np.exp(z - z.max())
    norm = np.linalg.norm(p @ values / p.sum())
    return float(1 - budget / norm) if norm > budget else -np.inf


# %% right: bisection on the output's norm
def sink_logit(z, values, budget):
    def norm(s):
        top = max(z.max(), s)
        e = np.exp(z - top)
        return np.linalg.norm(e @ values / (e.sum() + np.exp(s - top)))

    if norm(z.max() - 200) <= budget:
        return -np.inf
    low, high = z.max() - 200, z.max() + 200
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if norm(middle) > budget else (low, middle)
    return high


# %% right: logaddexp and log1p
def sink_logit(z, values, budget):
    lse = np.logaddexp.reduce(z)
    norm = np.sqrt(np.sum((np.exp(z - lse) @ values) ** 2))
    share = budget / norm
    if share >= 1:
        return float("-inf")
    return lse + np.log1p(-share) - np.log(share)


# %% right: plain Python
def sink_logit(z, values, budget):
    import math

    top = max(z)
    e = [math.exp(x - top) for x in z]
    out = [
        sum(w * v[k] for w, v in zip(e, values)) / sum(e)
        for k in range(values.shape[1])
    ]
    norm = math.sqrt(sum(x * x for x in out))
    if norm <= budget:
        return -math.inf
    return top + math.log(sum(e) * (norm - budget) / budget)
