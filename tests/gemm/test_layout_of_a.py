"""A in memory: any strides give the same bits, and rows are read in place where possible."""

from collections.abc import Callable

import numpy as np
import pytest

import fbg
from helpers.formulas import Array, assert_same_bits, product
from helpers.operands import random_f32, random_s8, random_u8, read_only


def wide(a: Array, row_bytes: int) -> Array:
    """The same values with rows that many bytes apart."""
    store = np.zeros((len(a), row_bytes // a.itemsize), a.dtype)
    store[:, : a.shape[1]] = a
    return store[:, : a.shape[1]]


def every_second(a: Array, axis: int) -> Array:
    return np.repeat(a, 2, axis=axis)[(slice(None),) * axis + (slice(None, None, 2),)]


LAYOUTS: dict[str, Callable[[Array], Array]] = {
    "contiguous": np.ascontiguousarray,
    "fortran": np.asfortranarray,
    "rows upwards": lambda a: a[::-1].copy()[::-1],
    "columns backwards": lambda a: a[:, ::-1].copy()[:, ::-1],
    "both backwards": lambda a: a[::-1, ::-1].copy()[::-1, ::-1],
    "every second row": lambda a: every_second(a, 0),
    "every second column": lambda a: every_second(a, 1),
    "odd row stride": lambda a: wide(
        a, (a.shape[1] * a.itemsize + 3) // 4 * 4 + 12 + a.itemsize % 4
    ),
    "rows 4096 apart": lambda a: wide(a, 4096),
    "rows 8192 apart": lambda a: wide(a, 8192),
    "fortran, columns 4096 apart": lambda a: wide(np.ascontiguousarray(a.T), 4096).T,
    "read-only": read_only,
    "unaligned": lambda a: (
        np.frombuffer(b"x" + a.tobytes(), np.uint8)[1:].view(a.dtype).reshape(a.shape)
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "packer", ["u8", "f32", "row_offset", "shifted", "quant_row", "quant_tensor"]
)
def test_layout_of_a_does_not_change_a_bit(isa: str, packer: str, layout: str) -> None:
    rng = np.random.default_rng(5)
    for m, k in [(1, 9), (3, 33), (13, 67)]:
        w = random_f32(rng, k, 35)
        weights = (
            fbg.PackedB(w, dtype="float32") if packer == "f32" else fbg.PackedB(w, symmetric=False)
        )
        make, a, pipeline = {
            "u8": (fbg.PackA, random_u8(rng, m, k), None),
            "f32": (fbg.PackA, random_f32(rng, m, k), None),
            "row_offset": (
                lambda x: fbg.PackAWithRowOffset(x, scale=0.1, zero_point=9),
                random_u8(rng, m, k),
                fbg.Dequantize(),
            ),
            "shifted": (
                lambda x: fbg.PackAWithRowOffset(x, scale=0.1, zero_point=-9),
                random_s8(rng, m, k),
                fbg.Dequantize(),
            ),
            "quant_row": (fbg.PackAWithQuantRowOffset, random_f32(rng, m, k), fbg.Dequantize()),
            "quant_tensor": (
                lambda x: fbg.PackAWithQuantRowOffset(x, granularity="tensor"),
                random_f32(rng, m, k),
                fbg.Dequantize(),
            ),
        }[packer]
        laid_out = LAYOUTS[layout](a)
        np.testing.assert_array_equal(laid_out, a)
        wanted = fbg.gemm(make(np.ascontiguousarray(a)), weights, pipeline)
        if packer == "u8":
            np.testing.assert_array_equal(wanted, product(a, weights.unpack()))
        assert_same_bits(fbg.gemm(make(laid_out), weights, pipeline), wanted)


@pytest.mark.parametrize("stride", [4095, 4096, 4097, 4099])
def test_rows_are_read_in_place_at_any_stride(isa: str, stride: int) -> None:
    rng = np.random.default_rng(6)
    store = random_u8(rng, 14, stride)
    for k in (3, 4, 129):
        b = random_s8(rng, k, 33)
        a = store[:, 1 : k + 1]
        np.testing.assert_array_equal(fbg.gemm(fbg.PackA(a), fbg.PackedB(b)), product(a, b))


def test_one_row_may_be_repeated_without_a_copy(isa: str) -> None:
    rng = np.random.default_rng(8)
    b = random_s8(rng, 37, 20)
    for m in (2, 9):
        a = np.broadcast_to(random_u8(rng, 1, 37), (m, 37))
        np.testing.assert_array_equal(fbg.gemm(fbg.PackA(a), fbg.PackedB(b)), product(a, b))


def test_packers_are_lazy() -> None:
    a = np.zeros((2, 3), np.uint8)
    packer, b = fbg.PackA(a), fbg.PackedB(np.ones((3, 1), np.int8))
    a[:] = 2
    np.testing.assert_array_equal(fbg.gemm(packer, b), [[6], [6]])
