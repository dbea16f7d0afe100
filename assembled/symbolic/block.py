"""Residual blocks: their ordered products of Jacobians, and the paths.

Chapter: Pre-LN against Post-LN. Jacobians are columns (dx_out/dx_in), so
a later sublayer stands to the left. J_l is branch l's Jacobian, N_l that
of normalization l; neither commutes. Sublayers count from 1 to n.
"""

import sympy as sp

taken, norms = sp.symbols("b z")  # counters: branches taken, norms met
n = sp.Symbol("n", integer=True, nonnegative=True)
t = sp.Symbol("t", real=True)  # a scalar stream, to differentiate along


def branch_jacobian(l):
    """Return the noncommutative symbol J_l.

    >>> a, b = branch_jacobian(1), branch_jacobian(2)
    >>> a * b == b * a
    False
    """
    return sp.Symbol(f"J_{l}", commutative=False)


def norm_jacobian(l):
    """Return the noncommutative symbol N_l; N_f is the final norm's.

    >>> norm_jacobian(1)
    N_1
    """
    return sp.Symbol(f"N_{l}", commutative=False)


def block_derivative(placement):
    """Return dx_{l+1}/dx_l of one block, by SymPy's own chain rule.

    The stream is one number here, so every Jacobian is a derivative. F is
    the branch and N the normalization. `placement` is "pre" or "post".

    >>> block_derivative("pre")
    Derivative(F(N(t)), N(t))*Derivative(N(t), t) + 1
    """
    branch, norm = sp.Function("F"), sp.Function("N")
    block = {
        "post": norm(t + branch(t)),
        "pre": t + branch(norm(t)),
    }
    return block[_known(placement)].diff(t)


def block_jacobian(placement, l):
    """Return dx_{l+1}/dx_l: N_l (1 + J_l), or 1 + J_l N_l. 1 is I.

    >>> block_jacobian("post", 1), block_jacobian("pre", 1)
    (N_1*(1 + J_1), 1 + J_1*N_1)
    """
    J, N = branch_jacobian(l), norm_jacobian(l)
    return {"post": N * (1 + J), "pre": 1 + J * N}[_known(placement)]


def stack_jacobian(placement, depth, final_norm=True):
    """Return dx_out/dx_0 of `depth` sublayers, the last one leftmost.

    Pre-LN ends in a final norm N_f unless told otherwise; Post-LN already
    ends in one.

    >>> stack_jacobian("post", 2)
    N_2*(1 + J_2)*N_1*(1 + J_1)
    >>> stack_jacobian("pre", 2)
    N_f*(1 + J_2*N_2)*(1 + J_1*N_1)
    """
    product = sp.Integer(1)
    for l in range(1, depth + 1):
        product = block_jacobian(placement, l) * product
    ends_in_norm = placement == "pre" and final_norm
    return norm_jacobian("f") * product if ends_in_norm else product


def paths(product):
    """Return the terms of the expanded product, one a path.

    >>> paths(stack_jacobian("pre", 2, final_norm=False))
    (1, J_1*N_1, J_2*N_2, J_2*N_2*J_1*N_1)
    """
    terms = sp.Add.make_args(sp.expand(product))
    return tuple(sorted(terms, key=lambda p: (len(factors(p)), str(p))))


def factors(path):
    """Return the Jacobians of one path, last first; none for 1.

    >>> [factors(p) for p in paths(stack_jacobian("post", 1))]
    [[N_1], [N_1, J_1]]
    """
    return [f for f in sp.Mul.make_args(path) if f != 1]


def count_norms(path):
    """Count the normalization Jacobians on one path.

    >>> [count_norms(p) for p in paths(stack_jacobian("pre", 2))]
    [1, 2, 2, 3]
    """
    return sum(f.name.startswith("N") for f in factors(path))


def path_polynomial(placement, depth, final_norm=True):
    """Return Σ over paths of b^(branches taken) z^(norms met).

    Replacing every J by b and every N by z keeps sums and products, so
    the image of the ordered product counts its paths.

    >>> path_polynomial("pre", 2).expand()
    b**2*z**3 + 2*b*z**2 + z
    """
    product = stack_jacobian(placement, depth, final_norm)
    counter = {
        f: norms if f.name.startswith("N") else taken
        for f in product.free_symbols
    }
    return product.subs(counter)


def path_claim(placement, depth=n, final_norm=True):
    """Return the closed form of `path_polynomial`, for any depth.

    >>> path_claim("post"), path_claim("pre")
    (z**n*(b + 1)**n, z*(b*z + 1)**n)
    """
    if _known(placement) == "post":
        return norms**depth * (1 + taken) ** depth
    return (norms if final_norm else 1) * (1 + taken * norms) ** depth


def induction_step(placement):
    """Return both sides of the step: claim(n+1), and one more block.

    With the base, depth 0, that proves the claim for every depth.

    >>> induction_step("pre")
    (z*(b*z + 1)**(n + 1), z*(b*z + 1)*(b*z + 1)**n)
    """
    one = path_polynomial(placement, 1, final_norm=False)
    return path_claim(placement, n + 1), one * path_claim(placement)


def first_order_sum(depth):
    """Return 1 + Σ J_l, often printed for the product; it is not equal.

    >>> sp.expand(stack_jacobian("pre", 2, False) - first_order_sum(2))
    J_2*N_2*J_1*N_1
    """
    branches = (branch_jacobian(l) * norm_jacobian(l)
                for l in range(1, depth + 1))
    return 1 + sum(branches)


def _known(placement):
    if placement not in ("pre", "post"):
        raise ValueError(
            f'placement is {placement!r}; it must be "pre" or "post"'
        )
    return placement
