# %% wrong: r held fixed
# loses 4: holds r fixed
def rms_norm(x, gain, eps):
    return gain * x / np.sqrt((x**2).mean(-1, keepdims=True) + eps)


def rms_norm_backward(dy, x, gain, eps):
    r = np.sqrt((x**2).mean(-1, keepdims=True) + eps)
    return dy * gain / r, (dy * x / r).sum((0, 1))


# %% wrong: eps left out
# loses 8: eps is ignored
def rms_norm(x, gain, eps):
    return gain * x / np.sqrt((x**2).mean(-1, keepdims=True))


def rms_norm_backward(dy, x, gain, eps):
    r = np.sqrt((x**2).mean(-1, keepdims=True))
    g, h = dy * gain, x / r
    dx = (g - h * (g * h).mean(-1, keepdims=True)) / r
    return dx, (dy * h).sum((0, 1))


# %% wrong: eps outside the root
# loses 8: eps stands outside the root
def rms_norm(x, gain, eps):
    return gain * x / (np.sqrt((x**2).mean(-1, keepdims=True)) + eps)


def rms_norm_backward(dy, x, gain, eps):
    r = np.sqrt((x**2).mean(-1, keepdims=True)) + eps
    g, h = dy * gain, x / r
    dx = (g - h * (g * h).mean(-1, keepdims=True)) / r
    return dx, (dy * h).sum((0, 1))


# %% wrong: the sum of the squares
# loses 8: mean of the squares, not their sum
def rms_norm(x, gain, eps):
    return gain * x / np.sqrt((x**2).sum(-1, keepdims=True) + eps)


def rms_norm_backward(dy, x, gain, eps):
    r = np.sqrt((x**2).sum(-1, keepdims=True) + eps)
    g, h = dy * gain, x / r
    dx = (g - h * (g * h).sum(-1, keepdims=True)) / r
    return dx, (dy * h).sum((0, 1))


# %% wrong: one r for all rows
# loses 8: each row has its own r
def rms_norm(x, gain, eps):
    return gain * x / np.sqrt((x**2).mean() + eps)


def rms_norm_backward(dy, x, gain, eps):
    r = np.sqrt((x**2).mean() + eps)
    g, h = dy * gain, x / r
    return (g - h * (g * h).mean()) / r, (dy * h).sum((0, 1))


# %% wrong: no root
# loses 3: the root is missing
def rms_norm(x, gain, eps):
    return gain * x / ((x**2).mean(-1, keepdims=True) + eps)


def rms_norm_backward(dy, x, gain, eps):
    r = np.sqrt((x**2).mean(-1, keepdims=True) + eps)
    g, h = dy * gain, x / r
    dx = (g - h * (g * h).mean(-1, keepdims=True)) / r
    return dx, (dy * h).sum((0, 1))


# %% wrong: the gain forgotten
# loses 6: the gain is missing
def rms_norm(x, gain, eps):
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + eps)


def rms_norm_backward(dy, x, gain, eps):
    r = np.sqrt((x**2).mean(-1, keepdims=True) + eps)
    h = x / r
    dx = (dy - h * (dy * h).mean(-1, keepdims=True)) / r
    return dx, (dy * h).sum((0, 1))


# %% wrong: the gain after the projection
# loses 4: backward it comes first
def rms_norm(x, gain, eps):
    return gain * x / np.sqrt((x**2).mean(-1, keepdims=True) + eps)


def rms_norm_backward(dy, x, gain, eps):
    r = np.sqrt((x**2).mean(-1, keepdims=True) + eps)
    h = x / r
    dx = gain * (dy - h * (dy * h).mean(-1, keepdims=True)) / r
    return dx, (dy * h).sum((0, 1))


# %% wrong: the projection summed
# loses 4: mean over the D entries, not their sum
def rms_norm(x, gain, eps):
    return gain * x / np.sqrt((x**2).mean(-1, keepdims=True) + eps)


def rms_norm_backward(dy, x, gain, eps):
    r = np.sqrt((x**2).mean(-1, keepdims=True) + eps)
    g, h = dy * gain, x / r
    dx = (g - h * (g * h).sum(-1, keepdims=True)) / r
    return dx, (dy * h).sum((0, 1))


# %% wrong: the projection added
# loses 4: the projection has the wrong sign
def rms_norm(x, gain, eps):
    return gain * x / np.sqrt((x**2).mean(-1, keepdims=True) + eps)


def rms_norm_backward(dy, x, gain, eps):
    r = np.sqrt((x**2).mean(-1, keepdims=True) + eps)
    g, h = dy * gain, x / r
    dx = (g + h * (g * h).mean(-1, keepdims=True)) / r
    return dx, (dy * h).sum((0, 1))


# %% wrong: projected on x
# loses 4: the projection is on x_hat
def rms_norm(x, gain, eps):
    return gain * x / np.sqrt((x**2).mean(-1, keepdims=True) + eps)


def rms_norm_backward(dy, x, gain, eps):
    r = np.sqrt((x**2).mean(-1, keepdims=True) + eps)
    g = dy * gain
    dx = (g - x * (g * x).mean(-1, keepdims=True)) / r
    return dx, (dy * x / r).sum((0, 1))


# %% wrong: 1/r forgotten
# loses 4: factor 1/r is missing
def rms_norm(x, gain, eps):
    return gain * x / np.sqrt((x**2).mean(-1, keepdims=True) + eps)


def rms_norm_backward(dy, x, gain, eps):
    r = np.sqrt((x**2).mean(-1, keepdims=True) + eps)
    g, h = dy * gain, x / r
    dx = g - h * (g * h).mean(-1, keepdims=True)
    return dx, (dy * h).sum((0, 1))


# %% wrong: LayerNorm
# loses 8: this is LayerNorm
def rms_norm(x, gain, eps):
    c = x - x.mean(-1, keepdims=True)
    return gain * c / np.sqrt((c**2).mean(-1, keepdims=True) + eps)


def rms_norm_backward(dy, x, gain, eps):
    c = x - x.mean(-1, keepdims=True)
    r = np.sqrt((c**2).mean(-1, keepdims=True) + eps)
    g, h = dy * gain, c / r
    dx = (g - g.mean(-1, keepdims=True)
          - h * (g * h).mean(-1, keepdims=True)) / r
    return dx, (dy * h).sum((0, 1))


# %% wrong: dgain summed over the batch alone
# loses 3: more than one entry a channel
def rms_norm(x, gain, eps):
    return gain * x / np.sqrt((x**2).mean(-1, keepdims=True) + eps)


def rms_norm_backward(dy, x, gain, eps):
    r = np.sqrt((x**2).mean(-1, keepdims=True) + eps)
    g, h = dy * gain, x / r
    dx = (g - h * (g * h).mean(-1, keepdims=True)) / r
    return dx, (dy * h).sum(0)


# %% wrong: dgain averaged
# loses 3: this takes their mean
def rms_norm(x, gain, eps):
    return gain * x / np.sqrt((x**2).mean(-1, keepdims=True) + eps)


def rms_norm_backward(dy, x, gain, eps):
    r = np.sqrt((x**2).mean(-1, keepdims=True) + eps)
    g, h = dy * gain, x / r
    dx = (g - h * (g * h).mean(-1, keepdims=True)) / r
    return dx, (dy * h).mean((0, 1))


# %% wrong: dgain from x itself
# loses 3: the gain multiplies x/r, not x
def rms_norm(x, gain, eps):
    return gain * x / np.sqrt((x**2).mean(-1, keepdims=True) + eps)


def rms_norm_backward(dy, x, gain, eps):
    r = np.sqrt((x**2).mean(-1, keepdims=True) + eps)
    g, h = dy * gain, x / r
    dx = (g - h * (g * h).mean(-1, keepdims=True)) / r
    return dx, (dy * x).sum((0, 1))


# %% wrong: dgain from y
# loses 3: does not appear in its own gradient
def rms_norm(x, gain, eps):
    return gain * x / np.sqrt((x**2).mean(-1, keepdims=True) + eps)


def rms_norm_backward(dy, x, gain, eps):
    r = np.sqrt((x**2).mean(-1, keepdims=True) + eps)
    g, h = dy * gain, x / r
    dx = (g - h * (g * h).mean(-1, keepdims=True)) / r
    return dx, (dy * gain * h).sum((0, 1))


# %% wrong: dx alone
# loses 6: return the tuple
def rms_norm(x, gain, eps):
    return gain * x / np.sqrt((x**2).mean(-1, keepdims=True) + eps)


def rms_norm_backward(dy, x, gain, eps):
    r = np.sqrt((x**2).mean(-1, keepdims=True) + eps)
    g, h = dy * gain, x / r
    return (g - h * (g * h).mean(-1, keepdims=True)) / r


# %% wrong: rounded to float32
# loses 8: has dtype float32
def rms_norm(x, gain, eps):
    y = gain * x / np.sqrt((x**2).mean(-1, keepdims=True) + eps)
    return y.astype(np.float32)


def rms_norm_backward(dy, x, gain, eps):
    r = np.sqrt((x**2).mean(-1, keepdims=True) + eps)
    g, h = dy * gain, x / r
    dx = (g - h * (g * h).mean(-1, keepdims=True)) / r
    dgain = (dy * h).sum((0, 1))
    return dx.astype(np.float32), dgain.astype(np.float32)


# %% wrong: projected over time as well
# loses 4: mean over the last axis alone
def rms_norm(x, gain, eps):
    return gain * x / np.sqrt((x**2).mean(-1, keepdims=True) + eps)


def rms_norm_backward(dy, x, gain, eps):
    r = np.sqrt((x**2).mean(-1, keepdims=True) + eps)
    h, g = x / r, dy * gain
    dx = (g - h * (g * h).mean((1, 2), keepdims=True)) / r
    return dx, (dy * h).sum((0, 1))


# %% wrong: eps forgotten on the way back
# loses 6: eps is missing
def rms_norm(x, gain, eps):
    return gain * x / np.sqrt((x**2).mean(-1, keepdims=True) + eps)


def rms_norm_backward(dy, x, gain, eps):
    r = np.sqrt((x**2).mean(-1, keepdims=True))
    h, g = x / r, dy * gain
    dx = (g - h * (g * h).mean(-1, keepdims=True)) / r
    return dx, (dy * h).sum((0, 1))


# %% wrong: dgain before dx
# loses 6: in this order
def rms_norm(x, gain, eps):
    return gain * x / np.sqrt((x**2).mean(-1, keepdims=True) + eps)


def rms_norm_backward(dy, x, gain, eps):
    r = np.sqrt((x**2).mean(-1, keepdims=True) + eps)
    h, g = x / r, dy * gain
    dx = (g - h * (g * h).mean(-1, keepdims=True)) / r
    return (dy * h).sum((0, 1)), dx


# %% right: a complex step
def rms_norm(x, gain, eps):
    return gain * x * ((x * x).mean(-1, keepdims=True) + eps) ** -0.5


def rms_norm_backward(dy, x, gain, eps):
    dx = np.zeros_like(x)
    for i in range(x.shape[-1]):
        step = np.zeros(x.shape, complex)
        step[..., i] = 1e-30j
        dx[..., i] = (dy * rms_norm(x + step, gain, eps).imag).sum(-1) / 1e-30
    return dx, (dy * rms_norm(x, gain, eps) / gain).sum((0, 1))


# %% right: loops over rows, and the Jacobian of each
def rms_norm(x, gain, eps):
    B, T, D = x.shape
    y = np.empty((B, T, D))
    for b in range(B):
        for t in range(T):
            r = (sum(v * v for v in x[b, t]) / D + eps) ** 0.5
            y[b, t] = [g * v / r for g, v in zip(gain, x[b, t])]
    return y


def rms_norm_backward(dy, x, gain, eps):
    B, T, D = x.shape
    dx, dgain = np.zeros((B, T, D)), np.zeros(D)
    for b, t in np.ndindex(B, T):
        r = np.sqrt(x[b, t] @ x[b, t] / D + eps)
        h = x[b, t] / r
        J = np.diag(gain) @ (np.eye(D) - np.outer(h, h) / D) / r
        dx[b, t] = J.T @ dy[b, t]
        dgain += dy[b, t] * h
    return dx, dgain


# %% right: the rows flattened, einsum, and x overwritten
def rms_norm(x, gain, eps):
    scale = np.sqrt(np.einsum("btd,btd->bt", x, x) / x.shape[2] + eps)
    x /= scale[..., None]
    x *= gain
    return x


def rms_norm_backward(dy, x, gain, eps):
    flat, d = x.reshape(-1, x.shape[-1]), dy.reshape(-1, x.shape[-1])
    D = flat.shape[1]
    ms = np.einsum("nd,nd->n", flat, flat)[:, None] / D + eps
    pull = np.einsum("nd,d,nd->n", d, gain, flat)[:, None] / D
    dx = d * gain * ms**-0.5 - flat * pull * ms**-1.5
    return [dx.reshape(x.shape), np.einsum("nd,nd->d", d, flat * ms**-0.5)]
