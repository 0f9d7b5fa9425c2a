"""Products of every packer, type of weights and pipeline, against sums in float64.

However operands lie and whatever way a product is called, its bits must be those of the plain call
and of the portable kernels. The word for the end of a case names the weights, the packer and the
instruction set.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

import fbg
from differential.layouts import Target, again, integers, laid_out
from differential.pipelines import TINY, UNIT, Expected, corrects, draw_steps
from helpers.formulas import assert_same_bits, quantize_rows
from helpers.random_cases import Different, Kind

Array = npt.NDArray[Any]

ISAS = fbg.isa.supported()
MOST_PRODUCTS = 400_000
LARGE = ((300, 2100, 100), (160, 1300, 530), (64, 320, 768), (1, 900, 700), (2, 33025, 40))


def _size(random, longest):
    """Return 0, 1, around a power of two, or any size."""
    near = 2 ** random.randint(1, 7) + random.randint(-1, 1)
    return min(random.choice((0, 1, 1, 2, 3, near, near, random.randint(1, longest))), longest)


def draw_shape(random):
    """Return M, K and N: tails of every tile, now and then many rows, columns or products."""
    while True:
        m, k, n = (_size(random, longest) for longest in (40, 150, 150))
        if random.random() < 0.1:
            k = random.choice((255, 256, 257, 511, 512, 513, 640, 1100))
        if random.random() < 0.05:
            m = random.choice((64, 100, 129, 300))
        if m * k * n <= MOST_PRODUCTS:
            return m, k, n


def _floats(random, rng, shape):
    values = rng.standard_normal(shape, np.float32) * np.float32(2.0 ** random.randint(-6, 6))
    kind = random.randrange(8)
    if kind == 0:
        values = np.maximum(values, 0)
    elif kind == 1:
        values[...] = random.choice((0.0, 1.0, -2.0))
    return values


@dataclass(frozen=True)
class Problem:
    """What is multiplied: x, how it is packed, the weights, and what sums they have."""

    x: Array
    packer: type[fbg.PackA]
    options: dict[str, Any]
    weights: fbg.PackedB
    sums: bool  # of integers
    scaled: bool
    pointed: bool  # of both operands, zero points are known
    raw: Callable[[], Expected]
    corrected: Callable[[], Expected]


def _int8_weights(random, rng, k, n):
    more = {"transpose": random.random() < 0.5}
    more["accum"] = random.choice((None, "int32", "int16"))
    if more["accum"] == "int16" and random.random() < 0.5:
        more["outlier_bits"] = random.randint(1, 8)
    shape = (n, k) if more["transpose"] else (k, n)
    if random.random() < 0.4:
        more["granularity"] = random.choice(("column", "tensor"))
        more["symmetric"] = random.random() < 0.6
        w = _floats(random, rng, shape)
    else:
        w = integers(rng, shape, np.int8)
        if random.random() < 0.3:  # few large ones
            w = np.where(rng.random(shape) < 0.1, w, w >> 5).astype(np.int8)
        if random.random() < 0.8:
            scales = rng.uniform(0.001, 0.1, n).astype(np.float32)
            more["scale"] = random.choice((None, 0.25, scales))
            points = rng.integers(-128, 128, n)
            some = np.where(rng.random(n) < 0.5, 0, points)
            more["zero_point"] = random.choice((None, 0, random.randint(-128, 127), points, some))
    with fbg.isa.limit("generic"):  # where sums in int16 are not left to VNNI
        return fbg.PackedB(laid_out(random, w), **more)


def _int8_problem(random, rng, m, k, n):
    weights = _int8_weights(random, rng, k, n)
    w = weights.unpack().astype(np.float64)
    own = w if weights.zero_point is None else w - weights.zero_point
    packer = random.choice((fbg.PackA, fbg.PackAWithRowOffset, fbg.PackAWithQuantRowOffset))
    options = {}
    scale = np.ones(m, np.float32)
    points = np.zeros(m)
    if packer is fbg.PackAWithQuantRowOffset:
        x = q = _floats(random, rng, (m, k))
        kind = random.choice(("row", "tensor", "ranges", "factors", "factors of tensor"))
        if "factors" in kind:
            factors = rng.uniform(0.1, 4, k).astype(np.float32)
            options["channel_scale"] = laid_out(random, factors)
            q = x * factors
        if "tensor" in kind:
            options["granularity"] = "tensor"
        if kind == "ranges":
            ends = [x.min(axis=1, initial=np.inf), x.max(axis=1, initial=-np.inf)]
            options["row_range"] = np.stack(ends, axis=1).astype(np.float32)
        rows = quantize_rows(q, "tensor" if "tensor" in kind else "row")
        q, scale, points = rows.q, rows.scale, rows.zero_point
    else:
        signed = packer is fbg.PackAWithRowOffset and random.random() < 0.5
        x = q = integers(rng, (m, k), np.int8 if signed else np.uint8)
        if packer is fbg.PackAWithRowOffset:
            limits = np.iinfo(x.dtype)
            point = random.choice((0, random.randint(int(limits.min), int(limits.max))))
            options, points = {"zero_point": point}, np.full(m, point)
            if random.random() < 0.8:
                options["scale"] = float(np.float32(random.uniform(0.001, 0.1)))
                scale = np.full(m, options["scale"], np.float32)
    quantizes = packer is fbg.PackAWithQuantRowOffset
    scaled = (quantizes or "scale" in options) and weights.scale is not None

    def scales():
        if not scaled:
            return None
        return scale.astype(np.float64)[:, None] * np.broadcast_to(weights.scale, n)

    return Problem(
        x,
        packer,
        options,
        weights,
        True,
        scaled,
        packer is not fbg.PackA,
        lambda: Expected(q.astype(np.float64) @ w, 0.0, np.int32),
        lambda: Expected((q - np.asarray(points)[:, None]) @ own, 0.0, np.int32, scales()),
    )


def _float_problem(random, rng, m, k, n):
    kind = random.choice(("float32", "float32", "float16", "bfloat16"))
    transpose = random.random() < 0.5
    given = _floats(random, rng, (n, k) if transpose else (k, n))
    stored = random.choice((np.float32, np.float16, ml_dtypes.bfloat16))
    w = laid_out(random, given.astype(stored))
    weights = fbg.PackedB(w, transpose=transpose, dtype=kind)
    x = _floats(random, rng, (m, k))
    options = {}
    exact = x.astype(np.float64)
    if kind == "bfloat16":
        way = random.randrange(3)
        if way == 0:
            options["dtype"] = "bfloat16"
        elif way == 1:
            x = x.astype(ml_dtypes.bfloat16)
        if way < 2:
            exact = x.astype(ml_dtypes.bfloat16).astype(np.float64)
    wide = weights.unpack().astype(np.float64)

    def sums():
        error = (k + 2) * UNIT * (np.abs(exact) @ np.abs(wide)) + TINY * (k + 1)
        return Expected(exact @ wide, error, np.float32)

    return Problem(x, fbg.PackA, options, weights, False, False, False, sums, sums)


def _int4_problem(random, rng, m, k, n):
    symmetric, group = random.random() < 0.5, random.choice((32, 64, 128))
    w = _floats(random, rng, (k, n))
    weights = fbg.PackedB(laid_out(random, w), dtype="int4", group=group, symmetric=symmetric)
    options = {}
    packer = random.choice((fbg.PackAWithRowOffset, fbg.PackAWithQuantRowOffset))
    if packer is fbg.PackAWithRowOffset:
        x = integers(rng, (m, k), random.choice((np.int8, np.uint8)))
        limits = np.iinfo(x.dtype)
        point = random.randint(int(limits.min), int(limits.max))
        options = {"scale": float(np.float32(random.uniform(0.001, 0.1))), "zero_point": point}
        scale, points, q = np.full(m, options["scale"]), np.full(m, point), x
        if x.dtype == np.int8:  # 128 is added while it is packed
            q, points = x.astype(np.int64) + 128, points + 128
    else:
        x = _floats(random, rng, (m, k))
        rows = quantize_rows(x)
        q, scale, points = rows.q, rows.scale.astype(np.float64), rows.zero_point
    values = weights.unpack().astype(np.float64)
    groups = np.arange(k) // group
    s = np.asarray(weights.scale, np.float64)[groups]
    offset = np.zeros((1, n))
    if weights.offset is not None:
        offset = np.asarray(weights.offset, np.float64)[groups]

    def sums():
        column = np.asarray(scale, np.float64)[:, None]
        real = column * (q.astype(np.float64) - np.asarray(points)[:, None])
        parts = column * (q.astype(np.float64) + np.abs(np.asarray(points))[:, None])
        magnitude = parts @ (np.abs(s * values) + np.abs(offset))
        error = (k // group + 12) * UNIT * magnitude + TINY * (k + 1)
        return Expected(real @ (s * values + offset), error, np.float32)

    return Problem(x, packer, options, weights, False, False, False, sums, sums)


def _call(random, p, pipeline, out, threads):
    """Run it by one of the ways that there are."""
    x, weights, options = laid_out(random, p.x), p.weights, p.options
    way = random.randrange(8)
    if way == 0 and len(x) > 0:
        spare = random.choice((0, 0, 1, 20))
        fits = not any(isinstance(stage, (fbg.Add, fbg.RowRange)) for stage in pipeline.stages)
        rows = len(x) + (spare if fits and "row_range" not in options else 0)
        call = fbg.prepare(
            weights,
            pipeline,
            rows=rows,
            packer=p.packer,
            x_dtype=x.dtype,
            num_threads=threads,
            **options,
        )
        aligned = x if x.flags.aligned else x.copy()
        return again(random, call)(aligned, out)
    a = p.packer(x, **options)
    if way == 1:
        a, weights, pipeline = (again(random, thing) for thing in (a, weights, pipeline))
    return fbg.gemm(a, weights, pipeline, out, threads)


def _other_bits(p, pipeline, y, isa):
    """Return whether a result has other bits than the plain call, or than that of other kernels."""
    a = p.packer(np.ascontiguousarray(p.x), **p.options)
    multiplied = p.options.get("dtype", a.dtype)
    sums_pairs = multiplied == p.weights.dtype == ml_dtypes.bfloat16  # in an order of its own
    for name in (isa,) if sums_pairs else (isa, "generic"):
        with fbg.isa.limit(name):
            plain = fbg.gemm(a, p.weights, pipeline)
        try:
            assert_same_bits(np.array(y), plain)
        except AssertionError:
            return f"other bits than the plain call on {name}"
    return None


def draw(random, shape=None):
    """Return a problem, of any or a given M, K and N, and the steps of its pipeline."""
    rng = np.random.default_rng(random.getrandbits(64))
    m, k, n = shape or draw_shape(random)
    make = random.choice((_int8_problem, _int8_problem, _float_problem, _int4_problem))
    p = make(random, rng, m, k, n)
    return p, draw_steps(random, rng, (m, n), p.sums, p.scaled, p.pointed)


def results(random):
    """Draw a case for fingerprints: also large ones, floats that are no numbers, and any at all."""
    if random.random() < 0.1:
        return _values(random)
    p, steps = draw(random, random.choice(LARGE) if random.random() < 0.08 else None)
    if p.x.dtype != np.uint8 and p.x.dtype != np.int8 and p.x.size and random.random() < 0.1:
        p.x[1::3, :1], p.x[2::3, -1:] = np.nan, np.inf
    m, n, way = len(p.x), p.weights.shape[1], random.getrandbits(32)
    pipeline, bias = fbg.Pipeline([step.stage for step in steps]), np.ones(n, np.float32)
    extents = np.empty((m, 2), np.float32)

    def compute(threads):
        w = p.weights
        with tempfile.TemporaryDirectory() as folder:
            w.save(Path(folder) / "w.safetensors")
            packed = (Path(folder) / "w.safetensors").read_bytes()
        parts = [w.scale, w.zero_point, w.offset, w.column_offsets, w.outliers, w.spill_depths]
        yield "weights", [packed, *parts, w.unpack()]
        y = _call(Random(way), p, pipeline, None, threads)
        yield "product", y
        if y.dtype == np.float32:
            stages = [*pipeline.stages, fbg.RowRange(extents)]
            a = p.packer(p.x, **p.options)
            yield "extents", [fbg.gemm(a, w, stages, num_threads=threads), extents]
            fbg.gemm(a, w, [*pipeline.stages, fbg.Add(y)], out=y, num_threads=threads)
            yield "added in place", y
        if (p.x.dtype == np.float32 and w.scale is not None) or w.dtype == np.float32:
            for activation in (None, "relu", "gelu"):
                yield f"linear {activation}", fbg.linear(p.x, w, bias, activation)

    return compute


def _values(random):
    """Draw stages for every size of floats, also such as are no numbers."""
    rng = np.random.default_rng(random.getrandbits(64))
    x = rng.integers(0, 2**32, 4000, np.uint32).view(np.float32)
    x = np.concatenate([np.where(np.isnan(x), np.float32(np.nan), x), np.linspace(-12, 12, 2001)])
    x = x.astype(np.float32).reshape(-1, 1)
    one = fbg.PackedB(np.ones((1, 1), np.float32), dtype="float32")
    stages = [step.stage for step in draw_steps(random, rng, (len(x), 1), False, False)]
    return lambda threads: iter(
        [("values", fbg.gemm(fbg.PackA(x), one, stages, num_threads=threads))]
    )


def run(random):
    """Run one case."""
    p, steps = draw(random)
    m, n = len(p.x), p.weights.shape[1]
    pipeline = fbg.Pipeline([step.stage for step in steps])
    e = p.corrected() if corrects(steps) else p.raw()
    for step in steps:
        e = step.apply(e)
    isa = random.choice(ISAS)
    target = Target(random, (m, n), e.dtype) if random.random() < 0.5 else None
    threads = random.choice((1, 1, 2))
    with fbg.isa.limit(isa):
        y = _call(random, p, pipeline, None if target is None else target.array, threads)
    wrong = e.differs(y)
    if wrong is None and target is not None:
        wrong = target.fault(y)
    wrong = wrong or _other_bits(p, pipeline, y, isa)
    if wrong is not None:
        raise Different(
            f"{wrong}; x {p.x.dtype}{p.x.shape}, {p.packer.__name__}, {list(p.options)}, "
            f"{p.weights!r}, {pipeline}, {threads} threads, {isa}"
        )
    return f"{isa} {p.weights.dtype} {p.packer.__name__}"


KIND = Kind("differential.gemm", run, cases=2500, seconds=30, results=results)
