"""Depth: what two gains of a branch predict for a whole stack's gradient.

Chapter: Pre-LN against Post-LN. For a branch f of random weights on input
of unit mean square: chi_f = E f², chi_J = E‖J_fᵀ v‖²/‖v‖². Gradient
factors are of the norm, first over last, through n sublayers.
"""

import sympy as sp

from assembled.symbolic import swiglu

chi_f, chi_J = sp.symbols("chi_f chi_J", positive=True)
n, l = sp.symbols("n l", integer=True, nonnegative=True)
z = swiglu.z


def gaussian_mean(expression):
    """Return E[expression] over z ~ N(0, 1), exact where SymPy can.

    An integrand that holds an exponential stays an integral; `.evalf(30)`
    gives its value to 30 digits.

    >>> gaussian_mean(z**4)
    3
    """
    density = sp.exp(-(z**2) / 2) / sp.sqrt(2 * sp.pi)
    integral = sp.Integral(expression * density, (z, -sp.oo, sp.oo))
    return integral if expression.has(sp.exp) else integral.doit()


def mlp_gains(phi):
    """Return (chi_f, chi_J) = (E φ², E φ′²) of a plain MLP.

    Its weights have variance 1/D in and 1/F out.

    >>> mlp_gains(z), mlp_gains(sp.Max(z, 0))
    ((1, 1), (1/2, 1/2))
    """
    return gaussian_mean(phi**2), gaussian_mean(sp.diff(phi, z) ** 2)


def swiglu_gains():
    """Return (chi_f, chi_J) = (E silu², E silu² + E silu′²) of SwiGLU.

    Up has unit mean square, so E (silu(gate) up)² = E silu². The gate
    path carries silu′(gate) up, the up path silu(gate).

    >>> [round(gain.evalf(8), 4) for gain in swiglu_gains()]
    [0.3558, 0.7353]
    """
    up_path = gaussian_mean(swiglu.silu() ** 2)
    gate_path = gaussian_mean(swiglu.silu_derivative() ** 2)
    return up_path, up_path + gate_path


def post_ln_factor(f=chi_f, J=chi_J):
    """Return the gradient's factor per Post-LN sublayer, toward the input.

    >>> post_ln_factor()
    sqrt(chi_J + 1)/sqrt(chi_f + 1)
    """
    return sp.sqrt(1 + J) / sp.sqrt(1 + f)


def pre_ln_factor(l, f=chi_f, J=chi_J):
    """Return the factor of Pre-LN's sublayer l = 0, 1, ….

    Below it the stream has mean square 1 + l χ_f, and its norm divides
    the branch's Jacobian by the root of that.

    >>> pre_ln_factor(l)
    sqrt(chi_J/(chi_f*l + 1) + 1)
    """
    return sp.sqrt(1 + J / (1 + l * f))


def pre_ln_total(depth=n, f=chi_f, J=chi_J):
    """Return ∏ pre_ln_factor over l < depth: a ratio of Γ functions.

    It grows as depth^(χ_J/2χ_f), a power of the depth.

    >>> sp.simplify(sp.gammasimp(pre_ln_total(n, 1, 1)))
    sqrt(n + 1)
    """
    f, J = sp.sympify(f), sp.sympify(J)
    above, below = (1 + J) / f, 1 / f
    square = sp.rf(above, depth) / sp.rf(below, depth)
    return sp.sqrt(square.rewrite(sp.gamma))


def pre_ln_exponent(f=chi_f, J=chi_J):
    """Return the power of the depth that `pre_ln_total` grows with.

    >>> pre_ln_exponent(1, 1)
    1/2
    """
    return sp.sympify(J) / (2 * f)


def drift_step(placement, l, p, f=chi_f, J=chi_J):
    """Return the output's relative squared drift above sublayer l.

    p is the drift below it, in units of δ², when noise of relative size δ
    moves every weight. A sublayer carries p as it carries a gradient, and
    its own weights add (f + J).

    >>> drift_step("post", 0, 0)
    (chi_J + chi_f)/(chi_f + 1)
    """
    size = {"pre": 1 + l * f, "post": 1}[placement]  # the stream's, below
    return (p * (size + J) + f + J) / (size + f)


def drift_square(placement, depth, f=chi_f, J=chi_J):
    """Return `drift_step` applied `depth` times, from drift zero.

    >>> [drift_square("post", depth, 1, 1) for depth in (1, 2, 3)]
    [1, 2, 3]
    """
    p = sp.Integer(0)
    for l in range(depth):
        p = drift_step(placement, l, p, f, J)
    return p
