"""Do the counted costs hold on a real machine? Takes some minutes.

    python -m experiments.numpy_costs

Times a training step of the NumPy model while its length, width and depth
grow, and the products of one block against the machine's own roofline.
Everything is float32 on one thread. Writes book/_data/numpy_costs.json,
which the chapter on costs reads.
"""

import dataclasses
import datetime
import json
import os
import platform
import statistics
import time
from pathlib import Path

RECORD = Path(__file__).parents[1] / "book/_data/numpy_costs.json"
BASE = {
    "vocab_size": 256, "context_length": 256, "d_model": 256, "n_layers": 4,
    "n_heads": 8, "n_kv_heads": 4, "d_ff": 688,
}  # fmt: skip
BATCH = 4
GROWING = {
    "context_length": (64, 128, 256, 512, 1024),
    "d_model": (64, 128, 256, 512),
    "n_layers": (1, 2, 4, 8),
}
WIDE = {
    "vocab_size": 256, "context_length": 1024, "d_model": 1024,
    "n_layers": 1, "n_heads": 16, "n_kv_heads": 8, "d_ff": 2752,
}  # fmt: skip
ROUNDS = 7
ROWS = (1, 2, 8, 32, 128, 512)  # of a product with cold weights
COLD = 2**28  # bytes, more than any processor caches


def main() -> None:
    """Measure, and write the record."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = "1"  # before NumPy is imported
    import numpy as np

    record = {
        "made by": "python -m experiments.numpy_costs",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": f"{processor()}, 1 thread, float32, NumPy "
        f"{np.__version__}",
        "seed": 0,
        "base": BASE | {"batch": BATCH},
        "growth": growth(),
        "wide": WIDE,
        "roofline": roofline(),
    }
    RECORD.write_text(json.dumps(record, indent=1) + "\n", "utf-8")
    print(json.dumps(record, indent=1))


def processor() -> str:
    """Return the processor's name."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.machine()
    names = [x.split(":")[1].strip() for x in lines if "model name" in x]
    return names[0] if names else platform.machine()


def timed(jobs: dict, rounds: int = ROUNDS) -> dict:
    """Return each job's median seconds; the jobs take turns."""
    seconds = {name: [] for name in jobs}
    for turn in range(rounds + 1):
        for name, job in jobs.items():
            began = time.perf_counter()
            job()
            if turn:  # the first one warms up
                seconds[name].append(time.perf_counter() - began)
    return {name: statistics.median(all_) for name, all_ in seconds.items()}


def growth() -> list[dict]:
    """Return one row a shape: what grew, seconds, counted FLOPs."""
    from assembled import Config
    from assembled.costs import training_flops

    base = Config(**BASE)
    shapes = {}
    for name, values in GROWING.items():
        for value in values:
            change = {name: value}
            if name == "d_model":  # heads of 32 channels, the 8/3 rule
                change |= {"n_heads": value // 32,
                           "n_kv_heads": value // 64,
                           "d_ff": round(value * 8 / 3 / 8) * 8}
            shapes[name, value] = dataclasses.replace(base, **change)
    seconds = timed({key: step(config) for key, config in shapes.items()})
    return [
        {"grows": name, "to": value, "seconds": seconds[name, value],
         "flops": training_flops(config, BATCH, config.context_length)}
        for (name, value), config in shapes.items()
    ]


def step(config):
    """Return a function that does one training step of a fresh model."""
    import numpy as np

    from assembled.reference.model import init_params
    from assembled.reference.optimizer import adamw_init
    from assembled.reference.training import train_step

    rng = np.random.default_rng(0)
    params = init_params(config, rng)
    state = adamw_init(params)
    text = rng.integers(0, config.vocab_size,
                        (BATCH, config.context_length + 1))
    return lambda: train_step(
        params, state, text[:, :-1], text[:, 1:], config, 1e-3
    )


def roofline() -> dict:
    """Return this machine's two numbers, and each product's speed."""
    import numpy as np

    from assembled import Config
    from assembled.costs import Product, block_products

    rng = np.random.default_rng(0)
    square = rng.normal(size=(2048, 2048)).astype(np.float32)
    block = rng.normal(size=2**27).astype(np.float32)  # 512 MiB
    target = np.empty_like(block)
    config, jobs, products = Config(**WIDE), {}, {}
    for mode, T, S in (("training", 256, 256), ("decoding", 1, 1024)):
        for product in block_products(config, 8, T, S):
            products[mode, product.name] = product
            jobs[mode, product.name] = multiply(product, rng)
    for rows in ROWS:
        gate = Product("gate", rows, config.d_model, config.d_ff)
        products["rows", rows] = gate
        jobs["rows", rows] = multiply(gate, rng)
    jobs["peak"] = lambda: square @ square
    jobs["bandwidth"] = lambda: np.copyto(target, block)
    seconds = timed(jobs)
    return {
        "peak": 2 * 2048**3 / seconds["peak"],
        "bandwidth": 2 * block.nbytes / seconds["bandwidth"],
        "products": [
            {"mode": mode, "name": name, "intensity": p.intensity(4),
             "speed": copies(p) * p.flops / seconds[mode, name]}
            for (mode, name), p in products.items()
        ],
    }


def copies(product) -> int:
    """Return how many operand sets it takes to outgrow every cache."""
    return max(1, COLD // product.moved(4))


def multiply(product, rng):
    """Return a function that does the product once on each operand set."""
    import numpy as np

    sets, p = copies(product), product
    a = rng.random((sets, p.count, p.rows, p.inner), np.float32)
    b = rng.random((sets, p.count, p.inner, p.columns), np.float32)
    y = np.empty((sets, p.count, p.rows, p.columns), np.float32)

    def job():
        for operands in zip(a, b, y, strict=True):
            np.matmul(operands[0], operands[1], out=operands[2])

    return job


if __name__ == "__main__":
    main()
