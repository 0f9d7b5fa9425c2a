"""Output pipelines: every legal composition gives the formulas' bits, every other is refused."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fbg
from fbg.matmul.pipeline import Stage
from helpers.formulas import (
    Array,
    Output,
    assert_same_bits,
    exact_gelu,
    integer_output,
    portable_gelu,
    quantize_rows,
)

LONGEST = 4  # compositions up to this length are enumerated

# Kinds of stage: the type each takes and the type it gives.
KINDS: dict[str, dict[str, str]] = {
    "correct": {"acc": "int32"},
    "dequantize": {"acc": "float32", "int32": "float32"},
    "bias_int32": {"acc": "acc", "int32": "int32"},
    "bias_float32": {"float32": "float32"},
    "relu": {"int32": "int32", "float32": "float32"},
    "gelu": {"float32": "float32"},
    "add": {"float32": "float32"},
    "add_int8": {"float32": "float32"},
    "row_range": {"float32": "last"},
    "to_uint8": {"acc": "uint8", "int32": "uint8", "float32": "uint8"},
    "to_int8": {"acc": "int8", "int32": "int8", "float32": "int8"},
}


def compositions(start: str, longest: int) -> Iterator[tuple[str, ...]]:
    """Every legal sequence of kinds from a type, the empty one included."""
    yield ()
    if longest == 0:
        return
    for kind, types in KINDS.items():
        if start in types:
            for rest in compositions(types[start], longest - 1):
                yield (kind, *rest)


M, N, K = 5, 21, 19
RNG = np.random.default_rng(0)
PARAMETERS: dict[str, Any] = {
    "bias_int32": RNG.integers(-20000, 20000, N, dtype=np.int32),
    "bias_float32": RNG.standard_normal(N, dtype=np.float32),
    "add": RNG.standard_normal((M, N), dtype=np.float32),
    "add_int8": (RNG.integers(-128, 128, (M, N), dtype=np.int8), 0.0625, -9),
    "to_uint8": (0.03125, 100, "uint8"),
    "to_int8": (0.0625, -7, "int8"),
}
EXTENTS = np.empty((M, 2), np.float32)  # what row_range writes
STAGES: dict[str, Stage] = {
    "correct": fbg.CorrectZeroPoints(),
    "dequantize": fbg.Dequantize(),
    "bias_int32": fbg.Bias(PARAMETERS["bias_int32"]),
    "bias_float32": fbg.Bias(PARAMETERS["bias_float32"]),
    "relu": fbg.ReLU(),
    "gelu": fbg.GELU(),
    "add": fbg.Add(PARAMETERS["add"]),
    "add_int8": fbg.Add(PARAMETERS["add_int8"][0], scale=0.0625, zero_point=-9),
    "row_range": fbg.RowRange(EXTENTS),
    "to_uint8": fbg.Requantize(*PARAMETERS["to_uint8"]),
    "to_int8": fbg.Requantize(*PARAMETERS["to_int8"]),
}


def apply(kind: str, output: Output) -> None:
    """The formula of one kind of stage."""
    {
        "correct": output.correct_zero_points,
        "dequantize": output.dequantize,
        "bias_int32": lambda: output.bias(PARAMETERS["bias_int32"]),
        "bias_float32": lambda: output.bias(PARAMETERS["bias_float32"]),
        "relu": output.relu,
        "gelu": output.gelu,
        "add": lambda: output.add(PARAMETERS["add"]),
        "add_int8": lambda: output.add_quantized(*PARAMETERS["add_int8"]),
        "row_range": lambda: None,
        "to_uint8": lambda: output.requantize(*PARAMETERS["to_uint8"]),
        "to_int8": lambda: output.requantize(*PARAMETERS["to_int8"]),
    }[kind]()


class Formulas:
    """Results of compositions, each computed once from that of its prefix."""

    def __init__(self, start: Output) -> None:
        self._known: dict[tuple[str, ...], Output] = {(): start}

    def result(self, kinds: tuple[str, ...]) -> Output:
        if kinds not in self._known:
            before = self.result(kinds[:-1])
            output = Output(before.value, before._scale, before._correction)
            output.type = before.type
            apply(kinds[-1], output)
            self._known[kinds] = output
        return self._known[kinds]


def row_extents(y: Array) -> Array:
    """Least and greatest of each row; both NaN where it holds one. Zeros count as +0."""
    return np.stack([y.min(axis=1), y.max(axis=1)], axis=1) + np.float32(0)


def integer_operands(symmetric: bool) -> tuple[fbg.PackA, fbg.PackedB, Output]:
    rng = np.random.default_rng(1)
    x = rng.standard_normal((M, K), dtype=np.float32)
    packed = fbg.PackedB(rng.standard_normal((K, N), dtype=np.float32), symmetric=symmetric)
    a = quantize_rows(x)
    assert packed.scale is not None and packed.zero_point is not None
    output = integer_output(
        a.q, a.scale, a.zero_point, packed.unpack(), packed.scale, packed.zero_point
    )
    return fbg.PackAWithQuantRowOffset(x), packed, output


def float_operands() -> tuple[fbg.PackA, fbg.PackedB, Output]:
    rng = np.random.default_rng(2)  # sums of small integers: exact in any order
    x = rng.integers(-3, 4, (M, K)).astype(np.float32) / 8
    w = rng.integers(-3, 4, (K, N)).astype(np.float32)
    return fbg.PackA(x), fbg.PackedB(w, dtype="float32"), Output(x @ w)


OPERANDS: dict[str, tuple[fbg.PackA, fbg.PackedB, Output]] = {
    "symmetric": integer_operands(True),
    "asymmetric": integer_operands(False),
    "float": float_operands(),
}
FORMULAS = {name: Formulas(operands[2]) for name, operands in OPERANDS.items()}


# --- Every legal composition --------------------------------------------------------------------


@pytest.mark.parametrize("operands", OPERANDS)
def test_every_composition_gives_the_bits_of_its_formulas(isa: str, operands: str) -> None:
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


@pytest.mark.parametrize("n", [7, 8, 9, 16, 24, 33, 70])
def test_one_long_pipeline_is_right_in_every_tail(isa: str, n: int) -> None:
    rng = np.random.default_rng(3)
    for m in (1, 2, 4, 7, 13):
        x = rng.standard_normal((m, 9), dtype=np.float32)
        packed = fbg.PackedB(rng.standard_normal((9, n), dtype=np.float32), symmetric=False)
        residual = rng.standard_normal((m, n), dtype=np.float32)
        bias = rng.standard_normal(n, dtype=np.float32)
        counts = rng.integers(-9, 9, n, dtype=np.int32)
        q = quantize_rows(x)
        out = integer_output(
            q.q, q.scale, q.zero_point, packed.unpack(), packed.scale, packed.zero_point
        )
        out.bias(counts)
        out.correct_zero_points()
        out.dequantize()
        out.bias(bias)
        out.gelu()
        out.add(residual)
        out.relu()
        out.requantize(0.015625, 3, "uint8")
        pipeline = (
            fbg.Bias(counts)
            >> fbg.CorrectZeroPoints()
            >> fbg.Dequantize()
            >> fbg.Bias(bias)
            >> fbg.GELU()
            >> fbg.Add(residual)
            >> fbg.ReLU()
            >> fbg.Requantize(0.015625, 3)
        )
        for threads in (1, 2):
            got = fbg.gemm(fbg.PackAWithQuantRowOffset(x), packed, pipeline, num_threads=threads)
            assert_same_bits(got, out.result)


# --- Row ranges ---------------------------------------------------------------------------------


@settings(max_examples=50)
@given(
    m=st.integers(1, 40),
    n=st.integers(1, 300),
    threads=st.integers(1, 4),
    special=st.lists(
        st.tuples(st.integers(0, 39), st.integers(0, 299), st.sampled_from([np.nan, np.inf, 0.0])),
        max_size=4,
    ),
    seed=st.integers(0, 2**32 - 1),
)
def test_row_range_is_that_of_the_result(
    isa: str, m: int, n: int, threads: int, special: list[tuple[int, int, float]], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    x, w = (rng.standard_normal(shape, dtype=np.float32) for shape in ((m, 3), (3, n)))
    residual = rng.standard_normal((m, n), dtype=np.float32)
    for i, j, value in special:
        residual[i % m, j % n] = value
    extents = np.full((m, 2), 7, np.float32)
    pipeline = fbg.Dequantize() >> fbg.Add(residual)
    packed = fbg.PackedB(w)
    got = fbg.gemm(
        fbg.PackAWithQuantRowOffset(x), packed, pipeline >> fbg.RowRange(extents), None, threads
    )
    assert_same_bits(got, fbg.gemm(fbg.PackAWithQuantRowOffset(x), packed, pipeline))
    assert_same_bits(extents, row_extents(got))
    # Who quantizes the result need not look for it again.
    second = fbg.PackedB(rng.standard_normal((n, 20), dtype=np.float32), symmetric=False)
    known = fbg.PackAWithQuantRowOffset(got, row_range=extents)
    assert_same_bits(
        fbg.gemm(known, second, fbg.Dequantize(), num_threads=threads),
        fbg.gemm(fbg.PackAWithQuantRowOffset(got), second, fbg.Dequantize()),
    )


def test_prepared_calls_hand_row_ranges_on(isa: str) -> None:
    rng = np.random.default_rng(6)
    up = fbg.PackedB(rng.standard_normal((30, 90), dtype=np.float32))
    down = fbg.PackedB(rng.standard_normal((90, 30), dtype=np.float32))
    extents, hidden = np.empty((8, 2), np.float32), np.empty((8, 90), np.float32)
    first = fbg.prepare(up, [fbg.Dequantize(), fbg.GELU(), fbg.RowRange(extents)], rows=8)
    second = fbg.prepare(down, fbg.Dequantize(), rows=8, row_range=extents)
    for m in (8, 3, 1):
        x = rng.standard_normal((m, 30), dtype=np.float32)
        y = second(first(x, hidden[:m]), np.empty((m, 30), np.float32))
        assert_same_bits(extents[:m], row_extents(hidden[:m]))
        assert_same_bits(y, fbg.linear(fbg.linear(x, up, activation="gelu"), down))


def test_a_row_without_columns_has_an_empty_range() -> None:
    extents = np.zeros((2, 2), np.float32)
    empty = fbg.PackedB(np.zeros((3, 0), np.float32), dtype="float32")
    fbg.gemm(fbg.PackA(np.ones((2, 3), np.float32)), empty, fbg.RowRange(extents))
    np.testing.assert_array_equal(extents, [[np.inf, -np.inf]] * 2)
    # Such a row quantizes as it does without the range.
    w = fbg.PackedB(np.zeros((0, 3), np.float32))
    nothing = fbg.PackAWithQuantRowOffset(np.zeros((2, 0), np.float32), row_range=extents)
    np.testing.assert_array_equal(fbg.gemm(nothing, w, fbg.Dequantize()), np.zeros((2, 3)))


def test_a_row_range_must_fit_when_it_is_used() -> None:
    x = np.zeros((2, 4), np.float32)
    a = fbg.PackAWithQuantRowOffset(x, row_range=np.zeros((2, 2), np.float32))
    x.shape = (1, 8)
    with pytest.raises(ValueError, match="row_range of a has 2 rows, a has 1"):
        fbg.gemm(a, fbg.PackedB(np.zeros((8, 3), np.float32)), fbg.Dequantize())


FLAT = np.zeros(20, np.float32)


def part(begin: int) -> Array:
    return FLAT[begin : begin + 4].reshape(2, 2)


X22 = part(0)
EYE = fbg.PackedB(np.eye(2, dtype=np.float32), dtype="float32")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: fbg.gemm(fbg.PackA(X22), EYE, fbg.RowRange(part(2))),
            "gemm: the array of RowRange may not overlap an operand",
        ),
        (
            lambda: fbg.gemm(fbg.PackA(X22), EYE, [fbg.Add(part(8)), fbg.RowRange(part(10))]),
            "gemm: the array of RowRange may not overlap an operand",
        ),
        (
            lambda: fbg.gemm(fbg.PackA(X22), EYE, fbg.RowRange(part(8)), out=part(8)),
            "gemm: out may not overlap the array of RowRange",
        ),
        (
            lambda: fbg.gemm(fbg.PackA(X22), EYE, fbg.RowRange(np.zeros((3, 2), np.float32))),
            "gemm: RowRange holds 3 rows, C is 2 x 2",
        ),
        (
            lambda: fbg.prepare(EYE, fbg.RowRange(part(8)), rows=2)(part(10), part(16)),
            "PreparedCall: the array of RowRange may not overlap an operand",
        ),
        (
            lambda: fbg.prepare(EYE, fbg.RowRange(part(8)), rows=2)(X22, part(10)),
            "PreparedCall: out may not overlap the array of RowRange",
        ),
    ],
)
def test_a_row_range_may_not_overlap_anything(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


# --- Illegal compositions -----------------------------------------------------------------------


def reachable(kinds: tuple[str, ...]) -> set[str]:
    """The types a composition may end in, from either accumulator."""
    types = {"acc", "float32"}
    for kind in kinds:
        types = {KINDS[kind][t] for t in types if t in KINDS[kind]}
    return types


def test_exactly_the_legal_compositions_can_be_built() -> None:
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
            "pipeline: Requantize must be the last stage",
        ),
        (
            lambda: fbg.RowRange(EXTENTS) >> fbg.ReLU(),
            "pipeline: RowRange must be the last stage",
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
        (lambda: fbg.Dequantize() >> 3, "pipeline: a stage is wanted, got int"),
        (lambda: fbg.Dequantize() >> None, "pipeline: a stage is wanted, got NoneType"),
        (lambda: fbg.Pipeline([fbg.ReLU]), "pipeline: a stage is wanted, got type"),
        (lambda: fbg.Pipeline(["ReLU"]), "pipeline: a stage is wanted, got str"),
    ],
)
def test_errors_name_the_stages(build: Callable[[], object], message: str) -> None:
    with pytest.raises(TypeError, match=f"^{message}$"):
        build()


def test_a_pipeline_of_more_than_eight_stages_is_refused() -> None:
    a, packed, _ = OPERANDS["float"]
    fbg.gemm(a, packed, [fbg.ReLU()] * 8)
    with pytest.raises(ValueError, match="pipeline: at most 8 stages, got 9"):
        fbg.gemm(a, packed, [fbg.ReLU()] * 9)


# --- Ways to write one --------------------------------------------------------------------------


def test_arrows_lists_and_bare_stages_are_one_pipeline() -> None:
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


def test_composing_leaves_its_parts_alone() -> None:
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
def test_repr_is_how_it_is_written(value: object, text: str) -> None:
    assert repr(value) == text


# --- Operands of stages -------------------------------------------------------------------------


def through(x: Array, pipeline: object) -> Array:
    """Run values through a pipeline of the float kernels, unchanged by the product."""
    identity = fbg.PackedB(np.eye(x.shape[1], dtype=np.float32), dtype="float32")
    return fbg.gemm(fbg.PackA(x), identity, pipeline)  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
@pytest.mark.parametrize("layout", ["strided", "backwards", "read-only"])
def test_bias_may_have_any_layout(isa: str, dtype: type, layout: str) -> None:
    a, packed, _ = OPERANDS["float" if dtype is np.float32 else "symmetric"]
    bias = np.arange(N, dtype=dtype) - 7
    wanted = fbg.gemm(a, packed, fbg.Bias(bias))
    laid_out = {
        "strided": np.repeat(bias, 3)[::3],
        "backwards": bias[::-1].copy()[::-1],
        "read-only": bias.copy(),
    }[layout]
    laid_out.flags.writeable = False
    assert_same_bits(fbg.gemm(a, packed, fbg.Bias(laid_out)), wanted)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "uint8", "int8"])
@settings(max_examples=30)
@given(
    m=st.integers(1, 14),
    n=st.integers(1, 140),
    padding=st.integers(0, 3),
    zero_point=st.integers(0, 127),
    scale=st.floats(2.0**-20, 2.0**20, width=32),
    threads=st.integers(1, 3),
    seed=st.integers(0, 2**32 - 1),
)
def test_a_residual_of_any_type_is_added_exactly(
    isa: str,
    dtype: str,
    m: int,
    n: int,
    padding: int,
    zero_point: int,
    scale: float,
    threads: int,
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    x, w = (rng.integers(-9, 9, shape).astype(np.float32) for shape in ((m, 3), (3, n)))
    wide = rng.integers(0, 256, (2 * m, n + padding), dtype=np.uint8)
    output = Output(x @ w)
    if dtype in ("uint8", "int8"):
        residual = wide.view(dtype)[::2, padding:]
        stage = fbg.Add(residual, scale=scale, zero_point=zero_point)
        output.add_quantized(residual, scale, zero_point)
    else:
        wanted = ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype
        residual = (wide / np.float32(7)).astype(wanted)[::2, padding:]
        stage = fbg.Add(residual)
        output.add(residual)
    packed = fbg.PackedB(w, dtype="float32")
    got = fbg.gemm(fbg.PackA(x), packed, stage, num_threads=threads)
    assert_same_bits(got, output.result)


def test_out_may_be_a_quantized_residual_only_element_for_element() -> None:
    a, packed, start = OPERANDS["float"]
    residual = np.arange(M * N, dtype=np.uint8).reshape(M, N)
    output = Output(start.value)
    output.add_quantized(residual, 0.5, 3)
    output.requantize(0.25, 9, "uint8")
    stages = [fbg.Add(residual, scale=0.5, zero_point=3), fbg.Requantize(0.25, 9)]
    assert fbg.gemm(a, packed, stages, out=residual) is residual
    assert_same_bits(residual, output.result)
    out = np.zeros((M, N), np.float32)
    bytes_of_out = out.view(np.uint8)[:, :N]  # the same address and stride, other elements
    with pytest.raises(ValueError, match="out may be the residual of Add, not overlap it in part"):
        fbg.gemm(a, packed, fbg.Add(bytes_of_out, scale=1.0), out=out)


@pytest.mark.parametrize("rows", ["apart", "upwards", "repeated"])
def test_residual_rows_may_lie_anywhere(isa: str, rows: str) -> None:
    a, packed, start = OPERANDS["float"]
    store = np.arange(2 * M * (N + 3), dtype=np.float32).reshape(2 * M, N + 3)
    residual = {
        "apart": store[::2, 1 : N + 1],
        "upwards": store[M - 1 :: -1, 3:],
        "repeated": np.broadcast_to(store[3, :N], (M, N)),
    }[rows]
    assert_same_bits(fbg.gemm(a, packed, fbg.Add(residual)), start.value + residual)


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: fbg.Bias([1.0]), TypeError, "Bias: values must be an array, got list"),
        (lambda: fbg.Bias(np.zeros(3)), TypeError, "Bias: values must be float32 or int32, got fl"),
        (lambda: fbg.Bias(np.zeros(3, np.int64)), TypeError, "float32 or int32, got int64"),
        (lambda: fbg.Bias(np.zeros(3, ">i4")), TypeError, "float32 or int32, got >i4"),
        (
            lambda: fbg.Bias(np.zeros((1, 3), np.float32)),
            ValueError,
            r"Bias: values must be 1-D \(N,\), got shape \(1, 3\)",
        ),
        (lambda: fbg.Add([[1.0]]), TypeError, "Add: residual must be an array, got list"),
        (
            lambda: fbg.Add(np.zeros((2, 3))),
            TypeError,
            "Add: residual must be float32 or float16 or bfloat16 or uint8 or int8, got float64",
        ),
        (
            lambda: fbg.Add(np.zeros((2, 3), np.uint8)),
            TypeError,
            "Add: a residual of uint8 needs its scale",
        ),
        (
            lambda: fbg.Add(np.zeros((2, 3), np.int8), scale=0.0),
            ValueError,
            "Add: scale must be finite and positive",
        ),
        (
            lambda: fbg.Add(np.zeros((2, 3), np.int8), scale=1.0, zero_point=128),
            ValueError,
            r"Add: zero_point must be within \[-128, 127\], got 128",
        ),
        *(
            (
                lambda quant=quant: fbg.Add(np.zeros((2, 3), np.float32), **quant),
                TypeError,
                "Add: scale and zero_point go with a uint8 or int8 residual, got float32",
            )
            for quant in ({"scale": 1.0}, {"zero_point": 1})
        ),
        (
            lambda: fbg.Add(np.zeros(3, np.float32)),
            ValueError,
            r"Add: residual must be 2-D \(M, N\), got shape \(3,\)",
        ),
        (
            lambda: fbg.Add(np.zeros((3, 2), np.float32).T),
            ValueError,
            "Add: residual must have contiguous rows",
        ),
        (lambda: fbg.RowRange([[0.0, 0.0]]), TypeError, "RowRange: out must be a NumPy array"),
        (
            lambda: fbg.RowRange(np.zeros((3, 2))),
            TypeError,
            "RowRange: out must be float32, got float64",
        ),
        (
            lambda: fbg.RowRange(np.zeros((2, 3), np.float32)),
            ValueError,
            r"RowRange: out must be C-contiguous \(M, 2\), got shape \(2, 3\)",
        ),
        (
            lambda: fbg.RowRange(np.zeros((2, 2), np.float32).T),
            ValueError,
            r"RowRange: out must be C-contiguous \(M, 2\), got shape \(2, 2\)",
        ),
        (
            lambda: fbg.RowRange(np.zeros(5, np.float32)[1:].reshape(2, 2)),
            ValueError,
            "RowRange: out must be aligned to 8 bytes",
        ),
        (
            lambda: fbg.GELU("erf"),
            ValueError,
            "GELU: approximate must be 'none' or 'tanh', got 'erf'",
        ),
        (
            lambda: fbg.Requantize(1.0, 0, np.int32),
            TypeError,
            "Requantize: dtype must be uint8 or int8, got int32",
        ),
        (
            lambda: fbg.Requantize(1.0, 256),
            ValueError,
            r"Requantize: zero_point must be within \[0, 255\], got 256",
        ),
        (
            lambda: fbg.Requantize(1.0, -129, np.int8),
            ValueError,
            r"Requantize: zero_point must be within \[-128, 127\], got -129",
        ),
        *(
            (
                lambda scale=scale: fbg.Requantize(scale),
                ValueError,
                "Requantize: scale must be finite and positive",
            )
            for scale in (0.0, -1.0, np.nan, np.inf, 1e300, 1e-60)
        ),
        *(
            (
                lambda scale=scale: fbg.Requantize(scale),
                TypeError,
                "Requantize: scale must be (one )?float, got",
            )
            for scale in ("1", None, 1j, np.ones(2, np.float32))
        ),
        *(
            (
                lambda point=point: fbg.Requantize(1.0, point),
                TypeError,
                "Requantize: zero_point must be an integer, got",
            )
            for point in (0.5, "1", None)
        ),
    ],
)
def test_bad_parameters_of_stages_are_refused(
    build: Callable[[], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        build()


def test_a_stage_keeps_its_array_alive() -> None:
    a, packed, start = OPERANDS["float"]
    pipeline = fbg.Bias(np.full(N, 2, np.float32)) >> fbg.Add(np.full((M, N), 3, np.float32))
    junk = [np.full((M, N), np.nan, np.float32) for _ in range(50)]
    assert_same_bits(fbg.gemm(a, packed, pipeline), start.value + 5)
    del junk


# --- GELU ---------------------------------------------------------------------------------------


def test_gelu_is_within_1e_6_of_erf(isa: str) -> None:
    x = np.linspace(-10, 10, 200_001, dtype=np.float32)
    x = np.append(x, np.float32(0.0))[: x.size // 35 * 35].reshape(-1, 35)
    got = through(x, fbg.GELU())
    assert np.abs(got - exact_gelu(x)).max() <= 1e-6
    assert_same_bits(got, portable_gelu(x))


@pytest.mark.parametrize("magnitude", [1e-30, 1e-6, 1e-3, 1e-2, 0.1])
def test_gelu_keeps_small_values_to_relative_precision(isa: str, magnitude: float) -> None:
    x = np.linspace(-1, 1, 70, dtype=np.float32).reshape(2, 35) * np.float32(magnitude)
    exact = exact_gelu(x)
    assert (np.abs(through(x, fbg.GELU()) - exact) <= 1e-5 * np.abs(exact)).all()


def test_gelu_beyond_its_polynomial_is_the_identity_or_zero(isa: str) -> None:
    x = np.array([[5.85, 6, 10, 1e10, 3.4e38, -5.85, -6, -10, -1e10, -3.4e38]], np.float32)
    got = through(np.ascontiguousarray(x.T), fbg.GELU()).ravel()
    assert (got[:5] == x[0, :5]).all()
    assert (got[5:] == 0).all()


# --- NaN, infinities, saturation, rounding ------------------------------------------------------


def one_value(value: float, pipeline: object) -> Array:
    """Run a value that a product with an identity would smear through a bias instead."""
    for m, n in [(1, 9)]:
        a = fbg.PackA(np.zeros((m, 1), np.float32))
        zero = fbg.PackedB(np.zeros((1, n), np.float32), dtype="float32")
        bias = np.zeros(n, np.float32)
        bias[[0, n - 1]] = value
        stages = pipeline if isinstance(pipeline, list) else [pipeline]
        got = fbg.gemm(a, zero, [fbg.Bias(bias), *stages])
        other = fbg.gemm(a, zero, stages)
        np.testing.assert_array_equal(got[0, 1 : n - 1], other[0, 1 : n - 1])
        assert_same_bits(got[:, :1], got[:, n - 1 :])
    return got[0, 0]


@pytest.mark.parametrize("stages", [[fbg.ReLU()], [fbg.GELU()], [fbg.ReLU(), fbg.GELU()]])
def test_nan_stays_nan(isa: str, stages: list[Stage]) -> None:
    assert np.isnan(one_value(np.nan, stages))
    assert np.isnan(one_value(-np.nan, stages))


def test_infinities_keep_their_meaning(isa: str) -> None:
    assert one_value(np.inf, fbg.ReLU()) == np.inf
    assert one_value(-np.inf, fbg.ReLU()) == 0
    assert one_value(np.inf, fbg.GELU()) == np.inf
    assert abs(one_value(-np.inf, fbg.GELU())) <= 1e-7


@pytest.mark.parametrize(
    ("zero_point", "dtype"),
    [
        (0, np.uint8),
        (255, np.uint8),
        (128, np.uint8),
        (0, np.int8),
        (-128, np.int8),
        (127, np.int8),
    ],
)
def test_requantize_saturates(isa: str, zero_point: int, dtype: type) -> None:
    limits = np.iinfo(dtype)
    for scale in (1e-38, 1e-3, 1.0, 3e38):
        stage = fbg.Requantize(scale, zero_point, dtype)
        assert one_value(np.inf, stage) == limits.max
        assert one_value(-np.inf, stage) == limits.min
        assert one_value(np.nan, stage) == limits.min
        assert one_value(0.0, stage) == zero_point
    stage = fbg.Requantize(1e-3, zero_point, dtype)
    for huge in (1.0, 1e6, 1e20, 3.4e38):
        assert one_value(huge, stage) == limits.max
        assert one_value(-huge, stage) == limits.min


def test_requantize_rounds_halves_to_even(isa: str) -> None:
    x = np.arange(-40, 41, dtype=np.float32) / 2
    got = through(x[:, None], fbg.Requantize(1.0, 7, np.int8)).ravel()
    np.testing.assert_array_equal(got, np.rint(x) + 7)
    acc = np.arange(-40, 41).astype(np.int8)
    packed = fbg.PackedB(acc[None, :], scale=0.5)
    one = fbg.PackAWithRowOffset(np.ones((3, 1), np.uint8), scale=1.0)
    for pipeline in (
        fbg.Requantize(1.0, 7, np.int8),
        fbg.CorrectZeroPoints() >> fbg.Requantize(1.0, 7, np.int8),
    ):
        got = fbg.gemm(one, packed, pipeline)
        np.testing.assert_array_equal(got, np.broadcast_to(np.rint(acc / 2) + 7, (3, 81)))


def test_requantized_rows_that_are_not_finite_give_the_lowest(isa: str) -> None:
    x = np.ones((3, 4), np.float32)
    x[1, 2] = np.nan
    packed = fbg.PackedB(np.ones((4, 20), np.float32))
    got = fbg.gemm(fbg.PackAWithQuantRowOffset(x), packed, fbg.Requantize(0.1, 3, np.int8))
    assert (got[1] == -128).all()
    assert (got[[0, 2]] == 43).all()


def test_relu_keeps_integers_exact(isa: str) -> None:
    b = np.array([[127, -128, 0, 1, -1]], np.int8)
    packed = fbg.PackedB(np.repeat(b, 5, axis=1), scale=1.0)
    a = fbg.PackAWithRowOffset(np.array([[255], [1], [0]], np.uint8), scale=1.0)
    got = fbg.gemm(a, packed, fbg.CorrectZeroPoints() >> fbg.ReLU())
    wanted = np.maximum(np.array([[255], [1], [0]]) * np.repeat(b, 5, axis=1).astype(int), 0)
    np.testing.assert_array_equal(got, wanted)


def test_int32_bias_commutes_with_the_correction(isa: str) -> None:
    a, packed, _ = OPERANDS["asymmetric"]
    bias = fbg.Bias(PARAMETERS["bias_int32"])
    correct = fbg.CorrectZeroPoints()
    assert_same_bits(fbg.gemm(a, packed, bias >> correct), fbg.gemm(a, packed, correct >> bias))
