# %% [markdown]
# # Symbols · beginner: what a normalization does to a gradient
#
# Five exercises, about 70 minutes. You need the chapter *Pre-LN against
# Post-LN*. Fill in the cells that say `YOUR CODE HERE` or
# `YOUR ANSWER HERE`, and run the check below each. The checks here look at
# small cases; grading also tries inputs that you do not see.

# %% nbgrader={"grade_id": "setup", "locked": true}
import numpy as np
import sympy as sp

# %% nbgrader={"grade_id": "checks", "locked": true}
from autograder.checks import check_array, check_function, check_rng

# %% [markdown]
# ## 2 · RMSNorm, one direction at a time
#
# *Beginner · 5 points · 15 minutes · chapter "Pre-LN against Post-LN"*
#
# RMSNorm maps a vector $x$ of $D$ numbers to
# $y_i = g_i\,x_i/r$ with $r=\sqrt{\tfrac1D\sum_k x_k^2+\varepsilon}$.
# Its Jacobian is $J_{ij}=\partial y_i/\partial x_j$. Move $x$ a little in
# the direction $v$: the output moves in the direction $Jv$.
#
# Write `rms_norm_push(x, gain, eps, v)`, which returns $Jv$.
#
# - `x`, `gain`, `v`: float64 arrays of shape `(D,)`; `eps`: a float.
# - Returns an array of shape `(D,)`, right to a relative error of $10^{-6}$.
# - ε stands inside the root, as above.
#
# A small case: for `x = [3, 4]`, `gain = [1, 2]`, `eps = 0` and
# `v = [1, 0]`, $r=\sqrt{12.5}$ and the answer is
# `[0.18101934, -0.27152901]`.

# %% nbgrader={"grade_id": "rms-norm-push", "solution": true}
def rms_norm_push(x, gain, eps, v):
    """Return J v, the change of RMSNorm's output along v; shape (D,)."""
    ### BEGIN SOLUTION
    r = np.sqrt(np.mean(x**2) + eps)
    x_hat = x / r
    return gain * (v - x_hat * np.mean(x_hat * v)) / r
    ### END SOLUTION

# %% nbgrader={"grade_id": "rms-norm-push-check", "grade": true, "points": 1}
# The check: the small case above, 1 point.
check_function("rms_norm_push", globals())
x, gain, v = np.array([3.0, 4.0]), np.array([1.0, 2.0]), np.array([1.0, 0.0])
check_array(
    rms_norm_push(x, gain, 0.0, v),
    np.array([0.18101933598375616, -0.27152900397563425]),
    "rms_norm_push of the small case",
)

# %% nbgrader={"grade_id": "rms-norm-push-graded", "grade": true, "points": 4}
# Grading tries more inputs here, for 4 points.
### BEGIN HIDDEN TESTS
rng = check_rng()
for D in (3, 5, 8):
    x, gain = 2 + rng.normal(size=D), 1 + rng.uniform(size=D)
    v, eps = rng.normal(size=D), 0.3
    r = np.sqrt(np.mean(x**2) + eps)
    h = x / r
    check_array(
        rms_norm_push(x.copy(), gain.copy(), eps, v.copy()),
        gain * (v - h * np.mean(h * v)) / r,
        "rms_norm_push",
        mistakes=[(gain * v / r, "the projection is missing: r depends on "
                   "x too, so its derivative counts.")],
    )
### END HIDDEN TESTS
