"""Grouped-query causal attention with RoPE: a fast path and an open one.

Axes: B batch, T time, D d_model, H heads, G key/value heads, K d_k.
Chapter: The same model in PyTorch. Sources: Vaswani et al. 2017;
Ainslie et al. 2023 (grouped queries).
"""

import torch
from jaxtyping import Float, Num
from torch import Tensor, nn
from torch.nn import functional as F

from assembled.config import Config
from assembled.gpu.rope import rope
from assembled.gpu.softmax import causal_mask, softmax


def eager_attention(
    q: Float[Tensor, "B H T K"],
    k: Float[Tensor, "B H T K"],
    v: Float[Tensor, "B H T K"],
) -> tuple[Float[Tensor, "B H T K"], Float[Tensor, "B H T T"]]:
    """Return the output and the attention map, written out.

    q is scaled before the product, so that float16 scores stay in range.
    """
    scores = (q * q.shape[-1] ** -0.5) @ k.mT
    mask = causal_mask(q.shape[-2], q.device)
    weights = softmax(scores.masked_fill(~mask, -torch.inf))
    return weights.to(v.dtype) @ v, weights


class Attention(nn.Module):
    """H query heads over G key/value heads, then one output matrix."""

    def __init__(self, config: Config):
        super().__init__()
        D, K = config.d_model, config.d_k
        self.config = config
        self.wq = nn.Linear(D, config.n_heads * K, bias=False)
        self.wk = nn.Linear(D, config.n_kv_heads * K, bias=False)
        self.wv = nn.Linear(D, config.n_kv_heads * K, bias=False)
        self.wo = nn.Linear(config.n_heads * K, D, bias=False)

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        positions: Num[Tensor, "T"],
        maps: list | None = None,
    ) -> Float[Tensor, "B T D"]:
        """Attend; with a list in `maps`, append this layer's to it.

        One entry is (weights (B, H, T, T), values (B, H, T, K)). Without a
        list torch's fused kernel runs, which never forms the map.
        """
        c = self.config
        q = self.wq(x).unflatten(-1, (-1, c.d_k)).transpose(1, 2)
        k = self.wk(x).unflatten(-1, (-1, c.d_k)).transpose(1, 2)
        v = self.wv(x).unflatten(-1, (-1, c.d_k)).transpose(1, 2)
        settings = positions, c.rope_base, c.rope_pairing, c.rope_scaling
        q, k = rope(q, *settings), rope(k, *settings)
        group = c.n_heads // c.n_kv_heads  # queries that share one key head
        k = k.repeat_interleave(group, dim=1)  # (B, H, T, K)
        v = v.repeat_interleave(group, dim=1)
        if maps is None:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            y, weights = eager_attention(q, k, v)
            maps.append((weights, v))
        return self.wo(y.transpose(1, 2).flatten(-2))
