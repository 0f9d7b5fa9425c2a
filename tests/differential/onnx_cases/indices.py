"""Nodes that move elements by indices, and those that find positions along an axis."""

from __future__ import annotations

import numpy as np

from differential.onnx_cases.draw import draws

TYPES = ("float32", "float32", "uint8", "int32", "int64", "float64", "bool")
NUMBERS = ("float32", "float32", "float32", "int32", "int64", "float64")
COMBINED = ("none", "none", "add", "mul", "max", "min")


def indices(d, sizes, shape):
    """Return indices of axes of these sizes, one for the last axis of a shape or for all of it."""
    parts = [d.rng.integers(-size, max(size, -size + 1), shape) for size in sizes]
    return np.stack(parts, -1)


@draws("GatherElements")
def gather_elements(d, op, version):
    shape = tuple(max(size, 1) for size in d.shape(1, 4))
    axis = d.axis(len(shape))
    places = [d.random.randint(1, size) for size in shape]
    places[axis % len(shape)] = d.size()
    kind = d.one((np.int32, np.int64))
    found = indices(d, [shape[axis % len(shape)]], tuple(places))[..., 0]
    return [d.array(d.one(TYPES), shape), found.astype(kind)], {"axis": axis}


@draws("GatherND")
def gather_nd(d, op, version):
    shape = tuple(max(size, 1) for size in d.shape(1, 5))
    batch = d.random.randint(0, len(shape) - 1) if version >= 12 else 0
    depth = d.random.randint(1, len(shape) - batch)
    places = (*shape[:batch], *d.shape(0, 2))
    found = indices(d, list(shape[batch : batch + depth]), places)
    return [d.array(d.one(TYPES), shape), found.astype(np.int64)], {"batch_dims": d.maybe(batch, 1)}


@draws("Scatter", "ScatterElements")
def scatter_elements(d, op, version):
    shape = tuple(max(size, 1) for size in d.shape(1, 4))
    axis = d.axis(len(shape))
    how = d.one(COMBINED) if op == "ScatterElements" and version >= 16 else "none"
    how = how if version >= 18 or how not in ("max", "min") else "add"
    places = [d.random.randint(1, size) for size in shape]
    size = shape[axis % len(shape)]
    if how == "none":  # which of two updates of a place wins is not defined
        order = d.rng.permutation(size)[: places[axis % len(shape)]]
        wide = order.reshape(-1, *[1] * (len(shape) - 1 - axis % len(shape)))
        found = np.broadcast_to(wide, places)
    else:
        found = indices(d, [size], tuple(places))[..., 0]
    dtype = d.one(NUMBERS if how != "none" else TYPES)
    inputs = [d.array(dtype, shape), found.astype(np.int64), d.array(dtype, places)]
    return inputs, {"axis": axis, "reduction": None if how == "none" else how}


@draws("ScatterND")
def scatter_nd(d, op, version):
    shape = tuple(max(size, 1) for size in d.shape(1, 4))
    depth = d.random.randint(1, len(shape))
    how = d.one(COMBINED) if version >= 16 else "none"
    how = how if version >= 18 or how not in ("max", "min") else "mul"
    rows = int(np.prod(shape[:depth]))
    if how == "none":
        kept = d.rng.permutation(rows)[: d.random.randint(1, rows)]
        found = np.stack(np.unravel_index(kept, shape[:depth]), -1)
    else:
        found = indices(d, list(shape[:depth]), (d.random.randint(1, 9),))
    dtype = d.one(NUMBERS if how != "none" else TYPES)
    updates = d.array(dtype, (len(found), *shape[depth:]))
    attributes = {"reduction": None if how == "none" else how}
    return [d.array(dtype, shape), found.astype(np.int64), updates], attributes


@draws("ArgMax", "ArgMin")
def positions(d, op, version):
    shape = d.shape(1, 5)
    return [d.array(d.one(NUMBERS), shape)], {
        "axis": d.maybe(d.axis(len(shape)), 0.8),
        "keepdims": d.flag(),
        "select_last_index": d.flag(),
    }


@draws("TopK")
def top_k(d, op, version):
    shape = [max(size, 1) for size in d.shape(1, 4)]
    axis = d.axis(len(shape))
    if d.random.random() < 0.4:
        shape[axis] = d.random.randint(16, 300)  # few of many
    k = d.random.randint(1, max(shape[axis] // d.one((1, 16)), 1))
    attributes = {"axis": axis, "largest": d.flag(), "sorted": d.maybe(1), "": 2}
    if version < 10:
        return [d.floats(*shape)], attributes | {"k": k}
    x = d.array(d.one(NUMBERS if version >= 11 else ("float32",)), tuple(shape))
    return [x, np.int64([k])], attributes


@draws("CumSum", "CumProd")
def accumulation(d, op, version):
    shape = d.shape(1, 4)
    axis = np.asarray(d.axis(len(shape)), d.one((np.int32, np.int64)))
    x = d.array(d.one(NUMBERS), shape)
    return [x, axis], {"exclusive": d.flag(), "reverse": d.flag()}


@draws("OneHot")
def one_hot(d, op, version):
    shape, depth = d.shape(0, 3), d.random.randint(1, 7)
    places = d.rng.integers(-depth - 1, depth + 1, shape)
    dtype = d.one(("int64", "int64", "int32", "float32"))
    values = d.array(d.one(("float32", "int64", "int32")), (2,))
    inputs = [np.asarray(places, dtype), np.asarray(depth, np.int64), values]
    return inputs, {"axis": d.maybe(d.axis(len(shape) + 1), 0.8)}


@draws("Trilu")
def triangle(d, op, version):
    shape = d.shape(2, 4)
    k = d.maybe(np.asarray(d.random.randint(-7, 7), np.int64))
    return [d.array(d.one(("float32", "int64", "float64", "bool")), shape), k], {"upper": d.flag()}


@draws("Einsum")
def einsum(d, op, version):
    sizes = {letter: d.random.randint(1, 5) for letter in "abcde"}
    terms = []
    for _ in range(d.random.randint(1, 3)):
        terms.append("".join(d.random.choices("abcde", k=d.random.randint(1, 4))))
    letters = sorted({*"".join(terms)})
    result = "".join(d.random.sample(letters, d.random.randint(0, len(letters))))
    dtype = d.one(("float32", "float32", "float64", "int32"))
    inputs = [d.array(dtype, [sizes[letter] for letter in term]) for term in terms]
    ends = d.one((f"->{result}", f" -> {result}", ""))
    return inputs, {"equation": d.one((",", ", ")).join(terms) + ends}
