# %% wrong: r held fixed
# loses 5: holds r fixed
def rms_norm_push(x, gain, eps, v):
    return gain * v / np.sqrt(np.mean(x**2) + eps)


# %% wrong: the gain left out
# loses 5: the gain is missing
def rms_norm_push(x, gain, eps, v):
    r = np.sqrt(np.mean(x**2) + eps)
    x_hat = x / r
    return (v - x_hat * np.mean(x_hat * v)) / r


# %% wrong: the backward pass
# loses 5: this is the backward pass
def rms_norm_push(x, gain, eps, v):
    r = np.sqrt(np.mean(x**2) + eps)
    x_hat, w = x / r, gain * v
    return (w - x_hat * np.mean(x_hat * w)) / r


# %% wrong: a sum for the mean in the projection
# loses 5: not their sum
def rms_norm_push(x, gain, eps, v):
    r = np.sqrt(np.mean(x**2) + eps)
    x_hat = x / r
    return gain * (v - x_hat * np.sum(x_hat * v)) / r


# %% wrong: a sum for the mean under the root
# loses 5: mean of the squares, not their sum
def rms_norm_push(x, gain, eps, v):
    r = np.sqrt(np.sum(x**2) + eps)
    x_hat = x / r
    return gain * (v - x_hat * np.sum(x_hat * v)) / r


# %% wrong: the projection added
# loses 5: projection has the wrong sign
def rms_norm_push(x, gain, eps, v):
    r = np.sqrt(np.mean(x**2) + eps)
    x_hat = x / r
    return gain * (v + x_hat * np.mean(x_hat * v)) / r


# %% wrong: the projection on x itself
# loses 5: x_hat = x/r, not on x
def rms_norm_push(x, gain, eps, v):
    J = np.eye(len(x)) - np.outer(x, x) / len(x)
    return gain * (J @ v) / np.sqrt(np.mean(x**2) + eps)


# %% wrong: no 1/r
# loses 5: factor 1/r is missing
def rms_norm_push(x, gain, eps, v):
    x_hat = x / np.sqrt(np.mean(x**2) + eps)
    return gain * (v - x_hat * np.mean(x_hat * v))


# %% wrong: divided by r twice
# loses 5: divides by r
def rms_norm_push(x, gain, eps, v):
    r_squared = np.mean(x**2) + eps
    return gain * (v - x * np.mean(x * v) / r_squared) / r_squared


# %% wrong: eps ignored
# loses 5: eps is ignored
def rms_norm_push(x, gain, eps, v):
    r = np.sqrt(np.mean(x**2))
    x_hat = x / r
    return gain * (v - x_hat * np.mean(x_hat * v)) / r


# %% wrong: eps outside the root
# loses 5: belongs inside
def rms_norm_push(x, gain, eps, v):
    r = np.sqrt(np.mean(x**2)) + eps
    x_hat = x / r
    return gain * (v - x_hat * np.mean(x_hat * v)) / r


# %% wrong: LayerNorm
# loses 5: does not subtract the mean
def rms_norm_push(x, gain, eps, v):
    r = np.sqrt(x.var() + eps)
    x_hat = (x - x.mean()) / r
    return gain * (v - v.mean() - x_hat * np.mean(x_hat * v)) / r


# %% wrong: the size of the change
# loses 5: has shape ()
def rms_norm_push(x, gain, eps, v):
    r = np.sqrt(np.mean(x**2) + eps)
    x_hat = x / r
    return np.linalg.norm(gain * (v - x_hat * np.mean(x_hat * v)) / r)


# %% wrong: a forward difference, too coarse
# loses 5: close, but not close enough
def rms_norm_push(x, gain, eps, v):
    def norm(x):
        return gain * x / np.sqrt(np.mean(x**2) + eps)

    return (norm(x + 1e-3 * v) - norm(x)) / 1e-3


# %% right: a complex step
def rms_norm_push(x, gain, eps, v):
    moved = x + 1e-30j * v
    return (gain * moved / np.sqrt(np.mean(moved**2) + eps)).imag / 1e-30


# %% right: a central difference
def rms_norm_push(x, gain, eps, v):
    def norm(x):
        return gain * x / np.sqrt(np.mean(x**2) + eps)

    return (norm(x + 1e-5 * v) - norm(x - 1e-5 * v)) / 2e-5


# %% right: the whole matrix, in loops
def rms_norm_push(x, g, eps, v):
    D = len(x)
    r = (sum(float(a) ** 2 for a in x) / D + eps) ** 0.5
    J = np.zeros((D, D))
    for i in range(D):
        for j in range(D):
            J[i, j] = g[i] * ((i == j) / r - x[i] * x[j] / (D * r**3))
    return J @ v


# %% right: float32 at the end, within the accuracy asked for
def rms_norm_push(x, gain, eps, v):
    r = np.sqrt(np.mean(x * x) + eps)
    push = gain * (v / r - x * np.dot(x, v) / (x.size * r**3))
    return push.astype(np.float32)
