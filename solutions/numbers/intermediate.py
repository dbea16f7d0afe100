# %% [markdown]
# # Numbers · intermediate: rotations, gates, and one step of AdamW
#
# Five exercises, about 90 minutes, 28 points. They go with the chapters
# *Blocks, forward and backward* and *Training it*.
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
    check_number,
    check_rng,
    check_tuple,
)

# %% [markdown]
# ## 1 · A rotation, and the way back
#
# *Intermediate · 6 points · 20 minutes · chapter "Blocks, forward and
# backward"*
#
# RoPE turns pairs of channels. With $K$ channels there are $K/2$ pairs,
# $i=0,\dots,K/2-1$, and at position $m$ pair $i$ turns by the angle
# $m\cdot\text{base}^{-2i/K}$:
# $$(a,b)\ \mapsto\ (a\cos-b\sin,\ a\sin+b\cos).$$
# In the pairing `"interleaved"`, $(a,b)$ are the channels $2i$ and $2i+1$;
# in the pairing `"half"` they are $i$ and $i+K/2$.
#
# Write two functions:
#
# - `rope(x, positions, base, pairing)` returns $y$, the turned $x$.
# - `rope_backward(dy, positions, base, pairing)` gets
#   $\mathrm dy=\partial\mathcal L/\partial y$ for a loss $\mathcal L$ and
#   returns $\partial\mathcal L/\partial x$.
#
# In both:
#
# - `x`, `dy`: float64 arrays of shape `(H, T, K)`: heads, time, channels; $K$
#   is even. `positions`: an integer array of shape `(T,)`, the same for all
#   heads, in any order and not always from 0. `base`: a float > 1.
#   `pairing`: `"interleaved"` or `"half"`.
# - Returns a float64 array of shape `(H, T, K)`, channels in the order of
#   `x`, right to a relative error of $10^{-9}$.
#
# A small case: one head, one row `[3, 1, 2, -1]` at position 2, base 100.
# `rope` gives `[-2.1577, 2.3117, 2.1588, -0.5827]` interleaved and
# `[-3.067, 1.1787, 1.8956, -0.7814]` half. With the same row as
# `dy`, `rope_backward` gives `[-0.3391, -3.144, 1.7615, -1.3774]`
# interleaved and `[0.5702, 0.7814, -3.5602, -1.1787]` half. All are
# rounded.
#
# <details><summary>Hint</summary>
#
# The Jacobian of the turn is a rotation matrix, and the backward pass
# multiplies by its transpose. By what angle does the transpose turn?
#
# </details>

# %% nbgrader={"grade_id": "rope", "solution": true}
def rope(x, positions, base, pairing):
    """Return x, turned by RoPE; shape (H, T, K)."""
    ### BEGIN SOLUTION
    K = x.shape[-1]
    angles = np.outer(positions, float(base) ** (-np.arange(0, K, 2) / K))
    cos, sin = np.cos(angles), np.sin(angles)
    if pairing == "half":
        first, second = slice(0, K // 2), slice(K // 2, K)
    else:
        first, second = slice(0, K, 2), slice(1, K, 2)
    a, b = x[..., first], x[..., second]
    y = np.empty_like(x)
    y[..., first], y[..., second] = a * cos - b * sin, a * sin + b * cos
    return y
    ### END SOLUTION


def rope_backward(dy, positions, base, pairing):
    """Return dx, the gradient by RoPE's input; shape (H, T, K)."""
    ### BEGIN SOLUTION
    return rope(dy, -positions, base, pairing)
    ### END SOLUTION

# %% nbgrader={"grade_id": "rope-check", "grade": true, "points": 1}
# Check, 1 point: the small case, both ways, in both pairings.
check_function("rope", globals())
check_function("rope_backward", globals())
row, position = np.array([[[3.0, 1.0, 2.0, -1.0]]]), np.array([2])
way_there = {
    "interleaved": [-2.1577379365, 2.3117454439, 2.1588024865, -0.5827279163],
    "half": [-3.0670353633, 1.1787359086, 1.8955986074, -0.781397247],
}
way_back = {
    "interleaved": [-0.3391430828, -3.144039117, 1.7614638249, -1.3774052394],
    "half": [0.570154344, 0.781397247, -3.5601859536, -1.1787359086],
}
slips = {  # half the exponent; one frequency; position 3; pairs from 1
    "interleaved": [
        [-2.1577379365, 2.3117454439, 2.204283937, 0.3756758245],
        [-2.1577379365, 2.3117454439, 0.0770037537, 2.2347416902],
        [-3.1110974979, -0.5666324724, 2.2061931849, -0.3642960758],
        [2.7415304027, 1.5760745702, 2.01959868, -0.9598026733],
    ],
    "half": [
        [-3.0670353633, 1.3977055271, 1.8955986074, -0.2154512927],
        [-3.0670353633, 0.4931505903, 1.8955986074, 1.3254442634],
        [-3.2522175059, 1.2508566958, -1.556624969, -0.6598162825],
        [2.5428610719, 1.0197986734, 2.5561411481, -0.97980134],
    ],
}
slip_words = [
    "the exponent of base is half of -2i/K.",
    "every pair turns with frequency 1.",
    "the positions are off by one.",
    "the pairs are counted from 0, so the first has frequency 1.",
]
other_pairing = {"interleaved": "half", "half": "interleaved"}
for pairing, swapped in other_pairing.items():
    check_array(
        rope(row.copy(), position.copy(), 100.0, pairing),
        np.array([[way_there[pairing]]]),
        f"rope of the small case, {pairing}",
        dtype=np.float64,
        mistakes=[
            ([[way_there[swapped]]], f"this is the pairing {swapped!r}."),
            ([[way_back[pairing]]], "the turn goes the wrong way."),
            (row, "nothing is turned: the row stands at position 2, as "
             "`positions` says."),
            *(([[wrong]], text)
              for wrong, text in zip(slips[pairing], slip_words, strict=True)),
            ([[np.array(way_there[pairing])[[0, 2, 1, 3]]]],
             "the channels come back in another order."),
        ],
    )
for pairing, swapped in other_pairing.items():
    check_array(
        rope_backward(row.copy(), position.copy(), 100.0, pairing),
        np.array([[way_back[pairing]]]),
        f"rope_backward of the small case, {pairing}",
        dtype=np.float64,
        mistakes=[
            ([[way_there[pairing]]], "this turns forward once more; the "
             "transpose of a rotation turns back."),
            ([[way_back[swapped]]], f"this is the pairing {swapped!r}."),
            (row, "nothing is turned: a rotation's Jacobian is not the "
             "identity."),
        ],
    )

# %% nbgrader={"grade_id": "rope-forward-graded", "grade": true, "points": 2}
# Grading, 2 points: the forward, in both pairings.
### BEGIN HIDDEN TESTS
rng = check_rng()


def turned(x, angles, pairing):
    """Turn pairs by these angles (T, K/2), as complex numbers."""
    K = x.shape[-1]
    if pairing == "half":
        z = (x[..., : K // 2] + 1j * x[..., K // 2 :]) * np.exp(1j * angles)
        return np.concatenate([z.real, z.imag], -1)
    z = (x[..., ::2] + 1j * x[..., 1::2]) * np.exp(1j * angles)
    return np.stack([z.real, z.imag], -1).reshape(x.shape)


for H, T, K, base in ((2, 3, 4, 100.0), (3, 5, 6, 10_000.0)):
    x = 1 + rng.normal(size=(H, T, K))
    at = rng.permutation(np.arange(7, 7 + 13 * T, 13))
    i = np.arange(K // 2)
    for pairing, swapped in (("interleaved", "half"),
                             ("half", "interleaved")):

        angles = at[:, None] * base ** (-2 * i / K)
        each = base ** (-2 * i / K)
        right = turned(x, angles, pairing)
        slips = [
            (np.arange(T)[:, None] * each, "it turns row t by t; the "
             "position of row t is positions[t]."),
            (angles + each, "the positions are off by one."),
            (angles - each, "the positions are off by one."),
            (angles - at.min() * each, "the positions are counted from the "
             "first one; use them as they are."),
            (at[:, None] * base ** (-i / K), "the exponent of base is half "
             "of -2i/K."),
            (at[:, None] * base ** (-2 * (i + 1) / K), "the pairs are "
             "counted from 0, so the first has frequency 1."),
            (at[:, None] * base ** (0.0 * i), "every pair turns with "
             "frequency 1."),
            (at[:, None] / each, "the exponent of base has the wrong "
             "sign."),
        ]
        first, second = ((slice(0, K // 2), slice(K // 2, K))
                         if pairing == "half" else
                         (slice(0, K, 2), slice(1, K, 2)))
        reread = right.copy()
        reread[..., second] = (right[..., first] * np.sin(angles)
                               + x[..., second] * np.cos(angles))
        parted = np.concatenate([right[..., ::2], right[..., 1::2]], -1)
        check_array(
            rope(x.copy(), at.copy(), base, pairing),
            right,
            f"rope, {pairing}",
            rtol=1e-9,
            dtype=np.float64,
            mistakes=[
                (turned(x, angles, swapped), f"this is the pairing "
                 f"{swapped!r}."),
                (turned(x, -angles, pairing), "the turn goes the wrong way; "
                 "check the signs of the two sines."),
                *((turned(x, wrong, pairing), text)
                  for wrong, text in slips),
                (reread, "the second channel of a pair is computed from the "
                 "new first one; keep the old one."),
                (parted, "the channels come back in another order."),
                (x, "nothing is turned."),
            ],
        )
### END HIDDEN TESTS

# %% nbgrader={"grade_id": "rope-backward-graded", "grade": true, "points": 3}
# Grading, 3 points: the backward, in both pairings.
### BEGIN HIDDEN TESTS
rng = check_rng()


def turned(x, angles, pairing):
    """Turn pairs by these angles (T, K/2), as complex numbers."""
    K = x.shape[-1]
    if pairing == "half":
        z = (x[..., : K // 2] + 1j * x[..., K // 2 :]) * np.exp(1j * angles)
        return np.concatenate([z.real, z.imag], -1)
    z = (x[..., ::2] + 1j * x[..., 1::2]) * np.exp(1j * angles)
    return np.stack([z.real, z.imag], -1).reshape(x.shape)


for H, T, K, base in ((2, 3, 4, 100.0), (3, 5, 6, 10_000.0)):
    dy = 1 + rng.normal(size=(H, T, K))
    at = rng.permutation(np.arange(7, 7 + 13 * T, 13))
    i = np.arange(K // 2)
    angles = at[:, None] * base ** (-2 * i / K)
    for pairing, swapped in (("interleaved", "half"),
                             ("half", "interleaved")):
        right = turned(dy, -angles, pairing)
        rows = np.arange(T)[:, None] * base ** (-2 * i / K)
        order = (np.r_[0:K:2, 1:K:2] if pairing == "interleaved"
                 else np.arange(K).reshape(2, -1).T.ravel())
        check_array(
            rope_backward(dy.copy(), at.copy(), base, pairing),
            right,
            f"rope_backward, {pairing}",
            rtol=1e-9,
            dtype=np.float64,
            mistakes=[
                (turned(dy, angles, pairing), "this turns forward once more; "
                 "the transpose of a rotation turns back."),
                (turned(dy, -angles, swapped), f"this is the pairing "
                 f"{swapped!r}."),
                (turned(dy, angles, swapped), f"this is the pairing "
                 f"{swapped!r}, and it turns forward."),
                (turned(dy, -rows, pairing), "it turns row t by t; the "
                 "position of row t is positions[t]."),
                (turned(dy, -at[:, None] * base ** (-i / K), pairing),
                 "the exponent of base is half of -2i/K."),
                (turned(dy, -(at + 1)[:, None] * base ** (-2 * i / K),
                        pairing), "the positions are off by one."),
                (turned(dy, -at[:, None] * base ** (-2 * (i + 1) / K),
                        pairing), "the pairs are counted from 0, so the "
                 "first has frequency 1."),
                (turned(dy, -at[:, None] * base ** (0.0 * i), pairing),
                 "every pair turns with frequency 1."),
                (right[..., order], "the channels come back in another "
                 "order."),
                (dy, "nothing is turned: a rotation's Jacobian is not the "
                 "identity."),
            ],
        )
### END HIDDEN TESTS

# %% [markdown]
# ## 2 · SwiGLU, backward
#
# *Intermediate · 7 points · 25 minutes · chapter "Blocks, forward and
# backward"*
#
# SwiGLU maps each row $x$ of $D$ numbers to
# $$y=\big(\mathrm{silu}(x\,W_g)\odot(x\,W_u)\big)\,W_d,\qquad
#   \mathrm{silu}(z)=z\,\sigma(z),\quad \sigma(z)=\frac1{1+e^{-z}},$$
# where $\odot$ multiplies entry by entry. A loss $\mathcal L$ depends on all
# the $y$. Write `swiglu_backward(dy, x, w_gate, w_up, w_down)`, which
# returns the tuple `(dx, dw_gate, dw_up, dw_down)` of the gradients of
# $\mathcal L$.
#
# - `x`, `dy`: float64 arrays of shape `(T, D)`, one row a token. `w_gate`
#   ($W_g$) and `w_up` ($W_u$): shape `(D, F)`; `w_down` ($W_d$): shape
#   `(F, D)`.
# - Each gradient is float64, has the shape of what it belongs to, and is
#   right to a relative error of $10^{-6}$. Entries of $xW_g$ may be as large
#   as ±1000, and every result must be finite. (A warning of NumPy costs
#   nothing.)
#
# A small case, with $T=2$, $D=3$ and $F=2$:
# `x = [[1, -2, 0.5], [2, 1, -1]]`, `dy = [[1, 0.5, -1], [-1, 2, 1]]`,
# `w_gate = [[0.5, -1], [0.25, 0.5], [-0.5, 1]]`,
# `w_up = [[1, 0.5], [-0.5, 1], [2, -1]]` and
# `w_down = [[1, -1, 2], [0.5, 2, -1]]`. Then, rounded, the rows of `dx` are
# `[-1.231, -1.0863, 2.0656]` and `[-0.7143, 0.0327, -3.5214]`,
# and the first rows of `dw_gate`, `dw_up` and
# `dw_down` are `[-0.6206, -1.2845]`, `[-2.8177, -1.6323]` and
# `[0.4171, -1.6551, -0.4171]`.
#
# <details><summary>Hint</summary>
#
# Name the parts: gate, up, hidden = silu(gate) times up. For a product
# y = xW the gradients are dx = dy times W transposed, and dW = x transposed
# times dy. The entries of x are used twice. For the slope of silu use the
# product rule, with the slope of the sigmoid, σ(1 − σ).
#
# </details>

# %% nbgrader={"grade_id": "swiglu-backward", "solution": true}
def swiglu_backward(dy, x, w_gate, w_up, w_down):
    """Return (dx, dw_gate, dw_up, dw_down), each in its own shape."""
    ### BEGIN SOLUTION
    gate, up = x @ w_gate, x @ w_up
    sigma = 0.5 * (1 + np.tanh(0.5 * gate))
    dhidden = dy @ w_down.T
    dup = dhidden * gate * sigma
    dgate = dhidden * up * sigma * (1 + gate * (1 - sigma))
    dx = dgate @ w_gate.T + dup @ w_up.T
    return dx, x.T @ dgate, x.T @ dup, (gate * sigma * up).T @ dy
    ### END SOLUTION

# %% nbgrader={"grade_id": "swiglu-backward-check", "grade": true, "points": 1}
# Check, 1 point: the small case.
check_function("swiglu_backward", globals())
four = swiglu_backward(
    np.array([[1.0, 0.5, -1.0], [-1.0, 2.0, 1.0]]),
    np.array([[1.0, -2.0, 0.5], [2.0, 1.0, -1.0]]),
    np.array([[0.5, -1.0], [0.25, 0.5], [-0.5, 1.0]]),
    np.array([[1.0, 0.5], [-0.5, 1.0], [2.0, -1.0]]),
    np.array([[1.0, -1.0, 2.0], [0.5, 2.0, -1.0]]),
)
check_tuple(four, ("dx", "dw_gate", "dw_up", "dw_down"),
            "swiglu_backward(...)")
check_array(
    four[3],
    np.array([
        [0.4170910774, -1.6551012156, -0.4170910774],
        [1.1162129216, -0.8642344146, -1.1162129216],
    ]),
    "dw_down of the small case",
    mistakes=[
        ([[-1.6003732782, 2.9271068695, 1.6003732782],
          [-0.0839928357, -0.516110043, 0.0839928357]],
         "the factor up is missing from what w_down multiplies."),
        ([[-0.3840825099, -1.017911468, 0.3840825099],
          [7.5019147172, -14.1098075193, -7.5019147172]],
         "gate and up have changed places: silu acts on the gate."),
        ([[1.7394468983, -0.1952175533, -1.7394468983],
          [-0.5924255877, 0.2727235563, 0.5924255877]],
         "silu(z) is z times the sigmoid, not the sigmoid alone."),
    ],
)
check_array(
    four[0],
    np.array([
        [-1.2309872679, -1.0862784603, 2.0655865616],
        [-0.7142961444, 0.0326757773, -3.5213992533],
    ]),
    "dx of the small case",
    mistakes=[
        ([[-1.053123223, -0.32009084, 1.053123223],
          [1.0136780716, -0.2386692993, -1.0136780716]],
         "x goes into w_up as well, so two gradients add up."),
        ([[-0.177864045, -0.7661876204, 1.0124633386],
          [-1.727974216, 0.2713450766, -2.5077211818]],
         "x goes into w_gate as well, so two gradients add up."),
        ([[-0.2508392989, -1.7148028664, 1.0854385926],
          [-2.0839223657, 0.6623073519, -2.1517730321]],
         "silu' is not the sigmoid: the product rule has a second term."),
        ([[0.0140665292, -1.4159545936, 0.8205327644],
          [-2.2222197838, 0.5500001668, -2.013475614]],
         "silu' is not the slope of the sigmoid: the product rule has "
         "another term."),
        ([[-1.158012014, -0.1376632143, 1.9926113076],
          [-0.3583479948, -0.358286498, -3.877347403]],
         "the product rule has two terms: the slope of z is 1, which leaves "
         "the sigmoid itself."),
        ([[-0.3926070403, -1.536093699, 1.2272063339],
          [-1.6584783607, 0.7671331642, -2.5772170371]],
         "the slope of the sigmoid is σ(1 − σ)."),
        ([[-1.2997797553, 0.041045953, 2.1343790489],
          [0.0670960102, -0.2534606857, -4.302791408]],
         "silu stands in the place of its slope."),
        ([[2.572135955, -4.3911876204, -1.7375366614],
          [-8.977974216, 4.1463450766, 4.7422788182]],
         "the slope of silu is missing."),
        ([[-0.356846143, -0.9589140551, 1.1914454367],
          [-2.0158109107, -0.1210760491, -2.2198844871]],
         "the gate's gradient has the factor up."),
        ([[-0.8238818968, 0.7521213189, -4.3592681977],
          [-0.1077597711, -1.623464235, 2.0895323577]],
         "w_gate and w_up have changed places in dx."),
        ([[-2.553123223, -4.25759084, 5.553123223],
          [-3.8613219284, -5.6136692993, 1.7363219284]],
         "up's gradient has the factor silu(gate), not gate."),
    ],
)
check_array(
    four[1],
    np.array([
        [-0.6206259569, -1.2845458986],
        [3.9229492789, -1.1584498781],
        [-1.3829919245, 0.8487437208],
    ]),
    "dw_gate of the small case",
    mistakes=[
        ([[-2.8176509947, -1.6323229645],
          [-1.8192850278, 0.8940778034],
          [1.5730093095, 0.132065768]], "this is dw_up."),
        ([[-1.118252944, 0.2257450813],
          [4.366387893, 2.3931915882],
          [-1.411079274, -1.0250001597]],
         "silu' is not the sigmoid: the product rule has a second term."),
    ],
)
check_array(
    four[2],
    np.array([
        [-2.8176509947, -1.6323229645],
        [-1.8192850278, 0.8940778034],
        [1.5730093095, 0.132065768],
    ]),
    "dw_up of the small case",
)

# %% nbgrader={"grade_id": "swiglu-dx-graded", "grade": true, "points": 2}
# Grading, 2 points: dx.
### BEGIN HIDDEN TESTS
rng = check_rng()
for T, D, F in ((4, 3, 5), (2, 5, 4)):
    x, dy = 0.5 + rng.normal(size=(2, T, D))
    wg, wu = 0.3 + rng.normal(size=(2, D, F))
    wd = 0.3 + rng.normal(size=(F, D))
    g, u = x @ wg, x @ wu
    s = 1 / (1 + np.exp(-g))
    dh = dy @ wd.T
    slope = s * (1 + g * (1 - s))
    up = (dh * g * s) @ wu.T
    slopes = [
        (s, "silu' is not the sigmoid: the product rule has a second term."),
        (s * (1 - s), "silu' is not the slope of the sigmoid: the product "
         "rule has another term."),
        (g * s * (1 - s), "the product rule has two terms: the slope of z "
         "is 1, which leaves the sigmoid itself."),
        (1.0, "the slope of silu is missing."),
        (s * (1 + g * s), "the slope of the sigmoid is σ(1 − σ)."),
        (g * s, "silu stands in the place of its slope."),
    ]
    gate = (dh * u * slope) @ wg.T
    s_u = 1 / (1 + np.exp(-u))
    swapped = (dh * g * s_u * (1 + u * (1 - s_u))) @ wu.T
    swapped = swapped + (dh * u * s_u) @ wg.T
    found = swiglu_backward(dy.copy(), x.copy(), wg.copy(), wu.copy(),
                            wd.copy())
    check_tuple(found, ("dx", "dw_gate", "dw_up", "dw_down"),
                "swiglu_backward(...)")
    check_array(
        found[0],
        gate + up,
        "dx",
        dtype=np.float64,
        mistakes=[
            (gate, "x goes into w_up as well, so two gradients add up."),
            (up, "x goes into w_gate as well, so two gradients add up."),
            *(((dh * u * wrong) @ wg.T + up, text)
              for wrong, text in slopes),
            (swapped, "gate and up have changed places: silu acts on the "
             "gate."),
            ((dh * slope) @ wg.T + up, "the gate's gradient has the factor "
             "up: a product rule."),
            (gate + (dh * g) @ wu.T, "up is multiplied "
             "by silu(gate), not by the gate."),
            (gate + (dh * s) @ wu.T, "silu(z) is z times "
             "the sigmoid, not the sigmoid alone."),
            ((dh * u * s * (1 - s)) @ wg.T + (dh * s) @ wu.T, "silu(z) is z "
             "times the sigmoid, not the sigmoid alone."),
        ],
    )
### END HIDDEN TESTS

# %% nbgrader={"grade_id": "swiglu-weights-graded", "grade": true, "points": 3}
# Grading, 3 points: the gradients of the three matrices.
### BEGIN HIDDEN TESTS
rng = check_rng()
for T, D, F in ((4, 3, 5), (2, 5, 4)):
    x, dy = 0.5 + rng.normal(size=(2, T, D))
    wg, wu = 0.3 + rng.normal(size=(2, D, F))
    wd = 0.3 + rng.normal(size=(F, D))
    g, u = x @ wg, x @ wu
    s, s_u = 1 / (1 + np.exp(-g)), 1 / (1 + np.exp(-u))
    dh = dy @ wd.T
    dup, slope = dh * g * s, s * (1 + g * (1 - s))
    dgate = dh * u * slope
    found = swiglu_backward(dy.copy(), x.copy(), wg.copy(), wu.copy(),
                            wd.copy())
    check_tuple(found, ("dx", "dw_gate", "dw_up", "dw_down"),
                "swiglu_backward(...)")
    mean = "all rows share the matrix, so they add up; this takes the mean."
    swap = "gate and up have changed places: silu acts on the gate."
    check_array(
        found[3],
        (g * s * u).T @ dy,
        "dw_down",
        dtype=np.float64,
        mistakes=[
            ((g * s).T @ dy, "the factor up is missing from what w_down "
             "multiplies."),
            ((g * u).T @ dy, "w_down multiplies silu(gate) · up, not "
             "gate · up."),
            ((s * u).T @ dy, "silu(z) is z times the sigmoid, not the "
             "sigmoid alone."),
            ((g * u * s_u).T @ dy, swap),
            ((g * s * u).T @ dy / T, mean),
        ],
    )
    check_array(
        found[1],
        x.T @ dgate,
        "dw_gate",
        dtype=np.float64,
        mistakes=[
            (x.T @ dup, "this is dw_up."),
            (x.T @ (dh * u * s), "silu' is not the sigmoid: the product rule "
             "has a second term."),
            (x.T @ (dh * u * s * (1 - s)), "silu' is not the slope of the "
             "sigmoid: the product rule has another term."),
            (x.T @ (dh * u * g * s * (1 - s)), "the product rule has two "
             "terms: the slope of z is 1, which leaves the sigmoid itself."),
            (x.T @ (dh * u * s * (1 + g * s)), "the slope of the sigmoid is "
             "σ(1 − σ)."),
            (x.T @ (dh * u * g * s), "silu stands in the place of its "
             "slope."),
            (x.T @ (dh * slope), "the gate's gradient has the factor up: a "
             "product rule."),
            (x.T @ (dh * u), "the slope of silu is missing."),
            (x.T @ (dh * u * s_u), swap),
            (x.T @ dgate / T, mean),
        ],
    )
    check_array(
        found[2],
        x.T @ dup,
        "dw_up",
        dtype=np.float64,
        mistakes=[
            (x.T @ dgate, "this is dw_gate."),
            (x.T @ (dh * g), "up is multiplied by silu(gate), not by the "
             "gate."),
            (x.T @ (dh * s), "silu(z) is z times the sigmoid, not the "
             "sigmoid alone."),
            (x.T @ dup / T, mean),
        ],
    )
### END HIDDEN TESTS

# %% nbgrader={"grade_id": "swiglu-extreme-graded", "grade": true, "points": 1}
# Grading, 1 point: gates near ±1000.
### BEGIN HIDDEN TESTS
x = np.array([[2.0, -1.0], [0.5, 0.25]])
dy = np.array([[1.0, -2.0], [0.5, 3.0]])
wg = np.array([[400.0, -300.0, 1.0], [-200.0, 300.0, 2.0]])
wu = np.array([[0.5, 1.0, -1.0], [2.0, -1.0, 0.5]])
wd = np.array([[1.0, 0.5], [-2.0, 1.0], [0.5, 2.0]])
g, u = x @ wg, x @ wu
s = 0.5 * (1 + np.tanh(0.5 * g))
dh = dy @ wd.T
dgate, dup = dh * u * s * (1 + g * (1 - s)), dh * g * s
found = swiglu_backward(dy.copy(), x.copy(), wg.copy(), wu.copy(), wd.copy())
check_tuple(found, ("dx", "dw_gate", "dw_up", "dw_down"),
            "swiglu_backward(...)")
wanted = (dgate @ wg.T + dup @ wu.T, x.T @ dgate, x.T @ dup,
          (g * s * u).T @ dy)
for value, want, name in zip(found, wanted, ("dx", "dw_gate", "dw_up",
                                             "dw_down"), strict=True):
    check_array(value, want, f"{name} with gates near ±1000")
### END HIDDEN TESTS

# %% [markdown]
# ## 3 · One step of AdamW
#
# *Intermediate · 7 points · 20 minutes · chapter "Training it"*
#
# AdamW keeps two running means for every parameter $w$ with gradient $g$.
# In step $t$, counted from 1:
# $$m\leftarrow\beta_1m+(1-\beta_1)\,g,\qquad
#   v\leftarrow\beta_2v+(1-\beta_2)\,g^2,$$
# $$\hat m=\frac{m}{1-\beta_1^t},\qquad \hat v=\frac{v}{1-\beta_2^t},\qquad
#   w\leftarrow w-\eta\lambda\,w-\eta\,\frac{\hat m}{\sqrt{\hat v}+\epsilon}.$$
# Both $w$ on the right are the weight before the step. The decay term
# $\eta\lambda w$ is left out for every parameter whose name ends in
# `.gain`, in `.bias` or in `embedding.weight`.
#
# Write `adamw_step(params, grads, m, v, t, lr, betas, eps, decay)`, which
# returns the tuple `(params, m, v)` after the step.
#
# - `params`, `grads`, `m`, `v`: dictionaries with the same names as keys
#   and float64 arrays as values. An array may have any shape, and the same
#   one under a given name in all four.
# - `t`: the number of this step, an `int` ≥ 1; `lr` is $\eta$, `betas` the
#   tuple $(\beta_1,\beta_2)$, `eps` is $\epsilon$ and `decay` is $\lambda$:
#   floats, `eps` not always small.
# - Returns three dictionaries with the same names and shapes; you may
#   change the given ones and return them. Values are float64, right to a
#   relative error of $10^{-9}$; `m` and `v` without the hats.
#
# A small case, at `t = 3` with `lr = 0.1`, `betas = (0.8, 0.9)`,
# `eps = 0.01` and `decay = 0.5`: the parameter `wq = [[2, -1]]` with
# gradient `[[0.5, 2]]`, `m = [[0.2, 0.4]]` and `v = [[0.1, 0.9]]` becomes
# `[[1.8194, -1.0195]]`, with `m = [[0.26, 0.72]]` and
# `v = [[0.115, 1.21]]`. The parameter `norm.gain = [1, 3]` with gradient
# `[-1, 0.25]`, `m = [0.3, -0.5]` and `v = [0.4, 0.2]` becomes
# `[0.9938, 3.0855]`. A third one, `embedding.weight`, stands in the check.
#
# <details><summary>Hint</summary>
#
# Write it for one array first, then loop over the names. The decay touches
# neither m nor v.
#
# </details>

# %% nbgrader={"grade_id": "adamw-step", "solution": true}
def adamw_step(params, grads, m, v, t, lr, betas, eps, decay):
    """Return (params, m, v) after step t, three dictionaries."""
    ### BEGIN SOLUTION
    b1, b2 = betas
    new_params, new_m, new_v = {}, {}, {}
    for name, w in params.items():
        g = grads[name]
        new_m[name] = b1 * m[name] + (1 - b1) * g
        new_v[name] = b2 * v[name] + (1 - b2) * g**2
        m_hat = new_m[name] / (1 - b1**t)
        v_hat = new_v[name] / (1 - b2**t)
        spared = name.endswith((".gain", ".bias", "embedding.weight"))
        shrink = 0.0 if spared else lr * decay
        step = lr * m_hat / (np.sqrt(v_hat) + eps)
        new_params[name] = w - shrink * w - step
    return new_params, new_m, new_v
    ### END SOLUTION

# %% nbgrader={"grade_id": "adamw-check", "grade": true, "points": 1}
# Check, 1 point: the small case.
check_function("adamw_step", globals())


def check_names(found, names, what):
    """Check that `found` is a dictionary with these names."""
    if not isinstance(found, dict) or set(found) != set(names):
        raise Mistake(f"{what} must be a dictionary with the names "
                      f"{', '.join(names)}.")


def three_arrays(wq, gain, embedding):
    """Return a dictionary as the exercise describes it."""
    return {"wq": np.array([wq]), "norm.gain": np.array(gain),
            "embedding.weight": np.array([embedding])}


names = ("wq", "norm.gain", "embedding.weight")
three = adamw_step(
    three_arrays([2.0, -1.0], [1.0, 3.0], [0.5, -2.0]),
    three_arrays([0.5, 2.0], [-1.0, 0.25], [1.0, 0.5]),
    three_arrays([0.2, 0.4], [0.3, -0.5], [0.0, 0.2]),
    three_arrays([0.1, 0.9], [0.4, 0.2], [0.3, 0.1]),
    3, 0.1, (0.8, 0.9), 0.01, 0.5,
)
check_tuple(three, ("params", "m", "v"), "adamw_step(...)")
for found, what in zip(three, ("params", "m", "v"), strict=True):
    check_names(found, names, what)
check_array(
    three[1]["wq"], np.array([[0.26, 0.72]]), "m of wq",
    mistakes=[
        ([[0.66, 2.32]], "the gradient has the factor "
         "1 - beta1."),
        ([[0.46, 0.62]], "the decay passes through m; in AdamW "
         "it acts on the weight alone."),
        ([[0.5327868852, 1.4754098361]], "return m without the hat."),
        ([[0.23, 0.56]], "the two betas are swapped."),
    ],
)
check_array(
    three[2]["wq"], np.array([[0.115, 1.21]]), "v of wq",
    mistakes=[
        ([[0.14, 1.01]], "v is the mean of the squared "
         "gradient."),
        ([[0.4243542435, 4.4649446494]], "return v without the hat."),
    ],
)
check_array(
    three[0]["wq"], np.array([[1.8194486052, -1.019495099]]),
    "wq after the step",
    mistakes=[
        ([[1.8255262926, -1.0148648649]], "the moments are not "
         "corrected for their start at zero."),
        ([[1.7473899439, -1.0829198051]], "v is not corrected for its start "
         "at zero."),
        ([[1.8606909194, -0.9839136083]], "m is not corrected for its start "
         "at zero."),
        ([[1.8251402858, -1.0146696332]], "t is this step's number already; "
         "do not add 1."),
        ([[1.8083458757, -1.028939898]], "t is this step's number already; "
         "do not subtract 1."),
        ([[1.9194486052, -1.069495099]], "the decay is missing."),
        ([[0.9194486052, -0.569495099]], "the decay has the factor lr too."),
        ([[1.823476175, -1.016020344]], "the decay acts on the weight "
         "before the step."),
        ([[1.8191590345, -1.0197459253]], "eps stands inside the root; here "
         "it is added to the root."),
        ([[1.8205547753, -1.0191949406]], "eps is added to the root of v with the "
         "hat: in this order of the factors it counts for more."),
        ([[1.7773381651, -0.98297046]], "the root of v is missing."),
        ([[1.9805513948, -0.880504901]], "this climbs: the step goes against "
         "the gradient."),
    ],
)
check_array(
    three[0]["norm.gain"], np.array([0.9937565418, 3.0854825371]),
    "norm.gain after the step",
    mistakes=[([0.9437565418, 2.9354825371], "a gain does not decay.")],
)
check_array(
    three[0]["embedding.weight"], np.array([[0.4652229307, -2.0805513948]]),
    "embedding.weight after the step",
    mistakes=[([[0.4402229307, -1.9805513948]], "an embedding does not decay.")],
)

# %% nbgrader={"grade_id": "adamw-moments-graded", "grade": true, "points": 2}
# Grading, 2 points: the two moments.
### BEGIN HIDDEN TESTS
rng = check_rng()
for t, betas in ((7, (0.8, 0.99)), (1, (0.9, 0.95))):
    shapes = {"blocks.0.wq": (3, 4), "final_norm.gain": (4,)}
    w, g, m = ({n: 1 + rng.normal(size=s) for n, s in shapes.items()}
               for _ in range(3))
    v = {n: 0.5 + rng.uniform(size=s) for n, s in shapes.items()}
    if t == 1:
        m = {n: np.zeros(s) for n, s in shapes.items()}
        v = {n: np.zeros(s) for n, s in shapes.items()}
    args = ({n: a.copy() for n, a in d.items()} for d in (w, g, m, v))
    found = adamw_step(*args, t, 0.05, betas, 0.03, 0.4)
    check_tuple(found, ("params", "m", "v"), "adamw_step(...)")
    b1, b2 = betas
    for part, what in zip(found, ("params", "m", "v"), strict=True):
        if not isinstance(part, dict) or set(part) != set(shapes):
            raise Mistake(f"{what} must be a dictionary with the names "
                          f"{', '.join(shapes)}.")
    for n in shapes:
        right = b1 * m[n] + (1 - b1) * g[n]
        decayed = g[n] + 0.4 * w[n]
        check_array(
            found[1][n], right, f"m of {n} in step {t}", rtol=1e-9,
            dtype=np.float64,
            mistakes=[
                (b1 * m[n] + g[n], "the gradient has the factor 1 - beta1."),
                (b1 * m[n] + (1 - b1) * decayed, "the decay passes through "
                 "m; in AdamW it acts on the weight alone."),
                (right / (1 - b1**t), "return m without the hat."),
                (b2 * m[n] + (1 - b2) * g[n], "the two betas are swapped."),
                ((1 - b1) * m[n] + b1 * g[n], "beta1 belongs to the old m, "
                 "1 - beta1 to the gradient."),
                (m[n], "m is as it was; return the new one."),
            ],
        )
        right = b2 * v[n] + (1 - b2) * g[n] ** 2
        check_array(
            found[2][n], right, f"v of {n} in step {t}", rtol=1e-9,
            dtype=np.float64,
            mistakes=[
                (b2 * v[n] + g[n] ** 2, "the square has the factor "
                 "1 - beta2."),
                (b2 * v[n] + (1 - b2) * decayed**2, "the decay passes "
                 "through v; in AdamW it acts on the weight alone."),
                (right / (1 - b2**t), "return v without the hat."),
                (b1 * v[n] + (1 - b1) * g[n] ** 2, "the two betas are "
                 "swapped."),
                (b2 * v[n] + (1 - b2) * g[n], "v is the mean of the squared "
                 "gradient."),
                ((1 - b2) * v[n] + b2 * g[n] ** 2, "beta2 belongs to the old "
                 "v, 1 - beta2 to the square."),
                (v[n], "v is as it was; return the new one."),
            ],
        )
### END HIDDEN TESTS

# %% nbgrader={"grade_id": "adamw-matrices-graded", "grade": true, "points": 3}
# Grading, 3 points: matrices, which decay.
### BEGIN HIDDEN TESTS
rng = check_rng()
eps, lam = 0.03, 0.4


def stepped(old, t1, t2, lr, betas, decay, inside=0.0, outside=eps):
    """Return w after a step; what can go wrong is a parameter."""
    (w, g, m, v), (b1, b2) = old, betas
    new_m = b1 * m + (1 - b1) * g
    new_v = b2 * v + (1 - b2) * g**2
    m_hat = new_m / (1 - b1**t1) if t1 else new_m
    v_hat = new_v / (1 - b2**t2) if t2 else new_v
    return w - decay * w - lr * m_hat / (np.sqrt(v_hat + inside) + outside)


for t, betas, lr in ((1, (0.9, 0.95), 0.05), (7, (0.8, 0.99), 0.2)):
    shapes = {"blocks.0.wq": (3, 4), "output.weight": (2, 5),
              "norm.scale": (4,), "embedding.proj": (2, 5),
              "gain_proj.weight": (3, 2), "bias.table": (3,)}
    w, g, m = ({n: 1 + rng.normal(size=s) for n, s in shapes.items()}
               for _ in range(3))
    v = {n: 0.5 + rng.uniform(size=s) for n, s in shapes.items()}
    b1, b2 = betas
    args = ({n: a.copy() for n, a in d.items()} for d in (w, g, m, v))
    found = adamw_step(*args, t, lr, betas, eps, lam)
    check_tuple(found, ("params", "m", "v"), "adamw_step(...)")
    if not isinstance(found[0], dict) or set(found[0]) != set(shapes):
        raise Mistake("params must be a dictionary with the names "
                      f"{', '.join(shapes)}.")

    for n in shapes:
        gn = g[n]
        old, rest = (w[n], gn, m[n], v[n]), (lr, betas, lr * lam)
        plain = stepped(old, t, t, lr, betas, 0.0)
        v_hat = (b2 * v[n] + (1 - b2) * gn**2) / (1 - b2**t)
        m_hat = (b1 * m[n] + (1 - b1) * gn) / (1 - b1**t)
        check_array(
            found[0][n], stepped(old, t, t, *rest), f"{n} after step {t}",
            rtol=1e-9,
            dtype=np.float64,
            mistakes=[
                (stepped(old, 0, 0, *rest), "the moments are not corrected for "
                 "their start at zero."),
                (stepped(old, t, 0, *rest), "v is not corrected for its start at "
                 "zero."),
                (stepped(old, 0, t, *rest), "m is not corrected for its start at "
                 "zero."),
                (stepped(old, t + 1, t + 1, *rest), "t is this step's number "
                 "already; do not add 1."),
                (stepped(old, t - 1, t - 1, *rest), "t is this step's number "
                 "already; do not subtract 1."),
                (plain, "the decay is missing."),
                (stepped(old, t, t, lr, betas, lam), "the decay has the factor lr "
                 "too."),
                (stepped(old, t, t, lr, betas, -lr * lam), "the decay shrinks the "
                 "weight; here it grows."),
                (plain * (1 - lr * lam), "the decay acts on the weight "
                 "before the step."),
                (stepped((w[n], gn + lam * w[n], m[n], v[n]), t, t, lr, betas,
                         0.0), "the decay passes "
                 "through the moments; in AdamW it acts on the weight "
                 "alone."),
                (stepped(old, t, t, *rest, eps, 0.0), "eps stands inside "
                 "the root; here it is added to the root."),
                (w[n] - lr * lam * w[n] - lr * m_hat / (v_hat + eps),
                 "the root of v is missing."),
                (w[n] - lr * lam * w[n] + lr * m_hat / (np.sqrt(v_hat) + eps),
                 "this climbs: the step goes against the gradient."),
                (w[n] - lr * lam * w[n] - lr * gn / (np.sqrt(v_hat) + eps),
                 "the step follows the running mean m, not the gradient."),
                (w[n], "params are as they were; return the new ones."),
            ],
        )
### END HIDDEN TESTS

# %% nbgrader={"grade_id": "adamw-spared-graded", "grade": true, "points": 1}
# Grading, 1 point: parameters that do not decay.
### BEGIN HIDDEN TESTS
rng = check_rng()
shapes = {"blocks.1.mlp_norm.gain": (4,), "final_norm.bias": (4,),
          "embedding.weight": (5, 3), "head.gain": (2, 3),
          "position_embedding.weight": (4, 2)}
w, g, m = ({n: 1 + rng.normal(size=s) for n, s in shapes.items()}
           for _ in range(3))
v = {n: 0.5 + rng.uniform(size=s) for n, s in shapes.items()}
args = ({n: a.copy() for n, a in d.items()} for d in (w, g, m, v))
found = adamw_step(*args, 5, 0.2, (0.8, 0.9), 0.03, 0.4)
check_tuple(found, ("params", "m", "v"), "adamw_step(...)")
if not isinstance(found[0], dict) or set(found[0]) != set(shapes):
    raise Mistake("params must be a dictionary with the names "
                  f"{', '.join(shapes)}.")
for n in shapes:
    m_hat = (0.8 * m[n] + 0.2 * g[n]) / (1 - 0.8**5)
    v_hat = (0.9 * v[n] + 0.1 * g[n] ** 2) / (1 - 0.9**5)
    right = w[n] - 0.2 * m_hat / (np.sqrt(v_hat) + 0.03)
    check_array(
        found[0][n], right, f"{n} after the step", rtol=1e-9,
        dtype=np.float64,
        mistakes=[(right - factor * w[n], f"{n} decays, but its name is one "
                   "of those that do not.") for factor in (0.08, 0.4)],
    )
### END HIDDEN TESTS

# %% [markdown]
# ## 4 · Clipped by the joint norm
#
# *Intermediate · 4 points · 10 minutes · chapter "Training it"*
#
# One bad batch may give a gradient many times as long as usual. Clipping
# shortens it and keeps its direction. All gradients together are *one* long
# vector; its norm is the root of the sum of all squared entries. If that norm
# is larger than a given number, every gradient is multiplied by the same
# factor, so that the norm becomes that number. Otherwise nothing changes.
#
# Write `clip_gradients(grads, largest)`, which returns the tuple
# `(clipped, norm)`.
#
# - `grads`: a dictionary of names and float64 arrays of any shapes, maybe
#   all zero. `largest`: a float > 0.
# - `clipped`: a dictionary of the same names and shapes; you may change the
#   given one and return it. `norm`: a float, the joint norm *before*
#   clipping. All are right to a relative error of $10^{-9}$.
#
# A small case: `{"a": [[3, -1]], "b": [2, 4, 1]}` has norm
# $\sqrt{31}=5.5678$. With `largest = 3.5` it becomes
# `{"a": [[1.8859, -0.6286]], "b": [1.2572, 2.5145, 0.6286]}`. And
# `{"a": [2]}` with `largest = 3` stays as it is.
#
# <details><summary>Hint</summary>
#
# First the norm over all arrays, then one factor for all of them.
#
# </details>

# %% nbgrader={"grade_id": "clip-gradients", "solution": true}
def clip_gradients(grads, largest):
    """Return (clipped, norm): a dictionary, and the norm before."""
    ### BEGIN SOLUTION
    norm = np.sqrt(sum((g**2).sum() for g in grads.values()))
    factor = largest / norm if norm > largest else 1.0
    return {name: factor * g for name, g in grads.items()}, norm
    ### END SOLUTION

# %% nbgrader={"grade_id": "clip-gradients-check", "grade": true, "points": 1}
# Check, 1 point: the small case.
check_function("clip_gradients", globals())
pair = clip_gradients(
    {"a": np.array([[3.0, -1.0]]), "b": np.array([2.0, 4.0, 1.0])}, 3.5
)
check_tuple(pair, ("clipped", "norm"), "clip_gradients(...)")
check_number(
    pair[1], 5.5677643628, "norm of the small case",
    mistakes=[
        (31.0, "take the root of the sum of squares."),
        (3.5, "this is the norm after clipping; return the one before."),
        (7.7448533551, "norms do not add up; the squares do."),
        (4.582575695, "this is the norm of the longest array alone."),
        (11.0, "the norm is Euclidean, not the sum of absolute values."),
    ],
)
if not isinstance(pair[0], dict) or set(pair[0]) != {"a", "b"}:
    raise Mistake("clipped must be a dictionary with the names a, b.")
check_array(
    pair[0]["b"], np.array([1.2572371142, 2.5144742284, 0.6286185571]),
    "b of the small case",
    mistakes=[
        ([1.5275252317, 3.0550504633, 0.7637626158], "each array is scaled "
         "by its own norm; the norm is that of all of them together."),
        ([2.0, 3.5, 1.0], "entries are cut off one by one; the direction "
         "must stay."),
        ([0.3592106041, 0.7184212081, 0.179605302], "this has norm 1; it "
         "must have norm `largest`."),
        ([2.0, 4.0, 1.0], "nothing changes, but the joint norm is above "
         "`largest`."),
    ],
)
check_array(
    pair[0]["a"], np.array([[1.8858556713, -0.6286185571]]),
    "a of the small case",
    mistakes=[([[3.0, -1.0]], "the joint norm is above `largest`, so this "
               "must shrink, even if its own norm is not.")],
)
pair = clip_gradients({"a": np.array([2.0])}, 3.0)
check_tuple(pair, ("clipped", "norm"), "clip_gradients(...)")
check_array(
    pair[0]["a"], np.array([2.0]), "a of norm 2, with largest = 3",
    mistakes=[([3.0], "a short gradient is not made longer."),
              ([1.5], "compare the norm with `largest`, not its square.")],
)

# %% nbgrader={"grade_id": "clip-gradients-graded", "grade": true, "points": 3}
# Grading, 3 points: above the limit, below it, and zero.
### BEGIN HIDDEN TESTS
rng = check_rng()
for scale, largest in ((2.0, 1.5), (0.7, 50.0), (0.0, 1.0)):
    grads = {"x.gain": scale * rng.normal(size=4),
             "y": scale * (1 + rng.normal(size=(2, 3))),
             "z": scale * 0.1 * rng.normal(size=(3, 1, 2))}
    squares = {n: (g**2).sum() for n, g in grads.items()}
    norm = np.sqrt(sum(squares.values()))
    where = ("above the limit" if norm > largest
             else "of zero gradients" if not scale else "below the limit")
    pair = clip_gradients({n: g.copy() for n, g in grads.items()}, largest)
    check_tuple(pair, ("clipped", "norm"), "clip_gradients(...)")
    check_number(
        pair[1], norm, f"norm, {where}",
        mistakes=[
            (norm**2, "take the root of the sum of squares."),
            (min(norm, largest), "this is the norm after clipping; return "
             "the one before."),
            (sum(np.sqrt(s) for s in squares.values()), "norms do not add "
             "up; the squares do."),
            (np.sqrt(max(squares.values())), "this is the norm of the "
             "longest array alone."),
            (sum(np.abs(g).sum() for g in grads.values()), "the norm is "
             "Euclidean, not the sum of absolute values."),
        ],
    )
    if not isinstance(pair[0], dict) or set(pair[0]) != set(grads):
        raise Mistake("clipped must be a dictionary with the names "
                      f"{', '.join(grads)}.")
    factor = largest / norm if norm > largest else 1.0
    for n, g in grads.items():
        own = np.sqrt(squares[n])
        check_array(
            pair[0][n], factor * g, f"{n}, {where}", rtol=1e-9,
            dtype=np.float64,
            mistakes=[
                (g * largest / norm if norm else g, "this is scaled up: "
                 "gradients below the limit stay as they are."),
                (g * largest / own if own else g, "each array is scaled by "
                 "its own norm; the norm is that of all of them together."),
                (g * min(1.0, largest / own) if own else g, "each array is "
                 "scaled by its own norm; the norm is that of all of them "
                 "together."),
                (np.clip(g, -largest, largest), "entries are cut off one by "
                 "one; the direction must stay."),
                (g / norm if norm else g, "this has norm 1; it must have "
                 "norm `largest`, and below the limit nothing changes."),
                (g * largest / norm**2 if norm else g, "divide by the norm, "
                 "not by its square."),
            ],
        )
### END HIDDEN TESTS

# %% [markdown]
# ## 5 · A run that went on, but not as before
#
# *Intermediate · 4 points · 15 minutes · in words, marked by hand ·
# chapter "Training it"*
#
# A run of 2,000 steps draws its batches with a seeded generator, follows a
# learning rate of warm-up and cosine, and updates with AdamW
# ($\beta_1=0.9$, $\beta_2=0.999$, $\epsilon$ negligible). It is stopped
# after step 1,000 and started again from a file that holds *the parameters
# alone*. The loss jumps up, comes down again within some hundred steps, and
# the run ends at another loss than one that was never stopped.
#
# Answer in five to nine sentences:
#
# 1. Name three things, beside the parameters, that the file should have
#    held, and say what goes wrong without each. (AdamW's two moments count
#    as one.)
# 2. How large is the first update of one entry after the restart, in units
#    of the learning rate: (a) if both moments *and* $t$ start again, so
#    that this step has $t=1$; (b) if the moments start at zero but $t$ goes
#    on, so that this step has $t=1001$ ($0.9^{1001}$ is 0 here, and
#    $0.999^{1001}\approx0.37$)? Leave the decay out.
# 3. Give a test that fails unless the file holds all that is needed.
#
# | points | for |
# | --- | --- |
# | 1 | three things, each with its effect (half the point for two) |
# | 2 | the two sizes, (a) and (b), with the calculation (1 each) |
# | 1 | a test that compares a stopped run with one that was not, and says what must be equal, and how exactly |

# %% [markdown] nbgrader={"grade_id": "going-on", "grade": true, "solution": true, "points": 4}
# The file should also have held the two moments of every parameter, the
# number of steps done, and the state of the generator. Without the moments,
# the first updates follow single noisy gradients, and v has forgotten
# which entries have large ones. Without the step, the schedule starts with
# the warm-up again and the bias correction with t = 1. Without the
# generator's state the run sees the first batches once more, and none of
# those that were to come. (a) With t = 1 and m = v = 0 we have m = 0.1 g and
# v = 0.001 g², and the correction divides by 0.1 and by 0.001, so the update
# is g/|g| times the learning rate: its size is 1. (b) With t = 1001 the
# correction of m does nothing, and that of v divides by 1 - 0.37 = 0.63. So
# the update is 0.1 |g| / sqrt(0.001/0.63 g²) = 0.1/0.0398 = 2.5 learning
# rates, in every entry at once: enough for a jump. A test: run 10 steps, and in another process 5 steps,
# save, load, 5 more; losses and parameters must be equal bit for bit, which
# they are only if the file holds everything.
