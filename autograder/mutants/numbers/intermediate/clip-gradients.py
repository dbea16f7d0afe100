# %% wrong: each array by its own norm
# loses 4: scaled by its own norm
def clip_gradients(grads, largest):
    norm = np.sqrt(sum((g * g).sum() for g in grads.values()))
    clipped = {}
    for name, g in grads.items():
        own = np.linalg.norm(g)
        clipped[name] = g * largest / own if own > largest else g
    return clipped, norm


# %% wrong: entries cut off
# loses 4: cut off one by one
def clip_gradients(grads, largest):
    norm = np.sqrt(sum((g * g).sum() for g in grads.values()))
    top = largest
    return {name: np.clip(g, -top, top) for name, g in grads.items()}, norm


# %% wrong: always scaled
# loses 4: this is scaled up
def clip_gradients(grads, largest):
    norm = np.sqrt(sum((g * g).sum() for g in grads.values()))
    factor = largest / norm if norm else 1.0
    return {name: g * factor for name, g in grads.items()}, norm


# %% wrong: the square of the norm
# loses 4: take the root
def clip_gradients(grads, largest):
    norm = sum((g * g).sum() for g in grads.values())
    factor = largest / norm if norm > largest else 1.0
    return {name: g * factor for name, g in grads.items()}, norm


# %% wrong: norms added up
# loses 4: norms do not add up
def clip_gradients(grads, largest):
    norm = sum(np.linalg.norm(g) for g in grads.values())
    factor = largest / norm if norm > largest else 1.0
    return {name: g * factor for name, g in grads.items()}, norm


# %% wrong: the largest norm
# loses 4: the longest array alone
def clip_gradients(grads, largest):
    norm = max(np.linalg.norm(g) for g in grads.values())
    factor = largest / norm if norm > largest else 1.0
    return {name: g * factor for name, g in grads.items()}, norm


# %% wrong: the sum of absolute values
# loses 4: not the sum of absolute
def clip_gradients(grads, largest):
    norm = sum(np.abs(g).sum() for g in grads.values())
    factor = largest / norm if norm > largest else 1.0
    return {name: g * factor for name, g in grads.items()}, norm


# %% wrong: the norm after clipping
# loses 4: norm after clipping
def clip_gradients(grads, largest):
    norm = np.sqrt(sum((g * g).sum() for g in grads.values()))
    factor = largest / norm if norm > largest else 1.0
    return {name: g * factor for name, g in grads.items()}, min(norm, largest)


# %% wrong: scaled to 1
# loses 4: this has norm 1
def clip_gradients(grads, largest):
    norm = np.sqrt(sum((g * g).sum() for g in grads.values()))
    factor = 1 / norm if norm > largest else 1.0
    return {name: g * factor for name, g in grads.items()}, norm


# %% wrong: divided by zero
# loses 3: must be finite
def clip_gradients(grads, largest):
    norm = np.sqrt(sum((g * g).sum() for g in grads.values()))
    factor = min(norm, largest) / np.float64(norm)
    return {name: g * factor for name, g in grads.items()}, norm


# %% wrong: the norm alone
# loses 4: return the tuple
def clip_gradients(grads, largest):
    norm = np.sqrt(sum((g * g).sum() for g in grads.values()))
    return norm


# %% right: hypot over the arrays
def clip_gradients(grads, largest):
    import math

    norm = math.hypot(*(np.linalg.norm(g) for g in grads.values()))
    for g in grads.values():
        g *= min(1.0, largest / max(norm, 1e-300))
    return grads, norm


# %% right: one long vector
def clip_gradients(grads, largest):
    vector = np.concatenate([g.ravel() for g in grads.values()])
    norm = float(np.sqrt(vector @ vector))
    if norm <= largest:
        return [grads, norm]
    vector, clipped = vector / norm * largest, {}
    for name, g in grads.items():
        clipped[name] = vector[: g.size].reshape(g.shape)
        vector = vector[g.size :]
    return [clipped, norm]


# %% right: loops
def clip_gradients(grads, largest):
    total = 0.0
    for g in grads.values():
        for entry in g.flat:
            total += float(entry) ** 2
    norm = total**0.5
    clipped = dict(grads)
    if norm > largest:
        for name in grads:
            clipped[name] = largest * grads[name] / norm
    return clipped, np.array(norm)
