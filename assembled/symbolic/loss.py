"""Cross-entropy: why its gradient by the logits is ŷ − y, for any V.

Chapter: Softmax, masks, cross-entropy. Axes: V. The mean over N tokens
divides by N; ignored tokens get zero and are left out of N.
"""

import sympy as sp

V = sp.Symbol("V", integer=True, positive=True)
i, j, k, y = sp.symbols("i j k y", integer=True, nonnegative=True)
z = sp.IndexedBase("z", real=True)


def cross_entropy():
    """Return −log softmax(z)_y of one token, y the target's index.

    >>> cross_entropy()
    log(Sum(exp(z[k]), (k, 0, V - 1))) - z[y]
    """
    return sp.log(sp.Sum(sp.exp(z[k]), (k, 0, V - 1))) - z[y]


def softmax_entry(j=j):
    """Return ŷ_j = e^{z_j} / Σ e^{z_k}.

    >>> softmax_entry()
    exp(z[j])/Sum(exp(z[k]), (k, 0, V - 1))
    """
    return sp.exp(z[j]) / sp.Sum(sp.exp(z[k]), (k, 0, V - 1))


def gradient_entry():
    """Return d(cross_entropy)/dz_j, differentiated, for 0 ≤ j < V.

    >>> gradient_entry()
    exp(z[j])/Sum(exp(z[k]), (k, 0, V - 1)) - KroneckerDelta(j, y)
    """
    gradient = cross_entropy().diff(z[j]).doit()
    return gradient.subs(j <= V - 1, True)  # there are V logits


def hessian_entry():
    """Return d²(cross_entropy)/dz_i dz_j, from the gradient, for any V.

    >>> hessian_entry().has(y)  # the target is in the slope alone
    False
    """
    hessian = gradient_entry().diff(z[i]).doit()
    return hessian.subs(i <= V - 1, True)


def mean_cross_entropy(logits, targets, ignore=None):
    """Return the mean loss of a matrix of logits (N, V).

    Tokens whose target equals `ignore` count neither above nor below.

    >>> mean_cross_entropy(sp.zeros(3, 4), [1, 2, -1], ignore=-1)
    log(4)
    """
    rows = [(r, target) for r, target in enumerate(targets)
            if target != ignore]
    losses = (
        sp.log(sum(sp.exp(u) for u in logits.row(r))) - logits[r, target]
        for r, target in rows
    )
    return sum(losses) / len(rows)
