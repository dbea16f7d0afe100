"""One layer: attention and SwiGLU on the residual stream, Pre- or Post-LN.

Axes: B batch, T time, D d_model. Chapter: The same model in PyTorch.
Source: Xiong et al. 2020 for the two placements.
"""

from jaxtyping import Float, Num
from torch import Tensor, nn

from assembled.config import Config
from assembled.gpu.attention import Attention
from assembled.gpu.norm import make_norm
from assembled.gpu.swiglu import SwiGLU


class Block(nn.Module):
    """Pre-LN: x + f(norm(x)). Post-LN: norm(x + f(x)). Twice."""

    def __init__(self, config: Config):
        super().__init__()
        self.pre = config.placement == "pre"
        self.attention_norm = make_norm(config)
        self.attention = Attention(config)
        self.swiglu_norm = make_norm(config)
        self.swiglu = SwiGLU(config)

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        positions: Num[Tensor, "T"],
        maps: list | None = None,
    ) -> Float[Tensor, "B T D"]:
        """Pass the stream through both sublayers."""
        if self.pre:
            x = x + self.attention(self.attention_norm(x), positions, maps)
            return x + self.swiglu(self.swiglu_norm(x))
        x = self.attention_norm(x + self.attention(x, positions, maps))
        return self.swiglu_norm(x + self.swiglu(x))
