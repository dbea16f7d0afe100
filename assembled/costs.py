"""What a model costs, counted from its Config. Chapter: What it costs.

Axes: B batch, T new tokens a sequence, S keys they look at, D d_model,
H heads, G key/value heads, K d_k, F d_ff, V vocabulary. A FLOP is one
multiplication or one addition. Sources: Williams et al. 2009 (roofline).
"""

from dataclasses import dataclass

from assembled.config import Config

ADAM_BYTES = {  # a parameter in float32: 16 bytes in all
    "weight": 4, "gradient": 4, "first moment": 4, "second moment": 4,
}  # fmt: skip

SMOLLM2_135M = Config(
    vocab_size=49_152, context_length=8192, d_model=576, n_layers=30,
    n_heads=9, n_kv_heads=3, d_ff=1536, rope_base=100_000.0, tied=True,
)  # fmt: skip
LLAMA_2_7B = Config(
    vocab_size=32_000, context_length=4096, d_model=4096, n_layers=32,
    n_heads=32, n_kv_heads=32, d_ff=11_008,
)  # fmt: skip
LLAMA_2_13B = Config(
    vocab_size=32_000, context_length=4096, d_model=5120, n_layers=40,
    n_heads=40, n_kv_heads=40, d_ff=13_824,
)  # fmt: skip
LLAMA_2_70B = Config(
    vocab_size=32_000, context_length=4096, d_model=8192, n_layers=80,
    n_heads=64, n_kv_heads=8, d_ff=28_672,
)  # fmt: skip
LLAMA_3_8B = Config(
    vocab_size=128_256, context_length=131_072, d_model=4096, n_layers=32,
    n_heads=32, n_kv_heads=8, d_ff=14_336, rope_base=500_000.0,
)  # fmt: skip
LLAMA_3_70B = Config(
    vocab_size=128_256, context_length=131_072, d_model=8192, n_layers=80,
    n_heads=64, n_kv_heads=8, d_ff=28_672, rope_base=500_000.0,
)  # fmt: skip
LLAMA_3_405B = Config(
    vocab_size=128_256, context_length=131_072, d_model=16_384,
    n_layers=126, n_heads=128, n_kv_heads=8, d_ff=53_248,
    rope_base=500_000.0,
)  # fmt: skip


def param_count(config: Config) -> dict[str, int]:
    """Return the parameters of each part, over all layers.

    A tied output has none of its own. The sum is the model's total.
    """
    D, K, F, L = config.d_model, config.d_k, config.d_ff, config.n_layers
    H, G, V = config.n_heads, config.n_kv_heads, config.vocab_size
    a_norm = D if config.norm == "rms" else 2 * D  # LayerNorm has a bias
    n_norms = 2 * L + (config.placement == "pre")  # and the final one
    return {
        "embedding": V * D,
        "attention": L * (2 * D * H * K + 2 * D * G * K),  # q and o, k and v
        "swiglu": L * 3 * D * F,
        "norms": n_norms * a_norm,
        "output": 0 if config.tied else V * D,
    }


def gpt_param_count(n_layers: int, d_model: int, V: int, T: int) -> int:
    """Return the parameters of a GPT-2 or GPT-3, whose blocks differ.

    They have LayerNorms, biases everywhere, a plain MLP of width 4D,
    learned positions for T tokens, and a tied output.
    """
    D = d_model
    block = 12 * D * D + 13 * D  # matrices; biases and two LayerNorms
    return n_layers * block + (V + T) * D + 2 * D


def kv_cache_bytes(config: Config, T: int, width: int = 2) -> int:
    """Return the bytes of T tokens' keys and values, one sequence.

    `width` is the bytes of a number: 2 in bfloat16.
    """
    numbers = 2 * config.n_layers * config.n_kv_heads * config.d_k
    return numbers * T * width


def activation_count(config: Config, B: int, T: int) -> dict[str, int]:
    """Return the numbers that `reference` keeps for the backward, by part.

    They are what its forward functions put into their caches, for Pre-LN
    and RMSNorm. The logits, which the caller holds, are not counted.
    """
    D, K, F, L = config.d_model, config.d_k, config.d_ff, config.n_layers
    H, G, rows = config.n_heads, config.n_kv_heads, B * T
    norm = rows * (2 * D + 1)  # x̂, what the branch read, and r
    heads = rows * (2 * H + 2 * G) * K  # q, k, v and the joined output
    angles = T * K  # a cosine and a sine for each pair
    return {
        "norms": (2 * L + 1) * norm,
        "attention": L * (heads + angles),
        "attention weights": L * B * H * T * T,
        "swiglu": L * 5 * rows * F,  # gate, up, σ, silu and their product
    }


@dataclass(frozen=True)
class Product:
    """`count` products of a (rows, inner) by an (inner, columns) matrix."""

    name: str
    rows: int
    inner: int
    columns: int
    count: int = 1  # a batched product shares no operand between them

    @property
    def flops(self) -> int:
        """One multiplication and one addition for each inner step."""
        return 2 * self.count * self.rows * self.inner * self.columns

    def moved(self, width: int = 2) -> int:
        """Return the bytes if each operand is read and written once."""
        operands = (
            self.rows * self.inner
            + self.inner * self.columns
            + self.rows * self.columns
        )
        return self.count * operands * width

    def intensity(self, width: int = 2) -> float:
        """Return FLOPs a byte moved; `width` bytes hold a number."""
        return self.flops / self.moved(width)


def block_products(config: Config, B: int, T: int, S: int) -> list[Product]:
    """Return the matrix products of one block's forward.

    T new tokens in each of B sequences look at S keys: S = T in training,
    T = 1 in decoding. Scores that the mask hides are counted as well,
    since a plain product computes them.
    """
    D, K, F = config.d_model, config.d_k, config.d_ff
    H, G = config.n_heads, config.n_kv_heads
    rows, in_group = B * T, H // G * T  # a group's queries, as rows
    return [
        Product("q", rows, D, H * K),
        Product("k", rows, D, G * K),
        Product("v", rows, D, G * K),
        Product("scores", in_group, K, S, count=B * G),
        Product("mix", in_group, S, K, count=B * G),
        Product("o", rows, H * K, D),
        Product("gate", rows, D, F),
        Product("up", rows, D, F),
        Product("down", rows, F, D),
    ]


def forward_flops(config: Config, B: int, T: int, S: int) -> int:
    """Return the FLOPs of all products of one forward, logits included."""
    products = block_products(config, B, T, S)
    logits = Product("logits", B * T, config.d_model, config.vocab_size)
    return config.n_layers * sum(p.flops for p in products) + logits.flops


def training_flops(config: Config, B: int, T: int) -> int:
    """Return the FLOPs of a forward and a backward: three forwards.

    The backward of y = x W holds two products of the same size, one for
    dx and one for dW.
    """
    return 3 * forward_flops(config, B, T, T)


@dataclass(frozen=True)
class Machine:
    """The two numbers of the roofline model."""

    name: str
    peak: float  # FLOPs a second
    bandwidth: float  # bytes a second, from the main memory

    @property
    def ridge(self) -> float:
        """FLOPs a byte from which on the peak is the limit."""
        return self.peak / self.bandwidth

    def attainable(self, intensity: float) -> float:
        """Return the most FLOPs a second at this intensity."""
        return min(self.peak, self.bandwidth * intensity)


H100 = Machine("H100 SXM, bfloat16", 989e12, 3.35e12)
