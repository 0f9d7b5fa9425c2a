"""GPTQ with codes of 2 and 3 bits: there is no kernel, and weights are dequantized exactly."""

import numpy as np
import pytest

import fbg
from helpers.tiny_models import write_checkpoint
from helpers.tiny_quantized import IDS, modules, read_case

GROUP = 32
# What gptqmodel and auto-gptq take from version 2 to write version 1, by bits and column modulo 3.
TAKEN = {
    2: [0b01010101010101010101010101010101],
    3: [
        0b00100100100100100100100100100100,
        0b10010010010010010010010010010010,
        0b01001001001001001001001001001001,
    ],
}


def pack(codes, bits):
    """(K * bits / 32, N) int32 of codes (K, N), one bit after the other."""
    words = np.zeros((len(codes) * bits // 32, codes.shape[1]), np.uint32)
    for k, row in enumerate(codes.astype(np.uint32)):
        for bit in range(bits):
            at = k * bits + bit
            words[at // 32] |= (row >> np.uint32(bit) & np.uint32(1)) << np.uint32(at % 32)
    return words.view(np.int32)


def write(directory, bits, form):
    """A checkpoint, and the same with dequantized weights."""
    case, rng = read_case("w8a8"), np.random.default_rng(bits)
    config = read_case("gptq").config["quantization_config"]
    form_of_file = "gptq_v2" if form == "version 2" else "gptq"
    exceptions = [r"re:.*(query|key|value|intermediate.dense|pooler.dense)"]
    case.config["quantization_config"] = {
        **config,
        "bits": bits,
        "checkpoint_format": form_of_file,
        "modules_to_not_convert": exceptions,
    }
    dense = dict(case.tensors)
    for module in modules(case.family):
        n, k = case.tensors.pop(f"{module}.weight").shape
        del case.tensors[f"{module}.weight_scale"], dense[f"{module}.weight_scale"]
        codes = rng.integers(0, 1 << bits, (k, n))
        scales = rng.uniform(0.02, 0.05, (k // GROUP, n)).astype(np.float16)
        points = np.full((k // GROUP, n), 1 << bits - 1)
        if form == "version 2":
            points = rng.integers(0, 1 << bits, points.shape)
        stored = np.ascontiguousarray(pack(points.T, bits).T).view(np.uint32)
        if form == "of packages":
            columns = np.arange(stored.shape[1]) % len(TAKEN[bits])
            stored = stored - np.uint32(TAKEN[bits])[columns]
        elif form == "less 1":
            stored = np.ascontiguousarray(pack(points.T - 1, bits).T)
        case.tensors[f"{module}.qweight"] = pack(codes, bits)
        case.tensors[f"{module}.qzeros"] = stored.view(np.int32)
        case.tensors[f"{module}.scales"] = scales
        groups = np.arange(k) // GROUP
        weight = (codes - points[groups]).astype(np.float32) * scales[groups].astype(np.float32)
        dense[f"{module}.weight"] = np.ascontiguousarray(weight.T)
    directory.mkdir(exist_ok=True)
    plain = {key: value for key, value in case.config.items() if key != "quantization_config"}
    return (
        case.write(directory / "gptq"),
        write_checkpoint(directory / "plain", plain, dense),
        case,
    )


@pytest.mark.parametrize("bits", [2, 3])
@pytest.mark.parametrize("form", ["version 2", "of packages", "less 1"])
def test_other_widths_are_dequantized(tmp_path, bits, form):
    directory, plain, _ = write(tmp_path, bits, form)
    with pytest.warns(UserWarning, match="2 of 4 linear layers are dequantized"):
        model = fbg.load(directory)
    assert model.dtype == "float32"
    wanted = fbg.load(plain).forward(IDS).last_hidden_state
    np.testing.assert_array_equal(model.forward(IDS).last_hidden_state, wanted)


def test_zero_points_of_3_bits_must_be_those_of_a_package(tmp_path):
    directory, _, case = write(tmp_path, 3, "of packages")
    key = f"{modules(case.family)[-1]}.qzeros"
    case.tensors[key] = case.tensors[key] + np.int32(8)
    case.write(directory)
    with pytest.raises(fbg.ModelError, match=rf"tensor {key} must stand for 4s in version 1"):
        fbg.load(directory, dtype="float32")
