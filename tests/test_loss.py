"""Cross-entropy, over the faces."""

import numpy as np
import pytest
import torch.nn.functional as F
from torch import tensor

from assembled.reference.loss import (
    cross_entropy_backward,
    cross_entropy_forward,
)
from tests.oracles import (
    COMPLEX_STEP_AGREES,
    FLOAT64_AGREES,
    autograd,
    complex_step,
    off_centre,
    relative_error,
)

TARGETS = np.array([[1, 4, -100], [0, -100, 3]])


def test_cross_entropy_equals_torch(rng):
    logits = off_centre(rng, 2, 3, 5)
    loss, cache = cross_entropy_forward(logits, TARGETS)
    expected, (want,) = autograd(
        lambda z: F.cross_entropy(z.flatten(0, 1), tensor(TARGETS.ravel())),
        (logits,),
        np.array(1.0),
    )
    assert loss == pytest.approx(float(expected), rel=FLOAT64_AGREES)
    got = cross_entropy_backward(cache)
    assert relative_error(got, want) < FLOAT64_AGREES


def test_cross_entropy_equals_complex_step(rng):
    logits = off_centre(rng, 2, 3, 5)
    _, cache = cross_entropy_forward(logits, TARGETS)
    want = complex_step(
        lambda z: cross_entropy_forward(z, TARGETS)[0], logits
    )
    got = cross_entropy_backward(cache)
    assert relative_error(got, want) < COMPLEX_STEP_AGREES


def test_ignored_targets_have_no_gradient_and_no_share(rng):
    logits = off_centre(rng, 2, 3, 5)
    loss, cache = cross_entropy_forward(logits, TARGETS)
    kept = TARGETS != -100
    alone, _ = cross_entropy_forward(logits[kept], TARGETS[kept])
    assert loss == pytest.approx(alone, rel=1e-14)
    assert (cross_entropy_backward(cache)[~kept] == 0).all()


def test_another_ignore_index(rng):
    logits, targets = off_centre(rng, 3, 5), np.array([1, 0, 2])
    loss, _ = cross_entropy_forward(logits, targets, ignore_index=0)
    alone, _ = cross_entropy_forward(logits[[0, 2]], targets[[0, 2]])
    assert loss == pytest.approx(alone, rel=1e-14)


def test_far_apart_logits_give_a_finite_loss():
    logits = np.array([[1000.0, 0.0]])
    loss, _ = cross_entropy_forward(logits, np.array([1]))
    assert loss == 1000.0


def test_equal_logits_cost_log_vocabulary():
    loss, _ = cross_entropy_forward(np.zeros((3, 7)), np.array([0, 3, 6]))
    assert loss == pytest.approx(np.log(7), rel=1e-15)


def test_the_loss_keeps_float32(rng):
    logits = off_centre(rng, 2, 3, 5).astype(np.float32)
    loss, cache = cross_entropy_forward(logits, TARGETS)
    assert loss.dtype == np.float32
    assert cross_entropy_backward(cache).dtype == np.float32


def test_bad_targets_are_named():
    logits = np.zeros((2, 5))
    with pytest.raises(ValueError, match="all 2 targets are ignore_index"):
        cross_entropy_forward(logits, np.array([-100, -100]))
    with pytest.raises(ValueError, match=r"targets holds 5.*0 … 4"):
        cross_entropy_forward(logits, np.array([0, 5]))
    with pytest.raises(ValueError, match="targets holds -1"):
        cross_entropy_forward(logits, np.array([0, -1]))
