# %% wrong: one FLOP a term
# loses 4: multiplication and an addition
def intensity(m, k, n, width):
    return m * k * n / (width * (m * k + k * n + m * n))


def fewest_rows(k, n, width, ridge):
    if k * n <= ridge * width * (k + n):
        return 0
    m = 1
    while intensity(m, k, n, width) < ridge:
        m += 1
    return m


def tokens_per_second(batch, weight_bytes, cache_bytes, bandwidth):
    return batch * bandwidth / (weight_bytes + batch * cache_bytes)


# %% wrong: the width left out
# loses 4: takes `width` bytes
def intensity(m, k, n, width):
    return 2 * m * k * n / (m * k + k * n + m * n)


def fewest_rows(k, n, width, ridge):
    if 2 * k * n <= ridge * (k + n):
        return 0
    m = 1
    while intensity(m, k, n, width) < ridge:
        m += 1
    return m


def tokens_per_second(batch, weight_bytes, cache_bytes, bandwidth):
    return batch * bandwidth / (weight_bytes + batch * cache_bytes)


# %% wrong: the result not moved
# loses 4: the result is written
def intensity(m, k, n, width):
    return 2 * m * k * n / (width * (m * k + k * n))


def fewest_rows(k, n, width, ridge):
    if 2 * n <= ridge * width:
        return 0
    m = 1
    while intensity(m, k, n, width) < ridge:
        m += 1
    return m


def tokens_per_second(batch, weight_bytes, cache_bytes, bandwidth):
    return batch * bandwidth / (weight_bytes + batch * cache_bytes)


# %% wrong: the first operand not moved
# loses 4: the first one is missing
def intensity(m, k, n, width):
    return 2 * m * k * n / (width * (k * n + m * n))


def fewest_rows(k, n, width, ridge):
    if 2 * k <= ridge * width:
        return 0
    m = 1
    while intensity(m, k, n, width) < ridge:
        m += 1
    return m


def tokens_per_second(batch, weight_bytes, cache_bytes, bandwidth):
    return batch * bandwidth / (weight_bytes + batch * cache_bytes)


# %% wrong: only the weights moved
# loses 4: the second one is missing
def intensity(m, k, n, width):
    return 2 * m * k * n / (width * (m * k + m * n))


def fewest_rows(k, n, width, ridge):
    return int(np.ceil(ridge * width / 2))


def tokens_per_second(batch, weight_bytes, cache_bytes, bandwidth):
    return batch * bandwidth / (weight_bytes + batch * cache_bytes)


# %% wrong: rows where the weights alone count
# loses 3: grow with m are moved too
def intensity(m, k, n, width):
    return 2 * m * k * n / (width * (m * k + k * n + m * n))


def fewest_rows(k, n, width, ridge):
    return max(1, int(np.ceil(ridge * width / 2)))


def tokens_per_second(batch, weight_bytes, cache_bytes, bandwidth):
    return batch * bandwidth / (weight_bytes + batch * cache_bytes)


# %% wrong: strictly above the ridge
# loses 1: at the ridge is enough
def intensity(m, k, n, width):
    return 2 * m * k * n / (width * (m * k + k * n + m * n))


def fewest_rows(k, n, width, ridge):
    if 2 * k * n <= ridge * width * (k + n):
        return 0
    m = 1
    while intensity(m, k, n, width) <= ridge:
        m += 1
    return m


def tokens_per_second(batch, weight_bytes, cache_bytes, bandwidth):
    return batch * bandwidth / (weight_bytes + batch * cache_bytes)


# %% wrong: rounded down
# loses 2: still below the ridge
def intensity(m, k, n, width):
    return 2 * m * k * n / (width * (m * k + k * n + m * n))


def fewest_rows(k, n, width, ridge):
    if 2 * k * n <= ridge * width * (k + n):
        return 0
    return int(1 / (2 / (width * ridge) - 1 / k - 1 / n) + 1e-9)


def tokens_per_second(batch, weight_bytes, cache_bytes, bandwidth):
    return batch * bandwidth / (weight_bytes + batch * cache_bytes)


# %% wrong: a product that never reaches it, not seen
# loses 3: raised
def intensity(m, k, n, width):
    return 2 * m * k * n / (width * (m * k + k * n + m * n))


def fewest_rows(k, n, width, ridge):
    for m in range(1, 100_000):
        if intensity(m, k, n, width) >= ridge:
            return m
    raise ValueError("no number of rows is enough")


def tokens_per_second(batch, weight_bytes, cache_bytes, bandwidth):
    return batch * bandwidth / (weight_bytes + batch * cache_bytes)


# %% wrong: the largest of the sizes
# loses 4: is not right
def intensity(m, k, n, width):
    return 2 * max(m, k, n) / width / 3


def fewest_rows(k, n, width, ridge):
    if 2 * k * n <= ridge * width * (k + n):
        return 0
    return int(np.ceil(ridge))


def tokens_per_second(batch, weight_bytes, cache_bytes, bandwidth):
    return batch * bandwidth / (weight_bytes + batch * cache_bytes)


# %% wrong: steps a second
# loses 3: a step gives `batch` tokens
def intensity(m, k, n, width):
    return 2 * m * k * n / (width * (m * k + k * n + m * n))


def fewest_rows(k, n, width, ridge):
    if 2 * k * n <= ridge * width * (k + n):
        return 0
    m = 1
    while intensity(m, k, n, width) < ridge:
        m += 1
    return m


def tokens_per_second(batch, weight_bytes, cache_bytes, bandwidth):
    return bandwidth / (weight_bytes + batch * cache_bytes)


# %% wrong: one cache for all
# loses 3: a cache of its own
def intensity(m, k, n, width):
    return 2 * m * k * n / (width * (m * k + k * n + m * n))


def fewest_rows(k, n, width, ridge):
    if 2 * k * n <= ridge * width * (k + n):
        return 0
    m = 1
    while intensity(m, k, n, width) < ridge:
        m += 1
    return m


def tokens_per_second(batch, weight_bytes, cache_bytes, bandwidth):
    return batch * bandwidth / (weight_bytes + cache_bytes)


# %% wrong: no caches
# loses 3: the caches are read too
def intensity(m, k, n, width):
    return 2 * m * k * n / (width * (m * k + k * n + m * n))


def fewest_rows(k, n, width, ridge):
    if 2 * k * n <= ridge * width * (k + n):
        return 0
    m = 1
    while intensity(m, k, n, width) < ridge:
        m += 1
    return m


def tokens_per_second(batch, weight_bytes, cache_bytes, bandwidth):
    return batch * bandwidth / (weight_bytes)


# %% wrong: the weights read for each sequence
# loses 3: read once for all
def intensity(m, k, n, width):
    return 2 * m * k * n / (width * (m * k + k * n + m * n))


def fewest_rows(k, n, width, ridge):
    if 2 * k * n <= ridge * width * (k + n):
        return 0
    m = 1
    while intensity(m, k, n, width) < ridge:
        m += 1
    return m


def tokens_per_second(batch, weight_bytes, cache_bytes, bandwidth):
    return bandwidth / (weight_bytes + cache_bytes)


# %% wrong: seconds a token
# loses 3: seconds a token
def intensity(m, k, n, width):
    return 2 * m * k * n / (width * (m * k + k * n + m * n))


def fewest_rows(k, n, width, ridge):
    if 2 * k * n <= ridge * width * (k + n):
        return 0
    m = 1
    while intensity(m, k, n, width) < ridge:
        m += 1
    return m


def tokens_per_second(batch, weight_bytes, cache_bytes, bandwidth):
    return (weight_bytes + batch * cache_bytes) / bandwidth / batch


# %% wrong: rows tried up to 3,000
# loses 2: if m is large enough
def intensity(m, k, n, width):
    return 2 * m * k * n / (width * (m * k + k * n + m * n))


def fewest_rows(k, n, width, ridge):
    rows = range(1, 3000)
    return next(
        (m for m in rows if intensity(m, k, n, width) >= ridge), 0
    )


def tokens_per_second(batch, weight_bytes, cache_bytes, bandwidth):
    return batch * bandwidth / (weight_bytes + batch * cache_bytes)


# %% wrong: a ridge without its fraction
# loses 2: need not be a whole number
def intensity(m, k, n, width):
    return 2 * m * k * n / (width * (m * k + k * n + m * n))


def fewest_rows(k, n, width, ridge):
    room = 2 * k * n - int(ridge) * width * (k + n)
    if room <= 0:
        return 0
    m = max(1, int(int(ridge) * width * k * n / room) - 1)
    while intensity(m, k, n, width) < int(ridge):
        m += 1
    return m


def tokens_per_second(batch, weight_bytes, cache_bytes, bandwidth):
    return batch * bandwidth / (weight_bytes + batch * cache_bytes)


# %% right: one over a sum of ones over
def intensity(m, k, n, width):
    return 2 / width / (1 / m + 1 / n + 1 / k)


def fewest_rows(k, n, width, ridge):
    import math

    rest = 2 / (width * ridge) - 1 / k - 1 / n
    if rest <= 0:
        return 0
    m = max(1, math.ceil(1 / rest))
    while m > 1 and intensity(m - 1, k, n, width) >= ridge * (1 - 1e-12):
        m -= 1
    return m


def tokens_per_second(batch, weight_bytes, cache_bytes, bandwidth):
    seconds = weight_bytes / bandwidth + batch * (cache_bytes / bandwidth)
    return batch / seconds


# %% right: bisection
def intensity(m, k, n, width):
    flops, numbers = 0, m * k + k * n + m * n
    for row in (m, m):
        flops += row * k * n
    return np.float64(flops) / (numbers * width)


def fewest_rows(k, n, width, ridge):
    low, high = 0, 2**40
    if intensity(high, k, n, width) < ridge:
        return 0
    while high - low > 1:
        middle = (low + high) // 2
        if intensity(middle, k, n, width) >= ridge:
            high = middle
        else:
            low = middle
    return high


def tokens_per_second(batch, weight_bytes, cache_bytes, bandwidth):
    return bandwidth / (weight_bytes / batch + cache_bytes)


# %% right: fractions
def intensity(m, k, n, width):
    from fractions import Fraction

    return float(Fraction(2 * m * k * n, width * (m * k + k * n + m * n)))


def fewest_rows(k, n, width, ridge):
    from fractions import Fraction
    from math import ceil

    rest = 2 / (width * Fraction(ridge)) - Fraction(1, k) - Fraction(1, n)
    return np.int64(ceil(1 / rest)) if rest > 0 else np.int64(0)


def tokens_per_second(batch, weight_bytes, cache_bytes, bandwidth):
    read = np.float64(weight_bytes + batch * cache_bytes)
    return batch / (read / bandwidth)
