"""The ops of tensors of any type against NumPy, and what they refuse."""

import ml_dtypes
import numpy as np
import pytest

import fbg
from fbg import _fbg

INTEGERS = [np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32, np.uint64, np.int64]
TYPES = [*INTEGERS, np.float32, np.float64]


def planned(build, *arrays, threads=2):
    graph = _fbg.Graph()
    buffers = [graph.append("input", array.nbytes, "tensor") for array in arrays]
    graph.output(build(graph, *buffers))
    return _fbg.Plan(graph, 1, 1, 1, threads)


def run(build, *arrays, shape, dtype, threads=2):
    out = np.empty(shape, dtype)
    plan = planned(build, *arrays, threads=threads)
    assert _fbg.run_tensors(plan, list(arrays), [out], threads) == -1
    return out


def drawn(dtype, shape, seed=0):
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        return rng.standard_normal(shape).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("function", ["add", "subtract", "multiply", "maximum", "minimum", "less"])
def test_functions_of_numbers_are_those_of_numpy(dtype, function):
    a, b = drawn(dtype, (3, 1200)), drawn(dtype, (1200,), 1)
    wanted = getattr(np, function)(a, b)
    name, operands = np.dtype(dtype).name, [(0, [1200, 1]), (1, [0, 1])]
    y = run(
        lambda g, *_: g.append("function", function, name, [3, 1200], operands),
        *(a, b),
        shape=wanted.shape,
        dtype=wanted.dtype,
    )
    np.testing.assert_array_equal(y, wanted)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
def test_quotients_and_remainders_of_integers_have_no_exceptions(dtype):
    lowest = np.iinfo(dtype).min
    a = np.array([7, -7, 7, -7, 5, lowest, lowest], dtype)
    b = np.array([2, 2, -2, -2, 0, -1, 1], dtype)
    wanted = {
        "divide": [3, -3, -3, 3, 0, lowest, lowest],
        "remainder": [1, -1, 1, -1, 0, 0, 0],
        "modulo": [1, 1, -1, -1, 0, 0, 0],
    }
    for function, results in wanted.items():
        operands, name = [(0, [1]), (1, [1])], np.dtype(dtype).name
        y = run(
            lambda g, *_: g.append("function", function, name, [7], operands),  # noqa: B023
            *(a, b),
            shape=7,
            dtype=dtype,
        )
        assert y.tolist() == results


ALL = [*TYPES, np.bool_, np.float16, ml_dtypes.bfloat16]


@pytest.mark.parametrize("given", ALL)
@pytest.mark.parametrize("wanted", ALL)
def test_conversions_are_those_of_numpy(given, wanted):
    x = np.arange(0, 100).astype(given)
    names = [np.dtype(dtype).name for dtype in (given, wanted)]
    y = run(lambda g, b: g.append("convert", b, *names), x, shape=x.shape, dtype=wanted)
    np.testing.assert_array_equal(y, x.astype(wanted))


def test_conversions_of_floats_that_no_integer_is_are_defined():
    x = np.array([np.nan, np.inf, -np.inf, 1e30, -1e30, -1.5, 300], np.float32)
    wanted = {
        np.int64: [-(2**63), 2**63 - 1, -(2**63), 2**63 - 1, -(2**63), -1, 300],
        np.int32: [-(2**31), 2**31 - 1, -(2**31), 2**31 - 1, -(2**31), -1, 300],
        np.uint8: [0, 255, 0, 255, 0, 255, 44],
    }
    for dtype, results in wanted.items():
        name = np.dtype(dtype).name
        y = run(lambda g, b: g.append("convert", b, "float32", name), x, shape=7, dtype=dtype)  # noqa: B023
        assert y.tolist() == results


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("axis", [(1, 300, 1), (3, 7, 130), (70, 5, 1), (1, 9, 70)])
@pytest.mark.parametrize("threads", [1, 3])
def test_reductions_and_running_sums(dtype, axis, threads):
    x, name = drawn(dtype, axis), np.dtype(dtype).name
    wanted_of = {
        "sum": x.sum(1, dtype),
        "max": x.max(1),
        "first_max": x.argmax(1),
        "first_min": x.argmin(1),
    }
    for function, wanted in wanted_of.items():
        y = run(
            lambda g, b: g.append("reduce", b, list(axis), name, function),  # noqa: B023
            x,
            shape=wanted.shape,
            dtype=wanted.dtype,
            threads=threads,
        )
        np.testing.assert_allclose(y, wanted, rtol=1e-4, atol=1e-4)
    wanted = np.cumsum(x, axis=1, dtype=dtype)
    y = run(
        lambda g, b: g.append("accumulate", b, list(axis), name),
        x,
        shape=axis,
        dtype=dtype,
        threads=threads,
    )
    np.testing.assert_allclose(y, wanted, rtol=1e-4, atol=1e-4)


def test_positions_of_extremes_and_nan():
    x = np.array([[1, 3, 3, 0], [np.nan, 1, np.nan, 2]], np.float32)
    wanted = {"first_max": [1, 0], "last_max": [2, 2], "first_min": [3, 0], "last_min": [3, 2]}
    for function, positions in wanted.items():
        build = lambda g, b: g.append("reduce", b, [2, 4, 1], "float32", function)  # noqa: B023, E731
        assert run(build, x, shape=2, dtype=np.int64).tolist() == positions
    build = lambda g, b: g.append("top_positions", b, [2, 4, 1], "float32", 3)  # noqa: E731
    assert run(build, x, shape=(2, 3), dtype=np.int64).tolist() == [[1, 2, 0], [0, 2, 3]]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "uint8"])
@pytest.mark.parametrize("greatest", [True, False])
@pytest.mark.parametrize("axis", [[3, 700, 1], [2, 333, 5]])
def test_few_of_many_are_the_first_of_all_in_order(dtype, greatest, axis):
    rng = np.random.default_rng(axis[1])
    x = rng.integers(0, 200, axis).astype(dtype)  # many are equal
    order = -x.astype(np.float64) if greatest else x.astype(np.float64)
    if dtype.startswith("float"):
        x[rng.random(axis) < 0.002] = np.nan  # greater than all others
        x[rng.random(axis) < 0.02] = -0.0
        order = np.nan_to_num(-x if greatest else x, nan=-np.inf if greatest else np.inf)
    wanted = np.argsort(order, axis=1, kind="stable")
    for k in (1, 2, 7, axis[1] // 16, axis[1] // 16 + 1, axis[1]):
        build = lambda g, b: g.append("top_positions", b, axis, dtype, k, greatest)  # noqa: B023, E731
        y = run(build, x, shape=(axis[0], k, axis[2]), dtype=np.int64, threads=2)
        np.testing.assert_array_equal(y, wanted[:, :k])


@pytest.mark.parametrize("count", [1, 2, 31, 32, 33, 63, 64, 100, 1000])
def test_reductions_of_neighbours(count):
    for dtype in TYPES:
        x = drawn(dtype, (3, count), count)
        x[:, count // 2 :] = x[:, : count - count // 2]  # extremes are there twice
        if np.dtype(dtype).kind == "f":
            x[1, count // 3 :: 7] = np.nan
        last = count - 1
        for function, wanted in {
            "max": x.max(1),
            "min": x.min(1),
            "product": x.prod(1, dtype=dtype),
            "first_max": x.argmax(1),
            "first_min": x.argmin(1),
            "last_max": last - x[:, ::-1].argmax(1),
            "last_min": last - x[:, ::-1].argmin(1),
        }.items():
            fields = ([3, count, 1], np.dtype(dtype).name, function)
            build = lambda g, b: g.append("reduce", b, *fields)  # noqa: B023, E731
            y = run(build, x, shape=3, dtype=wanted.dtype)
            np.testing.assert_allclose(y, wanted, 1e-4 if function == "product" else 0)


@pytest.mark.parametrize("size", [1, 5, 64, 1027])
def test_floats_become_long_integers(size):
    limits = [2.0**63, -(2.0**63), 9.2233715e18, np.inf, -np.inf, np.nan, -np.nan, 1e30, -1e30]
    x = np.resize(np.array([*limits, 0, -0.0, 0.9, -0.9, 1e7, -123456.7], np.float32), size)
    highest, lowest = np.iinfo(np.int64).max, np.iinfo(np.int64).min
    wanted = [
        lowest if np.isnan(v) or v < -(2.0**63) else highest if v >= 2.0**63 else int(v) for v in x
    ]
    for isa in fbg.isa.supported():
        with fbg.isa.limit(isa):
            build = lambda g, b: g.append("convert", b, "float32", "int64")  # noqa: E731
            y = run(build, x, shape=size, dtype=np.int64)
        assert y.tolist() == wanted


ROWS = ([4], [0], [1], [(3, 8)], 8, 8)  # four rows of two floats, of three


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_rows_that_meet_are_combined_in_their_order(threads):
    x, updates = np.zeros((3, 2), np.float32), np.arange(8, dtype=np.float32).reshape(4, 2)
    indices = np.array([2, -1, 0, 2])
    for how, wanted in (("replace", [6, 7]), ("add", [8, 11])):
        y = run(
            lambda g, *b: g.append("scatter", *b, ROWS, how, "float32"),  # noqa: B023
            *(x, indices, updates),
            shape=(3, 2),
            dtype=np.float32,
            threads=threads,
        )
        np.testing.assert_array_equal(y, [[4, 5], [0, 0], wanted])


@pytest.mark.parametrize("wrong", [3, -4, 2**40, -(2**63)])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_run_with_an_index_out_of_range_tells_its_op(wrong, threads):
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    indices = np.array([0, 1, wrong, 2])
    plan = planned(lambda g, *b: g.append("gather", *b, ROWS), x, indices, threads=threads)
    assert _fbg.run_tensors(plan, [x, indices], [np.empty((4, 2), np.float32)], threads) == 2
    updates, out = np.ones((4, 2), np.float32), np.empty((3, 2), np.float32)
    plan = planned(
        lambda g, *b: g.append("scatter", *b, ROWS, "replace", "float32"), x, indices, updates
    )
    assert _fbg.run_tensors(plan, [x, indices, updates], [out], threads) == 3
    np.testing.assert_array_equal(out, 1)  # rows that exist are written


def test_indices_and_rows_must_lie_within_their_tensors():
    graph = _fbg.Graph()
    x, indices = graph.append("input", 24, "tensor"), graph.append("input", 32, "tensor")
    for places in [
        ([4], [0], [1], [(4, 8)], 8, 8),  # four rows of three
        ([4], [8], [1], [(3, 8)], 8, 8),  # moving beyond the end
        ([5], [0], [1], [(3, 8)], 8, 8),  # five indices of four
        ([4], [0], [1], [(3, 8)], 8, 2),
        ([4], [0], [1], [], 8, 8),
        ([4], [-8], [1], [(3, 8)], 8, 8),
        ([4, 1], [0], [1], [(3, 8)], 8, 8),
        ([4], [0], [1], [(0, 8)], 8, 8),
    ]:
        with pytest.raises(ValueError, match="gather"):
            graph.append("gather", x, indices, places)
    updates = graph.append("input", 32, "tensor")
    with pytest.raises(ValueError, match="scatter: rows must consist of whole elements"):
        graph.append(
            "scatter", x, indices, updates, ([4], [0], [1], [(3, 4)], 8, 8), "add", "float64"
        )


def test_functions_refuse_what_they_cannot_compute():
    graph = _fbg.Graph()
    x = graph.append("input", 24, "tensor")
    for message, fields in {
        "there is no function 'sine'": ("sine", "float32", [6], [(x, [1])]),
        "takes 2 operands": ("add", "float32", [6], [(x, [1])]),
        "reach beyond": ("negate", "float32", [7], [(x, [1])]),
        "must not be negative": ("negate", "float32", [6], [(x, [-1])]),
        "no arithmetic of 16-bit floats": ("negate", "float16", [6], [(x, [1])]),
        "no function 'bitwise_not'": ("bitwise_not", "float32", [6], [(x, [1])]),
        "a stride for each extent": ("negate", "float32", [2, 3], [(x, [1])]),
    }.items():
        with pytest.raises(ValueError, match=message):
            graph.append("function", *fields)
    with pytest.raises(ValueError, match="k must be at least 1 and at most 6, got 7"):
        graph.append("top_positions", x, [1, 6, 1], "float32", 7)
    with pytest.raises(ValueError, match="reduce: x"):
        graph.append("reduce", x, [1, 7, 1], "float32", "sum")


@pytest.mark.parametrize("groups", [1, 2, 6])
@pytest.mark.parametrize("pixels", [1, 35, 5000])
def test_group_norm(isa, groups, pixels):
    rng = np.random.default_rng(pixels)
    x = (rng.standard_normal((2, pixels, 6)) + 100).astype(np.float32)
    gamma, beta = (rng.standard_normal(6).astype(np.float32) for _ in range(2))
    y = [
        run(
            lambda g, b: g.append("group_norm", b, 2, pixels, groups, gamma, beta, 1e-3),
            x,
            shape=x.shape,
            dtype=np.float32,
            threads=threads,
        )
        for threads in (1, 2)
    ]
    np.testing.assert_array_equal(*y)
    parts = x.astype(np.float64).reshape(2, pixels, groups, -1)
    centered = parts - parts.mean((1, 3), keepdims=True)
    wanted = centered / np.sqrt((centered**2).mean((1, 3), keepdims=True) + 1e-3)
    np.testing.assert_allclose(y[0], wanted.reshape(x.shape) * gamma + beta, rtol=1e-3, atol=1e-3)
