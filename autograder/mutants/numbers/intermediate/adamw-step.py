# %% wrong: no correction of the moments
# loses 5: not corrected for their start
def adamw_step(params, grads, m, v, t, lr, betas, eps, decay):
    b1, b2 = betas
    for name, w in params.items():
        g = grads[name]
        m[name] = b1 * m[name] + (1 - b1) * g
        v[name] = b2 * v[name] + (1 - b2) * g * g
        m_hat = m[name]
        v_hat = v[name]
        decays = not name.endswith((".gain", ".bias", "embedding.weight"))
        step = m_hat / (np.sqrt(v_hat) + eps) + decays * decay * w
        params[name] = w - lr * step
    return params, m, v


# %% wrong: v not corrected
# loses 5: v is not corrected
def adamw_step(params, grads, m, v, t, lr, betas, eps, decay):
    b1, b2 = betas
    for name, w in params.items():
        g = grads[name]
        m[name] = b1 * m[name] + (1 - b1) * g
        v[name] = b2 * v[name] + (1 - b2) * g * g
        m_hat = m[name] / (1 - b1**t)
        v_hat = v[name]
        decays = not name.endswith((".gain", ".bias", "embedding.weight"))
        step = m_hat / (np.sqrt(v_hat) + eps) + decays * decay * w
        params[name] = w - lr * step
    return params, m, v


# %% wrong: m not corrected
# loses 5: m is not corrected
def adamw_step(params, grads, m, v, t, lr, betas, eps, decay):
    b1, b2 = betas
    for name, w in params.items():
        g = grads[name]
        m[name] = b1 * m[name] + (1 - b1) * g
        v[name] = b2 * v[name] + (1 - b2) * g * g
        m_hat = m[name]
        v_hat = v[name] / (1 - b2**t)
        decays = not name.endswith((".gain", ".bias", "embedding.weight"))
        step = m_hat / (np.sqrt(v_hat) + eps) + decays * decay * w
        params[name] = w - lr * step
    return params, m, v


# %% wrong: t counted from 0
# loses 5: do not add 1
def adamw_step(params, grads, m, v, t, lr, betas, eps, decay):
    b1, b2 = betas
    t = t + 1
    for name, w in params.items():
        g = grads[name]
        m[name] = b1 * m[name] + (1 - b1) * g
        v[name] = b2 * v[name] + (1 - b2) * g * g
        m_hat = m[name] / (1 - b1**t)
        v_hat = v[name] / (1 - b2**t)
        decays = not name.endswith((".gain", ".bias", "embedding.weight"))
        step = m_hat / (np.sqrt(v_hat) + eps) + decays * decay * w
        params[name] = w - lr * step
    return params, m, v


# %% wrong: decay through the gradient, as in Adam with L2
# loses 6: acts on the weight alone
def adamw_step(params, grads, m, v, t, lr, betas, eps, decay):
    b1, b2 = betas
    for name, w in params.items():
        g = grads[name]
        spared = name.endswith((".gain", ".bias", "embedding.weight"))
        g = g if spared else g + decay * w
        m[name] = b1 * m[name] + (1 - b1) * g
        v[name] = b2 * v[name] + (1 - b2) * g * g
        m_hat = m[name] / (1 - b1**t)
        v_hat = v[name] / (1 - b2**t)
        step = m_hat / (np.sqrt(v_hat) + eps)
        params[name] = w - lr * step
    return params, m, v


# %% wrong: no decay
# loses 4: the decay is missing
def adamw_step(params, grads, m, v, t, lr, betas, eps, decay):
    b1, b2 = betas
    for name, w in params.items():
        g = grads[name]
        m[name] = b1 * m[name] + (1 - b1) * g
        v[name] = b2 * v[name] + (1 - b2) * g * g
        m_hat = m[name] / (1 - b1**t)
        v_hat = v[name] / (1 - b2**t)
        step = m_hat / (np.sqrt(v_hat) + eps)
        params[name] = w - lr * step
    return params, m, v


# %% wrong: everything decays
# loses 2: a gain does not decay
def adamw_step(params, grads, m, v, t, lr, betas, eps, decay):
    b1, b2 = betas
    for name, w in params.items():
        g = grads[name]
        m[name] = b1 * m[name] + (1 - b1) * g
        v[name] = b2 * v[name] + (1 - b2) * g * g
        m_hat = m[name] / (1 - b1**t)
        v_hat = v[name] / (1 - b2**t)
        decays = True
        step = m_hat / (np.sqrt(v_hat) + eps) + decays * decay * w
        params[name] = w - lr * step
    return params, m, v


# %% wrong: the embedding decays
# loses 2: embedding.weight decays
def adamw_step(params, grads, m, v, t, lr, betas, eps, decay):
    b1, b2 = betas
    for name, w in params.items():
        g = grads[name]
        m[name] = b1 * m[name] + (1 - b1) * g
        v[name] = b2 * v[name] + (1 - b2) * g * g
        m_hat = m[name] / (1 - b1**t)
        v_hat = v[name] / (1 - b2**t)
        decays = not name.endswith((".gain", ".bias"))
        step = m_hat / (np.sqrt(v_hat) + eps) + decays * decay * w
        params[name] = w - lr * step
    return params, m, v


# %% wrong: matrices decay, whatever their name
# loses 5: one of those that do not
def adamw_step(params, grads, m, v, t, lr, betas, eps, decay):
    b1, b2 = betas
    for name, w in params.items():
        g = grads[name]
        m[name] = b1 * m[name] + (1 - b1) * g
        v[name] = b2 * v[name] + (1 - b2) * g * g
        m_hat = m[name] / (1 - b1**t)
        v_hat = v[name] / (1 - b2**t)
        decays = w.ndim > 1
        step = m_hat / (np.sqrt(v_hat) + eps) + decays * decay * w
        params[name] = w - lr * step
    return params, m, v


# %% wrong: the decay without the learning rate
# loses 4: has the factor lr too
def adamw_step(params, grads, m, v, t, lr, betas, eps, decay):
    b1, b2 = betas
    for name, w in params.items():
        g = grads[name]
        m[name] = b1 * m[name] + (1 - b1) * g
        v[name] = b2 * v[name] + (1 - b2) * g * g
        m_hat = m[name] / (1 - b1**t)
        v_hat = v[name] / (1 - b2**t)
        decays = not name.endswith((".gain", ".bias", "embedding.weight"))
        step = m_hat / (np.sqrt(v_hat) + eps)
        params[name] = w - lr * step - decays * decay * w
    return params, m, v


# %% wrong: the decay after the step
# loses 4: the weight before the step
def adamw_step(params, grads, m, v, t, lr, betas, eps, decay):
    b1, b2 = betas
    for name, w in params.items():
        g = grads[name]
        m[name] = b1 * m[name] + (1 - b1) * g
        v[name] = b2 * v[name] + (1 - b2) * g * g
        m_hat = m[name] / (1 - b1**t)
        v_hat = v[name] / (1 - b2**t)
        decays = not name.endswith((".gain", ".bias", "embedding.weight"))
        step = m_hat / (np.sqrt(v_hat) + eps)
        params[name] = (w - lr * step) * (1 - lr * decay * decays)
    return params, m, v


# %% wrong: eps inside the root
# loses 5: eps stands inside
def adamw_step(params, grads, m, v, t, lr, betas, eps, decay):
    b1, b2 = betas
    for name, w in params.items():
        g = grads[name]
        m[name] = b1 * m[name] + (1 - b1) * g
        v[name] = b2 * v[name] + (1 - b2) * g * g
        m_hat = m[name] / (1 - b1**t)
        v_hat = v[name] / (1 - b2**t)
        decays = not name.endswith((".gain", ".bias", "embedding.weight"))
        step = m_hat / (np.sqrt(v_hat + eps)) + decays * decay * w
        params[name] = w - lr * step
    return params, m, v


# %% wrong: no root
# loses 5: the root of v is missing
def adamw_step(params, grads, m, v, t, lr, betas, eps, decay):
    b1, b2 = betas
    for name, w in params.items():
        g = grads[name]
        m[name] = b1 * m[name] + (1 - b1) * g
        v[name] = b2 * v[name] + (1 - b2) * g * g
        m_hat = m[name] / (1 - b1**t)
        v_hat = v[name] / (1 - b2**t)
        decays = not name.endswith((".gain", ".bias", "embedding.weight"))
        step = m_hat / (v_hat + eps) + decays * decay * w
        params[name] = w - lr * step
    return params, m, v


# %% wrong: up the hill
# loses 5: this climbs
def adamw_step(params, grads, m, v, t, lr, betas, eps, decay):
    b1, b2 = betas
    for name, w in params.items():
        g = grads[name]
        m[name] = b1 * m[name] + (1 - b1) * g
        v[name] = b2 * v[name] + (1 - b2) * g * g
        m_hat = m[name] / (1 - b1**t)
        v_hat = v[name] / (1 - b2**t)
        decays = not name.endswith((".gain", ".bias", "embedding.weight"))
        step = -m_hat / (np.sqrt(v_hat) + eps) + decays * decay * w
        params[name] = w - lr * step
    return params, m, v


# %% wrong: the betas swapped
# loses 7: two betas are swapped
def adamw_step(params, grads, m, v, t, lr, betas, eps, decay):
    b2, b1 = betas
    for name, w in params.items():
        g = grads[name]
        m[name] = b1 * m[name] + (1 - b1) * g
        v[name] = b2 * v[name] + (1 - b2) * g * g
        m_hat = m[name] / (1 - b1**t)
        v_hat = v[name] / (1 - b2**t)
        decays = not name.endswith((".gain", ".bias", "embedding.weight"))
        step = m_hat / (np.sqrt(v_hat) + eps) + decays * decay * w
        params[name] = w - lr * step
    return params, m, v


# %% wrong: v of the gradient itself
# loses 7: mean of the squared
def adamw_step(params, grads, m, v, t, lr, betas, eps, decay):
    b1, b2 = betas
    for name, w in params.items():
        g = grads[name]
        m[name] = b1 * m[name] + (1 - b1) * g
        v[name] = b2 * v[name] + (1 - b2) * g
        m_hat = m[name] / (1 - b1**t)
        v_hat = v[name] / (1 - b2**t)
        decays = not name.endswith((".gain", ".bias", "embedding.weight"))
        step = m_hat / (np.sqrt(np.abs(v_hat)) + eps) + decays * decay * w
        params[name] = w - lr * step
    return params, m, v


# %% wrong: the hats returned
# loses 3: without the hat
def adamw_step(params, grads, m, v, t, lr, betas, eps, decay):
    b1, b2 = betas
    for name, w in params.items():
        g = grads[name]
        m[name] = b1 * m[name] + (1 - b1) * g
        v[name] = b2 * v[name] + (1 - b2) * g * g
        m_hat = m[name] / (1 - b1**t)
        v_hat = v[name] / (1 - b2**t)
        decays = not name.endswith((".gain", ".bias", "embedding.weight"))
        step = m_hat / (np.sqrt(v_hat) + eps) + decays * decay * w
        params[name] = w - lr * step
    m = {n: a / (1 - b1**t) for n, a in m.items()}
    v = {n: a / (1 - b2**t) for n, a in v.items()}
    return params, m, v


# %% wrong: the gradient in full
# loses 7: factor 1 - beta1
def adamw_step(params, grads, m, v, t, lr, betas, eps, decay):
    b1, b2 = betas
    for name, w in params.items():
        g = grads[name]
        m[name] = b1 * m[name] + g
        v[name] = b2 * v[name] + (1 - b2) * g * g
        m_hat = m[name] / (1 - b1**t)
        v_hat = v[name] / (1 - b2**t)
        decays = not name.endswith((".gain", ".bias", "embedding.weight"))
        step = m_hat / (np.sqrt(v_hat) + eps) + decays * decay * w
        params[name] = w - lr * step
    return params, m, v


# %% wrong: the parameters alone
# loses 7: return the tuple
def adamw_step(params, grads, m, v, t, lr, betas, eps, decay):
    b1, b2 = betas
    for name, w in params.items():
        g = grads[name]
        m[name] = b1 * m[name] + (1 - b1) * g
        v[name] = b2 * v[name] + (1 - b2) * g * g
        m_hat = m[name] / (1 - b1**t)
        v_hat = v[name] / (1 - b2**t)
        decays = not name.endswith((".gain", ".bias", "embedding.weight"))
        step = m_hat / (np.sqrt(v_hat) + eps) + decays * decay * w
        params[name] = w - lr * step
    return params


# %% wrong: lists of arrays
# loses 7: must be a dictionary
def adamw_step(params, grads, m, v, t, lr, betas, eps, decay):
    b1, b2 = betas
    for name, w in params.items():
        g = grads[name]
        m[name] = b1 * m[name] + (1 - b1) * g
        v[name] = b2 * v[name] + (1 - b2) * g * g
        m_hat = m[name] / (1 - b1**t)
        v_hat = v[name] / (1 - b2**t)
        decays = not name.endswith((".gain", ".bias", "embedding.weight"))
        step = m_hat / (np.sqrt(v_hat) + eps) + decays * decay * w
        params[name] = w - lr * step
    return list(params.values()), list(m.values()), list(v.values())


# %% wrong: the hats moved into the learning rate, eps left where it was
# loses 5: eps is added to the root of v with the hat
def adamw_step(params, grads, m, v, t, lr, betas, eps, decay):
    b1, b2 = betas
    rate = lr * np.sqrt(1 - b2**t) / (1 - b1**t)
    for name, w in params.items():
        m[name] = b1 * m[name] + (1 - b1) * grads[name]
        v[name] = b2 * v[name] + (1 - b2) * grads[name] ** 2
        if not name.endswith((".gain", ".bias", "embedding.weight")):
            w = w * (1 - lr * decay)
        params[name] = w - rate * m[name] / (np.sqrt(v[name]) + eps)
    return params, m, v


# %% wrong: spared by a word in the name, not by its end
# loses 3: the decay is missing
def adamw_step(params, grads, m, v, t, lr, betas, eps, decay):
    b1, b2 = betas
    for n, w in params.items():
        m[n] = b1 * m[n] + (1 - b1) * grads[n]
        v[n] = b2 * v[n] + (1 - b2) * grads[n] ** 2
        if not any(word in n for word in ("gain", "bias", "embedding")):
            w = w * (1 - lr * decay)
        step = m[n] / (1 - b1**t) / (np.sqrt(v[n] / (1 - b2**t)) + eps)
        params[n] = w - lr * step
    return params, m, v


# %% right: comprehensions, and the decay first
def adamw_step(params, grads, m, v, t, lr, betas, eps, decay):
    b1, b2 = betas
    m = {n: m[n] + (1 - b1) * (grads[n] - m[n]) for n in params}
    v = {n: v[n] + (1 - b2) * (grads[n] ** 2 - v[n]) for n in params}
    rate = lr / (1 - b1**t)
    new = {}
    for n, w in params.items():
        spared = n.split(".")[-1] in ("gain", "bias")
        if spared or n[-16:] == "embedding.weight":
            shrunk = w
        else:
            shrunk = w * (1 - lr * decay)
        new[n] = shrunk - rate * m[n] / (np.sqrt(v[n] / (1 - b2**t)) + eps)
    return new, m, v


# %% right: in place
def adamw_step(params, grads, m, v, t, lr, betas, eps, decay):
    for name, w in params.items():
        g = grads[name]
        m[name] *= betas[0]
        m[name] += (1 - betas[0]) * g
        v[name] *= betas[1]
        v[name] += (1 - betas[1]) * g**2
        if not name.endswith((".gain", ".bias", "embedding.weight")):
            w -= lr * decay * w
        c1, c2 = 1 - betas[0] ** t, 1 - betas[1] ** t
        w -= lr * m[name] / c1 / (np.sqrt(v[name]) / np.sqrt(c2) + eps)
    return [params, m, v]


# %% right: entry by entry
def adamw_step(params, grads, m, v, t, lr, betas, eps, decay):
    import math

    out = ({}, {}, {})
    for name, w in params.items():
        new = [np.empty(w.shape) for _ in range(3)]
        ends = (".gain", ".bias", "embedding.weight")
        lam = 0.0 if any(name.endswith(e) for e in ends) else decay
        for i in np.ndindex(w.shape):
            g = grads[name][i]
            a = betas[0] * m[name][i] + (1 - betas[0]) * g
            b = betas[1] * v[name][i] + (1 - betas[1]) * g * g
            mean = a / (1 - math.pow(betas[0], t))
            root = math.sqrt(b / (1 - math.pow(betas[1], t)))
            new[0][i] = w[i] - lr * (mean / (root + eps) + lam * w[i])
            new[1][i], new[2][i] = a, b
        for part, array in zip(out, new):
            part[name] = array
    return out
