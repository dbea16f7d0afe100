"""SwiGLU: SiLU and its derivative, the gate's product rule, the width.

Chapter: Pre-LN against Post-LN (gains), SwiGLU. Axes: D, F. Rows times
weights, x @ W, as in the other faces; Jacobians are columns, dy_i/dx_j.
Source: Shazeer 2020, whose W, V, W2 are our gate, up and down.
"""

import sympy as sp

z = sp.Symbol("z", real=True)


def sigmoid(u=z):
    """Return σ(u) = 1/(1 + e^−u).

    >>> sigmoid(sp.log(3))
    3/4
    """
    return 1 / (1 + sp.exp(-u))


def silu(u=z):
    """Return SiLU(u) = u σ(u).

    >>> silu()
    z/(1 + exp(-z))
    """
    return u * sigmoid(u)


def silu_derivative(u=z):
    """Return σ(u) (1 + u (1 − σ(u))), the derivative in one σ.

    >>> silu_derivative().subs(z, 0)
    1/2
    """
    s = sigmoid(u)
    return s * (1 + u * (1 - s))


def silu_minimum():
    """Return (where, value) of SiLU's only minimum, by Lambert's W.

    The slope vanishes where e^−z = −1 − z; there SiLU is 1 + z.

    >>> [value.n(5) for value in silu_minimum()]
    [-1.2785, -0.27846]
    """
    where = -1 - sp.LambertW(sp.exp(-1))
    return where, 1 + where


def swiglu(row, w_gate, w_up, w_down):
    """Return (silu(x W_gate) ⊙ x W_up) W_down, a row (1, D).

    >>> one = sp.eye(1)
    >>> swiglu(sp.Matrix([[z]]), one, one, one)
    Matrix([[z**2/(1 + exp(-z))]])
    """
    gate = (row * w_gate).applyfunc(silu)
    return gate.multiply_elementwise(row * w_up) * w_down


def swiglu_jacobian(row, w_gate, w_up, w_down):
    """Return dy_i/dx_j (D, D) by the product rule: a gate and an up path.

    W_downᵀ [diag(silu′(gate) ⊙ up) W_gateᵀ + diag(silu(gate)) W_upᵀ].

    >>> one = sp.eye(1)
    >>> swiglu_jacobian(sp.Matrix([[0]]), one, one, one)
    Matrix([[0]])
    """
    gate, up = row * w_gate, row * w_up
    through_gate = gate.applyfunc(silu_derivative).multiply_elementwise(up)
    through_up = gate.applyfunc(silu)
    hidden = (sp.diag(*through_gate) * w_gate.T
              + sp.diag(*through_up) * w_up.T)
    return w_down.T * hidden


def swiglu_gradients(dy, row, w_gate, w_up, w_down):
    """Return (dx, dw_gate, dw_up, dw_down) for dy = dL/dy, a row (1, D).

    >>> one = sp.eye(1)
    >>> swiglu_gradients(one, sp.Matrix([[0]]), one, one, 3 * one)[0]
    Matrix([[0]])
    """
    gate, up = row * w_gate, row * w_up
    opened = gate.applyfunc(silu)
    dhidden = dy * w_down.T
    dup = dhidden.multiply_elementwise(opened)
    dgate = dhidden.multiply_elementwise(up).multiply_elementwise(
        gate.applyfunc(silu_derivative))
    dx = dgate * w_gate.T + dup * w_up.T
    hidden = opened.multiply_elementwise(up)
    return dx, row.T * dgate, row.T * dup, hidden.T * dy


def small_input(gate, up, scale):
    """Return the leading term of silu(scale·gate) · scale·up, in scale.

    >>> a, b, t = sp.symbols("a b t")
    >>> small_input(a, b, t)
    a*b*t**2/2
    """
    product = silu(scale * gate) * scale * up
    return sp.series(product, scale, 0, 3).removeO()


def matched_width(mlp_width=None):
    """Return the F at which SwiGLU has as many parameters as a plain MLP.

    A plain MLP has two matrices (D, mlp_width), SwiGLU three (D, F), so
    F = 2/3 mlp_width: 8/3 D for the usual mlp_width = 4 D.

    >>> D = sp.Symbol("D", positive=True)
    >>> matched_width(4 * D)
    8*D/3
    """
    D, F = sp.symbols("D F", positive=True)
    if mlp_width is None:
        mlp_width = sp.Symbol("F_mlp", positive=True)
    return sp.solve(sp.Eq(3 * D * F, 2 * D * mlp_width), F)[0]
