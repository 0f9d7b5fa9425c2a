"""Semantic textual similarity (STS): correlations of cosines with human scores of pairs of texts.

All dtypes have the same pairs, so that most of the chance that chose these cancels out in their
differences from float32 (paired bootstrap). A sample of the pairs is how often it has each.
"""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import fbg
from fbg.arrays import Doubles
from fbg.model.load import load_encoder
from fbg.progress import counted
from fbg.reports.accuracy import cosines
from fbg.reports.measuring import Report, compared_dtypes, require_unsaved, table, threads_text
from fbg.text.files import decode_lines, json_objects, require_text

COLUMNS = ("score", "sentence1", "sentence2")
COEFFICIENTS = ("Spearman", "Pearson")
FEWEST = 3  # pairs whose correlation says something
BLOCKS, SAMPLES = 20, 100  # of samples, and in each


@dataclass(frozen=True)
class Correlation:
    """A coefficient. low, high: the 95 % confidence interval of its difference from float32."""

    value: float
    difference: float
    low: float
    high: float


@dataclass(frozen=True)
class Sts(Report):
    """Result of `compare_sts`. correlations: Spearman's and Pearson's, float32 first."""

    model: str
    path: str
    pairs: int
    threads: int
    isa: str
    correlations: dict[str, tuple[Correlation, Correlation]]

    def __str__(self) -> str:
        facts = (f"{self.pairs} pairs of {self.path}", threads_text(self.threads), self.isa)
        return f"{self.model}: {', '.join(facts)}\n\n{sts_table(self.correlations)}"


def compare_sts(
    model: str | os.PathLike[str],
    path: str | os.PathLike[str],
    dtypes: Sequence[str] = ("bfloat16", "int8"),
    *,
    num_threads: int | None = None,
) -> Sts:
    """Correlate the cosines of pairs of texts with human scores, in several dtypes.

    model, dtypes: as for `compare`.
    path: a .tsv, .csv or .jsonl file with the columns or keys score, sentence1 and sentence2.

    Raises the errors of `compare`, and ValueError for what is wrong in a line of the file.

    >>> from fbg.reports.sts import compare_sts
    >>> print(compare_sts("path/to/all-MiniLM-L6-v2", "sts.tsv", ["int8"]))  # doctest: +SKIP
    """
    names = compared_dtypes("compare", dtypes)
    require_unsaved("compare", os.fspath(model))
    scores, texts = read_pairs(Path(path))
    found = {}
    for dtype in counted("comparing", names):
        loaded = load_encoder(model, dtype, num_threads)
        found[dtype] = cosines(*np.split(loaded.encode(texts), 2))
    correlations, threads = correlate(scores, found), loaded.num_threads
    return Sts(str(model), str(path), len(scores), threads, fbg.isa.active(), correlations)


def sts_table(
    correlations: Mapping[str, Sequence[Correlation]], names: Sequence[str] = COEFFICIENTS
) -> str:
    """Return a line for each contestant."""
    rows = []
    for name, coefficients in correlations.items():
        rows.append([name])
        for c in coefficients:
            rows[-1] += [f"{c.value:.5f}", f"{c.difference:+.5f}", f"[{c.low:+.5f}, {c.high:+.5f}]"]
    return table(["", *(head for name in names for head in (name, "difference", "95 %"))], rows)


def read_pairs(path: Path) -> tuple[Doubles, list[str]]:
    """Return the scores of pairs, and the first texts of all pairs before the second ones.

    The first line of a .tsv or .csv file may name its columns, in any order and beside others.
    """
    scores, first, second = [], [], []
    for where, row in json_objects(path) if path.suffix == ".jsonl" else _rows(path):
        try:
            score = float(row["score"])
        except (KeyError, TypeError, ValueError, OverflowError):
            score = math.nan
        if not math.isfinite(score):
            raise ValueError(f"{where}: 'score' must be a number, got {row.get('score')!r}")
        scores.append(score)
        first.append(require_text(row, "sentence1", where))
        second.append(require_text(row, "sentence2", where))
    if len(scores) < FEWEST or len({*scores}) == 1:
        raise ValueError(f"{path}: must have {FEWEST} pairs or more, with different scores")
    return np.array(scores), first + second


def _rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the rows of a table, each after where it is; quotes mean something in .csv alone."""
    if path.suffix not in (".tsv", ".csv"):
        raise ValueError(f"{path}: the suffix must be one of .tsv, .csv, .jsonl")
    plain: dict[str, Any] = {"delimiter": "\t", "quoting": csv.QUOTE_NONE}
    names: Sequence[str] = COLUMNS
    with path.open("rb") as file:
        lines = (line + "\n" for line in decode_lines(file, str(path)))
        reader = csv.reader(lines, strict=True, **({} if path.suffix == ".csv" else plain))
        try:
            for count, fields in enumerate(filter(None, reader)):
                where = f"{path}, line {reader.line_num}"
                if count == 0 and {*COLUMNS} <= {*fields}:
                    names = fields
                elif len(fields) == len(names):
                    yield where, dict(zip(names, fields, strict=True))
                else:
                    raise ValueError(f"{where}: must have {len(names)} columns, got {len(fields)}")
        except csv.Error as error:
            raise ValueError(f"{path}, line {reader.line_num}: {error}") from None


def correlate(
    scores: Doubles, cosine: Mapping[str, Doubles]
) -> dict[str, tuple[Correlation, Correlation]]:
    """Return the correlations of each contestant, and their differences from the first."""

    def values(counts: Doubles) -> Doubles:  # (contestants, 2, samples)
        y, ranks = scores, _ranks(scores, counts)
        pairs = ((x, _ranks(x, counts)) for x in cosine.values())
        return np.array([(_pearson(r, ranks, counts), _pearson(x, y, counts)) for x, r in pairs])

    whole = values(np.ones((1, len(scores))))[..., 0]
    sampled = np.concatenate([values(counts) for counts in _samples(len(scores))], axis=-1)
    low, high = np.percentile(sampled - sampled[0], [2.5, 97.5], axis=-1)
    columns = np.stack([whole, whole - whole[0], low, high], axis=-1).tolist()
    return {
        name: (Correlation(*spearman), Correlation(*pearson))
        for name, (spearman, pearson) in zip(cosine, columns, strict=True)
    }


def _samples(pairs: int) -> Iterator[Doubles]:
    """Yield counts, (samples, pairs), always the same."""
    stream, starts = np.random.default_rng(0), pairs * np.arange(SAMPLES)[:, None]
    for _ in range(BLOCKS):
        places = stream.integers(pairs, size=(SAMPLES, pairs)) + starts
        counts = np.bincount(places.ravel(), minlength=places.size)
        yield counts.reshape(places.shape).astype(np.float64)


def _pearson(x: Doubles, y: Doubles, counts: Doubles) -> Doubles:
    """Return the coefficient in each sample; 0 where x or y is constant, NaN where one has it."""
    total = counts.sum(axis=1, keepdims=True)
    dx, dy = (v - (counts * v).sum(axis=1, keepdims=True) / total for v in (x, y))
    product, of_x, of_y = ((counts * v).sum(axis=1) for v in (dx * dy, dx * dx, dy * dy))
    scale = np.sqrt(of_x * of_y)
    coefficients: Doubles = np.divide(product, scale, out=np.zeros_like(scale), where=scale != 0)
    return coefficients


def _ranks(x: Doubles, counts: Doubles) -> Doubles:
    """Return the rank of each pair in each sample; equal ones share the mean of theirs."""
    _, group, sizes = np.unique(x, return_inverse=True, return_counts=True)
    starts, order = np.cumsum(sizes) - sizes, np.argsort(x, kind="stable")
    totals = np.add.reduceat(counts[:, order], starts, axis=1)
    ranks: Doubles = (np.cumsum(totals, axis=1) - (totals - 1) / 2)[:, group]
    ranks[:, np.isnan(x)] = np.nan
    return ranks
