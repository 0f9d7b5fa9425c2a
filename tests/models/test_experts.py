"""Mixtures of experts in every dtype, saved, and with experts that no token goes to."""

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import fbg
from fbg.networks.transformer import linears
from fbg.reports.profiling import profile
from fbg.reports.timed_network import TimedNetwork
from helpers.formulas import cosines
from helpers.tiny_bert import wordpiece
from helpers.tiny_families import VOCABULARY
from helpers.tiny_models import golden_inputs, tiny_model, write_tiny

NAME = "nomic_bert-moe"
TEXTS = ["word5 word7 word9", "word1", "word3 word4 word5 word6 word8 word9 word2"]


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    tokenizer = wordpiece(VOCABULARY)
    return write_tiny(tmp_path_factory.mktemp(NAME), NAME, tokenizer=tokenizer)


def test_each_expert_has_its_own_layers(directory):
    names = linears(fbg.load(directory).network)
    experts = [name for name in names if ".experts." in name]
    assert len(experts) == 2 * 2 * 5
    assert "layers.1.experts.parts.4.output" in experts
    assert "layers.1.intermediate" not in names and "layers.2.intermediate" in names


@pytest.mark.parametrize("dtype", ["int8", "int4", "int4_g64_offset"])
@pytest.mark.parametrize("calibrated", [False, True])
def test_quantized_experts_are_near(directory, dtype, calibrated):
    texts = TEXTS * 4 if calibrated else None
    model = fbg.load(directory, dtype=dtype, calibrate=texts)
    hidden = model.forward(golden_inputs(tiny_model(NAME).config)["full"]).last_hidden_state
    wanted = tiny_model(NAME).golden["full_hidden"]
    least = 0.99 if dtype == "int8" else 0.9
    assert cosines(hidden.reshape(wanted.shape), wanted).mean() >= least


def test_a_profile_counts_the_rows_that_come_to_experts(directory):
    config = tiny_model(NAME).config
    hidden, wide, layers = config["n_embd"], config["n_inner"], config["n_layer"]
    tokens = 10
    ops = TimedNetwork(fbg.load(directory).network).ops(tokens, 1)
    numbered = {f"layer {n + 1}" for n in range(layers)}
    assert {op.layer for op in ops} == {"embeddings", *numbered, "other"}
    routed = [op for op in ops if op.sub_layer == "routing to experts"]
    assert {op.layer for op in routed} == {"layer 2", "layer 4"}
    for part in ("intermediate linear, activation", "output linear"):
        work = [op.operations for op in ops if op.sub_layer == part and op.layer == "layer 2"]
        rows = tokens * config["moe_top_k"]
        assert len(work) == 5 and sum(work) == pytest.approx(2 * rows * hidden * wide)
    assert "routing to experts" in str(profile(directory, [4], num_threads=[1], rounds=1))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8", "int4"])
def test_a_saved_mixture_has_the_same_bits(directory, tmp_path, dtype):
    model = fbg.load(directory, dtype=dtype)
    model.save(tmp_path / "saved")
    saved = fbg.load(tmp_path / "saved")
    np.testing.assert_array_equal(saved.encode(TEXTS), model.encode(TEXTS))
    np.testing.assert_array_equal(model.encode(TEXTS)[1], model.encode(TEXTS[1]))


@pytest.mark.parametrize("dtype", ["float32", "int8", "int4"])
def test_an_expert_may_get_no_token(tmp_path, dtype):
    """Every token goes to the first two of five experts, also of those that are observed."""
    file = write_tiny(tmp_path, NAME) / "model.safetensors"
    tensors = load_file(file)
    for name, tensor in tensors.items():
        if "router" in name:
            tensor[:] = 0  # equal weights: the first come first
        if "norm1.bias" in name:
            tensor[:] = 1
    save_file(tensors, file)
    model = fbg.load(tmp_path, dtype=dtype, calibrate=None if dtype == "float32" else TEXTS)
    hidden = model.forward([[5, 6, 7]]).last_hidden_state
    assert np.isfinite(hidden).all()
    for name, tensor in tensors.items():
        if "experts.mlp" in name:
            tensor.reshape(5, -1)[2:] *= 3  # which must change nothing
    save_file(tensors, file)
    other = fbg.load(tmp_path, dtype=dtype, calibrate=None if dtype == "float32" else TEXTS)
    np.testing.assert_array_equal(other.forward([[5, 6, 7]]).last_hidden_state, hidden)
