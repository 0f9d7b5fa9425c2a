"""Quantized checkpoints whose settings fbg does not know, or whose tensors are damaged: the error
names the key or the tensor.
"""

import json
import warnings

import numpy as np
import pytest

import fbg
from helpers.tiny_bert import change_json
from helpers.tiny_quantized import (
    IDS,
    PREFIXES,
    QUANTIZED,
    modules,
    names,
    read_case,
)


def states(model):
    return model.forward(IDS).last_hidden_state


def change_settings(case, *path, **changes):
    """The settings with other values, in the object at a path."""
    settings = json.loads(json.dumps(case.config["quantization_config"]))
    inner = settings
    for key in path:
        inner = inner[key]
    inner.update(changes)
    return settings


AO = ("quant_type", "default", "_data")
GROUP = ("config_groups", "group_0")
SETTINGS = [
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
    ("gptq", (), {"desc_act": "yes"}, "desc_act must be true or false"),
    ("gptq", (), {"bits": 5}, "bits must be 2, 3, 4 or 8"),
    ("gptq", (), {"bits": 3}, "has 8 rows, which end within a code"),
    ("gptq", (), {"checkpoint_format": "marlin"}, "checkpoint_format must be one of gptq, gptq_v2"),
    ("gptq", (), {"dynamic": {"-:lm_head": {}}}, "dynamic must be left out"),
    ("awq", (), {"bits": 8}, "bits must be 4"),
    ("awq", (), {"version": "gemv"}, "version must be gemm"),
    ("awq", (), {"group_size": 48}, "which groups of 48 do not divide"),
    ("fp8-block", (), {"weight_block_size": [32]}, "weight_block_size must be two integers"),
    ("ao-int8", (), {"quant_type": "int8_weight_only"}, "quant_type must be an object"),
    ("ao-int8", AO[:2], {"_type": "Int4WeightOnlyConfig"}, "_type must be one of Int8WeightOnly"),
    ("ao-int8", AO, {"granularity": {"_type": "PerRow", "_data": {"dim": 0}}}, "must be PerRow"),
    ("ao-int8", AO, {"head_scale": 3}, "_data.head_scale must be left out or off"),
    ("ao-int4", (*AO, "granularity"), {"_data": {"group_size": 48}}, "groups of 48 do not divide"),
    ("ao-int4", AO, {"intx_packing_format": "OPAQUE_ATEN_KLEIDIAI"}, "must be UNPACKED_TO_INT8"),
    ("fp8-block", (), {"weight_block_size": [10**60, 1]}, "weight_block_size must be two"),
    ("fp8-block", (), {"weight_block_size": [2**40, 2**40]}, r"must have shape \(1, 1\)"),
    ("bnb-int8", (), {"load_in_4bit": True}, "load_in_4bit must be true, or load_in_8bit"),
]


@pytest.mark.parametrize(("name", "path", "changes", "message"), SETTINGS)
def test_a_setting_that_fbg_does_not_know_is_refused(tmp_path, name, path, changes, message):
    case = read_case(name)
    directory = case.write(tmp_path)
    change_json(
        directory / "config.json", quantization_config=change_settings(case, *path, **changes)
    )
    with pytest.raises(fbg.ModelError, match=message):
        fbg.load(directory, dtype="float32")


@pytest.mark.parametrize("name", ["w8a8", "awq", "bnb-int8"])
def test_tensors_of_a_layer_that_is_said_to_be_floats_are_refused(tmp_path, name):
    case = read_case(name)
    key = {"w8a8": "ignore", "awq": "modules_to_not_convert"}.get(name, "llm_int8_skip_modules")
    ignored = change_settings(case, **{key: [QUANTIZED[case.family][-1]]})
    with pytest.raises(fbg.ModelError, match=r"is missing|must have dtype float32"):
        fbg.load(case.write(tmp_path, quantization_config=ignored))


@pytest.mark.parametrize("name", ["w8a8", "gptq", "fp8-block", "bnb-nf4"])
def test_tensors_that_the_format_does_not_have_are_named(tmp_path, name):
    case = read_case(name)
    extra = f"{modules(case.family)[0]}.weight_rotation"
    case.tensors[extra] = np.ones(3, np.float32)
    with pytest.raises(fbg.ModelError, match=f"tensor {extra} has no place"):
        fbg.load(case.write(tmp_path), dtype="float32")


def test_biases_of_layers_without_one_may_be_zeros(tmp_path):
    """Older packages write them for all layers."""
    case = read_case("gptq")
    plain = states(fbg.load(case.write(tmp_path)))
    name = f"{PREFIXES['qwen3']}mlp.down_proj.bias"
    case.tensors[name] = np.zeros(64, np.float16)
    np.testing.assert_array_equal(states(fbg.load(case.write(tmp_path))), plain)
    case.tensors[name][3] = 1
    with pytest.raises(fbg.ModelError, match=f"tensor {name} has no place"):
        fbg.load(case.write(tmp_path))


def test_quantized_tensors_without_settings_are_refused(tmp_path):
    for name in names():
        case = read_case(name)
        directory = case.write(tmp_path / name)
        change_json(directory / "config.json", quantization_config=None)
        with pytest.raises(fbg.ModelError, match=r"tensor .* (is missing|must have dtype)"):
            fbg.load(directory, dtype="float32")


# --- Damaged tensors --------------------------------------------------------------------------


def wrong_group(groups):
    return np.where(np.arange(groups.size) == 3, 9, groups).astype(groups.dtype)


def one_nan(codes):
    raw = codes.view(np.uint8).copy()
    raw[1, 2] = 0x7F
    return raw.view(codes.dtype)


def state_of(**changes):
    def change(stored):
        text = json.dumps({**json.loads(stored.tobytes()), **changes})
        return np.frombuffer(text.encode(), np.uint8)

    return change


STATE = "weight.quant_state.bitsandbytes__nf4"
DAMAGE = [
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
    ("ao-int8", "_weight_scale", lambda s: s[:-1], r"must have shape \(64, 1\)"),
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
def test_a_damaged_tensor_is_named(tmp_path, name, part, damage, message):
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


def damaged(value):
    """Tensors of other shapes and types, all of which differ from this one."""
    raw = np.ascontiguousarray(value)
    others = [raw.reshape(-1)[:-1], raw[None], np.append(raw.reshape(-1), raw.reshape(-1))]
    if raw.ndim == 2:
        others += [raw[1:], raw[:, 1:], raw.T.copy(), np.concatenate([raw, raw])]
    if raw.dtype.kind in "iu" and raw.dtype.itemsize > 1:
        others.append(raw.astype(np.float64))
    if raw.dtype.itemsize == 1:
        others += [raw.view(np.uint8).astype(np.int16), raw.astype(np.float32).astype(np.float64)]
    return [other for other in others if (other.shape, other.dtype) != (raw.shape, raw.dtype)]


@pytest.mark.parametrize("name", names())
def test_a_tensor_of_another_shape_or_type_is_refused_or_changes_nothing(tmp_path, name):
    case = read_case(name)
    module = modules(case.family)[-1]
    wanted = states(fbg.load(case.write(tmp_path), dtype="float32"))
    for key, value in list(case.tensors.items()):
        if not key.startswith(f"{module}.") or key.endswith(".bias"):
            continue
        for other in (None, *damaged(value)):
            del case.tensors[key]
            if other is not None:
                case.tensors[key] = other
            try:
                got = states(fbg.load(case.write(tmp_path), dtype="float32"))
            except fbg.ModelError as error:
                assert module in str(error)
            else:
                np.testing.assert_array_equal(got, wanted, err_msg=f"{key} {other}")
            case.tensors[key] = value
