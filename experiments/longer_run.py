"""How far does the NumPy model get when it trains for minutes?

    OMP_NUM_THREADS=1 python -m experiments.longer_run

Trains on the text behind Python's help() and writes the curve, and what
tables of n-grams reach on the same held-out text, to
book/_data/longer_run.json, which the chapter on training plots.
"""

import dataclasses
import datetime
import hashlib
import json
import os
import platform
import time
from pathlib import Path

import numpy as np
from tqdm import tqdm

from assembled import Config
from assembled.instruments.ngrams import ngram_entropy, ngram_losses
from assembled.reference.model import init_params
from assembled.reference.training import (
    all_windows,
    decode,
    encode,
    evaluate,
    python_manual,
    sample,
    split_paragraphs,
    train,
)
from experiments.numpy_costs import processor

RECORD = Path(__file__).parents[1] / "book/_data/longer_run.json"
SEED, STEPS, LOOK = 0, 4000, 250
TRAINING = {"B": 16, "peak": 3e-3, "warmup": 100}
SHAPE = {
    "context_length": 128, "d_model": 96, "n_layers": 3, "n_heads": 4,
    "n_kv_heads": 2, "d_ff": 256,
}  # fmt: skip


def texts() -> tuple[np.ndarray, np.ndarray, str]:
    """Return training tokens, held-out tokens and the alphabet."""
    parts = split_paragraphs(python_manual())
    alphabet = "".join(sorted(set("".join(parts))))
    return *(encode(part, alphabet) for part in parts), alphabet


def lines(tokens: np.ndarray, held_out: np.ndarray, V: int) -> dict:
    """Return what n-gram tables reach, n = 1, 2, 3, in nats a character."""
    return {
        "counted on the training text": ngram_losses(tokens, held_out, V),
        "counted on the held-out text": [
            ngram_entropy(held_out, n) for n in (1, 2, 3)
        ],
    }


def text_record(alphabet: str) -> dict:
    """Return what tells this text from that of another Python."""
    whole = "\n".join(python_manual()).encode()
    return {
        "python": platform.python_version(),
        "sha256": hashlib.sha256(whole).hexdigest(),
        "characters": len(alphabet),
    }


def machine() -> str:
    """Return the processor and the versions that the seconds belong to."""
    threads = os.environ.get("OMP_NUM_THREADS", "all")
    return (
        f"{processor()}, {platform.system()}, NumPy {np.__version__}, "
        f"OMP_NUM_THREADS={threads}"
    )


def run(params, tokens, held_out, config) -> dict:
    """Train `params`; return the curve, one entry each LOOK steps."""
    windows = all_windows(held_out, config.context_length)
    curve = {
        "step": [0], "training": [None],
        "held out": [evaluate(params, *windows, config)],
    }  # fmt: skip
    rng, losses = np.random.default_rng(SEED + 1), []
    steps = train(params, tokens, config, rng, STEPS, **TRAINING)
    for step, loss in tqdm(steps, total=STEPS, mininterval=5):
        losses.append(loss)
        if (step + 1) % LOOK == 0:
            curve["step"].append(step + 1)
            curve["training"].append(float(np.mean(losses[-LOOK:])))
            curve["held out"].append(evaluate(params, *windows, config))
    return curve


def main() -> None:
    """Train, measure, write the record."""
    tokens, held_out, alphabet = texts()
    config = Config(vocab_size=len(alphabet), **SHAPE)
    params = init_params(config, np.random.default_rng(SEED))
    began = time.perf_counter()
    curve = run(params, tokens, held_out, config)
    seconds = time.perf_counter() - began
    prompt, rng = encode("The value of ", alphabet), np.random.default_rng(1)
    said = sample(params, prompt, 240, config, rng, 0.8)
    record = {
        "command": "OMP_NUM_THREADS=1 python -m experiments.longer_run",
        "date": datetime.date.today().isoformat(),
        "machine": machine(),
        "seconds": round(seconds),
        "config": dataclasses.asdict(config),
        "training": {"seed": SEED, "steps": STEPS, **TRAINING},
        "parameters": sum(w.size for w in params.values()),
        "text": text_record(alphabet),
        "n-grams": lines(tokens, held_out, len(alphabet)),
        "curve": curve,
        "sample": decode(said, alphabet),
    }
    RECORD.write_text(json.dumps(record, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
