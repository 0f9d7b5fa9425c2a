"""Codes that a checkpoint has are packed as they are, however it stores them."""

import numpy as np
import pytest

from fbg import _fbg

OF_OUTPUTS = [0, 2, 4, 6, 1, 3, 5, 7]  # the order of AWQ


def words(codes):
    """(rows, ceil(columns / 8)) int32 of codes plus 8; what is behind the columns is no zero."""
    rows, columns = codes.shape
    filled = np.full((rows, -(-columns // 8) * 8), 5, np.uint32)
    filled[:, :columns] = codes + 8
    shifts = 4 * np.arange(8, dtype=np.uint32)
    return np.bitwise_or.reduce(filled.reshape(rows, -1, 8) << shifts, axis=2).view(np.int32)


def stored(form, codes):
    """(N, K) codes as a checkpoint has them, by rows or by columns."""
    if form == "bytes":
        return codes
    if form == "transposed bytes":
        return np.ascontiguousarray(codes.T).T
    if form == "compressed-tensors":
        return words(codes)
    if form == "gptq":
        return np.ascontiguousarray(words(codes).T).T
    assert form == "awq"
    ordered = codes.reshape(-1, 8, codes.shape[1])[:, OF_OUTPUTS].reshape(codes.shape)
    return words(ordered.T).T


INT4 = ("bytes", "transposed bytes", "compressed-tensors", "gptq", "awq")
SHAPES = [([40], 36), ([8, 16, 24], 256), ([64, 8], 300), ([32], 8), ([8, 40], 517), ([16], 1)]


@pytest.mark.parametrize(("outputs", "inputs"), SHAPES)
@pytest.mark.parametrize("form", INT4)
@pytest.mark.parametrize("dtype", ["int4", "int4_g64_offset", "int4_g128"])
def test_int4_has_the_codes_and_the_sums(form, dtype, outputs, inputs):
    rng = np.random.default_rng(inputs)
    parts = [rng.integers(-8, 8, (n, inputs)).astype(np.int8) for n in outputs]
    group = {"int4": 32, "int4_g64_offset": 64, "int4_g128": 128}[dtype]
    shape = -(-inputs // group), sum(outputs)
    scale, offset = (rng.uniform(0.5, 2, shape).astype(np.float16) for _ in range(2))
    offsets = offset.view(np.uint16) if dtype.endswith("offset") else None
    arguments = (None, None, scale.view(np.uint16), offsets)
    codes = [stored(form, part) for part in parts]
    one, two = (
        _fbg.pack_codes(codes, inputs, form == "awq", dtype, *arguments, threads)
        for threads in (1, 2)
    )
    matrix = np.concatenate(parts).T
    np.testing.assert_array_equal(one.unpack().view(np.int8), matrix)
    np.testing.assert_array_equal(one.block, two.block)
    np.testing.assert_array_equal(one.scale, scale)
    whole = _fbg.pack_b_int4(matrix, arguments[2], offsets, group)
    np.testing.assert_array_equal(one.block, whole.block)
    # Products take the sums of columns: those of ones are the columns themselves.
    dense = matrix * np.repeat(scale.astype(np.float32), group, axis=0)[:inputs]
    if offsets is not None:
        dense += np.repeat(offset.astype(np.float32), group, axis=0)[:inputs]
    sums = np.frombuffer(one.block.tobytes()[-4 * -(-shape[1] // 32) * 32 :], np.float32)
    np.testing.assert_allclose(sums[: shape[1]], dense.sum(axis=0), rtol=1e-4, atol=1e-3)
    assert not sums[shape[1] :].any()


@pytest.mark.parametrize(("outputs", "inputs"), SHAPES)
@pytest.mark.parametrize("form", ["bytes", "transposed bytes"])
@pytest.mark.parametrize("points", [False, True])
def test_int8_is_what_a_whole_matrix_gives(form, points, outputs, inputs):
    rng = np.random.default_rng(inputs)
    parts = [rng.integers(-128, 128, (n, inputs)).astype(np.int8) for n in outputs]
    n = sum(outputs)
    scale = rng.uniform(0.5, 2, n).astype(np.float32)
    point = rng.integers(-9, 9, n).astype(np.int32) if points else None
    whole = _fbg.pack_b_int8(np.concatenate(parts).T, scale, point, per_column=True)
    codes = [stored(form, part) for part in parts]
    for threads in (1, 2):
        packed = _fbg.pack_codes(codes, inputs, False, "int8", scale, point, None, None, threads)
        np.testing.assert_array_equal(packed.block, whole.block)


def test_parts_and_parameters_of_other_sizes_are_refused():
    codes, scale = np.zeros((8, 16), np.int8), np.ones(8, np.float32)
    halves = np.ones((1, 8), np.uint16)
    for arguments in (
        ([codes], 15, False, "int8", scale, None, None, None, 1),
        ([codes], 16, False, "int8", scale[1:], None, None, None, 1),
        ([codes], 16, False, "int8", scale, np.zeros(7, np.int32), None, None, 1),
        ([codes], 16, False, "int4", None, None, halves[:, 1:], None, 1),
        ([codes], 16, False, "float32", scale, None, None, None, 1),
        ([codes.view(np.int32)], 16, False, "int4", None, None, halves, None, 1),
    ):
        with pytest.raises(ValueError, match=r"pack_codes|PackedB"):
            _fbg.pack_codes(*arguments)
