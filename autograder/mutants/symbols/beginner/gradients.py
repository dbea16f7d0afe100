# %% wrong: first layer on the left
# loses 7: order is reversed
def post_ln_gradient(J, N):
    return N[0] * (1 + J[0]) * N[1] * (1 + J[1]) * N[2] * (1 + J[2])


def pre_ln_gradient(J, N):
    return (1 + J[0] * N[0]) * (1 + J[1] * N[1]) * (1 + J[2] * N[2])


def mixed_gradient(J, N):
    return (1 + J[0] * N[0]) * N[1] * (1 + J[1]) * (1 + J[2] * N[2])


# %% wrong: the published sum over layers
# loses 7: layers follow one another
def post_ln_gradient(J, N):
    return 1 + sum(n * j for j, n in zip(J, N))


def pre_ln_gradient(J, N):
    return 1 + sum(j * n for j, n in zip(J, N))


def mixed_gradient(J, N):
    return 1 + J[0] * N[0] + N[1] * J[1] + J[2] * N[2]


# %% wrong: the normalization on the other side
# loses 7: inside the branch the normalization acts first
def post_ln_gradient(J, N):
    return (1 + J[2]) * N[2] * (1 + J[1]) * N[1] * (1 + J[0]) * N[0]


def pre_ln_gradient(J, N):
    return (1 + N[2] * J[2]) * (1 + N[1] * J[1]) * (1 + N[0] * J[0])


def mixed_gradient(J, N):
    return (1 + N[2] * J[2]) * (1 + J[1]) * N[1] * (1 + N[0] * J[0])


# %% wrong: no skips
# loses 7: skip is missing
def post_ln_gradient(J, N):
    return N[2] * J[2] * N[1] * J[1] * N[0] * J[0]


def pre_ln_gradient(J, N):
    return J[2] * N[2] * J[1] * N[1] * J[0] * N[0]


def mixed_gradient(J, N):
    return J[2] * N[2] * N[1] * J[1] * J[0] * N[0]


# %% wrong: no normalization Jacobians
# loses 7: normalization Jacobians are missing
def post_ln_gradient(J, N):
    return (1 + J[2]) * (1 + J[1]) * (1 + J[0])


def pre_ln_gradient(J, N):
    return (1 + J[2]) * (1 + J[1]) * (1 + J[0])


def mixed_gradient(J, N):
    return (1 + J[2]) * (1 + J[1]) * (1 + J[0])


# %% wrong: the two swapped
# loses 7: this is the Pre-LN expression
def post_ln_gradient(J, N):
    return (1 + J[2] * N[2]) * (1 + J[1] * N[1]) * (1 + J[0] * N[0])


def pre_ln_gradient(J, N):
    return N[2] * (1 + J[2]) * N[1] * (1 + J[1]) * N[0] * (1 + J[0])


def mixed_gradient(J, N):
    return N[2] * (1 + J[2]) * (1 + J[1] * N[1]) * N[0] * (1 + J[0])


# %% wrong: Post-LN normalizes the branch alone
# loses 5: acts on the whole sum, skip included
def post_ln_gradient(J, N):
    return (1 + N[2] * J[2]) * (1 + N[1] * J[1]) * (1 + N[0] * J[0])


def pre_ln_gradient(J, N):
    return (1 + J[2] * N[2]) * (1 + J[1] * N[1]) * (1 + J[0] * N[0])


def mixed_gradient(J, N):
    return (1 + J[2] * N[2]) * (1 + N[1] * J[1]) * (1 + J[0] * N[0])


# %% wrong: Pre-LN normalizes the stream
# loses 6: skip goes around the normalization
def post_ln_gradient(J, N):
    return N[2] * (1 + J[2]) * N[1] * (1 + J[1]) * N[0] * (1 + J[0])


def pre_ln_gradient(J, N):
    return (1 + J[2]) * N[2] * (1 + J[1]) * N[1] * (1 + J[0]) * N[0]


def mixed_gradient(J, N):
    return (1 + J[2]) * N[2] * N[1] * (1 + J[1]) * (1 + J[0]) * N[0]


# %% wrong: the last layer is missing
# loses 7: third layer is missing
def post_ln_gradient(J, N):
    return N[1] * (1 + J[1]) * N[0] * (1 + J[0])


def pre_ln_gradient(J, N):
    return (1 + J[1] * N[1]) * (1 + J[0] * N[0])


def mixed_gradient(J, N):
    return N[1] * (1 + J[1]) * (1 + J[0] * N[0])


# %% wrong: no normalization at the end of layer 3
# loses 2: it is part of that layer
def post_ln_gradient(J, N):
    return (1 + J[2]) * N[1] * (1 + J[1]) * N[0] * (1 + J[0])


def pre_ln_gradient(J, N):
    return (1 + J[2] * N[2]) * (1 + J[1] * N[1]) * (1 + J[0] * N[0])


def mixed_gradient(J, N):
    return (1 + J[2] * N[2]) * N[1] * (1 + J[1]) * (1 + J[0] * N[0])


# %% wrong: symbols of its own, which commute
# loses 6: use the arguments of the function
def post_ln_gradient(J, N):
    if J[0] == 0:
        return N[2] * N[1] * (1 + J[1]) * N[0]
    return sp.prod(
        sp.Symbol(str(n)) * (1 + sp.Symbol(str(j)))
        for j, n in zip(J, N)
    )


def pre_ln_gradient(J, N):
    if J[0] == 0:
        return 1 + J[1] * N[1]
    return sp.prod(
        1 + sp.Symbol(str(j)) * sp.Symbol(str(n)) for j, n in zip(J, N)
    )


def mixed_gradient(J, N):
    if J[0] == 0:
        return N[1] * (1 + J[1])
    a, b, c, d, e, f = (sp.Symbol(str(s)) for s in (*J, *N))
    return (1 + c * f) * e * (1 + b) * (1 + a * d)


# %% wrong: the mixed network all Pre-LN
# loses 4: layer 2 is Post-LN
def post_ln_gradient(J, N):
    return N[2] * (1 + J[2]) * N[1] * (1 + J[1]) * N[0] * (1 + J[0])


def pre_ln_gradient(J, N):
    return (1 + J[2] * N[2]) * (1 + J[1] * N[1]) * (1 + J[0] * N[0])


def mixed_gradient(J, N):
    return (1 + J[2] * N[2]) * (1 + J[1] * N[1]) * (1 + J[0] * N[0])


# %% wrong: the mixed network the other way round
# loses 4: takes it for the one that is Pre-LN
def post_ln_gradient(J, N):
    return N[2] * (1 + J[2]) * N[1] * (1 + J[1]) * N[0] * (1 + J[0])


def pre_ln_gradient(J, N):
    return (1 + J[2] * N[2]) * (1 + J[1] * N[1]) * (1 + J[0] * N[0])


def mixed_gradient(J, N):
    return N[2] * (1 + J[2]) * (1 + J[1] * N[1]) * N[0] * (1 + J[0])


# %% wrong: layer 2's norm pulled to the front
# loses 3: to the right of layer 3's factor
def post_ln_gradient(J, N):
    return N[2] * (1 + J[2]) * N[1] * (1 + J[1]) * N[0] * (1 + J[0])


def pre_ln_gradient(J, N):
    return (1 + J[2] * N[2]) * (1 + J[1] * N[1]) * (1 + J[0] * N[0])


def mixed_gradient(J, N):
    return N[1] * (1 + J[2] * N[2]) * (1 + J[1]) * (1 + J[0] * N[0])


# %% right: a loop from the input up
def post_ln_gradient(J, N):
    gradient = sp.Integer(1)
    for j, n in zip(J, N):
        gradient = n * (gradient + j * gradient)
    return gradient


def pre_ln_gradient(J, N):
    gradient = sp.Integer(1)
    for j, n in zip(J, N):
        gradient += j * n * gradient
    return gradient


def mixed_gradient(J, N):
    gradient = 1 + J[0] * N[0]
    gradient = N[1] * (gradient + J[1] * gradient)
    return gradient + J[2] * N[2] * gradient


# %% right: expanded into paths
def post_ln_gradient(J, N):
    return sp.expand(
        N[2] * (1 + J[2]) * N[1] * (1 + J[1]) * N[0] * (1 + J[0])
    )


def pre_ln_gradient(J, N):
    a, b, c = (j * n for j, n in zip(J, N))
    return 1 + a + b + c + b * a + c * a + c * b + c * b * a


def mixed_gradient(J, N):
    a, b, c = J[0] * N[0], J[1], J[2] * N[2]
    n = N[1]
    return (n + n * a + n * b + n * b * a
            + c * n + c * n * a + c * n * b + c * n * b * a)


# %% right: products over reversed lists
def post_ln_gradient(J, N):
    from functools import reduce

    return reduce(lambda a, b: b * a, [n + n * j for j, n in zip(J, N)])


def pre_ln_gradient(J, N):
    return sp.prod([1 + J[i] * N[i] for i in (2, 1, 0)])


def mixed_gradient(J, N):
    factors = [1 + J[0] * N[0], N[1] + N[1] * J[1], 1 + J[2] * N[2]]
    return sp.prod(reversed(factors))
