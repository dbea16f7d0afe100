# %% [markdown]
# # Numbers · beginner: two blocks by hand, and what a model weighs
#
# Four exercises, about 75 minutes, 24 points. They go with the chapters
# *Blocks, forward and backward*, *The transformer, assembled* and *What it
# costs*.
#
# Run the cells from the top. Write where a cell says `YOUR CODE HERE` or
# `YOUR ANSWER HERE`, in place of the line `raise NotImplementedError()`,
# then run the check below it. The checks you see look at small cases, most
# of them to six digits. Grading tries other inputs as well, to the accuracy
# that the exercise states: write functions that use their arguments, not
# numbers read off the small case. NumPy and plain Python are all you need.
# A function may overwrite its arguments, because each check hands over
# copies. Cells that are not yours to fill are locked; add cells of your own
# wherever you like.
#
# A relative error here is the largest error of any entry, divided by the
# largest entry of the right answer. When you are done, download the notebook
# (in Colab: File, Download, Download .ipynb) and hand in that file.

# %% nbgrader={"grade_id": "setup", "locked": true}
import numpy as np

# %% nbgrader={"grade_id": "checks", "locked": true}
from autograder.checks import (
    Mistake,
    check_array,
    check_function,
    check_integer,
    check_number,
    check_rng,
    check_tuple,
)

# %% [markdown]
# ## 1 · RMSNorm, there and back
#
# *Beginner · 8 points · 25 minutes · chapter "Blocks, forward and
# backward"*
#
# RMSNorm treats each row of $D$ numbers by itself:
# $$y_i=g_i\,\hat x_i,\qquad \hat x_i=\frac{x_i}{r},\qquad
#   r=\sqrt{\tfrac1D\sum_k x_k^2+\varepsilon}\,.$$
# A loss $\mathcal L$ depends on all the $y$. Write two functions:
#
# - `rms_norm(x, gain, eps)` returns $y$.
# - `rms_norm_backward(dy, x, gain, eps)` gets
#   $\mathrm dy=\partial\mathcal L/\partial y$ and returns the tuple
#   `(dx, dgain)` of $\partial\mathcal L/\partial x$ and
#   $\partial\mathcal L/\partial g$.
#
# In both:
#
# - `x`, `dy`: float64 arrays of shape `(B, T, D)`; a row is what lies along
#   the last axis. `gain`: float64 of shape `(D,)`, shared by all $B\cdot T$
#   rows. `eps`: a float > 0, not always small.
# - `y` and `dx` have shape `(B, T, D)`, `dgain` has shape `(D,)`. Each is
#   float64 and right to a relative error of $10^{-6}$.
#
# A small case: `x = [[[5, 1, -2], [1, -2, 2]]]`, `gain = [2, 1, 3]`,
# `eps = 6` and `dy = [[[1, 2, -1], [-1, 3, 2]]]`. The two rows have $r=4$
# and $r=3$. Then, rounded, `y = [[[2.5, 0.25, -1.5],
# [0.6667, -0.6667, 2]]]`, `dx = [[[0.03125, 0.40625, -0.5625],
# [-0.7160, 1.0988, 1.9012]]]` and `dgain = [0.9167, -1.5, 1.8333]`.
#
# <details><summary>Hint</summary>
#
# Write the loss of one row as the sum of $\mathrm dy_i\,g_i\,x_i\,r^{-1}$
# and differentiate by $x_j$. It occurs in $x_j$ itself and in $r$.
# One gain serves every row, so every row adds to its gradient.
#
# </details>

# %% nbgrader={"grade_id": "rms-norm", "solution": true}
def rms_norm(x, gain, eps):
    """Return y, RMSNorm of the rows of x; shape (B, T, D)."""
    ### BEGIN SOLUTION
    return gain * x / np.sqrt((x**2).mean(-1, keepdims=True) + eps)
    ### END SOLUTION


def rms_norm_backward(dy, x, gain, eps):
    """Return (dx, dgain), of shapes (B, T, D) and (D,)."""
    ### BEGIN SOLUTION
    r = np.sqrt((x**2).mean(-1, keepdims=True) + eps)
    x_hat = x / r
    dx_hat = dy * gain
    along = (dx_hat * x_hat).mean(-1, keepdims=True)
    return (dx_hat - x_hat * along) / r, (dy * x_hat).sum((0, 1))
    ### END SOLUTION

# %% nbgrader={"grade_id": "rms-norm-check", "grade": true, "points": 1}
# Check, 1 point: the small case.
check_function("rms_norm", globals())
check_function("rms_norm_backward", globals())
x = np.array([[[5.0, 1.0, -2.0], [1.0, -2.0, 2.0]]])
dy = np.array([[[1.0, 2.0, -1.0], [-1.0, 3.0, 2.0]]])
gain, eps = np.array([2.0, 1.0, 3.0]), 6.0
check_array(
    rms_norm(x.copy(), gain.copy(), eps),
    np.array([[[5 / 2, 1 / 4, -3 / 2], [2 / 3, -2 / 3, 2.0]]]),
    "y of the small case",
    dtype=np.float64,
    mistakes=[
        (x / np.array([4.0, 3.0])[:, None], "the gain is missing."),
        (gain * x / np.sqrt([10.0, 3.0])[:, None], "eps is ignored."),
        (gain * x / (np.sqrt([10.0, 3.0]) + 6)[:, None],
         "eps stands outside the root; it belongs inside."),
        (gain * x / np.sqrt([36.0, 15.0])[:, None],
         "r needs the mean of the squares, not their sum."),
        (gain * x / np.array([16.0, 9.0])[:, None],
         "the root is missing: r is the root of the mean square plus eps."),
        (gain * x / np.sqrt(12.5), "each row has its own r."),
        (gain * (x - x.mean(-1, keepdims=True))
         / np.sqrt(x.var(-1, keepdims=True) + eps),
         "this is LayerNorm: RMSNorm does not subtract the mean."),
    ],
)
pair = rms_norm_backward(dy.copy(), x.copy(), gain.copy(), eps)
check_tuple(pair, ("dx", "dgain"), "rms_norm_backward(...)")
if np.shape(pair[0]) == (3,):
    raise Mistake("return (dx, dgain), in this order.")
if np.shape(pair[1]) in ((1, 2, 3), (2, 3), (1, 3)):
    raise Mistake(
        "dgain has more than one entry a channel; all rows, over B and over "
        "T, share one gain, so their gradients add up."
    )
check_array(
    pair[0],
    np.array([[[1 / 32, 13 / 32, -9 / 16], [-58 / 81, 89 / 81, 154 / 81]]]),
    "dx of the small case",
    dtype=np.float64,
    mistakes=[
        (np.array([[[0.5, 0.5, -0.75], [-2 / 3, 1.0, 2.0]]]),
         "this holds r fixed, but r depends on x as well."),
        (np.array([[[-0.90625, 0.21875, -0.1875],
                   [-22 / 27, 35 / 27, 46 / 27]]]),
         "the projection needs the mean over the D entries, not their sum."),
        (np.array([[[0.015625, 0.453125, -0.15625],
                   [-8 / 27, 25 / 27, 20 / 27]]]), "the gain is missing."),
        (np.array([[[0.03125, 0.453125, -0.46875],
                   [-16 / 27, 25 / 27, 20 / 9]]]),
         "the gain comes after the projection here; backward it comes first."),
        (np.array([[[0.96875, 0.59375, -0.9375],
                   [-50 / 81, 73 / 81, 170 / 81]]]),
         "the projection has the wrong sign."),
        (np.array([[[-7.0, -1.0, 2.25], [-10 / 9, 17 / 9, 10 / 9]]]),
         "the projection is on x_hat = x/r, not on x."),
        (np.array([[[0.125, 1.625, -2.25],
                   [-58 / 27, 89 / 27, 154 / 27]]]),
         "the factor 1/r is missing."),
        (np.array([[[0.1961805556, 0.4392361111, -0.6284722222],
                    [-0.774691358, 1.2160493827, 1.7839506173]]]),
         "each row is projected by itself: take the mean over the last "
         "axis alone."),
        (np.array([[[-0.316227766, 0.4427188724, -0.5692099788],
                    [-1.411300658, 2.2452510468, 2.9509013759]]]),
         "eps is missing in the backward's r."),
        (np.array([[[-1.375, 0.125, 0.0], [-22 / 27, 35 / 27, 46 / 27]]]),
         "x stands where x/r belongs, in one of its two places."),
    ],
)
check_array(
    pair[1],
    np.array([11 / 12, -3 / 2, 11 / 6]),
    "dgain of the small case",
    dtype=np.float64,
    mistakes=[
        (np.array([4.0, -4.0, 6.0]), "the gain multiplies x/r, not x."),
        (np.array([11 / 6, -3 / 2, 11 / 2]), "the gain itself does not "
         "appear in its own gradient."),
        (np.array([11 / 24, -3 / 4, 11 / 12]), "the rows share one gain, so "
         "their gradients add up; this takes their mean."),
    ],
)

# %% nbgrader={"grade_id": "rms-norm-forward-graded", "grade": true, "points": 2}
# Grading, 2 points: the forward.
### BEGIN HIDDEN TESTS
rng = check_rng()
for shape, eps in (((2, 3, 5), 0.4), ((3, 1, 4), 1.5)):
    x, gain = 1 + rng.normal(size=shape), 1 + rng.uniform(size=shape[-1])
    ms = (x**2).mean(-1, keepdims=True)
    centred = x - x.mean(-1, keepdims=True)
    check_array(
        rms_norm(x.copy(), gain.copy(), eps),
        gain * x / np.sqrt(ms + eps),
        "y",
        dtype=np.float64,
        mistakes=[
            (x / np.sqrt(ms + eps), "the gain is missing."),
            (gain * x / np.sqrt(ms), "eps is ignored."),
            (gain * x / (np.sqrt(ms) + eps), "eps stands outside the root; "
             "it belongs inside."),
            (gain * x / np.sqrt(ms * shape[-1] + eps), "r needs the mean of "
             "the squares, not their sum."),
            (gain * x / (ms + eps), "the root is missing: r is the root of "
             "the mean square plus eps."),
            (gain * x / np.sqrt((x**2).mean() + eps), "each row has its own "
             "r."),
            (gain * centred
             / np.sqrt((centred**2).mean(-1, keepdims=True) + eps),
             "this is LayerNorm: RMSNorm does not subtract the mean."),
        ],
    )
### END HIDDEN TESTS

# %% nbgrader={"grade_id": "rms-norm-dx-graded", "grade": true, "points": 3}
# Grading, 3 points: dx.
### BEGIN HIDDEN TESTS
rng = check_rng()


def dx_of(x, dx_hat, r, mean=np.mean, sign=1):
    """Return dx; what can go wrong is a parameter."""
    h = x / r
    along = mean(dx_hat * h, axis=-1, keepdims=True)
    return (dx_hat - sign * h * along) / r


for shape, eps in (((2, 3, 5), 0.4), ((3, 1, 4), 1.5)):
    x, dy = 1 + rng.normal(size=shape), 1 + rng.normal(size=shape)
    gain = 1 + rng.uniform(size=shape[-1])
    ms = (x**2).mean(-1, keepdims=True)
    r, g = np.sqrt(ms + eps), dy * gain
    centred = x - x.mean(-1, keepdims=True)
    std = np.sqrt((centred**2).mean(-1, keepdims=True) + eps)
    layer = dx_of(centred, g, std) - g.mean(-1, keepdims=True) / std
    grads = rms_norm_backward(dy.copy(), x.copy(), gain.copy(), eps)
    check_tuple(grads, ("dx", "dgain"), "rms_norm_backward(...)")
    right = dx_of(x, g, r)
    check_array(
        grads[0],
        right,
        "dx",
        dtype=np.float64,
        mistakes=[
            (g / r, "this holds r fixed, but r depends on x as well."),
            (dx_of(x, dy, r), "the gain is missing."),
            (gain * dx_of(x, dy, r), "the gain comes after the projection "
             "here; backward it comes first."),
            (dx_of(x, g, r, np.sum), "the projection needs the mean over "
             "the D entries, not their sum."),
            (dx_of(x, g, r, sign=-1), "the projection has the wrong sign."),
            ((g - x * (g * x).mean(-1, keepdims=True)) / r,
             "the projection is on x_hat = x/r, not on x."),
            (right * r, "the factor 1/r is missing."),
            (right / r, "this divides by r once too often."),
            (dx_of(x, g, np.sqrt(ms)), "eps is ignored."),
            (dx_of(x, g, np.sqrt(ms) + eps), "eps stands outside the root; "
             "it belongs inside."),
            (dx_of(x, g, np.sqrt(ms * shape[-1] + eps), np.sum),
             "r needs the mean of the squares, not their sum."),
            (dx_of(x, g, np.sqrt((x**2).mean() + eps)), "each row has its "
             "own r."),
            ((g - x / r * (g * x / r).mean()) / r, "each row is projected "
             "by itself: take the mean over the last axis alone."),
            (layer, "this is LayerNorm: RMSNorm does not subtract the "
             "mean."),
        ],
    )
### END HIDDEN TESTS

# %% nbgrader={"grade_id": "rms-norm-dgain-graded", "grade": true, "points": 2}
# Grading, 2 points: dgain.
### BEGIN HIDDEN TESTS
rng = check_rng()
for shape, eps in (((2, 3, 5), 0.4), ((3, 1, 4), 1.5)):
    x, dy = 1 + rng.normal(size=shape), 1 + rng.normal(size=shape)
    gain = 1 + rng.uniform(size=shape[-1])
    ms = (x**2).mean(-1, keepdims=True)
    each = dy * x / np.sqrt(ms + eps)
    centred = x - x.mean(-1, keepdims=True)
    layer = dy * centred / np.sqrt(x.var(-1, keepdims=True) + eps)
    grads = rms_norm_backward(dy.copy(), x.copy(), gain.copy(), eps)
    check_tuple(grads, ("dx", "dgain"), "rms_norm_backward(...)")
    if np.shape(grads[1]) in (shape, shape[1:], shape[::2]):
        raise Mistake(
            "dgain has more than one entry a channel; all rows, over B and "
            "over T, share one gain, so their gradients add up."
        )
    check_array(
        grads[1],
        each.sum((0, 1)),
        "dgain",
        dtype=np.float64,
        mistakes=[
            (each.mean((0, 1)), "the rows share one gain, so their "
             "gradients add up; this takes their mean."),
            ((dy * x).sum((0, 1)), "the gain multiplies x/r, not x."),
            ((each * gain).sum((0, 1)), "the gain itself does not appear in "
             "its own gradient."),
            (dy.sum((0, 1)), "this is the gradient of a bias; the gain "
             "multiplies x/r."),
            ((dy * x / np.sqrt(ms)).sum((0, 1)), "eps is ignored."),
            (layer.sum((0, 1)), "this is LayerNorm: RMSNorm does not "
             "subtract the mean."),
        ],
    )
### END HIDDEN TESTS

# %% [markdown]
# ## 2 · Cross-entropy, with targets that do not count
#
# *Beginner · 6 points · 20 minutes · chapter "Blocks, forward and
# backward"*
#
# A model gives $V$ logits $z_{t}$ for each of $T$ positions. With
# $p_t=\mathrm{softmax}(z_t)$ and the target $y_t$, a class from 0 to
# $V-1$, the loss is the mean of $-\log p_{t,y_t}$ over the positions that
# count. Positions with target $-100$ do not count: neither in the sum nor
# in the number $N$ that it is divided by. That $-100$ is a mark, and no class
# or index. For a position that counts,
# $$\frac{\partial\,\mathrm{loss}}{\partial z_t}
#   =\frac{p_t-\mathrm{onehot}(y_t)}{N}.$$
#
# Write `cross_entropy(logits, targets)`, which returns the tuple
# `(loss, dlogits)`.
#
# - `logits`: a float64 array of shape `(T, V)`, finite, maybe as large as
#   ±1000; `V` may be 2 or several hundred. `targets`: an integer array of
#   shape `(T,)`; at least one position counts.
# - `loss`: one float, in nats (natural logarithm), finite and right to a
#   relative error of $10^{-9}$. `dlogits`: a float64 array of shape
#   `(T, V)`, right to a relative error of $10^{-9}$. Rows that do not count
#   are exactly 0.
#
# A small case: `logits = np.log([[1, 2, 5, 2], [3, 1, 2, 4], [1, 6, 2, 1]])`,
# then 1000 added to the last row, and `targets = [2, -100, 0]`. Softmax
# gives `[0.1, 0.2, 0.5, 0.2]` in the first row and `[0.1, 0.6, 0.2, 0.1]`
# in the last. So `loss = (log 2 + log 10)/2 = 1.497866` and `dlogits =
# [[0.05, 0.1, -0.25, 0.1], [0, 0, 0, 0], [-0.45, 0.3, 0.1, 0.05]]`.
#
# <details><summary>Hint</summary>
#
# A common shift of a row's logits changes nothing, so subtract the largest
# one first. Do not take the logarithm of softmax, which may have
# become 0: use log p = z minus the logarithm of the sum of exponentials.
# In NumPy a negative index counts from the end.
#
# </details>

# %% nbgrader={"grade_id": "cross-entropy", "solution": true}
def cross_entropy(logits, targets):
    """Return (loss, dlogits), a float and an array of shape (T, V)."""
    ### BEGIN SOLUTION
    rows = np.flatnonzero(targets != -100)
    z = logits[rows] - logits[rows].max(-1, keepdims=True)
    log_p = z - np.log(np.exp(z).sum(-1, keepdims=True))
    chosen = np.arange(len(rows)), targets[rows]
    d = np.exp(log_p)
    d[chosen] -= 1
    dlogits = np.zeros(logits.shape)
    dlogits[rows] = d / len(rows)
    return -log_p[chosen].mean(), dlogits
    ### END SOLUTION

# %% nbgrader={"grade_id": "cross-entropy-check", "grade": true, "points": 1}
# Check, 1 point: the small case.
check_function("cross_entropy", globals())
logits = np.log([[1.0, 2, 5, 2], [3, 1, 2, 4], [1, 6, 2, 1]])
logits[2] += 1000
answer = cross_entropy(logits.copy(), np.array([2, -100, 0]))
check_tuple(answer, ("loss", "dlogits"), "cross_entropy(...)")
check_number(
    answer[0], 1.4978661367769954, "loss of the small case",
    mistakes=[
        (2.995732273553991, "this is the sum; the loss is the mean over the "
         "positions that count."),
        (0.9985774245179970, "this divides by all the positions; ignored "
         "ones do not count in N."),
        (-1.4978661367769954, "the loss is minus the logarithm."),
        (2.1609640474436813, "this is in bits; use the natural logarithm."),
        *((bad, "exponentials of large logits overflow: subtract the row's "
           "largest logit first.") for bad in (np.nan, np.inf, -np.inf)),
    ],
)
still = [0.0, 0.0, 0.0, 0.0]  # the ignored row
check_array(
    answer[1],
    np.array([[0.05, 0.1, -0.25, 0.1], still, [-0.45, 0.3, 0.1, 0.05]]),
    "dlogits of the small case",
    mistakes=[
        (np.array([[0.1, 0.2, -0.5, 0.2], still, [-0.9, 0.6, 0.2, 0.1]]),
         "the factor 1/N is missing: the loss is a mean."),
        (np.array([[0.1, 0.2, -0.5, 0.2], still, [-0.9, 0.6, 0.2, 0.1]]) / 3,
         "this divides by all the positions; ignored ones do not count "
         "in N."),
        (np.array([[0.05, 0.1, 0.25, 0.1], still, [0.05, 0.3, 0.1, 0.05]]),
         "the one-hot target is not subtracted."),
        (np.array([[0.05, 0.1, -0.25, 0.1], [0.15, 0.05, 0.1, 0.2],
                   [-0.45, 0.3, 0.1, 0.05]]),
         "the row that does not count must be 0."),
    ],
    dtype=np.float64,
)

# %% nbgrader={"grade_id": "cross-entropy-loss-graded", "grade": true, "points": 1}
# Grading, 1 point: the loss.
### BEGIN HIDDEN TESTS
rng = check_rng()
for T, V in ((5, 4), (7, 130), (4, 2), (1, 3)):
    z = 2 + 2 * rng.normal(size=(T, V))
    y = rng.integers(0, V, size=T)
    counts = np.ones(T, bool)
    counts[rng.permutation(T)[: T // 2]] = False
    p = np.exp(z) / np.exp(z).sum(-1, keepdims=True)
    each = -np.log(p[np.arange(T), y])
    as_class = -np.log(p[np.arange(T), np.where(counts, y, V - 100)]
                       ) if V > 100 else each
    as_zero = -np.log(p[np.arange(T), np.where(counts, y, 0)])
    N = counts.sum()
    answer = cross_entropy(z.copy(), np.where(counts, y, -100))
    check_tuple(answer, ("loss", "dlogits"), "cross_entropy(...)")
    check_number(
        answer[0], each[counts].mean(), f"loss with {V} classes",
        mistakes=[
            (each[counts].sum(), "this is the sum; the loss is the mean over "
             "the positions that count."),
            (each[counts].sum() / T, "this divides by all the positions; "
             "ignored ones do not count in N."),
            (each[counts].sum() / (N * V), "this divides by V as well; the "
             "mean is over positions."),
            (as_class.mean(), "-100 was taken for an index, which counts "
             "from the end."),
            (as_class.sum() / N, "-100 was taken for an index, which counts "
             "from the end."),
            (as_zero.mean(), "ignored positions were counted as if their "
             "target were class 0."),
            (as_zero.sum() / N, "ignored positions were counted as if their "
             "target were class 0."),
            (-each[counts].mean(), "the loss is minus the logarithm."),
            (each[counts].mean() / np.log(2), "this is in bits; use the "
             "natural logarithm."),
            (np.exp(-each[counts]).mean(), "this is the mean probability; "
             "the logarithm is missing."),
            (np.exp(each[counts].mean()), "this is the perplexity, the "
             "exponential of the loss."),
            (np.mean(-z[np.arange(T), y][counts]), "the logits are not "
             "log-probabilities yet: softmax is missing."),
        ],
    )
### END HIDDEN TESTS

# %% nbgrader={"grade_id": "cross-entropy-dlogits-graded", "grade": true, "points": 2}
# Grading, 2 points: its gradient.
### BEGIN HIDDEN TESTS
rng = check_rng()
for T, V in ((5, 4), (7, 130), (4, 2), (1, 3)):
    z = 2 + 2 * rng.normal(size=(T, V))
    y = rng.integers(0, V, size=T)
    counts = np.ones(T, bool)
    counts[rng.permutation(T)[: T // 2]] = False
    p = np.exp(z) / np.exp(z).sum(-1, keepdims=True)
    hot = np.eye(V)[y]
    keep, N = counts[:, None], counts.sum()
    d = p - hot
    answer = cross_entropy(z.copy(), np.where(counts, y, -100))
    check_tuple(answer, ("loss", "dlogits"), "cross_entropy(...)")
    unasked = np.where(keep, 0.0, p)
    as_class = np.where(keep, d, p - np.eye(V)[(V - 100) % V])
    as_zero = np.where(keep, d, p - np.eye(V)[0])
    check_array(
        answer[1], keep * d / N, f"dlogits with {V} classes",
        rtol=1e-9,
        dtype=np.float64,
        mistakes=[
            (keep * d, "the factor 1/N is missing: the loss is a mean."),
            (keep * d / T, "this divides by all the positions; ignored ones "
             "do not count in N."),
            (keep * d / (N * V), "this divides by V as well; the mean is "
             "over positions."),
            (keep * p / N, "the one-hot target is not subtracted."),
            (-hot * keep / N, "the softmax is missing: every logit of a row "
             "moves its loss."),
            *((wrong / n, "the rows that do not count must be 0.")
              for n in (N, T, 1)
              for wrong in (keep * d + unasked, as_class, as_zero)),
            (keep * d * (p * (1 - p)) / N, "there is no further factor "
             "p(1 - p): the logarithm cancels it."),
            (keep * d / p / N, "this is not the gradient by the logits: "
             "do not divide by p."),
        ],
    )
### END HIDDEN TESTS

# %% nbgrader={"grade_id": "cross-entropy-extreme-graded", "grade": true, "points": 2}
# Grading, 2 points: logits near ±1000.
### BEGIN HIDDEN TESTS
z = np.array([
    [1000.0, 0.0, -1000.0],
    [-1000.0, -1001.0, -1002.0],
    [5.0, 1000.0, 999.0],
    [3.0, 2.0, 1.0],
])
e = np.exp(-np.arange(3.0))
p = np.array([[1.0, 0.0, 0.0], e / e.sum(),
              [0.0, *(e[:2] / e[:2].sum())], e / e.sum()])
y = np.array([2, 1, 0, -100])
each = [2000.0, 1 + np.log(e.sum()), 995 + np.log(e[:2].sum())]
d = (p - np.eye(3)[np.maximum(y, 0)]) / 3
d[3] = 0
overflow = ("exponentials of large logits overflow, or those of very low "
            "ones vanish: subtract the row's largest logit first.")
vanished = ("a probability became 0 before its logarithm was taken: use "
            "z minus the logarithm of the sum of exponentials.")
answer = cross_entropy(z.copy(), y)
check_tuple(answer, ("loss", "dlogits"), "cross_entropy(...)")
cut = [[-np.log(c) if a > 30 else a for a in each]
       for c in (1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12, 1e-15, 1e-16, 1e-20,
                 1e-30, 1e-100, 1e-300)]
check_number(
    answer[0], np.mean(each), "loss with logits near 1000",
    mistakes=[(np.nan, overflow), (-np.inf, overflow), (np.inf, vanished),
              *((np.mean(c), "a probability was cut off at a small number; "
                 "the loss grows with the distance of the logits.")
                for c in cut)],
)
check_array(answer[1], d, "dlogits with logits near 1000", rtol=1e-9)
### END HIDDEN TESTS

# %% [markdown]
# ## 3 · How many bytes does training hold?
#
# *Beginner · 6 points · 15 minutes · chapter "What it costs"*
#
# A model of Llama's shape has these parameters, and no biases:
#
# - an embedding of $V$ rows and $D$ columns;
# - in each of its $L$ layers: the matrices `wq` $(D, HK)$, `wk` and `wv`
#   $(D, GK)$ and `wo` $(HK, D)$, where $K=D/H$ and $G\le H$ is the number
#   of key/value heads; three SwiGLU matrices, each of $D\cdot F$ numbers;
#   and two RMSNorms with a gain of $D$ numbers each;
# - one more RMSNorm after the last layer;
# - an output matrix $(D, V)$. In a *tied* model it is the embedding itself,
#   transposed, and adds nothing.
#
# Write two functions:
#
# - `param_count(V, D, L, H, G, F, tied)` returns the number of parameters.
#   All but `tied`, which is `True` or `False`, are positive `int`s; $H$
#   divides $D$, and $G$ divides $H$.
# - `adam_bytes(trained, frozen, mixed)` returns the bytes that belong to
#   parameters while a model trains with Adam. `trained` and `frozen` are
#   the *numbers* of parameters that are updated and that are not; both are
#   `int`s. Activations do not count.
#   - With `mixed = False` every number is float32 (4 bytes). A trained
#     parameter needs its weight, its gradient and Adam's two moments; a
#     frozen one needs its weight.
#   - With `mixed = True` weights and gradients are bfloat16 (2 bytes). A
#     trained parameter needs, beside these two, both moments in float32 and
#     a float32 copy of its weight. A frozen one needs its bfloat16 weight.
#
# Both return a whole number, exact for models of any size: an `int` and not
# a float, so divide with `//`.
#
# A small case: `param_count(11, 6, 2, 3, 1, 5, True)` is 468. A layer
# holds 96 numbers in attention, 90 in SwiGLU and 12 in norms. Untied, it
# is 534. And
# `adam_bytes(10, 100, False)` is 560, `adam_bytes(10, 100, True)` is 360.
#
# <details><summary>Hint</summary>
#
# For each parameter, list the numbers that are kept, and the bytes of each.
# The matrices wk and wv get smaller with G; wq and wo do not.
#
# </details>

# %% nbgrader={"grade_id": "bytes", "solution": true}
def param_count(V, D, L, H, G, F, tied):
    """Return the number of parameters, an int."""
    ### BEGIN SOLUTION
    K = D // H
    attention = 2 * D * H * K + 2 * D * G * K
    layer = attention + 3 * D * F + 2 * D
    return L * layer + D + V * D * (1 if tied else 2)
    ### END SOLUTION


def adam_bytes(trained, frozen, mixed):
    """Return the bytes of weights, gradients and moments, an int."""
    ### BEGIN SOLUTION
    if mixed:
        return trained * (2 + 2 + 4 + 4 + 4) + frozen * 2
    return trained * (4 + 4 + 4 + 4) + frozen * 4
    ### END SOLUTION

# %% nbgrader={"grade_id": "bytes-check", "grade": true, "points": 1}
# Check, 1 point: the small cases.
check_function("param_count", globals())
check_function("adam_bytes", globals())
check_integer(
    param_count(11, 6, 2, 3, 1, 5, True), 468, "param_count, the small case",
    [(534, "a tied output is the embedding itself and adds nothing."),
     (564, "wk and wv have G heads, not H."),
     (462, "the norm after the last layer is missing."),
     (438, "the gains of the norms are missing."),
     (408, "SwiGLU holds three matrices."),
     (444, "wk and wv are two matrices, each of D*G*K numbers."),
     (456, "each layer has two norms."),
     (420, "wo has H heads; only wk and wv have G."),
     (270, "a layer's parameters count in each of the L layers."),
     (402, "the embedding is missing."),
     (852, "a head is D/H wide, not D.")],
)
check_integer(
    param_count(11, 6, 2, 3, 1, 5, False), 534,
    "param_count, the small case, untied",
    [(468, "an untied output has a matrix of its own.")],
)
check_integer(
    adam_bytes(10, 100, False), 560, "adam_bytes, the small case",
    [(1760, "a frozen parameter has no gradient and no moments."),
     (160, "frozen weights must be in memory too."),
     (520, "a trained parameter has four numbers: weight, gradient and two "
      "moments."),
     (480, "Adam has two moments; the weight and the gradient count "
      "too."),
     (440, "a trained parameter has four numbers: weight, gradient and two "
      "moments."),
     (140, "these are numbers, not bytes.")],
)
check_integer(
    adam_bytes(10, 100, True), 360, "adam_bytes, the small case, mixed",
    [(320, "a trained parameter keeps both moments and a copy of its weight "
      "in float32."),
     (560, "a frozen weight has 2 bytes in mixed precision."),
     (760, "a frozen weight has no float32 copy."),
     (280, "the moments stay in float32, and there is a float32 copy of the "
      "weight."),
     (300, "the moments stay in float32."),
     (340, "the bfloat16 weight is kept beside its float32 copy."),
     (380, "weight and gradient have 2 bytes each."),
     (1760, "a frozen parameter has no gradient and no moments."),
     (160, "frozen weights must be in memory too.")],
)

# %% nbgrader={"grade_id": "param-count-graded", "grade": true, "points": 3}
# Grading, 3 points: other shapes, tied and untied.
### BEGIN HIDDEN TESTS
rng = check_rng()
shapes = [(128_256, 4096, 32, 32, 8, 14_336, False),
          (49_152, 576, 30, 9, 3, 1536, True),
          (10**12 + 1, 4_194_305, 3, 1, 1, 7, True),
          (32_000, 4096, 32, 32, 32, 11_008, False)]
for tied in (True, False):
    L, G, R, K = (int(n) for n in rng.integers(3, 7, size=4))
    V, F = (int(n) for n in rng.integers(50, 90, size=2))
    shapes.append((V, G * R * K, L, G * R, G, F, tied))
for V, D, L, H, G, F, tied in shapes:
    K = D // H
    kv, glu, norms, table = 2 * D * G * K, 3 * D * F, 2 * D, V * D
    layer = 2 * D * D + kv + glu + norms
    out = 0 if tied else table
    right = L * layer + D + table + out
    check_integer(
        param_count(V, D, L, H, G, F, tied), right,
        f"param_count({V}, {D}, {L}, {H}, {G}, {F}, {tied})",
        [(right + table, "a tied output is the embedding itself and adds "
          "nothing." if tied else "the embedding and the output are two "
          "matrices, not three."),
         (right - table, "the embedding is missing." if tied else
          "an untied output has a matrix of its own."),
         (right + L * (2 * D * D - kv), "wk and wv have G heads, not H."),
         (right - L * kv // 2, "wk and wv are two matrices, each of D*G*K "
          "numbers."),
         (right - L * kv, "wk and wv are missing."),
         (right - L * (2 * D * D - kv), "wq and wo have H heads; only wk "
          "and wv have G."),
         (right - L * (D * D - D * G * K), "wq and wo have H heads; only wk "
          "and wv have G."),
         (right - L * D * F, "SwiGLU holds three matrices."),
         (right - D, "the norm after the last layer is missing."),
         (right - L * norms - D, "the gains of the norms are missing."),
         (right - L * D, "each layer has two norms."),
         (right - L * norms, "each layer has two norms."),
         (right + D, "a norm here has a gain, and no bias."),
         (right + (2 * L + 1) * D, "a norm here has a gain, and no bias."),
         (right - (L - 1) * layer, "a layer's parameters count in each of "
          "the L layers."),
         (right + (L - 1) * (D + table + out), "the embedding, the last "
          "norm and the output occur once, not in each layer."),
         (right + L * (H - 1) * (2 * D * D + kv), "a head is D/H wide, "
          "not D."),
         (right + L * (2 * D * H * D + 2 * D * G * D - 2 * D * D - kv),
          "a head is D/H wide, not D.")],
    )
### END HIDDEN TESTS

# %% nbgrader={"grade_id": "adam-bytes-graded", "grade": true, "points": 2}
# Grading, 2 points: float32 and mixed precision, with frozen parameters.
### BEGIN HIDDEN TESTS
rng = check_rng()
few, many = (int(n) for n in rng.integers(1000, 9999, size=2))
cases = [(t, f, m) for m in (False, True) for t, f in (
    (405_853_388_800, 0), (few, 100 * many), (0, many),
    (few, 10**16 + 1))]
for t, f, mixed in cases:
    width = 2 if mixed else 4
    right = 16 * t + width * f
    copy = ("a trained parameter keeps both moments and a copy of its weight "
            "in float32.")
    four = ("a trained parameter has four numbers: weight, gradient and two "
            "moments.")
    check_integer(
        adam_bytes(t, f, mixed), right,
        f"adam_bytes({t}, {f}, {mixed})",
        [(16 * (t + f), "a frozen parameter has no gradient and no "
          "moments."),
         (16 * t, "frozen weights must be in memory too."),
         (16 * t + (6 - width) * f, "a frozen weight has 2 bytes in mixed "
          "precision and 4 otherwise, and it has no gradient."),
         (16 * t + (width + width) * f, "a frozen parameter has no "
          "gradient."),
         (16 * t + 6 * f, "a frozen weight has no float32 copy."),
         (12 * t + width * f, copy if mixed else four),
         (8 * t + width * f, "the moments stay in float32, and there is a "
          "float32 copy of the weight." if mixed else four),
         (10 * t + width * f, "the moments stay in float32."),
         (14 * t + width * f, "the gradient is kept too, and so is the "
          "bfloat16 weight beside its copy."),
         (18 * t + width * f, "weight and gradient have 2 bytes each."),
         (20 * t + width * f, "count the float32 copy once, beside two "
          "bytes for the weight and two for the gradient."),
         (4 * t + width * f, four),
         (4 * t + f, "these are numbers, not bytes.")],
    )
### END HIDDEN TESTS

# %% [markdown]
# ## 4 · A gradient check that proves little
#
# *Beginner · 4 points · 15 minutes · in words, marked by hand ·
# chapters "Blocks, forward and backward" and "The transformer, assembled"*
#
# A colleague tests an RMSNorm like that of exercise 1 with central
# differences of the loss $\sum\mathrm dy\cdot y$, in float64. The test
# input:
#
# `x = np.ones((1, 4, 4))`, `gain = np.ones(4)`, `eps = 1e-12` and
# `dy = np.ones((1, 4, 4))`.
#
# For both `dx` and `dgain`, backward and central differences agree to nine
# decimals. "All gradients are right", says the colleague.
#
# Answer in five to nine sentences:
#
# 1. What is the right `dx` for this input, to nine decimals? Give the
#    reason, and a wrong backward that passes because of it.
# 2. Name two more mistakes, in `dx` or in `dgain`, that this input cannot
#    show, each with the property of the input that hides it.
# 3. Give an input that would show all three, and say which of its properties
#    shows which mistake.
#
# | points | for |
# | --- | --- |
# | 1 | the value of `dx` with its reason (half), and a wrong backward that gives it too (half) |
# | 2 | two different mistakes (1 each), each with the property of the input that hides it |
# | 1 | an input that shows all three, with its properties matched to the mistakes |

# %% [markdown] nbgrader={"grade_id": "what-a-check-proves", "grade": true, "solution": true, "points": 4}
# The right dx is zero, up to eps: each row is x = 1 with dy = 1, so g = dy
# lies along x, and RMSNorm does not see the length of x. A backward that
# returns zeros for dx passes, and so does one that leaves out the factor
# 1/r, or that projects with x in the place of x/r, for r is 1. A backward
# without the gain passes because every gain is 1. In dgain, dy * x passes
# for dy * x/r, again because r is 1; and a sum over the last axis passes
# for a sum over the rows, because T equals D, and all entries of dy * x/r
# are equal. An input that shows all of these: shape (2, 3, 5), x drawn
# around 2 with different numbers, so that r differs from 1 and from row to
# row; gains drawn between 1 and 2, all different; dy drawn at random, so
# that it is not parallel to x; and an eps such as 0.3 that counts. Random
# dy shows the zeros, r shows the missing 1/r and x for x/r, the gains show
# the missing gain, and the shape shows the wrong axis.
