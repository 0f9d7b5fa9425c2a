"""Output pipelines: every legal composition gives the formulas' bits, every other is refused."""

import itertools

import numpy as np
import pytest

import fbg
from helpers.compositions import (
    EXTENTS,
    FORMULAS,
    KINDS,
    LONGEST,
    OPERANDS,
    PARAMETERS,
    STAGES,
    compositions,
    row_extents,
)
from helpers.formulas import assert_same_bits

# --- Every legal composition ----------------------------------------------------------------------


@pytest.mark.parametrize("operands", OPERANDS)
def test_every_composition_gives_the_bits_of_its_formulas(isa, operands):
    a, packed, start = OPERANDS[operands]
    count = 0
    for kinds in compositions(start.type, LONGEST):
        got = fbg.gemm(a, packed, [STAGES[kind] for kind in kinds])
        try:
            assert_same_bits(got, FORMULAS[operands].result(kinds).result)
            if kinds[-1:] == ("row_range",):
                assert_same_bits(EXTENTS, row_extents(got))
        except AssertionError as error:
            raise AssertionError(" >> ".join(kinds)) from error
        count += 1
    assert count == {"acc": 452, "float32": 1249}[start.type]


# --- Illegal compositions -------------------------------------------------------------------------


def reachable(kinds):
    """The types a composition may end in, from either accumulator."""
    types = {"acc", "float32"}
    for kind in kinds:
        types = {KINDS[kind][t] for t in types if t in KINDS[kind]}
    return types


def test_exactly_the_legal_compositions_can_be_built():
    refused = 0
    for length in range(1, LONGEST + 1):
        for kinds in itertools.product(KINDS, repeat=length):
            stages = [STAGES[kind] for kind in kinds]
            if reachable(kinds):
                assert len(fbg.Pipeline(stages)) == length
            else:
                with pytest.raises(TypeError, match=r"^pipeline: "):
                    fbg.Pipeline(stages)
                refused += 1
    assert refused > 5000


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: fbg.GELU() >> fbg.Dequantize(),
            "pipeline: Dequantize takes acc or int32, but GELU gives float32",
        ),
        (
            lambda: fbg.Requantize(1.0) >> fbg.ReLU(),
            "pipeline: Requantize must be the last stage; put ReLU before it",
        ),
        (
            lambda: fbg.RowRange(EXTENTS) >> fbg.ReLU(),
            "pipeline: RowRange must be the last stage; put ReLU before it",
        ),
        (
            lambda: fbg.CorrectZeroPoints() >> fbg.CorrectZeroPoints(),
            "pipeline: CorrectZeroPoints takes acc, but CorrectZeroPoints gives int32",
        ),
        (
            lambda: fbg.Bias(np.zeros(2, np.int32)) >> fbg.ReLU(),
            "pipeline: ReLU takes int32 or float32, but Bias gives acc",
        ),
        (
            lambda: fbg.Dequantize() >> fbg.Bias(np.zeros(2, np.int32)),
            "pipeline: Bias takes acc or int32, but Dequantize gives float32",
        ),
        (lambda: fbg.Dequantize() >> 3, "pipeline: every item must be a stage, got 3"),
        (lambda: fbg.Dequantize() >> None, "pipeline: every item must be a stage, got None"),
        (
            lambda: fbg.Pipeline([fbg.ReLU]),
            r"pipeline: every item must be a stage, got the class ReLU; write ReLU\(…\)",
        ),
        (lambda: fbg.Pipeline(["ReLU"]), "pipeline: every item must be a stage, got 'ReLU'"),
    ],
)
def test_errors_name_the_stages(build, message):
    with pytest.raises(TypeError, match=f"^{message}$"):
        build()


def test_a_pipeline_of_too_many_stages_is_refused():
    a, packed, _ = OPERANDS["float"]
    fbg.gemm(a, packed, [fbg.ReLU()] * 24)
    with pytest.raises(ValueError, match="pipeline: must have at most 24 stages, got 25"):
        fbg.gemm(a, packed, [fbg.ReLU()] * 25)


# --- Ways to write one ----------------------------------------------------------------------------


def test_arrows_lists_and_bare_stages_are_one_pipeline():
    a, packed, _ = OPERANDS["symmetric"]
    bias = fbg.Bias(PARAMETERS["bias_float32"])
    first, second, third = fbg.Dequantize(), bias, fbg.ReLU()
    wanted = fbg.gemm(a, packed, first >> second >> third)
    for pipeline in (
        [first, second, third],
        (first, second, third),
        iter([first, second, third]),
        fbg.Pipeline([first, second, third]),
        first >> (second >> third),
        fbg.Pipeline() >> first >> second >> third,
        fbg.Pipeline([first, fbg.Pipeline([second, third])]),
    ):
        assert_same_bits(fbg.gemm(a, packed, pipeline), wanted)
    bare = fbg.gemm(a, packed, first)
    assert_same_bits(fbg.gemm(a, packed, [first]), bare)
    raw = fbg.gemm(a, packed)
    for empty in ([], (), fbg.Pipeline()):
        assert_same_bits(fbg.gemm(a, packed, empty), raw)


def test_composing_leaves_its_parts_alone():
    first = fbg.Dequantize() >> fbg.ReLU()
    second = first >> fbg.GELU()
    assert (len(first), len(second)) == (2, 3)
    assert [type(s).__name__ for s in second.stages] == ["Dequantize", "ReLU", "GELU"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (fbg.CorrectZeroPoints(), "CorrectZeroPoints()"),
        (fbg.Dequantize(), "Dequantize()"),
        (fbg.Bias(np.zeros(3, np.int32)), "Bias(int32[3])"),
        (fbg.ReLU(), "ReLU()"),
        (fbg.GELU(), "GELU()"),
        (fbg.Add(np.zeros((2, 3), np.float32)), "Add(float32[2, 3])"),
        (
            fbg.Add(np.zeros((2, 3), np.uint8), scale=0.5, zero_point=1),
            "Add(uint8[2, 3], scale=0.5, zero_point=1)",
        ),
        (fbg.Requantize(0.5, -3, np.int8), "Requantize(scale=0.5, zero_point=-3, int8)"),
        (fbg.Pipeline(), "Pipeline()"),
        (fbg.Pipeline([fbg.ReLU()]), "ReLU()"),
        (fbg.Dequantize() >> fbg.ReLU() >> fbg.GELU(), "Dequantize() >> ReLU() >> GELU()"),
    ],
)
def test_repr_is_how_it_is_written(value, text):
    assert repr(value) == text


# --- NaN, infinities, saturation, rounding --------------------------------------------------------
