"""SwiGLU, the gated feed-forward layer. Axes: D d_model, F d_ff.

Chapter: The same model in PyTorch. Source: Shazeer 2020, GLU Variants.
"""

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from assembled.config import Config


class SwiGLU(nn.Module):
    """y = (SiLU(x w_gate) ⊙ x w_up) w_down, without biases."""

    def __init__(self, config: Config):
        super().__init__()
        self.w_gate = nn.Linear(config.d_model, config.d_ff, bias=False)
        self.w_up = nn.Linear(config.d_model, config.d_ff, bias=False)
        self.w_down = nn.Linear(config.d_ff, config.d_model, bias=False)

    def forward(self, x: Float[Tensor, "*B D"]) -> Float[Tensor, "*B D"]:
        """Apply the gate: only the w_gate branch passes through SiLU."""
        return self.w_down(F.silu(self.w_gate(x)) * self.w_up(x))
