# %% wrong: every head with keys and values of its own
# loses 4: have G heads, not H
def param_count(V, D, L, H, G, F, tied):
    layer = 4 * D * D + 3 * D * F + 2 * D
    return L * layer + D + V * D * (1 if tied else 2)


def adam_bytes(trained, frozen, mixed):
    return 16 * trained + (2 if mixed else 4) * frozen


# %% wrong: all four matrices of attention shrink with G
# loses 4: only wk and wv
def param_count(V, D, L, H, G, F, tied):
    layer = 4 * D * G * (D // H) + 3 * D * F + 2 * D
    return L * layer + D + V * D * (1 if tied else 2)


def adam_bytes(trained, frozen, mixed):
    return 16 * trained + (2 if mixed else 4) * frozen


# %% wrong: a tied output counted, an untied one not
# loses 4: adds nothing
def param_count(V, D, L, H, G, F, tied):
    layer = 2 * D * D + 2 * D * G * (D // H) + 3 * D * F + 2 * D
    return L * layer + D + V * D * (2 if tied else 1)


def adam_bytes(trained, frozen, mixed):
    return 16 * trained + (2 if mixed else 4) * frozen


# %% wrong: always as if tied
# loses 4: has a matrix of its own
def param_count(V, D, L, H, G, F, tied):
    layer = 2 * D * D + 2 * D * G * (D // H) + 3 * D * F + 2 * D
    return L * layer + D + V * D


def adam_bytes(trained, frozen, mixed):
    return 16 * trained + (2 if mixed else 4) * frozen


# %% wrong: the last norm forgotten
# loses 4: after the last layer is missing
def param_count(V, D, L, H, G, F, tied):
    layer = 2 * D * D + 2 * D * G * (D // H) + 3 * D * F + 2 * D
    return L * layer + V * D * (1 if tied else 2)


def adam_bytes(trained, frozen, mixed):
    return 16 * trained + (2 if mixed else 4) * frozen


# %% wrong: no norms at all
# loses 4: gains of the norms are missing
def param_count(V, D, L, H, G, F, tied):
    layer = 2 * D * D + 2 * D * G * (D // H) + 3 * D * F
    return L * layer + V * D * (1 if tied else 2)


def adam_bytes(trained, frozen, mixed):
    return 16 * trained + (2 if mixed else 4) * frozen


# %% wrong: an MLP of two matrices
# loses 4: SwiGLU holds three matrices
def param_count(V, D, L, H, G, F, tied):
    layer = 2 * D * D + 2 * D * G * (D // H) + 2 * D * F + 2 * D
    return L * layer + D + V * D * (1 if tied else 2)


def adam_bytes(trained, frozen, mixed):
    return 16 * trained + (2 if mixed else 4) * frozen


# %% wrong: one matrix for keys and values
# loses 4: wk and wv are two
def param_count(V, D, L, H, G, F, tied):
    layer = 2 * D * D + D * G * (D // H) + 3 * D * F + 2 * D
    return L * layer + D + V * D * (1 if tied else 2)


def adam_bytes(trained, frozen, mixed):
    return 16 * trained + (2 if mixed else 4) * frozen


# %% wrong: one layer
# loses 4: in each of the L layers
def param_count(V, D, L, H, G, F, tied):
    layer = 2 * D * D + 2 * D * G * (D // H) + 3 * D * F + 2 * D
    return layer + D + V * D * (1 if tied else 2)


def adam_bytes(trained, frozen, mixed):
    return 16 * trained + (2 if mixed else 4) * frozen


# %% wrong: heads as wide as the stream
# loses 4: D/H wide
def param_count(V, D, L, H, G, F, tied):
    layer = 2 * D * H * D + 2 * D * G * D + 3 * D * F + 2 * D
    return L * layer + D + V * D * (1 if tied else 2)


def adam_bytes(trained, frozen, mixed):
    return 16 * trained + (2 if mixed else 4) * frozen


# %% wrong: norms with a bias
# loses 4: a gain, and no bias
def param_count(V, D, L, H, G, F, tied):
    layer = 2 * D * D + 2 * D * G * (D // H) + 3 * D * F + 4 * D
    return L * layer + 2 * D + V * D * (1 if tied else 2)


def adam_bytes(trained, frozen, mixed):
    return 16 * trained + (2 if mixed else 4) * frozen


# %% wrong: sixteen bytes for the frozen ones too
# loses 3: no gradient and no moments
def param_count(V, D, L, H, G, F, tied):
    layer = 2 * D * D + 2 * D * G * (D // H) + 3 * D * F + 2 * D
    return L * layer + D + V * D * (1 if tied else 2)


def adam_bytes(trained, frozen, mixed):
    return 16 * (trained + frozen)


# %% wrong: frozen weights not counted
# loses 3: frozen weights must be in memory
def param_count(V, D, L, H, G, F, tied):
    layer = 2 * D * D + 2 * D * G * (D // H) + 3 * D * F + 2 * D
    return L * layer + D + V * D * (1 if tied else 2)


def adam_bytes(trained, frozen, mixed):
    return 16 * trained


# %% wrong: no float32 copy
# loses 3: a copy of its weight in float32
def param_count(V, D, L, H, G, F, tied):
    layer = 2 * D * D + 2 * D * G * (D // H) + 3 * D * F + 2 * D
    return L * layer + D + V * D * (1 if tied else 2)


def adam_bytes(trained, frozen, mixed):
    if mixed:
        return 12 * trained + 2 * frozen
    return 16 * trained + 4 * frozen


# %% wrong: everything in two bytes
# loses 3: the moments stay in float32
def param_count(V, D, L, H, G, F, tied):
    layer = 2 * D * D + 2 * D * G * (D // H) + 3 * D * F + 2 * D
    return L * layer + D + V * D * (1 if tied else 2)


def adam_bytes(trained, frozen, mixed):
    width = 2 if mixed else 4
    return width * (4 * trained + frozen)


# %% wrong: the moments alone
# loses 3: has four numbers
def param_count(V, D, L, H, G, F, tied):
    layer = 2 * D * D + 2 * D * G * (D // H) + 3 * D * F + 2 * D
    return L * layer + D + V * D * (1 if tied else 2)


def adam_bytes(trained, frozen, mixed):
    return 8 * trained + (2 if mixed else 4) * frozen


# %% wrong: floats
# loses 6: return a whole number
def param_count(V, D, L, H, G, F, tied):
    K = D / H
    layer = 2 * D * H * K + 2 * D * G * K + 3 * D * F + 2 * D
    return L * layer + D + V * D * (1 if tied else 2)


def adam_bytes(trained, frozen, mixed):
    return 16.0 * trained + (2.0 if mixed else 4.0) * frozen


# %% right: shapes in a dictionary
def param_count(V, D, L, H, G, F, tied):
    K = D // H
    layer = {
        "wq": (D, H * K), "wk": (D, G * K), "wv": (D, G * K),
        "wo": (H * K, D), "gate": (D, F), "up": (D, F), "down": (F, D),
        "norms": (2, D),
    }
    total = sum(a * b for a, b in layer.values()) * L + D
    total += V * D
    if not tied:
        total += D * V
    return total


def adam_bytes(trained, frozen, mixed):
    numbers = (2, 2, 4, 4, 4) if mixed else (4,) * 4
    return sum(numbers) * trained + numbers[0] * frozen


# %% right: NumPy's integers
def param_count(V, D, L, H, G, F, tied):
    V, D, L, H, G, F = np.array([V, D, L, H, G, F], dtype=np.int64)
    attention = 2 * D * (D + G * D // H)
    return L * (attention + 3 * D * F) + D * (2 * L + 1 + V * (2 - tied))


def adam_bytes(trained, frozen, mixed):
    counts = np.array([trained, frozen], dtype=np.int64)
    return counts @ np.array([16, 2 if mixed else 4])


# %% right: layer by layer
def param_count(V, D, L, H, G, F, tied):
    total = 0
    for _ in range(L):
        total += D * D + D * D
        total += 2 * (D * (D * G // H))
        total += D * F * 3
        total += D + D
    total += D
    for _ in range(1 if tied else 2):
        total += D * V
    return total


def adam_bytes(trained, frozen, mixed):
    bytes_of = {"bfloat16": 2, "float32": 4}
    kind = "bfloat16" if mixed else "float32"
    weight = gradient = bytes_of[kind]
    moments = 2 * bytes_of["float32"]
    copy = bytes_of["float32"] if mixed else 0
    each = weight + gradient + moments + copy
    return trained * each + frozen * weight
