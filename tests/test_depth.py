"""The depth instrument: its backward against finite differences, and the
rates that the two gains of a branch predict, against measured stacks.
"""

import numpy as np
import pytest

from assembled.instruments import depth
from assembled.reference import norm
from assembled.reference.swiglu import swiglu_backward, swiglu_forward
from assembled.symbolic import model

SWIGLU = (0.3557755198, 0.7352578715)  # E silu², E silu² + E silu′²
PLACEMENTS = ("pre", "post")


def rms_pair(eps=1e-6):
    return (
        lambda x: norm.rms_norm_forward(x, np.ones(x.shape[-1]), eps),
        lambda dy, cache: norm.rms_norm_backward(dy, cache)[0],
    )


def swiglu_pair(rng, d_model):
    shape = (3, d_model, d_model)
    weights = rng.normal(size=shape) / np.sqrt(d_model)
    return (
        lambda x: swiglu_forward(x, *weights),
        lambda dy, cache: swiglu_backward(dy, cache)[0],
    )


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_backward_is_the_slope_of_forward(placement):
    rng = np.random.default_rng(4)
    branches = [swiglu_pair(rng, 6) for _ in range(3)]
    x, dy, along = rng.normal(size=(3, 2, 6)) + 0.5
    pair = rms_pair()
    _, tape = depth.stack_forward(x, branches, pair, placement)
    at_stream, _ = depth.stack_backward(dy, branches, pair, placement, tape)
    h = 1e-5
    ends = [
        depth.stack_forward(x + s * h * along, branches, pair, placement)[0]
        for s in (1, -1)
    ]
    slope = np.sum(dy * (ends[0][-1] - ends[1][-1])) / (2 * h)
    # central differences: error h² f''' / 6, about 1e-9 here
    assert np.sum(at_stream[0] * along) == pytest.approx(slope, rel=1e-7)


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_swiglu_stacks_follow_the_predicted_rate(placement):
    rng = np.random.default_rng(5)
    n = 24
    branches = [swiglu_pair(rng, 128) for _ in range(n)]
    x, dy = rng.normal(size=(2, 32, 128))
    x = rms_pair()[0](x)[0]
    found = depth.gradient_by_depth(x, dy, branches, rms_pair(), placement)
    ratio = found["gradient"][0] / found["gradient"][-1]
    factor = {
        "post": model.post_ln_factor(*SWIGLU) ** n,
        "pre": model.pre_ln_total(n, *SWIGLU),
    }[placement]
    # each sublayer's factor has relative spread about 1/√(2·128), and
    # n of them multiply: √24/16 is one standard deviation of the log
    assert abs(np.log(ratio / float(factor))) < 2 * np.sqrt(n) / 16
    assert len(found["stream"]) == n + 1 == len(found["at_branch"]) + 1


def test_an_identity_stack_leaves_the_gradient_alone():
    """Branches that return zero: Pre-LN's stream is the input, unchanged."""
    silent = (lambda x: (0 * x, None), lambda dy, cache: 0 * dy)
    x, dy = np.random.default_rng(6).normal(size=(2, 4, 8))
    _, tape = depth.stack_forward(x, [silent] * 5, rms_pair(), "pre")
    at_stream, _ = depth.stack_backward(
        dy, [silent] * 5, rms_pair(), "pre", tape
    )
    np.testing.assert_array_equal(at_stream[0], dy)


def test_an_unknown_placement_is_named():
    with pytest.raises(ValueError, match="sandwich"):
        depth.stack_forward(np.ones((1, 2)), [], rms_pair(), "sandwich")


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_output_drift_follows_the_predicted_size(placement):
    """Noise of relative size δ on every weight, far below linear's end."""
    rng, n, d_model, delta = np.random.default_rng(7), 12, 128, 1e-7
    w, noise = rng.normal(size=(2, n, 3, d_model, d_model))
    x = rms_pair()[0](rng.normal(size=(16, d_model)))[0]
    outputs = []
    for weights in (w, w + delta * noise):
        branches = [
            (lambda x, m=m: swiglu_forward(x, *m), None)
            for m in weights / np.sqrt(d_model)
        ]
        stream, _ = depth.stack_forward(x, branches, rms_pair(), placement)
        outputs.append(rms_pair()[0](stream[-1])[0])
    drift = depth.root_mean_square(outputs[1] - outputs[0]) / delta
    square = float(model.drift_square(placement, n, *SWIGLU))
    # as for the gradient: one standard deviation of the log is √n/16
    assert abs(np.log(drift / square**0.5)) < np.sqrt(n) / 16
