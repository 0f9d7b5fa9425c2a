"""A in memory: any strides give the same bits, and rows are read in place where possible."""

import numpy as np
import pytest

import fbg
from helpers.formulas import product
from helpers.operands import random_s8, random_u8


@pytest.mark.parametrize("stride", [4095, 4096, 4097, 4099])
def test_rows_are_read_in_place_at_any_stride(isa, stride):
    rng = np.random.default_rng(6)
    store = random_u8(rng, 14, stride)
    for k in (3, 4, 129):
        b = random_s8(rng, k, 33)
        a = store[:, 1 : k + 1]
        np.testing.assert_array_equal(fbg.gemm(fbg.PackA(a), fbg.PackedB(b)), product(a, b))


def test_one_row_may_be_repeated_without_a_copy(isa):
    rng = np.random.default_rng(8)
    b = random_s8(rng, 37, 20)
    for m in (2, 9):
        a = np.broadcast_to(random_u8(rng, 1, 37), (m, 37))
        np.testing.assert_array_equal(fbg.gemm(fbg.PackA(a), fbg.PackedB(b)), product(a, b))


def test_packers_are_lazy():
    a = np.zeros((2, 3), np.uint8)
    packer, b = fbg.PackA(a), fbg.PackedB(np.ones((3, 1), np.int8))
    a[:] = 2
    np.testing.assert_array_equal(fbg.gemm(packer, b), [[6], [6]])
