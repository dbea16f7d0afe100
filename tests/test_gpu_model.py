"""The PyTorch model: the bridge to the reference, maps, what it refuses."""

import numpy as np
import pytest
import torch

from assembled import Config
from assembled.gpu.loss import cross_entropy
from assembled.gpu.model import Transformer
from assembled.gpu.rope import rope

TINY = {"vocab_size": 11, "d_model": 16, "n_layers": 2, "d_ff": 12}
TOKENS = torch.tensor([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]])


def tiny(dtype=torch.float64, **options):
    torch.manual_seed(0)
    return Transformer(Config(**TINY, **options)).to(dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("placement", ["pre", "post"])
def test_weights_make_the_round_trip_bit_for_bit(placement, tied, dtype):
    options = {"placement": placement, "tied": tied, "norm": "layer"}
    model = tiny(dtype, **options)
    arrays = model.to_reference()
    again = Transformer(Config(**TINY, **options)).load_reference(arrays)
    assert again.embedding.weight.dtype == dtype
    for name, array in again.to_reference().items():
        assert array.dtype == arrays[name].dtype, name
        assert np.array_equal(array, arrays[name]), name
    assert torch.equal(model(TOKENS), again(TOKENS))


def test_bfloat16_weights_come_out_exact():
    model = tiny(torch.bfloat16)
    wide = Transformer(model.config).load_reference(model.to_reference())
    for a, b in zip(model.parameters(), wide.parameters(), strict=True):
        assert b.dtype == torch.float32 and torch.equal(a.float(), b)


def test_to_reference_copies():
    model = tiny()
    model.to_reference()["final_norm.gain"][:] = 7
    assert torch.equal(model.final_norm.gain, torch.ones(16).double())


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda p: p.pop("output.weight"), "lack.*output.weight"),
        (lambda p: p.update(bias=np.ones(3)), "unknown.*bias"),
        (
            lambda p: p.update({"embedding.weight": np.ones((16, 11))}),
            r"embedding.weight has shape \(16, 11\)",
        ),
        (
            lambda p: p.update(
                {"final_norm.gain": np.ones(16, dtype=np.float32)}
            ),
            "mix.*float32.*float64",
        ),
    ],
)
def test_a_wrong_set_of_parameters_is_refused(spoil, words):
    arrays = tiny().to_reference()
    spoil(arrays)
    with pytest.raises(ValueError, match=words):
        tiny().load_reference(arrays)


def test_tokens_out_of_range_are_refused():
    with pytest.raises(ValueError, match="tokens run from 0 to 11"):
        tiny()(torch.tensor([[0, 11]]))
    logits = torch.zeros(1, 2, 11)
    with pytest.raises(ValueError, match="targets run from -1 to 3"):
        cross_entropy(logits, torch.tensor([[-1, 3]]))


def test_a_loss_over_nothing_is_refused():
    with pytest.raises(ValueError, match="all 2 targets are ignore_index"):
        cross_entropy(torch.zeros(1, 2, 11), torch.tensor([[-100, -100]]))


def test_ignored_targets_count_nowhere():
    logits = torch.arange(22.0).reshape(1, 2, 11) ** 0.5
    both = cross_entropy(logits, torch.tensor([[4, -100]]))
    assert torch.equal(both, cross_entropy(logits[:, :1], torch.tensor([[4]])))


@pytest.mark.parametrize(("pairing", "K"), [("halves", 4), ("half", 3)])
def test_an_unknown_pairing_or_an_odd_width_is_refused(pairing, K):
    with pytest.raises(ValueError, match="it needs 'half' or"):
        rope(torch.ones(2, K), torch.arange(2), 1e4, pairing)


def test_gradients_are_asked_for_too_early():
    with pytest.raises(ValueError, match="no gradient; call loss"):
        tiny().reference_gradients()


def test_too_long_an_input_is_refused():
    with pytest.raises(ValueError, match="T=5 tokens, the model takes 1 to"):
        tiny(context_length=4)(TOKENS)


@pytest.mark.parametrize("n_kv_heads", [1, 2, 4])
def test_the_map_and_the_fused_kernel_give_the_same_logits(n_kv_heads):
    model, maps = tiny(n_kv_heads=n_kv_heads), []
    eager = model(TOKENS, maps=maps)
    torch.testing.assert_close(eager, model(TOKENS), rtol=1e-12, atol=1e-14)
    assert [w.shape for w, _ in maps] == [(2, 4, 5, 5)] * 2
    assert [v.shape for _, v in maps] == [(2, 4, 5, 4)] * 2
    torch.testing.assert_close(
        maps[1][0].sum(-1), torch.ones(2, 4, 5).double(), rtol=0, atol=1e-15
    )


@pytest.mark.parametrize("maps", [None, []])
def test_the_future_changes_nothing_not_even_a_bit(maps):
    model, later = tiny(), TOKENS.clone()
    later[:, 3:] = 0
    before = model(TOKENS, maps=maps)[:, :3]
    assert torch.equal(before, model(later, maps=maps)[:, :3])


def test_positions_matter_only_by_their_differences():
    model = tiny()
    shifted = model(TOKENS, positions=torch.arange(5) + 1000)
    torch.testing.assert_close(shifted, model(TOKENS), rtol=1e-9, atol=1e-12)
    stretched = model(TOKENS, positions=torch.arange(5) * 3)
    assert (stretched - model(TOKENS)).abs().max() > 1e-6


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_autocast_trains_in_float32(dtype):
    model = tiny(torch.float32)
    with torch.autocast("cpu", dtype=dtype):
        loss = cross_entropy(model(TOKENS), TOKENS)
    loss.backward()
    for name, p in model.named_parameters():
        assert p.grad.dtype == torch.float32, name
        assert p.grad.isfinite().all() and p.grad.any(), name


@pytest.mark.cuda
@pytest.mark.skipif(
    not torch.cuda.is_available(), reason="no CUDA device on this machine"
)
@pytest.mark.parametrize("maps", [None, []])
def test_cuda_agrees_with_the_cpu(maps):
    model = tiny(torch.float64)
    expected = model(TOKENS)
    got = model.cuda()(TOKENS.cuda(), maps=maps)
    torch.testing.assert_close(got.cpu(), expected, rtol=1e-10, atol=1e-12)
    for dtype in (torch.bfloat16, torch.float16):
        with torch.autocast("cuda", dtype=dtype):
            loss = cross_entropy(model.float()(TOKENS.cuda()), TOKENS.cuda())
        assert loss.dtype == torch.float32 and loss.isfinite()
