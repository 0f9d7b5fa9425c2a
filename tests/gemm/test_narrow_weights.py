"""Int8 weights whose products fit in int16 over two k-groups: packing finds them, results stay."""

from __future__ import annotations

import numpy as np
import pytest

import fbg
from fbg.matmul.narrow import NARROW_LIMIT, gains_from_narrow, lane_sums
from helpers.formulas import product
from helpers.operands import random_u8

GAINS = ("avx2", "avx512")  # ISAs whose kernels tell narrow weights from others


def largest_lane(w):
    """By the definition: every window of two k-groups of every column of (K, N)."""
    k, n = w.shape
    padded = np.zeros((k + 8, n), np.int64)
    padded[:k] = w
    largest = 0
    for g in range(0, k, 4):
        for h in (0, 2):
            window = padded[[g + h, g + h + 1, g + 4 + h, g + 5 + h]]
            largest = max(
                largest,
                int(np.maximum(window, 0).sum(0).max(initial=0)),
                int(np.maximum(-window, 0).sum(0).max(initial=0)),
            )
    return largest


def narrow_weights(rng, k, n):
    """At the limit in many lanes: of one sign in half of the columns, of both in the others."""
    w = rng.integers(0, 33, (k, n)).astype(np.int8)
    w[:, ::3] = 32
    w[:, 1::5] = np.where(np.arange(k)[:, None] % 8 < 4, 0, 64)  # one k-group of two has it all
    w[:, 2::7] = 0
    w[::8, 2::7] = 127
    return np.where(rng.random((k, n)) < np.linspace(0, 1, n), -w, w).astype(np.int8)


def test_the_sums_of_lanes_are_those_of_the_definition():
    rng = np.random.default_rng(1)
    for k in (*range(12), 31, 32, 33, 100):
        w = rng.integers(-128, 128, (k, 5)).astype(np.int8)
        expected = [largest_lane(w[:, j : j + 1]) for j in range(5)]
        for dtype in (np.int8, np.int32, np.float32):
            assert lane_sums(w.T.astype(dtype)).tolist() == expected, k


def test_rounded_weights_within_126_times_the_scale_are_narrow():
    rng = np.random.default_rng(2)
    w = rng.standard_normal((200, 77)).astype(np.float32)
    scale = np.maximum(np.abs(w).max(1) / 127, lane_sums(w) / 126)
    assert (lane_sums(np.rint(w / scale[:, None]).astype(np.int8)) <= NARROW_LIMIT).all()


@pytest.mark.parametrize("k", [4, 5, 8, 9, 15, 16, 64])
def test_packing_finds_the_limit_everywhere(isa, k):
    rng = np.random.default_rng(k)
    for at in {0, k // 2, k - 1}:
        for j in (0, 31, 32, 39):
            for sign in (1, -1):
                w = rng.integers(-20, 21, (k, 40)).astype(np.int8)
                lane = [
                    i
                    for g in (at // 4 * 4, at // 4 * 4 + 4)
                    for i in (g + at % 4 // 2 * 2, g + at % 4 // 2 * 2 + 1)
                ]
                for extra in (0, 1):
                    w[[i for i in lane if i < k], j] = 0
                    w[at, j] = sign * (100 + extra)
                    last = [i for i in lane if i < k and i != at]
                    if last:
                        w[last[-1], j] = sign * 28
                    narrow = largest_lane(w) <= NARROW_LIMIT
                    found = fbg.PackedB(w)._native.is_narrow
                    assert found == (isa in GAINS and narrow), (at, j, sign, extra)


def test_products_are_exact_on_both_sides_of_the_limit(isa):
    rng = np.random.default_rng(3)
    for k in (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 20, 31, 33, 36, 100, 576):
        for n in (1, 7, 8, 9, 16, 17, 31, 32, 33, 65, 100):
            w = narrow_weights(rng, k, n)
            wide = w.copy()
            wide[0] = 127
            wide[-1] = -128
            for m in (1, 2, 3, 4, 5, 6, 9, 11):
                for a in (random_u8(rng, m, k), np.full((m, k), 255, np.uint8)):
                    for b in (w, wide):
                        got = fbg.gemm(fbg.PackA(a), fbg.PackedB(b))
                        assert np.array_equal(got, product(a, b)), (m, n, k)


@pytest.mark.parametrize("depth", [20_000, 65_793])
def test_deep_products_of_the_largest_bytes_are_exact(isa, depth):
    w = np.stack(
        [np.full(depth, 32), np.full(depth, -32), np.resize([64, 64, 0, 0, -64, 0, 0, -64], depth)]
    )
    a = np.full((7, depth), 255, np.uint8)
    packed = fbg.PackedB(w.T.astype(np.int8))
    np.testing.assert_array_equal(fbg.gemm(fbg.PackA(a), packed), product(a, w.T))


def test_signed_and_quantized_left_operands(isa):
    rng = np.random.default_rng(4)
    w = narrow_weights(rng, 150, 70)
    packed = fbg.PackedB(w, scale=np.float32(0.01), zero_point=3)
    a = rng.integers(-128, 128, (13, 150), np.int8)
    got = fbg.gemm(
        fbg.PackAWithRowOffset(a, scale=1.0, zero_point=-5), packed, fbg.CorrectZeroPoints()
    )
    np.testing.assert_array_equal(got, product(a.astype(np.int64) + 5, w.astype(np.int64) - 3))
    x = rng.standard_normal((13, 150)).astype(np.float32)
    y = fbg.gemm(fbg.PackAWithQuantRowOffset(x), packed, fbg.Dequantize())
    with fbg.isa.limit("generic"):
        portable = fbg.gemm(
            fbg.PackAWithQuantRowOffset(x),
            fbg.PackedB(w, scale=np.float32(0.01), zero_point=3),
            fbg.Dequantize(),
        )
    np.testing.assert_array_equal(y, portable)


def test_other_weights_of_the_same_shape_have_kernels_of_their_own(isa):
    rng = np.random.default_rng(5)
    before = {kernel.name for kernel in fbg.kernels()}
    a = np.full((20, 64), 255, np.uint8)
    narrow, wide = narrow_weights(rng, 64, 48), np.full((64, 48), 127, np.int8)
    for _ in range(2):
        for w in (narrow, wide):
            np.testing.assert_array_equal(fbg.gemm(fbg.PackA(a), fbg.PackedB(w)), product(a, w))
    added = {kernel.name for kernel in fbg.kernels()} - before
    names = [name for name in before | added if f"_{isa}" in name and "x16_" in name]
    assert any("_narrow" in name for name in names) == (isa in GAINS) or not names


def test_saved_weights_stay_narrow(isa, tmp_path):
    packed = fbg.PackedB(narrow_weights(np.random.default_rng(6), 70, 40), scale=np.float32(0.5))
    packed.save(tmp_path / "w")
    loaded = fbg.PackedB.load(tmp_path / "w")
    assert loaded._native.is_narrow == packed._native.is_narrow == (isa in GAINS)


def test_weights_that_were_packed_for_another_isa_are_exact():
    w = narrow_weights(np.random.default_rng(7), 70, 40)
    a = np.full((9, 70), 255, np.uint8)
    for first in fbg.isa.supported():
        with fbg.isa.limit(first):
            packed = fbg.PackedB(w)
        for second in fbg.isa.supported():
            with fbg.isa.limit(second):
                got = fbg.gemm(fbg.PackA(a), packed)
            np.testing.assert_array_equal(got, product(a, w))


def test_gain_does_not_depend_on_the_limit():
    expected = not any("vnni" in name or "neon" in name for name in fbg.isa.supported())
    for name in fbg.isa.supported():
        with fbg.isa.limit(name):
            assert gains_from_narrow() == (expected and "avx2" in fbg.isa.supported())
