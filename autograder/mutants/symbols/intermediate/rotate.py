# %% wrong: the pairings swapped
# loses 5: this is the pairing
def rotate(x, positions, base, pairing):
    K = x.shape[1]
    angles = positions[:, None] * base ** (-np.arange(0, K, 2) / K)
    cos, sin = np.cos(angles), np.sin(angles)
    out = np.empty_like(x)
    if pairing == "interleaved":
        a, b = x[:, : K // 2], x[:, K // 2 :]
        out[:, : K // 2] = a * cos - b * sin
        out[:, K // 2 :] = a * sin + b * cos
    else:
        a, b = x[:, ::2], x[:, 1::2]
        out[:, ::2], out[:, 1::2] = a * cos - b * sin, a * sin + b * cos
    return out


# %% wrong: clockwise
# loses 5: goes the wrong way
def rotate(x, positions, base, pairing):
    K = x.shape[1]
    angles = positions[:, None] * base ** (-np.arange(0, K, 2) / K)
    cos, sin = np.cos(angles), np.sin(angles)
    out = np.empty_like(x)
    half = pairing == "half"
    first = slice(0, K // 2) if half else slice(0, K, 2)
    second = slice(K // 2, K) if half else slice(1, K, 2)
    out[:, first] = x[:, first] * cos + x[:, second] * sin
    out[:, second] = -x[:, first] * sin + x[:, second] * cos
    return out


# %% wrong: the row number for the position
# loses 5: the position of row t is positions[t]
def rotate(x, positions, base, pairing):
    T, K = x.shape
    angles = np.arange(T)[:, None] * base ** (-np.arange(0, K, 2) / K)
    cos, sin = np.cos(angles), np.sin(angles)
    out = np.empty_like(x)
    half = pairing == "half"
    first = slice(0, K // 2) if half else slice(0, K, 2)
    second = slice(K // 2, K) if half else slice(1, K, 2)
    out[:, first] = x[:, first] * cos - x[:, second] * sin
    out[:, second] = x[:, first] * sin + x[:, second] * cos
    return out


# %% wrong: positions counted from 1
# loses 5: off by one
def rotate(x, positions, base, pairing):
    K = x.shape[1]
    angles = (positions + 1)[:, None] * base ** (-np.arange(0, K, 2) / K)
    cos, sin = np.cos(angles), np.sin(angles)
    out = np.empty_like(x)
    half = pairing == "half"
    first = slice(0, K // 2) if half else slice(0, K, 2)
    second = slice(K // 2, K) if half else slice(1, K, 2)
    out[:, first] = x[:, first] * cos - x[:, second] * sin
    out[:, second] = x[:, first] * sin + x[:, second] * cos
    return out


# %% wrong: half the exponent
# loses 5: half of -2i/K
def rotate(x, positions, base, pairing):
    K = x.shape[1]
    angles = positions[:, None] * base ** (-np.arange(K // 2) / K)
    cos, sin = np.cos(angles), np.sin(angles)
    out = np.empty_like(x)
    half = pairing == "half"
    first = slice(0, K // 2) if half else slice(0, K, 2)
    second = slice(K // 2, K) if half else slice(1, K, 2)
    out[:, first] = x[:, first] * cos - x[:, second] * sin
    out[:, second] = x[:, first] * sin + x[:, second] * cos
    return out


# %% wrong: pairs counted from 1
# loses 5: first has frequency 1
def rotate(x, positions, base, pairing):
    K = x.shape[1]
    angles = positions[:, None] * base ** (-np.arange(2, K + 1, 2) / K)
    cos, sin = np.cos(angles), np.sin(angles)
    out = np.empty_like(x)
    half = pairing == "half"
    first = slice(0, K // 2) if half else slice(0, K, 2)
    second = slice(K // 2, K) if half else slice(1, K, 2)
    out[:, first] = x[:, first] * cos - x[:, second] * sin
    out[:, second] = x[:, first] * sin + x[:, second] * cos
    return out


# %% wrong: one frequency
# loses 5: every pair turns with frequency 1
def rotate(x, positions, base, pairing):
    K = x.shape[1]
    cos, sin = np.cos(positions)[:, None], np.sin(positions)[:, None]
    out = np.empty_like(x)
    half = pairing == "half"
    first = slice(0, K // 2) if half else slice(0, K, 2)
    second = slice(K // 2, K) if half else slice(1, K, 2)
    out[:, first] = x[:, first] * cos - x[:, second] * sin
    out[:, second] = x[:, first] * sin + x[:, second] * cos
    return out


# %% wrong: interleaved channels come back sorted
# loses 3: come back in another order
def rotate(x, positions, base, pairing):
    K = x.shape[1]
    angles = positions[:, None] * base ** (-np.arange(0, K, 2) / K)
    cos, sin = np.cos(angles), np.sin(angles)
    if pairing == "half":
        a, b = x[:, : K // 2], x[:, K // 2 :]
    else:
        a, b = x[:, ::2], x[:, 1::2]
    return np.concatenate([a * cos - b * sin, a * sin + b * cos], axis=1)


# %% wrong: changed in place, so the second line reads turned channels
# loses 5: keep the old one
def rotate(x, positions, base, pairing):
    K = x.shape[1]
    angles = positions[:, None] * base ** (-np.arange(0, K, 2) / K)
    cos, sin = np.cos(angles), np.sin(angles)
    half = pairing == "half"
    first = slice(0, K // 2) if half else slice(0, K, 2)
    second = slice(K // 2, K) if half else slice(1, K, 2)
    x[:, first] = x[:, first] * cos - x[:, second] * sin
    x[:, second] = x[:, first] * sin + x[:, second] * cos
    return x


# %% wrong: angles in float16
# loses 5: close, but not close enough
def rotate(x, positions, base, pairing):
    K = x.shape[1]
    angles = positions[:, None] * base ** (-np.arange(0, K, 2) / K)
    angles = angles.astype(np.float16)
    cos, sin = np.cos(angles), np.sin(angles)
    out = np.empty_like(x)
    half = pairing == "half"
    first = slice(0, K // 2) if half else slice(0, K, 2)
    second = slice(K // 2, K) if half else slice(1, K, 2)
    out[:, first] = x[:, first] * cos - x[:, second] * sin
    out[:, second] = x[:, first] * sin + x[:, second] * cos
    return out


# %% wrong: a complex result
# loses 5: is complex
def rotate(x, positions, base, pairing):
    K = x.shape[1]
    angles = positions[:, None] * base ** (-np.arange(0, K, 2) / K)
    if pairing == "half":
        z = x[:, : K // 2] + 1j * x[:, K // 2 :]
    else:
        z = x[:, ::2] + 1j * x[:, 1::2]
    return z * np.exp(1j * angles)


# %% right: complex numbers
def rotate(x, positions, base, pairing):
    K = x.shape[1]
    turn = np.exp(1j * np.outer(positions, base ** (-np.arange(0, K, 2) / K)))
    if pairing == "half":
        z = (x[:, : K // 2] + 1j * x[:, K // 2 :]) * turn
        return np.hstack([z.real, z.imag])
    z = np.ascontiguousarray(x).view(complex) * turn
    return z.view(float)


# %% right: loops over rows and pairs
def rotate(x, positions, base, pairing):
    import math

    T, K = x.shape
    out = x.tolist()
    for t in range(T):
        for i in range(K // 2):
            j, k = (i, i + K // 2) if pairing == "half" else (2 * i, 2 * i + 1)
            angle = float(positions[t]) / base ** (2 * i / K)
            c, s = math.cos(angle), math.sin(angle)
            out[t][j] = x[t, j] * c - x[t, k] * s
            out[t][k] = x[t, j] * s + x[t, k] * c
    return np.array(out)


# %% right: one matrix for each row
def rotate(x, positions, base, pairing):
    T, K = x.shape
    out = np.zeros((T, K))
    for t, position in enumerate(positions):
        R = np.zeros((K, K))
        for i in range(K // 2):
            j, k = (i, i + K // 2) if pairing == "half" else (2 * i, 2 * i + 1)
            a = position * np.exp(-2 * i / K * np.log(base))
            R[j, j] = R[k, k] = np.cos(a)
            R[j, k], R[k, j] = -np.sin(a), np.sin(a)
        out[t] = R @ x[t]
    return out


# %% right: half by the rotate-half trick, interleaved by reordering
def rotate(x, positions, base, pairing):
    K = x.shape[-1]
    if pairing == "interleaved":
        order = np.r_[0:K:2, 1:K:2]
        turned = rotate(x[:, order], positions, base, "half")
        return turned[:, np.argsort(order)]
    angles = np.tile(
        positions[:, None] * base ** (-2 * np.arange(K // 2) / K), (1, 2)
    )
    swapped = np.concatenate([-x[:, K // 2 :], x[:, : K // 2]], -1)
    return x * np.cos(angles) + swapped * np.sin(angles)
