"""The one configuration that the three faces share.

Axes: B batch, T time, D d_model, H heads, G key/value heads, K d_k,
F d_ff, V vocabulary. Chapter: Notation and conventions.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Config:
    """The shape of one decoder-only transformer; impossible ones raise."""

    vocab_size: int = 256  # V; 256 is one token a byte
    context_length: int = 128  # the longest T that the model accepts
    d_model: int = 64  # D, the width of the residual stream
    n_layers: int = 2  # each is one attention and one SwiGLU sublayer
    n_heads: int = 4  # H query heads
    n_kv_heads: int = 2  # G key/value heads; H/G queries share one
    d_ff: int = 176  # F, the hidden width of SwiGLU
    norm: str = "rms"  # "rms" or "layer"
    placement: str = "pre"  # "pre" or "post"
    norm_eps: float = 1e-5  # inside the square root
    rope_base: float = 10_000.0
    rope_pairing: str = "half"  # "half" (Hugging Face) or "interleaved"
    tied: bool = False  # the output matrix is the embedding, transposed

    def __post_init__(self) -> None:
        """Raise ValueError, in one sentence, for an impossible shape."""
        sizes = (
            "vocab_size", "context_length", "d_model", "n_layers",
            "n_heads", "n_kv_heads", "d_ff",
        )
        for name in sizes:
            if getattr(self, name) < 1:
                raise ValueError(
                    f"{name} is {getattr(self, name)}; it must be at least 1"
                )
        if self.d_model % self.n_heads:
            raise ValueError(
                f"d_model={self.d_model} does not divide into "
                f"n_heads={self.n_heads} heads; choose a multiple"
            )
        if self.n_heads % self.n_kv_heads:
            raise ValueError(
                f"n_heads={self.n_heads} is no multiple of "
                f"n_kv_heads={self.n_kv_heads}; every key/value head "
                "serves the same number of query heads"
            )
        if self.d_k % 2:
            raise ValueError(
                f"d_k = d_model/n_heads = {self.d_k} is odd; RoPE turns "
                "pairs of channels, so the head size must be even"
            )
        choices = {
            "norm": ("rms", "layer"),
            "placement": ("pre", "post"),
            "rope_pairing": ("half", "interleaved"),
        }
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                raise ValueError(
                    f"{name} is {getattr(self, name)!r}; "
                    f"it must be one of {allowed}"
                )

    @property
    def d_k(self) -> int:
        """K, the width of one head."""
        return self.d_model // self.n_heads
