# %% [markdown]
# # Symbols · advanced: weights that cannot all be small
#
# Five exercises, about 90 minutes, 26 points. They go with the chapters
# *Attention cannot attend to nothing* and *Pre-LN against Post-LN*.
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
    check_array,
    check_expression,
    check_function,
    check_number,
    check_rng,
)

# %% [markdown]
# ## 1 · Press one weight down
#
# *Advanced · 6 points · 20 minutes · chapter "Attention cannot attend to
# nothing"*
#
# A query looks at three or four tokens. Their logits are $z_i$, their
# weights $p_i=e^{z_i}/\sum_k e^{z_k}$. Now lower the logit of token $j$ by
# $t>0$ and leave the other logits as they are.
#
# - `lowered(z, j, t)` returns all the new weights.
# - `pressed(z, j)` returns their limits for $t\to\infty$, the weights after
#   token $j$ is pressed out altogether.
#
# In both, `z` is an $n\times1$ SymPy matrix of real symbols or numbers, `j`
# an integer counted from 0, and `t` a positive SymPy symbol or number. Both
# return an $n\times1$ SymPy matrix in the symbols of `z` (and `t`); any
# equivalent form is right.
#
# A small case: for three logits 0 and $j=0$, `pressed` is
# $(0, \tfrac12, \tfrac12)$, and `lowered` with $t=\log2$ is
# $(\tfrac15, \tfrac25, \tfrac25)$.
#
# <details><summary>Hint</summary>
#
# Which terms of the sum in the denominator change?
#
# </details>

# %% nbgrader={"grade_id": "pressed-weights", "solution": true}
def lowered(z, j, t):
    """Return the n x 1 weights after logit j is lowered by t."""
    ### BEGIN SOLUTION
    e = z.applyfunc(sp.exp).as_mutable()
    e[j] *= sp.exp(-t)
    return e / sum(e)
    ### END SOLUTION


def pressed(z, j):
    """Return the n x 1 weights in the limit of large t."""
    ### BEGIN SOLUTION
    e = z.applyfunc(sp.exp).as_mutable()
    e[j] = 0
    return e / sum(e)
    ### END SOLUTION

# %% nbgrader={"grade_id": "pressed-weights-check", "grade": true, "points": 1}
# Check, 1 point: three logits 0.
check_function("lowered", globals())
check_function("pressed", globals())
zeros, third = sp.zeros(3, 1), sp.Rational(1, 3)
check_expression(
    lowered(zeros, 0, sp.log(2)),
    sp.Matrix([1, 2, 2]) / 5,
    "lowered, for three logits 0",
    mistakes=[
        (sp.Matrix([third / 2, third, third]), "these no longer add up to "
         "1: softmax divides by the new sum."),
        (sp.Matrix([2, 1, 1]) / 4, "this raises the logit instead."),
        (sp.Matrix([2, 2, 1]) / 5, "this lowers another logit: j counts "
         "from 0."),
    ],
)
check_expression(
    pressed(zeros, 0),
    sp.Matrix([0, 1, 1]) / 2,
    "pressed, for three logits 0",
    mistakes=[
        (sp.Matrix([0, third, third]), "these no longer add up to 1: where "
         "does the weight of token j go?"),
        (sp.Matrix([0, 2 * third, third]), "the freed weight goes to all "
         "the other tokens, not to the first one alone."),
        (sp.Matrix([0, 0, 0]), "the weights cannot all vanish."),
    ],
)

# %% nbgrader={"grade_id": "lowered-graded", "grade": true, "points": 3}
# Grading, 3 points: lowered, for three and four tokens.
### BEGIN HIDDEN TESTS
t = sp.symbols("t", positive=True)
for n, j in ((3, 1), (4, 0), (4, 3)):
    z = sp.Matrix(sp.symbols(f"u:{n}", real=True))
    e = z.applyfunc(sp.exp)
    p = e / sum(e)
    keep = sp.Matrix([sp.exp(-t) if i == j else 1 for i in range(n)])
    new = keep.multiply_elementwise(e)
    loose = keep.multiply_elementwise(p)
    freed = p[j] * (1 - sp.exp(-t))
    gone = sp.Matrix([0 if i == j else 1 for i in range(n)])
    up = e.applyfunc(lambda x: x).as_mutable()
    up[j] *= sp.exp(t)
    first = 1 if j == 0 else 0
    check_expression(
        lowered(z, j, t),
        new / sum(new),
        f"lowered, {n} tokens",
        symbols=(*z, t),
        mistakes=[
            (loose, "these no longer add up to 1: softmax divides by the "
             "new sum."),
            (loose + gone * freed / (n - 1), "the freed weight is not "
             "shared equally; each other weight grows by the same factor."),
            (loose + freed * sp.eye(n)[:, first], "the freed weight goes to "
             "all the other tokens, not to the first one alone."),
            (p, "nothing changes: lower one logit, not all of them."),
            (up / sum(up), "this raises the logit instead."),
            (new / (1 - p[j]) / sum(e), "this divides by 1 - p_j, which is "
             "right only in the limit of large t."),
            (new, "the exponentials are not divided by their sum."),
            (gone.multiply_elementwise(e) / (sum(e) - e[j]), "this is the "
             "limit of large t already."),
        ],
    )
### END HIDDEN TESTS

# %% nbgrader={"grade_id": "pressed-graded", "grade": true, "points": 2}
# Grading, 2 points: pressed, for three and four tokens.
### BEGIN HIDDEN TESTS
for n, j in ((3, 1), (4, 0), (4, 3)):
    z = sp.Matrix(sp.symbols(f"u:{n}", real=True))
    e = z.applyfunc(sp.exp)
    p = e / sum(e)
    gone = sp.Matrix([0 if i == j else 1 for i in range(n)])
    rest = gone.multiply_elementwise(p)
    first = 1 if j == 0 else 0
    check_expression(
        pressed(z, j),
        rest / sum(rest),
        f"pressed, {n} tokens",
        symbols=z,
        mistakes=[
            (rest, "these no longer add up to 1: where does the weight of "
             "token j go?"),
            (rest + gone * p[j] / (n - 1), "the freed weight is not shared "
             "equally; each other weight grows by the same factor."),
            (rest + p[j] * sp.eye(n)[:, first], "the freed weight goes to "
             "all the other tokens, not to the first one alone."),
            (gone / (n - 1), "the other weights keep their ratios; they do "
             "not become equal."),
            (gone.multiply_elementwise(e), "the exponentials are not "
             "divided by their sum."),
            (p, "nothing changes: lower one logit, not all of them."),
        ],
    )
### END HIDDEN TESTS

# %% [markdown]
# ## 2 · A head that does nothing
#
# *Advanced · 5 points · 25 minutes · chapter "Attention cannot attend to
# nothing"*
#
# The weights cannot all vanish, but the output can. A head sees $n$
# ordinary tokens with logits $z_i$ and values $v_i$, and one more token,
# the sink, with logit $s$ and value $0$. Its output is
# $o=\sum_i p_i v_i + p_{\text{sink}}\cdot0$, with softmax taken over all
# $n+1$ logits.
#
# Write `sink_logit(z, values, budget)`, which returns the smallest $s$ for
# which $\lVert o\rVert\le$ `budget`.
#
# - `z`: a float64 array of shape `(n,)`, finite, maybe near ±1000;
#   `values`: float64 of shape `(n, K)`; `budget`: a float > 0.
#   $\lVert\cdot\rVert$ is the Euclidean norm.
# - Returns a float, right to a relative error of $10^{-9}$. Where the head
#   keeps to the budget even without a sink, it returns `-np.inf`.
#
# A small case: `z = [0, 0]`, `values = [[1, 0], [1, 0]]` and `budget = 0.1`
# give $s=\log 18$. The output without a sink has norm 1, and
# $p_{\text{sink}}=18/20$ leaves a tenth of it.
#
# <details><summary>Hint</summary>
#
# Write $o$ as $(1-p_{\text{sink}})$ times the output of the head
# without its sink. Then solve for $s$, and mind logits as large as
# 1000.
#
# </details>

# %% nbgrader={"grade_id": "sink-logit", "solution": true}
def sink_logit(z, values, budget):
    """Return the smallest sink logit that keeps the output in budget."""
    ### BEGIN SOLUTION
    top = np.max(z)
    e = np.exp(z - top)
    norm = np.linalg.norm(e @ values / e.sum())
    if norm <= budget:
        return -np.inf
    # norm / (1 + exp(s - lse)) = budget, with lse = log(sum(exp(z)))
    return float(top + np.log(e.sum()) + np.log(norm / budget - 1))
    ### END SOLUTION

# %% nbgrader={"grade_id": "sink-logit-check", "grade": true, "points": 1}
# Check, 1 point: the small case.
check_function("sink_logit", globals())
check_number(
    sink_logit(np.zeros(2), np.array([[1.0, 0.0], [1.0, 0.0]]), 0.1),
    np.log(18.0),
    "sink_logit of the small case",
    mistakes=[
        (np.log(9.0), "the other logits count too: compare s with the "
         "logarithm of the sum of their exponentials."),
        (np.log(20.0), "the sink needs the weight 1 - budget/norm; this "
         "leaves out the 1."),
        (0.9, "this is the weight of the sink; return its logit."),
    ],
)

# %% nbgrader={"grade_id": "sink-logit-graded", "grade": true, "points": 4}
# Grading, 4 points: other heads, large logits, and heads within budget.
### BEGIN HIDDEN TESTS
rng = check_rng()
for shift in (0.0, -3.0, 1000.0):
    z = rng.normal(size=5) + shift
    values = 1 + rng.normal(size=(5, 3))
    e = np.exp(z - z.max())
    lse = z.max() + np.log(e.sum())
    average = e @ values / e.sum()
    norm = np.linalg.norm(average)
    budget = 0.3 * norm
    lengths = np.linalg.norm(values, axis=1)
    right = lse + np.log(norm / budget - 1)
    plain = np.linalg.norm(values.mean(0))
    check_number(
        sink_logit(z.copy(), values.copy(), budget),
        right,
        "sink_logit" + (" with logits near 1000" if shift > 9 else ""),
        mistakes=[
            (right - lse, "the other logits count too: compare s with the "
             "logarithm of the sum of their exponentials."),
            (right - lse + z.max(), "the largest logit is not the "
             "logarithm of the sum of the exponentials."),
            (lse + np.log(norm / budget), "the sink needs the weight "
             "1 - budget/norm; this leaves out the 1."),
            (lse - np.log(norm / budget - 1), "the odds are upside down: a "
             "smaller budget needs a larger s."),
            (lse + np.log(plain / budget - 1) if plain > budget else lse,
             "the values are averaged with softmax's weights, not "
             "equally."),
            (lse + np.log(e @ lengths / e.sum() / budget - 1), "take the "
             "norm of the average, not the average of the norms: values "
             "may cancel."),
            (lse + np.log(lengths.max() / budget - 1), "this bounds the "
             "output by the longest value; values may cancel."),
            (lse + np.log(np.abs(average).sum() / budget - 1), "the norm is "
             "Euclidean, not the sum of absolute values."),
            (lse + np.log((norm / budget) ** 2 - 1), "take the root: the "
             "norm, not its square."),
            (np.nan, "large logits overflow; subtract the largest before "
             "the exponentials."),
            (np.inf, "large logits overflow; subtract the largest before "
             "the exponentials."),
        ],
    )
    check_number(
        sink_logit(z.copy(), values.copy(), 1.5 * norm),
        -np.inf,
        "sink_logit of a head within its budget",
        mistakes=[(np.nan, "every sink logit will do here, so there is no "
                   "equation to solve: return -np.inf.")],
    )
### END HIDDEN TESTS

# %% [markdown]
# ## 3 · A softmax that may give less than one
#
# *Advanced · 6 points · 20 minutes · chapter "Attention cannot attend to
# nothing"*
#
# A learned *sink logit* $s$ joins the denominator of softmax, but gets no
# weight of its own:
# $$p_i=\frac{e^{z_i}}{e^{s}+\sum_k e^{z_k}} .$$
# With $s=0$ this is softmax-plus-one. The weights of a row now add up to
# less than one.
#
# Write `sink_softmax(scores, s)`.
#
# - `scores`: a float64 array of shape `(..., T)`; softmax runs over the
#   last axis. Entries may be `-np.inf`, which means masked, and a row may
#   be masked as a whole. `s`: a finite float.
# - Returns a float64 array of the shape of `scores`, right to a relative
#   error of $10^{-9}$ of its largest entry, with no overflow at scores near
#   ±1000. A masked entry is exactly 0.
#
# A small case: `sink_softmax(np.array([[0.0, -np.inf]]), 0.0)` is
# `[[0.5, 0.0]]`.
#
# <details><summary>Hint</summary>
#
# Which number can you subtract from all the exponents so that none
# overflows, and the denominator never vanishes? Mind that $e^s$ is one
# of the terms.
#
# </details>

# %% nbgrader={"grade_id": "sink-softmax", "solution": true}
def sink_softmax(scores, s):
    """Return softmax over the last axis with exp(s) in the denominator."""
    ### BEGIN SOLUTION
    top = np.maximum(scores.max(-1, keepdims=True), s)
    e = np.exp(scores - top)
    return e / (np.exp(s - top) + e.sum(-1, keepdims=True))
    ### END SOLUTION

# %% nbgrader={"grade_id": "sink-softmax-check", "grade": true, "points": 1}
# Check, 1 point: the small case.
check_function("sink_softmax", globals())
check_array(
    sink_softmax(np.array([[0.0, -np.inf]]), 0.0),
    np.array([[0.5, 0.0]]),
    "sink_softmax of the small case",
    mistakes=[
        (np.array([[1.0, 0.0]]), "this is plain softmax: exp(s) belongs in "
         "the denominator."),
        (np.array([[1 / 3, 0.0]]), "exp(s) stands in the denominator once, "
         "not once for each entry."),
    ],
)

# %% nbgrader={"grade_id": "sink-softmax-graded", "grade": true, "points": 3}
# Grading, 3 points: several axes, masks, and sink logits other than 0.
### BEGIN HIDDEN TESTS
rng = check_rng()
for shape, s in (((4, 5), 0.7), ((2, 3, 3), -1.2)):
    z = rng.normal(size=shape)
    z = np.where(np.arange(shape[-1]) > np.arange(shape[-2])[:, None],
                 -np.inf, z)
    e, es = np.exp(z), np.exp(s)
    total = e.sum(-1, keepdims=True)
    shifted = np.exp(z - z.max(-1, keepdims=True))
    row = shifted.sum(-1, keepdims=True)
    check_array(
        sink_softmax(z.copy(), s),
        e / (es + total),
        "sink_softmax",
        rtol=1e-9,
        dtype=np.float64,
        mistakes=[
            (e / total, "this is plain softmax: exp(s) belongs in the "
             "denominator."),
            (e / (1 + total), "the denominator holds 1 where exp(s) "
             "belongs; they agree only at s = 0."),
            (e / (s + total), "the denominator holds s where exp(s) "
             "belongs."),
            (shifted / (es + row), "the largest score was subtracted from "
             "the scores but not from s, which shifts them apart."),
            (shifted / (1 + row), "the largest score was subtracted from "
             "the scores but not from s, which shifts them apart."),
            (e / (shape[-1] * es + total), "exp(s) stands in the "
             "denominator once, not once for each entry."),
            ((e + es) / (es + total), "the sink gets no weight of its own: "
             "exp(s) is not in the numerator."),
            (e / (es + e.sum(-2, keepdims=True)), "softmax runs over the "
             "last axis, so rows are normalized."),
            (e / (es + e.sum()), "each row has a denominator of its own."),
            (e / (np.exp(-s) + total), "s has the wrong sign."),
        ],
    )
### END HIDDEN TESTS

# %% nbgrader={"grade_id": "sink-softmax-extreme-graded", "grade": true, "points": 2}
# Grading, 2 points: large scores, and rows masked as a whole.
### BEGIN HIDDEN TESTS
z = np.array([
    [1000.0, 999.0, -np.inf],
    [-1000.0, -1001.0, -1002.0],
    [-np.inf, -np.inf, -np.inf],
    [2.0, -np.inf, 1.0],
])
s = 0.5
d = np.exp(s) + np.exp(2.0) + np.exp(1.0)
right = np.array([
    [1 / (1 + np.exp(-1.0)), 1 / (1 + np.exp(1.0)), 0.0],
    [0.0, 0.0, 0.0],
    [0.0, 0.0, 0.0],
    [np.exp(2.0) / d, 0.0, np.exp(1.0) / d],
])
with np.errstate(all="ignore"):
    answer = sink_softmax(z.copy(), s)
shown = np.asarray(answer, float) if isinstance(answer, np.ndarray) else None
rows = ("near +1000", "near -1000", "masked as a whole", "masked in part")
for i, what in enumerate(rows):
    if shown is not None and shown.shape == right.shape:
        check_array(
            shown[i],
            right[i],
            f"the row of scores {what}",
            rtol=1e-9,
            mistakes=[
                (np.array([0.6652409558, 0.2447284711, 0.0900305732]),
                 "with every score far below s, next to nothing is left: "
                 "the sink takes the weight."),
                (np.full(3, 1 / 3), "with everything masked, the sink takes "
                 "the weight: each entry is 0."),
            ],
        )
check_array(answer, right, "sink_softmax", rtol=1e-9)
### END HIDDEN TESTS

# %% [markdown]
# ## 4 · All the paths at once
#
# *Advanced · 4 points · 15 minutes · chapter "Pre-LN against Post-LN"*
#
# A transformer has $L$ layers of two sublayers, so $2L$ sublayers in a row,
# each with its own normalization. Multiplied out, the gradient is a sum
# over $2^{2L}$ paths: in each sublayer a path takes the skip or the branch.
# Let $c_k$ be the number of paths that meet exactly $k$ normalization
# Jacobians. There are three networks:
#
# - `"pre"`: all sublayers are Pre-LN, and one final normalization follows
#   the last layer.
# - `"post"`: all sublayers are Post-LN. There is no final normalization.
# - `"mixed"`: in each layer the first sublayer is Pre-LN and the second is
#   Post-LN. There is no final normalization.
#
# Write `path_polynomial(placement, L, t)`, which returns
# $\sum_k c_k t^k$ for any $L$.
#
# - `placement`: `"pre"`, `"post"` or `"mixed"`; `L`: a positive integer, as
#   a number *or* as a SymPy symbol; `t`: a positive SymPy symbol or number.
# - Returns a SymPy expression; any equivalent form is right.
#
# A small case: for `L = 1`, Pre-LN gives $t+2t^2+t^3$. One path meets the
# final normalization alone, two meet two, and one meets three.
#
# <details><summary>Hint</summary>
#
# What does one sublayer multiply the polynomial by?
#
# </details>

# %% nbgrader={"grade_id": "path-polynomial", "solution": true}
def path_polynomial(placement, L, t):
    """Return the sum of t**(norms met) over all paths of 2L sublayers."""
    ### BEGIN SOLUTION
    if placement == "post":
        return (2 * t) ** (2 * L)
    if placement == "mixed":
        return (2 * t * (1 + t)) ** L
    return t * (1 + t) ** (2 * L)
    ### END SOLUTION

# %% nbgrader={"grade_id": "path-polynomial-check", "grade": true, "points": 1}
# Check, 1 point: one Pre-LN layer.
check_function("path_polynomial", globals())
t = sp.symbols("t", positive=True)
check_expression(
    path_polynomial("pre", 1, t),
    t + 2 * t**2 + t**3,
    "path_polynomial of one Pre-LN layer",
    mistakes=[
        ((1 + t) ** 2, "the final normalization is missing."),
        (t * (1 + t), "a layer holds two sublayers."),
    ],
)

# %% nbgrader={"grade_id": "path-polynomial-graded", "grade": true, "points": 1}
# Grading, 1 point: Pre-LN and Post-LN, for a given L and for any L.
### BEGIN HIDDEN TESTS
t = sp.symbols("t", positive=True)
any_L = sp.symbols("L", integer=True, positive=True)
for L in (sp.Integer(3), any_L):
    check_expression(
        path_polynomial("pre", L, t),
        t * (1 + t) ** (2 * L),
        f"path_polynomial, Pre-LN, L = {L}",
        symbols=(L, t) if L is any_L else (t,),
        mistakes=[
            ((1 + t) ** (2 * L), "the final normalization is missing."),
            (t * (1 + t) ** L, "a layer holds two sublayers."),
            ((1 + t) ** (2 * L + 1), "every path meets the final "
             "normalization; no skip goes around it."),
            (t * (2 * t) ** (2 * L), "the skip goes around the "
             "normalization, so it contributes 1, not t."),
            ((2 * t) ** (2 * L), "this is the Post-LN polynomial."),
            (t * (1 + t**2) ** L, "the two sublayers of a layer choose "
             "independently."),
            (1 + 2 * L * t, "this keeps the paths with at most one branch."),
            (t * (1 + 2 * L * t), "this keeps the paths with at most one "
             "branch."),
        ],
    )
    check_expression(
        path_polynomial("post", L, t),
        (2 * t) ** (2 * L),
        f"path_polynomial, Post-LN, L = {L}",
        symbols=(L, t) if L is any_L else (t,),
        mistakes=[
            (t ** (2 * L), "there are 2**(2L) paths; this counts one."),
            ((2 * t) ** L, "a layer holds two sublayers."),
            (t * (2 * t) ** (2 * L), "Post-LN has no final normalization "
             "here."),
            ((1 + t) ** (2 * L), "in Post-LN the skip meets the "
             "normalization too."),
            (t * (1 + t) ** (2 * L), "this is the Pre-LN polynomial."),
            (2 * t ** (2 * L), "each sublayer doubles the paths."),
            (2 * L * t ** (2 * L), "each sublayer doubles the paths."),
        ],
    )
### END HIDDEN TESTS

# %% nbgrader={"grade_id": "path-polynomial-mixed-graded", "grade": true, "points": 2}
# Grading, 2 points: the mixed network, for a given L and for any L.
### BEGIN HIDDEN TESTS
t = sp.symbols("t", positive=True)
any_L = sp.symbols("L", integer=True, positive=True)
for L in (sp.Integer(3), any_L):
    layer = 2 * t * (1 + t)
    check_expression(
        path_polynomial("mixed", L, t),
        layer**L,
        f"path_polynomial, mixed, L = {L}",
        symbols=(L, t) if L is any_L else (t,),
        mistakes=[
            (t * layer**L, "the mixed network has no final normalization."),
            (layer ** (2 * L), "a layer holds one sublayer of each kind, so "
             "there are L of each kind, not 2L."),
            ((1 + t + 2 * t) ** L, "sublayers follow one another, so their "
             "factors multiply."),
            ((t * (1 + t)) ** L, "the skip and the branch of a Post-LN "
             "sublayer are two paths, and each meets its normalization."),
            ((1 + t) ** (2 * L), "in a Post-LN sublayer the skip meets the "
             "normalization too."),
            ((2 * t) ** (2 * L), "in a Pre-LN sublayer the skip goes around "
             "the normalization."),
            (t * (1 + t) ** (2 * L), "this is the Pre-LN polynomial."),
        ],
    )
### END HIDDEN TESTS

# %% [markdown]
# ## 5 · "Attend to nothing"
#
# *Advanced · 5 points · 10 minutes · in words, marked by hand · chapter
# "Attention cannot attend to nothing"*
#
# Explain to a colleague why a softmax head cannot say "attend to nothing",
# and what trained heads do in its place. Use a toy with three or four
# tokens and real numbers, in six to ten sentences. Take a stand on this
# claim: "The model drives the logits of the other tokens to −∞, and the
# sink is forced by the sum-to-one constraint alone."
#
# | points | for |
# | --- | --- |
# | 1 | a toy with numbers: one weight pressed down, the others before and after |
# | 1 | why the weights cannot all be small at once |
# | 1 | how the *output* can still be close to zero, and what that asks of some token's value |
# | 1 | what is wrong or incomplete in the claim |
# | 1 | one change to the architecture that lets a head attend to nothing, and where in the formula it acts |

# %% [markdown] nbgrader={"grade_id": "attend-to-nothing", "grade": true, "solution": true, "points": 5}
# Take three tokens with logits 0, so that each has the weight 1/3. Press
# the first out: the other two rise from 1/3 to 1/2, each by the factor
# 1/(1 - 1/3) = 3/2. The freed weight must go somewhere because the weights
# add up to 1, so at least one of n weights is 1/n or more. The output can
# vanish all the same: if the third token has the value 0 and the weight
# 0.99, the output is a hundredth of the average of the others. So a no-op
# needs a token whose value is close to zero, and the head puts its weight
# there. The claim is incomplete in two ways. Adding a constant to all the
# logits changes nothing, so no logit is "driven to minus infinity" by
# itself: only the differences count, and the sink's logit is high relative
# to the rest. And the constraint alone does not force a sink: equal weights
# add up to 1 as well. It takes a head that wants to do nothing, and a token
# that can serve. A learned sink logit changes this: exp(s) joins the
# denominator without a value of its own, so the weights add up to less than
# 1 and may all be small.
