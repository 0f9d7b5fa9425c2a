"""compare: what a lower precision costs in accuracy, and what it gains in speed and memory.

Everything is relative to float32 of the same checkpoint: embeddings of texts by their cosine and by
the neighbours that they keep, hidden states layer by layer, time and bytes.
"""

from __future__ import annotations

import functools
import os
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

import fbg
from fbg import _fbg
from fbg.arrays import require_integer
from fbg.matmul.weights import WEIGHT_LIMITS
from fbg.model.model import Model
from fbg.progress import counted
from fbg.reports.inputs import require_texts, sample_texts
from fbg.reports.measuring import (
    Report,
    load_each,
    require_unsaved,
    table,
    threads_text,
    time_in_turn,
)
from fbg.reports.speedup import Speedup
from fbg.runtime.batches import chunks, pack_sequences
from fbg.runtime.reports import MemoryReport
from fbg.runtime.runner import Runner

__all__ = ["Comparison", "DtypeComparison", "LayerError", "compare", "sample_texts"]

Floats = npt.NDArray[np.float32]

REFERENCE = "float32"
NEIGHBOURS = 10
COMPARED_TOKENS = 1024  # of one run that hands back every layer


@dataclass(frozen=True)
class LayerError:
    """Hidden states of all tokens, compared; layer 0 is the embeddings, n the n-th layer's output.

    relative_error: |x - x32| / |x32|, Euclidean, over all tokens together.
    cosine: its mean over tokens.
    """

    layer: int
    relative_error: float
    cosine: float


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
        lossy = [row for row in self.dtypes if row.dtype != REFERENCE]
        if not lossy:
            return f"{head}\n\n{table(columns, rows)}"
        errors = [
            [
                "embeddings" if n == 0 else f"layer {n}",
                *(f"{row.layers[n].relative_error:.2e}" for row in lossy),
                *(f"{row.layers[n].cosine:.6f}" for row in lossy),
            ]
            for n in range(len(lossy[0].layers))
        ]
        names = ["hidden states", *(f"{row.dtype} error" for row in lossy)]
        names += [f"{row.dtype} cos" for row in lossy]
        return f"{head}\n\n{table(columns, rows)}\n\n{table(names, errors)}"


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
    rounds: of timing, in each of which every dtype encodes all texts once.

    Raises what `fbg.load` and `Model.encode` raise, ValueError for texts or dtypes that do not fit.

    >>> from fbg.reports.comparison import compare
    >>> print(compare("path/to/all-MiniLM-L6-v2", dtypes=["int8"]))  # doctest: +SKIP
    """
    rounds = require_integer(rounds, "compare: rounds", 1, 10_000)
    if isinstance(dtypes, str) or not set(dtypes) <= set(WEIGHT_LIMITS):
        raise ValueError(
            f"compare: dtypes must be among {', '.join(WEIGHT_LIMITS)}, got {dtypes!r}"
        )
    require_unsaved("compare", os.fspath(model))
    sentences = require_texts("compare", texts, 2)
    names = list(dict.fromkeys([REFERENCE, *dtypes]))
    models = load_each(os.fspath(model), names, num_threads)
    exact = models[REFERENCE]

    tokens = sum(exact.token_counts(sentences))
    embeddings = {
        dtype: loaded.encode(sentences, normalize_embeddings=True)
        for dtype, loaded in models.items()
    }
    layers = _layer_errors(models, sentences)
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


def cosines(x: Floats, exact: Floats) -> npt.NDArray[np.float64]:
    """Return the cosine of each pair of rows; 1 where both are zero."""
    a, b = x.astype(np.float64), exact.astype(np.float64)
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    products = (a * b).sum(axis=1)
    result: npt.NDArray[np.float64] = np.divide(
        products, lengths, out=(a == b).all(axis=1).astype(np.float64), where=lengths > 0
    )
    return result


def nearest_texts(embeddings: Floats, count: int) -> npt.NDArray[np.intp]:
    """Return (n, count): the texts whose embeddings have the largest products with each."""
    similarity = embeddings @ embeddings.T
    np.fill_diagonal(similarity, -np.inf)
    return np.argpartition(-similarity, count - 1, axis=1)[:, :count]


def _layer_errors(models: dict[str, Model], texts: list[str]) -> dict[str, list[LayerError]]:
    """Run each model on the texts, a few at a time, and add up what differs from float32."""
    taps = {dtype: _Taps(model) for dtype, model in models.items()}
    sums: dict[str, list[npt.NDArray[np.float64]]] = {dtype: [] for dtype in models}
    count = 0
    for runs in zip(*(tap.runs(texts) for tap in taps.values()), strict=True):
        states = dict(zip(taps, runs, strict=True))
        exact = states[REFERENCE]
        count += len(exact[0])
        for dtype, hidden in states.items():
            parts = [
                (
                    np.square(x - y, dtype=np.float64).sum(),
                    np.square(y, dtype=np.float64).sum(),
                    cosines(x, y).sum(),
                )
                for x, y in zip(hidden, exact, strict=True)
            ]
            sums[dtype].append(np.array(parts))
    result = {}
    for dtype, parts_of_runs in sums.items():
        total = np.sum(parts_of_runs, axis=0)
        result[dtype] = [
            LayerError(n, float(np.sqrt(error / max(size, 1e-300))), float(cosine / count))
            for n, (error, size, cosine) in enumerate(total)
        ]
    return result


class _Taps:
    """An encoder that hands back the hidden states of every layer."""

    def __init__(self, model: Model) -> None:
        self._model = model
        graph = _fbg.Graph()
        self._taps: list[int] = []
        model.network.build(graph, self._taps)
        for buffer in self._taps:
            graph.output(buffer)
        self._runner = Runner(graph, model.config.max_length, model.config.long_from)

    def runs(self, texts: list[str]) -> Iterator[list[Floats]]:
        model = self._model
        tokens = [ids for ids in model.tokenizer(texts) if ids.size]
        parts = list(chunks([ids.size for ids in tokens], COMPARED_TOKENS, len(tokens)))
        for part in counted("comparing layers", parts):
            packed = pack_sequences(tokens[part], model.config.pad_token_id)
            shape = (packed.tokens, model.config.hidden_size)
            outputs = [np.empty(shape, np.float32) for _ in self._taps]
            self._runner.run(packed, outputs, model.num_threads)
            yield outputs
