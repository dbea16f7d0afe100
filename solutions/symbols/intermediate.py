# %% [markdown]
# # Symbols · intermediate: rotations, backward passes, depth
#
# Five exercises, about 90 minutes, 27 points. They go with the chapters
# *RoPE*, *Normalization* and *Pre-LN against Post-LN*.
#
# Run the cells from the top. Write where a cell says `YOUR CODE HERE` or
# `YOUR ANSWER HERE`, in place of the line `raise NotImplementedError()`,
# then run the check below it. The checks you see look at small cases, most
# of them to six digits. Grading tries other inputs as well, to the accuracy
# that the exercise states: write functions that use their arguments, not
# numbers read off the small case. Where the answer is a SymPy expression,
# use SymPy's functions: `sp.sqrt` and `sp.exp` take symbols, `np.sqrt` and
# `np.exp` do not; for every entry of a matrix, `z.applyfunc(sp.exp)`. Cells
# that are not yours to fill are locked; add cells of your own wherever you
# like.
#
# When you are done, download the notebook (in Colab: File, Download,
# Download .ipynb) and hand in that file.

# %% nbgrader={"grade_id": "setup", "locked": true}
import numpy as np
import sympy as sp

# %% nbgrader={"grade_id": "checks", "locked": true}
from autograder.checks import (
    Mistake,
    check_array,
    check_expression,
    check_function,
    check_rng,
    check_tuple,
)

# %% [markdown]
# ## 1 · A score that knows only the distance
#
# *Intermediate · 7 points · 25 minutes · chapter "RoPE"*
#
# RoPE turns a query $q$ at position $m$ and a key $k$ at position $n$,
# then takes their dot product. Here the pairing is *interleaved*: with
# $K$ channels, pair $i$ holds the channels $2i$ and $2i+1$, counted from
# 0, for $i=0,\dots,K/2-1$. Its angle at position $m$ is
# $m\,\theta_i$ with $\theta_i=\text{base}^{-2i/K}$, and the turn is
# counterclockwise:
# $$(a,b)\ \mapsto\ (a\cos m\theta_i-b\sin m\theta_i,\;
#   a\sin m\theta_i+b\cos m\theta_i).$$
#
# Show that the score depends on $m-n$ alone, in two steps:
#
# - `rotated_score(q, k, m, n, base)` follows the definition: turn `q` by
#   its angles at `m`, `k` by its angles at `n`, and return the dot product.
# - `relative_score(q, k, delta, base)` returns the same score, written in
#   `delta` $=m-n$. It never sees `m` or `n`: that is the proof. So write
#   the cosines and sines out. `rotated_score(q, k, delta, 0, base)` has
#   the right value, and the grading takes it, but it proves nothing: it
#   uses what you are to show.
#
# In both, `q` and `k` are tuples of $K$ SymPy symbols or numbers ($K$ is
# even), and `m`, `n`, `delta` and `base` are SymPy symbols or numbers. Both
# return a SymPy expression; any equivalent form is right. There is no
# scaling by $1/\sqrt K$.
#
# A small case: for `q = (1, 0, 1, 0)` and `k = (1, 2, 3, 4)`,
# `relative_score` is `cos(delta) + 2*sin(delta)` from the first pair, plus
# `3*cos(delta/sqrt(base)) + 4*sin(delta/sqrt(base))` from the second.
#
# <details><summary>Hint</summary>
#
# One pair at a time: collect the terms of the dot product that multiply
# $\cos m\theta\cos n\theta$ and so on, then use the addition formulas.
#
# </details>

# %% nbgrader={"grade_id": "relative-score", "solution": true}
def rotated_score(q, k, m, n, base):
    """Return the dot product of q turned at m and k turned at n."""
    ### BEGIN SOLUTION
    def turned(x, position):
        out = []
        for i in range(0, len(x), 2):
            angle = position * base ** (-sp.Rational(i, len(x)))
            c, s = sp.cos(angle), sp.sin(angle)
            out += [x[i] * c - x[i + 1] * s, x[i] * s + x[i + 1] * c]
        return out

    pairs = zip(turned(q, m), turned(k, n), strict=True)
    return sum(a * b for a, b in pairs)
    ### END SOLUTION


def relative_score(q, k, delta, base):
    """Return the same score as an expression in delta = m - n."""
    ### BEGIN SOLUTION
    score = sp.Integer(0)
    for i in range(0, len(q), 2):
        angle = delta * base ** (-sp.Rational(i, len(q)))
        inner = q[i] * k[i] + q[i + 1] * k[i + 1]
        cross = q[i] * k[i + 1] - q[i + 1] * k[i]
        score += inner * sp.cos(angle) + cross * sp.sin(angle)
    return score
    ### END SOLUTION

# %% nbgrader={"grade_id": "relative-score-check", "grade": true, "points": 1}
# Check, 1 point: the small case, two pairs.
check_function("rotated_score", globals())
check_function("relative_score", globals())
m, n, delta = sp.symbols("m n delta", real=True)
base = sp.symbols("base", positive=True)
q, k = map(sp.sympify, ((1, 0, 1, 0), (1, 2, 3, 4)))
theta_1 = 1 / sp.sqrt(base)  # the second pair's frequency


def small_score(a, b, cos=1, sin=1):
    """Return the score where the two pairs turn by a and by b."""
    even, odd = sp.cos(a) + 3 * sp.cos(b), 2 * sp.sin(a) + 4 * sp.sin(b)
    return cos * even + sin * odd


def small_score_mistakes(turn):
    """Return the scores of some wrong frequencies, each with its name."""
    return [
        (small_score(turn, turn), "every pair turns with frequency 1; pair "
         "i has frequency base**(-2i/K)."),
        (small_score(turn, turn * base ** sp.Rational(-1, 4)), "the exponent "
         "of base is half of -2i/K."),
        (small_score(turn, turn / base), "the exponent of base is twice "
         "-2i/K: i counts pairs, not channels."),
        (small_score(turn, turn * sp.sqrt(base)), "the exponent of base has "
         "the wrong sign."),
        (small_score(turn * theta_1, turn / base), "the pairs are counted "
         "from 0, so the first has frequency 1."),
        (4 * sp.cos(turn) + 2 * sp.sin(turn), "this pairs channel i with "
         "i + K/2; the exercise pairs 2i with 2i + 1."),
        (sp.cos(turn) + 2 * sp.sin(turn), "only the first pair "
         "contributes."),
        (4, "nothing is turned."),
    ]


check_expression(
    relative_score(q, k, delta, base),
    small_score(delta, delta * theta_1),
    "relative_score of the small case",
    mistakes=[
        (small_score(-delta, -delta * theta_1), "the sine has the wrong sign: "
         "for delta = m - n > 0 the query is turned further than the key."),
        (small_score(delta, delta * theta_1, sin=0), "the sine term is "
         "missing: q and k need not be parallel."),
        (small_score(delta, delta * theta_1, cos=0), "the cosine term is "
         "missing."),
        *small_score_mistakes(delta),
    ],
)
check_expression(
    rotated_score(q, k, m, n, base),
    small_score(m - n, (m - n) * theta_1),
    "rotated_score of the small case",
    mistakes=[
        (small_score(n - m, (n - m) * theta_1), "both vectors turn clockwise; "
         "check the signs of the two sines."),
        (small_score(m + n, (m + n) * theta_1), "one of the two vectors turns "
         "the wrong way: this depends on m + n."),
        *small_score_mistakes(m - n),
    ],
)

# %% nbgrader={"grade_id": "rotated-score-graded", "grade": true, "points": 2}
# Grading, 2 points: the definition, for 2, 4 and 6 channels.
### BEGIN HIDDEN TESTS
m, n = sp.symbols("m n", real=True)
base = sp.symbols("base", positive=True)


def score(q, k, q_turn, k_turn, exponent):
    """Sum over pairs; the turns are in units of base**exponent."""
    total = sp.Integer(0)
    for i in range(len(q) // 2):
        angle = (q_turn - k_turn) * base ** exponent(i, len(q))
        a, b, c, d = *q[2 * i: 2 * i + 2], *k[2 * i: 2 * i + 2]
        total += (a * c + b * d) * sp.cos(angle)
        total += (a * d - b * c) * sp.sin(angle)
    return total


def angle_index(i, K):
    """Return the exponent that the exercise states."""
    return -sp.Rational(2 * i, K)


for K in (2, 4, 6):
    q = sp.symbols(f"q:{K}", real=True)
    k = sp.symbols(f"k:{K}", real=True)
    half = [j for i in range(K // 2) for j in (i, i + K // 2)]
    q_half, k_half = [q[j] for j in half], [k[j] for j in half]
    check_expression(
        rotated_score(q, k, m, n, base),
        score(q, k, m, n, angle_index),
        f"rotated_score with {K} channels",
        symbols=(*q, *k, m, n, base),
        mistakes=[
            (score(q, k, n, m, angle_index), "both vectors turn clockwise; "
             "check the signs of the two sines."),
            (score(q, k, m, -n, angle_index), "one of the two vectors turns "
             "the wrong way: this depends on m + n."),
            (score(q, k, m, n, lambda i, K: -sp.Rational(i, K)),
             "the exponent of base is half of -2i/K."),
            (score(q, k, m, n, lambda i, K: -sp.Rational(2 * i + 2, K)),
             "the pairs are counted from 0, so the first has frequency 1."),
            (score(q, k, m, n, lambda i, K: 0), "every pair turns with "
             "frequency 1; pair i has frequency base**(-2i/K)."),
            (score(q, k, m, n, lambda i, K: sp.Rational(2 * i, K)),
             "the exponent of base has the wrong sign."),
            (score(q, k, m, n, lambda i, K: -sp.Rational(4 * i, K)),
             "the exponent of base is twice -2i/K: i counts pairs, not "
             "channels."),
            (score(q_half, k_half, m, n, angle_index), "this pairs channel "
             "i with i + K/2; the exercise pairs 2i with 2i + 1."),
            (score(q[:2], k[:2], m, n, lambda i, K: 0), "only the first "
             "pair contributes."),
            (sum(a * b for a, b in zip(q, k, strict=True)), "nothing is "
             "turned."),
        ],
    )
### END HIDDEN TESTS

# %% nbgrader={"grade_id": "relative-score-graded", "grade": true, "points": 4}
# Grading, 4 points: the relative form, for 2, 4 and 6 channels.
### BEGIN HIDDEN TESTS
delta = sp.symbols("delta", real=True)
base = sp.symbols("base", positive=True)


def form(q, k, exponent=lambda i, K: -sp.Rational(2 * i, K), sign=1,
         inner=1, cross=1):
    """Sum over pairs, with what can go wrong as a parameter."""
    total = sp.Integer(0)
    for i in range(len(q) // 2):
        angle = sign * delta * base ** exponent(i, len(q))
        a, b, c, d = *q[2 * i: 2 * i + 2], *k[2 * i: 2 * i + 2]
        total += inner * (a * c + b * d) * sp.cos(angle)
        total += cross * (a * d - b * c) * sp.sin(angle)
    return total


for K in (2, 4, 6):
    q = sp.symbols(f"q:{K}", real=True)
    k = sp.symbols(f"k:{K}", real=True)
    half = [j for i in range(K // 2) for j in (i, i + K // 2)]
    q_half, k_half = [q[j] for j in half], [k[j] for j in half]
    check_expression(
        relative_score(q, k, delta, base),
        form(q, k),
        f"relative_score with {K} channels",
        symbols=(*q, *k, delta, base),
        mistakes=[
            (form(q, k, cross=0), "the sine term is missing: q and k need "
             "not be parallel."),
            (form(q, k, inner=0), "the cosine term is missing."),
            (form(q, k, sign=-1), "the sine term has the wrong sign; delta "
             "is m - n, not n - m."),
            (form(q, k, lambda i, K: -sp.Rational(i, K)),
             "the exponent of base is half of -2i/K."),
            (form(q, k, lambda i, K: -sp.Rational(2 * i + 2, K)),
             "the pairs are counted from 0, so the first has frequency 1."),
            (form(q, k, lambda i, K: 0), "every pair turns with frequency "
             "1; pair i has frequency base**(-2i/K)."),
            (form(q, k, lambda i, K: sp.Rational(2 * i, K)),
             "the exponent of base has the wrong sign."),
            (form(q, k, lambda i, K: -sp.Rational(4 * i, K)),
             "the exponent of base is twice -2i/K: i counts pairs, not "
             "channels."),
            (form(q_half, k_half), "this pairs channel i with i + K/2; the "
             "exercise pairs 2i with 2i + 1."),
            (form(q[:2], k[:2], lambda i, K: 0), "only the first pair "
             "contributes."),
            (sum(a * b for a, b in zip(q, k, strict=True)), "nothing is "
             "turned."),
        ],
    )
### END HIDDEN TESTS

# %% [markdown]
# ## 2 · The rotation, in both pairings
#
# *Intermediate · 5 points · 20 minutes · chapter "RoPE"*
#
# Two layouts of the same idea are in use. *Interleaved* turns the channels
# $2i$ and $2i+1$ together; *half* turns $i$ and $i+K/2$ together. In
# both, $i=0,\dots,K/2-1$, the angle at position $m$ is
# $m\cdot\text{base}^{-2i/K}$, and the first channel of a pair plays the
# part of $a$ in $(a\cos-b\sin,\ a\sin+b\cos)$.
#
# Write `rotate(x, positions, base, pairing)` in NumPy.
#
# - `x`: a float64 array of shape `(T, K)`, $K$ even; `positions`: an
#   integer array of shape `(T,)`, in any order, not always from 0;
#   `base`: a float; `pairing`: `"interleaved"` or `"half"`.
# - Returns a new float64 array of shape `(T, K)`, channels in the order of
#   `x`, right to a relative error of $10^{-9}$.
#
# A small case: with base 10000, `x = [[1, 2, 3, 4]]` at position 1 becomes
# `[[-1.1426, 1.9221, 2.9599, 4.0298]]` interleaved and
# `[[-1.9841, 1.9599, 2.4624, 4.0198]]` half (rounded here).
#
# <details><summary>Hint</summary>
#
# Compute the cosines and sines once, with shape `(T, K/2)`. The two
# pairings differ only in how you take the pairs out of `x` and put them
# back.
#
# </details>

# %% nbgrader={"grade_id": "rotate", "solution": true}
def rotate(x, positions, base, pairing):
    """Return x (T, K), turned by RoPE at the positions (T,)."""
    ### BEGIN SOLUTION
    K = x.shape[1]
    frequencies = float(base) ** (-np.arange(0, K, 2) / K)
    angles = positions[:, None] * frequencies
    cos, sin = np.cos(angles), np.sin(angles)
    out = np.empty_like(x)
    if pairing == "half":
        first, second = slice(0, K // 2), slice(K // 2, K)
    else:
        first, second = slice(0, K, 2), slice(1, K, 2)
    out[:, first] = x[:, first] * cos - x[:, second] * sin
    out[:, second] = x[:, first] * sin + x[:, second] * cos
    return out
    ### END SOLUTION

# %% nbgrader={"grade_id": "rotate-check", "grade": true, "points": 1}
# Check, 1 point: the small case, in both pairings.
check_function("rotate", globals())
x = np.array([[1.0, 2.0, 3.0, 4.0]])
clockwise = "the turn goes the wrong way; check the signs of the two sines."
still = ("this leaves it where it was, but it stands at position 1, as "
         "`positions` says.")
keep = ("the second channel of a pair is computed from the first after "
        "that was turned; keep the old one.")
half_exponent = "the exponent of base is half of -2i/K."
from_one = "the pairs are counted from 0, so the first has frequency 1."
one_frequency = "every pair turns with frequency 1."
small_interleaved = [[-1.1426396637, 1.9220755965, 2.9598506679, 4.0297995017]]
small_half = [[-1.9841106486, 1.9599006675, 2.4623779024, 4.0197996683]]
check_array(
    rotate(x.copy(), np.array([1]), 10_000.0, "interleaved"),
    np.array(small_interleaved),
    "rotate of the small case, interleaved",
    mistakes=[
        (small_half, "this is the pairing 'half'."),
        (x, still),
        ([[2.2232442755, 0.2391336269, 3.0398493346, 3.9698005017]],
         clockwise),
        ([[-1.1426396637, 0.1191064886, 2.9598506679, 4.0293980150]], keep),
        ([[-1.1426396637, 1.9220755965, 2.5856788292, 4.2795169111]],
         half_exponent),
        ([[0.9799503337, 2.0098998342, 2.9995999850, 4.0002999800]],
         from_one),
        ([[-1.1426396637, 1.9220755965, -1.7449770216, 4.6856221779]],
         one_frequency),
        ([[-1.1426396637, 2.9598506679, 1.9220755965, 4.0297995017]],
         "the channels come back in another order: pair i belongs at 2i, "
         "2i + 1."),
    ],
)
check_array(
    rotate(x.copy(), np.array([1]), 10_000.0, "half"),
    np.array(small_half),
    "rotate of the small case, half",
    mistakes=[
        (small_interleaved, "this is the pairing 'interleaved'."),
        (x, still),
        ([[3.0647152603, 2.0398993342, 0.7794359328, 3.9798003350]],
         clockwise),
        ([[-1.9841106486, 1.9599006675, -0.0486646238, 4.0193986817]], keep),
        ([[-1.9841106486, 1.5906746640, 2.4623779024, 4.1796834944]],
         half_exponent),
        ([[0.9699505004, 1.9995999900, 3.0098498346, 4.0001999800]],
         from_one),
        ([[-1.9841106486, -2.2852793275, 2.4623779024, 3.8441511931]],
         one_frequency),
        ([[-1.9841106486, 2.4623779024, 1.9599006675, 4.0197996683]],
         "the channels come back in another order: pair i belongs at i, "
         "i + K/2."),
    ],
)

# %% nbgrader={"grade_id": "rotate-interleaved-graded", "grade": true, "points": 2}
# Grading, 2 points: interleaved, several positions and bases.
### BEGIN HIDDEN TESTS
rng = check_rng()


def turned(x, positions, exponent, sign=1):
    """Turn interleaved pairs; what can go wrong is a parameter."""
    K = x.shape[1]
    angles = positions[:, None] * base ** exponent(np.arange(K // 2), K)
    z = (x[:, ::2] + 1j * x[:, 1::2]) * np.exp(1j * sign * angles)
    return np.stack([z.real, z.imag], -1).reshape(x.shape)


def stated(i, K):
    """Return the exponent that the exercise states."""
    return -2 * i / K


for T, K, base in ((3, 4, 100.0), (5, 6, 10_000.0)):
    x = rng.normal(size=(T, K))
    at = rng.permutation(np.arange(7, 7 + 13 * T, 13))
    to_half = [j for i in range(K // 2) for j in (i, i + K // 2)]
    back = np.argsort(to_half)
    right = turned(x, at, stated)
    angles = at[:, None] * base ** stated(np.arange(K // 2), K)
    reread = right.copy()
    reread[:, 1::2] = right[:, ::2] * np.sin(angles)
    reread[:, 1::2] += x[:, 1::2] * np.cos(angles)
    check_array(
        rotate(x.copy(), at.copy(), base, "interleaved"),
        right,
        "rotate, interleaved",
        rtol=1e-9,
        dtype=np.float64,
        mistakes=[
            (turned(x[:, to_half], at, stated)[:, back], "this is the "
             "pairing 'half'."),
            (turned(x, at, stated, sign=-1), "the turn goes the wrong way; "
             "check the signs of the two sines."),
            (turned(x, np.arange(T), stated), "it turns row t by t; the "
             "position of row t is positions[t]."),
            (turned(x, at + 1, stated), "the positions are off by one."),
            (turned(x, at - 1, stated), "the positions are off by one."),
            (turned(x, at - at.min(), stated), "the positions are counted "
             "from the first one; use them as they are."),
            (turned(x, at, lambda i, K: -i / K), "the exponent of base is "
             "half of -2i/K."),
            (turned(x, at, lambda i, K: -2 * (i + 1) / K), "the pairs are "
             "counted from 0, so the first has frequency 1."),
            (turned(x, at, lambda i, K: 0.0 * i), "every pair turns with "
             "frequency 1."),
            (turned(x, at, lambda i, K: 2 * i / K), "the exponent of base "
             "has the wrong sign."),
            (reread, "the second channel of a pair is computed from the "
             "first after that was turned; keep the old one."),
            (right[:, [*range(0, K, 2), *range(1, K, 2)]], "the channels "
             "come back in another order: pair i belongs at 2i, 2i + 1."),
        ],
    )
### END HIDDEN TESTS

# %% nbgrader={"grade_id": "rotate-half-graded", "grade": true, "points": 2}
# Grading, 2 points: half, several positions and bases.
### BEGIN HIDDEN TESTS
rng = check_rng()


def halves(x, positions, exponent, sign=1):
    """Turn (i, i + K/2) pairs; what can go wrong is a parameter."""
    K = x.shape[1]
    angles = positions[:, None] * base ** exponent(np.arange(K // 2), K)
    z = (x[:, : K // 2] + 1j * x[:, K // 2:]) * np.exp(1j * sign * angles)
    return np.concatenate([z.real, z.imag], -1)


def stated(i, K):
    """Return the exponent that the exercise states."""
    return -2 * i / K


for T, K, base in ((3, 4, 100.0), (5, 6, 10_000.0)):
    x = rng.normal(size=(T, K))
    at = rng.permutation(np.arange(7, 7 + 13 * T, 13))
    to_half = [j for i in range(K // 2) for j in (i, i + K // 2)]
    split = [*range(0, K, 2), *range(1, K, 2)]
    right = halves(x, at, stated)
    angles = at[:, None] * base ** stated(np.arange(K // 2), K)
    again = right[:, : K // 2] * np.sin(angles)
    again += x[:, K // 2:] * np.cos(angles)
    reread = np.concatenate([right[:, : K // 2], again], -1)
    as_pairs = halves(x[:, split], at, stated)[:, np.argsort(split)]
    check_array(
        rotate(x.copy(), at.copy(), base, "half"),
        right,
        "rotate, half",
        rtol=1e-9,
        dtype=np.float64,
        mistakes=[
            (as_pairs, "this is the pairing 'interleaved'."),
            (halves(x, at, stated, sign=-1), "the turn goes the wrong way; "
             "check the signs of the two sines."),
            (halves(x, np.arange(T), stated), "it turns row t by t; the "
             "position of row t is positions[t]."),
            (halves(x, at + 1, stated), "the positions are off by one."),
            (halves(x, at - 1, stated), "the positions are off by one."),
            (halves(x, at - at.min(), stated), "the positions are counted "
             "from the first one; use them as they are."),
            (halves(x, at, lambda i, K: -i / K), "the exponent of base is "
             "half of -2i/K."),
            (halves(x, at, lambda i, K: -2 * (i + 1) / K), "the pairs are "
             "counted from 0, so the first has frequency 1."),
            (halves(x, at, lambda i, K: 0.0 * i), "every pair turns with "
             "frequency 1."),
            (halves(x, at, lambda i, K: 2 * i / K), "the exponent of base "
             "has the wrong sign."),
            (reread, "the second channel of a pair is computed from the "
             "first after that was turned; keep the old one."),
            (right[:, to_half], "the channels come back in another order: "
             "pair i belongs at i, i + K/2."),
        ],
    )
### END HIDDEN TESTS

# %% [markdown]
# ## 3 · LayerNorm, backward
#
# *Intermediate · 6 points · 20 minutes · chapter "Normalization"*
#
# LayerNorm treats each row of `x` by itself. With the row's mean $\mu$ and
# its variance $\sigma^2=\tfrac1D\sum_k(x_k-\mu)^2$,
# $$\hat x_i=\frac{x_i-\mu}{\sqrt{\sigma^2+\varepsilon}},\qquad
#   y_i=g_i\,\hat x_i+b_i .$$
#
# A loss $\mathcal L$ depends on all the $y$. Given
# $\mathrm dy=\partial\mathcal L/\partial y$, write
# `layer_norm_backward(dy, x, gain, eps)`, which returns the gradients
# `(dx, dgain, dbias)`.
#
# - `dy`, `x`: float64 arrays of shape `(T, D)`; `gain`: shape `(D,)`;
#   `eps`: a float ≥ 0.
# - `dx` has shape `(T, D)`, `dgain` and `dbias` have shape `(D,)`: the gain
#   and the bias are shared by all rows. Each is right to a relative error
#   of $10^{-6}$.
#
# A small case: `x = [[0, 3, 6], [1, 2, 3]]`, `gain = [1, 2, 3]`,
# `eps = 0.25` and `dy = [[0, 0, 1], [0, 0, 0]]` give
# `dx = [[0.176, -0.4, 0.224], [0, 0, 0]]`, `dgain = [0, 0, 1.2]` and
# `dbias = [0, 0, 1]`.
#
# <details><summary>Hint</summary>
#
# Moving every $x_i$ of a row by the same amount changes nothing, and
# with ε = 0 neither does stretching the row about its mean. So `dx` is
# orthogonal to two directions.
#
# </details>

# %% nbgrader={"grade_id": "layer-norm-backward", "solution": true}
def layer_norm_backward(dy, x, gain, eps):
    """Return (dx, dgain, dbias), of shapes (T, D), (D,) and (D,)."""
    ### BEGIN SOLUTION
    centred = x - x.mean(-1, keepdims=True)
    std = np.sqrt((centred**2).mean(-1, keepdims=True) + eps)
    x_hat = centred / std
    dx_hat = dy * gain
    along_one = dx_hat.mean(-1, keepdims=True)
    along_x = x_hat * (dx_hat * x_hat).mean(-1, keepdims=True)
    dx = (dx_hat - along_one - along_x) / std
    return dx, (dy * x_hat).sum(0), dy.sum(0)
    ### END SOLUTION

# %% nbgrader={"grade_id": "layer-norm-backward-check", "grade": true, "points": 1}
# Check, 1 point: the small case.
check_function("layer_norm_backward", globals())
grads = layer_norm_backward(
    np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]),
    np.array([[0.0, 3.0, 6.0], [1.0, 2.0, 3.0]]),
    np.array([1.0, 2.0, 3.0]),
    0.25,
)
check_tuple(grads, ("dx", "dgain", "dbias"), "layer_norm_backward(...)")


def small_dx(*first):
    """Return dx: the second row has no dy, and so no dx."""
    return np.array([first, (0.0, 0.0, 0.0)])


check_array(
    grads[0], small_dx(0.176, -0.4, 0.224), "dx of the small case",
    mistakes=[
        (small_dx(0.0, 0.0, 1.2), "this holds the mean and the variance "
         "fixed, but both depend on x."),
        (small_dx(-0.4, -0.4, 0.8), "the variance is held fixed, but it "
         "depends on x."),
        (small_dx(0.576, 0.0, 0.624), "the mean is held fixed, but it "
         "depends on x."),
        (small_dx(0.0586666667, -0.1333333333, 0.0746666667), "the gain is "
         "missing."),
        (small_dx(0.0586666667, -0.2666666667, 0.224), "the gain comes "
         "after the projections here; backward it comes first."),
        (small_dx(0.44, -1.0, 0.56), "the factor 1/std is missing."),
        (small_dx(0.0704, -0.16, 0.0896), "this divides by the standard "
         "deviation once too often."),
        (small_dx(-0.976, -0.4, 1.376), "the projection on x_hat has the "
         "wrong sign."),
        (small_dx(0.2041241452, -0.4082482905, 0.2041241452), "eps is "
         "ignored."),
        (small_dx(0.0870663286, -0.3704403777, 0.2833740491), "eps stands "
         "outside the root; it belongs inside."),
        (small_dx(-0.0088864317, -0.3287979746, 0.3376844064), "the "
         "variance divides by D - 1; LayerNorm divides by D."),
        (small_dx(0.0, -0.3022509953, 0.1637192891), "this is RMSNorm's "
         "backward pass: LayerNorm subtracts the mean."),
    ],
)
averaged = ("the rows share one parameter, so their gradients add up; this "
            "takes their mean.")
check_array(
    grads[1], np.array([0.0, 0.0, 1.2]), "dgain of the small case",
    mistakes=[
        (np.array([0.0, 0.0, 0.6]), averaged),
        (np.array([0.0, 0.0, 6.0]), "the gain multiplies the normalized x, "
         "not x."),
        (np.array([0.0, 0.0, 3.6]), "the gain itself does not appear in "
         "its own gradient."),
        (np.array([0.0, 0.0, 1.0]), "this is dbias; the order is (dx, dgain, "
         "dbias)."),
        (np.array([0.0, 0.0, 1.2247448714]), "eps is ignored."),
        (np.array([0.0, 0.0, 0.9863939238]), "the variance divides by D - 1; "
         "LayerNorm divides by D."),
        (np.array([0.0, 0.0, 3.0]), "the gain multiplies the normalized x; "
         "divide by the standard deviation too."),
    ],
)
check_array(
    grads[2], np.array([0.0, 0.0, 1.0]), "dbias of the small case",
    mistakes=[
        (np.array([0.0, 0.0, 0.5]), averaged),
        (np.array([0.0, 0.0, 3.0]), "the bias is added after the gain, so "
         "the gain does not touch its gradient."),
    ],
)

# %% nbgrader={"grade_id": "layer-norm-dx-graded", "grade": true, "points": 3}
# Grading, 3 points: dx.
### BEGIN HIDDEN TESTS
rng = check_rng()


def dx_of(x, dx_hat, inside=0.0, outside=0.0, ddof=0, one=1, along=1):
    """Return dx; what can go wrong is a parameter."""
    c = x - x.mean(-1, keepdims=True)
    std = np.sqrt(x.var(-1, keepdims=True, ddof=ddof) + inside) + outside
    h = c / std
    m = dx_hat.mean(-1, keepdims=True)
    p = (dx_hat * h).mean(-1, keepdims=True)
    return (dx_hat - one * m - along * h * p) / std


for T, D, eps in ((4, 5, 0.5), (3, 8, 1e-5)):
    x = 3 + rng.normal(size=(T, D)) * (1 + np.arange(T))[:, None]
    dy, gain = rng.normal(size=(T, D)), 1 + rng.uniform(size=D)
    g = dy * gain
    std = np.sqrt(x.var(-1, keepdims=True) + eps)
    rms = np.sqrt((x**2).mean(-1, keepdims=True) + eps)
    h = x / rms
    right = dx_of(x, g, eps)
    whole = np.sqrt(x.var() + eps)
    flat = (x - x.mean()) / whole
    joint = (g - g.mean() - flat * (g * flat).mean()) / whole
    grads = layer_norm_backward(dy.copy(), x.copy(), gain.copy(), eps)
    check_tuple(grads, ("dx", "dgain", "dbias"), "layer_norm_backward(...)")
    check_array(
        grads[0],
        right,
        "dx",
        mistakes=[
            (g / std, "this holds the mean and the variance fixed, but both "
             "depend on x."),
            (dx_of(x, g, eps, along=0), "the variance is held fixed, but it "
             "depends on x."),
            (dx_of(x, g, eps, one=0), "the mean is held fixed, but it depends "
             "on x."),
            (dx_of(x, dy, eps), "the gain is missing."),
            (dx_of(x, dy, eps) * gain, "the gain comes after the projections "
             "here; backward it comes first."),
            (right * std, "the factor 1/std is missing."),
            (right / std, "this divides by the standard deviation once too "
             "often."),
            (dx_of(x, g, eps, along=-1), "the projection on x_hat has the "
             "wrong sign."),
            (dx_of(x, g, eps, ddof=1), "the variance divides by D - 1; "
             "LayerNorm divides by D."),
            (dx_of(x, g, outside=eps), "eps stands outside the root; it "
             "belongs inside."),
            (dx_of(x, g), "eps is ignored."),
            (joint, "each row has its own mean and variance."),
            ((g - h * (g * h).mean(-1, keepdims=True)) / rms, "this is "
             "RMSNorm's backward pass: LayerNorm subtracts the mean."),
        ],
    )
### END HIDDEN TESTS

# %% nbgrader={"grade_id": "layer-norm-parameters-graded", "grade": true, "points": 2}
# Grading, 2 points: dgain and dbias.
### BEGIN HIDDEN TESTS
rng = check_rng()
for T, D, eps in ((4, 5, 0.5), (3, 8, 1e-5)):
    x = 3 + rng.normal(size=(T, D))
    dy, gain = rng.normal(size=(T, D)), 1 + rng.uniform(size=D)
    h = (x - x.mean(-1, keepdims=True)) / np.sqrt(
        x.var(-1, keepdims=True) + eps
    )
    grads = layer_norm_backward(dy.copy(), x.copy(), gain.copy(), eps)
    check_tuple(grads, ("dx", "dgain", "dbias"), "layer_norm_backward(...)")
    for got, each, name in (
        (grads[1], dy * h, "dgain"), (grads[2], dy, "dbias")
    ):
        if np.shape(got) == (T, D):
            raise Mistake(
                f"{name} has one row for each row of x; the rows share one "
                "parameter, so their gradients add up."
            )
        check_array(
            got,
            each.sum(0),
            name,
            mistakes=[
                (each.mean(0), "the rows share one parameter, so their "
                 "gradients add up; this takes their mean."),
                ((dy * x).sum(0), "the gain multiplies the normalized x, "
                 "not x."),
                ((dy * h * gain).sum(0), "the gain itself does not appear "
                 "in its own gradient."),
                ((dy * gain).sum(0), "the bias is added after the gain, so "
                 "the gain does not touch its gradient."),
            ],
        )
### END HIDDEN TESTS

# %% [markdown]
# ## 4 · What depth does to a gradient
#
# *Intermediate · 5 points · 15 minutes · chapter "Pre-LN against
# Post-LN"*
#
# Take a network of $n$ sublayers at random initialization, and describe
# its branches by two positive numbers. Fed an input of variance 1, a
# branch gives an output of variance $\chi_f$. A gradient of squared norm 1
# that goes backward through the branch comes out with squared norm
# $\chi_J$. Treat the skip and the branch as independent: variances add, and
# so do squared gradient norms. A normalization divides its input by its
# standard deviation, and the gradient through it by the same number; its
# small projections are left out.
#
# - Post-LN, sublayer $l=0,\dots,n-1$: the input has variance 1, the sum has
#   variance $1+\chi_f$, and the normalization brings it back to 1.
# - Pre-LN: the network's input has variance 1, and sublayer $l$ adds
#   $\chi_f$ to the stream. Its normalization stands inside the branch and
#   divides by the standard deviation of the stream that enters
#   sublayer $l$. There is no final normalization.
#
# Write `gradient_ratio(placement, chi_f, chi_j, n)`: the norm (not its
# square) of the gradient at the network's input, divided by the norm at
# its output.
#
# - `placement`: `"pre"` or `"post"`; `chi_f`, `chi_j`: positive SymPy
#   symbols or numbers; `n`: a Python `int` ≥ 1.
# - Returns a SymPy expression; any equivalent form is right.
#
# A small case: with $\chi_f=1$, $\chi_J=2$ and $n=2$, Post-LN gives
# $\tfrac32$ and Pre-LN gives $\sqrt6$.
#
# <details><summary>Hint</summary>
#
# By what does one sublayer multiply the squared gradient norm? In
# Pre-LN the answer depends on $l$.
#
# </details>

# %% nbgrader={"grade_id": "gradient-ratio", "solution": true}
def gradient_ratio(placement, chi_f, chi_j, n):
    """Return the gradient's norm at the input over that at the output."""
    ### BEGIN SOLUTION
    if placement == "post":
        squared = ((1 + chi_j) / (1 + chi_f)) ** n
    else:
        squared = sp.prod([1 + chi_j / (1 + l * chi_f) for l in range(n)])
    return sp.sqrt(squared)
    ### END SOLUTION

# %% nbgrader={"grade_id": "gradient-ratio-check", "grade": true, "points": 1}
# Check, 1 point: the small case.
check_function("gradient_ratio", globals())
one, two = sp.Integer(1), sp.Integer(2)
skip_alone = ("this is the identity path alone; the branch carries gradient "
              "as well.")
check_expression(
    gradient_ratio("post", one, two, 2), sp.Rational(3, 2),
    "gradient_ratio, Post-LN",
    mistakes=[
        (sp.Rational(1, 2), skip_alone),
        (1, "the skip is missing."),
        (sp.Rational(2, 3), "this is the output over the input."),
        (sp.Rational(9, 4), "this is the square of the norm."),
        (3, "the normalization is missing: it divides the gradient by the "
         "standard deviation."),
        (2, "the normalization acts on the sum, so the skip is divided as "
         "well."),
        (sp.sqrt(6) / 2, "this is one sublayer; there are n."),
        (sp.sqrt(6), "this is the Pre-LN expression."),
    ],
)
check_expression(
    gradient_ratio("pre", one, two, 2), sp.sqrt(6), "gradient_ratio, Pre-LN",
    mistakes=[
        (1, skip_alone),
        (6, "this is the square of the norm."),
        (1 / sp.sqrt(6), "this is the output over the input."),
        (sp.sqrt(2), "the skip is missing."),
        (3, "the stream that enters the second sublayer has a larger "
         "variance than 1."),
        (sp.sqrt(sp.Rational(10, 3)), "the stream that enters the first "
         "sublayer has variance 1: count l from 0."),
        (2, "the stream's variance grows with l, and the factors of the "
         "sublayers multiply."),
        (3 / sp.sqrt(2), "the skip goes around the normalization; only the "
         "branch is divided."),
        (sp.Rational(3, 2), "this is the Post-LN expression."),
        (sp.sqrt(3 * (1 + sp.sqrt(2))), "squared norms are divided by the "
         "variance, not by the standard deviation."),
    ],
)

# %% nbgrader={"grade_id": "gradient-ratio-post-graded", "grade": true, "points": 2}
# Grading, 2 points: Post-LN.
### BEGIN HIDDEN TESTS
f, j = sp.symbols("chi_f chi_J", positive=True)
for n in (3, 1, 6):
    ratio = (1 + j) / (1 + f)
    check_expression(
        gradient_ratio("post", f, j, n),
        ratio ** sp.Rational(n, 2),
        f"gradient_ratio, Post-LN with {n} sublayer(s)",
        mistakes=[
            (ratio**n, "this is the square of the norm."),
            (ratio ** sp.Rational(-n, 2), "this is the output over the "
             "input."),
            ((1 + f) ** sp.Rational(-n, 2), "this is the identity path "
             "alone; the branch carries gradient as well."),
            ((j / (1 + f)) ** sp.Rational(n, 2), "the skip is missing."),
            ((1 + j) ** sp.Rational(n, 2), "the normalization is missing: "
             "it divides the gradient by the standard deviation."),
            ((1 + j / (1 + f)) ** sp.Rational(n, 2), "the normalization "
             "acts on the sum, so the skip is divided as well."),
            (sp.sqrt(ratio), "this is one sublayer; there are n."),
            (sp.sqrt(sp.prod([1 + j / (1 + l * f) for l in range(n)])),
             "this is the Pre-LN expression."),
        ],
    )
### END HIDDEN TESTS

# %% nbgrader={"grade_id": "gradient-ratio-pre-graded", "grade": true, "points": 2}
# Grading, 2 points: Pre-LN.
### BEGIN HIDDEN TESTS
f, j = sp.symbols("chi_f chi_J", positive=True)
for n in (2, 3, 5):
    squared = sp.prod([1 + j / (1 + l * f) for l in range(n)])
    check_expression(
        gradient_ratio("pre", f, j, n),
        sp.sqrt(squared),
        f"gradient_ratio, Pre-LN with {n} sublayers",
        mistakes=[
            (squared, "this is the square of the norm."),
            (1 / sp.sqrt(squared), "this is the output over the input."),
            (sp.sqrt(sp.prod([1 + j / (1 + (l + 1) * f) for l in range(n)])),
             "the stream that enters sublayer 0 has variance 1: count l "
             "from 0, and take the variance before the branch is added."),
            ((1 + j) ** sp.Rational(n, 2), "the stream's variance grows "
             "with l, and the normalization divides by it."),
            ((1 + j / (1 + f)) ** sp.Rational(n, 2), "the stream's variance "
             "grows with l."),
            (sp.sqrt(sp.prod([j / (1 + l * f) for l in range(n)])),
             "the skip is missing."),
            (sp.sqrt(1 + sum(j / (1 + l * f) for l in range(n))),
             "sublayers follow one another, so their factors multiply."),
            (sp.sqrt(sp.prod([(1 + j) / (1 + l * f) for l in range(n)])),
             "the skip goes around the normalization; only the branch is "
             "divided."),
            (((1 + j) / (1 + f)) ** sp.Rational(n, 2), "this is the Post-LN "
             "expression."),
            (sp.sqrt(sp.prod(
                [1 + j / sp.sqrt(1 + l * f) for l in range(n)])),
             "squared norms are divided by the variance, not by the "
             "standard deviation."),
        ],
    )
### END HIDDEN TESTS

# %% [markdown]
# ## 5 · A test that proves less than it seems to
#
# *Intermediate · 4 points · 10 minutes · in words, marked by hand · chapter
# "RoPE"*
#
# A team tests its RoPE like this: compute all the scores for positions
# $0,\dots,T-1$, compute them again for positions $7,\dots,T+6$, and demand
# that the two agree to $10^{-10}$. The test is green.
#
# Answer in four to eight sentences:
#
# 1. Which property does this test check, and why does every RoPE that does
#    what exercise 1 says have it?
# 2. Name two different bugs that it cannot see, and say why.
# 3. Give one more test that sees both.
#
# | points | for |
# | --- | --- |
# | 1 | the property, with its reason |
# | 2 | two different bugs, each with the reason why the scores still agree |
# | 1 | a test, with its input and what must hold, that fails for both bugs |

# %% [markdown] nbgrader={"grade_id": "what-a-test-proves", "grade": true, "solution": true, "points": 4}
# The test shows that the scores do not change when all positions shift
# together. By exercise 1 a score depends on m - n alone, and a common shift
# cancels there. For the same reason the test cannot see positions that are
# off by one in both q and k: that is a common shift. It cannot see a RoPE
# that does nothing, for then the scores ignore the positions altogether.
# Nor can it see the wrong pairing, a wrong base or a wrong sign in both
# rotations, since each of these still gives a function of m - n. A test
# that sees all of them compares the rotated vectors, not the scores, with
# values worked out by hand: with K = 4, the vector (1, 0, 0, 0) at position
# 1 must become (cos 1, sin 1, 0, 0) in the interleaved pairing. Off by one
# gives the vector itself or cos 2, and doing nothing gives the vector
# itself.
