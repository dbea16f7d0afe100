"""Gradient by depth: one backward pass through a stack of sublayers.

Chapter: Pre-LN against Post-LN. Axes: D, and rows that stand for tokens.
A branch or a norm is a pair of functions: forward(x) -> (y, cache) and
backward(dy, cache) -> dx. So any face's blocks can be measured.
"""

import numpy as np


def stack_forward(x, branches, norm, placement):
    """Run `branches` in order, each with its norm before or after it.

    Returns (stream, tape): the n + 1 states of the stream, and for every
    sublayer the caches of branch and norm. Pre-LN's last state is not
    normalized yet. Raises ValueError for an unknown placement.
    """
    if placement not in ("pre", "post"):
        raise ValueError(
            f'placement is {placement!r}; it must be "pre" or "post"'
        )
    stream, tape = [x], []
    for forward, _ in branches:
        if placement == "pre":
            normed, norm_cache = norm[0](stream[-1])
            y, cache = forward(normed)
            stream.append(stream[-1] + y)
        else:
            y, cache = forward(stream[-1])
            y, norm_cache = norm[0](stream[-1] + y)
            stream.append(y)
        tape.append((cache, norm_cache))
    return stream, tape


def stack_backward(dy, branches, norm, placement, tape):
    """Carry dy from the last state back to the first.

    Returns (at_stream, at_branch): the gradient at each of the n + 1
    states, and the gradient that arrives at each branch's output.
    """
    at_stream, at_branch = [dy], []
    for (_, backward), (cache, norm_cache) in zip(
        branches[::-1], tape[::-1], strict=True
    ):
        dx = at_stream[-1]
        if placement == "pre":
            at_branch.append(dx)
            dx = dx + norm[1](backward(dx, cache), norm_cache)
        else:
            dx = norm[1](dx, norm_cache)  # every path meets this norm
            at_branch.append(dx)
            dx = dx + backward(dx, cache)
        at_stream.append(dx)
    return at_stream[::-1], at_branch[::-1]


def gradient_by_depth(x, dy, branches, norm, placement):
    """Return the root mean squares along a stack, as a dict of arrays.

    "stream" (n + 1,), "gradient" (n + 1,) and "at_branch" (n,). dy is the
    gradient at the output, which in Pre-LN lies above a final norm.
    """
    stream, tape = stack_forward(x, branches, norm, placement)
    if placement == "pre":
        dy = norm[1](dy, norm[0](stream[-1])[1])
    gradient, at_branch = stack_backward(
        dy, branches, norm, placement, tape
    )
    found = {"stream": stream, "gradient": gradient, "at_branch": at_branch}
    return {
        name: np.array([root_mean_square(a) for a in arrays])
        for name, arrays in found.items()
    }


def root_mean_square(a):
    """Return √(mean(a²)) over all entries."""
    return float(np.sqrt(np.mean(np.square(a))))
