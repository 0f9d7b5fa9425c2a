"""compare: the loss of accuracy by a lower precision, and its gain in speed and memory.

Everything is relative to float32 of the same checkpoint or file: embeddings of texts by their
cosine and by the neighbours that they keep, hidden states layer by layer; outputs of a network by
their cosine, those of classifiers also by the most probable class, the results of its products one
by one; time and bytes.
"""

from __future__ import annotations

import functools
import os
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import fbg
from fbg.arrays import Floats, require_integer
from fbg.importers.class_scores import class_scores
from fbg.model.load import load
from fbg.progress import counted
from fbg.reports.accuracy import (
    REFERENCE,
    LayerError,
    NodeError,
    cosine,
    cosines,
    layer_errors,
    nearest_texts,
    node_errors,
    top_1,
)
from fbg.reports.inputs import feeds_of, require_texts
from fbg.reports.measuring import (
    Report,
    compared_dtypes,
    load_each,
    require_unsaved,
    table,
    threads_text,
    time_in_turn,
)
from fbg.reports.speedup import Speedup
from fbg.runtime.reports import MemoryReport

NEIGHBOURS = 10


@dataclass(frozen=True)
class DtypeComparison:
    """One dtype against float32.

    mean, minimum, percentile_1, percentile_5: of the cosine between the embeddings of a text.
    neighbours_kept: of the nearest texts of a text, the fraction that are its nearest in float32.
    tokens_per_second: of `encode` on the texts, tokenization included, median of the rounds.
    speedup: over float32, of the same times.
    """

    dtype: str
    mean: float
    minimum: float
    percentile_1: float
    percentile_5: float
    neighbours_kept: float
    layers: tuple[LayerError, ...]
    tokens_per_second: float
    speedup: Speedup
    memory: MemoryReport


@dataclass(frozen=True)
class Comparison(Report):
    """Result of `compare`; the first of `dtypes` is float32 itself."""

    model: str
    isa: str
    threads: int
    texts: int
    tokens: int
    neighbours: int
    dtypes: tuple[DtypeComparison, ...]

    def __str__(self) -> str:
        head = (
            f"{self.model}: {self.texts} texts, {self.tokens} tokens, "
            f"{threads_text(self.threads)}, {self.isa}"
        )
        kept = f"top-{self.neighbours} kept"
        columns = ["", "mean cos", "min", "1st pct", "5th pct", kept, "tokens/s", "×", "weights"]
        rows = [
            [
                row.dtype,
                *(f"{value:.5f}" for value in (row.mean, row.minimum)),
                *(f"{value:.5f}" for value in (row.percentile_1, row.percentile_5)),
                f"{row.neighbours_kept:.1%}",
                f"{row.tokens_per_second:.0f}",
                str(row.speedup),
                f"{row.memory.weights / 2**20:.1f} MiB",
            ]
            for row in self.dtypes
        ]
        lossy = self.dtypes[1:]
        if not lossy:
            return f"{head}\n\n{table(columns, rows)}"
        names = ["hidden states", *(f"{row.dtype} error" for row in lossy)]
        names += [f"{row.dtype} cos" for row in lossy]
        return f"{head}\n\n{table(columns, rows)}\n\n{table(names, self.layer_rows())}"

    def layer_rows(self) -> list[list[str]]:
        """Return the errors after each layer, then the cosines, of all dtypes but float32."""
        lossy = self.dtypes[1:]
        return [
            [
                "embeddings" if n == 0 else f"layer {n}",
                *(f"{row.layers[n].relative_error:.2e}" for row in lossy),
                *(f"{row.layers[n].cosine:.6f}" for row in lossy),
            ]
            for n in range(len(self.dtypes[0].layers))
        ]


NOT_HELD_OUT = (
    "compared on the run that it was calibrated on, which flatters int8: give two or more"
)


@dataclass(frozen=True)
class NetComparison(Report):
    """Result of `compare_net`: int8 against float32.

    cosine, minimum: mean and least cosine of the outputs of a run. top_1: share of rows of
    class scores whose largest element is at the same place; None where no output is class scores.
    speedup: of int8. int8_products: how many of all products multiply integers. nodes: the
    error after each product. held_out: whether the runs that are compared have not calibrated it.
    """

    path: str
    threads: int
    runs: int
    calibration_runs: int
    held_out: bool
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
        kind = "random run" if self.random else "run"
        same = [] if self.held_out else [NOT_HELD_OUT, ""]
        top_1 = (
            [] if self.top_1 is None else [f"the most probable class is the same: {self.top_1:.1%}"]
        )
        return "\n".join(
            [
                f"{self.path}: int8 in {self.int8_products} of {self.products} products against "
                f"float32, {self.runs} {kind}{'s' * (self.runs > 1)}, calibrated on "
                f"{self.calibration_runs}, threads: {self.threads}",
                "",
                *same,
                f"cosine of the outputs: mean {self.cosine:.6f}, minimum {self.minimum:.6f}",
                *top_1,
                f"float32 {1e3 * self.float32_seconds:.3f} ms, int8 "
                f"{1e3 * self.int8_seconds:.3f} ms, × {self.speedup}",
                "",
                table(["after node", "relative error", "cosine"], self.node_rows()),
            ]
        )

    def node_rows(self) -> list[list[str]]:
        """Return the error and the cosine after each product."""
        return [[n.node, f"{n.relative_error:.2e}", f"{n.cosine:.6f}"] for n in self.nodes]


def compare(
    model: str | os.PathLike[str],
    texts: Sequence[str] | None = None,
    dtypes: Sequence[str] = ("bfloat16", "int8"),
    *,
    num_threads: int | None = None,
    rounds: int = 5,
) -> Comparison:
    """Compare dtypes of a model with float32 on texts.

    model: a checkpoint that `fbg.load` takes, not one saved in a lower precision.
    texts: at least two that are not empty; None takes `sample_texts()`.
    dtypes: any that `fbg.load` takes; float32 is always there.
    rounds: number of rounds; in each, every dtype encodes all texts once.

    Raises the errors of `fbg.load` and `Model.encode`, ValueError for wrong texts or dtypes.

    >>> from fbg.reports.comparison import compare
    >>> print(compare("path/to/all-MiniLM-L6-v2", dtypes=["int8"]))  # doctest: +SKIP
    """
    rounds = require_integer(rounds, "compare: rounds", 1, 10_000)
    names = compared_dtypes("compare", dtypes)
    require_unsaved("compare", os.fspath(model))
    sentences = require_texts("compare", texts, 2)
    models = load_each(os.fspath(model), names, num_threads)
    exact = models[REFERENCE]

    tokens = sum(exact.token_counts(sentences))
    embeddings = {
        dtype: loaded.encode(sentences, normalize_embeddings=True)
        for dtype, loaded in models.items()
    }
    layers = layer_errors(models, sentences)
    calls = {
        dtype: functools.partial(loaded.encode, sentences, 32) for dtype, loaded in models.items()
    }
    seconds = time_in_turn(calls, rounds)
    neighbours = min(NEIGHBOURS, len(sentences) - 1)
    rows = []
    for dtype, loaded in models.items():
        rows.append(
            DtypeComparison(
                dtype=dtype,
                **_accuracy(embeddings[dtype], embeddings[REFERENCE], neighbours),
                layers=tuple(layers[dtype]),
                tokens_per_second=tokens / statistics.median(seconds[dtype]),
                speedup=Speedup.of(seconds[REFERENCE], seconds[dtype]),
                memory=loaded.memory_report(),
            )
        )
    threads, isa = exact.num_threads, fbg.isa.active()
    count = len(sentences)
    return Comparison(str(model), isa, threads, count, tokens, neighbours, tuple(rows))


def _accuracy(embeddings: Floats, exact: Floats, neighbours: int) -> dict[str, float]:
    """Return the fields of DtypeComparison that compare embeddings."""
    cosine = cosines(embeddings, exact)
    kept, nearest = nearest_texts(embeddings, neighbours), nearest_texts(exact, neighbours)
    return {
        "mean": float(cosine.mean()),
        "minimum": float(cosine.min()),
        "percentile_1": float(np.percentile(cosine, 1)),
        "percentile_5": float(np.percentile(cosine, 5)),
        "neighbours_kept": float(
            np.mean([np.isin(a, b).mean() for a, b in zip(kept, nearest, strict=True)])
        ),
    }


def compare_net(
    path: str,
    *,
    shapes: Mapping[str, Sequence[int]] | None = None,
    inputs: str | None = None,
    num_threads: int | None = None,
    rounds: int = 5,
) -> NetComparison:
    """Quantize an ONNX file and compare it with float32.

    shapes: those of inputs with open sizes in the file. inputs: a .npz file with an array for each
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
        len(feeds) > len(calibrate),
        inputs is None,
        statistics.fmean(cosines),
        min(cosines),
        top_1(results, class_scores(net.network)),
        statistics.median(seconds["float32"]),
        statistics.median(seconds["int8"]),
        Speedup.of(seconds["float32"], seconds["int8"]),
        quantized.products.int8,
        quantized.products.all,
        node_errors(net, quantized, tested[:2]),
    )
