# %% wrong: not normalized again
# loses 6: no longer add up to 1
def lowered(z, j, t):
    e = z.applyfunc(sp.exp)
    p = (e / sum(e)).as_mutable()
    p[j] *= sp.exp(-t)
    return p


def pressed(z, j):
    e = z.applyfunc(sp.exp)
    p = (e / sum(e)).as_mutable()
    p[j] = 0
    return p


# %% wrong: the freed weight shared equally
# loses 6: is not shared equally
def lowered(z, j, t):
    e = z.applyfunc(sp.exp)
    p = e / sum(e)
    freed = p[j] * (1 - sp.exp(-t))
    share = freed / (len(z) - 1)
    return sp.Matrix(
        [w - freed if i == j else w + share for i, w in enumerate(p)]
    )


def pressed(z, j):
    e = z.applyfunc(sp.exp)
    p = e / sum(e)
    share = p[j] / (len(z) - 1)
    return sp.Matrix([0 if i == j else w + share for i, w in enumerate(p)])


# %% wrong: the first token takes it all
# loses 6: not to the first one alone
def lowered(z, j, t):
    e = z.applyfunc(sp.exp)
    p = (e / sum(e)).as_mutable()
    freed = p[j] * (1 - sp.exp(-t))
    p[j] -= freed
    p[1 if j == 0 else 0] += freed
    return p


def pressed(z, j):
    e = z.applyfunc(sp.exp)
    p = (e / sum(e)).as_mutable()
    p[1 if j == 0 else 0] += p[j]
    p[j] = 0
    return p


# %% wrong: all logits lowered
# loses 6: lower one logit, not all
def lowered(z, j, t):
    e = (z - t * sp.ones(*z.shape)).applyfunc(sp.exp)
    return e / sum(e)


def pressed(z, j):
    e = z.applyfunc(sp.exp)
    return e / sum(e)


# %% wrong: the logit raised
# loses 4: raises the logit instead
def lowered(z, j, t):
    e = z.applyfunc(sp.exp).as_mutable()
    e[j] *= sp.exp(t)
    return e / sum(e)


def pressed(z, j):
    e = z.applyfunc(sp.exp).as_mutable()
    e[j] = 0
    return e / sum(e)


# %% wrong: the limit's factor at every t
# loses 4: right only in the limit
def lowered(z, j, t):
    e = z.applyfunc(sp.exp)
    p = (e / sum(e)).as_mutable()
    rest = 1 - p[j]
    p[j] *= sp.exp(-t)
    return p / rest


def pressed(z, j):
    e = z.applyfunc(sp.exp).as_mutable()
    e[j] = 0
    return e / sum(e)


# %% wrong: the survivors made equal
# loses 2: keep their ratios
def lowered(z, j, t):
    e = z.applyfunc(sp.exp).as_mutable()
    e[j] *= sp.exp(-t)
    return e / sum(e)


def pressed(z, j):
    n = len(z)
    return sp.Matrix([0 if i == j else sp.Rational(1, n - 1)
                      for i in range(n)])


# %% wrong: token j counted from 1
# loses 6: j counts from 0
def lowered(z, j, t):
    e = z.applyfunc(sp.exp).as_mutable()
    e[j - 1] *= sp.exp(-t)
    return e / sum(e)


def pressed(z, j):
    e = z.applyfunc(sp.exp).as_mutable()
    e[j - 1] = 0
    return e / sum(e)


# %% wrong: exponentials not divided
# loses 6: not divided by their sum
def lowered(z, j, t):
    e = z.applyfunc(sp.exp).as_mutable()
    e[j] *= sp.exp(-t)
    return e


def pressed(z, j):
    e = z.applyfunc(sp.exp).as_mutable()
    e[j] = 0
    return e


# %% wrong: token j left out of the answer
# loses 3: has shape
def lowered(z, j, t):
    e = z.applyfunc(sp.exp).as_mutable()
    e[j] *= sp.exp(-t)
    return e / sum(e)


def pressed(z, j):
    e = [sp.exp(x) for i, x in enumerate(z) if i != j]
    return sp.Matrix(e) / sum(e)


# %% right: the old weights, rescaled
def lowered(z, j, t):
    e = z.applyfunc(sp.exp)
    p = e / sum(e)
    scale = 1 - p[j] + p[j] * sp.exp(-t)
    return sp.Matrix([
        w * (sp.exp(-t) if i == j else 1) / scale for i, w in enumerate(p)
    ])


def pressed(z, j):
    e = z.applyfunc(sp.exp)
    p = e / sum(e)
    return sp.Matrix([
        0 if i == j else w / (1 - p[j]) for i, w in enumerate(p)
    ])


# %% right: differences of logits
def lowered(z, j, t):
    new = [x - t if i == j else x for i, x in enumerate(z)]
    return sp.Matrix([1 / sum(sp.exp(b - a) for b in new) for a in new])


def pressed(z, j):
    others = [x for i, x in enumerate(z) if i != j]
    return sp.ImmutableMatrix([
        0 if i == j else 1 / sum(sp.exp(b - a) for b in others)
        for i, a in enumerate(z)
    ])


# %% right: a Boltzmann factor as a hyperbolic tangent
def lowered(z, j, t):
    rest = sum(sp.exp(x) for i, x in enumerate(z) if i != j)
    gap = z[j] - t - sp.log(rest)
    own = (1 + sp.tanh(gap / 2)) / 2
    return sp.Matrix([
        own if i == j else (1 - own) * sp.exp(x) / rest
        for i, x in enumerate(z)
    ])


def pressed(z, j):
    rest = sum(sp.exp(x) for i, x in enumerate(z) if i != j)
    return z.applyfunc(sp.exp).multiply_elementwise(
        sp.Matrix([int(i != j) for i in range(len(z))])
    ) / rest
