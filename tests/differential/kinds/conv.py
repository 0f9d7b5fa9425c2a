"""Convolutions, every field drawn by itself, against sums in float64, which are exact for integers.

A case runs all algorithms that apply on one of the instruction sets of this machine, which the word
for its end names.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

import fbg
from differential.geometry import MOST_PRODUCTS, draw_geometry
from differential.layouts import Target, again, integers, laid_out
from differential.pipelines import (
    TINY,
    UNIT,
    Expected,
    Step,
    corrects,
    dequantize,
    draw_steps,
)
from helpers.formulas import quantize_rows
from helpers.random_cases import Different, Kind

Array = npt.NDArray[Any]

ISAS = fbg.isa.supported()
FLOATS = ("float32", "bfloat16", "float16")
IMPOSSIBLE = (0, -1, 1, 2**31, 2**40, 2**62, 2**63 - 1, -(2**63))


def _weight_points(random, rng, g):
    """Return zero points of weights: none, one, of each column or of each group; any may be 0."""
    kind, total = random.randrange(5), g.groups * g.outputs
    if kind == 0:
        return None
    if kind == 1:
        return random.randint(-128, 127)
    if kind == 2:
        points = rng.integers(-128, 128, total)
    else:
        points = np.repeat(rng.integers(-128, 128, g.groups), g.outputs)
    unused = np.repeat(rng.random(g.groups) < 0.5, g.outputs)
    return np.where(unused, 0, points) if kind == 4 else points


@dataclass(frozen=True)
class Problem:
    """What is convolved, and the sums: raw ones and those corrected for zero points."""

    x: Array
    wc: fbg.PackedConv
    options: dict[str, Any]  # of conv
    source: str
    scaled: bool
    raw: Callable[[], Expected]
    corrected: Callable[[], Expected]
    loose: Callable[[], Array]  # a bound of errors for algorithms that do not compute plain sums


def _integer_problem(random, rng, g):
    x_shape = (g.batch, *g.size, g.groups * g.inputs)
    options = {}
    scale = None
    points = None
    if random.random() < 0.25:
        w = rng.standard_normal(g.w_shape(), np.float32)
        kinds = random.choice(("column", "group", "tensor"))
        wc = g.pack(laid_out(random, w), granularity=kinds, accum=random.choice((None, "int16")))
    else:
        w = integers(rng, g.w_shape(), np.int8)
        if random.random() < 0.7:
            total = g.groups * g.outputs
            scale = random.choice((0.5, rng.uniform(0.001, 0.1, total).astype(np.float32)))
            points = _weight_points(random, rng, g)
        wc = g.pack(
            laid_out(random, w),
            scale=scale,
            zero_point=points,
            accum=random.choice((None, "int32", "int16")),
        )
    w = wc.unpack().astype(np.float64)
    matrices = g.matrices(w)
    zero = np.zeros(g.groups * g.outputs) if wc.zero_point is None else wc.zero_point
    own = matrices - np.asarray(zero, np.float64).reshape(g.groups, 1, g.outputs)
    source = random.choice(("native", "int8", "quantize")) if wc.scale is not None else "native"
    if wc.scale is None:
        source = random.choice(("native", "int8"))
    if source == "quantize":
        given = rng.standard_normal(x_shape, np.float32) * np.float32(2.0 ** random.randint(-9, 9))
        if random.random() < 0.3:
            given = np.abs(given)
        rows = quantize_rows(given.reshape(g.batch, math.prod(x_shape[1:])))
        q, x_scale, x_points = rows.q.reshape(x_shape), rows.scale, rows.zero_point
        scaled = True
    else:
        dtype = np.uint8 if source == "native" else np.int8
        limits = np.iinfo(dtype)
        q = given = integers(rng, x_shape, dtype)
        point = random.choice((0, random.randint(int(limits.min), int(limits.max))))
        scaled = wc.scale is not None and random.random() < 0.75
        if scaled:
            options["scale"] = float(np.float32(random.uniform(0.001, 0.1)))
        options["zero_point"] = point
        x_scale = np.full(g.batch, options.get("scale", 1.0), np.float32)
        x_points = np.full(g.batch, point)
    pixels = math.prod(g.output)
    images = np.asarray(x_points, np.float64)

    def scales():
        if wc.scale is None or not scaled:
            return None
        return np.repeat(x_scale, pixels)[:, None].astype(np.float64) * wc.scale

    def raw():
        return Expected(g.multiply(g.patches(q, images), matrices), 0.0, np.int32)

    def corrected():
        shifted = q - images.reshape(-1, *[1] * (len(x_shape) - 1))
        sums = g.multiply(g.patches(shifted, np.zeros(g.batch)), own)
        return Expected(sums, 0.0, np.int32, scales())

    return Problem(given, wc, options, source, scaled, raw, corrected, lambda: np.zeros(1))


def _float_problem(random, rng, g):
    x = rng.standard_normal((g.batch, *g.size, g.groups * g.inputs), np.float32)
    w = rng.standard_normal(g.w_shape(), np.float32)
    if random.random() < 0.3:  # many zeros, as after ReLU
        x = np.maximum(x, 0)
    kind = random.choice(("float32", *FLOATS))
    given = random.choice((w, w.astype(ml_dtypes.bfloat16), w.astype(np.float16)))
    wc = g.pack(laid_out(random, given), dtype=kind)
    source = "native"
    if kind == "bfloat16" and random.random() < 0.5:
        source, x = "bfloat16", x.astype(ml_dtypes.bfloat16)
    matrices = g.matrices(wc.unpack().astype(np.float64))
    depth = g.inputs * math.prod(g.kernel)

    def sums():
        patches = g.patches(x.astype(np.float32), np.zeros(g.batch))
        magnitude = g.multiply(np.abs(patches), np.abs(matrices))
        error = (depth + 2) * UNIT * magnitude + TINY * depth
        return Expected(g.multiply(patches, matrices), error, np.float32)

    def loose():
        largest = float(np.abs(x).max(initial=0)) * float(np.abs(matrices).max())
        return np.full(1, 2.0**-22 * 36 * depth * 4096 * largest)

    return Problem(x, wc, {}, source, False, sums, sums, loose)


def _expected(problem, steps, same_bits):
    e = problem.corrected() if corrects(steps) else problem.raw()
    if not same_bits:
        e = Expected(e.value, e.error + problem.loose(), e.dtype, e.scale)
    for step in steps:
        e = step.apply(e)
    return e


def _call(random, problem, pipeline, out, options):
    """Run it by one of the ways that there are."""
    x, wc = laid_out(random, problem.x), problem.wc
    way = random.randrange(8)
    if way < 2:
        pipeline, wc = again(random, pipeline), again(random, wc)
    if way in (2, 3):
        call = fbg.prepare(
            wc, pipeline, shape=x.shape, x_dtype=x.dtype, **problem.options, **options
        )
        call = again(random, call)
        call(x)
        return call(x, out)
    if way == 4 and options["algorithm"] == "im2col" and not options["exact"]:
        a = again(random, fbg.PackAWithIm2Col(x, wc, **problem.options))
        shape = wc.output_shape(x.shape)
        y = fbg.gemm(a, wc, pipeline, num_threads=options["num_threads"]).reshape(shape)
        if out is None:
            return y
        out[...] = y
        return out
    return fbg.conv(x, wc, pipeline, out=out, **problem.options, **options)


def draw(random):
    """Return a problem and the steps of its pipeline."""
    rng = np.random.default_rng(random.getrandbits(64))
    g = draw_geometry(random)
    problem = random.choice((_integer_problem, _float_problem))(random, rng, g)
    shape = problem.wc.output_shape(problem.x.shape)
    if list(shape[1:-1]) != g.output:
        raise Different(f"{g}: shape {shape}")
    steps = draw_steps(random, rng, shape, problem.wc.dtype == np.int8, problem.scaled)
    if problem.source == "quantize" and not corrects(steps):
        steps = [Step(fbg.Dequantize(), dequantize)]
    return g, problem, steps


def applicable(problem, pipeline, exact):
    """Return the names of the algorithms that apply."""
    batch, spatial = problem.wc.check_shape(problem.x.shape, "x")
    features = fbg._fbg.active_features()
    found = problem.wc._native_for(problem.source).algorithms(
        batch, spatial, pipeline._native, problem.source, problem.scaled, exact, features
    )
    return [name for name, _, _ in found]


def results(random):
    """Draw a case for fingerprints."""
    _, problem, steps = draw(random)
    pipeline, way = fbg.Pipeline([step.stage for step in steps]), random.getrandbits(32)

    def compute(threads):
        for name in (None, *applicable(problem, pipeline, False)):
            options = {"algorithm": name, "exact": False, "num_threads": threads}
            yield f"{name}", _call(Random(way), problem, pipeline, None, options)

    return compute


def run_impossible(random):
    """Run zeros with a number in the geometry that none has, or that no memory holds."""
    g = draw_geometry(random)
    field = random.choice(("stride", "dilation", "padding", "extra", "groups", "size", "batch"))
    number = random.choice(IMPOSSIBLE)
    if field == "padding":
        number = random.choice(((number, 1), (1, number)))
    if isinstance(values := getattr(g, field), list):
        at = random.randrange(len(values))
        number = [*values[:at], number, *values[at + 1 :]]
    dtype = random.choice(("int8", *FLOATS))
    w, channels = np.zeros(g.w_shape(), np.float32), g.groups * g.inputs
    g = replace(g, **{field: number})
    shape = (g.batch, *g.size, channels)
    try:
        wc = g.pack(w, dtype=dtype)
        wc.algorithms(shape)
        if max(math.prod(shape), g.products) > MOST_PRODUCTS:
            return "too large"
        y = fbg.conv(np.zeros(shape, np.float32), wc)
    except ValueError:
        return "impossible"
    if y.shape != wc.output_shape(shape) or y.any():
        raise Different(f"{g}: {y.shape}, not only zeros")
    return "zeros"


def run(random):
    """Run one case."""
    if random.random() < 0.06:
        return run_impossible(random)
    g, problem, steps = draw(random)
    shape = problem.wc.output_shape(problem.x.shape)
    pipeline = fbg.Pipeline([step.stage for step in steps])
    exact, isa = random.random() < 0.2, random.choice(ISAS)
    with fbg.isa.limit(isa):
        for name in (None, *applicable(problem, pipeline, exact)):
            options = {
                "algorithm": name,
                "exact": exact,
                "num_threads": random.choice((1, 1, 2)),
            }
            plain = (name or "winograd")[:8] not in ("winograd", "strassen")
            plain = plain or (name is None and (exact or problem.wc.dtype == np.int8))
            e = _expected(problem, steps, plain)
            target = Target(random, shape, e.dtype) if random.random() < 0.5 else None
            y = _call(random, problem, pipeline, None if target is None else target.array, options)
            wrong = e.differs(y.reshape(-1, shape[-1])) if y.shape == shape else f"shape {y.shape}"
            if wrong is None and target is not None:
                wrong = target.fault(y)
            if wrong is not None:
                raise Different(
                    f"{wrong}; {g}, {problem.wc!r}, x {problem.x.dtype}, {problem.options}, "
                    f"{pipeline}, {options}, {isa}"
                )
    return isa


KIND = Kind("differential.conv", run, cases=900, seconds=30, results=results)
