# %% wrong: the final norm forgotten
# loses 4: final normalization is missing
def path_polynomial(placement, L, t):
    return (1 + t) ** (2 * L) if placement == "pre" else (2 * t) ** (2 * L)


# %% wrong: one sublayer a layer
# loses 4: a layer holds two sublayers
def path_polynomial(placement, L, t):
    return t * (1 + t) ** L if placement == "pre" else (2 * t) ** L


# %% wrong: the final norm optional
# loses 4: no skip goes around it
def path_polynomial(placement, L, t):
    if placement == "post":
        return (2 * t) ** (2 * L)
    return (1 + t) ** (2 * L + 1)


# %% wrong: a single Post-LN path
# loses 3: this counts one
def path_polynomial(placement, L, t):
    return t * (1 + t) ** (2 * L) if placement == "pre" else t ** (2 * L)


# %% wrong: a final norm in Post-LN
# loses 3: has no final normalization
def path_polynomial(placement, L, t):
    step = 1 + t if placement == "pre" else 2 * t
    return t * step ** (2 * L)


# %% wrong: the Post-LN skip goes around
# loses 3: the skip meets the normalization too
def path_polynomial(placement, L, t):
    return (t if placement == "pre" else 1) * (1 + t) ** (2 * L)


# %% wrong: the two forms swapped
# loses 4: this is the Post-LN polynomial
def path_polynomial(placement, L, t):
    if placement == "pre":
        return (2 * t) ** (2 * L)
    return t * (1 + t) ** (2 * L)


# %% wrong: the published sum over sublayers
# loses 4: at most one branch
def path_polynomial(placement, L, t):
    if placement == "pre":
        return t * (1 + 2 * L * t)
    return 2 * L * t ** (2 * L)


# %% wrong: both sublayers choose together
# loses 4: choose independently
def path_polynomial(placement, L, t):
    if placement == "pre":
        return t * (1 + t**2) ** L
    return (2 * t) ** (2 * L)


# %% wrong: a loop that needs a number
# loses 3: cannot be interpreted as an integer
def path_polynomial(placement, L, t):
    total = t if placement == "pre" else sp.Integer(1)
    for _ in range(2 * L):
        total *= 1 + t if placement == "pre" else 2 * t
    return total


# %% wrong: a final norm in the mixed network
# loses 2: mixed network has no final normalization
def path_polynomial(placement, L, t):
    if placement == "post":
        return (2 * t) ** (2 * L)
    return t * (1 + t) ** (2 * L if placement == "pre" else L) * (
        1 if placement == "pre" else (2 * t) ** L
    )


# %% wrong: 2L sublayers of each kind
# loses 2: there are L of each kind
def path_polynomial(placement, L, t):
    steps = {"pre": 1 + t, "post": 2 * t, "mixed": 2 * t * (1 + t)}
    return (t if placement == "pre" else 1) * steps[placement] ** (2 * L)


# %% wrong: the factors of a mixed layer added
# loses 2: their factors multiply
def path_polynomial(placement, L, t):
    layers = {"pre": (1 + t) ** 2, "post": 4 * t**2, "mixed": 1 + t + 2 * t}
    return (t if placement == "pre" else 1) * layers[placement] ** L


# %% wrong: mixed taken for Pre-LN
# loses 2: this is the Pre-LN polynomial
def path_polynomial(placement, L, t):
    if placement == "post":
        return (2 * t) ** (2 * L)
    return t * (1 + t) ** (2 * L)


# %% right: a binomial sum
def path_polynomial(placement, L, t):
    k = sp.Symbol("k", integer=True, nonnegative=True)
    if placement == "post":
        return 4**L * t ** (2 * L)
    if placement == "mixed":
        return (2 * t) ** L * sp.Sum(sp.binomial(L, k) * t**k, (k, 0, L))
    return sp.Sum(sp.binomial(2 * L, k) * t ** (k + 1), (k, 0, 2 * L))


# %% right: exponentials of logarithms
def path_polynomial(placement, L, t):
    if placement == "mixed":
        return sp.exp(L * (sp.log(2) + sp.log(t) + sp.log(1 + t)))
    step = 2 * t if placement == "post" else 1 + t
    last = 0 if placement == "post" else sp.log(t)
    return sp.exp(2 * L * sp.log(step) + last)


# %% right: a layer at a time
def path_polynomial(placement, L, t):
    if placement == "post":
        layer = t * t + t * t + t * t + t * t
        return layer**L
    if placement == "mixed":
        return (t + t + t * t + t * t) ** L
    layer = 1 + 2 * t + t**2
    return t * layer**L
