"""RMSNorm and LayerNorm: Jacobians for every width d, entry by entry.

Chapter: Pre-LN against Post-LN. Axes: D, written d here. Column Jacobians:
entry (i, j) is dy_i/dx_j. Sources: Ba 2016 (LayerNorm), Zhang and
Sennrich 2019 (RMSNorm).
"""

import sympy as sp

d = sp.Symbol("d", integer=True, positive=True)
i, j, k, m = sp.symbols("i j k m", integer=True, nonnegative=True)
x, g, b = (sp.IndexedBase(name, real=True) for name in ("x", "g", "b"))
epsilon = sp.Symbol("epsilon", positive=True)


def mean():
    """Return the mean of x over its d entries, as a sum.

    >>> mean()
    Sum(x[m], (m, 0, d - 1))/d
    """
    return sp.Sum(x[m], (m, 0, d - 1)) / d


def mean_square():
    """Return the mean of x², as a sum.

    >>> mean_square()
    Sum(x[k]**2, (k, 0, d - 1))/d
    """
    return sp.Sum(x[k] ** 2, (k, 0, d - 1)) / d


def variance():
    """Return the mean square distance from the mean, as a sum.

    The mean is a fixed number inside the sum, so the square expands into
    three sums, and two of them merge: mean(x²) − mean(x)².

    >>> variance()
    Sum(x[k]**2, (k, 0, d - 1))/d - Sum(x[m], (m, 0, d - 1))**2/d**2
    """
    mu = sp.Symbol("mu", real=True)
    square = sp.expand((x[k] - mu) ** 2)
    terms = [sp.Sum(t, (k, 0, d - 1)) for t in square.args]
    total = sum(_pull_out_constants(t) for t in terms) / d
    total = total.subs(mu, mean())
    return sp.expand(total.replace(sp.Sum, _name_the_index))


def rms():
    """Return r = √(mean(x²) + ε), what RMSNorm divides by.

    >>> rms()
    sqrt(epsilon + Sum(x[k]**2, (k, 0, d - 1))/d)
    """
    return sp.sqrt(mean_square() + epsilon)


def deviation():
    """Return σ = √(var(x) + ε), what LayerNorm divides by.

    >>> deviation().subs(d, 1).doit()
    sqrt(epsilon)
    """
    return sp.sqrt(variance() + epsilon)


def rms_norm_entry(index=i):
    """Return entry `index` of RMSNorm, g x/r, for any d.

    >>> rms_norm_entry()
    g[i]*x[i]/sqrt(epsilon + Sum(x[k]**2, (k, 0, d - 1))/d)
    """
    return g[index] * x[index] / rms()


def layer_norm_entry(index=i):
    """Return entry `index` of LayerNorm, g (x − mean)/σ + b, for any d.

    >>> layer_norm_entry(0).subs(d, 1).doit()
    b[0]
    """
    return g[index] * (x[index] - mean()) / deviation() + b[index]


def differentiate(entry, index=j):
    """Return the derivative of `entry` by x[index], 0 ≤ index < d.

    >>> differentiate(mean())
    1/d
    """
    derivative = entry.diff(x[index]).doit()
    return derivative.subs(index <= d - 1, True)  # x has d entries


def rms_norm_jacobian_entry():
    """Return the recognised form: scale × (identity − outer product).

    Entry (i, j) of diag(g) (I − x̂ x̂ᵀ/d)/r with x̂ = x/r.

    >>> sp.factor(rms_norm_jacobian_entry().subs({i: 0, j: 0, d: 1}).doit())
    epsilon*g[0]/(epsilon + x[0]**2)**(3/2)
    """
    r = rms()
    delta = sp.KroneckerDelta(i, j)
    return g[i] / r * (delta - x[i] / r * x[j] / r / d)


def layer_norm_jacobian_entry():
    """Return scale × (identity − two outer products), for any d.

    Entry (i, j) of diag(g) (I − 1 1ᵀ/d − x̂ x̂ᵀ/d)/σ, x̂ = (x − mean)/σ.

    >>> alone = {i: 0, j: 0, d: 1}
    >>> sp.simplify(layer_norm_jacobian_entry().subs(alone).doit())
    0
    """
    sigma = deviation()
    unit = [(x[n] - mean()) / sigma for n in (i, j)]
    delta = sp.KroneckerDelta(i, j)
    return g[i] / sigma * (delta - 1 / d - unit[0] * unit[1] / d)


def radial_gain():
    """Return what RMSNorm's Jacobian does along x: ε/(mean(x²) + ε)/r.

    It is the factor in J x = factor · x at gain one, as ms and ε.

    >>> radial_gain()
    epsilon/(epsilon + ms)**(3/2)
    """
    ms = sp.Symbol("ms", positive=True)
    r = sp.sqrt(ms + epsilon)
    return sp.simplify((1 - ms / r**2) / r)  # x̂ᵀx̂/d = ms/(ms + ε)


def rms_norm(column, gain, eps=epsilon):
    """Return RMSNorm of an explicit column (d, 1), gain of one shape.

    >>> rms_norm(sp.Matrix([3, 4]), sp.Matrix([1, 1]), 0).T
    Matrix([[3*sqrt(2)/5, 4*sqrt(2)/5]])
    """
    r = sp.sqrt((column.T * column)[0] / column.rows + eps)
    return gain.multiply_elementwise(column) / r


def rms_norm_jacobian(column, gain, eps=epsilon):
    """Return diag(g) (I − x̂ x̂ᵀ/d)/r for an explicit column, (d, d).

    >>> rms_norm_jacobian(sp.Matrix([1, 1]), sp.ones(2, 1), 0)
    Matrix([
    [ 1/2, -1/2],
    [-1/2,  1/2]])
    """
    size = column.rows
    r = sp.sqrt((column.T * column)[0] / size + eps)
    unit = column / r
    return sp.diag(*gain) * (sp.eye(size) - unit * unit.T / size) / r


def layer_norm(column, gain, bias, eps=epsilon):
    """Return LayerNorm of an explicit column (d, 1).

    >>> layer_norm(sp.Matrix([1, 3]), sp.ones(2, 1), sp.zeros(2, 1), 0).T
    Matrix([[-1, 1]])
    """
    centred = column - sp.ones(column.rows, 1) * sum(column) / column.rows
    sigma = sp.sqrt((centred.T * centred)[0] / column.rows + eps)
    return gain.multiply_elementwise(centred) / sigma + bias


def layer_norm_jacobian(column, gain, eps=epsilon):
    """Return diag(g) (I − 1 1ᵀ/d − x̂ x̂ᵀ/d)/σ for an explicit column.

    >>> layer_norm_jacobian(sp.Matrix([0, 0, 3]), sp.ones(3, 1), 0).rank()
    1
    """
    size = column.rows
    ones = sp.ones(size, 1)
    centred = column - ones * sum(column) / size
    sigma = sp.sqrt((centred.T * centred)[0] / size + eps)
    unit = centred / sigma
    planes = sp.eye(size) - ones * ones.T / size - unit * unit.T / size
    return sp.diag(*gain) * planes / sigma


def _pull_out_constants(total):
    """Σ c f(k) = c Σ f(k), and Σ c = d c."""
    constant, rest = total.function.as_independent(k)
    return constant * (d if rest == 1 else sp.Sum(rest, *total.limits))


def _name_the_index(function, limits):
    """Write Σ x[k] as Σ x[m], so that equal sums look equal."""
    if function == x[k]:
        return sp.Sum(x[m], (m, 0, d - 1))
    return sp.Sum(function, limits)
