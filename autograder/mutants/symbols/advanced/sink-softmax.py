# %% wrong: plain softmax
# loses 6: this is plain softmax
def sink_softmax(scores, s):
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


# %% wrong: the scores shifted, s not
# loses 5: but not from s
def sink_softmax(scores, s):
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / (np.exp(s) + e.sum(-1, keepdims=True))


# %% wrong: softmax-plus-one for every s
# loses 5: agree only at s = 0
def sink_softmax(scores, s):
    top = np.maximum(scores.max(-1, keepdims=True), 0.0)
    e = np.exp(scores - top)
    return e / (np.exp(-top) + e.sum(-1, keepdims=True))


# %% wrong: the sink counted for each entry
# loses 6: not once for each entry
def sink_softmax(scores, s):
    top = np.maximum(scores.max(-1, keepdims=True), s)
    e, sink = np.exp(scores - top), np.exp(s - top)
    return e / (e + sink).sum(-1, keepdims=True)


# %% wrong: the sink in the numerator
# loses 6: not in the numerator
def sink_softmax(scores, s):
    top = np.maximum(scores.max(-1, keepdims=True), s)
    e, sink = np.exp(scores - top), np.exp(s - top)
    return (e + sink) / (sink + e.sum(-1, keepdims=True))


# %% wrong: over the wrong axis
# loses 5: runs over the last axis
def sink_softmax(scores, s):
    top = np.maximum(scores.max(-2, keepdims=True), s)
    e = np.exp(scores - top)
    return e / (np.exp(s - top) + e.sum(-2, keepdims=True))


# %% wrong: one denominator for all
# loses 5: a denominator of its own
def sink_softmax(scores, s):
    top = max(scores.max(), s)
    e = np.exp(scores - top)
    return e / (np.exp(s - top) + e.sum())


# %% wrong: no shift at all
# loses 2: Does an exponential overflow
def sink_softmax(scores, s):
    e = np.exp(scores)
    return e / (np.exp(s) + e.sum(-1, keepdims=True))


# %% wrong: the sign of s
# loses 5: s has the wrong sign
def sink_softmax(scores, s):
    top = np.maximum(scores.max(-1, keepdims=True), -s)
    e = np.exp(scores - top)
    return e / (np.exp(-s - top) + e.sum(-1, keepdims=True))


# %% wrong: the sink's weight returned too
# loses 6: has shape
def sink_softmax(scores, s):
    sink = np.full((*scores.shape[:-1], 1), s)
    z = np.concatenate([scores, sink], -1)
    e = np.exp(z - z.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


# %% wrong: masked rows spread evenly
# loses 2: with everything masked
def sink_softmax(scores, s):
    top = np.maximum(scores.max(-1, keepdims=True), s)
    e = np.exp(scores - top)
    p = e / (np.exp(s - top) + e.sum(-1, keepdims=True))
    masked = np.isneginf(scores).all(-1, keepdims=True)
    return np.where(masked, 1 / scores.shape[-1], p)


# %% wrong: rounded to float32
# loses 5: has dtype float32
def sink_softmax(scores, s):
    top = np.maximum(scores.max(-1, keepdims=True), s)
    e = np.exp(scores - top)
    p = e / (np.exp(s - top) + e.sum(-1, keepdims=True))
    return p.astype(np.float32)


# %% right: one more column, then dropped
def sink_softmax(scores, s):
    sink = np.full((*scores.shape[:-1], 1), s)
    z = np.concatenate([scores, sink], -1)
    e = np.exp(z - z.max(-1, keepdims=True))
    return (e / e.sum(-1, keepdims=True))[..., :-1]


# %% right: logarithms
def sink_softmax(scores, s):
    lse = np.logaddexp(s, np.logaddexp.reduce(scores, axis=-1, keepdims=True))
    return np.exp(scores - lse)


# %% right: row by row
def sink_softmax(scores, s):
    import math

    out = np.zeros(scores.shape)
    for row in np.ndindex(scores.shape[:-1]):
        top = max(float(scores[row].max()), s)
        e = [math.exp(x - top) for x in scores[row]]
        total = math.fsum([*e, math.exp(s - top)])
        out[row] = [x / total for x in e]
    return out
