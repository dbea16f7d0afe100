"""One small transformer, three times: symbols, NumPy, PyTorch."""

from assembled.config import Config

__all__ = ["Config"]
