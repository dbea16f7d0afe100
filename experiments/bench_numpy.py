"""The NumPy model against Hugging Face's Llama, side by side in one run.

    python -m experiments.bench_numpy [--rounds 9] [--threads 1]

Same weights, batch and threads, float32. One training step is forward,
backward, clipping and AdamW (theirs: fused attention, fused AdamW).
Decoding is greedy with a cache. Rounds alternate; medians are printed.
"""

import argparse
import os
import statistics
import sys
import time
import warnings

SHAPE = {
    "vocab_size": 512, "context_length": 256, "d_model": 256, "n_layers": 6,
    "n_heads": 8, "n_kv_heads": 4, "d_ff": 688,
}  # fmt: skip
BATCH, PROMPT = 8, 8


def main(argv=None):
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args(argv)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = str(args.threads)  # before NumPy is imported
    ours, theirs = steps(args.threads)
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, "
          f"{args.threads} threads, {args.rounds} rounds\n")
    print(f"{'':16}{'NumPy':>9}{'Llama':>9}   NumPy's time over Llama's")
    for name in ours:
        pairs = [
            (seconds(ours[name]), seconds(theirs[name]))
            for _ in range(args.rounds + 1)
        ][1:]  # the first one warms up
        ratios = sorted(a / b for a, b in pairs)
        a, b = (statistics.median(column) for column in zip(*pairs,
                                                            strict=True))
        print(f"{name:16}{a:8.3f}s{b:8.3f}s   {a / b:.2f}  (pairs "
              f"{ratios[0]:.2f} to {ratios[-1]:.2f})")
    return 0


def seconds(work):
    """Return how long it took."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def steps(threads):
    """Return two dicts of the same jobs, ours and Llama's."""
    import numpy as np
    import torch

    from assembled import Config
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
    inputs, targets = text[:, :-1], text[:, 1:]
    state = adamw_init(params)
    optimizer = torch.optim.AdamW(
        model.parameters(), 1e-3, betas=(0.9, 0.95), weight_decay=0.1,
        fused=True,
    )  # fmt: skip
    text = torch.from_numpy(text)
    first = train_step(params, state, inputs, targets, config, 1e-3)
    other = llama_step(model, optimizer, text)
    if abs(first - other) > 1e-4:
        sys.exit(f"the two models differ: losses {first} and {other}")
    prompt = inputs[0, :PROMPT]
    new = config.context_length - PROMPT
    return {
        "a training step": lambda: train_step(
            params, state, inputs, targets, config, 1e-3
        ),
        f"{new} tokens": lambda: sample(
            params, prompt, new, config, rng, temperature=0.0
        ),
    }, {
        "a training step": lambda: llama_step(model, optimizer, text),
        f"{new} tokens": lambda: model.generate(
            text[:1, :PROMPT], max_new_tokens=new, min_new_tokens=new,
            do_sample=False, pad_token_id=0,
        ),
    }  # fmt: skip


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
