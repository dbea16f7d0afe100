# %% wrong: turned clockwise
# loses 7: both vectors turn clockwise
def rotated_score(q, k, m, n, base):
    total = 0
    for i in range(len(q) // 2):
        theta = base ** sp.Rational(-2 * i, len(q))
        a, b, c, d = q[2 * i], q[2 * i + 1], k[2 * i], k[2 * i + 1]
        u = a * sp.cos(m * theta) + b * sp.sin(m * theta)
        v = -a * sp.sin(m * theta) + b * sp.cos(m * theta)
        w = c * sp.cos(n * theta) + d * sp.sin(n * theta)
        z = -c * sp.sin(n * theta) + d * sp.cos(n * theta)
        total += u * w + v * z
    return total


def relative_score(q, k, delta, base):
    total = 0
    for i in range(len(q) // 2):
        angle = delta * base ** sp.Rational(-2 * i, len(q))
        a, b, c, d = q[2 * i], q[2 * i + 1], k[2 * i], k[2 * i + 1]
        total += (a * c + b * d) * sp.cos(angle)
        total -= (a * d - b * c) * sp.sin(angle)
    return total


# %% wrong: the key turned backward
# loses 3: this depends on m + n
def rotated_score(q, k, m, n, base):
    total = 0
    for i in range(len(q) // 2):
        theta = base ** sp.Rational(-2 * i, len(q))
        a, b, c, d = q[2 * i], q[2 * i + 1], k[2 * i], k[2 * i + 1]
        angle = (m + n) * theta
        total += (a * c + b * d) * sp.cos(angle)
        total += (a * d - b * c) * sp.sin(angle)
    return total


def relative_score(q, k, delta, base):
    total = 0
    for i in range(len(q) // 2):
        angle = delta * base ** sp.Rational(-2 * i, len(q))
        a, b, c, d = q[2 * i], q[2 * i + 1], k[2 * i], k[2 * i + 1]
        total += (a * c + b * d) * sp.cos(angle)
        total += (a * d - b * c) * sp.sin(angle)
    return total


# %% wrong: half the exponent
# loses 7: half of -2i/K
def relative_score(q, k, delta, base):
    total = 0
    for i in range(len(q) // 2):
        angle = delta * base ** sp.Rational(-i, len(q))
        a, b, c, d = q[2 * i], q[2 * i + 1], k[2 * i], k[2 * i + 1]
        total += (a * c + b * d) * sp.cos(angle)
        total += (a * d - b * c) * sp.sin(angle)
    return total


def rotated_score(q, k, m, n, base):
    return relative_score(q, k, m - n, base)


# %% wrong: twice the exponent, channels counted as pairs
# loses 7: i counts pairs, not channels
def relative_score(q, k, delta, base):
    total = 0
    for i in range(0, len(q), 2):
        angle = delta * base ** sp.Rational(-2 * i, len(q))
        total += (q[i] * k[i] + q[i + 1] * k[i + 1]) * sp.cos(angle)
        total += (q[i] * k[i + 1] - q[i + 1] * k[i]) * sp.sin(angle)
    return total


def rotated_score(q, k, m, n, base):
    return relative_score(q, k, m - n, base)


# %% wrong: pairs counted from 1
# loses 7: counted from 0
def relative_score(q, k, delta, base):
    total = 0
    for i in range(1, len(q) // 2 + 1):
        angle = delta * base ** sp.Rational(-2 * i, len(q))
        a, b, c, d = q[2 * i - 2], q[2 * i - 1], k[2 * i - 2], k[2 * i - 1]
        total += (a * c + b * d) * sp.cos(angle)
        total += (a * d - b * c) * sp.sin(angle)
    return total


def rotated_score(q, k, m, n, base):
    return relative_score(q, k, m - n, base)


# %% wrong: one frequency for all pairs
# loses 7: every pair turns with frequency 1
def relative_score(q, k, delta, base):
    total = 0
    for i in range(0, len(q), 2):
        total += (q[i] * k[i] + q[i + 1] * k[i + 1]) * sp.cos(delta)
        total += (q[i] * k[i + 1] - q[i + 1] * k[i]) * sp.sin(delta)
    return total


def rotated_score(q, k, m, n, base):
    return relative_score(q, k, m - n, base)


# %% wrong: the cosine alone
# loses 5: sine term is missing
def relative_score(q, k, delta, base):
    total = 0
    for i in range(0, len(q), 2):
        angle = delta * base ** sp.Rational(-i, len(q))
        total += (q[i] * k[i] + q[i + 1] * k[i + 1]) * sp.cos(angle)
    return total


def rotated_score(q, k, m, n, base):
    total = 0
    for i in range(0, len(q), 2):
        angle = (m - n) * base ** sp.Rational(-i, len(q))
        total += (q[i] * k[i] + q[i + 1] * k[i + 1]) * sp.cos(angle)
        total += (q[i] * k[i + 1] - q[i + 1] * k[i]) * sp.sin(angle)
    return total


# %% wrong: the sine alone
# loses 5: cosine term is missing
def relative_score(q, k, delta, base):
    total = 0
    for i in range(0, len(q), 2):
        angle = delta * base ** sp.Rational(-i, len(q))
        total += (q[i] * k[i + 1] - q[i + 1] * k[i]) * sp.sin(angle)
    return total


def rotated_score(q, k, m, n, base):
    total = 0
    for i in range(0, len(q), 2):
        angle = (m - n) * base ** sp.Rational(-i, len(q))
        total += (q[i] * k[i] + q[i + 1] * k[i + 1]) * sp.cos(angle)
        total += (q[i] * k[i + 1] - q[i + 1] * k[i]) * sp.sin(angle)
    return total


# %% wrong: nothing turned
# loses 7: nothing is turned
def relative_score(q, k, delta, base):
    return sum(a * b for a, b in zip(q, k))


def rotated_score(q, k, m, n, base):
    return relative_score(q, k, m - n, base)


# %% wrong: the other pairing
# loses 7: the exercise pairs 2i with 2i + 1
def relative_score(q, k, delta, base):
    total, half = 0, len(q) // 2
    for i in range(half):
        angle = delta * base ** sp.Rational(-2 * i, len(q))
        a, b, c, d = q[i], q[i + half], k[i], k[i + half]
        total += (a * c + b * d) * sp.cos(angle)
        total += (a * d - b * c) * sp.sin(angle)
    return total


def rotated_score(q, k, m, n, base):
    return relative_score(q, k, m - n, base)


# %% wrong: the first pair alone
# loses 7: only the first pair
def relative_score(q, k, delta, base):
    inner = q[0] * k[0] + q[1] * k[1]
    cross = q[0] * k[1] - q[1] * k[0]
    return inner * sp.cos(delta) + cross * sp.sin(delta)


def rotated_score(q, k, m, n, base):
    return relative_score(q, k, m - n, base)


# %% wrong: delta is n - m in the relative form
# loses 5: sine has the wrong sign
def relative_score(q, k, delta, base):
    total = 0
    for i in range(0, len(q), 2):
        angle = -delta * base ** sp.Rational(-i, len(q))
        total += (q[i] * k[i] + q[i + 1] * k[i + 1]) * sp.cos(angle)
        total += (q[i] * k[i + 1] - q[i + 1] * k[i]) * sp.sin(angle)
    return total


def rotated_score(q, k, m, n, base):
    return relative_score(q, k, n - m, base)


# %% wrong: m and n are still there
# loses 5: contains m, n, which the exercise does not give
def rotated_score(q, k, m, n, base):
    total = 0
    for i in range(0, len(q), 2):
        angle = (m - n) * base ** sp.Rational(-i, len(q))
        total += (q[i] * k[i] + q[i + 1] * k[i + 1]) * sp.cos(angle)
        total += (q[i] * k[i + 1] - q[i + 1] * k[i]) * sp.sin(angle)
    return total


def relative_score(q, k, delta, base):
    m, n = sp.symbols("m n", real=True)
    return rotated_score(q, k, m, n, base)


# %% right: rotation matrices
def rotated_score(q, k, m, n, base):
    def turn(x, position):
        blocks = []
        for i in range(len(x) // 2):
            t = position * base ** (-2 * sp.Integer(i) / len(x))
            blocks.append(
                sp.Matrix([[sp.cos(t), -sp.sin(t)], [sp.sin(t), sp.cos(t)]])
            )
        return sp.diag(*blocks) * sp.Matrix(x)

    return turn(q, m).dot(turn(k, n))


def relative_score(q, k, delta, base):
    return rotated_score(q, k, delta, sp.Integer(0), base)


# %% right: complex numbers
def relative_score(q, k, delta, base):
    total = sp.Integer(0)
    for i in range(0, len(q), 2):
        query, key = q[i] + sp.I * q[i + 1], k[i] + sp.I * k[i + 1]
        turn = sp.exp(sp.I * delta * base ** sp.Rational(-i, len(q)))
        product = sp.expand(query * turn * sp.conjugate(key), complex=True)
        total += sp.re(product)
    return total


def rotated_score(q, k, m, n, base):
    return relative_score(q, k, m - n, base)


# %% right: half-angle forms and decimal exponents
def relative_score(q, k, delta, base):
    total = 0
    for i in range(len(q) // 2):
        half = delta * base ** (-2 * i / len(q)) / 2
        cos = 1 - 2 * sp.sin(half) ** 2
        sin = 2 * sp.sin(half) * sp.cos(half)
        a, b, c, d = q[2 * i], q[2 * i + 1], k[2 * i], k[2 * i + 1]
        total += a * (c * cos + d * sin) + b * (d * cos - c * sin)
    return total


def rotated_score(q, k, m, n, base):
    return sp.expand(relative_score(q, k, m - n, base), trig=True)
