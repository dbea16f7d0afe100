"""Fixtures that several test files share."""

import jaxtyping
import numpy as np
import pytest


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def shapes_unchecked():
    """Let a wrong shape reach the function's own error message.

    Test runs check every annotation; users' runs do not. A test of what a
    user sees must switch the checks off.
    """
    before = jaxtyping.config.jaxtyping_disable
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", before)
