"""Counts: equal to the published totals, and to what the code holds."""

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from assembled import Config, costs
from assembled.gpu.model import Transformer
from assembled.reference.model import init_params, model_forward, param_shapes

PUBLISHED = {
    "SMOLLM2_135M": 134_515_008,
    "LLAMA_2_7B": 6_738_415_616,
    "LLAMA_2_13B": 13_015_864_320,
    "LLAMA_2_70B": 68_976_648_192,
    "LLAMA_3_8B": 8_030_261_248,
    "LLAMA_3_70B": 70_553_706_496,
    "LLAMA_3_405B": 405_853_388_800,
}
SMALL = [
    Config(vocab_size=11, context_length=7, d_model=12, n_layers=3,
           n_heads=3, n_kv_heads=1, d_ff=10, tied=tied, norm=norm,
           placement=placement)
    for tied in (True, False)
    for norm in ("rms", "layer")
    for placement in ("pre", "post")
]  # fmt: skip


@pytest.mark.parametrize(("name", "total"), PUBLISHED.items())
def test_parameters_are_the_published_number(name, total):
    assert sum(costs.param_count(getattr(costs, name)).values()) == total


def test_gpt_3():
    assert costs.gpt_param_count(96, 12_288, 50_257, 2048) == 174_604_259_328
    assert sum(costs.ADAM_BYTES.values()) * 175e9 == 2.8e12


@pytest.mark.parametrize("config", SMALL)
def test_parameters_are_those_that_the_model_has(config):
    held = {}
    for name, shape in param_shapes(config).items():
        words = name.split(".")
        part = next((w for w in words if w in ("attention", "swiglu")), None)
        part = part or ("norms" if "norm" in name else words[0])
        held[part] = held.get(part, 0) + int(np.prod(shape))
    counted = costs.param_count(config)
    assert {k: n for k, n in counted.items() if n} == held


def arrays_in(cache):
    """Yield every float array in a nest of tuples, lists and dicts."""
    if isinstance(cache, np.ndarray) and cache.dtype.kind == "f":
        yield cache
    elif isinstance(cache, dict):
        yield from arrays_in(list(cache.values()))
    elif isinstance(cache, tuple | list):
        for part in cache:
            yield from arrays_in(part)


def owner(array):
    """Return the array whose memory this one looks at."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def test_activations_are_those_that_the_forward_keeps():
    config = Config(vocab_size=11, context_length=7, d_model=12, n_layers=3,
                    n_heads=3, n_kv_heads=1, d_ff=10)  # fmt: skip
    rng = np.random.default_rng(0)
    params = init_params(config, rng)
    _, cache = model_forward(params, rng.integers(11, size=(2, 5)), config)
    weights = {id(owner(w)) for w in params.values()}
    kept = {id(owner(a)): owner(a).size for a in arrays_in(cache)}
    measured = sum(n for key, n in kept.items() if key not in weights)
    assert sum(costs.activation_count(config, 2, 5).values()) == measured


@pytest.mark.parametrize("config", SMALL)
def test_flops_are_those_that_torch_counts(config):
    model = Transformer(config)
    tokens = torch.zeros(2, 5, dtype=torch.long)
    with FlopCounterMode(display=False) as counter:
        logits = model(tokens, maps=[])  # with the maps, by plain products
        forward = counter.get_total_flops()
        logits.sum().backward()
    assert forward == costs.forward_flops(config, 2, 5, 5)
    assert counter.get_total_flops() == costs.training_flops(config, 2, 5)


def test_cache_of_the_largest_llama():
    assert costs.kv_cache_bytes(costs.LLAMA_3_405B, 1) == 504 * 1024
    assert costs.kv_cache_bytes(costs.LLAMA_3_405B, 131_072) == 63 * 2**30


def test_a_product_on_the_roofline():
    product = costs.Product("x", rows=3, inner=4, columns=5, count=2)
    assert product.flops == 240
    assert product.moved(2) == 2 * 2 * (12 + 20 + 15)
    machine = costs.Machine("toy", peak=100.0, bandwidth=10.0)
    assert machine.ridge == 10
    assert machine.attainable(3.0) == 30
    assert machine.attainable(30.0) == 100


def test_decoding_one_token_reads_each_weight_for_one_row():
    for product in costs.block_products(costs.LLAMA_3_8B, 1, 1, 1000):
        assert product.intensity() < 5
    for product in costs.block_products(costs.LLAMA_3_8B, 8, 4096, 4096):
        assert product.intensity() > 100
