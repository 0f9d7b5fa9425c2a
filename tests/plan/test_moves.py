"""Ops that move elements, and norms of planes, against NumPy: on every instruction set, at random
sizes, beside inaccessible pages.
"""

from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from differential.layouts import guarded
from fbg import _fbg

DTYPES = [np.uint8, np.int16, np.float32, np.int64]
many = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def run(build, *arrays, shape, dtype, threads=2, seed=0):
    """Run a graph on copies of arrays, and return its result: each ends or begins beside a page
    that nobody may touch.
    """
    random, graph, given_arrays = Random(seed), _fbg.Graph(), []
    for array in arrays:
        given_arrays.append(guarded(random, array.nbytes).view(array.dtype).reshape(array.shape))
        given_arrays[-1][...] = array
    buffers = [graph.append("input", array.nbytes, "tensor") for array in arrays]
    graph.output(build(graph, *buffers))
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    out = guarded(random, size).view(dtype).reshape(shape)
    _fbg.run_tensors(_fbg.Plan(graph, 1, 1, 1, threads), given_arrays, [out], threads)
    return out


def numbers(rng, shape, dtype):
    return rng.integers(0, 256, shape).astype(dtype)


@many
@given(st.data())
def test_matrices_are_transposed_beside_inaccessible_pages(isa, data):
    dtype, seed = data.draw(st.sampled_from(DTYPES)), data.draw(st.integers(0, 2**16))
    few = st.integers(1, 5)
    rows, columns = (data.draw(few | st.integers(1, 90)) for _ in range(2))
    before, after = data.draw(few), data.draw(st.integers(0, 2))  # slices of wider matrices
    x = numbers(np.random.default_rng(seed), (before, rows, columns + after), dtype)
    wide = columns + after
    axes = [(before, rows * columns, rows * wide, []), (columns, rows, 1, [])]
    axes.append((rows, 1, wide, []))
    y = run(
        lambda g, b: g.append(
            "arrange", [b], before * rows * columns, x.itemsize, [(0, 0, 0, axes)]
        ),
        x,
        shape=(before, columns, rows),
        dtype=dtype,
        threads=data.draw(st.integers(1, 3)),
        seed=seed,
    )
    np.testing.assert_array_equal(y, x[:, :, :columns].transpose(0, 2, 1))


def tables(extent):
    """Sources of the elements of an axis: runs of any step, and places without one (-1)."""

    def sources(run):
        first, step, count = run
        places = first + step * np.arange(count)
        return np.where((places >= 0) & (places < extent), places, -1).tolist()

    run = st.tuples(st.integers(0, extent - 1), st.integers(-2, 2), st.integers(1, 12))
    runs = st.lists(run.map(sources), min_size=1, max_size=4)
    return runs.map(lambda lists: [place for each in lists for place in each])


@many
@given(st.data())
def test_tables_pick_along_any_axes(isa, data):
    dtype, seed = data.draw(st.sampled_from(DTYPES)), data.draw(st.integers(0, 2**16))
    shape = data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=4))
    picked = [data.draw(st.none() | tables(extent)) for extent in shape]
    sources = [list(range(n)) if t is None else t for n, t in zip(shape, picked, strict=True)]
    x = numbers(np.random.default_rng(seed), shape, dtype)
    wanted = x[np.ix_(*sources)]
    for axis, own in enumerate(sources):
        np.moveaxis(wanted, axis, 0)[np.array(own) < 0] = 77
    strides = [int(np.prod(shape[i + 1 :])) for i in range(len(shape))]
    to = [int(np.prod(wanted.shape[i + 1 :])) for i in range(len(shape))]
    axes = []
    for i, table in enumerate(picked):
        entries = [] if table is None else [t * strides[i] if t >= 0 else -1 for t in table]
        axes.append((wanted.shape[i], to[i], strides[i], entries))
    fill = np.array(77, dtype).tobytes()
    y = run(
        lambda g, b: g.append("arrange", [b], wanted.size, x.itemsize, [(0, 0, 0, axes)], fill),
        x,
        shape=wanted.shape,
        dtype=dtype,
        threads=data.draw(st.integers(1, 3)),
        seed=seed,
    )
    np.testing.assert_array_equal(y, wanted)


@many
@given(st.data())
def test_elements_are_gathered_and_scattered_along_an_axis(isa, data):
    dtype, seed = data.draw(st.sampled_from(DTYPES)), data.draw(st.integers(0, 2**16))
    index = data.draw(st.sampled_from([np.int32, np.int64]))
    shape = data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=3))
    axis = data.draw(st.integers(0, len(shape) - 1))
    rng = np.random.default_rng(seed)
    x = numbers(rng, shape, dtype)
    places = np.argsort(rng.random(shape), axis).astype(index)  # each once
    places -= shape[axis] * (rng.random(shape) < 0.3).astype(index)
    item = x.itemsize
    strides = [item * int(np.prod(shape[i + 1 :])) for i in range(len(shape))]
    loops = [0 if i == axis else stride for i, stride in enumerate(strides)]
    own = [stride // item for stride in strides]
    indexing = (shape, loops, own, [(shape[axis], strides[axis])], item, np.dtype(index).itemsize)
    options = {"dtype": dtype, "threads": data.draw(st.integers(1, 3)), "seed": seed}
    y = run(lambda g, *b: g.append("gather", *b, indexing), x, places, shape=shape, **options)
    positive = places % shape[axis]
    np.testing.assert_array_equal(y, np.take_along_axis(x, positive, axis))
    updates = numbers(rng, shape, dtype)
    wanted = x.copy()
    np.put_along_axis(wanted, positive, updates, axis)
    y = run(
        lambda g, *b: g.append("scatter", *b, indexing, "replace", np.dtype(dtype).name),
        x,
        places,
        updates,
        shape=shape,
        **options,
    )
    np.testing.assert_array_equal(y, wanted)


@pytest.mark.parametrize("pixels", [64, 1023, 1024, 2500])
@pytest.mark.parametrize("groups", [1, 2, 6])
def test_norms_of_planes_are_those_of_channels_last(isa, pixels, groups):
    rng = np.random.default_rng(pixels)
    x = (rng.standard_normal((2, 6, pixels)) * 3 + 40).astype(np.float32)
    gamma, beta = rng.standard_normal((2, 6)).astype(np.float32)
    parts = x.astype(np.float64).reshape(2, groups, -1)
    centered = parts - parts.mean(-1, keepdims=True)
    wanted = centered / np.sqrt((centered**2).mean(-1, keepdims=True) + 1e-5)
    wanted = wanted.reshape(x.shape) * gamma[:, None] + beta[:, None]
    first = None
    for threads in (1, 2, 3):
        y = run(
            lambda g, b: g.append("group_norm", b, 2, pixels, groups, gamma, beta, 1e-5, True),
            x,
            shape=x.shape,
            dtype=np.float32,
            threads=threads,
        )
        first = y if first is None else first
        np.testing.assert_array_equal(y, first)
    np.testing.assert_allclose(first, wanted, atol=2e-5)


@many
@given(st.data())
def test_bytes_of_whole_planes_are_averaged(isa, data):
    images, pixels = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 400))
    point, result = data.draw(st.integers(0, 255)), data.draw(st.none() | st.integers(0, 255))
    factor = data.draw(st.sampled_from([0.5, 0.9, 1.0, 2.5]))
    x = numbers(np.random.default_rng(data.draw(st.integers(0, 2**16))), (images, pixels), np.uint8)
    whole, one, none = (1, 1, pixels), (1, 1, 1), (0, 0, 0)
    more = {"factor": factor, "zero_point": point}
    more |= {"float_output": True} if result is None else {"output_zero_point": result}
    sizes = [whole, one, whole, one, one, none, none]
    y = run(
        lambda g, b: g.append("window", b, sizes, "mean", images, 1, False, "uint8", **more),
        x,
        shape=(images,),
        dtype=np.float32 if result is None else np.uint8,
        threads=data.draw(st.integers(1, 3)),
    )
    sums = (x.astype(np.int32).sum(1) - point * pixels).astype(np.float32)
    wanted = sums * (np.float32(factor) / np.float32(pixels))
    if result is not None:
        wanted = np.clip(np.rint(wanted) + result, 0, 255)
    np.testing.assert_array_equal(y, wanted.astype(y.dtype))
