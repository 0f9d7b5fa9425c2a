"""What int8 costs a network from a file in accuracy, and what it gains in speed.

Everything is relative to float32: outputs by their cosine, those of classifiers also by the most
probable class, the results of products one by one, and time.
"""

from __future__ import annotations

import functools
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import fbg
from fbg.errors import ModelError
from fbg.model.load import load
from fbg.progress import counted
from fbg.reports.class_scores import class_scores
from fbg.reports.inputs import feeds_of
from fbg.reports.measuring import Report, require_unsaved, table, time_in_turn
from fbg.reports.speedup import Speedup

__all__ = ["NetComparison", "NodeError", "compare_net", "cosine"]

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class NodeError:
    """The result of a node in int8, against that in float32.

    relative_error: |x - x32| / |x32|, Euclidean, over all feeds together.
    """

    node: str
    relative_error: float
    cosine: float


@dataclass(frozen=True)
class NetComparison(Report):
    """Result of `compare_net`: int8 against float32.

    cosine, minimum: mean and least cosine of the outputs of a run. top_1: share of rows of
    class scores whose largest element is at the same place; None where no output is class scores.
    speedup: of int8. int8_products: how many of all products multiply integers. nodes: the
    error after each product.
    """

    path: str
    threads: int
    runs: int
    calibration_runs: int
    random: bool
    cosine: float
    minimum: float
    top_1: float | None
    float32_seconds: float
    int8_seconds: float
    speedup: Speedup
    int8_products: int
    products: int
    nodes: tuple[NodeError, ...]

    def __str__(self) -> str:
        kind = "random runs" if self.random else "runs"
        top_1 = (
            [] if self.top_1 is None else [f"the most probable class is the same: {self.top_1:.1%}"]
        )
        rows = [[n.node, f"{n.relative_error:.2e}", f"{n.cosine:.6f}"] for n in self.nodes]
        return "\n".join(
            [
                f"{self.path}: int8 in {self.int8_products} of {self.products} products against "
                f"float32, {self.runs} {kind}, calibrated on "
                f"{self.calibration_runs}, threads: {self.threads}",
                "",
                f"cosine of the outputs: mean {self.cosine:.6f}, minimum {self.minimum:.6f}",
                *top_1,
                f"float32 {1e3 * self.float32_seconds:.3f} ms, int8 "
                f"{1e3 * self.int8_seconds:.3f} ms, × {self.speedup}",
                "",
                table(["after node", "relative error", "cosine"], rows),
            ]
        )


def compare_net(
    path: str,
    *,
    shapes: Mapping[str, Sequence[int]] | None = None,
    inputs: str | None = None,
    num_threads: int | None = None,
    rounds: int = 5,
) -> NetComparison:
    """Quantize an ONNX file and compare it with float32.

    shapes: of inputs, where the file leaves sizes open. inputs: a .npz file with an array for each
    input, whose first axis counts runs; the first half of them (at least one) calibrates. None:
    random numbers, which say more about speed than about accuracy. Raises what `fbg.load` raises,
    and ValueError for inputs that do not fit.
    """
    require_unsaved("compare", path)
    threads = num_threads or fbg.get_num_threads()
    options: dict[str, Any] = {"shapes": shapes or {}, "num_threads": threads}
    net = load(path, **options)
    from fbg.importers.variants import require_products

    require_products(net, path)
    feeds = feeds_of(net, inputs)
    calibrate = feeds[: max(1, len(feeds) // 2)]
    quantized = load(path, dtype="int8", calibrate=calibrate, **options)
    tested = feeds[len(calibrate) :] or feeds
    results = [(quantized.run(feed), net.run(feed)) for feed in counted("comparing", tested)]
    cosines = [cosine(y, exact) for y, exact in results]
    calls = {
        "float32": functools.partial(net.run, tested[0]),
        "int8": functools.partial(quantized.run, tested[0]),
    }
    seconds = time_in_turn(calls, rounds)
    return NetComparison(
        path,
        threads,
        len(tested),
        len(calibrate),
        inputs is None,
        statistics.fmean(cosines),
        min(cosines),
        _top_1(results, class_scores(net.network)),
        statistics.median(seconds["float32"]),
        statistics.median(seconds["int8"]),
        Speedup.of(seconds["float32"], seconds["int8"]),
        quantized.products.int8,
        quantized.products.all,
        _node_errors(net, quantized, tested[:2]),
    )


def cosine(results: Mapping[str, Array], exact: Mapping[str, Array]) -> float:
    """Return the cosine of all floating outputs of a run, taken together."""
    floats = [name for name, value in exact.items() if value.dtype.kind == "f"]
    if not floats:
        raise ModelError("compare: the network has no floating outputs")
    a = np.concatenate([results[name].ravel().astype(np.float64) for name in floats])
    b = np.concatenate([exact[name].ravel().astype(np.float64) for name in floats])
    return _cosine(a, b)


def _cosine(a: Array, b: Array) -> float:
    norms = float(np.linalg.norm(a) * np.linalg.norm(b))
    if norms == 0.0:
        return float(np.array_equal(a, b))
    return float(a @ b) / norms


def _top_1(
    results: Sequence[tuple[Mapping[str, Array], Mapping[str, Array]]], names: Sequence[str]
) -> float | None:
    same = [
        (y[name].argmax(-1) == exact[name].argmax(-1)).ravel()
        for y, exact in results
        for name in names
        if exact[name].ndim > 0 and exact[name].size > 0
    ]
    return float(np.concatenate(same).mean()) if same else None


def _node_errors(
    net: Any, quantized: Any, feeds: Sequence[Mapping[str, Array]]
) -> tuple[NodeError, ...]:
    """Return the errors of the results of all products that both networks compute."""
    from fbg.importers.variants import results_of_products, watching

    names = results_of_products(net)
    exact, rounded = watching(net, names.values()), watching(quantized, names.values())
    pairs = [(rounded.run(feed), exact.run(feed)) for feed in feeds]
    found = []
    for node, name in names.items():
        a, b = (
            np.concatenate([pair[which][name].ravel().astype(np.float64) for pair in pairs])
            for which in (0, 1)
        )
        norm = float(np.linalg.norm(b))
        error = float(np.linalg.norm(a - b)) / norm if norm > 0 else float(np.linalg.norm(a))
        found.append(NodeError(node, error, _cosine(a, b)))
    return tuple(found)
