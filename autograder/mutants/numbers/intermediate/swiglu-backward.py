# %% wrong: the slope is the sigmoid
# loses 7: is not the sigmoid
def swiglu_backward(dy, x, w_gate, w_up, w_down):
    gate, up = x @ w_gate, x @ w_up
    s = 0.5 * (1 + np.tanh(0.5 * gate))
    silu = gate * s
    slope = s
    dhidden = dy @ w_down.T
    dgate, dup = dhidden * up * slope, dhidden * silu
    dx = dgate @ w_gate.T + dup @ w_up.T
    return dx, x.T @ dgate, x.T @ dup, (silu * up).T @ dy


# %% wrong: the slope of the sigmoid
# loses 7: is not the slope of the sigmoid
def swiglu_backward(dy, x, w_gate, w_up, w_down):
    gate, up = x @ w_gate, x @ w_up
    s = 0.5 * (1 + np.tanh(0.5 * gate))
    silu = gate * s
    slope = s * (1 - s)
    dhidden = dy @ w_down.T
    dgate, dup = dhidden * up * slope, dhidden * silu
    dx = dgate @ w_gate.T + dup @ w_up.T
    return dx, x.T @ dgate, x.T @ dup, (silu * up).T @ dy


# %% wrong: one term of the product rule
# loses 7: the product rule has two
def swiglu_backward(dy, x, w_gate, w_up, w_down):
    gate, up = x @ w_gate, x @ w_up
    s = 0.5 * (1 + np.tanh(0.5 * gate))
    silu = gate * s
    slope = gate * s * (1 - s)
    dhidden = dy @ w_down.T
    dgate, dup = dhidden * up * slope, dhidden * silu
    dx = dgate @ w_gate.T + dup @ w_up.T
    return dx, x.T @ dgate, x.T @ dup, (silu * up).T @ dy


# %% wrong: no slope at all
# loses 7: slope of silu is missing
def swiglu_backward(dy, x, w_gate, w_up, w_down):
    gate, up = x @ w_gate, x @ w_up
    s = 0.5 * (1 + np.tanh(0.5 * gate))
    silu = gate * s
    slope = 1.0
    dhidden = dy @ w_down.T
    dgate, dup = dhidden * up * slope, dhidden * silu
    dx = dgate @ w_gate.T + dup @ w_up.T
    return dx, x.T @ dgate, x.T @ dup, (silu * up).T @ dy


# %% wrong: the sigmoid's slope with a plus
# loses 7: slope of the sigmoid is
def swiglu_backward(dy, x, w_gate, w_up, w_down):
    gate, up = x @ w_gate, x @ w_up
    s = 0.5 * (1 + np.tanh(0.5 * gate))
    silu = gate * s
    slope = s * (1 + gate * s)
    dhidden = dy @ w_down.T
    dgate, dup = dhidden * up * slope, dhidden * silu
    dx = dgate @ w_gate.T + dup @ w_up.T
    return dx, x.T @ dgate, x.T @ dup, (silu * up).T @ dy


# %% wrong: silu in the place of its slope
# loses 7: in the place of its slope
def swiglu_backward(dy, x, w_gate, w_up, w_down):
    gate, up = x @ w_gate, x @ w_up
    s = 0.5 * (1 + np.tanh(0.5 * gate))
    silu = gate * s
    slope = silu
    dhidden = dy @ w_down.T
    dgate, dup = dhidden * up * slope, dhidden * silu
    dx = dgate @ w_gate.T + dup @ w_up.T
    return dx, x.T @ dgate, x.T @ dup, (silu * up).T @ dy


# %% wrong: gate and up have changed places
# loses 7: changed places
def swiglu_backward(dy, x, w_gate, w_up, w_down):
    up, gate = x @ w_gate, x @ w_up
    s = 0.5 * (1 + np.tanh(0.5 * gate))
    silu = gate * s
    slope = s * (1 + gate * (1 - s))
    dhidden = dy @ w_down.T
    dgate, dup = dhidden * up * slope, dhidden * silu
    dgate, dup = dup, dgate
    dx = dgate @ w_gate.T + dup @ w_up.T
    return dx, x.T @ dgate, x.T @ dup, (silu * up).T @ dy


# %% wrong: the gate's road alone
# loses 4: x goes into w_up as well
def swiglu_backward(dy, x, w_gate, w_up, w_down):
    gate, up = x @ w_gate, x @ w_up
    s = 0.5 * (1 + np.tanh(0.5 * gate))
    silu = gate * s
    slope = s * (1 + gate * (1 - s))
    dhidden = dy @ w_down.T
    dgate, dup = dhidden * up * slope, dhidden * silu
    dx = dgate @ w_gate.T
    return dx, x.T @ dgate, x.T @ dup, (silu * up).T @ dy


# %% wrong: the road through up alone
# loses 4: x goes into w_gate as well
def swiglu_backward(dy, x, w_gate, w_up, w_down):
    gate, up = x @ w_gate, x @ w_up
    s = 0.5 * (1 + np.tanh(0.5 * gate))
    silu = gate * s
    slope = s * (1 + gate * (1 - s))
    dhidden = dy @ w_down.T
    dgate, dup = dhidden * up * slope, dhidden * silu
    dx = dup @ w_up.T
    return dx, x.T @ dgate, x.T @ dup, (silu * up).T @ dy


# %% wrong: the gate's gradient without up
# loses 7: has the factor up
def swiglu_backward(dy, x, w_gate, w_up, w_down):
    gate, up = x @ w_gate, x @ w_up
    s = 0.5 * (1 + np.tanh(0.5 * gate))
    silu = gate * s
    slope = s * (1 + gate * (1 - s))
    dhidden = dy @ w_down.T
    dgate, dup = dhidden * slope, dhidden * silu
    dx = dgate @ w_gate.T + dup @ w_up.T
    return dx, x.T @ dgate, x.T @ dup, (silu * up).T @ dy


# %% wrong: w_down fed without up
# loses 5: factor up is missing
def swiglu_backward(dy, x, w_gate, w_up, w_down):
    gate, up = x @ w_gate, x @ w_up
    s = 0.5 * (1 + np.tanh(0.5 * gate))
    silu = gate * s
    slope = s * (1 + gate * (1 - s))
    dhidden = dy @ w_down.T
    dgate, dup = dhidden * up * slope, dhidden * silu
    dx = dgate @ w_gate.T + dup @ w_up.T
    return dx, x.T @ dgate, x.T @ dup, silu.T @ dy


# %% wrong: the mean over the rows
# loses 5: this takes the mean
def swiglu_backward(dy, x, w_gate, w_up, w_down):
    gate, up = x @ w_gate, x @ w_up
    s = 0.5 * (1 + np.tanh(0.5 * gate))
    silu = gate * s
    slope = s * (1 + gate * (1 - s))
    dhidden = dy @ w_down.T
    dgate, dup = dhidden * up * slope, dhidden * silu
    dx = dgate @ w_gate.T + dup @ w_up.T
    return dx, x.T @ dgate / len(x), x.T @ dup / len(x), (
        (silu * up).T @ dy / len(x)
    )


# %% wrong: the two weights' gradients swapped
# loses 5: this is dw_up
def swiglu_backward(dy, x, w_gate, w_up, w_down):
    gate, up = x @ w_gate, x @ w_up
    s = 0.5 * (1 + np.tanh(0.5 * gate))
    silu = gate * s
    slope = s * (1 + gate * (1 - s))
    dhidden = dy @ w_down.T
    dgate, dup = dhidden * up * slope, dhidden * silu
    dx = dgate @ w_gate.T + dup @ w_up.T
    return dx, x.T @ dup, x.T @ dgate, (silu * up).T @ dy


# %% wrong: transposed weights' gradients
# loses 5: looks transposed
def swiglu_backward(dy, x, w_gate, w_up, w_down):
    gate, up = x @ w_gate, x @ w_up
    s = 0.5 * (1 + np.tanh(0.5 * gate))
    silu = gate * s
    slope = s * (1 + gate * (1 - s))
    dhidden = dy @ w_down.T
    dgate, dup = dhidden * up * slope, dhidden * silu
    dx = dgate @ w_gate.T + dup @ w_up.T
    return dx, dgate.T @ x, dup.T @ x, dy.T @ (silu * up)


# %% wrong: an exponential that overflows
# loses 1: must be finite
def swiglu_backward(dy, x, w_gate, w_up, w_down):
    gate, up = x @ w_gate, x @ w_up
    s = 0.5 * (1 + np.tanh(0.5 * gate))
    silu = gate * s
    e = np.exp(-gate)
    slope = (1 + e + gate * e) / (1 + e) ** 2
    dhidden = dy @ w_down.T
    dgate, dup = dhidden * up * slope, dhidden * silu
    dx = dgate @ w_gate.T + dup @ w_up.T
    return dx, x.T @ dgate, x.T @ dup, (silu * up).T @ dy


# %% wrong: the sigmoid in the place of silu
# loses 7: not the sigmoid alone
def swiglu_backward(dy, x, w_gate, w_up, w_down):
    gate, up = x @ w_gate, x @ w_up
    s = 0.5 * (1 + np.tanh(0.5 * gate))
    silu = s
    slope = s * (1 - s)
    dhidden = dy @ w_down.T
    dgate, dup = dhidden * up * slope, dhidden * silu
    dx = dgate @ w_gate.T + dup @ w_up.T
    return dx, x.T @ dgate, x.T @ dup, (silu * up).T @ dy


# %% wrong: dx alone
# loses 7: return the tuple
def swiglu_backward(dy, x, w_gate, w_up, w_down):
    gate, up = x @ w_gate, x @ w_up
    s = 0.5 * (1 + np.tanh(0.5 * gate))
    silu = gate * s
    slope = s * (1 + gate * (1 - s))
    dhidden = dy @ w_down.T
    dgate, dup = dhidden * up * slope, dhidden * silu
    dx = dgate @ w_gate.T + dup @ w_up.T
    return dx


# %% wrong: the gate's gradient without up
# loses 7: has the factor up
def swiglu_backward(dy, x, w_gate, w_up, w_down):
    gate, up = x @ w_gate, x @ w_up
    sigma = 0.5 * (1 + np.tanh(0.5 * gate))
    dhidden = dy @ w_down.T
    dup = dhidden * gate * sigma
    dgate = dhidden * sigma * (1 + gate * (1 - sigma))
    dx = dgate @ w_gate.T + dup @ w_up.T
    return dx, x.T @ dgate, x.T @ dup, (gate * sigma * up).T @ dy


# %% right: loops over the rows
def swiglu_backward(dy, x, w_gate, w_up, w_down):
    dx = np.zeros(x.shape)
    dw_gate, dw_up = np.zeros(w_gate.shape), np.zeros(w_up.shape)
    dw_down = np.zeros(w_down.shape)
    for t in range(len(x)):
        for j in range(w_gate.shape[1]):
            z, u = x[t] @ w_gate[:, j], x[t] @ w_up[:, j]
            s = 1 / (1 + np.exp(-z)) if z > 0 else np.exp(z) / (1 + np.exp(z))
            dh = dy[t] @ w_down[j]
            dz, du = dh * u * (s + z * s * (1 - s)), dh * z * s
            dw_gate[:, j] += dz * x[t]
            dw_up[:, j] += du * x[t]
            dw_down[j] += z * s * u * dy[t]
            dx[t] += dz * w_gate[:, j] + du * w_up[:, j]
    return dx, dw_gate, dw_up, dw_down


# %% right: einsum, the naive sigmoid, silu' from silu
def swiglu_backward(dy, x, w_gate, w_up, w_down):
    g = np.einsum("td,df->tf", x, w_gate)
    u = np.einsum("td,df->tf", x, w_up)
    s = 1 / (1 + np.exp(-g))
    silu = g * s
    dh = np.einsum("td,fd->tf", dy, w_down)
    dg, du = dh * u * (silu + s * (1 - silu)), dh * silu
    dx = np.einsum("tf,df->td", dg, w_gate)
    dx += np.einsum("tf,df->td", du, w_up)
    return [dx, np.einsum("td,tf->df", x, dg), np.einsum("td,tf->df", x, du),
            np.einsum("tf,td->fd", silu * u, dy)]


# %% right: a complex step through the forward
def swiglu_backward(dy, x, w_gate, w_up, w_down):
    def loss(x, a, b, c):
        z = x @ a
        z_real = np.maximum(-z.real, -700)
        z_real = np.minimum(z_real, 700)
        s = 1 / (1 + np.exp(z_real - 1j * z.imag))
        return (dy * ((z * s * (x @ b)) @ c)).sum()

    args = [x, w_gate, w_up, w_down]
    grads = []
    for n, array in enumerate(args):
        grad = np.zeros(array.shape)
        for i in np.ndindex(array.shape):
            moved = array.astype(complex)
            moved[i] += 1e-30j
            grad[i] = loss(*args[:n], moved, *args[n + 1 :]).imag / 1e-30
        grads.append(grad)
    return tuple(grads)
