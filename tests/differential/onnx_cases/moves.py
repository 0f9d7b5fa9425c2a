"""Nodes that move elements."""

from __future__ import annotations

import numpy as np
from onnx import numpy_helper

from differential.onnx_cases.draw import draws

TYPES = (
    *("float32", "float32", "float32", "uint8", "int8", "int32", "int64", "float64", "bool"),
    *("float16", "uint32", "uint64", "int16", "uint16"),
)


@draws("Concat")
def concat(d, op, version):
    shape, dtype = d.shape(1), d.one(TYPES)
    axis = d.axis(len(shape))
    parts = []
    for _ in range(d.random.randint(1, 4)):
        own = list(shape)
        own[axis % len(own)] = d.size()
        parts.append(d.array(dtype, own))
    return parts, {"axis": axis}


@draws("DepthToSpace", "SpaceToDepth")
def blocks(d, op, version):
    b = d.one((1, 2, 2, 3))
    n, c, h, w = (d.size(3) for _ in range(4))
    shape = (n, c * b * b, h, w) if op == "DepthToSpace" else (n, c, h * b, w * b)
    types = TYPES if version >= 13 else ("float32",)
    return [d.array(d.one(types), shape)], {"blocksize": b, "mode": d.one((None, "DCR", "CRD"))}


@draws("Dropout")
def dropout(d, op, version):
    ratio = d.maybe(float(d.rng.uniform(0, 0.9)))
    x = d.floats(*d.shape())
    if version < 12:
        return [x], {"ratio": ratio}
    training = d.maybe(np.bool_(False))
    inputs = [x, None if ratio is None else np.float32(ratio), training]
    return [v if v is None else np.asarray(v) for v in inputs], {"seed": d.maybe(1)}


@draws("Expand")
def expand(d, op, version):
    shape = d.shape()
    return [d.array(d.one(TYPES), shape), np.int64(d.partner(shape))], {}


@draws("Tile")
def tile(d, op, version):
    shape = d.shape(1, 4)
    return [d.array(d.one(TYPES), shape), np.int64([d.size(3) for _ in shape])], {}


@draws("Flatten")
def flatten(d, op, version):
    shape = d.shape()
    low = -len(shape) if version >= 11 else 0
    return [d.array(d.one(TYPES), shape)], {"axis": d.maybe(d.random.randint(low, len(shape)), 0.8)}


@draws("Gather")
def gather(d, op, version):
    shape = d.shape(1, 4)
    axis = d.maybe(d.axis(len(shape)), 0.8)
    extent = shape[(axis or 0) % len(shape)]
    low = -extent if version >= 11 else 0
    indices = d.rng.integers(low, max(extent, low + 1), d.shape(0, 2))
    dtype = np.int32 if d.random.random() < 0.5 else np.int64
    return [d.array(d.one(TYPES), shape), np.asarray(indices, dtype)], {"axis": axis}


@draws("Identity")
def identity(d, op, version):
    return [d.array(d.one(TYPES), d.shape())], {}


@draws("Pad")
def pad(d, op, version):
    shape = d.shape(1, 4)
    modes = ("constant", "constant", "reflect", "edge", *(["wrap"] if version >= 19 else []))
    mode = d.maybe(d.one(modes), 0.8)
    axes = d.axes(len(shape)) if version >= 18 and d.random.random() < 0.3 else None
    chosen = range(len(shape)) if axes is None else axes
    pads = []
    for _ in range(2):
        for axis in chosen:
            most = max(shape[axis] - 1, 0) if mode in ("reflect", "wrap") else 3
            pads.append(d.random.randint(-1 if d.random.random() < 0.2 else 0, min(most, 3)))
    if version < 11:
        value = d.maybe(float(d.one((0, 1, -3))))
        return [d.floats(*shape)], {"mode": mode, "pads": pads, "value": value}
    dtype = d.one(("float32", "float32", "float32", "uint8", "int8", "int64"))
    fill = d.maybe(d.array(dtype, d.one(((), (), (1,)))))
    inputs = [d.array(dtype, shape), np.int64(pads), fill]
    return [*inputs, None if axes is None else np.int64(axes)], {"mode": mode}


@draws("Reshape")
def reshape(d, op, version):
    shape = d.shape()
    left, new = int(np.prod(shape)), []
    while left > 1 and d.random.random() < 0.8:
        step = d.one([i for i in range(1, left + 1) if left % i == 0])
        new.append(step)
        left //= step
    new.append(left)
    d.random.shuffle(new)
    if d.random.random() < 0.4:
        new[d.random.randrange(len(new))] = -1
    new = [
        0 if i < len(shape) and size == shape[i] and d.flag() else size
        for i, size in enumerate(new)
    ]
    return [d.array(d.one(TYPES), shape), np.int64(new)], {"allowzero": d.maybe(0, 0.3)}


@draws("Slice")
def slices(d, op, version):
    shape = d.shape(1)
    axes = d.axes(len(shape))
    extents = [shape[axis] for axis in axes]
    starts = [d.random.randint(-n - 2, n + 2) for n in extents]
    ends = [
        d.one((d.random.randint(-n - 2, n + 2), 2**31 - 1, 2**63 - 1, -(2**63))) for n in extents
    ]
    x = d.array(d.one(TYPES), shape)
    if version < 10:
        axes = [axis % len(shape) for axis in axes]
        return [x], {"starts": starts, "ends": ends, "axes": axes}
    steps = [d.one((1, 1, 2, -1, -2, 5)) for _ in axes]
    kind = np.int32 if max([abs(e) for e in ends], default=0) < 2**31 and d.flag() else np.int64
    inputs = [np.asarray(v, kind) for v in (starts, ends, axes, steps)]
    return [x, *inputs[:3], d.maybe(inputs[3], 0.7)], {}


@draws("Split")
def split(d, op, version):
    parts = d.random.randint(1, 4)
    shape = list(d.shape(1))
    axis = d.axis(len(shape))
    sizes = [d.size() for _ in range(parts)]
    even = d.random.random() < 0.4
    if even:
        sizes = [d.random.randint(1, 3)] * parts
    shape[axis % len(shape)] = sum(sizes)
    given = None if even and d.flag() else sizes
    attributes = {"axis": axis, "num_outputs": parts if given is None else None}
    x = d.array(d.one(TYPES), shape)
    if version < 13:
        return [x], attributes | {"split": given, "num_outputs": None, "": parts}
    return [x, None if given is None else np.int64(given)], attributes | {"": parts}


@draws("Squeeze")
def squeeze(d, op, version):
    shape = tuple(1 if d.random.random() < 0.5 else size for size in d.shape())
    ones = [axis for axis, size in enumerate(shape) if size == 1]
    axes = d.random.sample(ones, d.random.randint(0, len(ones)))
    axes = [a - len(shape) if version >= 11 and d.flag() else a for a in axes]
    return with_axes(d, version, shape, d.maybe(axes, 0.7))


@draws("Unsqueeze")
def unsqueeze(d, op, version):
    shape, count = d.shape(0, 3), d.random.randint(1, 3)
    rank = len(shape) + count
    axes = d.random.sample(range(rank), count)
    return with_axes(
        d, version, shape, [a - rank if version >= 11 and d.flag() else a for a in axes]
    )


def with_axes(d, version, shape, axes):
    x = d.array(d.one(TYPES), shape)
    if version < 13:
        return [x], {"axes": axes}
    return [x, None if axes is None else np.int64(axes)], {}


@draws("Transpose")
def transpose(d, op, version):
    shape = d.shape()
    perm = d.random.sample(range(len(shape)), len(shape))
    return [d.array(d.one(TYPES), shape)], {"perm": d.maybe(perm, 0.8) if shape else None}


@draws("Range")
def span(d, op, version):
    dtype = d.one((np.float32, np.int32, np.int64))
    start, limit = d.random.randint(-9, 9), d.random.randint(-9, 9)
    return [np.asarray(v, dtype) for v in (start, limit, d.one((1, 2, -1, -3)))], {
        "stash_type": None
    }


@draws("ConstantOfShape")
def constant_of_shape(d, op, version):
    value = d.maybe(numpy_helper.from_array(d.array(d.one(("float32", "int64")), (1,))))
    return [np.int64(d.shape(1))], {"value": value}
