# %% [markdown]
# # Symbols · beginner: what a gradient meets on its way down
#
# Five exercises, about 70 minutes, 24 points. They go with the chapters
# *Softmax, masks, cross-entropy*, *Normalization* and *Pre-LN against
# Post-LN*.
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
    check_integer,
    check_rng,
    check_tuple,
)

# %% [markdown]
# ## 1 · The Jacobian of softmax
#
# *Beginner · 4 points · 10 minutes · chapter "Softmax, masks,
# cross-entropy"*
#
# Softmax turns $n$ logits $z$ into weights $p_i=e^{z_i}/\sum_k e^{z_k}$.
# Write `softmax_jacobian(z)`, which returns the matrix of all
# $\partial p_i/\partial z_j$.
#
# - `z`: an $n\times1$ SymPy matrix of $n$ different real symbols.
# - Returns an $n\times n$ SymPy matrix; row $i$, column $j$ holds
#   $\partial p_i/\partial z_j$. Any equivalent form is right.
#
# A small case: for two logits $a$ and $b$, with $p=e^a/(e^a+e^b)$, the
# answer is $\begin{pmatrix}p(1-p)&-p(1-p)\\-p(1-p)&p(1-p)\end{pmatrix}$.
#
# <details><summary>Hint</summary>
#
# The denominator holds every logit, so every weight moves when one
# logit does. Each column must add up to zero, since the weights always
# add up to one; each row too, since a common shift of the logits changes
# nothing.
#
# </details>

# %% nbgrader={"grade_id": "softmax-jacobian", "solution": true}
def softmax_jacobian(z):
    """Return the n x n matrix of dp_i/dz_j for the n x 1 matrix z."""
    ### BEGIN SOLUTION
    exponentials = z.applyfunc(sp.exp)
    p = exponentials / sum(exponentials)
    return sp.diag(*p) - p * p.T
    ### END SOLUTION

# %% nbgrader={"grade_id": "softmax-jacobian-check", "grade": true, "points": 1}
# Check, 1 point: two logits.
check_function("softmax_jacobian", globals())
a, b = sp.symbols("a b", real=True)
p = sp.exp(a) / (sp.exp(a) + sp.exp(b))
check_expression(
    softmax_jacobian(sp.Matrix([a, b])),
    p * (1 - p) * sp.Matrix([[1, -1], [-1, 1]]),
    "softmax_jacobian of two logits",
    mistakes=[
        (sp.diag(p, 1 - p), "each weight moves with every logit, for the "
         "denominator holds them all."),
        (p * (1 - p) * sp.eye(2), "only the diagonal is there, as if each "
         "weight were a sigmoid of its own logit."),
    ],
)

# %% nbgrader={"grade_id": "softmax-jacobian-graded", "grade": true, "points": 3}
# Grading, 3 points: more logits.
### BEGIN HIDDEN TESTS
for n in (3, 4):
    z = sp.Matrix(sp.symbols(f"u:{n}", real=True))
    e = z.applyfunc(sp.exp)
    p, ones = e / sum(e), sp.ones(n, 1)
    check_expression(
        softmax_jacobian(z),
        sp.diag(*p) - p * p.T,
        f"softmax_jacobian of {n} logits",
        mistakes=[
            (sp.diag(*p), "the outer product is missing; the denominator "
             "depends on every logit."),
            (sp.diag(*p) + p * p.T, "the outer product has the wrong sign; "
             "a weight falls when another logit rises."),
            (sp.diag(*[w * (1 - w) for w in p]), "only the diagonal is "
             "there, as if each weight were a sigmoid of its own logit."),
            (sp.eye(n) - ones * p.T, "this is the Jacobian of log p; "
             "multiply row i by p_i."),
            (sp.diag(*p) - ones * p.T, "column j loses p_j in every row; it "
             "must lose p_i p_j."),
            (sp.diag(*e) - e * e.T, "the exponentials are not divided by "
             "their sum."),
            (sp.eye(n) - p * p.T, "the diagonal starts from 1 where it "
             "must start from p_i."),
        ],
    )
### END HIDDEN TESTS

# %% [markdown]
# ## 2 · RMSNorm, one direction at a time
#
# *Beginner · 5 points · 15 minutes · chapter "Normalization"*
#
# RMSNorm maps $x$, a vector of $D$ numbers, to $y_i=g_i\,x_i/r$, where
# $r=\sqrt{\tfrac1D\sum_k x_k^2+\varepsilon}$. Its Jacobian is
# $J_{ij}=\partial y_i/\partial x_j$. When $x$ moves a little in the
# direction $v$, the output moves in the direction $Jv$.
#
# Write `rms_norm_push(x, gain, eps, v)`, which returns $Jv$.
#
# - `x`, `gain`, `v`: float64 arrays of shape `(D,)`; `eps`: a float ≥ 0.
# - Returns an array of shape `(D,)`, right to a relative error of
#   $10^{-6}$.
#
# A small case: for `x = [3, 4]`, `gain = [3, 1]`, `eps = 0.5` and
# `v = [1, 0]`, $r$ is $\sqrt{13}$ and the answer is
# `[0.54403288, -0.12800774]`.
#
# <details><summary>Hint</summary>
#
# Differentiate $x_i\cdot r^{-1}$ as a product. With $\hat x=x/r$, the
# second term is a multiple of $\hat x$.
#
# </details>

# %% nbgrader={"grade_id": "rms-norm-push", "solution": true}
def rms_norm_push(x, gain, eps, v):
    """Return J v, the change of RMSNorm's output along v; shape (D,)."""
    ### BEGIN SOLUTION
    r = np.sqrt(np.mean(x**2) + eps)
    x_hat = x / r
    return gain * (v - x_hat * np.mean(x_hat * v)) / r
    ### END SOLUTION

# %% nbgrader={"grade_id": "rms-norm-push-check", "grade": true, "points": 1}
# Check, 1 point: the small case.
check_function("rms_norm_push", globals())
check_array(
    rms_norm_push(
        np.array([3.0, 4.0]), np.array([3.0, 1.0]), 0.5, np.array([1.0, 0.0])
    ),
    np.array([0.5440328848, -0.1280077376]),
    "rms_norm_push of the small case",
    mistakes=[
        (np.array([0.8320502943, 0.0]), "this holds r fixed, but r depends "
         "on x as well."),
        (np.array([0.1813442949, -0.1280077376]), "the gain is missing."),
        (np.array([0.5440328848, -0.3840232128]), "this is the transpose "
         "of J times v: the gain acts after the projection."),
        (np.array([0.1508875740, -0.0355029586]), "this divides by r "
         "twice."),
        (np.array([1.9615384615, -0.4615384615]), "the factor 1/r is "
         "missing."),
        (np.array([-2.9121760302, -1.6641005887]), "the projection is on "
         "x_hat = x/r, not on x."),
        (np.array([0.2560154752, -0.2560154752]), "the projection needs "
         "the mean over the D entries, not their sum."),
        (np.array([1.1200677039, 0.1280077376]), "the projection has the "
         "wrong sign."),
        (np.array([0.5430580080, -0.1357645020]), "eps is ignored."),
        (np.array([0.5379817146, -0.0912952640]), "eps stands outside the "
         "root; it belongs inside."),
        (np.array([0.3844102226, -0.0931903570]), "r needs the mean of the "
         "squares, not their sum."),
        (np.array([1.1547005384, -0.3849001795]), "this is LayerNorm: "
         "RMSNorm does not subtract the mean."),
    ],
)

# %% nbgrader={"grade_id": "rms-norm-push-graded", "grade": true, "points": 4}
# Grading, 4 points: other sizes, gains and ε.
### BEGIN HIDDEN TESTS
rng = check_rng()
for D in (3, 5, 8):
    x, gain = 2 + rng.normal(size=D), 1 + rng.uniform(size=D)
    v, eps = rng.normal(size=D), 0.3
    ms = np.mean(x**2)
    r = np.sqrt(ms + eps)
    h = x / r
    right = gain * (v - h * np.mean(h * v)) / r
    bare, outside = np.sqrt(ms), np.sqrt(ms) + eps
    w = gain * v
    off = (x - x.mean()) / np.sqrt(x.var() + eps)
    total = np.sqrt(np.sum(x**2) + eps)
    check_array(
        rms_norm_push(x.copy(), gain.copy(), eps, v.copy()),
        right,
        "rms_norm_push",
        mistakes=[
            (gain * v / r, "this holds r fixed, but r depends on x as "
             "well: the projection is missing."),
            (right / gain, "the gain is missing."),
            (gain * (v - x / total * np.sum(x / total * v)) / total,
             "r needs the mean of the squares, not their sum."),
            ((w - h * np.mean(h * w)) / r, "this is the backward pass, "
             "the transpose of J: the gain acts after the projection."),
            (gain * (v - h * np.sum(h * v)) / r, "the projection needs the "
             "mean over the D entries, not their sum."),
            (gain * (v + h * np.mean(h * v)) / r, "the projection has the "
             "wrong sign."),
            (gain * (v - x * np.mean(x * v)) / r, "the projection is on "
             "x_hat = x/r, not on x."),
            (right * r, "the factor 1/r is missing."),
            (right / r, "this divides by r once too often."),
            (gain * (v - x / bare * np.mean(x / bare * v)) / bare,
             "eps is ignored."),
            (gain * (v - x / outside * np.mean(x / outside * v)) / outside,
             "eps stands outside the root; it belongs inside."),
            (gain * (v - v.mean() - off * np.mean(off * v))
             / np.sqrt(x.var() + eps), "this is LayerNorm: RMSNorm does not "
             "subtract the mean."),
        ],
    )
### END HIDDEN TESTS

# %% [markdown]
# ## 3 · Three layers, written out
#
# *Beginner · 7 points · 20 minutes · chapter "Pre-LN against Post-LN"*
#
# A toy network has three layers, $l=1,2,3$, and each holds *one*
# sublayer $f_l$ and *one* normalization $\mathrm{Norm}_l$. Nothing
# follows layer 3: beside the three normalizations inside the layers there
# is no final one. A layer has one of two forms:
#
# - Post-LN: $x_l=\mathrm{Norm}_l\big(x_{l-1}+f_l(x_{l-1})\big)$,
# - Pre-LN: $x_l=x_{l-1}+f_l\big(\mathrm{Norm}_l(x_{l-1})\big)$.
#
# Let $J_l$ be the Jacobian of $f_l$ and $N_l$ that of $\mathrm{Norm}_l$,
# each at the point where the network evaluates it. Vectors are columns,
# and row $i$, column $j$ of a Jacobian holds
# $\partial\text{output}_i/\partial\text{input}_j$. Matrices do not
# commute, so the symbols do not either, and `1` stands for the identity
# matrix.
#
# Write three functions, each of which returns
# $\partial x_3/\partial x_0$:
#
# - `post_ln_gradient(J, N)`: all three layers are Post-LN.
# - `pre_ln_gradient(J, N)`: all three layers are Pre-LN.
# - `mixed_gradient(J, N)`: layers 1 and 3 are Pre-LN, layer 2 is Post-LN.
#
# In all three:
#
# - `J`, `N`: tuples of three noncommutative SymPy symbols, layer 1 first:
#   `J[0]` is $J_1$.
# - Each returns a SymPy expression in these symbols. Factored or
#   expanded, both are right; the order of the factors counts.
#
# A small case: with the branch of layer 2 alone, `J = (0, J[1], 0)`,
# Post-LN gives `N[2]*N[1]*(1 + J[1])*N[0]`, Pre-LN gives
# `1 + J[1]*N[1]`, and the mixed network gives `N[1]*(1 + J[1])`.
#
# <details><summary>Hint</summary>
#
# Write $\partial x_l/\partial x_{l-1}$ for one layer. The chain rule
# puts the last layer's factor on the left.
#
# </details>

# %% nbgrader={"grade_id": "gradients", "solution": true}
def post_ln_gradient(J, N):
    """Return dx_3/dx_0 of the Post-LN network, a SymPy expression."""
    ### BEGIN SOLUTION
    return N[2] * (1 + J[2]) * N[1] * (1 + J[1]) * N[0] * (1 + J[0])
    ### END SOLUTION


def pre_ln_gradient(J, N):
    """Return dx_3/dx_0 of the Pre-LN network, a SymPy expression."""
    ### BEGIN SOLUTION
    return (1 + J[2] * N[2]) * (1 + J[1] * N[1]) * (1 + J[0] * N[0])
    ### END SOLUTION


def mixed_gradient(J, N):
    """Return dx_3/dx_0 where layer 2 is Post-LN, 1 and 3 Pre-LN."""
    ### BEGIN SOLUTION
    return (1 + J[2] * N[2]) * N[1] * (1 + J[1]) * (1 + J[0] * N[0])
    ### END SOLUTION

# %% nbgrader={"grade_id": "gradients-check", "grade": true, "points": 1}
# Check, 1 point: one branch, that of layer 2, and the skips.
check_function("post_ln_gradient", globals())
check_function("pre_ln_gradient", globals())
check_function("mixed_gradient", globals())
N = sp.symbols("N1:4", commutative=False)
J2 = sp.Symbol("J2", commutative=False)
J = (sp.Integer(0), J2, sp.Integer(0))
skip = "the skip is missing: x itself passes each layer as well."
check_expression(
    post_ln_gradient(J, N),
    N[2] * N[1] * (1 + J2) * N[0],
    "post_ln_gradient with one branch",
    symbols=(*N, J2),
    mistakes=[
        (0, skip),
        (N[0] * N[1] * (1 + J2) * N[2], "the order is reversed; the last "
         "layer's factor stands on the left."),
        (N[2] * (1 + J2) * N[1] * N[0], "the normalization comes after the "
         "sum, so its Jacobian stands to the left of 1 + J."),
        (1 + N[1] * J2, "the normalization acts on the whole sum, skip "
         "included, not on the branch alone."),
        (1 + J2 * N[1], "this is the Pre-LN expression."),
        (1 + J2, "Post-LN normalizes the sum, so the skip meets the "
         "normalization too."),
        (N[1] * (1 + J2) * N[0], "the normalization of the third layer is "
         "missing: it is part of that layer."),
    ],
)
check_expression(
    pre_ln_gradient(J, N),
    1 + J2 * N[1],
    "pre_ln_gradient with one branch",
    symbols=(*N, J2),
    mistakes=[
        (0, skip),
        (1 + N[1] * J2, "inside the branch the normalization acts first, so "
         "N stands to the right of J."),
        (N[2] * (1 + J2) * N[1] * N[0], "in Pre-LN the normalization stands "
         "inside the branch; the skip goes around it."),
        ((1 + J2) * N[2] * N[1] * N[0], "in Pre-LN the normalization stands "
         "inside the branch; the skip goes around it."),
        (N[2] * N[1] * (1 + J2) * N[0], "this is the Post-LN expression."),
        (1 + J2, "the normalization Jacobian is missing."),
    ],
)
check_expression(
    mixed_gradient(J, N),
    N[1] * (1 + J2),
    "mixed_gradient with one branch",
    symbols=(*N, J2),
    mistakes=[
        (0, skip),
        (1 + J2 * N[1], "layer 2 is Post-LN: its skip meets the "
         "normalization."),
        (N[2] * N[1] * (1 + J2) * N[0], "layers 1 and 3 are Pre-LN: there "
         "the skip goes around the normalization."),
        (N[2] * (1 + J2 * N[1]) * N[0], "only layer 2 is Post-LN; this takes "
         "it for the one that is Pre-LN."),
        ((1 + J2) * N[1], "in layer 2 the normalization comes after the "
         "sum, so its Jacobian stands to the left of 1 + J."),
        (1 + N[1] * J2, "in layer 2 the normalization acts on the whole "
         "sum, skip included."),
        (1 + J2, "the normalization Jacobian is missing."),
    ],
)

# %% nbgrader={"grade_id": "post-ln-graded", "grade": true, "points": 1}
# Grading, 1 point: Post-LN.
### BEGIN HIDDEN TESTS
A = sp.symbols("A1:4", commutative=False)
M = sp.symbols("M1:4", commutative=False)


def ordered(factor):
    """Multiply the three layers' factors, the last on the left."""
    return factor(A[2], M[2]) * factor(A[1], M[1]) * factor(A[0], M[0])


check_expression(
    post_ln_gradient(A, M),
    ordered(lambda j, n: n * (1 + j)),
    "post_ln_gradient",
    mistakes=[
        (M[0] * (1 + A[0]) * M[1] * (1 + A[1]) * M[2] * (1 + A[2]),
         "the order of the layers is reversed; the last layer's factor "
         "stands on the left."),
        (ordered(lambda j, n: (1 + j) * n), "the normalization comes after "
         "the sum, so its Jacobian stands to the left of 1 + J."),
        (ordered(lambda j, n: n * j), "the skip is missing: x itself passes "
         "each layer as well."),
        (ordered(lambda j, n: 1 + j), "the normalization Jacobians are "
         "missing."),
        (ordered(lambda j, n: 1 + n * j), "the normalization acts on the "
         "whole sum, skip included, not on the branch alone."),
        (ordered(lambda j, n: 1 + j * n), "this is the Pre-LN expression."),
        ((1 + A[2]) * M[1] * (1 + A[1]) * M[0] * (1 + A[0]),
         "the normalization of the third layer is missing: it is part of "
         "that layer."),
        (1 + sum(n * j for j, n in zip(A, M, strict=True)),
         "layers follow one another, so their factors multiply; a sum "
         "keeps only the first-order paths."),
        (1 + sum(j * n for j, n in zip(A, M, strict=True)),
         "layers follow one another, so their factors multiply; a sum "
         "keeps only the first-order paths."),
    ],
)
### END HIDDEN TESTS

# %% nbgrader={"grade_id": "pre-ln-graded", "grade": true, "points": 2}
# Grading, 2 points: Pre-LN.
### BEGIN HIDDEN TESTS
A = sp.symbols("A1:4", commutative=False)
M = sp.symbols("M1:4", commutative=False)


def ordered(factor):
    """Multiply the three layers' factors, the last on the left."""
    return factor(A[2], M[2]) * factor(A[1], M[1]) * factor(A[0], M[0])


check_expression(
    pre_ln_gradient(A, M),
    ordered(lambda j, n: 1 + j * n),
    "pre_ln_gradient",
    mistakes=[
        ((1 + A[0] * M[0]) * (1 + A[1] * M[1]) * (1 + A[2] * M[2]),
         "the order of the layers is reversed; the last layer's factor "
         "stands on the left."),
        (ordered(lambda j, n: 1 + n * j), "inside the branch the "
         "normalization acts first, so N stands to the right of J."),
        (1 + sum(j * n for j, n in zip(A, M, strict=True)),
         "layers follow one another, so their factors multiply; a sum "
         "keeps only the first-order paths."),
        (ordered(lambda j, n: (1 + j) * n), "the skip goes around the "
         "normalization; only the branch is normalized."),
        (ordered(lambda j, n: n * (1 + j)), "this is the Post-LN "
         "expression."),
        (ordered(lambda j, n: 1 + j), "the normalization Jacobians are "
         "missing."),
        (ordered(lambda j, n: j * n), "the skip is missing: x itself passes "
         "each layer as well."),
    ],
)
### END HIDDEN TESTS

# %% nbgrader={"grade_id": "mixed-graded", "grade": true, "points": 3}
# Grading, 3 points: the mixed network.
### BEGIN HIDDEN TESTS
A = sp.symbols("A1:4", commutative=False)
M = sp.symbols("M1:4", commutative=False)


def three(outer, inner):
    """Multiply layers 3, 2, 1; `inner` is the factor of layer 2."""
    return outer(A[2], M[2]) * inner(A[1], M[1]) * outer(A[0], M[0])


def pre(j, n):
    """Return the factor of a Pre-LN layer."""
    return 1 + j * n


def post(j, n):
    """Return the factor of a Post-LN layer."""
    return n * (1 + j)


check_expression(
    mixed_gradient(A, M),
    three(pre, post),
    "mixed_gradient",
    mistakes=[
        (pre(A[0], M[0]) * post(A[1], M[1]) * pre(A[2], M[2]),
         "the order of the layers is reversed; the last layer's factor "
         "stands on the left."),
        (three(pre, pre), "layer 2 is Post-LN, and this treats it as "
         "Pre-LN."),
        (three(post, post), "layers 1 and 3 are Pre-LN, and this treats "
         "them as Post-LN."),
        (three(post, pre), "only layer 2 is Post-LN; this takes it for the "
         "one that is Pre-LN."),
        (M[1] * three(pre, lambda j, n: 1 + j), "layer 2's normalization "
         "comes before layer 3, so its Jacobian stands to the right of "
         "layer 3's factor."),
        (three(pre, lambda j, n: 1 + j) * M[1], "layer 2's normalization "
         "comes after layer 1, so its Jacobian stands to the left of "
         "layer 1's factor."),
        (three(pre, lambda j, n: (1 + j) * n), "in layer 2 the "
         "normalization comes after the sum, so its Jacobian stands to the "
         "left of 1 + J."),
        (three(pre, lambda j, n: 1 + n * j), "in layer 2 the normalization "
         "acts on the whole sum, skip included."),
        (three(lambda j, n: 1 + n * j, post), "inside the branch the "
         "normalization acts first, so N stands to the right of J."),
        (three(lambda j, n: (1 + j) * n, post), "in layers 1 and 3 the skip "
         "goes around the normalization; only the branch is normalized."),
        (three(lambda j, n: 1 + j, lambda j, n: 1 + j),
         "the normalization Jacobians are missing."),
        (three(lambda j, n: j * n, lambda j, n: n * j),
         "the skip is missing: x itself passes each layer as well."),
    ],
)
### END HIDDEN TESTS

# %% [markdown]
# ## 4 · How many normalizations does the gradient meet?
#
# *Beginner · 4 points · 10 minutes · chapter "Pre-LN against Post-LN"*
#
# Expand the product of exercise 3. Each term is one *path*: in every
# sublayer it takes either the skip or the branch. Count the
# normalization Jacobians on a path.
#
# Write `norms_met(placement, n_layers, sublayers, final_norm)`, which
# returns `(fewest, most)`: the smallest and the largest count that any
# path has.
#
# - `placement`: `"pre"` or `"post"`.
# - `n_layers`: how many layers; `sublayers`: how many sublayers each layer
#   holds, every one with its own skip and its own normalization (1 in the
#   toy of exercise 3; 2 in a transformer: attention and MLP).
# - `final_norm`: `True` if one more normalization follows the last layer.
# - Returns a tuple of two whole numbers.
#
# Two small cases: `norms_met("pre", 1, 2, True)` is `(1, 3)`. The two
# skips meet the final normalization alone; the two branches meet their own
# as well. `norms_met("post", 1, 2, True)` is `(3, 3)`.
#
# <details><summary>Hint</summary>
#
# Which Jacobians are common to all the terms, and which stand beside a
# $J$?
#
# </details>

# %% nbgrader={"grade_id": "norms-met", "solution": true}
def norms_met(placement, n_layers, sublayers, final_norm):
    """Return (fewest, most) normalization Jacobians on a path."""
    ### BEGIN SOLUTION
    norms = n_layers * sublayers
    fewest = norms if placement == "post" else 0
    return fewest + int(final_norm), norms + int(final_norm)
    ### END SOLUTION

# %% nbgrader={"grade_id": "norms-met-check", "grade": true, "points": 1}
# Check, 1 point: the small cases.
check_function("norms_met", globals())
for kind, least in (("pre", 1), ("post", 3)):
    counts = norms_met(kind, 1, 2, True)
    check_tuple(counts, ("fewest", "most"), "norms_met(...)")
    name = f"for one {kind.capitalize()}-LN layer with final norm"
    check_integer(
        counts[0], least, f"fewest, {name}",
        [(2, "the final normalization is missing, or a layer of two "
          "sublayers counted as one.")] * (kind == "post")
        + [(1, "in Post-LN the skip ends inside the normalization, so it "
            "meets every one."),
           (0, "the final normalization is missing."),
           (3, "in Pre-LN the skip goes around the normalization."),
           (2, "in Pre-LN the skip goes around the normalization.")],
    )
    check_integer(
        counts[1], 3, f"most, {name}",
        [(2, "a path may take both branches; each meets its own "
          "normalization, and then the final one."),
         (1, "a path may take both branches, and meet a normalization in "
          "each."),
         (5, "this is the number of paths and one, not of normalizations "
          "on one path."),
         (4, "this is the number of paths, not of normalizations on one "
          "path.")],
    )

# %% nbgrader={"grade_id": "norms-met-graded", "grade": true, "points": 3}
# Grading, 3 points: both forms, one and two sublayers, any depth.
### BEGIN HIDDEN TESTS
cases = [("post", 3, 2, 0), ("post", 3, 1, 0), ("pre", 3, 1, 0),
         ("pre", 3, 2, 1), ("post", 5, 2, 1), ("pre", 4, 3, 0)]
for kind, layers, per_layer, last in cases:
    counts = norms_met(kind, layers, per_layer, bool(last))
    check_tuple(counts, ("fewest", "most"), "norms_met(...)")
    every = layers * per_layer
    name = f"with {kind.capitalize()}-LN, {layers} layers of {per_layer} sublayer(s), " + (
        "a final norm" if last else "no final norm"
    )
    last_missing = "the final normalization is not counted."
    check_integer(
        counts[0], (every if kind == "post" else 0) + last, f"fewest, {name}",
        [(per_layer + last, "every layer counts, not one alone.")]
        * (kind == "post" and per_layer > 1)
        + [(few, "in Post-LN the skip ends inside the normalization, so it "
          "meets every one.") for few in (last, 1)] * (kind == "post")
        + [(every + last, "in Pre-LN the skip goes around the "
            "normalization.")] * (kind == "pre")
        + [(layers + last, "each sublayer has its own normalization, not "
            "each layer."),
           (every, last_missing), (0, last_missing),
           (every * (kind == "post") + 1,
            "there is no final normalization here.")],
    )
    check_integer(
        counts[1], every + last, f"most, {name}",
        [(layers + last, "each sublayer has its own normalization, not "
          "each layer."),
         (every, last_missing),
         (2**every + last, "this is the number of paths, not of "
          "normalizations on one path."),
         (2**every, "this is the number of paths, not of normalizations "
          "on one path."),
         (every + 1, "there is no final normalization here."),
         (last, "a path may take every branch, and meet a normalization in "
          "each.")],
    )
### END HIDDEN TESTS

# %% [markdown]
# ## 5 · Does it follow?
#
# *Beginner · 4 points · 15 minutes · in words, marked by hand · chapter
# "Pre-LN against Post-LN"*
#
# A colleague looks at your counts and says: "In Post-LN every path meets
# a normalization Jacobian in each layer. In Pre-LN one path meets none.
# So Post-LN's gradient must shrink as the network gets deeper."
#
# Answer in four to eight sentences:
#
# 1. Which part of this is exact?
# 2. Why does the conclusion not follow? Use your expressions.
# 3. Which measurement would settle it for a given network?
#
# | points | for |
# | --- | --- |
# | 1 | the exact part, and for which networks it holds |
# | 2 | a reason that the total can behave otherwise than one path (1), tied to the factors of your product (1) |
# | 1 | a measurement that can be carried out, and what each outcome would mean |

# %% [markdown] nbgrader={"grade_id": "does-it-follow", "grade": true, "solution": true, "points": 4}
# The exact part is about the counts: every Post-LN path meets L
# normalization Jacobians, and the Pre-LN identity path meets none. But the
# gradient is the sum of all 2^L paths, and the identity path is one of
# them. One Post-LN layer multiplies by N (1 + J): the normalization divides
# by the size of the sum x + f(x), while 1 + J may amplify by as much or by
# more. Shrinking would need N (1 + J) to shrink most directions, and no
# count can show that. With independent random directions the factor is
# sqrt((1 + chi_J) / (1 + chi_f)): one for a ReLU block, above one for
# SwiGLU. To settle it, measure the gradient's norm at the first and at the
# last layer, at initialization, for several depths: a ratio that falls
# geometrically with depth would confirm the claim, one that stays or grows
# would refute it.
