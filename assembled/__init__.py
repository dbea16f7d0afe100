"""One small transformer, three times: symbols, NumPy, PyTorch."""

from assembled.config import Config, RopeScaling

__all__ = ["Config", "RopeScaling"]
