# %% wrong: forward once more
# loses 4: turns forward once more
def rope(x, positions, base, pairing):
    K = x.shape[-1]
    i = np.arange(K // 2)
    angles = positions[:, None] * base ** (-2 * i / K)
    cos, sin = np.cos(angles), np.sin(angles)
    half = pairing == "half"
    first = slice(0, K // 2) if half else slice(0, K, 2)
    second = slice(K // 2, K) if half else slice(1, K, 2)
    y = np.empty_like(x)
    y[..., first] = x[..., first] * cos - x[..., second] * sin
    y[..., second] = x[..., first] * sin + x[..., second] * cos
    return y


def rope_backward(dy, positions, base, pairing):
    return rope(dy, positions, base, pairing)


# %% wrong: nothing on the way back
# loses 4: Jacobian is not the
def rope(x, positions, base, pairing):
    K = x.shape[-1]
    i = np.arange(K // 2)
    angles = positions[:, None] * base ** (-2 * i / K)
    cos, sin = np.cos(angles), np.sin(angles)
    half = pairing == "half"
    first = slice(0, K // 2) if half else slice(0, K, 2)
    second = slice(K // 2, K) if half else slice(1, K, 2)
    y = np.empty_like(x)
    y[..., first] = x[..., first] * cos - x[..., second] * sin
    y[..., second] = x[..., first] * sin + x[..., second] * cos
    return y


def rope_backward(dy, positions, base, pairing):
    return dy


# %% wrong: clockwise, and back the other way
# loses 6: goes the wrong way
def rope(x, positions, base, pairing):
    K = x.shape[-1]
    i = np.arange(K // 2)
    angles = positions[:, None] * base ** (-2 * i / K)
    cos, sin = np.cos(angles), np.sin(angles)
    half = pairing == "half"
    first = slice(0, K // 2) if half else slice(0, K, 2)
    second = slice(K // 2, K) if half else slice(1, K, 2)
    y = np.empty_like(x)
    y[..., first] = x[..., first] * cos + x[..., second] * sin
    y[..., second] = -x[..., first] * sin + x[..., second] * cos
    return y


def rope_backward(dy, positions, base, pairing):
    return rope(dy, -positions, base, pairing)


# %% wrong: the pairings swapped
# loses 6: this is the pairing
def rope(x, positions, base, pairing):
    K = x.shape[-1]
    i = np.arange(K // 2)
    angles = positions[:, None] * base ** (-2 * i / K)
    cos, sin = np.cos(angles), np.sin(angles)
    half = pairing == "interleaved"
    first = slice(0, K // 2) if half else slice(0, K, 2)
    second = slice(K // 2, K) if half else slice(1, K, 2)
    y = np.empty_like(x)
    y[..., first] = x[..., first] * cos - x[..., second] * sin
    y[..., second] = x[..., first] * sin + x[..., second] * cos
    return y


def rope_backward(dy, positions, base, pairing):
    return rope(dy, -positions, base, pairing)


# %% wrong: always half
# loses 6: this is the pairing 'half'
def rope(x, positions, base, pairing):
    K = x.shape[-1]
    i = np.arange(K // 2)
    angles = positions[:, None] * base ** (-2 * i / K)
    cos, sin = np.cos(angles), np.sin(angles)
    half = True
    first = slice(0, K // 2) if half else slice(0, K, 2)
    second = slice(K // 2, K) if half else slice(1, K, 2)
    y = np.empty_like(x)
    y[..., first] = x[..., first] * cos - x[..., second] * sin
    y[..., second] = x[..., first] * sin + x[..., second] * cos
    return y


def rope_backward(dy, positions, base, pairing):
    return rope(dy, -positions, base, pairing)


# %% wrong: the row number for the position
# loses 6: the row stands at position 2
def rope(x, positions, base, pairing):
    K = x.shape[-1]
    i = np.arange(K // 2)
    angles = np.arange(x.shape[-2])[:, None] * base ** (-2 * i / K)
    cos, sin = np.cos(angles), np.sin(angles)
    half = pairing == "half"
    first = slice(0, K // 2) if half else slice(0, K, 2)
    second = slice(K // 2, K) if half else slice(1, K, 2)
    y = np.empty_like(x)
    y[..., first] = x[..., first] * cos - x[..., second] * sin
    y[..., second] = x[..., first] * sin + x[..., second] * cos
    return y


def rope_backward(dy, positions, base, pairing):
    return rope(dy, -positions, base, pairing)


# %% wrong: positions counted from the first
# loses 6: counted from the first
def rope(x, positions, base, pairing):
    K = x.shape[-1]
    i = np.arange(K // 2)
    angles = (positions - positions.min())[:, None] * base ** (-2 * i / K)
    cos, sin = np.cos(angles), np.sin(angles)
    half = pairing == "half"
    first = slice(0, K // 2) if half else slice(0, K, 2)
    second = slice(K // 2, K) if half else slice(1, K, 2)
    y = np.empty_like(x)
    y[..., first] = x[..., first] * cos - x[..., second] * sin
    y[..., second] = x[..., first] * sin + x[..., second] * cos
    return y


def rope_backward(dy, positions, base, pairing):
    return rope(dy, -positions, base, pairing)


# %% wrong: positions off by one
# loses 6: off by one
def rope(x, positions, base, pairing):
    K = x.shape[-1]
    i = np.arange(K // 2)
    angles = (positions + 1)[:, None] * base ** (-2 * i / K)
    cos, sin = np.cos(angles), np.sin(angles)
    half = pairing == "half"
    first = slice(0, K // 2) if half else slice(0, K, 2)
    second = slice(K // 2, K) if half else slice(1, K, 2)
    y = np.empty_like(x)
    y[..., first] = x[..., first] * cos - x[..., second] * sin
    y[..., second] = x[..., first] * sin + x[..., second] * cos
    return y


def rope_backward(dy, positions, base, pairing):
    return rope(dy, -positions, base, pairing)


# %% wrong: half the exponent
# loses 6: half of -2i/K
def rope(x, positions, base, pairing):
    K = x.shape[-1]
    i = np.arange(K // 2)
    angles = positions[:, None] * base ** (-i / K)
    cos, sin = np.cos(angles), np.sin(angles)
    half = pairing == "half"
    first = slice(0, K // 2) if half else slice(0, K, 2)
    second = slice(K // 2, K) if half else slice(1, K, 2)
    y = np.empty_like(x)
    y[..., first] = x[..., first] * cos - x[..., second] * sin
    y[..., second] = x[..., first] * sin + x[..., second] * cos
    return y


def rope_backward(dy, positions, base, pairing):
    return rope(dy, -positions, base, pairing)


# %% wrong: one frequency
# loses 6: every pair turns with frequency 1
def rope(x, positions, base, pairing):
    K = x.shape[-1]
    i = np.arange(K // 2)
    angles = positions[:, None] * base ** (0 * i)
    cos, sin = np.cos(angles), np.sin(angles)
    half = pairing == "half"
    first = slice(0, K // 2) if half else slice(0, K, 2)
    second = slice(K // 2, K) if half else slice(1, K, 2)
    y = np.empty_like(x)
    y[..., first] = x[..., first] * cos - x[..., second] * sin
    y[..., second] = x[..., first] * sin + x[..., second] * cos
    return y


def rope_backward(dy, positions, base, pairing):
    return rope(dy, -positions, base, pairing)


# %% wrong: pairs counted from 1
# loses 6: first has frequency 1
def rope(x, positions, base, pairing):
    K = x.shape[-1]
    i = np.arange(1, K // 2 + 1)
    angles = positions[:, None] * base ** (-2 * i / K)
    cos, sin = np.cos(angles), np.sin(angles)
    half = pairing == "half"
    first = slice(0, K // 2) if half else slice(0, K, 2)
    second = slice(K // 2, K) if half else slice(1, K, 2)
    y = np.empty_like(x)
    y[..., first] = x[..., first] * cos - x[..., second] * sin
    y[..., second] = x[..., first] * sin + x[..., second] * cos
    return y


def rope_backward(dy, positions, base, pairing):
    return rope(dy, -positions, base, pairing)


# %% wrong: interleaved channels come back sorted
# loses 6: come back in another order
def rope(x, positions, base, pairing):
    K = x.shape[-1]
    i = np.arange(K // 2)
    angles = positions[:, None] * base ** (-2 * i / K)
    cos, sin = np.cos(angles), np.sin(angles)
    half = pairing == "half"
    first = slice(0, K // 2) if half else slice(0, K, 2)
    second = slice(K // 2, K) if half else slice(1, K, 2)
    y = np.empty_like(x)
    y[..., first] = x[..., first] * cos - x[..., second] * sin
    y[..., second] = x[..., first] * sin + x[..., second] * cos
    if half:
        return y
    return np.concatenate([y[..., ::2], y[..., 1::2]], -1)


def rope_backward(dy, positions, base, pairing):
    return rope(dy, -positions, base, pairing)


# %% wrong: changed in place, so the second line reads turned channels
# loses 6: keep the old one
def rope(x, positions, base, pairing):
    K = x.shape[-1]
    i = np.arange(K // 2)
    angles = positions[:, None] * base ** (-2 * i / K)
    cos, sin = np.cos(angles), np.sin(angles)
    half = pairing == "half"
    first = slice(0, K // 2) if half else slice(0, K, 2)
    second = slice(K // 2, K) if half else slice(1, K, 2)
    y = x
    y[..., first] = x[..., first] * cos - x[..., second] * sin
    y[..., second] = x[..., first] * sin + x[..., second] * cos
    return y


def rope_backward(dy, positions, base, pairing):
    return rope(dy, -positions, base, pairing)


# %% wrong: float32
# loses 6: has dtype float32
def rope(x, positions, base, pairing):
    K = x.shape[-1]
    i = np.arange(K // 2)
    angles = positions[:, None] * base ** (-2 * i / K)
    cos, sin = np.cos(angles), np.sin(angles)
    half = pairing == "half"
    first = slice(0, K // 2) if half else slice(0, K, 2)
    second = slice(K // 2, K) if half else slice(1, K, 2)
    y = np.empty(x.shape, np.float32)
    y[..., first] = x[..., first] * cos - x[..., second] * sin
    y[..., second] = x[..., first] * sin + x[..., second] * cos
    return y


def rope_backward(dy, positions, base, pairing):
    return rope(dy, -positions, base, pairing)


# %% wrong: backward in the other pairing
# loses 4: this is the pairing
def rope(x, positions, base, pairing):
    K = x.shape[-1]
    i = np.arange(K // 2)
    angles = positions[:, None] * base ** (-2 * i / K)
    cos, sin = np.cos(angles), np.sin(angles)
    half = pairing == "half"
    first = slice(0, K // 2) if half else slice(0, K, 2)
    second = slice(K // 2, K) if half else slice(1, K, 2)
    y = np.empty_like(x)
    y[..., first] = x[..., first] * cos - x[..., second] * sin
    y[..., second] = x[..., first] * sin + x[..., second] * cos
    return y


def rope_backward(dy, positions, base, pairing):
    return rope(dy, -positions, base, "half" if pairing != "half" else "")


# %% right: complex numbers, and their conjugates
def turn_of(positions, base, K):
    return np.exp(1j * np.outer(positions, base ** (-np.arange(0, K, 2) / K)))


def turned(x, factor, pairing):
    K = x.shape[-1]
    if pairing == "half":
        z = (x[..., : K // 2] + 1j * x[..., K // 2 :]) * factor
        return np.concatenate([z.real, z.imag], axis=-1)
    z = np.ascontiguousarray(x).view(complex) * factor
    return z.view(float)


def rope(x, positions, base, pairing):
    return turned(x, turn_of(positions, base, x.shape[-1]), pairing)


def rope_backward(dy, positions, base, pairing):
    factor = turn_of(positions, base, dy.shape[-1]).conj()
    return turned(dy, factor, pairing)


# %% right: one rotation matrix a position, transposed on the way back
def matrices(positions, base, pairing, K):
    R = np.zeros((len(positions), K, K))
    for t, m in enumerate(positions):
        for i in range(K // 2):
            j, k = (i, i + K // 2) if pairing == "half" else (2 * i, 2 * i + 1)
            a = m * np.exp(-2 * i / K * np.log(base))
            R[t, j, j] = R[t, k, k] = np.cos(a)
            R[t, j, k], R[t, k, j] = -np.sin(a), np.sin(a)
    return R


def rope(x, positions, base, pairing):
    R = matrices(positions, base, pairing, x.shape[2])
    return np.einsum("tij,htj->hti", R, x)


def rope_backward(dy, positions, base, pairing):
    R = matrices(positions, base, pairing, dy.shape[2])
    return np.einsum("tij,hti->htj", R, dy)


# %% right: loops, and the sines' signs written out
def rope(x, positions, base, pairing, sign=1):
    import math

    H, T, K = x.shape
    y = np.zeros((H, T, K))
    for h in range(H):
        for t in range(T):
            for i in range(K // 2):
                if pairing == "half":
                    j, k = i, i + K // 2
                else:
                    j, k = 2 * i, 2 * i + 1
                angle = float(positions[t]) / base ** (2 * i / K)
                c, s = math.cos(angle), sign * math.sin(angle)
                y[h, t, j] = x[h, t, j] * c - x[h, t, k] * s
                y[h, t, k] = x[h, t, j] * s + x[h, t, k] * c
    return y


def rope_backward(dy, positions, base, pairing):
    return rope(dy, positions, base, pairing, sign=-1)


# %% right: the rotate-half trick, and its own transpose
def parts(positions, base, K):
    angles = positions[:, None] * base ** (-2 * np.arange(K // 2) / K)
    return np.tile(np.cos(angles), 2), np.tile(np.sin(angles), 2)


def in_half(x, pairing, work):
    if pairing == "half":
        return work(x)
    order = np.r_[0 : x.shape[-1] : 2, 1 : x.shape[-1] : 2]
    return work(x[..., order])[..., np.argsort(order)]


def rope(x, positions, base, pairing):
    def work(x):
        K = x.shape[-1]
        c, s = parts(positions, base, K)
        swapped = np.concatenate([-x[..., K // 2 :], x[..., : K // 2]], -1)
        return x * c + swapped * s

    return in_half(x, pairing, work)


def rope_backward(dy, positions, base, pairing):
    def work(dy):
        K = dy.shape[-1]
        c, s = parts(positions, base, K)
        z = dy * s
        back = [z[..., K // 2 :], -z[..., : K // 2]]
        return dy * c + np.concatenate(back, -1)

    return in_half(dy, pairing, work)
