# %% wrong: the diagonal alone
# loses 4: the outer product is missing
def softmax_jacobian(z):
    e = z.applyfunc(sp.exp)
    return sp.diag(*(e / sum(e)))


# %% wrong: plus instead of minus
# loses 4: outer product has the wrong sign
def softmax_jacobian(z):
    e = z.applyfunc(sp.exp)
    p = e / sum(e)
    return sp.diag(*p) + p * p.T


# %% wrong: the whole sign
# loses 4: has the wrong sign
def softmax_jacobian(z):
    e = z.applyfunc(sp.exp)
    p = e / sum(e)
    return p * p.T - sp.diag(*p)


# %% wrong: a sigmoid for each logit
# loses 4: only the diagonal
def softmax_jacobian(z):
    e = z.applyfunc(sp.exp)
    p = e / sum(e)
    return sp.diag(*[w * (1 - w) for w in p])


# %% wrong: the Jacobian of log-softmax
# loses 4: Jacobian of log p
def softmax_jacobian(z):
    log_p = z - sp.ones(*z.shape) * sp.log(sum(z.applyfunc(sp.exp)))
    return log_p.jacobian(z)


# %% wrong: p_j taken from every row
# loses 4: it must lose p_i p_j
def softmax_jacobian(z):
    e = z.applyfunc(sp.exp)
    p = e / sum(e)
    return sp.Matrix(
        len(z), len(z), lambda i, j: (p[i] if i == j else 0) - p[j]
    )


# %% wrong: exponentials left as they are
# loses 4: not divided by their sum
def softmax_jacobian(z):
    e = z.applyfunc(sp.exp)
    return sp.diag(*e) - e * e.T


# %% wrong: the identity in the place of diag(p)
# loses 4: starts from 1
def softmax_jacobian(z):
    e = z.applyfunc(sp.exp)
    p = e / sum(e)
    return sp.eye(len(z)) - p * p.T


# %% wrong: only for two logits
# loses 3: has shape (2, 2)
def softmax_jacobian(z):
    p = sp.exp(z[0]) / (sp.exp(z[0]) + sp.exp(z[1]))
    return p * (1 - p) * sp.Matrix([[1, -1], [-1, 1]])


# %% wrong: symbols of its own
# loses 4: which the exercise does not give
def softmax_jacobian(z):
    p = sp.Matrix(sp.symbols(f"p:{len(z)}"))
    return sp.diag(*p) - p * p.T


# %% wrong: a list of lists
# loses 4: is a list
def softmax_jacobian(z):
    e = z.applyfunc(sp.exp)
    p = e / sum(e)
    return (sp.diag(*p) - p * p.T).tolist()


# %% wrong: nothing returned
# loses 4: end in `return`
def softmax_jacobian(z):
    e = z.applyfunc(sp.exp)
    p = e / sum(e)
    sp.diag(*p) - p * p.T


# %% right: differentiated by SymPy
def softmax_jacobian(z):
    e = z.applyfunc(sp.exp)
    return (e / sum(e)).jacobian(z)


# %% right: differences of logits, in loops
def softmax_jacobian(logits):
    size = len(logits)
    p = [
        1 / sum(sp.exp(logits[k] - logits[i]) for k in range(size))
        for i in range(size)
    ]
    J = sp.zeros(size, size)
    for i in range(size):
        for j in range(size):
            J[i, j] = p[i] * (1 - p[i]) if i == j else -p[i] * p[j]
    return J


# %% right: hyperbolic functions
def softmax_jacobian(z):
    p = [1 / sum(sp.cosh(k - i) + sp.sinh(k - i) for k in z) for i in z]
    return sp.ImmutableMatrix(
        len(z),
        len(z),
        lambda i, j: p[i] * (sp.KroneckerDelta(i, j) - p[j]),
    )
