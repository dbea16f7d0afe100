"""RMSNorm and LayerNorm. Axes: D d_model, the last axis.

Chapter: The same model in PyTorch. Sources: Zhang & Sennrich 2019
(RMSNorm), Ba et al. 2016 (LayerNorm).
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from assembled.config import Config
from assembled.gpu.precision import widen


def rms_norm(
    x: Float[Tensor, "*B D"], gain: Float[Tensor, "D"], eps: float
) -> Float[Tensor, "*B D"]:
    """y = gain x / √(mean(x²) + ε), rounded once, when it is stored."""
    wide = widen(x)
    r = (wide.square().mean(-1, keepdim=True) + eps).sqrt()
    return (gain * wide / r).to(x.dtype)


def layer_norm(
    x: Float[Tensor, "*B D"],
    gain: Float[Tensor, "D"],
    bias: Float[Tensor, "D"],
    eps: float,
) -> Float[Tensor, "*B D"]:
    """y = gain (x − mean) / √(var(x) + ε) + bias, rounded once."""
    wide = widen(x)
    centred = wide - wide.mean(-1, keepdim=True)
    sigma = (centred.square().mean(-1, keepdim=True) + eps).sqrt()
    return (gain * centred / sigma + bias).to(x.dtype)


class RMSNorm(nn.Module):
    """RMSNorm with a gain that starts at one."""

    def __init__(self, d_model: int, eps: float):
        super().__init__()
        self.eps = eps
        self.gain = nn.Parameter(torch.ones(d_model))

    def forward(self, x: Float[Tensor, "*B D"]) -> Float[Tensor, "*B D"]:
        """Normalize the last axis of x."""
        return rms_norm(x, self.gain, self.eps)


class LayerNorm(nn.Module):
    """LayerNorm with a gain that starts at one and a bias at zero."""

    def __init__(self, d_model: int, eps: float):
        super().__init__()
        self.eps = eps
        self.gain = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x: Float[Tensor, "*B D"]) -> Float[Tensor, "*B D"]:
        """Centre and normalize the last axis of x."""
        return layer_norm(x, self.gain, self.bias, self.eps)


def make_norm(config: Config) -> RMSNorm | LayerNorm:
    """Return the norm that the config names."""
    kind = {"rms": RMSNorm, "layer": LayerNorm}[config.norm]
    return kind(config.d_model, config.norm_eps)
