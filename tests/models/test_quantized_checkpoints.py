"""Quantized checkpoints: weights are those that the packages dequantize, and where fbg has a kernel
for them, its integers are those of the file. tests/helpers/tiny_quantized.py has the cases.
"""

import json
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

import fbg
from fbg.networks.transformer import linears
from helpers import commands, tiny_outputs
from helpers.tiny_bert import change_json, write_json
from helpers.tiny_quantized import IDS, PREFIXES, QUANTIZED, Case, modules, names, read_case

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


def states(model: fbg.Model) -> np.ndarray:
    return model.forward(IDS).last_hidden_state


def load_unkept(directory: Path) -> fbg.Model:
    """The model of a checkpoint whose weights no kernel multiplies; it says so."""
    with pytest.warns(UserWarning, match=NO_KERNEL):
        return fbg.load(directory)


def test_every_case_is_tested() -> None:
    assert set(KEPT) == set(names())


@pytest.mark.parametrize("name", KEPT)
def test_floats_are_those_that_the_package_dequantizes(tmp_path: Path, isa: str, name: str) -> None:
    case = read_case(name)
    got = states(fbg.load(case.write(tmp_path), dtype="float32"))
    np.testing.assert_allclose(got, case.hidden, rtol=0, atol=1e-4)


@pytest.mark.parametrize("name", [name for name, dtype in KEPT.items() if dtype is None])
def test_weights_without_a_kernel_compute_in_float32(tmp_path: Path, name: str) -> None:
    case = read_case(name)
    model = load_unkept(case.write(tmp_path))
    assert model.dtype == "float32"
    np.testing.assert_allclose(states(model), case.hidden, rtol=0, atol=1e-4)


@pytest.mark.parametrize("name", [name for name, dtype in KEPT.items() if dtype is not None])
def test_integers_are_those_of_the_file(tmp_path: Path, isa: str, name: str) -> None:
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
def test_models_are_saved_and_pickled_as_they_were_loaded(tmp_path: Path, name: str) -> None:
    directory = read_case(name).write(tmp_path / "model")
    model = fbg.load(directory) if KEPT[name] else load_unkept(directory)
    model.save(tmp_path / "saved")
    saved = fbg.load(tmp_path / "saved")
    assert saved.dtype == model.dtype
    for other in (saved, pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(states(other), states(model))


def test_layers_that_share_a_product_keep_integers_of_different_groups(tmp_path: Path) -> None:
    """Some have offsets, and one scale stands for all inputs of others."""
    case = read_case("w4a16")
    settings: dict[str, Any] = json.loads(json.dumps(case.config["quantization_config"]))
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


def test_another_dtype_is_made_of_the_dequantized_weights(tmp_path: Path) -> None:
    directory = read_case("gptq").write(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        floats = fbg.load(directory, dtype="float32")
        assert fbg.load(directory, dtype="bfloat16").dtype == "bfloat16"
    with pytest.warns(UserWarning, match=r"quantized already .gptq. are quantized again.*'int4'"):
        model = fbg.load(directory, dtype="int8")
    assert {linear.dtype for linear in linears(model.network).values()} == {"int8"}
    np.testing.assert_allclose(states(model), states(floats), rtol=0, atol=0.2)


def test_single_layers_compute_in_another_dtype(tmp_path: Path) -> None:
    directory = read_case("w8a16").write(tmp_path)
    model = fbg.load(directory, higher_precision={"*.output": "bfloat16"})
    dtypes = {key: linear.dtype for key, linear in linears(model.network).items()}
    assert dtypes["layers.0.output"] == "bfloat16"
    assert dtypes["layers.0.qkv"] == "int8"


def test_integers_are_not_calibrated(tmp_path: Path) -> None:
    directory = read_case("w8a16").write(tmp_path)
    for way in (["a text"], "synthetic"):
        with pytest.raises(ValueError, match=r"calibrate must be None: .* are quantized already"):
            fbg.load(directory, dtype="int8", calibrate=way)


def test_an_adapter_is_merged_into_dequantized_weights(tmp_path: Path) -> None:
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


def test_info_says_what_stays_in_integers(tmp_path: Path) -> None:
    for name, wanted in (
        ("w8a8", "compressed-tensors: int8 in 2, floats in 2 of 4 linear layers"),
        ("awq", "awq: int4_offset in 2, floats in 2 of 4 linear layers"),
        ("bnb-nf4", "bitsandbytes: dequantized in 2, floats in 2 of 4 linear layers"),
    ):
        directory = read_case(name).write(tmp_path / name)
        facts = json.loads(commands.succeed("info", str(directory), "--json").output)
        assert facts["quantization"] == wanted
        assert wanted in commands.succeed("info", str(directory)).output


# --- What is not ignored ----------------------------------------------------------------------


def change_settings(case: Case, *path: str, **changes: Any) -> dict[str, Any]:
    """The settings with other values, in the object at a path."""
    settings: dict[str, Any] = json.loads(json.dumps(case.config["quantization_config"]))
    inner = settings
    for key in path:
        inner = inner[key]
    inner.update(changes)
    return settings


GROUP = ("config_groups", "group_0")
SETTINGS: list[tuple[str, tuple[str, ...], dict[str, Any], str]] = [
    ("w8a8", (), {"quant_method": "aqlm"}, "quant_method must be one of compressed-tensors, gptq"),
    ("w8a8", (), {"format": "marlin-24"}, "format must be one of"),
    ("w8a8", (), {"sparsity_config": {"format": "sparse-24-bitmask"}}, "sparsity_config must be"),
    ("w8a8", (), {"transform_config": {"config_groups": {"u": {}}}}, "transform_config must be"),
    ("w8a8", (), {"kv_cache_scheme": {"num_bits": 8}}, "kv_cache_scheme must be left out"),
    ("w8a8", (), {"config_groups": {}}, "config_groups must be an object"),
    ("w8a8", (), {"weight_rotation": True}, "quantization_config.weight_rotation must be left out"),
    ("w8a8", (), {"ignore": ["re:("]}, "ignore must be a list of names and simple regular"),
    ("w8a8", (), {"ignore": [r"re:(a+)+b"]}, "ignore must be a list of names and simple regular"),
    ("w8a8", (), {"ignore": "lm_head"}, "ignore must be a list of names"),
    ("w8a8", GROUP, {"output_activations": {}}, "output_activations must be null"),
    ("w8a8", GROUP, {"targets": None}, "belongs to a layer that no entry of config_groups"),
    ("w8a8", GROUP, {"targets": ["lm_head"]}, "belongs to a layer that no entry of config_groups"),
    ("w8a8", (*GROUP, "weights"), {"num_bits": 3}, "num_bits must be 4 or 8"),
    ("w8a8", (*GROUP, "weights"), {"strategy": "group"}, "strategy must be one that agrees"),
    ("w8a8", (*GROUP, "weights"), {"type": "float"}, "must have dtype float8_e4m3fn"),
    ("w8a8", (*GROUP, "weights"), {"head_scale": 2}, "weights.head_scale must be left out or off"),
    ("w8a8-offset", (*GROUP, "weights"), {"symmetric": True}, "weight_zero_point must be 0"),
    ("w4a16", (*GROUP, "weights"), {"group_size": 48}, "which groups of 48 do not divide"),
    ("gptq", (), {"bits": 3}, "bits must be 4 or 8"),
    ("gptq", (), {"checkpoint_format": "marlin"}, "checkpoint_format must be one of gptq, gptq_v2"),
    ("gptq", (), {"dynamic": {"-:lm_head": {}}}, "dynamic must be left out"),
    ("awq", (), {"bits": 8}, "bits must be 4"),
    ("awq", (), {"version": "gemv"}, "version must be gemm"),
    ("awq", (), {"group_size": 48}, "which groups of 48 do not divide"),
    ("fp8-block", (), {"weight_block_size": [32]}, "weight_block_size must be two integers"),
    ("ao-int8", (), {"quant_type": "int8_weight_only"}, "quant_type must be an object"),
    ("ao-int8", ("quant_type", "default"), {"_type": "Int4WeightOnlyConfig"}, "quant_type must be"),
    ("fp8-block", (), {"weight_block_size": [10**400, 1]}, "weight_block_size must be two"),
    ("fp8-block", (), {"weight_block_size": [2**40, 2**40]}, r"must have shape \(1, 1\)"),
    ("bnb-int8", (), {"load_in_4bit": True}, "load_in_4bit must be true, or load_in_8bit"),
]


@pytest.mark.parametrize(("name", "path", "changes", "message"), SETTINGS)
def test_a_setting_that_fbg_does_not_know_is_refused(
    tmp_path: Path, name: str, path: tuple[str, ...], changes: dict[str, Any], message: str
) -> None:
    case = read_case(name)
    directory = case.write(tmp_path)
    change_json(
        directory / "config.json", quantization_config=change_settings(case, *path, **changes)
    )
    with pytest.raises(fbg.ModelError, match=message):
        fbg.load(directory, dtype="float32")


@pytest.mark.parametrize("name", ["w8a8", "awq", "bnb-int8"])
def test_tensors_of_a_layer_that_is_said_to_be_floats_are_refused(
    tmp_path: Path, name: str
) -> None:
    case = read_case(name)
    key = {"w8a8": "ignore", "awq": "modules_to_not_convert"}.get(name, "llm_int8_skip_modules")
    ignored = change_settings(case, **{key: [QUANTIZED[case.family][-1]]})
    with pytest.raises(fbg.ModelError, match=r"is missing|must have dtype float32"):
        fbg.load(case.write(tmp_path, quantization_config=ignored))


@pytest.mark.parametrize("name", ["w8a8", "gptq", "fp8-block", "bnb-nf4"])
def test_tensors_that_the_format_does_not_have_are_named(tmp_path: Path, name: str) -> None:
    case = read_case(name)
    extra = f"{modules(case.family)[0]}.weight_rotation"
    case.tensors[extra] = np.ones(3, np.float32)
    with pytest.raises(fbg.ModelError, match=f"tensor {extra} has no place"):
        fbg.load(case.write(tmp_path), dtype="float32")


def test_quantized_tensors_without_settings_are_refused(tmp_path: Path) -> None:
    for name in KEPT:
        case = read_case(name)
        directory = case.write(tmp_path / name)
        change_json(directory / "config.json", quantization_config=None)
        with pytest.raises(fbg.ModelError, match=r"tensor .* (is missing|must have dtype)"):
            fbg.load(directory, dtype="float32")


# --- Damaged tensors --------------------------------------------------------------------------


def wrong_group(groups: np.ndarray) -> np.ndarray:
    return np.where(np.arange(groups.size) == 3, 9, groups).astype(groups.dtype)


def one_nan(codes: np.ndarray) -> np.ndarray:
    raw = codes.view(np.uint8).copy()
    raw[1, 2] = 0x7F
    return raw.view(codes.dtype)


def state_of(**changes: Any) -> Any:
    def change(stored: np.ndarray) -> np.ndarray:
        text = json.dumps({**json.loads(stored.tobytes()), **changes})
        return np.frombuffer(text.encode(), np.uint8)

    return change


STATE = "weight.quant_state.bitsandbytes__nf4"
DAMAGE: list[tuple[str, str, Any, str]] = [
    ("w8a8", "weight_scale", None, "is missing"),
    ("w8a8", "weight_scale", lambda s: s[:-1], r"must have shape \(64, 1\) or \(64,\)"),
    ("w8a8", "weight_scale", lambda s: s * np.nan, "holds NaN or infinite values"),
    ("w8a8", "weight_scale", lambda s: s.astype(np.int32), "must have dtype float32"),
    ("w8a8", "weight", lambda w: w.astype(np.float32), "must have dtype int8, got float32"),
    ("w8a8", "weight", lambda w: w[:, :-1], r"must have shape \(64, 64\)"),
    ("w8a8", "weight", lambda w: w.reshape(-1), "must be a matrix"),
    ("w8a8-offset", "weight_zero_point", None, "is missing"),
    ("w8a8-offset", "weight_zero_point", lambda z: z[1:], r"must have shape \(64, 1\)"),
    ("w4a16", "weight_packed", lambda w: w[:, :-1], r"must have shape \(64, 8\), got \(64, 7\)"),
    ("w4a16", "weight_packed", lambda w: w[:-1], r"must have shape \(64, 8\), got \(63, 8\)"),
    ("w4a16", "weight_shape", lambda w: w * -1, "must be two sizes"),
    ("w4a16", "weight_shape", lambda w: w * 2, r"must have shape \(128, 16\)"),
    ("w4a16", "weight_shape", lambda w: w[:1], r"must have shape \(2,\)"),
    ("w4a16", "weight_scale", lambda s: s[:, :1], r"must have shape \(64, 2\), got \(64, 1\)"),
    ("w4a16-offset", "weight_zero_point", lambda z: z[1:], r"must have shape \(8, 2\)"),
    ("w4a16-order", "weight_g_idx", wrong_group, "must name one of 2 groups for each input"),
    ("w4a16-order", "weight_g_idx", lambda g: g * 0, "must be a permutation of groups of 32"),
    ("w4a16-order", "weight_g_idx", lambda g: g[1:], r"must have shape \(64,\)"),
    ("gptq", "qzeros", lambda z: z[:, 1:], r"must have shape \(2, 8\)"),
    ("gptq", "scales", lambda s: s[1:], r"must have shape \(2, 64\)"),
    ("gptq", "scales", lambda s: s * np.float16(np.inf), "holds NaN or infinite values"),
    ("gptq", "qweight", lambda w: w[1:], r"must have shape"),
    ("gptq", "qweight", lambda w: w.astype(np.int64), "must have dtype int32"),
    ("gptq-order", "g_idx", wrong_group, "must name one of 2 groups for each input"),
    ("gptq-order", "g_idx", lambda g: g - 1, "must name one of 2 groups for each input"),
    ("gptq-order", "g_idx", lambda g: g * 0, "must be a permutation of groups of 32"),
    ("awq", "qweight", lambda w: w[:, 1:], r"must have shape"),
    ("awq", "qzeros", lambda z: z[1:], r"must have shape \(2, 8\)"),
    ("awq", "scales", None, "is missing"),
    ("fp8-block", "weight", one_nan, "holds NaN or infinite values"),
    ("fp8-block", "weight_scale_inv", lambda s: s[1:], r"must have shape \(2, 3\)"),
    ("fp8", "weight_scale_inv", lambda s: np.full(2, s), "must have shape"),
    ("fp8-channel", "weight", one_nan, "holds NaN or infinite values"),
    ("nvfp4", "weight_scale", one_nan, "holds NaN or infinite values"),
    ("nvfp4", "weight_scale", lambda s: s[:, 1:], r"must have shape \(64, 4\)"),
    ("nvfp4", "weight_global_scale", lambda s: s * 0, "must be more than 0"),
    ("mxfp4", "weight_scale", lambda s: s * 0 + 255, "holds NaN"),
    ("mxfp4", "weight_packed", lambda w: w[:, 1:], "do not divide"),
    ("ao-int8", "_weight_scale", lambda s: s[:-1], r"must divide a weight of shape \(64, 64\)"),
    ("ao-int8", "_weight_zero_point", lambda z: z[1:], r"must have shape \(64, 1\)"),
    ("ao-int4", "_weight_qdata", lambda q: q + 8, "must be within -8 and 7"),
    ("ao-float8", "_weight_qdata", one_nan, "holds NaN or infinite values"),
    ("bnb-int8", "SCB", lambda s: s[1:], r"must have shape \(64,\)"),
    ("bnb-int8", "weight_format", lambda f: f + 1, "must be 0, for rows"),
    ("bnb-nf4", "weight", lambda w: w[1:], r"must have shape \(2048, 1\), got \(2047, 1\)"),
    ("bnb-nf4", "weight.absmax", lambda a: a[1:], r"must have shape \(64,\)"),
    ("bnb-nf4", "weight.quant_map", lambda m: m[1:], r"must have shape \(16,\)"),
    ("bnb-nf4", STATE, lambda s: s[1:], "must describe a weight"),
    ("bnb-nf4", STATE, state_of(shape=[64]), "must describe a weight"),
    ("bnb-nf4", STATE, state_of(shape=[64, 65]), r"must have shape \(2080, 1\)"),
    ("bnb-nf4", STATE, state_of(blocksize=0), "must describe a weight"),
    ("bnb-nf4", STATE, state_of(blocksize=2**40), r"must have shape \(1,\)"),
    ("bnb-nf4", STATE, state_of(blocksize=10**400), "must describe a weight"),
    ("bnb-nf4", STATE, None, "is missing"),
    ("bnb-nf4-double", "weight.nested_absmax", lambda a: np.append(a, a), "must have shape"),
    ("bnb-nf4-double", "weight.nested_quant_map", None, "is missing"),
    ("bnb-nf4-double", STATE, state_of(nested_offset="x"), "must describe a weight"),
]


@pytest.mark.parametrize(("name", "part", "damage", "message"), DAMAGE)
def test_a_damaged_tensor_is_named(
    tmp_path: Path, name: str, part: str, damage: Any, message: str
) -> None:
    case = read_case(name)
    key = f"{modules(case.family)[-1]}.{part}"
    value = case.tensors.pop(key)
    if damage is not None:
        case.tensors[key] = np.ascontiguousarray(damage(value))
    directory = case.write(tmp_path)
    for dtype in ("float32", None):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            with pytest.raises(fbg.ModelError, match=message) as caught:
                fbg.load(directory, dtype=dtype)
        assert "model.safetensors: tensor " in str(caught.value)
        assert modules(case.family)[-1] in str(caught.value)
