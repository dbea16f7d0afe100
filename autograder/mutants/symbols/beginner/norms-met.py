# %% wrong: the Post-LN skip counted as free
# loses 4: skip ends inside the normalization
def norms_met(placement, n_layers, sublayers, final_norm):
    return int(final_norm), n_layers * sublayers + int(final_norm)


# %% wrong: Pre-LN counted like Post-LN
# loses 4: skip goes around
def norms_met(placement, n_layers, sublayers, final_norm):
    norms = n_layers * sublayers + int(final_norm)
    return norms, norms


# %% wrong: layers counted, not sublayers
# loses 4: each sublayer has its own normalization
def norms_met(placement, n_layers, sublayers, final_norm):
    fewest = n_layers if placement == "post" else 0
    return fewest + int(final_norm), n_layers + int(final_norm)


# %% wrong: the final norm forgotten
# loses 4: final normalization is missing
def norms_met(placement, n_layers, sublayers, final_norm):
    norms = n_layers * sublayers
    return (norms if placement == "post" else 0), norms


# %% wrong: the final norm always there
# loses 3: no final normalization here
def norms_met(placement, n_layers, sublayers, final_norm):
    norms = n_layers * sublayers
    return (norms if placement == "post" else 0) + 1, norms + 1


# %% wrong: the final norm counted on the skip alone
# loses 4: its own normalization, and then the final one
def norms_met(placement, n_layers, sublayers, final_norm):
    norms = n_layers * sublayers
    return (norms if placement == "post" else 0) + int(final_norm), norms


# %% wrong: the number of paths
# loses 4: number of paths
def norms_met(placement, n_layers, sublayers, final_norm):
    norms = n_layers * sublayers
    fewest = norms if placement == "post" else 0
    return fewest + int(final_norm), 2**norms


# %% wrong: the two forms swapped
# loses 4: skip goes around
def norms_met(placement, n_layers, sublayers, final_norm):
    norms = n_layers * sublayers
    fewest = norms if placement == "pre" else 0
    return fewest + int(final_norm), norms + int(final_norm)


# %% wrong: one number
# loses 4: return the tuple
def norms_met(placement, n_layers, sublayers, final_norm):
    return n_layers * sublayers + int(final_norm)


# %% right: the smallest and the largest power in the expanded product
def norms_met(placement, n_layers, sublayers, final_norm):
    t = sp.Symbol("t")
    layer = 2 * t if placement == "post" else 1 + t
    product = layer ** (n_layers * sublayers) * (t if final_norm else 1)
    powers = [k[0] for k in sp.Poly(product, t).monoms()]
    return [min(powers), max(powers)]


# %% right: every path walked
def norms_met(placement, n_layers, sublayers, final_norm):
    import itertools

    counts = []
    for path in itertools.product((0, 1), repeat=n_layers * sublayers):
        met = sum(1 if placement == "post" else step for step in path)
        counts.append(met + bool(final_norm))
    return min(counts), max(counts)


# %% right: NumPy integers
def norms_met(placement, n_layers, sublayers, final_norm):
    norms = np.int64(n_layers * sublayers)
    post = np.int64(placement == "post")
    last = np.int64(final_norm)
    return post * norms + last, norms + last
