"""RoPE: rotations by position, and maps of their frequencies.

Chapter: RoPE. Axes: K head width, K/2 pairs. Positions m (query) and n
(key); pair i turns by m * theta_i, theta_i = base^(-2i/K), i from 0.
Sources: Su et al. 2021; the PI and YaRN papers; Llama 3's released code.
"""

from collections.abc import Sequence

import sympy as sp


def frequency(i: sp.Expr, d_k: sp.Expr, base: sp.Expr) -> sp.Expr:
    """theta_i = base^(-2i/K), radians per position, i = 0 ... K/2 - 1.

    >>> frequency(sp.Integer(1), sp.Integer(4), sp.Integer(10_000))
    1/100
    """
    return base ** (-2 * i / d_k)


def wavelength(theta: sp.Expr) -> sp.Expr:
    """Positions in one full turn: 2 pi / theta.

    >>> wavelength(sp.Rational(1, 100))
    200*pi
    """
    return 2 * sp.pi / theta


def rotation(angle: sp.Expr) -> sp.MatrixBase:
    """Turn a pair of channels by `angle` radians, counter-clockwise.

    >>> (rotation(sp.pi / 2) * sp.Matrix([1, 0])).T
    Matrix([[0, 1]])
    """
    c, s = sp.cos(angle), sp.sin(angle)
    return sp.Matrix([[c, -s], [s, c]])


def interleaved_to_half(d_k: int) -> sp.MatrixBase:
    """The permutation P, (K, K), that puts 0 1 2 3 ... as 0 2 ... 1 3 ...

    P x takes interleaved channels to half-split ones; P^T goes back.

    >>> (interleaved_to_half(4) * sp.Matrix([0, 1, 2, 3])).T
    Matrix([[0, 2, 1, 3]])
    """
    order = [*range(0, d_k, 2), *range(1, d_k, 2)]
    return sp.eye(d_k).extract(order, list(range(d_k)))


def rope_matrix(
    position: sp.Expr,
    thetas: Sequence[sp.Expr],
    pairing: str = "interleaved",
) -> sp.MatrixBase:
    """R(m), (K, K): pair i turned by m * theta_i; K = 2 len(thetas).

    "interleaved" pairs channels (2i, 2i+1): blocks on the diagonal.
    "half" pairs (i, i + K/2): the same matrix with its channels permuted.

    >>> rope_matrix(sp.pi / 2, [sp.Integer(1)], "half")
    Matrix([
    [0, -1],
    [1,  0]])
    """
    blocks = sp.diag(*(rotation(position * theta) for theta in thetas))
    if pairing == "interleaved":
        return blocks
    if pairing == "half":
        p = interleaved_to_half(2 * len(thetas))
        return p * blocks * p.T
    raise ValueError(
        f"pairing is {pairing!r}; it must be 'interleaved' or 'half'"
    )


def score(
    q: sp.MatrixBase,
    k: sp.MatrixBase,
    m: sp.Expr,
    n: sp.Expr,
    thetas: Sequence[sp.Expr],
    pairing: str = "interleaved",
) -> sp.Expr:
    """(R(m) q) . (R(n) k), before the division by sqrt(K); q, k (K, 1).

    >>> q, k = sp.Matrix([2, 0]), sp.Matrix([1, 0])
    >>> score(q, k, sp.Integer(5), sp.Integer(3), [sp.pi / 6])
    1
    """
    turned_q = rope_matrix(m, thetas, pairing) * q
    turned_k = rope_matrix(n, thetas, pairing) * k
    return turned_q.dot(turned_k)


def pair_score(
    q: sp.MatrixBase, k: sp.MatrixBase, distance: sp.Expr, theta: sp.Expr
) -> sp.Expr:
    """One pair's share of the score from the distance m - n; q, k (2, 1).

    (q . k) cos((m-n) theta) + (q_0 k_1 - q_1 k_0) sin((m-n) theta).

    >>> q, k = sp.Matrix([2, 0]), sp.Matrix([1, 0])
    >>> pair_score(q, k, sp.Integer(2), sp.pi / 6)
    1
    """
    angle = distance * theta
    cross = q[0] * k[1] - q[1] * k[0]
    return q.dot(k) * sp.cos(angle) + cross * sp.sin(angle)


def complex_pair_score(
    q: sp.MatrixBase, k: sp.MatrixBase, distance: sp.Expr, theta: sp.Expr
) -> sp.Expr:
    """The same share in complex numbers: Re(q conj(k) e^{i(m-n)theta}).

    >>> q, k = sp.Matrix([2, 0]), sp.Matrix([1, 0])
    >>> complex_pair_score(q, k, sp.Integer(2), sp.pi / 6)
    1
    """
    q_complex, k_complex = q[0] + sp.I * q[1], k[0] + sp.I * k[1]
    turn = sp.exp(sp.I * distance * theta)
    product = q_complex * sp.conjugate(k_complex) * turn
    return sp.re(sp.expand(product, complex=True))


def score_of_any_size(
    m: sp.Expr, n: sp.Expr
) -> tuple[sp.Sum, sp.Sum]:
    """The score over N pairs, N a symbol: as defined, and by m - n alone.

    Pair p holds q_{2p}, q_{2p+1} and turns by its own theta_p.

    >>> m, n = sp.symbols("m n", real=True)
    >>> defined, relative = score_of_any_size(m, n)
    >>> relative.limits == defined.limits, relative.limits
    (True, ((p, 0, N - 1),))
    """
    pair, count = sp.symbols("p N", integer=True, nonnegative=True)
    q, k, theta = (
        sp.IndexedBase(name, real=True) for name in ("q", "k", "theta")
    )
    q_pair = sp.Matrix([q[2 * pair], q[2 * pair + 1]])
    k_pair = sp.Matrix([k[2 * pair], k[2 * pair + 1]])
    defined = score(q_pair, k_pair, m, n, [theta[pair]])
    relative = pair_score(q_pair, k_pair, m - n, theta[pair])
    every_pair = (pair, 0, count - 1)
    return sp.Sum(defined, every_pair), sp.Sum(relative, every_pair)


def with_one_more_pair(
    m: sp.Expr, n: sp.Expr, theta: sp.Expr
) -> sp.BlockMatrix:
    """R(m)^T R(n) for N + 1 pairs, given A(m)^T A(n) = A(n-m) for N.

    A stands for the first N pairs, (2N, 2N), with N a symbol.

    >>> m, n, theta = sp.symbols("m n theta", real=True)
    >>> with_one_more_pair(m, n, theta).blocks[0, 0]
    A(n-m)
    """
    pairs = sp.Symbol("N", integer=True, positive=True)
    at_m, at_n, at_difference = (
        sp.MatrixSymbol(f"A({where})", 2 * pairs, 2 * pairs)
        for where in ("m", "n", "n-m")
    )
    right, below = sp.ZeroMatrix(2 * pairs, 2), sp.ZeroMatrix(2, 2 * pairs)

    def grown(first: sp.MatrixExpr, angle: sp.Expr) -> sp.BlockMatrix:
        last = sp.ImmutableMatrix(rotation(angle))
        return sp.BlockMatrix([[first, right], [below, last]])

    product = sp.block_collapse(
        grown(at_m, m * theta).T * grown(at_n, n * theta)
    )
    old = product.blocks[0, 0].subs(at_m.T * at_n, at_difference)
    new = sp.ImmutableMatrix(sp.simplify(product.blocks[1, 1].doit()))
    return sp.BlockMatrix([[old, product.blocks[0, 1]],
                           [product.blocks[1, 0], new]])


# Maps of frequencies for contexts longer than the trained one.


def interpolate(theta: sp.Expr, factor: sp.Expr) -> sp.Expr:
    """Position interpolation: m -> m/factor, that is theta -> theta/factor.

    >>> interpolate(sp.Rational(1, 100), sp.Integer(4))
    1/400
    """
    return theta / factor


def ntk_aware_base(
    base: sp.Expr, factor: sp.Expr, d_k: sp.Expr
) -> sp.Expr:
    """base * factor^(K/(K-2)): slowest pair / factor, fastest unchanged.

    >>> ntk_aware_base(sp.Integer(10), sp.Integer(4), sp.Integer(4))
    160
    """
    return base * factor ** (d_k / (d_k - 2))


def by_parts(
    theta: sp.Expr,
    factor: sp.Expr,
    old_context: sp.Expr,
    low: sp.Expr,
    high: sp.Expr,
) -> sp.Expr:
    """Blend by turns r in the old context: r < low / factor, r > high kept.

    YaRN's paper: low 1, high 32, ramp linear in r. (Released YaRN code
    ramps over the pair index instead, which is another function.)

    >>> theta = 2 * sp.pi / 16  # a turn takes 16 positions
    >>> factor, L, low, high = map(sp.Integer, (8, 40, 1, 4))
    >>> by_parts(theta, factor, L, low, high) / theta  # 2.5 turns in L
    9/16
    """
    turns = old_context / wavelength(theta)
    ramp = (turns - low) / (high - low)
    keep = sp.Max(0, sp.Min(1, ramp))
    return keep * theta + (1 - keep) * theta / factor


def llama3(
    theta: sp.Expr,
    factor: sp.Expr,
    old_context: sp.Expr,
    low: sp.Expr,
    high: sp.Expr,
) -> sp.Expr:
    """The map of Llama 3.1's released code, case by case on wavelength.

    Its numbers: factor 8, old context 8192, low 1, high 4.

    >>> theta = 2 * sp.pi / 16  # a turn takes 16 positions
    >>> factor, L, low, high = map(sp.Integer, (8, 40, 1, 4))
    >>> llama3(theta, factor, L, low, high) / theta  # 2.5 turns in L
    9/16
    """
    turn = wavelength(theta)
    smooth = (old_context / turn - low) / (high - low)
    blend = (1 - smooth) * theta / factor + smooth * theta
    return sp.Piecewise(
        (theta, turn < old_context / high),
        (theta / factor, turn > old_context / low),
        (blend, True),
    )


def yarn_score_scale(factor: sp.Expr) -> sp.Expr:
    """YaRN multiplies q and k each by 0.1 ln(factor) + 1.

    >>> yarn_score_scale(sp.Integer(16)).n(6)
    1.27726
    """
    return sp.log(factor) / 10 + 1
