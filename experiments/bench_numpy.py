"""The NumPy model against Hugging Face's Llama, side by side in one run.

    python -m experiments.bench_numpy [--rounds 9] [--threads 1] [--record]

Same weights, batch and threads, float32. One training step is forward,
backward, clipping and AdamW (theirs: fused attention, fused AdamW).
Decoding is greedy with a cache. Rounds alternate; medians are printed.
--record writes them to book/_data/bench_numpy.json too, for the chapter on
costs.
"""

import argparse
import datetime
import functools
import json
import os
import resource
import statistics
import subprocess
import sys
import time
import warnings
from pathlib import Path

from experiments.numpy_costs import processor

RECORD = Path(__file__).parents[1] / "book/_data/bench_numpy.json"
SHAPE = {
    "vocab_size": 512, "context_length": 256, "d_model": 256, "n_layers": 6,
    "n_heads": 8, "n_kv_heads": 4, "d_ff": 688,
}  # fmt: skip
BATCH, PROMPT = 8, 8
READABLE, FAST, LLAMA = "a readable step", "a fast step", "Llama's step"
PRODUCTS = "its products alone"


def main(argv=None):
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--memory-of", help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = str(args.threads)  # before NumPy is imported
    if args.memory_of:
        print(added_memory(jobs(args.threads)[0][args.memory_of]))
        return 0
    facts = measure(args.rounds, args.threads)
    show(facts)
    if args.record:
        RECORD.write_text(json.dumps(facts, indent=1) + "\n", "utf-8")
    return 0


def measure(rounds, threads):
    """Return what was measured, where and when."""
    facts = {
        "made by": "python -m experiments.bench_numpy --record",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": f"{processor()}, {os.cpu_count()} cores",
        "load": round(os.getloadavg()[0], 1),
        "threads": threads, "rounds": rounds, "seed": 0,
        "shape": SHAPE | {"batch": BATCH},
        # first: a child inherits its parent's peak
        "memory": added_memories(threads),
    }  # fmt: skip
    training, decoding = jobs(threads)
    check_agreement(training)
    return facts | {
        "training": times(training, rounds),
        "decoding": times(decoding, rounds),
    }


def show(facts):
    """Print the tables."""
    print(f"{facts['machine']}, load {facts['load']}, {facts['threads']} "
          f"threads, {facts['rounds']} rounds\n")
    print(f"{'':20}{'MiB':>8}   added to the peak, over Llama's")
    memory = facts["memory"]
    for name, size in memory.items():
        print(f"{name:20}{size / 2**20:8.0f}   {size / memory[LLAMA]:.2f}")
    print(f"\n{'':20}{'seconds':>8}   over Llama's in the same round")
    for kind in ("training", "decoding"):
        for name, row in facts[kind].items():
            print(f"{name:20}{row['seconds']:7.3f}s   {row['ratio']:.2f}  "
                  f"(rounds {row['least']:.2f} to {row['most']:.2f})")
        print()
    took = {name: row["seconds"] for name, row in facts["training"].items()}
    print(f"matrix products take {took[PRODUCTS] / took[FAST]:.0%} of the "
          f"fast step, {took[PRODUCTS] / took[READABLE]:.0%} of the readable "
          "one's time")


def times(group, rounds):
    """Return each job's median time; the last one is what they race."""
    rows = [[seconds(job) for job in group.values()]
            for _ in range(rounds + 1)][1:]  # the first one warms up
    found = {}
    for name, took in zip(group, zip(*rows, strict=True), strict=True):
        ratios = [t / row[-1] for t, row in zip(took, rows, strict=True)]
        found[name] = {
            "seconds": statistics.median(took),
            "ratio": statistics.median(ratios),
            "least": min(ratios), "most": max(ratios),
        }  # fmt: skip
    return found


def seconds(work):
    """Return how long it took."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def added_memories(threads):
    """Return by how many bytes two steps raise a fresh process's peak.

    Before them it holds the libraries and the weights of both models.
    """
    command = sys.executable, "-m", "experiments.bench_numpy"
    options = f"--threads={threads}", "--memory-of"
    return {
        name: int(subprocess.check_output([*command, *options, name]))
        for name in (LLAMA, READABLE, FAST)
    }


def added_memory(step):
    """Return in bytes how far two steps raise this process's peak."""
    peaks = []
    for work in (lambda: None, step, step):
        work()
        usage = resource.getrusage(resource.RUSAGE_SELF)
        peaks.append(usage.ru_maxrss)
    unit = 1 if sys.platform == "darwin" else 1024
    return (peaks[-1] - peaks[0]) * unit


def jobs(threads):
    """Return two groups of jobs by name: a step, and decoding."""
    import numpy as np
    import torch

    from assembled import Config
    from assembled.fast import step as fast
    from assembled.fast.room import new_room
    from assembled.llama import to_llama
    from assembled.reference.model import init_params
    from assembled.reference.optimizer import adamw_init
    from assembled.reference.training import sample, train_step

    torch.set_num_threads(threads)
    config, rng = Config(**SHAPE), np.random.default_rng(0)
    params = init_params(config, rng)
    model = llama(config, to_llama(params, config))
    shape = BATCH, config.context_length + 1
    text = rng.integers(0, config.vocab_size, shape)
    batch = text[:, :-1], text[:, 1:]
    ours, same = ({n: w.copy() for n, w in params.items()} for _ in range(2))
    # The moments are made in the first step, as torch does.
    ours_state = functools.cache(lambda: adamw_init(ours))
    same_state = functools.cache(lambda: adamw_init(same))
    room = new_room(config, *batch[0].shape)
    optimizer = torch.optim.AdamW(
        model.parameters(), 1e-3, betas=(0.9, 0.95), weight_decay=0.1,
        fused=True,
    )  # fmt: skip
    text = torch.from_numpy(text)
    prompt, new = batch[0][0, :PROMPT], config.context_length - PROMPT
    return {
        READABLE: lambda: train_step(
            ours, ours_state(), *batch, config, 1e-3
        ),
        FAST: lambda: fast.train_step(
            same, same_state(), *batch, config, 1e-3, room
        ),
        PRODUCTS: products(config),
        LLAMA: lambda: llama_step(model, optimizer, text),
    }, {
        f"{new} tokens": lambda: sample(
            params, prompt, new, config, rng, temperature=0.0
        ),
        f"Llama's {new} tokens": lambda: model.generate(
            text[:1, :PROMPT], max_new_tokens=new, min_new_tokens=new,
            do_sample=False, pad_token_id=0,
        ),
    }  # fmt: skip


def check_agreement(steps):
    """Exit unless the first losses are the same."""
    losses = [steps[name]() for name in (READABLE, FAST, LLAMA)]
    if max(losses) - min(losses) > 1e-4:
        sys.exit(f"the models differ: losses {losses}")


def products(config):
    """Return a job: the matrix products of a fast step, on idle numbers."""
    import numpy as np

    made = functools.cache(lambda: operands(config))  # at the first call

    def work():
        maps, heads = made()
        for x, w, y in maps:
            np.matmul(x, w), np.matmul(y, w.T), np.matmul(x.T, y)
        for e, q, k in heads:
            kt = k.swapaxes(1, 2)
            for _ in range(3):  # scores, twice, and dp
                np.matmul(q, kt)
            for _ in range(2):  # mixed and dq; dk and dv
                np.matmul(e, k), np.matmul(e.swapaxes(1, 2), q)

    return work


def operands(config):
    """Return (x, W, y) of every map, (weights, q, k) of every block."""
    import numpy as np

    from assembled.fast.attention import BLOCK

    def ones(*shape):
        return np.ones(shape, np.float32)

    D, F, K = config.d_model, config.d_ff, config.d_k
    H, G, T = config.n_heads, config.n_kv_heads, config.context_length
    layer = [(D, (H + 2 * G) * K), (D, D), (D, F), (D, F), (F, D)]
    maps = [
        (ones(BATCH * T, i), ones(i, o), ones(BATCH * T, o))
        for i, o in [*layer * config.n_layers, (D, config.vocab_size)]
    ]
    blocks = [(s, min(T, s + BLOCK)) for s in range(0, T, BLOCK)]
    rows = [(H // G * (end - start), end) for start, end in blocks]
    heads = [(ones(G, n, S), ones(G, n, K), ones(G, S, K)) for n, S in rows]
    return maps, heads * (BATCH * config.n_layers)


def llama(config, state):
    """Return Hugging Face's model with these weights."""
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from transformers import LlamaConfig, LlamaForCausalLM
    model = LlamaForCausalLM(LlamaConfig(
        vocab_size=config.vocab_size, hidden_size=config.d_model,
        intermediate_size=config.d_ff, num_hidden_layers=config.n_layers,
        num_attention_heads=config.n_heads,
        num_key_value_heads=config.n_kv_heads,
        max_position_embeddings=config.context_length,
        rms_norm_eps=config.norm_eps, attn_implementation="sdpa",
    ))  # fmt: skip
    model.load_state_dict(
        {name: torch.from_numpy(w.copy()) for name, w in state.items()}
    )
    return model


def llama_step(model, optimizer, text):
    """Take one training step; return the loss before it."""
    import torch

    optimizer.zero_grad(set_to_none=True)
    logits = model(input_ids=text[:, :-1], use_cache=False).logits
    loss = torch.nn.functional.cross_entropy(
        logits.flatten(0, 1), text[:, 1:].flatten()
    )
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item()


if __name__ == "__main__":
    sys.exit(main())
