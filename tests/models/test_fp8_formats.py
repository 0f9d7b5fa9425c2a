"""Floats of 8 bits whose layouts no package writes in the tests: e5m2, and blocks of
compressed-tensors. Weights are those of a checkpoint that holds the dequantized ones, to the bit.
"""

import ml_dtypes
import numpy as np
import pytest

import fbg
from helpers.tiny_models import write_checkpoint
from helpers.tiny_quantized import IDS, modules, read_case

ROWS, COLUMNS = 32, 24
BLOCKS = {
    "num_bits": 8,
    "type": "float",
    "symmetric": True,
    "group_size": None,
    "strategy": "block",
    "block_structure": [ROWS, COLUMNS],
    "dynamic": False,
}


def compressed_in_blocks():
    case = read_case("fp8-channel")
    settings = case.config["quantization_config"]
    settings["config_groups"]["group_0"]["weights"] = BLOCKS
    return case


def write(directory, case, dtype, scale_name):
    """Write a checkpoint with blocks of random codes, and the same with dequantized weights."""
    rng, dense = np.random.default_rng(3), dict(case.tensors)
    finite = np.arange(256).astype(np.uint8)
    finite = finite[np.isfinite(finite.view(dtype).astype(np.float32))]
    small = finite[np.abs(finite.view(dtype).astype(np.float32)) <= 4]  # with subnormals and -0
    for module in modules(case.family):
        shape = case.tensors[f"{module}.weight"].shape
        del dense[f"{module}.{scale_name}"]
        codes = rng.choice(small, shape).view(dtype)
        counts = -(-shape[0] // ROWS), -(-shape[1] // COLUMNS)
        scales = rng.uniform(0.01, 0.05, counts).astype(np.float32)
        case.tensors[f"{module}.weight"] = codes
        case.tensors[f"{module}.{scale_name}"] = scales
        each = scales[np.arange(shape[0]) // ROWS][:, np.arange(shape[1]) // COLUMNS]
        dense[f"{module}.weight"] = codes.astype(np.float32) * each
    plain = {key: value for key, value in case.config.items() if key != "quantization_config"}
    return case.write(directory / "fp8"), write_checkpoint(directory / "plain", plain, dense)


CASES = {
    "e5m2": (lambda: read_case("fp8-block"), ml_dtypes.float8_e5m2, "weight_scale_inv"),
    "e4m3": (lambda: read_case("fp8-block"), ml_dtypes.float8_e4m3fn, "weight_scale_inv"),
    "compressed": (compressed_in_blocks, ml_dtypes.float8_e4m3fn, "weight_scale"),
}


@pytest.mark.parametrize("name", CASES)
def test_weights_are_codes_times_the_scale_of_their_block(tmp_path, name):
    make, dtype, scale_name = CASES[name]
    directory, plain = write(tmp_path, make(), dtype, scale_name)
    with pytest.warns(UserWarning, match="are dequantized and compute in float32"):
        model = fbg.load(directory)
    wanted = fbg.load(plain).forward(IDS).last_hidden_state
    np.testing.assert_array_equal(model.forward(IDS).last_hidden_state, wanted)


@pytest.mark.parametrize("name", CASES)
def test_codes_that_are_no_numbers_are_refused(tmp_path, name):
    make, dtype, scale_name = CASES[name]
    case = make()
    write(tmp_path, case, dtype, scale_name)
    tensor = f"{modules(case.family)[-1]}.weight"
    codes = case.tensors[tensor].copy()
    codes[3, 5] = np.float32(np.nan)
    case.tensors[tensor] = codes
    with pytest.raises(fbg.ModelError, match=tensor):
        fbg.load(case.write(tmp_path / "damaged"), dtype="float32")
