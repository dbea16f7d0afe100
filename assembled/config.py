"""The one configuration that the three faces share.

Axes: B batch, T time, D d_model, H heads, G key/value heads, K d_k,
F d_ff, V vocabulary. Chapter: Notation and conventions.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class RopeScaling:
    """How RoPE's frequencies are lowered for a longer context.

    `kind` is "linear" (position interpolation), "ntk" (a larger base),
    "yarn" (as released, not as printed) or "llama3". Chapter: RoPE.
    """

    kind: str
    factor: float  # the new context over the old one
    old_context: int  # what the model was trained on, in tokens
    low: float = 1.0  # turns in it below which a pair is divided by factor
    high: float = 32.0  # turns above which it is kept; Llama 3 has 4

    def __post_init__(self) -> None:
        """Raise ValueError, in one sentence, for an impossible scaling."""
        kinds = ("linear", "ntk", "yarn", "llama3")
        if self.kind not in kinds:
            raise ValueError(
                f"rope_scaling's kind is {self.kind!r}; it must be one of "
                f"{kinds}"
            )
        if self.factor < 1 or self.old_context < 1:
            raise ValueError(
                f"rope_scaling has factor={self.factor} and old_context="
                f"{self.old_context}; both must be at least 1"
            )
        if not 0 < self.low < self.high:
            raise ValueError(
                f"rope_scaling keeps pairs above high={self.high} turns and "
                f"divides those below low={self.low}; it needs "
                "0 < low < high"
            )


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
    rope_scaling: RopeScaling | None = None  # for contexts past the trained
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
