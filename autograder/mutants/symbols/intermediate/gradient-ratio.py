# %% wrong: squared norms
# loses 5: square of the norm
def gradient_ratio(placement, chi_f, chi_j, n):
    if placement == "post":
        return ((1 + chi_j) / (1 + chi_f)) ** n
    return sp.prod([1 + chi_j / (1 + l * chi_f) for l in range(n)])


# %% wrong: output over input
# loses 5: the output over the input
def gradient_ratio(placement, chi_f, chi_j, n):
    if placement == "post":
        return sp.sqrt((1 + chi_f) / (1 + chi_j)) ** n
    return 1 / sp.sqrt(
        sp.prod([1 + chi_j / (1 + l * chi_f) for l in range(n)])
    )


# %% wrong: the identity path alone
# loses 5: identity path alone
def gradient_ratio(placement, chi_f, chi_j, n):
    return (1 + chi_f) ** sp.Rational(-n, 2) if placement == "post" else 1


# %% wrong: the stream's variance counted from 1
# loses 3: has variance 1: count l from 0
def gradient_ratio(placement, chi_f, chi_j, n):
    if placement == "post":
        return sp.sqrt((1 + chi_j) / (1 + chi_f)) ** n
    return sp.sqrt(
        sp.prod([1 + chi_j / (1 + l * chi_f) for l in range(1, n + 1)])
    )


# %% wrong: the stream does not grow
# loses 3: stream's variance grows
def gradient_ratio(placement, chi_f, chi_j, n):
    if placement == "post":
        return sp.sqrt((1 + chi_j) / (1 + chi_f)) ** n
    return sp.sqrt(1 + chi_j) ** n


# %% wrong: Post-LN divides the branch alone
# loses 3: the skip is divided as well
def gradient_ratio(placement, chi_f, chi_j, n):
    if placement == "post":
        return sp.sqrt(1 + chi_j / (1 + chi_f)) ** n
    return sp.sqrt(sp.prod([1 + chi_j / (1 + l * chi_f) for l in range(n)]))


# %% wrong: Pre-LN divides the skip as well
# loses 3: only the branch is divided
def gradient_ratio(placement, chi_f, chi_j, n):
    if placement == "post":
        return sp.sqrt((1 + chi_j) / (1 + chi_f)) ** n
    return sp.sqrt(
        sp.prod([(1 + chi_j) / (1 + l * chi_f) for l in range(n)])
    )


# %% wrong: a sum over sublayers
# loses 3: sublayers follow one another
def gradient_ratio(placement, chi_f, chi_j, n):
    if placement == "post":
        return sp.sqrt((1 + chi_j) / (1 + chi_f)) ** n
    return sp.sqrt(1 + sum(chi_j / (1 + l * chi_f) for l in range(n)))


# %% wrong: the two forms swapped
# loses 5: this is the Pre-LN expression
def gradient_ratio(placement, chi_f, chi_j, n):
    if placement == "pre":
        return sp.sqrt((1 + chi_j) / (1 + chi_f)) ** n
    return sp.sqrt(sp.prod([1 + chi_j / (1 + l * chi_f) for l in range(n)]))


# %% wrong: one sublayer for all
# loses 3: there are n
def gradient_ratio(placement, chi_f, chi_j, n):
    if placement == "post":
        return sp.sqrt((1 + chi_j) / (1 + chi_f))
    return sp.sqrt(sp.prod([1 + chi_j / (1 + l * chi_f) for l in range(n)]))


# %% wrong: a standard deviation where the variance belongs
# loses 3: divided by the variance
def gradient_ratio(placement, chi_f, chi_j, n):
    if placement == "post":
        return sp.sqrt((1 + chi_j) / (1 + chi_f)) ** n
    return sp.sqrt(
        sp.prod([1 + chi_j / sp.sqrt(1 + l * chi_f) for l in range(n)])
    )


# %% right: gamma functions
def gradient_ratio(placement, chi_f, chi_j, n):
    if placement == "post":
        return sp.exp(sp.Rational(n, 2) * sp.log((1 + chi_j) / (1 + chi_f)))
    a = 1 / chi_f
    ratio = sp.rf(a * (1 + chi_j), n) / sp.rf(a, n)
    return sp.sqrt(ratio)


# %% right: layer by layer
def gradient_ratio(placement, chi_f, chi_j, n):
    squared, variance = sp.Integer(1), sp.Integer(1)
    for _ in range(n):
        if placement == "post":
            squared = (squared + squared * chi_j) / (1 + chi_f)
        else:
            squared += squared * chi_j / variance
            variance += chi_f
    return squared ** sp.Rational(1, 2)


# %% right: an unevaluated product, cancelled
def gradient_ratio(placement, chi_f, chi_j, n):
    l = sp.Symbol("l", integer=True, nonnegative=True)
    if placement == "post":
        factor = (1 + chi_j) / (1 + chi_f)
    else:
        factor = 1 + chi_j / (1 + l * chi_f)
    whole = sp.Product(factor, (l, 0, n - 1)).doit()
    return sp.sqrt(sp.cancel(whole))
