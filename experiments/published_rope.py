"""The frequencies that a widely used library gives, for the page on RoPE.

    python experiments/published_rope.py

Writes the frequencies of Llama 3.1's and YaRN's maps, as float32, to
book/_data/published_rope.json, so that the page needs no such library.
"""

import json
from pathlib import Path

import torch
import transformers
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

RECORD = Path(__file__).parents[1] / "book/_data/published_rope.json"
LLAMA3 = {
    "rope_type": "llama3", "rope_theta": 500_000.0, "factor": 8.0,
    "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}  # fmt: skip
YARN = {
    "rope_type": "yarn", "rope_theta": 10_000.0, "factor": 16.0,
    "original_max_position_embeddings": 4096,
}  # fmt: skip


def frequencies(parameters: dict) -> tuple[list[float], float]:
    """The 64 frequencies of a head of width 128, and the factor on q and k."""
    old = parameters["original_max_position_embeddings"]
    config = transformers.LlamaConfig(
        hidden_size=4096, num_attention_heads=32, rope_parameters=parameters,
        max_position_embeddings=int(old * parameters["factor"]),
    )  # fmt: skip
    make = ROPE_INIT_FUNCTIONS[parameters["rope_type"]]
    found, scale = make(config, torch.device("cpu"))
    return [float(f"{f:.9g}") for f in found.tolist()], scale


def main() -> None:
    """Write the record."""
    yarn, yarn_scale = frequencies(YARN)
    record = {
        "made by": f"transformers {transformers.__version__}",
        "llama3": frequencies(LLAMA3)[0],
        "yarn": yarn,
        "yarn_scale": yarn_scale,
    }
    RECORD.write_text(json.dumps(record, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
