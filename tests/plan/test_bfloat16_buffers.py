"""Plans hold floats between ops as bfloat16: what moves passes them on, and what computes reads the
rounded numbers where the graph allows it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

import fbg
from fbg import _fbg

Array = npt.NDArray[Any]
HALF = ml_dtypes.bfloat16
SHAPE = (2, 6, 5, 24)  # images, lines, pixels, channels
PIXELS = 60


def half(x: Array) -> Array:
    return x.astype(HALF).astype(np.float32)


def drawn(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


class Drawn:
    """A graph between a function of elements and a product that rounds."""

    def __init__(self, allows: bool) -> None:
        self.graph = _fbg.Graph()
        if allows:
            self.graph.allow_bfloat16()

    def elementwise(self, x: int, size: int, function: str = "relu") -> int:
        steps = [(function, 0, 0, 0.0, 0.0)]
        return self.graph.append("elementwise", [size], [(x, "float32", [1])], steps, "float32")

    def product(self, x: int, shape: tuple[int, ...], **more: Any) -> int:
        """A product with the unit matrix, which rounds what it reads."""
        unit = np.eye(shape[-1], dtype=np.float32)[:, :, None, None]
        wc = fbg.PackedConv(unit, dtype="bfloat16")
        fields = {"batch": shape[0], "spatial": (1, *shape[1:3]), "source": "round"}
        weights = wc._native_for("round")
        return self.graph.append("convolve", x, weights=weights, **{"stages": (), **fields, **more})


Build = Callable[[Drawn, int], tuple[int, tuple[int, ...]]]


def run(build: Build, allows: bool, threads: int = 2) -> tuple[list[str], Array]:
    """Return the names of the steps, and build(relu(x)) as a product reads it."""
    drawing = Drawn(allows)
    x = drawn(*SHAPE)
    y, shape = build(
        drawing, drawing.elementwise(drawing.graph.append("input", x.nbytes, "tensor"), x.size)
    )
    drawing.graph.output(drawing.product(y, shape))
    plan = _fbg.Plan(drawing.graph, 1, 1, 1, threads)
    out = np.empty(shape, np.float32)
    _fbg.run_tensors(plan, [x], [out], threads)
    return [op[0] for op in plan.ops], out


def count_halves(names: list[str]) -> int:
    return sum(name.endswith("-> bfloat16") for name in names)


def positive() -> Array:
    return np.maximum(drawn(*SHAPE), 0)


# What moves elements -----------------------------------------------------------------------------


def concatenated(d: Drawn, x: int) -> tuple[int, tuple[int, ...]]:
    axes = [(PIXELS, 48, 24, []), (24, 1, 1, [])]
    parts = [(0, 0, 0, axes), (1, 24, 0, axes)]
    other = d.elementwise(x, PIXELS * 24, "negate")
    y = d.graph.append("arrange", [x, other], PIXELS * 48, 4, parts)
    return y, (2, 6, 5, 48)


def padded(d: Drawn, x: int) -> tuple[int, tuple[int, ...]]:
    """Turned, and with a line of 1/3 before all others."""
    axes = [(2, 7 * 5 * 24, 720, []), (6, 120, 120, []), (5, 24, 24, []), (24, 1, -1, [])]
    fill = np.array(1 / 3, np.float32).reshape(1).view(np.uint8)
    y = d.graph.append("arrange", [x], 2 * 7 * 5 * 24, 4, [(0, 120, 23, axes)], fill)
    return y, (2, 7, 5, 24)


def pooled(d: Drawn, x: int) -> tuple[int, tuple[int, ...]]:
    sizes = ((1, 6, 5), (1, 3, 3), (1, 3, 2), (1, 2, 2), (1, 1, 1), (0, 1, 0), (0, 0, 0))
    return d.graph.append("window", x, sizes, "max", 2, 24), (2, 3, 3, 24)


def largest(x: Array) -> Array:
    lines = np.pad(x, ((0, 0), (1, 0), (0, 1), (0, 0)), constant_values=-np.inf)
    windows = [lines[:, i : i + 5 : 2, j : j + 5 : 2] for i in range(3) for j in range(2)]
    return np.max(windows, axis=0)


MOVES: dict[str, tuple[Build, Callable[[Array], Array], int]] = {
    "concat": (concatenated, lambda x: np.concatenate([x, -x], -1), 3),
    "pad": (
        padded,
        lambda x: np.pad(x[..., ::-1], ((0, 0), (1, 0), (0, 0), (0, 0)), constant_values=1 / 3),
        2,
    ),
    "max": (pooled, largest, 2),
}


@pytest.mark.parametrize("allows", [False, True])
@pytest.mark.parametrize("name", MOVES)
def test_what_moves_passes_bfloat16_on_to_products_that_round(
    isa: str, name: str, allows: bool
) -> None:
    build, exact, held = MOVES[name]
    names, y = run(build, allows)
    if name == "concat" and not allows:
        held -= 1  # an operand is also read by a function, which would not round it
    assert count_halves(names) == held, names
    np.testing.assert_array_equal(y, half(exact(positive())))
    np.testing.assert_array_equal(run(build, allows, 1)[1], y)


def test_maxima_of_bfloat16_keep_nan_and_infinities(isa: str) -> None:
    values = np.array([np.nan, -np.nan, np.inf, -np.inf, -3, 2, -0.0, 0.0], np.float32)
    x = np.random.default_rng(3).choice(values, (1, 1, 9, 40)).astype(np.float32)
    sizes = ((1, 1, 9), (1, 1, 4), (1, 1, 3), (1, 1, 2), (1, 1, 1), (0, 0, 0), (0, 0, 0))
    results = []
    for keeps in (False, True):
        d = Drawn(True)
        given = d.graph.append("input", x.nbytes, "tensor")
        negative = d.elementwise(given, x.size, "negate")
        pool = d.graph.append("window", negative, sizes, "max", 1, 40)
        for buffer in (*[pool] * keeps, d.elementwise(pool, 160, "negate")):
            d.graph.output(buffer)
        plan = _fbg.Plan(d.graph, 1, 1, 1, 1)
        out = [np.empty((1, 1, 4, 40), np.float32) for _ in range(1 + keeps)]
        _fbg.run_tensors(plan, [x], out, 1)
        results.append(out[-1])
    np.testing.assert_array_equal(*results)


# What computes -----------------------------------------------------------------------------------


def added(d: Drawn, x: int) -> tuple[int, tuple[int, ...]]:
    """A function of elements and a product read the same tensor, which one adds to the other."""
    doubled = d.elementwise(x, PIXELS * 24, "square")
    stage = _fbg.stage_binary("add", "matrix", type="float32", constant=1.0)
    return d.product(doubled, SHAPE, residual=x, stages=[stage]), SHAPE


def scaled(d: Drawn, x: int) -> tuple[int, tuple[int, ...]]:
    """The mean of each channel is a factor of it."""
    sizes = ((1, 6, 5), (1, 1, 1), (1, 6, 5), (1, 1, 1), (1, 1, 1), (0, 0, 0), (0, 0, 0))
    mean = d.graph.append("window", x, sizes, "mean", 2, 24)
    operands = [(x, "float32", [720, 24, 1]), (mean, "float32", [24, 0, 1])]
    steps = [("multiply", 0, 1, 0.0, 0.0)]
    return d.graph.append("elementwise", [2, 30, 24], operands, steps, "float32"), SHAPE


def resampled(d: Drawn, x: int) -> tuple[int, tuple[int, ...]]:
    """Twice as many lines, of which every second one is the mean of its neighbours."""
    sources = np.array([[i // 2, min((i + 1) // 2, 5)] for i in range(12)], np.int32).reshape(-1)
    weights = np.full(24, 0.5, np.float32)
    y = d.graph.append("resample", x, 2, 6, 12, 120, sources, weights)
    return y, (2, 12, 5, 24)


def normalized(d: Drawn, x: int) -> tuple[int, tuple[int, ...]]:
    one = np.ones(24, np.float32)
    return d.graph.append("norm", x, "layer_norm", one, one, 1e-5), SHAPE


def layer_norm(x: Array) -> Array:
    centered = x - x.mean(-1, keepdims=True)
    return centered / np.sqrt((centered**2).mean(-1, keepdims=True) + 1e-5) + 1


def depthwise(d: Drawn, x: int) -> tuple[int, tuple[int, ...]]:
    kernel = drawn(24, 1, 3, 3, seed=5)
    wc = fbg.PackedConv(half(kernel), groups=24, padding=1, dtype="bfloat16")
    fields = {"batch": 2, "spatial": (1, 6, 5), "stages": (), "source": "native"}
    return d.graph.append("convolve", x, weights=wc._native_for("native"), **fields), SHAPE


def by_channel(x: Array) -> Array:
    lines = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    kernel = half(drawn(24, 1, 3, 3, seed=5))
    return sum(
        lines[:, i : i + 6, j : j + 5] * kernel[:, 0, i, j] for i in range(3) for j in range(3)
    )


COMPUTES: dict[str, tuple[Build, Callable[[Array], Array]]] = {
    "add": (added, lambda x: half(x * x) + x),
    "scale": (scaled, lambda x: x * x.mean((1, 2), keepdims=True)),
    "resample": (
        resampled,
        lambda x: (np.repeat(x, 2, 1) + np.append(np.repeat(x, 2, 1)[:, 1:], x[:, -1:], 1)) / 2,
    ),
    "layer_norm": (normalized, layer_norm),
    "depthwise": (depthwise, by_channel),
}


@pytest.mark.parametrize("name", COMPUTES)
def test_what_computes_reads_rounded_numbers_only_where_that_is_allowed(
    isa: str, name: str
) -> None:
    build, exact = COMPUTES[name]
    for allows in (False, True):
        names, y = run(build, allows)
        if not allows:
            assert not names[1].endswith("-> bfloat16"), names
        elif name != "depthwise":
            assert names[1].endswith("-> bfloat16"), names
        x = half(positive()) if names[1].endswith("-> bfloat16") else positive()
        np.testing.assert_allclose(y, exact(x), rtol=2.0**-8, atol=1e-4)
        np.testing.assert_array_equal(run(build, allows, 1)[1], y)
