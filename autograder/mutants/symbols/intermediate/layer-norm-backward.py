# %% wrong: mean and variance held fixed
# loses 4: holds the mean and the variance fixed
def layer_norm_backward(dy, x, gain, eps):
    std = np.sqrt(x.var(-1, keepdims=True) + eps)
    x_hat = (x - x.mean(-1, keepdims=True)) / std
    return dy * gain / std, (dy * x_hat).sum(0), dy.sum(0)


# %% wrong: the variance held fixed
# loses 4: variance is held fixed
def layer_norm_backward(dy, x, gain, eps):
    std = np.sqrt(x.var(-1, keepdims=True) + eps)
    x_hat = (x - x.mean(-1, keepdims=True)) / std
    g = dy * gain
    dx = (g - g.mean(-1, keepdims=True)) / std
    return dx, (dy * x_hat).sum(0), dy.sum(0)


# %% wrong: the mean held fixed
# loses 4: mean is held fixed
def layer_norm_backward(dy, x, gain, eps):
    std = np.sqrt(x.var(-1, keepdims=True) + eps)
    x_hat = (x - x.mean(-1, keepdims=True)) / std
    g = dy * gain
    dx = (g - x_hat * (g * x_hat).mean(-1, keepdims=True)) / std
    return dx, (dy * x_hat).sum(0), dy.sum(0)


# %% wrong: the gain left out of dx
# loses 4: the gain is missing
def layer_norm_backward(dy, x, gain, eps):
    std = np.sqrt(x.var(-1, keepdims=True) + eps)
    h = (x - x.mean(-1, keepdims=True)) / std
    p = dy.mean(-1, keepdims=True) + h * (dy * h).mean(-1, keepdims=True)
    return (dy - p) / std, (dy * h).sum(0), dy.sum(0)


# %% wrong: the gain after the projections
# loses 4: backward it comes first
def layer_norm_backward(dy, x, gain, eps):
    std = np.sqrt(x.var(-1, keepdims=True) + eps)
    h = (x - x.mean(-1, keepdims=True)) / std
    p = dy.mean(-1, keepdims=True) + h * (dy * h).mean(-1, keepdims=True)
    return gain * (dy - p) / std, (dy * h).sum(0), dy.sum(0)


# %% wrong: eps outside the root
# loses 6: eps stands outside the root
def layer_norm_backward(dy, x, gain, eps):
    std = np.sqrt(x.var(-1, keepdims=True)) + eps
    h = (x - x.mean(-1, keepdims=True)) / std
    g = dy * gain
    p = g.mean(-1, keepdims=True) + h * (g * h).mean(-1, keepdims=True)
    return (g - p) / std, (dy * h).sum(0), dy.sum(0)


# %% wrong: the sample variance
# loses 6: divides by D - 1
def layer_norm_backward(dy, x, gain, eps):
    std = np.sqrt(x.var(-1, keepdims=True, ddof=1) + eps)
    h = (x - x.mean(-1, keepdims=True)) / std
    g = dy * gain
    p = g.mean(-1, keepdims=True) + h * (g * h).mean(-1, keepdims=True)
    return (g - p) / std, (dy * h).sum(0), dy.sum(0)


# %% wrong: statistics over all rows together
# loses 6: each row has its own
def layer_norm_backward(dy, x, gain, eps):
    std = np.sqrt(x.var() + eps)
    h = (x - x.mean()) / std
    g = dy * gain
    p = g.mean() + h * (g * h).mean()
    return (g - p) / std, (dy * h).sum(0), dy.sum(0)


# %% wrong: the parameters' gradients not summed over the rows
# loses 3: one row for each row of x
def layer_norm_backward(dy, x, gain, eps):
    std = np.sqrt(x.var(-1, keepdims=True) + eps)
    h = (x - x.mean(-1, keepdims=True)) / std
    g = dy * gain
    p = g.mean(-1, keepdims=True) + h * (g * h).mean(-1, keepdims=True)
    return (g - p) / std, dy * h, dy


# %% wrong: the parameters' gradients averaged
# loses 3: this takes their mean
def layer_norm_backward(dy, x, gain, eps):
    std = np.sqrt(x.var(-1, keepdims=True) + eps)
    h = (x - x.mean(-1, keepdims=True)) / std
    g = dy * gain
    p = g.mean(-1, keepdims=True) + h * (g * h).mean(-1, keepdims=True)
    return (g - p) / std, (dy * h).mean(0), dy.mean(0)


# %% wrong: dgain from x itself
# loses 3: the gain multiplies the normalized x
def layer_norm_backward(dy, x, gain, eps):
    std = np.sqrt(x.var(-1, keepdims=True) + eps)
    h = (x - x.mean(-1, keepdims=True)) / std
    g = dy * gain
    p = g.mean(-1, keepdims=True) + h * (g * h).mean(-1, keepdims=True)
    return (g - p) / std, (dy * x).sum(0), dy.sum(0)


# %% wrong: RMSNorm's backward pass
# loses 6: is RMSNorm's backward pass
def layer_norm_backward(dy, x, gain, eps):
    rms = np.sqrt((x**2).mean(-1, keepdims=True) + eps)
    h = x / rms
    g = dy * gain
    dx = (g - h * (g * h).mean(-1, keepdims=True)) / rms
    return dx, (dy * h).sum(0), dy.sum(0)


# %% wrong: dx alone
# loses 6: return the tuple
def layer_norm_backward(dy, x, gain, eps):
    std = np.sqrt(x.var(-1, keepdims=True) + eps)
    h = (x - x.mean(-1, keepdims=True)) / std
    g = dy * gain
    p = g.mean(-1, keepdims=True) + h * (g * h).mean(-1, keepdims=True)
    return (g - p) / std


# %% right: through the gradients of the variance and the mean
def layer_norm_backward(dy, x, gain, eps):
    D = x.shape[-1]
    mu = x.mean(-1, keepdims=True)
    var = x.var(-1, keepdims=True)
    dh = dy * gain
    dvar = (dh * (x - mu) * -0.5 * (var + eps) ** -1.5).sum(-1, keepdims=True)
    dmu = (-dh / np.sqrt(var + eps)).sum(-1, keepdims=True)
    dx = dh / np.sqrt(var + eps) + dvar * 2 * (x - mu) / D + dmu / D
    h = (x - mu) / np.sqrt(var + eps)
    return dx, np.einsum("td,td->d", dy, h), np.einsum("td->d", dy)


# %% right: the Jacobian of each row, written out
def layer_norm_backward(dy, x, gain, eps):
    T, D = x.shape
    dx, dgain = np.zeros((T, D)), np.zeros(D)
    for t in range(T):
        c = x[t] - sum(x[t]) / D
        s = (sum(c**2) / D + eps) ** 0.5
        h = c / s
        J = (np.eye(D) - np.ones((D, D)) / D - np.outer(h, h) / D) / s
        dx[t] = J.T @ (gain * dy[t])
        dgain += dy[t] * h
    return [dx, dgain, dy.sum(axis=0)]


# %% right: a complex step
def layer_norm_backward(dy, x, gain, eps):
    def normalized(x):
        c = x - x.mean(-1, keepdims=True)
        return c / np.sqrt((c * c).mean(-1, keepdims=True) + eps)

    dx = np.zeros_like(x)
    for i in range(x.shape[1]):
        step = np.zeros_like(x, dtype=complex)
        step[:, i] = 1e-30j
        slope = normalized(x + step).imag / 1e-30
        dx[:, i] = (dy * gain * slope).sum(-1)
    return dx, (dy * normalized(x)).sum(0), dy.sum(0)
