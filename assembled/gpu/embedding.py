"""Tokens to vectors: nn.Embedding, with an error that says what is wrong.

Axes: B batch, T time, D d_model, V vocabulary.
Chapter: The same model in PyTorch.
"""

from jaxtyping import Float, Int
from torch import Tensor, nn


def check_indices(name: str, index: Int[Tensor, "*shape"], size: int) -> None:
    """Raise ValueError unless every index lies in 0 … size − 1.

    On the CPU only: on a GPU the check would wait for the device at every
    step.
    """
    if index.device.type != "cpu" or index.numel() == 0:
        return
    low, high = int(index.min()), int(index.max())
    if low < 0 or high >= size:
        raise ValueError(
            f"{name} run from {low} to {high}, but the vocabulary holds "
            f"0 to {size - 1}; raise vocab_size or check the tokenizer"
        )


class Embedding(nn.Embedding):
    """A (V, D) table; row v is the vector of token v."""

    def forward(self, tokens: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
        """Look the tokens up."""
        check_indices("tokens", tokens, self.num_embeddings)
        return super().forward(tokens)
