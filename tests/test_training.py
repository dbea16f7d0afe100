"""Text, batches, the training loop, sampling and the entropies."""

import pydoc_data.topics

import numpy as np
import pytest

from assembled import Config
from assembled.reference.model import init_params, model_forward
from assembled.reference.optimizer import adamw_init
from assembled.reference.training import (
    all_windows,
    bigram_entropy,
    decode,
    draw,
    encode,
    evaluate,
    load_run,
    python_manual,
    random_windows,
    sample,
    save_run,
    split_paragraphs,
    train,
    unigram_entropy,
)

CONFIG = Config(
    vocab_size=5, context_length=8, d_model=16, n_heads=2, n_kv_heads=1,
    d_ff=24, n_layers=1,
)
# 0 1 2 3 4 0 1 …: after one token the next is certain.
COUNTING = np.arange(400) % 5


def fresh(seed=0):
    return init_params(CONFIG, np.random.default_rng(seed))


def trained():
    params = fresh()
    rng = np.random.default_rng(1)
    losses = [l for _, l in train(params, COUNTING, CONFIG, rng, 60, B=8)]
    return params, losses


def test_training_learns_to_count_and_is_seeded():
    params, losses = trained()
    again, same = trained()
    assert losses[0] > 1 and losses[-1] < 0.1
    assert losses == same
    assert all(np.array_equal(params[n], again[n]) for n in params)


def test_a_trained_model_goes_on_counting():
    params, _ = trained()
    rng = np.random.default_rng(2)
    tokens = sample(params, np.array([3, 4]), 12, CONFIG, rng, 0.0)
    assert tokens.tolist() == [i % 5 for i in range(3, 17)]


def test_evaluate_is_the_mean_over_all_targets():
    params = fresh()
    inputs, targets = all_windows(COUNTING, 8)
    whole = evaluate(params, inputs, targets, CONFIG, B=len(inputs))
    parts = evaluate(params, inputs, targets, CONFIG, B=7)
    assert parts == pytest.approx(whole, rel=1e-5)


def test_windows_are_shifted_by_one():
    tokens = np.arange(50)
    inputs, targets = random_windows(tokens, 6, 8, np.random.default_rng(0))
    assert inputs.shape == (6, 8)
    assert (targets == inputs + 1).all()
    inputs, targets = all_windows(tokens, 8)
    assert inputs.shape == (6, 8)
    assert (targets.ravel() == np.arange(1, 49)).all()


def test_random_windows_reach_the_last_token():
    tokens = np.arange(10)
    _, targets = random_windows(tokens, 100, 8, np.random.default_rng(0))
    assert targets.max() == 9


def test_temperature_sharpens_the_draw():
    logits = np.array([0.3, 1.1, -0.4])
    likeliest = 1

    def share(temperature):
        rng = np.random.default_rng(0)
        draws = [draw(logits, temperature, rng) for _ in range(2000)]
        return np.mean(np.array(draws) == likeliest)

    # 2000 draws: three standard deviations are at most 3·√(1/4/2000).
    for temperature in (0.5, 1.0, 2.0):
        p = np.exp(logits / temperature)
        assert abs(share(temperature) - (p / p.sum())[likeliest]) < 0.034
    assert share(0.0) == 1 and share(1e-3) == 1


def test_a_negative_temperature_is_named():
    with pytest.raises(ValueError, match=r"temperature is -1\.0"):
        sample(
            fresh(), np.array([0]), 1, CONFIG, np.random.default_rng(0), -1.0
        )


def test_sampling_beyond_the_context_sees_the_last_tokens():
    rng = np.random.default_rng(0)
    tokens = sample(fresh(), np.zeros(20, int), 3, CONFIG, rng)
    assert tokens.size == 23


def test_an_empty_prompt_is_named():
    with pytest.raises(ValueError, match="prompt is empty"):
        sample(
            fresh(), np.array([], int), 1, CONFIG, np.random.default_rng(0)
        )


def test_entropies_of_known_texts():
    assert unigram_entropy(COUNTING) == pytest.approx(np.log(5))
    # 399 pairs are not quite five times as many, so not quite 0.
    assert bigram_entropy(COUNTING) == pytest.approx(0, abs=1e-12)
    coins = np.random.default_rng(0).integers(0, 2, 20_000)
    assert bigram_entropy(coins) == pytest.approx(np.log(2), abs=1e-3)


def test_no_bigram_table_beats_the_texts_own():
    rng = np.random.default_rng(0)
    text, other = rng.integers(0, 4, 300), rng.integers(0, 4, 300)

    def table_loss(counted_on):
        counts = np.full((4, 4), 0.1)
        np.add.at(counts, (counted_on[:-1], counted_on[1:]), 1)
        p = counts / counts.sum(-1, keepdims=True)
        return -np.log(p[text[:-1], text[1:]]).mean()

    assert bigram_entropy(text) < table_loss(text) < table_loss(other)


def test_text_survives_the_round_trip():
    assert decode(encode("to be", " beot"), " beot") == "to be"
    with pytest.raises(ValueError, match="lacks 'x'"):
        encode("box", " beot")


def test_each_paragraph_is_kept_once_on_one_line(monkeypatch):
    topics = {"b": "two\n\nthree\n   four", "a": "one\n\n\n\ntwo"}
    monkeypatch.setattr(pydoc_data.topics, "topics", topics)
    assert python_manual() == ["one", "two", "three four"]


def test_no_paragraph_is_in_both_texts():
    kept, held_out = split_paragraphs(python_manual())
    assert not set(kept.split("\n")) & set(held_out.strip().split("\n"))
    assert 0.05 < len(held_out) / len(kept + held_out) < 0.15


def test_a_sample_is_what_full_forwards_would_draw(rng):
    params = init_params(CONFIG, rng, np.float64)
    drawn = sample(params, np.array([3]), 12, CONFIG, rng, temperature=0.0)
    tokens = np.array([3])
    for _ in range(12):  # longer than the context of 8
        seen = tokens[None, -CONFIG.context_length :]
        logits, _ = model_forward(params, seen, CONFIG)
        tokens = np.append(tokens, logits[0, -1].argmax())
    assert drawn.tolist() == tokens.tolist()


def losses_to(n_steps, params, rng, state):
    """Return the losses of the steps up to `n_steps`."""
    steps = train(params, COUNTING, CONFIG, rng, 12, B=2, warmup=3,
                  state=state)  # fmt: skip
    return [loss for step, loss in steps if step < n_steps]


def test_a_run_that_is_stopped_goes_on_bit_for_bit(tmp_path, rng):
    first = init_params(CONFIG, rng)
    whole = {name: w.copy() for name, w in first.items()}
    losses = losses_to(12, whole, np.random.default_rng(1), None)

    params, state = first, adamw_init(first)
    own_rng, path = np.random.default_rng(1), tmp_path / "run.npz"
    steps = train(params, COUNTING, CONFIG, own_rng, 12, B=2, warmup=3,
                  state=state)  # fmt: skip
    before = [next(steps)[1] for _ in range(5)]
    save_run(path, params, state, own_rng)
    params, state, own_rng = load_run(path)
    assert state["step"] == 5
    after = losses_to(12, params, own_rng, state)
    assert before + after == losses
    assert all((params[n] == whole[n]).all() for n in whole)
    assert [p.name for p in tmp_path.iterdir()] == ["run.npz"]


def test_a_file_that_is_no_run_says_so(tmp_path, rng):
    params = init_params(CONFIG, rng)
    path = tmp_path / "run.npz"
    save_run(path, params, adamw_init(params), rng)
    whole = path.read_bytes()
    np.savez(tmp_path / "other.npz", x=np.zeros(2))
    np.save(tmp_path / "array.npy", np.zeros(2))
    path.write_bytes(whole[: len(whole) // 2])
    (tmp_path / "empty").write_bytes(b"")
    for name in ("run.npz", "other.npz", "array.npy", "empty"):
        with pytest.raises(ValueError, match="holds no saved run"):
            load_run(tmp_path / name)
