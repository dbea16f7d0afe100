# %% [markdown]
# # Numbers · advanced: shared keys, kept keys, and what a step waits for
#
# Four exercises, about 90 minutes, 26 points. They go with the chapters
# *Blocks, forward and backward*, *Training it* and *What it costs*.
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
# ## 1 · Attention, backward, with shared keys
#
# *Advanced · 8 points · 30 minutes · chapter "Blocks, forward and
# backward"*
#
# In grouped-query attention $H$ query heads share $G$ key/value heads:
# with $R=H/G$, query head $h$ reads the keys and values of group
# $\lfloor h/R\rfloor$. So heads $0,\dots,R-1$ read group 0, the next $R$
# read group 1, and so on. For one query head $q$ and its group's $k$ and
# $v$, each of shape $(T,K)$:
# $$S=\frac{q\,k^\top}{\sqrt K},\qquad
#   P=\mathrm{softmax}(S),\qquad o=P\,v,$$
# where softmax runs over each row of $S$, and is *causal*: row $t$ sees the
# columns $0,\dots,t$ alone, and the others have weight 0.
#
# A loss $\mathcal L$ depends on the outputs $o$ of all heads. Given
# $\mathrm do=\partial\mathcal L/\partial o$, write
# `attention_backward(do, q, k, v)`, which returns the tuple `(dq, dk, dv)`.
#
# - `do`, `q`: float64 arrays of shape `(H, T, K)`; `k`, `v`: float64 of
#   shape `(G, T, K)`; $G$ divides $H$.
# - `dq` has shape `(H, T, K)`, `dk` and `dv` have shape `(G, T, K)`. Each is
#   float64 and right to a relative error of $10^{-6}$.
#
# A small case, with $H=4$, $G=2$, $T=3$ and $K=2$:
# `q = np.sin(np.arange(24.0)).reshape(4, 3, 2)`,
# `k = np.cos(np.arange(12.0)).reshape(2, 3, 2)`,
# `v = np.sin(1 + 2 * np.arange(12.0)).reshape(2, 3, 2)` and
# `do = np.cos(3 * np.arange(24.0)).reshape(4, 3, 2)`. Then, rounded,
# `dq[0, 1]` is `[0.42009, 0.45395]`, `dk[0, 0]` is
# `[0.30554, -0.00212]` and `dv[0, 0]` is `[2.82039, -2.52929]`.
#
# <details><summary>Hint</summary>
#
# Compute P once more. Then go backward through three steps: the product
# with v, softmax row by row, and the product of q and k with its scale. A
# key that several heads read gets a gradient from each of them.
#
# </details>

# %% nbgrader={"grade_id": "attention-backward", "solution": true}
def attention_backward(do, q, k, v):
    """Return (dq, dk, dv), of shapes (H, T, K), (G, T, K), (G, T, K)."""
    ### BEGIN SOLUTION
    G, T, K = k.shape
    grouped = (G, -1, T, K)
    q_, do_ = q.reshape(grouped), do.reshape(grouped)  # (G, R, T, K)
    k_, v_ = k[:, None], v[:, None]
    hidden = np.triu(np.ones((T, T), bool), 1)
    s = np.where(hidden, -np.inf, q_ @ k_.swapaxes(-1, -2) / np.sqrt(K))
    e = np.exp(s - s.max(-1, keepdims=True))
    p = e / e.sum(-1, keepdims=True)
    dp = do_ @ v_.swapaxes(-1, -2)
    ds = p * (dp - (p * dp).sum(-1, keepdims=True)) / np.sqrt(K)
    dk = (ds.swapaxes(-1, -2) @ q_).sum(1)
    dv = (p.swapaxes(-1, -2) @ do_).sum(1)
    return (ds @ k_).reshape(q.shape), dk, dv
    ### END SOLUTION

# %% nbgrader={"grade_id": "attention-backward-check", "grade": true, "points": 1}
# Check, 1 point: the small case.
check_function("attention_backward", globals())
found = attention_backward(
    np.cos(3 * np.arange(24.0)).reshape(4, 3, 2),
    np.sin(np.arange(24.0)).reshape(4, 3, 2),
    np.cos(np.arange(12.0)).reshape(2, 3, 2),
    np.sin(1 + 2 * np.arange(12.0)).reshape(2, 3, 2),
)
check_tuple(found, ("dq", "dk", "dv"), "attention_backward(...)")
for value, name in ((found[1], "dk"), (found[2], "dv")):
    if np.shape(value) == (4, 3, 2):
        raise Mistake(f"{name} has one entry a query head; the heads of a "
                      "group share it, so their gradients add up.")


def pages(*rows):
    """Return the rows as an array of shape (…, 3, 2)."""
    return np.array(rows).reshape(-1, 3, 2)


check_array(
    found[2],
    pages(
        [2.8203866664, -2.529285386, 0.934926898, -0.7599397435,
            0.2874578465, -0.224730358],
        [-2.3679042272, 2.7214829923, -1.072515573, 1.15099594,
            -0.5090438132, 0.540793974],
    ),
    "dv of the small case",
    mistakes=[
        (pages([1.6234433219, -1.4390704853, 1.1969771585, -1.0021680677,
            1.2223509304, -1.0727169344],
               [-1.4523476224, 1.6317929051, -1.3296349748, 1.4625258807,
                   -1.1674810161, 1.3189541205]),
         "a query sees later keys; the mask is missing."),
        (pages([2.8782750126, -2.5842279156, 0.9218966806, -0.7395133248,
            0.2425997177, -0.1902142471],
               [-2.388603243, 2.7492967601, -1.0930469556, 1.166617572,
                   -0.4678134147, 0.4973585742]),
         "the scores are not divided by the root of K."),
        (pages([2.7766461107, -2.4874485751, 0.9524928552, -0.7818352244,
            0.3136324449, -0.244671688],
               [-2.3320976469, 2.6780895916, -1.0866367877, 1.1717607918,
                   -0.5307291787, 0.5634225229]),
         "the scores are divided by K, not by its root."),
        (pages([1.2336008116, -0.9182277105, 0.3223420521, -0.1793705193,
            0.0799880376, -0.0290933236],
               [-0.815544166, 1.1437108069, -0.4849199698, 0.5908856792,
                   -0.242158968, 0.291412486]),
         "the wrong heads share a group: head h reads group h // R."),
        (pages([1.7988932681, -1.7439370569, 0.7595018388, -0.6957435414,
            0.2456291384, -0.221130073],
               [-0.5452116913, 0.8011053389, -0.411930503, 0.4884466221,
                   -0.2109511499, 0.244567157]),
         "only the first head of each group counts; they add up."),
        (pages([1.4101933332, -1.264642693, 0.467463449, -0.3799698718,
            0.1437289233, -0.112365179],
               [-1.1839521136, 1.3607414961, -0.5362577865, 0.57549797,
                   -0.2545219066, 0.270396987]),
         "the heads of a group add up; this takes their mean."),
        (pages([1.6603167082, -1.5377217568, 1.6047393564, -1.4683889799,
            1.3095864604, -1.1221282791],
               [-0.9572735225, 1.1665097593, -1.0243251899, 1.2254738615,
                   -1.3851059968, 1.5332009812]),
         "P is not transposed: a value gets its gradient from the queries "
         "that look at it."),
    ],
)
check_array(
    found[1],
    pages(
        [0.3055421933, -0.0021173786, -0.0546335676, 0.3281447963,
            -0.2509086257, -0.3260274177],
        [-0.1040741471, -0.1125853333, 0.0204358893, -0.474846738,
            0.0836382578, 0.5874320713],
    ),
    "dk of the small case",
    mistakes=[
        (pages([0.3701656199, 0.7123992765, 0.1311549686, 0.5343707538,
            -0.180521989, -0.2333124492],
               [0.0542660179, 0.2014520678, 0.0809824135, -0.4695654133,
                   0.0811922485, 0.5599026376]),
         "softmax's backward has a second term: each weight moves with "
         "every score of its row."),
        (pages([0.4321019137, -0.0029944256, -0.0772635323, 0.4640668214,
            -0.3548383814, -0.4610723958],
               [-0.1471830704, -0.1592197053, 0.0289007118, -0.6715346969,
                   0.1182823586, 0.8307544022]),
         "the scale 1/√K belongs to the backward too."),
        (pages([0.2148979983, -0.027620593, 0.0218131609, 0.3275509949,
            -0.2367111591, -0.2999304019],
               [-0.0345388956, -0.0361911481, -0.0457596413, -0.2319502989,
                   0.0802985368, 0.2681414469]),
         "only the first head of each group counts; they add up."),
        (pages([0.1527710967, -0.0010586893, -0.0273167838, 0.1640723982,
            -0.1254543129, -0.1630137089],
               [-0.0520370736, -0.0562926667, 0.0102179447, -0.237423369,
                   0.0418191289, 0.2937160357]),
         "the heads of a group add up; this takes their mean."),
    ],
)
check_array(
    found[0],
    pages(
        [0.0, 0.0, 0.4200874923, 0.4539484816, 0.0283286808, 0.5092546271],
        [0.0, 0.0, 0.1420853095, 0.1535380407, 0.016241888, 0.0574875778],
        [0.0, 0.0, -0.0329268136, -0.0495845952, 0.2127931868, -0.2262158188],
        [0.0, 0.0, -0.0840522698, -0.1265745853, 0.2784083821, -0.3202817737],
    ),
    "dq of the small case",
    mistakes=[
        (pages([0.4962215428, 0.2681096438, 0.4718407291, 0.4659410339,
            0.1280989102, 0.6447156546],
               [0.3382387257, 0.1827511634, 0.2141987494, 0.1779441867,
                   0.0292731322, 0.0768204874],
               [0.0812209451, 0.0637727021, 0.0886173356, 0.0234995207,
                   0.2075539017, -0.2351928614],
               [0.1607219484, 0.1261949478, 0.1213763814, 0.0026503719,
                   0.2669498609, -0.346087996]),
         "softmax's backward has a second term: each weight moves with "
         "every score of its row."),
        (pages([0.0, 0.0, 0.5940934291, 0.6419800992, 0.0400628046,
            0.7201948004],
               [0.0, 0.0, 0.2009389717, 0.2171355795, 0.0229694982,
                   0.0812997122],
               [0.0, 0.0, -0.0465655463, -0.070123207, 0.3009350108,
                   -0.319917479],
               [0.0, 0.0, -0.1188678599, -0.1790034951, 0.3937289099,
                   -0.4529468281]),
         "the scale 1/√K belongs to the backward too."),
    ],
)

# %% nbgrader={"grade_id": "attention-dv-graded", "grade": true, "points": 2}
# Grading, 2 points: dv.
### BEGIN HIDDEN TESTS
rng = check_rng()


def weights(q, k, scale, hidden):
    """Return the rows of softmax, the hidden entries 0."""
    s = np.where(hidden, -np.inf, q @ k.swapaxes(-1, -2) * scale)
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


for H, G, T, K in ((6, 2, 5, 3), (4, 4, 3, 5), (6, 3, 4, 2)):
    q, do = 0.3 + rng.normal(size=(2, H, T, K))
    k, v = 0.3 + rng.normal(size=(2, G, T, K))
    R, later = H // G, np.triu(np.ones((T, T), bool), 1)
    none, group, mod = later & False, np.arange(H) // R, np.arange(H) % G
    scale = K**-0.5

    def added(each, group, G=G):
        """Add up what belongs to the same group."""
        return np.stack([each[group == g].sum(0) for g in range(G)])

    p = weights(q, k[group], scale, later)
    each = p.swapaxes(-1, -2) @ do
    found = attention_backward(do.copy(), q.copy(), k.copy(), v.copy())
    check_tuple(found, ("dq", "dk", "dv"), "attention_backward(...)")
    if G < H and np.shape(found[2]) == (H, T, K):
        raise Mistake("dv has one entry a query head; the heads of a group "
                      "share it, so their gradients add up.")
    others = [
        (weights(q, k[group], scale, none), "a query sees later keys; the "
         "mask is missing."),
        (weights(q, k[group], scale, later.T), "the mask is upside down: row "
         "t sees the columns 0 to t."),
        (weights(q, k[group], 1.0, later), "the scores are not divided by "
         "the root of K."),
        (weights(q, k[group], 1 / K, later), "the scores are divided by K, "
         "not by its root."),
    ]
    check_array(
        found[2],
        added(each, group),
        f"dv with {H} query heads and {G} groups",
        dtype=np.float64,
        mistakes=[
            *((added(wrong.swapaxes(-1, -2) @ do, group), text)
              for wrong, text in others),
            (added(weights(q, k[mod], scale, later).swapaxes(-1, -2) @ do,
                   mod), "the wrong heads share a group: head h reads group "
             "h // R."),
            (each[::R], "only the first head of each group counts; they add "
             "up."),
            (added(each, group) / R, "the heads of a group add up; this "
             "takes their mean."),
            (added(p @ do, group), "P is not transposed: a value gets its "
             "gradient from the queries that look at it."),
        ],
    )
### END HIDDEN TESTS

# %% nbgrader={"grade_id": "attention-dk-graded", "grade": true, "points": 3}
# Grading, 3 points: dk.
### BEGIN HIDDEN TESTS
rng = check_rng()


def dk_of(do, q, k, v, scale, back, hidden, axis=-1, diagonal=1.0):
    """Return what each query head gives to its keys."""
    s = np.where(hidden, -np.inf, q @ k.swapaxes(-1, -2) * scale)
    e = np.exp(s - s.max(-1, keepdims=True))
    p = e / e.sum(-1, keepdims=True)
    dp = do @ v.swapaxes(-1, -2)
    ds = p * (dp - diagonal * (p * dp).sum(axis, keepdims=True))
    return ds.swapaxes(-1, -2) @ q * back


for H, G, T, K in ((6, 2, 5, 3), (4, 4, 3, 5), (6, 3, 4, 2)):
    q, do = 0.3 + rng.normal(size=(2, H, T, K))
    k, v = 0.3 + rng.normal(size=(2, G, T, K))
    R, later = H // G, np.triu(np.ones((T, T), bool), 1)
    group, mod, c = np.arange(H) // R, np.arange(H) % G, K**-0.5

    def added(each, group, G=G):
        """Add up what belongs to the same group."""
        return np.stack([each[group == g].sum(0) for g in range(G)])

    ours, theirs = (do, q, k[group], v[group]), (do, q, k[mod], v[mod])
    each = dk_of(*ours, c, c, later)
    found = attention_backward(do.copy(), q.copy(), k.copy(), v.copy())
    check_tuple(found, ("dq", "dk", "dv"), "attention_backward(...)")
    if G < H and np.shape(found[1]) == (H, T, K):
        raise Mistake("dk has one entry a query head; the heads of a group "
                      "share it, so their gradients add up.")
    others = [
        (dk_of(*ours, c, c, later & False), "a query sees later keys; the "
         "mask is missing."),
        (dk_of(*ours, c, c, later.T), "the mask is upside down: row t sees "
         "the columns 0 to t."),
        (dk_of(*ours, 1.0, 1.0, later), "the scores are not divided by the "
         "root of K."),
        (dk_of(*ours, 1 / K, 1 / K, later), "the scores are divided by K, "
         "not by its root."),
        (dk_of(*ours, c, 1.0, later), "the scale 1/√K belongs to the "
         "backward too."),
        (dk_of(*ours, c, c * c, later), "the scale 1/√K is applied twice in "
         "the backward."),
        (dk_of(*ours, c, c, later, diagonal=0.0), "softmax's backward has a "
         "second term: each weight moves with every score of its row."),
        (dk_of(*ours, c, c, later, diagonal=-1.0), "the second term of "
         "softmax's backward has the wrong sign."),
        (dk_of(*ours, c, c, later, axis=-2), "softmax's backward adds up "
         "over the keys of a row, not over the queries."),
    ]
    check_array(
        found[1],
        added(each, group),
        f"dk with {H} query heads and {G} groups",
        dtype=np.float64,
        mistakes=[
            *((added(wrong, group), text) for wrong, text in others),
            (added(dk_of(*theirs, c, c, later), mod), "the wrong heads share "
             "a group: head h reads group h // R."),
            (each[::R], "only the first head of each group counts; they add "
             "up."),
            (added(each, group) / R, "the heads of a group add up; this "
             "takes their mean."),
        ],
    )
### END HIDDEN TESTS

# %% nbgrader={"grade_id": "attention-dq-graded", "grade": true, "points": 2}
# Grading, 2 points: dq.
### BEGIN HIDDEN TESTS
rng = check_rng()


def dq_of(do, q, k, v, scale, back, hidden, axis=-1, diagonal=1.0):
    """Return dq; what can go wrong is a parameter."""
    s = np.where(hidden, -np.inf, q @ k.swapaxes(-1, -2) * scale)
    e = np.exp(s - s.max(-1, keepdims=True))
    p = e / e.sum(-1, keepdims=True)
    dp = do @ v.swapaxes(-1, -2)
    ds = p * (dp - diagonal * (p * dp).sum(axis, keepdims=True))
    return ds @ k * back


for H, G, T, K in ((6, 2, 5, 3), (4, 4, 3, 5), (6, 3, 4, 2)):
    q, do = 0.3 + rng.normal(size=(2, H, T, K))
    k, v = 0.3 + rng.normal(size=(2, G, T, K))
    R, later = H // G, np.triu(np.ones((T, T), bool), 1)
    group, mod, c = np.arange(H) // R, np.arange(H) % G, K**-0.5
    ours = do, q, k[group], v[group]
    found = attention_backward(do.copy(), q.copy(), k.copy(), v.copy())
    check_tuple(found, ("dq", "dk", "dv"), "attention_backward(...)")
    check_array(
        found[0],
        dq_of(*ours, c, c, later),
        f"dq with {H} query heads and {G} groups",
        dtype=np.float64,
        mistakes=[
            (dq_of(*ours, c, c, later & False), "a query sees later keys; "
             "the mask is missing."),
            (dq_of(*ours, c, c, later.T), "the mask is upside down: row t "
             "sees the columns 0 to t."),
            (dq_of(*ours, 1.0, 1.0, later), "the scores are not divided by "
             "the root of K."),
            (dq_of(*ours, 1 / K, 1 / K, later), "the scores are divided by "
             "K, not by its root."),
            (dq_of(*ours, c, 1.0, later), "the scale 1/√K belongs to the "
             "backward too."),
            (dq_of(*ours, c, c * c, later), "the scale 1/√K is applied "
             "twice in the backward."),
            (dq_of(*ours, c, c, later, diagonal=0.0), "softmax's backward "
             "has a second term: each weight moves with every score of its "
             "row."),
            (dq_of(*ours, c, c, later, diagonal=-1.0), "the second term of "
             "softmax's backward has the wrong sign."),
            (dq_of(*ours, c, c, later, axis=-2), "softmax's backward adds up "
             "over the keys of a row, not over the queries."),
            (dq_of(do, q, k[mod], v[mod], c, c, later), "the wrong heads "
             "share a group: head h reads group h // R."),
            (dq_of(*ours, c, c, later) / R, "a query belongs to one head "
             "alone; nothing is averaged."),
        ],
    )
### END HIDDEN TESTS

# %% [markdown]
# ## 2 · One step, with the keys that stay
#
# *Advanced · 7 points · 25 minutes · chapter "Training it"*
#
# A decoder that writes one token at a time keeps the keys and values of the
# tokens before, and computes the new tokens alone. The cell below gives
# you RoPE.
#
# Write `attention_step(x, weights, K, kept)`, which returns the tuple
# `(y, kept)`.
#
# - `x`: float64 of shape `(T, D)`, the $T\ge1$ *new* tokens. They stand at
#   the positions $S,\dots,S+T-1$, after $S\ge0$ earlier ones.
# - `weights`: a dictionary with float64 arrays `wq` of shape `(D, H*K)`,
#   `wk` and `wv` of shape `(D, G*K)`, and `wo` of shape `(H*K, D)`. `K` is
#   the width of a head, so $H$ and $G$ follow from the shapes. In `x @ wq`
#   the columns $hK,\dots,hK+K-1$ belong to head $h$; `wk` and `wv` go the
#   same way.
# - `kept`: the tuple `(keys, values)` of the earlier tokens, each of shape
#   `(G, S, K)`. Keys are kept as RoPE has turned them. At the start $S=0$.
# - Queries and keys are turned by RoPE at their positions, values are not.
#   New token $t$ (from 0) sees the $S$ earlier tokens, the new tokens before
#   it, and itself. Scores are divided by $\sqrt K$. Query head $h$ reads
#   group $\lfloor h/R\rfloor$ with $R=H/G$. The heads' outputs are joined in
#   order, head 0 first, to shape `(T, H*K)` and multiplied by `wo`.
# - `y` has shape `(T, D)`. The returned `kept` is a tuple `(keys, values)`,
#   each of shape `(G, S+T, K)`: the earlier ones first, then the new ones.
#   All is float64, right to a relative error of $10^{-6}$.
#
# So if you feed a sequence piece by piece, each piece with the `kept` of
# the one before, the rows of `y` are those of one call with the whole
# sequence. A small case is in the check: four tokens, in two pieces. Its
# first row of `y` is `[4.04818, -3.9119, 3.69732]` and its last is
# `[-0.27712, 0.53507, -0.78231]`, rounded.
#
# <details><summary>Hint</summary>
#
# Both the positions and the mask depend on S. The mask has T rows and S + T
# columns.
#
# </details>

# %% nbgrader={"grade_id": "given-turn", "locked": true}
def turn(x, positions):
    """Return x (N, T, K), turned by RoPE at the positions (T,).

    Pairs channel i with i + K/2; the base is 10000.
    """
    K = x.shape[-1]
    angles = np.outer(positions, 10_000.0 ** (-np.arange(0, K, 2) / K))
    cos, sin = np.cos(angles), np.sin(angles)
    a, b = x[..., : K // 2], x[..., K // 2 :]
    return np.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1)

# %% nbgrader={"grade_id": "attention-step", "solution": true}
def attention_step(x, weights, K, kept):
    """Return (y, kept), y of shape (T, D), for T new tokens."""
    ### BEGIN SOLUTION
    T, S = len(x), kept[0].shape[1]
    at = np.arange(S, S + T)
    q, k, v = (
        (x @ weights[name]).reshape(T, -1, K).swapaxes(0, 1)
        for name in ("wq", "wk", "wv")
    )
    keys = np.concatenate([kept[0], turn(k, at)], axis=1)
    values = np.concatenate([kept[1], v], axis=1)
    R = len(q) // len(k)
    scores = turn(q, at) @ np.repeat(keys, R, 0).swapaxes(1, 2) / np.sqrt(K)
    scores[:, np.arange(S + T) > at[:, None]] = -np.inf
    e = np.exp(scores - scores.max(-1, keepdims=True))
    mixed = e / e.sum(-1, keepdims=True) @ np.repeat(values, R, 0)
    y = mixed.swapaxes(0, 1).reshape(T, -1) @ weights["wo"]
    return y, (keys, values)
    ### END SOLUTION

# %% nbgrader={"grade_id": "attention-step-check", "grade": true, "points": 1}
# Check, 1 point: four tokens in two pieces, with D = 3, H = 4, G = 2, K = 2.
check_function("attention_step", globals())
x = np.cos(1 + 5 * np.arange(12.0)).reshape(4, 3)
weights = {
    "wq": np.sin(np.arange(24.0)).reshape(3, 8),
    "wk": np.cos(np.arange(12.0)).reshape(3, 4),
    "wv": np.sin(1 + 2 * np.arange(12.0)).reshape(3, 4),
    "wo": np.cos(3 * np.arange(24.0)).reshape(8, 3),
}


def small_step(x, kept):
    """Call attention_step with copies; check the form of what it returns."""
    copies = {name: w.copy() for name, w in weights.items()}
    pair = attention_step(x.copy(), copies, 2, kept)
    check_tuple(pair, ("y", "kept"), "attention_step(...)")
    check_tuple(pair[1], ("keys", "values"), "kept")
    return pair


y, kept = small_step(x[:2], (np.zeros((2, 0, 2)), np.zeros((2, 0, 2))))
check_array(
    y,
    np.array([
        [4.0481755528, -3.9118950074, 3.6973178568],
        [-2.2165195079, 2.196381952, -2.1322837963],
    ]),
    "y of the first two tokens",
    mistakes=[
        ([[-0.8043823345, 0.9193055314, -1.0158288218],
          [-2.2165195079, 2.196381952, -2.1322837963]],
         "a token sees one that comes after it."),
        ([[4.0481755528, -3.9118950074, 3.6973178568],
          [-2.132166079, 2.0638355225, -1.954197284]],
         "the scores are not divided by the root of K."),
        ([[1.7741864058, -1.6558088321, 1.5042902334],
          [-1.4387051241, 1.8413927924, -2.2072249714]],
         "the wrong heads share a group: head h reads group h // R."),
        ([[4.0481755528, -3.9118950074, 3.6973178568],
          [0.4896240633, -0.2887276649, 0.0820523804]],
         "RoPE turns queries and keys, not values."),
    ],
)
check_array(
    kept[0],
    np.array([
        [[-0.0879508162, 0.5602581963], [0.6872807773, -1.2657666571]],
        [[0.6933684068, 0.1889989018], [-0.8148246458, -0.273267114]],
    ]),
    "the keys kept of the first two tokens",
    mistakes=[
        ([[[-0.0879508162, 0.5602581963], [-0.6937665267, -1.262223476]],
          [[0.6933684068, 0.1889989018], [-0.6701979825, 0.5380044453]]],
         "keys are kept as RoPE has turned them; these are not turned."),
        ([[[-0.5189610449, 0.2287007355], [1.4364453042, -0.105569811]],
          [[0.215591457, 0.6855659385], [-0.2103052874, -0.833298149]]],
         "the positions are off by one: the first token stands at 0."),
    ],
)
y, kept = small_step(x[2:], (kept[0].copy(), kept[1].copy()))
check_array(
    y,
    np.array([
        [1.4222063394, -1.4031936764, 1.3560960823],
        [-0.2771232508, 0.5350716477, -0.7823105819],
    ]),
    "y of the next two tokens",
    mistakes=[
        ([[1.5664170344, -1.450444736, 1.3054417763],
          [-0.439470741, 0.5286955323, -0.6073384788]],
         "the positions start at 0 again; the new tokens stand at S, S + 1 "
         "and so on."),
        ([[4.0481755528, -3.9118950074, 3.6973178568],
          [-1.3545856951, 1.667121845, -1.9462905397]],
         "the mask ignores the earlier tokens: new token t sees S + t + 1 "
         "columns."),
        ([[0.9982019304, -0.8283613509, 0.6419411133],
          [-0.0019719662, -0.1724702593, 0.3434604914]],
         "the queries' positions start at 0 again."),
        ([[1.3390420312, -1.3773148883, 1.3880207785],
          [0.5858012409, -0.3923332384, 0.1910126836]],
         "the keys' positions start at 0 again."),
        ([[0.8672014966, -0.7799261402, 0.6770405568],
          [-0.2771232508, 0.5350716477, -0.7823105819]],
         "a token sees one that comes after it."),
        ([[6.362217772, -6.7219467388, 6.9471358959],
          [0.9950130229, -0.8033710833, 0.595649666]],
         "the earlier tokens are not seen; use the keys and values that "
         "were kept."),
        ([[-0.9287969314, 1.1202824803, -1.2893455677],
          [0.4716206221, -0.2907535745, 0.1040670922]],
         "a token sees itself as well."),
    ],
)
check_array(
    kept[0],
    np.array([
        [[-0.0879508162, 0.5602581963], [0.6872807773, -1.2657666571],
         [-1.7096593879, 0.4735233456], [1.1439534601, 0.645404485]],
        [[0.6933684068, 0.1889989018], [-0.8148246458, -0.273267114],
         [0.7799320539, 0.7142662501], [-0.3146343447, -0.9563098116]],
    ]),
    "the keys kept of all four tokens",
    mistakes=[
        ([[[-1.7096593879, 0.4735233456], [1.1439534601, 0.645404485],
           [-0.0879508162, 0.5602581963], [0.6872807773, -1.2657666571]],
          [[0.7799320539, 0.7142662501], [-0.3146343447, -0.9563098116],
           [0.6933684068, 0.1889989018], [-0.8148246458, -0.273267114]]],
         "the earlier ones come first, then the new ones."),
    ],
)

# %% nbgrader={"grade_id": "attention-step-graded", "grade": true, "points": 4}
# Grading, 4 points: y of a prompt, of one token, and of several after it.
### BEGIN HIDDEN TESTS
rng = check_rng()


def stepped(x, weights, K, kept, positions=None, query_at=None,
            sees="right", scale=None, shared=None):
    """Return (y, kept); what can go wrong is a parameter."""
    T, S = len(x), kept[0].shape[1]
    at = np.arange(S, S + T) if positions is None else positions
    q, k, v = ((x @ weights[n]).reshape(T, -1, K).swapaxes(0, 1)
               for n in ("wq", "wk", "wv"))
    keys = np.concatenate([kept[0], turn(k, at)], axis=1)
    values = np.concatenate([kept[1], v], axis=1)
    H, G = len(q), len(k)
    group = np.arange(H) // (H // G) if shared is None else shared
    s = turn(q, at if query_at is None else query_at)
    s = s @ keys[group].swapaxes(1, 2) * (K**-0.5 if scale is None else scale)
    t, column = np.arange(T)[:, None], np.arange(S + T)
    seen = {
        "right": column <= t + S,
        "all": column >= 0 * t,
        "corner": column <= t,
        "new": (column >= S) & (column <= t + S),
        "before": (column < t + S) | (column == 0),
    }[sees]
    e = np.exp(np.where(seen, s, -np.inf) - s.max(-1, keepdims=True))
    mixed = e / e.sum(-1, keepdims=True) @ values[group]
    joined = mixed.swapaxes(0, 1).reshape(T, -1)
    return joined @ weights["wo"], (keys, values)


for D, H, G, K in ((5, 4, 2, 4), (7, 6, 2, 2)):
    weights = {n: 0.2 + 0.6 * rng.normal(size=s) for n, s in (
        ("wq", (D, H * K)), ("wk", (D, G * K)), ("wv", (D, G * K)),
        ("wo", (H * K, D)))}
    x = 0.5 + rng.normal(size=(9, D))
    kept, begin = (np.zeros((G, 0, K)), np.zeros((G, 0, K))), 0
    for end in (4, 5, 6, 9):
        new, T = x[begin:end], end - begin
        args = new, weights, K, kept
        right, after = stepped(*args)
        pair = attention_step(new.copy(),
                              {n: w.copy() for n, w in weights.items()}, K,
                              (kept[0].copy(), kept[1].copy()))
        check_tuple(pair, ("y", "kept"), "attention_step(...)")
        again, one_on = np.arange(T), np.arange(begin + 1, end + 1)
        check_array(
            pair[0], right,
            f"y of {T} new token(s) after {begin} earlier ones",
            dtype=np.float64,
            mistakes=[
                (stepped(*args, again)[0], "the positions start at 0 again; "
                 "the new tokens stand at S, S + 1 and so on."),
                (stepped(*args, query_at=again)[0], "the queries' positions "
                 "start at 0 again."),
                (stepped(*args, again, np.arange(begin, end))[0], "the "
                 "keys' positions start at 0 again."),
                (stepped(*args, one_on)[0], "the positions are off by "
                 "one."),
                (stepped(*args, 0 * again)[0], "RoPE is missing."),
                (stepped(*args, sees="all")[0], "a token sees one that comes "
                 "after it."),
                (stepped(*args, sees="corner")[0], "the mask ignores the "
                 "earlier tokens: new token t sees S + t + 1 columns."),
                (stepped(*args, sees="new")[0], "the earlier tokens are not "
                 "seen; use the keys and values that were kept."),
                (stepped(*args, sees="before")[0], "a token sees itself as "
                 "well."),
                (stepped(*args, scale=1.0)[0], "the scores are not divided "
                 "by the root of K."),
                (stepped(*args, scale=1 / K)[0], "the scores are divided by "
                 "K, not by its root."),
                (stepped(*args, shared=np.arange(H) % G)[0], "the wrong "
                 "heads share a group: head h reads group h // R."),
            ],
        )
        kept, begin = after, end
### END HIDDEN TESTS

# %% nbgrader={"grade_id": "attention-kept-graded", "grade": true, "points": 2}
# Grading, 2 points: what is kept, and a whole sequence with it.
### BEGIN HIDDEN TESTS
rng = check_rng()
D, H, G, K = 5, 6, 3, 2
weights = {n: 0.2 + 0.6 * rng.normal(size=s) for n, s in (
    ("wq", (D, H * K)), ("wk", (D, G * K)), ("wv", (D, G * K)),
    ("wo", (H * K, D)))}
x = 0.5 + rng.normal(size=(8, D))


def heads(name):
    """Return x @ weights[name], cut into heads."""
    return (x @ weights[name]).reshape(8, -1, K).swapaxes(0, 1)


at = np.arange(8)
plain, values = heads("wk"), heads("wv")
keys = turn(plain, at)
group = np.arange(H) // (H // G)
s = turn(heads("wq"), at) @ keys[group].swapaxes(1, 2) / np.sqrt(K)
e = np.exp(np.where(at > at[:, None], -np.inf, s) - s.max(-1, keepdims=True))
mixed = e / e.sum(-1, keepdims=True) @ values[group]
whole = mixed.swapaxes(0, 1).reshape(8, -1) @ weights["wo"]
kept, rows, begin = (np.zeros((G, 0, K)), np.zeros((G, 0, K))), [], 0
for end in (3, 4, 6, 7, 8):
    pair = attention_step(x[begin:end].copy(),
                          {n: w.copy() for n, w in weights.items()}, K,
                          (kept[0].copy(), kept[1].copy()))
    check_tuple(pair, ("y", "kept"), "attention_step(...)")
    check_tuple(pair[1], ("keys", "values"), "kept")
    for got in pair[1]:
        if np.shape(got) == (G, end - begin, K) and begin:
            raise Mistake("kept holds the new tokens alone; the earlier ones "
                          "belong in front of them.")
    restarted = turn(plain[:, begin:end], np.arange(end - begin))
    check_array(
        pair[1][0], keys[:, :end], f"the keys kept of {end} tokens",
        mistakes=[
            (plain[:, :end], "keys are kept as RoPE has turned them; these "
             "are not turned."),
            (np.concatenate([keys[:, :begin], plain[:, begin:end]], 1),
             "keys are kept as RoPE has turned them; these are not turned."),
            (np.concatenate([keys[:, :begin], restarted], 1),
             "the positions start at 0 again."),
            (turn(plain, at + 1)[:, :end], "the positions are off by one."),
            (np.concatenate([keys[:, begin:end], keys[:, :begin]], 1),
             "the earlier ones come first, then the new ones."),
        ],
    )
    check_array(
        pair[1][1], values[:, :end], f"the values kept of {end} tokens",
        mistakes=[
            (turn(values, at)[:, :end], "RoPE turns queries and keys, not "
             "values."),
            (np.concatenate([values[:, :begin],
                             turn(values, at)[:, begin:end]], 1),
             "RoPE turns queries and keys, not values."),
            (keys[:, :end], "these are the keys."),
            (np.concatenate([values[:, begin:end], values[:, :begin]], 1),
             "the earlier ones come first, then the new ones."),
        ],
    )
    rows, kept, begin = [*rows, pair[0]], pair[1], end
check_array(
    np.concatenate([np.reshape(row, (-1, D)) for row in rows]), whole,
    "y of a sequence in pieces, set against the whole sequence at once",
)
### END HIDDEN TESTS

# %% [markdown]
# ## 3 · Which limit comes first?
#
# *Advanced · 6 points · 20 minutes · chapter "What it costs"*
#
# A machine does at most `peak` FLOPs a second and moves at most
# `bandwidth` bytes a second to and from its memory. An $(m,k)$ by
# $(k,n)$ matrix product takes one multiplication and one addition for each
# of its $mkn$ terms, 2 FLOPs together. It reads both operands once and
# writes the result once. Its *intensity* is its FLOPs divided by the bytes
# it moves. Below the ridge, `peak / bandwidth`, it waits for memory; at the
# ridge or above it, for arithmetic.
#
# Write three functions:
#
# - `intensity(m, k, n, width)` returns the intensity, a float right to a
#   relative error of $10^{-9}$. A number takes `width` bytes.
# - `fewest_rows(k, n, width, ridge)` returns the smallest whole number
#   $m\ge1$ for which the product is at the ridge or above it. Where no $m$,
#   however large, is enough, it returns 0. In decoding, $m$ is the batch
#   size: one row for each sequence.
# - `tokens_per_second(batch, weight_bytes, cache_bytes, bandwidth)` returns
#   the most tokens that decoding can give in a second when memory is the
#   limit: a float, right to a relative error of $10^{-9}$. One step gives
#   one token for each of `batch` sequences. It reads all weights once,
#   `weight_bytes`, and the cache of keys and values of *each* sequence,
#   `cache_bytes` for every one of them. Nothing else is moved.
#
# All sizes are positive `int`s; `ridge` and `bandwidth` are floats.
#
# A small case: `intensity(3, 8, 12, 2)` is
# $576/312=1.846$. With `ridge = 4.0`, `fewest_rows(8, 12, 2, 4.0)` is 24,
# where the intensity is exactly 4; for `fewest_rows(8, 12, 2, 5.0)` no
# number of rows is enough, and the answer is 0. And
# `tokens_per_second(4, 1000, 50, 6000.0)` is 20.
#
# <details><summary>Hint</summary>
#
# Divide the numerator and the denominator of the intensity by mkn. What
# does the intensity tend to as m grows? A division may round a whole number
# up, so try the m that you found, and its neighbours, in intensity. The
# time of a step is the bytes it reads, divided by the bandwidth.
#
# </details>

# %% nbgrader={"grade_id": "roofline", "solution": true}
def intensity(m, k, n, width):
    """Return the FLOPs of an (m, k) by (k, n) product a byte moved."""
    ### BEGIN SOLUTION
    return 2 * m * k * n / (width * (m * k + k * n + m * n))
    ### END SOLUTION


def fewest_rows(k, n, width, ridge):
    """Return the smallest m that reaches the ridge, or 0."""
    ### BEGIN SOLUTION
    room = 2 * k * n - ridge * width * (k + n)
    if room <= 0:
        return 0
    m = max(1, int(ridge * width * k * n / room) - 1)
    while 2 * m * k * n < ridge * width * (m * k + k * n + m * n):
        m += 1
    return m
    ### END SOLUTION


def tokens_per_second(batch, weight_bytes, cache_bytes, bandwidth):
    """Return the most tokens a second, where memory is the limit."""
    ### BEGIN SOLUTION
    seconds = (weight_bytes + batch * cache_bytes) / bandwidth
    return batch / seconds
    ### END SOLUTION

# %% nbgrader={"grade_id": "roofline-check", "grade": true, "points": 1}
# Check, 1 point: the small cases.
check_function("intensity", globals())
check_function("fewest_rows", globals())
check_function("tokens_per_second", globals())
check_number(
    intensity(3, 8, 12, 2), 576 / 312, "intensity of the small case",
    mistakes=[
        (288 / 312, "a term is a multiplication and an addition, 2 FLOPs."),
        (576 / 156, "a number takes `width` bytes."),
        (576 / 240, "the result is written, which moves bytes too."),
        (576 / 264, "both operands are read; the first one is missing."),
        (576 / 120, "both operands are read; the second one is missing."),
        (312 / 576, "this is bytes for each FLOP."),
    ],
)
check_integer(
    fewest_rows(8, 12, 2, 4.0), 24, "fewest_rows of the small case",
    [(25, "at the ridge is enough: the intensity at 24 rows is exactly 4. Did "
      "a division round 24 up? Compare with `intensity`."),
     (23, "with one row less the product is still below the ridge."),
     (4, "the operands that grow with m are moved too, and a number takes "
      "`width` bytes."),
     (6, "the result is moved too, and it grows with m."),
     (8, "the first operand is moved too, and it grows with m."),
     (0, "the intensity at 24 rows is exactly 4, and that is enough. Or does "
      "a term count as one FLOP here?")],
)
check_integer(
    fewest_rows(8, 12, 2, 5.0), 0, "fewest_rows where none is enough",
    [(m, "the intensity tends to 4.8 as m grows, and never reaches 5.")
     for m in (1, 5, -119, -120, -121)],
)
check_number(
    tokens_per_second(4, 1000, 50, 6000.0), 20.0,
    "tokens_per_second of the small case",
    mistakes=[
        (5.0, "this is steps a second; a step gives `batch` tokens."),
        (4 * 6000 / 1050, "each sequence has a cache of its own."),
        (4 * 6000 / 4200, "the weights are read once for all sequences."),
        (24.0, "the caches are read too."),
        (6000 / 1050, "either the weights are read once for each sequence "
         "here, or a step gives one token: it gives `batch`, and each "
         "sequence has a cache of its own."),
        (0.05, "this is seconds a token."),
        (0.2, "this is the seconds of a step."),
    ],
)

# %% nbgrader={"grade_id": "intensity-graded", "grade": true, "points": 1}
# Grading, 1 point: intensity.
### BEGIN HIDDEN TESTS
rng = check_rng()
cases = [(16_384, 4096, 14_336, 2), (32, 4096, 14_336, 2)]
cases += [(*(int(n) for n in rng.integers(3, 900, size=3)), 4)]
cases += [(1, 128, 4096, 1)]
for m, k, n, width in cases:
    flops, moved = 2 * m * k * n, width * (m * k + k * n + m * n)
    check_number(
        intensity(m, k, n, width), flops / moved,
        f"intensity({m}, {k}, {n}, {width})",
        mistakes=[
            (flops / 2 / moved, "a term is a multiplication and an addition, "
             "2 FLOPs."),
            (flops / moved * width, "a number takes `width` bytes."),
            (flops / moved * width / 2, "a number takes `width` bytes, not "
             "always 2."),
            (flops / (width * (m * k + k * n)), "the result is written, "
             "which moves bytes too."),
            (flops / (width * (k * n + m * n)), "both operands are read; the "
             "first one is missing."),
            (flops / (width * (m * k + m * n)), "both operands are read; the "
             "second one is missing."),
            (moved / flops, "this is bytes for each FLOP."),
            (2.0 * m / width, "this is right only where m is small beside k "
             "and n; count all three matrices."),
        ],
    )
### END HIDDEN TESTS

# %% nbgrader={"grade_id": "fewest-rows-graded", "grade": true, "points": 2}
# Grading, 2 points: the fewest rows.
### BEGIN HIDDEN TESTS
rng = check_rng()
cases = [(4096, 14_336, 2, 295.0), (4096, 4096, 2, 295.0),
         (128, 4096, 2, 295.0), (4096, 4096, 1, 591.0), (64, 64, 2, 0.25),
         (120, 60, 4, 5.0), (64, 64, 2, 32.0), (4096, 4096, 2, 2033.3),
         (4096, 14_336, 2, 295.5)]
k, n = (int(size) for size in rng.integers(700, 3000, size=2))
cases += [(k, n, 2, float(rng.integers(100, 300)))]


def solved(k, n, width, ridge, flops=2, first=1, result=1):
    """Solve for m; what can go wrong is a parameter. 0: there is none."""
    room = flops * k * n - ridge * width * (first * k + result * n)
    return ridge * width * k * n / room if room else 0.0


for k, n, width, ridge in cases:
    shape = (k, n, width, ridge)
    bound, far = solved(*shape), ridge * width / 2
    m = max(1, int(np.ceil(bound))) if bound > 0 else 0
    weights = "this counts the weights alone; the operands that grow with m"
    whole = int(np.ceil(solved(k, n, width, max(1, int(ridge)))))
    mistakes = [
        (whole, "the ridge need not be a whole number."),
        (1, "at the ridge is enough, and m is at least 1."),
        (int(np.ceil(far)), f"{weights} are moved too."),
        (int(far) + 1, f"{weights} are moved too."),
        (int(bound) + 1, "at the ridge is enough: the intensity need not "
         "be above it."),
        (m + 1, "at the ridge is enough: the intensity need not be above "
         "it."),
        (int(bound), "with this number of rows the product is still below "
         "the ridge."),
        (m - 1, "with this number of rows the product is still below the "
         "ridge."),
        (int(np.ceil(solved(*shape, flops=1))), "a term is a multiplication "
         "and an addition, 2 FLOPs."),
        (int(np.ceil(solved(k, n, 1, ridge))), "a number takes `width` "
         "bytes."),
        (int(np.ceil(solved(*shape, first=0))), "the first operand is moved "
         "too, and it grows with m."),
        (int(np.ceil(solved(*shape, result=0))), "the result is moved too, "
         "and it grows with m."),
        (0, "this product reaches the ridge if m is large enough."),
    ]
    if m == 0:
        never = "however many rows, this product never reaches the ridge."
        mistakes = [(wrong, never) for wrong, _ in mistakes]
    elif m == 1:
        mistakes.insert(0, (0, "m is at least 1."))
    check_integer(
        fewest_rows(*shape), m,
        f"fewest_rows({k}, {n}, {width}, {ridge})", mistakes,
    )
### END HIDDEN TESTS

# %% nbgrader={"grade_id": "tokens-graded", "grade": true, "points": 2}
# Grading, 2 points: tokens a second.
### BEGIN HIDDEN TESTS
rng = check_rng()
cases = [(1, 16_060_522_496, 536_870_912, 3.35e12),
         (64, 16_060_522_496, 536_870_912, 3.35e12),
         (int(rng.integers(3, 40)), int(rng.integers(10**6, 10**7)),
          int(rng.integers(10**5, 10**6)), 1e9)]
for batch, weights, cache, bandwidth in cases:
    right = batch * bandwidth / (weights + batch * cache)
    check_number(
        tokens_per_second(batch, weights, cache, bandwidth), right,
        f"tokens_per_second({batch}, {weights}, {cache}, {bandwidth:g})",
        mistakes=[
            (right / batch, "this is steps a second; a step gives `batch` "
             "tokens."),
            (batch * bandwidth / (weights + cache), "each sequence has a "
             "cache of its own."),
            (bandwidth / (weights + cache), "either the weights are read "
             "once for each sequence here, or a step gives one token: it "
             "gives `batch`, and each sequence has a cache of its own."),
            (batch * bandwidth / weights, "the caches are read too."),
            (bandwidth / weights, "the caches are read too, and a step gives "
             "`batch` tokens."),
            (1 / right, "this is seconds a token."),
            (batch / right, "this is the seconds of a step."),
        ],
    )
### END HIDDEN TESTS

# %% [markdown]
# ## 4 · What to buy
#
# *Advanced · 5 points · 15 minutes · in words, marked by hand · chapter
# "What it costs"*
#
# A team serves a model of 8 billion parameters in bfloat16 (2 bytes each)
# on one device with 1,000 TFLOPs a second, 3 TB a second and memory enough.
# A token's keys and values take 0.125 MB. Two services run on devices of
# their own:
#
# - *chat*: 1 sequence at a time, with 2,000 tokens of context;
# - *archive*: 32 sequences at a time, with 15,000 tokens of context each.
#
# Four changes are on offer, and each costs the same: **(a)** a device with
# twice the FLOPs and the same bandwidth; **(b)** weights of 1 byte a
# parameter, unpacked on the fly at no cost; **(c)** a model with a quarter
# of the key/value heads (its weights shrink a little; leave that out);
# **(d)** a batch twice as large, for which there are users.
#
# Answer in six to ten sentences:
#
# 1. For each service, how many GB does one decoding step read for weights,
#    and how many for caches? What limits both?
# 2. For each service, choose from (a), (b) and (c) the change that raises
#    tokens a second the most, and say by which factor (an estimate will
#    do). Which of the three helps neither, and why?
# 3. For which service is (d) almost free, and why does it bring so much
#    less to the other?
#
# | points | for |
# | --- | --- |
# | 1 | the bytes of weights and caches for both services, and the limit |
# | 2 | the choice for each service, with a factor that follows from the bytes (1 each) |
# | 1 | the change that helps neither, with its reason |
# | 1 | what (d) does to each, with the reason: the weights are shared by a batch, the caches are not |

# %% [markdown] nbgrader={"grade_id": "what-to-buy", "grade": true, "solution": true, "points": 5}
# One step reads all weights, 8 billion times 2 bytes: 16 GB for either
# service. The chat's cache is 2,000 times 0.125 MB, 0.25 GB; the archive's
# caches are 32 times 15,000 times 0.125 MB, 60 GB. Both wait for memory: a
# weight takes part in 1 or 32 multiplications and as many additions for 2
# bytes, so there are 1 or 32 FLOPs a byte, where the ridge is at 1,000/3 =
# 333; and a cached key serves the few queries of its group, for 2 bytes a
# number too. For the chat, (b) is best: a step reads 8.25 GB where it read
# 16.25, so it gives 2.0 times the tokens; (c) would save 0.19 GB. For the
# archive, (c) is best: 16 + 15 = 31 GB where there were 76, a factor of
# 2.5; (b) leaves 68, a factor of 1.1. (a) helps neither, since neither waits
# for arithmetic. (d) is almost free for the chat: 16.5 GB give two tokens
# where 16.25 gave one, because the weights are read once for all
# sequences. The archive's step would read 136 GB for 64 tokens, after 76
# for 32: 1.1 times the tokens a second, because each sequence brings a
# cache of its own, and those are most of what is read.
