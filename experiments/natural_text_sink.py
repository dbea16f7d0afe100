"""Does a small model trained on real text grow a sink? Run for minutes.

    python experiments/natural_text_sink.py

Trains the PyTorch face on the bytes of Python's own documentation, each
sequence opened by a BOS token, and writes how much attention that token
gets to book/_data/natural_text_sink.json, which the sinks chapter reads.
"""

import json
from pathlib import Path
from pydoc_data.topics import topics

import numpy as np
import torch

from assembled import Config
from assembled.gpu.loss import cross_entropy
from assembled.gpu.model import Transformer
from assembled.instruments.sinks import attention_to

RECORD = Path(__file__).parents[1] / "book/_data/natural_text_sink.json"
BOS, T, BATCH, STEPS = 256, 64, 16, 1200
CONFIG = Config(
    vocab_size=257, context_length=T, d_model=96, n_layers=3,
    n_heads=3, n_kv_heads=3, d_ff=256,
)


def text_bytes() -> tuple[torch.Tensor, torch.Tensor]:
    """Return the text as bytes, nine tenths to train on and the rest."""
    text = "\n".join(topics[name] for name in sorted(topics))
    data = torch.frombuffer(bytearray(text.encode()), dtype=torch.uint8)
    cut = len(data) * 9 // 10
    return data[:cut].long(), data[cut:].long()


def sequences(data, n, generator):
    """Return n sequences of BOS and T − 1 bytes, and their next bytes."""
    start = torch.randint(len(data) - T, (n,), generator=generator)
    rows = data[start[:, None] + torch.arange(T)]
    bos = torch.full((n, 1), BOS)
    return torch.cat([bos, rows[:, :-1]], dim=1), rows


def measure(model, data) -> dict:
    """Return the loss and the mean weight on BOS, by layer and head."""
    maps = []
    tokens, targets = sequences(data, 64, torch.Generator().manual_seed(1))
    with torch.no_grad():
        loss = cross_entropy(model(tokens, maps=maps), targets)
    to_bos = [
        attention_to(weights.numpy())[..., 2:].mean((0, 2)).tolist()
        for weights, _ in maps
    ]
    return {"loss": loss.item(), "to_bos": to_bos}


def main() -> None:
    """Train, measure before and after, write the record."""
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(0)
    train, held_out = text_bytes()
    model = Transformer(CONFIG)
    before = measure(model, held_out)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for step in range(STEPS):
        for group in optimizer.param_groups:
            group["lr"] = 2e-3 * min(1, (step + 1) / 100, 1.05 - step / STEPS)
        tokens, targets = sequences(train, BATCH, generator)
        loss = cross_entropy(model(tokens), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            print(step, round(loss.item(), 3), flush=True)
    record = {
        "tokens": STEPS * BATCH * T,
        "parameters": sum(p.numel() for p in model.parameters()),
        "layers": CONFIG.n_layers,
        "uniform": float(np.mean(1 / np.arange(3, T + 1))),
        "before": before,
        "after": measure(model, held_out),
    }
    RECORD.parent.mkdir(parents=True, exist_ok=True)
    RECORD.write_text(json.dumps(record, indent=1) + "\n")
    print(json.dumps(record))


if __name__ == "__main__":
    main()
