"""The whole transformer in PyTorch, and the bridge to the NumPy reference.

Axes: B batch, T time, D d_model, V vocabulary.
Chapter: The same model in PyTorch.
"""

from collections.abc import Iterator

import numpy as np
import torch
from jaxtyping import Float, Int, Num
from torch import Tensor, nn
from torch.nn import functional as F

from assembled.config import Config
from assembled.gpu.block import Block
from assembled.gpu.embedding import Embedding
from assembled.gpu.norm import make_norm


class Transformer(nn.Module):
    """Embedding, n_layers blocks, a final norm (Pre-LN only), the output."""

    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        self.embedding = Embedding(config.vocab_size, config.d_model)
        self.blocks = nn.ModuleList(
            Block(config) for _ in range(config.n_layers)
        )
        if config.placement == "pre":  # Post-LN already ends in a norm
            self.final_norm = make_norm(config)
        if not config.tied:
            self.output = nn.Linear(
                config.d_model, config.vocab_size, bias=False
            )
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Draw each matrix with deviation 1/√(its inputs).

        It then keeps the size of what it multiplies. wo and w_down, which
        write to the residual stream, are divided by √(2L), so that the 2L
        branches add up to the variance of one.
        """
        branch = (2 * self.config.n_layers) ** -0.5
        for name, p in self.named_parameters():
            if p.ndim == 2:  # (out, in), or (V, D) for the embedding
                writes = name.endswith(("wo.weight", "w_down.weight"))
                std = p.shape[1] ** -0.5 * (branch if writes else 1.0)
                p.normal_(std=std)

    def forward(
        self,
        tokens: Int[Tensor, "B T"],
        positions: Num[Tensor, "T"] | None = None,
        maps: list | None = None,
    ) -> Float[Tensor, "B T V"]:
        """Return the logits; positions default to 0 … T − 1.

        With a list in `maps` every layer appends its attention weights and
        values.
        """
        T = tokens.shape[1]
        longest = self.config.context_length
        if not 1 <= T <= longest:
            raise ValueError(
                f"the input holds T={T} tokens, the model takes 1 to "
                f"context_length={longest}; cut it shorter"
            )
        if positions is None:
            positions = torch.arange(T, device=tokens.device)
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x, positions, maps)
        if self.config.placement == "pre":
            x = self.final_norm(x)
        if self.config.tied:
            return F.linear(x, self.embedding.weight)
        return self.output(x)

    def reference_parameters(self) -> Iterator[tuple[str, Tensor]]:
        """Yield each weight under its reference name and orientation."""
        for name, p in self.named_parameters():
            yield in_reference(name, p)

    @torch.no_grad()
    def load_reference(self, params: dict[str, np.ndarray]) -> "Transformer":
        """Copy the reference's arrays in, bit for bit, and return self.

        The model takes the arrays' dtype. Raises ValueError for a missing
        or unknown name, a wrong shape, or dtypes that differ.
        """
        mine = dict(self.reference_parameters())
        missing, unknown = mine.keys() - params.keys(), params.keys() - mine
        if missing or unknown:
            raise ValueError(
                f"the parameters lack {sorted(missing)} and hold unknown "
                f"{sorted(unknown)}; build both models from one Config"
            )
        for name, p in mine.items():
            if params[name].shape != tuple(p.shape):
                raise ValueError(
                    f"{name} has shape {params[name].shape}, the model needs "
                    f"{tuple(p.shape)}; build both models from one Config"
                )
        dtypes = {str(a.dtype) for a in params.values()}
        if len(dtypes) > 1:
            raise ValueError(
                f"the parameters mix {sorted(dtypes)}; cast them to one "
                "dtype first, for the model takes theirs"
            )
        self.to(getattr(torch, dtypes.pop()))
        for name, p in self.reference_parameters():
            p.copy_(torch.from_numpy(params[name]))
        return self

    def to_reference(self) -> dict[str, np.ndarray]:
        """Return copies of the weights under the reference's names.

        NumPy has no bfloat16; such weights come out as float32, exactly.
        """
        return {n: to_numpy(p) for n, p in self.reference_parameters()}

    def reference_gradients(self) -> dict[str, np.ndarray]:
        """Return copies of the gradients under the reference's names."""
        arrays = {}
        for name, p in self.named_parameters():
            if p.grad is None:
                raise ValueError(
                    f"{name} has no gradient; call loss.backward() first"
                )
            name, grad = in_reference(name, p.grad)
            arrays[name] = to_numpy(grad)
        return arrays


def in_reference(name: str, p: Tensor) -> tuple[str, Tensor]:
    """Return the reference's name and orientation of a weight or gradient.

    The reference writes x @ W where nn.Linear stores W transposed; the
    embedding is a table in both.
    """
    if name.startswith("embedding.") or p.ndim == 1:
        return name, p
    if name == "output.weight":
        return name, p.T
    return name.removesuffix(".weight"), p.T


def to_numpy(p: Tensor) -> np.ndarray:
    """Return a copy in NumPy; bfloat16, which it lacks, as float32."""
    p = p.detach().cpu()
    return (p.float() if p.dtype == torch.bfloat16 else p).numpy().copy()
