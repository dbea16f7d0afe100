"""Text, batches, the training loop, sampling, and what to compare with.

Chapter: Training it. Axes: B batch, T time, V vocabulary.
Losses and entropies are in nats a token.
"""

import json
import pydoc_data.topics
from collections.abc import Iterator
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray
from numpy.lib.npyio import NpzFile

from assembled.config import Config
from assembled.reference.loss import (
    cross_entropy_backward,
    cross_entropy_forward,
)
from assembled.reference.model import (
    empty_cache,
    model_backward,
    model_forward,
    model_step,
)
from assembled.reference.optimizer import (
    adamw_init,
    adamw_step,
    clip_gradients,
    cosine_schedule,
)


def python_manual() -> list[str]:
    """Return the paragraphs behind Python's own `help()`, each once.

    The same paragraph stands under several topics; kept twice, a held-out
    one could lie in the training text as well. Line breaks become spaces.
    The content differs between Python versions.
    """
    topics = pydoc_data.topics.topics
    paragraphs = {}  # a dict keeps the order, and each key once
    for topic in sorted(topics):
        for paragraph in topics[topic].split("\n\n"):
            paragraphs[" ".join(paragraph.split())] = None
    return [paragraph for paragraph in paragraphs if paragraph]


def split_paragraphs(
    paragraphs: list[str], every: int = 10
) -> tuple[str, str]:
    """Return (training text, validation text): each `every`-th is held out.

    Spread out like this, both texts have the same mix of topics.
    """
    held_out = paragraphs[every - 1 :: every]
    kept = [p for i, p in enumerate(paragraphs) if i % every != every - 1]
    return "\n".join(kept) + "\n", "\n".join(held_out) + "\n"


def encode(text: str, alphabet: str) -> Int[ndarray, "N"]:
    """Return each character's place in `alphabet`.

    Raises ValueError for a character that the alphabet lacks.
    """
    place = {character: i for i, character in enumerate(alphabet)}
    for character in text:
        if character not in place:
            raise ValueError(
                f"the alphabet lacks {character!r}; build it from all the "
                "text: ''.join(sorted(set(text)))"
            )
    return np.array([place[character] for character in text], dtype=int)


def decode(tokens: Int[ndarray, "N"], alphabet: str) -> str:
    """Return the text of `tokens`: the inverse of `encode`."""
    return "".join(alphabet[token] for token in tokens)


def unigram_entropy(tokens: Int[ndarray, "N"]) -> float:
    """Return the entropy of the tokens' own frequencies."""
    p = np.bincount(tokens) / tokens.size
    p = p[p > 0]
    return float(-(p * np.log(p)).sum())


def bigram_entropy(tokens: Int[ndarray, "N"]) -> float:
    """Return H(next | this), counted on these very tokens.

    No table of next-token probabilities, wherever it was estimated, has a
    lower mean loss on this text: it is the best that a bigram can do.
    """
    n = int(tokens.max()) + 1
    pairs = tokens[:-1] * n + tokens[1:]
    return unigram_entropy(pairs) - unigram_entropy(tokens[:-1])


def random_windows(
    tokens: Int[ndarray, "N"], B: int, T: int, rng: np.random.Generator
) -> tuple[Int[ndarray, "B T"], Int[ndarray, "B T"]]:
    """Return B windows of the text and, one place on, their targets."""
    starts = rng.integers(0, tokens.size - T, size=B)
    windows = tokens[starts[:, None] + np.arange(T + 1)]  # (B, T + 1)
    return windows[:, :-1], windows[:, 1:]


def all_windows(
    tokens: Int[ndarray, "N"], T: int
) -> tuple[Int[ndarray, "B T"], Int[ndarray, "B T"]]:
    """Return the text as windows side by side, and their targets.

    Every token but the first is a target once; the last tokens, too few
    for a window, are left out.
    """
    B = (tokens.size - 1) // T
    inputs = tokens[: B * T].reshape(B, T)
    return inputs, tokens[1 : B * T + 1].reshape(B, T)


def evaluate(
    params: dict,
    inputs: Int[ndarray, "N T"],
    targets: Int[ndarray, "N T"],
    config: Config,
    B: int = 16,
) -> float:
    """Return the mean loss over all windows, B at a time."""
    total = 0.0
    for start in range(0, len(inputs), B):
        part = slice(start, start + B)
        logits, _ = model_forward(params, inputs[part], config)
        loss, _ = cross_entropy_forward(logits, targets[part])
        total += float(loss) * targets[part].size
    return total / targets.size


def train_step(
    params: dict,
    state: dict,
    inputs: Int[ndarray, "B T"],
    targets: Int[ndarray, "B T"],
    config: Config,
    lr: float,
    clip: float = 1.0,
) -> float:
    """Take one AdamW step in place and return the loss before it."""
    logits, cache = model_forward(params, inputs, config)
    loss, loss_cache = cross_entropy_forward(logits, targets)
    grads = model_backward(cross_entropy_backward(loss_cache), cache)
    clip_gradients(grads, clip)
    adamw_step(params, grads, state, lr)
    return float(loss)


def train(
    params: dict,
    tokens: Int[ndarray, "N"],
    config: Config,
    rng: np.random.Generator,
    n_steps: int,
    B: int = 16,
    peak: float = 3e-3,
    warmup: int = 20,
    state: dict | None = None,
) -> Iterator[tuple[int, float]]:
    """Train `params` in place; yield (step, loss) after every step.

    A generator, so that the caller may look at the model between steps.
    With the `state` of a run that was stopped, it goes on behind its steps.
    """
    state = adamw_init(params) if state is None else state
    for step in range(state["step"], n_steps):
        batch = random_windows(tokens, B, config.context_length, rng)
        lr = cosine_schedule(step, n_steps, peak, warmup)
        yield step, train_step(params, state, *batch, config, lr)


def save_run(
    path: Path, params: dict, state: dict, rng: np.random.Generator
) -> None:
    """Write all that `train` needs to go on as if it had not stopped.

    The old file stays whole until the new one is.
    """
    arrays = {
        f"{part}/{name}": array
        for part, group in (("params", params), ("m", state["m"]),
                            ("v", state["v"]))
        for name, array in group.items()
    }  # fmt: skip
    rest = {"step": state["step"], "rng": rng.bit_generator.state}
    new = path.with_suffix(".new")
    with new.open("wb") as file:
        np.savez(file, rest=json.dumps(rest), **arrays)
    new.replace(path)


def load_run(path: Path) -> tuple[dict, dict, np.random.Generator]:
    """Return (params, state, rng) of `save_run`.

    Raises ValueError for a file that is none of its kind.
    """
    groups = {"params": {}, "m": {}, "v": {}}
    try:
        with path.open("rb") as raw, NpzFile(raw) as file:
            rest = json.loads(str(file["rest"]))
            for key in set(file.files) - {"rest"}:
                part, _, name = key.partition("/")
                groups[part][name] = file[key]
    except (BadZipFile, KeyError, ValueError):
        raise ValueError(
            f"{path} holds no saved run, or not all of one; train anew, or "
            "take an older file"
        ) from None
    params = groups.pop("params")
    rng = np.random.default_rng()
    rng.bit_generator.state = rest["rng"]
    return params, {"step": rest["step"], **groups}, rng


def sample(
    params: dict,
    prompt: Int[ndarray, "N"],
    n_tokens: int,
    config: Config,
    rng: np.random.Generator,
    temperature: float = 1.0,
) -> Int[ndarray, "M"]:
    """Return `prompt` and `n_tokens` more, drawn one by one.

    The logits are divided by `temperature`; at 0 the likeliest token is
    taken. Only the last `context_length` tokens are seen; beyond that, the
    first one seen is another each time, and no key can be kept. Raises
    ValueError for a negative temperature or an empty prompt.
    """
    if temperature < 0:
        raise ValueError(f"temperature is {temperature}; it must be ≥ 0")
    if prompt.size == 0:
        raise ValueError("prompt is empty; give at least one token")
    tokens, cache = prompt, empty_cache(params, config, 1)
    for _ in range(n_tokens):
        new = tokens[cache["length"] :]
        if tokens.size > config.context_length:
            cache["length"], new = 0, tokens[-config.context_length :]
        logits = model_step(params, new[None], config, cache)[0, -1]
        tokens = np.append(tokens, draw(logits, temperature, rng))
    return tokens


def draw(
    logits: Float[ndarray, "V"], temperature: float, rng: np.random.Generator
) -> int:
    """Draw one token from softmax(logits / temperature)."""
    if temperature == 0:
        return int(logits.argmax())
    # The largest of the logits plus Gumbel noise is a draw from softmax.
    noise = rng.gumbel(size=logits.size)
    return int((logits / temperature + noise).argmax())
