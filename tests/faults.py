"""Faults put in on purpose, and the test that must notice each of them.

`make faults` makes every one of these changes in a copy of the library,
runs the named test there, and requires that it fails. A fault is one piece
of text that occurs once in one file, what it becomes, and the test.
"""

import contextlib
import io
import multiprocessing
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = "assembled"

# A change that ends like this is not a fault but a program that is broken:
# it would fail any test, and prove nothing about this one.
BROKEN = {
    "AttributeError", "ImportError", "IndentationError", "NameError",
    "SyntaxError", "UnboundLocalError",
}


class Fault(NamedTuple):
    """One change to one file, and the test that must fail."""

    path: str  # under assembled/
    name: str
    old: str
    new: str
    test: str  # under tests/


class Outcome(NamedTuple):
    """What pytest said: its exit code, the first exception, its report."""

    exit_code: int
    exception: str
    report: str = ""


def of(path, *rows):
    """Return the faults of one file; a row is (name, old, new, test)."""
    return [Fault(path, *row) for row in rows]


REFERENCE = [
    *of(
        "reference/norm.py",
        ("ε outside RMSNorm's root",
         "np.sqrt(row_means(x, x) + eps)", "np.sqrt(row_means(x, x)) + eps",
         "test_norm.py::test_epsilon_stands_inside_the_root"),
        ("ε outside LayerNorm's root",
         "np.sqrt(row_means(centred, centred) + eps)",
         "np.sqrt(row_means(centred, centred)) + eps",
         "test_norm.py::test_layer_norm_epsilon_stands_inside_the_root"),
        ("RMSNorm's backward keeps the radial direction",
         "dx -= normed * row_means(dx, normed)", "pass",
         "test_norm.py::test_radial_direction_is_lost_but_for_epsilon"),
        ("RMSNorm's backward forgets the gain",
         "dx = gain * dy", "dx = dy.copy()",
         "test_norm.py::test_doubling_the_gain_doubles_dx"),
        ("LayerNorm's backward forgets the gain",
         "dnormed = gain * dy\n    mean", "dnormed = dy\n    mean",
         "test_norm.py::test_layer_norm_equals_torch"),
        ("LayerNorm's backward keeps the constant",
         "dnormed - mean - normed * radial", "dnormed - normed * radial",
         "test_norm.py::"
         "test_layer_norm_loses_the_constant_and_rms_norm_keeps_it"),
        ("LayerNorm's variance divides by D − 1",
         "row_means(centred, centred)",
         "row_means(centred, centred) * x.shape[-1] / (x.shape[-1] - 1)",
         "test_norm.py::test_layer_norm_equals_torch"),
        ("gains' gradients averaged over rows, not summed",
         "x.reshape(-1, x.shape[-1]).sum(0)",
         "x.reshape(-1, x.shape[-1]).mean(0)",
         "test_norm.py::test_rms_norm_equals_torch"),
        ("RMSNorm widens float32",
         "normed = x * (1 / r)", "normed = x * (1 / r.astype(np.float64))",
         "test_norm.py::test_norms_keep_the_dtype"),
    ),
    *of(
        "reference/rope.py",
        ("rotation with the wrong sign",
         "y[..., first] -= b * sin", "y[..., first] += b * sin",
         "test_rope.py::test_rope_equals_complex_rotation"),
        ("backward turns on instead of back",
         "turn_pairs(dy, cos, -sin, pairing)",
         "turn_pairs(dy, cos, sin, pairing)",
         "test_rope.py::test_turning_back_is_the_inverse"),
        ("exponent −i/K in place of −2i/K",
         "base ** (-np.arange(0, d_k, 2) / d_k)",
         "base ** (-np.arange(0, d_k, 2) / (2 * d_k))",
         "test_rope.py::test_frequencies_run_from_one_down"),
        ("interleaved pairs taken as halves",
         "slice(0, d_k, 2), slice(1, d_k, 2)",
         "slice(0, d_k // 2), slice(d_k // 2, d_k)",
         "test_rope.py::test_pairing_decides_where_the_sine_goes"),
        ("positions counted from 0 whatever is given",
         "np.outer(positions, ", "np.outer(positions - positions[0], ",
         "test_rope.py::test_rope_equals_complex_rotation"),
        ("angles in x's own precision",
         "angles = np.outer(positions, theta)",
         "angles = np.outer(positions, theta).astype(x.real.dtype)",
         "test_rope.py::"
         "test_angles_stay_exact_for_large_positions_in_float32"),
        ("YaRN's ramp over turns, as printed",
         'if scaling.kind == "llama3":', "if scaling.kind:",
         "test_rope.py::test_the_maps_equal_the_published_frequencies"),
        ("YaRN without its stretch",
         "return 1.0 + 0.1 *", "return 1.0 + 0.0 *",
         "test_rope.py::test_yarn_stretches_and_turns_back"),
        ("NTK divides every pair",
         "return theta * factor ** (-pairs / max(n_pairs - 1, 1))",
         "return theta / factor",
         "test_rope.py::test_ntk_is_a_larger_base"),
        ("pairs between the corners kept",
         "kept = np.clip(kept, 0, 1)", "kept = np.ceil(np.clip(kept, 0, 1))",
         "test_rope.py::test_the_maps_equal_the_symbolic_ones"),
    ),
    *of(
        "reference/softmax.py",
        ("mask hides the query's own token",
         "np.tri(T, S, S - T, dtype=bool)",
         "np.tri(T, S, S - T - 1, dtype=bool)",
         "test_softmax.py::"
         "test_mask_lets_each_query_see_itself_and_the_past"),
        ("mask lets the future in and the past out",
         "np.tri(T, S, S - T, dtype=bool)",
         "np.tri(S, T, S - T, dtype=bool).T",
         "test_softmax.py::"
         "test_mask_lets_each_query_see_itself_and_the_past"),
        ("no shift by the largest score",
         "np.where(largest == -np.inf, 0, largest)",
         "np.zeros_like(largest)",
         "test_softmax.py::test_huge_scores_do_not_overflow"),
        ("a row without keys becomes 0/0",
         "np.where(total == 0, 1, total)", "total",
         "test_softmax.py::"
         "test_a_row_without_keys_is_zero_forward_and_backward"),
        ("normalized over queries",
         "total = p.sum(-1, keepdims=True)",
         "total = p.sum(-2, keepdims=True)",
         "test_softmax.py::test_rows_sum_to_one_and_columns_do_not"),
        ("Jacobian without −ppᵀ",
         "np.subtract(dp, mean, out=out)", "np.subtract(dp, 0, out=out)",
         "test_softmax.py::test_gradient_of_a_row_sums_to_zero"),
    ),
    *of(
        "reference/attention.py",
        ("scores not divided by √K",
         "(rows * K**-0.5)", "rows",
         "test_attention.py::"
         "test_scores_are_divided_by_the_root_of_the_head_size"),
        ("scores divided by √(H·K)",
         "(rows * K**-0.5)", "(rows * (q.shape[1] * K)**-0.5)",
         "test_attention.py::test_attention_equals_torch"),
        ("backward forgets the division by √K",
         "scale = k.shape[-1] ** -0.5", "scale = 1",
         "test_attention.py::test_attention_equals_complex_step"),
        ("no causal mask",
         "where=~causal_mask(T, S)", "where=False",
         "test_attention.py::test_the_future_does_not_change_one_bit"),
        ("mask's polarity the other way",
         "where=~causal_mask(T, S)", "where=causal_mask(T, S)",
         "test_attention.py::test_the_first_token_sees_itself_alone"),
        ("queries dealt out to the groups in turn",
         "rows = q.reshape(B, G, -1, K)",
         "rows = q.reshape(B, -1, G, T, K).swapaxes(1, 2)"
         ".reshape(B, G, -1, K)",
         "test_attention.py::test_attention_equals_torch"),
        ("query head h answers from group h mod G",
         "(p @ v).reshape(q.shape)",
         "(p @ v).reshape(B, G, -1, T, K).swapaxes(1, 2).reshape(q.shape)",
         "test_attention.py::test_query_heads_of_a_group_are_neighbours"),
        ("keys' gradient from one query head a group",
         "dk = dscores.swapaxes(-1, -2) @ rows",
         "T = k.shape[2]; dk = dscores[:, :, :T].swapaxes(-1, -2)"
         " @ rows[:, :, :T]",
         "test_attention.py::test_attention_equals_torch"),
        ("values' gradient from one query head a group",
         "dv = p.swapaxes(-1, -2) @ dout",
         "T = k.shape[2]; dv = p[:, :, :T].swapaxes(-1, -2)"
         " @ dout[:, :, :T]",
         "test_attention.py::test_attention_equals_torch"),
        ("keys not rotated",
         "k, _ = rope_forward(split_heads(k, config.d_k), *rope)",
         "k = split_heads(k, config.d_k)",
         "test_attention.py::test_attention_equals_torch"),
        ("keys' gradient not turned back",
         "dk = join_heads(rope_backward(dk, rope_cache))",
         "dk = join_heads(dk)",
         "test_attention.py::test_attention_equals_torch"),
        ("new tokens stand at position 0 again",
         "(np.arange(start, end), *rope", "(np.arange(end - start), *rope",
         "test_model.py::test_steps_with_a_cache_equal_the_full_forward"),
        ("dx without the road through the values",
         "return dx_q + dx_k + dx_v, grads", "return dx_q + dx_k, grads",
         "test_attention.py::test_attention_equals_complex_step"),
    ),
    *of(
        "reference/swiglu.py",
        ("gate and up swapped",
         "silu = gate * s", "silu = up * (s := sigmoid(up)); up = gate",
         "test_swiglu.py::"
         "test_the_gate_and_not_the_product_goes_through_silu"),
        ("sigmoid of the product",
         "s = sigmoid(gate)", "s = sigmoid(gate * up)",
         "test_swiglu.py::"
         "test_the_gate_and_not_the_product_goes_through_silu"),
        ("silu' without −silu",
         "dgate -= silu", "pass",
         "test_swiglu.py::test_swiglu_equals_torch"),
        ("up's gradient misses the gate",
         "dup = dhidden * silu", "dup = dhidden * gate",
         "test_swiglu.py::test_swiglu_equals_complex_step"),
        ("sigmoid that overflows",
         "s = 0.5 * z", "return 1 / (1 + np.exp(-z))",
         "test_swiglu.py::test_sigmoid_does_not_overflow_in_float32"),
    ),
    *of(
        "reference/embedding.py",
        ("a repeated token counts once",
         "np.add.at(dweight, tokens, dx)", "dweight[tokens] += dx",
         "test_embedding.py::"
         "test_repeated_token_sums_and_absent_token_is_zero"),
        ("a negative token reads the table's end",
         "(tokens < 0) | (tokens >= vocab_size)", "tokens >= vocab_size",
         "test_embedding.py::test_token_outside_the_vocabulary_is_named"),
        ("a linear map's gradient is averaged over rows",
         "rows.T @ drows", "rows.T @ drows / len(rows)",
         "test_embedding.py::test_linear_equals_torch"),
    ),
    *of(
        "reference/block.py",
        ("residual taken from the normed stream",
         "y = x + change", "y = normed + change",
         "test_block.py::"
         "test_pre_ln_with_silent_branches_is_the_identity"),
        ("Pre-LN's backward without the identity path",
         "dx = dy + dchange", "dx = dchange",
         "test_block.py::test_block_equals_torch"),
        ("Post-LN's backward without the identity path",
         "dx = dsum + dchange", "dx = dchange",
         "test_block.py::test_block_equals_torch"),
        ("Post-LN without the residual",
         "norm_forward(x + change, *norm)", "norm_forward(change, *norm)",
         "test_block.py::"
         "test_post_ln_normalizes_even_with_silent_branches"),
        ("Post-LN in place of Pre-LN",
         'if config.placement == "pre":\n        normed',
         'if config.placement != "pre":\n        normed',
         "test_block.py::test_block_equals_torch"),
    ),
    *of(
        "reference/loss.py",
        ("gradient divided by all targets",
         "return dlogits / n_kept", "return dlogits / kept.size",
         "test_loss.py::test_cross_entropy_equals_complex_step"),
        ("loss divided by all targets",
         "losses[kept].sum() / n_kept", "losses[kept].sum() / kept.size",
         "test_loss.py::"
         "test_ignored_targets_have_no_gradient_and_no_share"),
        ("ignored targets keep a gradient",
         "dlogits[~kept] = 0", "dlogits[~kept] *= 1",
         "test_loss.py::"
         "test_ignored_targets_have_no_gradient_and_no_share"),
        ("softmax without − onehot",
         "at_target - 1", "at_target",
         "test_loss.py::test_cross_entropy_equals_torch"),
        ("exp of the bare logits",
         "logits - logits.real.max(-1, keepdims=True)", "logits * 1",
         "test_loss.py::test_far_apart_logits_give_a_finite_loss"),
        ("float32 widened by the count",
         "n_kept = int(kept.sum())", "n_kept = kept.sum()",
         "test_loss.py::test_the_loss_keeps_float32"),
    ),
    *of(
        "reference/model.py",
        ("Pre-LN without a final norm",
         "x, norm_cache = norm_forward", "_, norm_cache = norm_forward",
         "test_model.py::"
         "test_pre_ln_ends_in_one_norm_so_the_stream_has_no_scale"),
        ("tied: the output's gradient is lost",
         'dembedding + grads.get("embedding.weight", 0)', "dembedding",
         "test_model.py::test_every_gradient_equals_torch"),
        ("all positions alike unless given",
         "positions = np.arange(tokens.shape[1])",
         "positions = np.zeros(tokens.shape[1])",
         "test_model.py::test_a_shift_of_all_positions_changes_nothing"),
        ("blocks walked forward in the backward",
         "for l in reversed(range(config.n_layers))",
         "for l in range(config.n_layers)",
         "test_model.py::test_every_gradient_equals_complex_step"),
        ("branches not scaled by depth at the start",
         "(shape[0] * 2 * config.n_layers) ** -0.5", "shape[0] ** -0.5",
         "test_gpu_parity.py::"
         "test_both_faces_start_from_the_same_distribution"),
        ("weights that are not finite get through",
         "if not np.isfinite(params[name]).all():", "if False:",
         "test_model.py::test_bad_parameters_are_named"),
    ),
    *of(
        "reference/optimizer.py",
        ("first moment not corrected for its start at zero",
         "m * (lr / (1 - beta1**t)) / root", "m * lr / root",
         "test_optimizer.py::test_adamw_equals_torch"),
        ("second moment not corrected for its start at zero",
         "np.sqrt(v / (1 - beta2**t))", "np.sqrt(v)",
         "test_optimizer.py::test_adamw_equals_torch"),
        ("Adam's ε inside the root",
         "np.sqrt(v / (1 - beta2**t))\n        root += eps",
         "np.sqrt(v / (1 - beta2**t) + eps)",
         "test_optimizer.py::test_the_first_step_"
         "is_the_learning_rate_whatever_the_gradient"),
        ("decay on gains, biases and embeddings",
         "if is_decayed(name):", "if True:",
         "test_optimizer.py::test_no_decay_on_gains_biases_and_embeddings"),
        ("clipping that also lengthens",
         "if norm > largest:", "if True:",
         "test_optimizer.py::test_clipping_scales_all_gradients_together"),
        ("the warm-up starts at zero",
         "peak * (step + 1) / warmup", "peak * step / warmup",
         "test_optimizer.py::test_the_learning_rate_climbs_then_falls"),
    ),
    *of(
        "reference/training.py",
        ("targets not shifted",
         "return windows[:, :-1], windows[:, 1:]",
         "return windows[:, 1:], windows[:, 1:]",
         "test_training.py::test_windows_are_shifted_by_one"),
        ("the last token is never a target",
         "rng.integers(0, tokens.size - T, size=B)",
         "rng.integers(0, tokens.size - T - 1, size=B)",
         "test_training.py::test_random_windows_reach_the_last_token"),
        ("temperature ignored",
         "logits / temperature + noise", "logits + noise",
         "test_training.py::test_temperature_sharpens_the_draw"),
        ("repeated paragraphs kept",
         'paragraphs[" ".join(paragraph.split())] = None',
         'paragraphs[topic + " ".join(paragraph.split())] = None',
         "test_training.py::"
         "test_each_paragraph_is_kept_once_on_one_line"),
    ),
]

SAME = "test_fast.py::test_loss_and_every_gradient_equal_the_reference"
FAST = [
    *of(
        "fast/attention.py",
        ("the diagonal is not masked", "e[..., start:] *= past", "pass",
         SAME),
        ("only a block's first row is masked by rows",
         "past = room[\"past\"][: q.shape[1], : end - start]",
         "past = room[\"past\"][:1, : end - start]", SAME),
        ("every score counts as safe",
         "kept[\"safe\"][:] = squares[0] * squares[1] < SAFE**2",
         "kept[\"safe\"][:] = True",
         "test_fast.py::test_large_scores_are_shifted"),
        ("later keys take part in the shift",
         "e[..., start:][:, past == 0] = -np.inf", "pass",
         "test_fast.py::test_large_scores_are_shifted"),
        ("ln 2 forgotten", "math.log(2)", "1", SAME),
        ("the backward turns forward",
         "rotation.conj()", "rotation", SAME),
        ("the sum of p dp left out",
         "heads[..., K] = -np.einsum(\"tgrk,tgrk->gtr\", rows, mixed)",
         "heads[..., K] = 0", SAME),
    ),
    *of(
        "fast/layers.py",
        ("the radial part stays in dx", "d -= n * mean", "d -= 0", SAME),
        ("SiLU's slope without its second term", "slope += p",
         "slope += 0", SAME),
        ("the mean over a part only", "return total / N",
         "return total / ROWS", SAME),
        ("repeated tokens overwrite each other",
         "dx[start:end].sum(0, out=dweight[tokens[start]])",
         "dweight[tokens[start]] = dx[start]", SAME),
    ),
    *of(
        "fast/room.py",
        ("queries see one later key",
         "np.tri(BLOCK, dtype=dtype)", "np.tri(BLOCK, k=1, dtype=dtype)",
         SAME),
        ("RoPE's scaling forgotten",
         "config.rope_base, config.rope_scaling)", "config.rope_base)",
         "test_fast.py::test_scaled_rope_equals_the_reference"),
        ("YaRN's stretch forgotten",
         "rotation *= rope_stretch(config.rope_scaling)", "pass",
         "test_fast.py::test_scaled_rope_equals_the_reference"),
        ("a room for another batch gets through",
         "if room[\"made for\"] != needed:", "if False:",
         "test_fast.py::test_a_room_for_others_is_refused"),
    ),
    *of(
        "fast/step.py",
        ("the gains get no gradient of their second matrix",
         "for n in names\n", "for n in names[:1]\n", SAME),
        ("the gain stays in the gradient",
         "dpacked *= gain[:, None]", "pass", SAME),
        ("SwiGLU's half forgotten on the way back",
         "dpacked[\"swiglu.w_gate\"] *= 0.5",
         "dpacked[\"swiglu.w_gate\"] *= 1", SAME),
        ("the step is not counted",
         "state[\"step\"] = part[\"step\"]", "pass",
         "test_fast.py::test_steps_equal_the_reference"),
        ("only the first piece of each parameter moves",
         "for i in range(0, array.size, PIECE):",
         "for i in range(0, min(array.size, PIECE), PIECE):",
         "test_fast.py::test_steps_equal_the_reference"),
    ),
]

GPU = [
    *of(
        "gpu/precision.py",
        ("`.float()` in place of a promotion: float64 narrowed",
         "return torch.promote_types(dtype, torch.float32)",
         "return torch.float32",
         "test_gpu_precision.py::test_float64_is_never_narrowed"),
        ("no upcast at all",
         "return x.to(wide_dtype(x.dtype))", "return x",
         "test_gpu_precision.py::test_rms_norm_statistics_are_wide"),
    ),
    *of(
        "gpu/norm.py",
        ("RMSNorm's statistics narrow",
         "wide = widen(x)\n    r", "wide = x\n    r",
         "test_gpu_precision.py::test_rms_norm_statistics_are_wide"),
        ("LayerNorm's statistics narrow",
         "wide = widen(x)\n    centred", "wide = x\n    centred",
         "test_gpu_precision.py::test_layer_norm_statistics_are_wide"),
        ("RMSNorm rounds before the gain",
         "(gain * wide / r).to(x.dtype)", "gain * (wide / r).to(x.dtype)",
         "test_gpu_precision.py::test_rms_norm_statistics_are_wide"),
        ("ε outside the root",
         "(wide.square().mean(-1, keepdim=True) + eps).sqrt()",
         "wide.square().mean(-1, keepdim=True).sqrt() + eps",
         "test_gpu_parity.py::test_epsilon_stands_inside_the_root"),
        ("LayerNorm without its bias",
         "(gain * centred / sigma + bias)", "(gain * centred / sigma)",
         "test_gpu_parity.py::test_norms_equal_the_reference"),
    ),
    *of(
        "gpu/rope.py",
        ("angles in x's own precision",
         "wide = wide_dtype(x.dtype)", "wide = x.dtype",
         "test_gpu_precision.py::test_rope_angles_are_wide"),
        ("positions in x's own precision",
         "positions.to(wide)", "positions.to(x.dtype)",
         "test_gpu_precision.py::test_rope_angles_are_wide"),
        ("sine and cosine in x's own precision",
         "cos, sin = angles.cos(), angles.sin()",
         "cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)",
         "test_gpu_precision.py::test_rope_angles_are_wide"),
        ("rotation with the wrong sign",
         "a * cos - b * sin", "a * cos + b * sin",
         "test_gpu_parity.py::test_rope_equals_the_reference"),
        ("halves in place of neighbours",
         "x[..., 0::2], x[..., 1::2]", "x.chunk(2, dim=-1)",
         "test_gpu_parity.py::test_rope_equals_the_reference"),
        ("YaRN without its stretch",
         "stretch = 1 + 0.1", "stretch = 1 + 0.0",
         "test_gpu_parity.py::test_scaled_rope_equals_the_reference"),
        ("the ramp not clamped",
         "kept = kept.clamp(0, 1)", "kept = kept * 1",
         "test_gpu_parity.py::test_scaled_rope_equals_the_reference"),
    ),
    *of(
        "gpu/softmax.py",
        ("softmax in the scores' own precision",
         "scores = widen(scores)", "scores = scores * 1",
         "test_gpu_precision.py::test_softmax_is_wide"),
        ("a row without keys becomes NaN",
         "top = top.masked_fill(top == -torch.inf, 0.0)", "top = top * 1",
         "test_gpu_precision.py::"
         "test_a_row_with_no_key_is_zero_and_has_a_zero_gradient"),
        ("mask with the future in",
         "device=device).tril()", "device=device).triu()",
         "test_gpu_parity.py::test_mask_and_softmax_equal_the_reference"),
    ),
    *of(
        "gpu/loss.py",
        ("loss in the logits' own precision",
         "wide = widen(logits)", "wide = logits",
         "test_gpu_precision.py::test_loss_is_wide"),
        ("mean over all targets",
         ".sum() / kept.sum()", ".sum() / kept.numel()",
         "test_gpu_parity.py::test_loss_equals_the_reference"),
    ),
    *of(
        "gpu/attention.py",
        ("scores not divided by √K",
         "(q * q.shape[-1] ** -0.5)", "q",
         "test_gpu_model.py::"
         "test_the_map_and_the_fused_kernel_give_the_same_logits"),
        ("the open path without a mask",
         "scores.masked_fill(~mask, -torch.inf)", "scores",
         "test_gpu_model.py::"
         "test_the_future_changes_nothing_not_even_a_bit"),
        ("the fast path without a mask",
         "is_causal=True", "is_causal=False",
         "test_gpu_model.py::"
         "test_the_future_changes_nothing_not_even_a_bit"),
        ("query head h reads key head h mod G",
         "k = k.repeat_interleave(group, dim=1)",
         "k = k.repeat(1, group, 1, 1)",
         "test_gpu_parity.py::test_attention_equals_the_reference"),
        ("query head h reads value head h mod G",
         "v = v.repeat_interleave(group, dim=1)",
         "v = v.repeat(1, group, 1, 1)",
         "test_gpu_parity.py::test_attention_equals_the_reference"),
        ("keys not rotated",
         "q, k = rope(q, *settings), rope(k, *settings)",
         "q = rope(q, *settings)",
         "test_gpu_parity.py::test_attention_equals_the_reference"),
    ),
    *of(
        "gpu/swiglu.py",
        ("gate and up swapped",
         "F.silu(self.w_gate(x)) * self.w_up(x)",
         "F.silu(self.w_up(x)) * self.w_gate(x)",
         "test_gpu_parity.py::test_swiglu_equals_the_reference"),
    ),
    *of(
        "gpu/block.py",
        ("Pre-LN without the residual",
         "return x + self.swiglu(self.swiglu_norm(x))",
         "return self.swiglu(self.swiglu_norm(x))",
         "test_gpu_parity.py::"
         "test_logits_loss_and_every_gradient_equal_the_reference"),
        ("Post-LN without the residual",
         "self.swiglu_norm(x + self.swiglu(x))",
         "self.swiglu_norm(self.swiglu(x))",
         "test_gpu_parity.py::"
         "test_logits_loss_and_every_gradient_equal_the_reference"),
    ),
    *of(
        "gpu/embedding.py",
        ("a negative token gets through",
         "low < 0 or high >= size", "high >= size",
         "test_gpu_model.py::test_tokens_out_of_range_are_refused"),
    ),
    *of(
        "gpu/model.py",
        ("no final norm",
         "x = self.final_norm(x)", "x = x * 1",
         "test_gpu_parity.py::"
         "test_logits_loss_and_every_gradient_equal_the_reference"),
        ("branches not scaled by depth at the start",
         "(branch if writes else 1.0)", "1.0",
         "test_gpu_parity.py::"
         "test_both_faces_start_from_the_same_distribution"),
        ("weights not copied on the way out",
         ".numpy().copy()", ".numpy()",
         "test_gpu_model.py::test_to_reference_copies"),
    ),
]

SYMBOLIC = [
    *of(
        "symbolic/norm.py",
        ("RMSNorm's Jacobian without the outer product",
         "(delta - x[i] / r * x[j] / r / d)", "delta",
         "test_symbolic_norm.py::test_rms_norm_jacobian_for_every_width"),
        ("RMSNorm's Jacobian without the gain",
         "return g[i] / r * (delta", "return 1 / r * (delta",
         "test_symbolic_norm.py::test_rms_norm_jacobian_for_every_width"),
        ("LayerNorm's Jacobian without 11ᵀ/d",
         "(delta - 1 / d - unit[0] * unit[1] / d)",
         "(delta - unit[0] * unit[1] / d)",
         "test_symbolic_norm.py::test_layer_norm_jacobian_for_every_width"),
        ("the explicit Jacobian with the wrong sign",
         "sp.eye(size) - unit * unit.T / size",
         "sp.eye(size) + unit * unit.T / size",
         "test_symbolic_norm.py::"
         "test_explicit_jacobians_are_the_derivatives"),
        ("ε lost along x",
         "(1 - ms / r**2) / r", "(1 - ms / r**2) * r",
         "test_symbolic_norm.py::"
         "test_radial_gain_is_what_the_jacobian_does_along_x"),
    ),
    *of(
        "symbolic/softmax.py",
        ("Jacobian with the wrong sign",
         "sp.diag(*p) - p * p.T", "sp.diag(*p) + p * p.T",
         "test_symbolic_softmax.py::test_jacobian_is_diag_minus_outer"),
        ("the sink's logit in the numerators",
         "weights / (sp.exp(s) + sum(weights))",
         "(sp.exp(s) + weights[0]) * weights / sum(weights)",
         "test_symbolic_softmax.py::test_the_valve_opens_by_a_sigmoid"),
    ),
    *of(
        "symbolic/attention.py",
        ("scores not divided by √K",
         "keys * q / sp.sqrt(q.rows)", "keys * q",
         "test_symbolic_attention.py::"
         "test_jacobian_in_the_query_agrees_with_torch"),
        ("the key's Jacobian without − o",
         "(values[j, :].T - o)", "values[j, :].T",
         "test_symbolic_attention.py::test_jacobians_in_key_and_value"),
        ("the mask with the future in",
         "if s <= t else -sp.oo", "if s >= t else -sp.oo",
         "test_symbolic_attention.py::test_future_weights_are_exactly_"
         "zero_and_do_not_depend_on_the_future"),
    ),
    *of(
        "symbolic/rope.py",
        ("rotation the other way",
         "[[c, -s], [s, c]]", "[[c, s], [-s, c]]",
         "test_symbolic_rope.py::test_pairing_from_a_hand_computed_rotation"),
        ("the cross term's sign",
         "q[0] * k[1] - q[1] * k[0]", "q[1] * k[0] - q[0] * k[1]",
         "test_symbolic_rope.py::test_any_number_of_pairs"),
        ("exponent −i/K in place of −2i/K",
         "base ** (-2 * i / d_k)", "base ** (-i / d_k)",
         "test_symbolic_rope.py::test_published_wavelengths"),
        ("complex form without the conjugate",
         "q_complex * sp.conjugate(k_complex)", "q_complex * k_complex",
         "test_symbolic_rope.py::test_complex_form"),
    ),
    *of(
        "symbolic/swiglu.py",
        ("silu' without 1 − σ",
         "s * (1 + u * (1 - s))", "s * (1 + u)",
         "test_symbolic_swiglu.py::test_silu_derivative"),
        ("the product rule without the up path",
         "hidden = (sp.diag(*through_gate) * w_gate.T\n"
         "              + sp.diag(*through_up) * w_up.T)",
         "hidden = sp.diag(*through_gate) * w_gate.T",
         "test_symbolic_swiglu.py::"
         "test_swiglu_jacobian_by_differentiation"),
    ),
    *of(
        "symbolic/block.py",
        ("Post-LN's norm inside the branch",
         '"post": N * (1 + J), "pre"', '"post": 1 + J * N, "pre"',
         "test_symbolic_block.py::test_every_post_ln_path_meets_every_norm"),
        ("the product in the wrong order",
         "product = block_jacobian(placement, l) * product",
         "product = product * block_jacobian(placement, l)",
         "test_symbolic_block.py::test_later_sublayers_stand_to_the_left"),
    ),
    *of(
        "symbolic/loss.py",
        ("the target's logit added",
         "return sp.log(sp.Sum(sp.exp(z[k]), (k, 0, V - 1))) - z[y]",
         "return sp.log(sp.Sum(sp.exp(z[k]), (k, 0, V - 1))) + z[y]",
         "test_symbolic_swiglu.py::"
         "test_cross_entropy_gradient_for_every_vocabulary"),
        ("mean over all tokens",
         "sum(losses) / len(rows)", "sum(losses) / logits.rows",
         "test_symbolic_swiglu.py::"
         "test_ignored_tokens_have_no_gradient_and_no_weight"),
    ),
    *of(
        "symbolic/embedding.py",
        ("the last of repeated tokens wins",
         "rows[token, :] += dy.row(r)", "rows[token, :] = dy.row(r)",
         "test_symbolic_swiglu.py::test_the_embedding_gradient_scatter_adds"),
    ),
    *of(
        "symbolic/model.py",
        ("SwiGLU's χ_J without the up path",
         "return up_path, up_path + gate_path", "return up_path, gate_path",
         "test_symbolic_swiglu.py::"
         "test_swiglu_gains_agree_with_gauss_quadrature"),
        ("Pre-LN's stream grows from 2",
         "sp.sqrt(1 + J / (1 + l * f))", "sp.sqrt(1 + J / (2 + l * f))",
         "test_symbolic_swiglu.py::"
         "test_pre_ln_total_is_the_product_of_its_factors"),
    ),
]

FAULTS = [*REFERENCE, *FAST, *GPU, *SYMBOLIC]


def apply(fault, folder):
    """Put the fault into the copy of the library that `folder` holds."""
    source = Path(folder, LIBRARY, fault.path)
    text = source.read_text(encoding="utf-8")
    if text.count(fault.old) != 1:
        raise ValueError(
            f"{fault.path} holds {fault.old!r} {text.count(fault.old)} times; "
            f"the fault {fault.name!r} needs it exactly once"
        )
    source.write_text(text.replace(fault.old, fault.new), encoding="utf-8")


class FirstException:
    """A pytest plugin that keeps the name of the first exception."""

    name = ""

    def pytest_exception_interact(self, call):
        """Note the exception of the first test, or import, that fails."""
        self.name = self.name or call.excinfo.typename


def run_tests(folder, tests):
    """Run `tests` on the library in `folder`; this process must be fresh."""
    import pytest

    os.chdir(folder)
    sys.dont_write_bytecode = True
    near = {str(ROOT), str(ROOT / "tests")}
    sys.path[:] = [p for p in sys.path if p not in near]
    first = FirstException()
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    paths = [f"tests/{test}" for test in tests]
    with contextlib.redirect_stdout(io.StringIO()) as report:
        code = int(pytest.main([*options, *paths], plugins=[first]))
    used = Path(sys.modules[LIBRARY].__file__).resolve()
    if not used.is_relative_to(Path(folder).resolve()):
        raise RuntimeError(f"the tests ran on {used}, not on the copy")
    return Outcome(code, first.name, report.getvalue())


def try_out(tests, fault=None):
    """Return the outcome of `tests` on a copy, with the fault if any.

    The copy is a folder of its own, gone afterwards.
    """
    with tempfile.TemporaryDirectory() as folder:
        junk = shutil.ignore_patterns("__pycache__")
        for name in (LIBRARY, "tests", "book/_data"):
            shutil.copytree(ROOT / name, Path(folder, name), ignore=junk)
        shutil.copy(ROOT / "pyproject.toml", folder)
        if fault is not None:
            apply(fault, folder)
        return run_tests(folder, tests)


def try_fault(fault):
    """Return the outcome of the test that must notice the fault."""
    return try_out([fault.test], fault)


def is_caught(outcome):
    """Return whether a test failed, and not for a program that is broken."""
    return outcome.exit_code == 1 and outcome.exception not in BROKEN


def main(word=""):
    """Try the faults whose path or name holds `word`; return an exit code."""
    # Imported once, here, and inherited by every process that is forked.
    import numpy  # noqa: F401
    import pytest  # noqa: F401
    import sympy  # noqa: F401
    import torch

    torch.set_num_threads(1)
    chosen = [f for f in FAULTS if word in f.path or word in f.name]
    # A fresh process each: modules once imported would stay as they were.
    fork = multiprocessing.get_context("fork")
    with fork.Pool(os.cpu_count(), maxtasksperchild=1) as pool:
        clean = pool.apply(try_out, (sorted({f.test for f in chosen}),))
        if clean.exit_code != 0:
            print(f"{clean.report}\nThe tests fail without any fault.")
            return 1
        missed = 0
        outcomes = pool.imap(try_fault, chosen)
        for fault, outcome in zip(chosen, outcomes, strict=True):
            caught = is_caught(outcome)
            missed += not caught
            print(f"{'caught' if caught else 'MISSED'}  {fault.path:24} "
                  f"{fault.name:50} {outcome.exception}")
    print(f"{len(chosen) - missed} of {len(chosen)} faults caught")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
