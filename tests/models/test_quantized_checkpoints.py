"""Quantized checkpoints: weights are those that the packages dequantize, and where fbg has a kernel
for them, its integers are those of the file. tests/helpers/tiny_quantized.py has the cases.
"""

import json
import pickle
import warnings

import numpy as np
import pytest
from safetensors.numpy import save_file

import fbg
from fbg.networks.transformer import linears
from helpers import commands, tiny_outputs
from helpers.tiny_bert import write_json
from helpers.tiny_families import CONFIGS
from helpers.tiny_models import golden_inputs, tiny_model, write_checkpoint
from helpers.tiny_quantized import IDS, PREFIXES, names, read_case

# The dtype in which a model keeps the integers; None: it computes in float32.
KEPT = {
    **dict.fromkeys(("w8a8", "w8a8-static", "w8a8-tensor", "w8a8-offset", "w8a16"), "int8"),
    **dict.fromkeys(("w4a16", "gptq", "awq-symmetric"), "int4"),
    **dict.fromkeys(("w4a16-offset", "gptq-offset", "awq"), "int4_offset"),
    **{"w4a16-channel": "int4_g128", "gptq-v2": "int4_g128_offset", "gptq-8bit": "int8"},
    **dict.fromkeys(("bnb-int8", "ao-int8", "ao-w8a8"), "int8"),
    **{"ao-int4": "int4", "ao-int4-offset": "int4_offset"},
    **dict.fromkeys(
        (
            *("w4a16-order", "fp8-channel", "fp8-tensor", "nvfp4", "mxfp4", "gptq-order"),
            *("gptq-8bit-groups", "fp8-block", "fp8", "fbgemm", "bnb-nf4", "bnb-nf4-double"),
            *("bnb-fp4", "ao-float8"),
        ),
        None,
    ),
}
NO_KERNEL = "2 of 4 linear layers are dequantized and compute in float32, because fbg has no kernel"


def states(model):
    return model.forward(IDS).last_hidden_state


def load_unkept(directory):
    """The model of a checkpoint whose weights no kernel multiplies; it says so."""
    with pytest.warns(UserWarning, match=NO_KERNEL):
        return fbg.load(directory)


def test_every_case_is_tested():
    assert set(KEPT) == set(names())


@pytest.mark.parametrize("name", KEPT)
def test_floats_are_those_that_the_package_dequantizes(tmp_path, isa, name):
    case = read_case(name)
    got = states(fbg.load(case.write(tmp_path), dtype="float32"))
    np.testing.assert_allclose(got, case.hidden, rtol=0, atol=1e-4)


@pytest.mark.parametrize("name", [name for name, dtype in KEPT.items() if dtype is None])
def test_weights_without_a_kernel_compute_in_float32(tmp_path, name):
    case = read_case(name)
    model = load_unkept(case.write(tmp_path))
    assert model.dtype == "float32"
    np.testing.assert_allclose(states(model), case.hidden, rtol=0, atol=1e-4)


@pytest.mark.parametrize("name", [name for name, dtype in KEPT.items() if dtype is not None])
def test_integers_are_those_of_the_file(tmp_path, isa, name):
    case, dtype = read_case(name), KEPT[name]
    model = fbg.load(case.write(tmp_path))
    assert model.dtype == dtype
    layers = linears(model.network)
    kept = {key for key, linear in layers.items() if linear.dtype == dtype}
    own = {"bert": {"attention_output", "output"}, "qwen3": {"qkv", "output"}}[case.family]
    assert kept == {f"layers.0.{part}" for part in own}
    assert {linear.dtype for key, linear in layers.items() if key not in kept} == {"float32"}
    packed = layers["layers.0.output"].packed
    np.testing.assert_array_equal(packed.unpack().view(np.int8).T, case.integers)
    got = states(model)
    cosine = np.sum(got * case.hidden) / np.linalg.norm(got) / np.linalg.norm(case.hidden)
    assert cosine > 0.9995
    np.testing.assert_array_equal(states(fbg.load(tmp_path, dtype=dtype)), got)
    other = fbg.load(tmp_path, num_threads=2).forward(IDS[:, :5]).last_hidden_state
    alone = model.forward(IDS[:, :5]).last_hidden_state
    np.testing.assert_array_equal(alone, other)


@pytest.mark.parametrize("name", ["w8a8-offset", "gptq-offset", "fp8-block"])
def test_models_are_saved_and_pickled_as_they_were_loaded(tmp_path, name):
    directory = read_case(name).write(tmp_path / "model")
    model = fbg.load(directory) if KEPT[name] else load_unkept(directory)
    model.save(tmp_path / "saved")
    saved = fbg.load(tmp_path / "saved")
    assert saved.dtype == model.dtype
    for other in (saved, pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(states(other), states(model))


def test_layers_that_share_a_product_keep_integers_of_different_groups(tmp_path):
    """Some have offsets, and one scale stands for all inputs of others."""
    case = read_case("w4a16")
    settings = json.loads(json.dumps(case.config["quantization_config"]))
    group = settings["config_groups"]["group_0"]
    channel = read_case("w4a16-channel")
    one = {**group, "targets": [r"re:.*\.q_proj$"]}
    one["weights"] = {**group["weights"], "group_size": None, "strategy": "channel"}
    settings["config_groups"] = {"group_0": group, "group_1": one}
    name = f"{PREFIXES['qwen3']}self_attn.q_proj"
    for part in ("weight_packed", "weight_scale", "weight_shape"):
        case.tensors[f"{name}.{part}"] = channel.tensors[f"{name}.{part}"]
    model = fbg.load(case.write(tmp_path, quantization_config=settings))
    assert model.dtype == "int4"
    packed = linears(model.network)["layers.0.qkv"].packed
    scale = np.asarray(packed.scale, np.float32)
    stored = case.tensors[f"{name}.weight_scale"].astype(np.float16).astype(np.float32)
    np.testing.assert_array_equal(scale[:, : len(stored)], np.repeat(stored.T, 2, axis=0))


def test_another_dtype_is_made_of_the_dequantized_weights(tmp_path):
    directory = read_case("gptq").write(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        floats = fbg.load(directory, dtype="float32")
        assert fbg.load(directory, dtype="bfloat16").dtype == "bfloat16"
    with pytest.warns(UserWarning, match=r"quantized already .gptq. are quantized again.*'int4'"):
        model = fbg.load(directory, dtype="int8")
    assert {linear.dtype for linear in linears(model.network).values()} == {"int8"}
    np.testing.assert_allclose(states(model), states(floats), rtol=0, atol=0.2)


def test_single_layers_compute_in_another_dtype(tmp_path):
    directory = read_case("w8a16").write(tmp_path)
    model = fbg.load(directory, higher_precision={"*.output": "bfloat16"})
    dtypes = {key: linear.dtype for key, linear in linears(model.network).items()}
    assert dtypes["layers.0.output"] == "bfloat16"
    assert dtypes["layers.0.qkv"] == "int8"


def test_integers_are_not_calibrated(tmp_path):
    directory = read_case("w8a16").write(tmp_path)
    for way in (["a text"], "synthetic"):
        with pytest.raises(ValueError, match=r"calibrate must be None: .* are quantized already"):
            fbg.load(directory, dtype="int8", calibrate=way)


def test_an_adapter_is_merged_into_dequantized_weights(tmp_path):
    case = read_case("bnb-nf4")
    directory = case.write(tmp_path / "model")
    name = f"{PREFIXES['qwen3']}mlp.down_proj"
    down, up = tiny_outputs.random("a", 2, 64), tiny_outputs.random("b", 64, 2)
    stem = f"base_model.model.{name}"
    (directory / "mine").mkdir()
    write_json(
        directory / "mine" / "adapter_config.json", {"peft_type": "LORA", "r": 2, "lora_alpha": 2}
    )
    parts = {f"{stem}.lora_A.weight": down, f"{stem}.lora_B.weight": up}
    save_file(parts, directory / "mine" / "adapter_model.safetensors")
    plain = fbg.load(directory, dtype="float32")
    merged = fbg.load(directory, dtype="float32", adapter="mine")
    weights = [linears(m.network)["layers.0.output"].packed.unpack() for m in (plain, merged)]
    np.testing.assert_allclose(weights[1] - weights[0], (up @ down).T, rtol=0, atol=1e-5)


def test_info_says_what_stays_in_integers(tmp_path):
    for name, wanted in (
        ("w8a8", "compressed-tensors: int8 in 2, floats in 2 of 4 linear layers"),
        ("awq", "awq: int4_offset in 2, floats in 2 of 4 linear layers"),
        ("bnb-nf4", "bitsandbytes: dequantized in 2, floats in 2 of 4 linear layers"),
    ):
        directory = read_case(name).write(tmp_path / name)
        facts = json.loads(commands.succeed("info", str(directory), "--json").output)
        assert facts["quantization"] == wanted
        assert wanted in commands.succeed("info", str(directory)).output


CHANNELS = {"num_bits": 8, "strategy": "channel"}
EVERY_WEIGHT = {
    "quant_method": "compressed-tensors",
    "format": "int-quantized",
    "config_groups": {"all": {"targets": ["Linear", "Embedding"], "weights": CHANNELS}},
}


@pytest.mark.parametrize("name", CONFIGS)
def test_weights_of_every_family_may_be_quantized(tmp_path, name):
    """All matrices are, also those that are no weights of linear layers."""
    tiny = tiny_model(name)
    stored, dense = {}, {}
    for key, value in tiny.tensors.items():
        stored[key] = dense[key] = value
        if value.ndim == 2 and key.endswith(".weight"):
            scale = np.abs(value).max(axis=1, keepdims=True) / np.float32(127)
            codes = np.rint(value / scale).astype(np.int8)
            stored |= {key: codes, f"{key}_scale": scale}
            dense[key] = codes * scale
    config = {**tiny.config, "quantization_config": EVERY_WEIGHT}
    quantized = write_checkpoint(tmp_path / "quantized", config, stored)
    plain = write_checkpoint(tmp_path / "plain", tiny.config, dense)
    ids = golden_inputs(tiny.config)["full"][:, :9]
    wanted = fbg.load(plain).forward(ids).last_hidden_state
    got = fbg.load(quantized, dtype="float32").forward(ids).last_hidden_state
    np.testing.assert_array_equal(got, wanted)
    model = fbg.load(quantized)
    assert model.dtype == "int8"
    floats = linears(fbg.load(plain).network)
    for key, linear in linears(model.network).items():
        packed = linear.packed
        if packed.dtype == "int8":
            values = packed.unpack().astype(np.float32) * packed.scale
            np.testing.assert_array_equal(values, floats[key].packed.unpack())
    assert np.isfinite(model.forward(ids).last_hidden_state).all()
