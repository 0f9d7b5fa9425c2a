"""Several embedding tables that are looked up in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fbg import _fbg
from fbg.arrays import Array, empty_lines, named_dtype
from fbg.tables.arguments import BagArguments, check_out, divide, refuse, sums_for, threads
from fbg.tables.embedding_bag import EmbeddingBag


class EmbeddingTables:
    """Look up several tables in one call, as the sparse features of a recommender need.

    Args:
        bags: one `EmbeddingBag` for each table; they may differ in all but the dtype of results,
            and the number of bags that a call has.

    Raises TypeError for anything else, ValueError for no tables, or results of several dtypes.

    >>> floats = np.array([[1, 2], [3, 4]], np.float32)
    >>> tables = EmbeddingTables([EmbeddingBag(floats), EmbeddingBag(10 * floats, mode="max")])
    >>> tables([np.array([[0, 1], [1, 1]]), np.array([[0], [1]])])
    array([[ 4.,  6., 10., 20.],
           [ 6.,  8., 30., 40.]], dtype=float32)
    """

    def __init__(self, bags: Sequence[EmbeddingBag]) -> None:
        kinds = {type(bag).__name__ for bag in bags if not isinstance(bag, EmbeddingBag)}
        if kinds:
            raise TypeError(f"EmbeddingTables: bags must be EmbeddingBag, got {min(kinds)}")
        if not bags:
            raise ValueError("EmbeddingTables: bags must have at least one table, got none")
        dtypes = sorted({bag.out_dtype for bag in bags})
        if len(dtypes) > 1:
            raise ValueError(f"EmbeddingTables: bags must have one out_dtype, got {dtypes}")
        self._bags = list(bags)

    @property
    def bags(self) -> list[EmbeddingBag]:
        """The tables."""
        return list(self._bags)

    @property
    def columns(self) -> int:
        """Columns of the result: those of all tables together."""
        return sum(bag.shape[1] for bag in self._bags)

    @property
    def out_dtype(self) -> str:
        """Of results, such as "float32"."""
        return self._bags[0].out_dtype

    def __call__(
        self,
        indices: Sequence[object],
        offsets: Sequence[object] | None = None,
        per_sample_weights: Sequence[object] | None = None,
        out: Array | None = None,
        num_threads: int | None = None,
        *,
        lengths: Sequence[object] | None = None,
    ) -> Array:
        """Return `out_dtype` (bags, columns of all tables): the results side by side.

        Args:
            indices: for each table, as of `EmbeddingBag`.
            offsets, per_sample_weights, lengths: None, or for each table, as of `EmbeddingBag`; an
                entry may be None.
            out: `out_dtype` (bags, columns of all tables) for the result; rows must be contiguous.
            num_threads: as in ``gemm``. Every thread reads the same number of bytes, whichever
                tables they are in.

        The bits are those of the calls one by one. Raises TypeError and ValueError as
        `EmbeddingBag` does, and ValueError where tables have different numbers of bags; `out` is
        not changed then.
        """
        name, count = "EmbeddingTables", len(self._bags)
        given = [
            _entries(entries, what, count)
            for what, entries in (
                ("indices", indices),
                ("offsets", offsets),
                ("per_sample_weights", per_sample_weights),
                ("lengths", lengths),
            )
        ]
        parts = [
            bag._checked(name, *one, at=f"[{t}]")
            for t, (bag, *one) in enumerate(zip(self._bags, *given, strict=True))
        ]
        numbers = {part.bags for part in parts}
        if len(numbers) > 1:
            raise ValueError(f"{name}: tables must have equally many bags, got {sorted(numbers)}")
        result = self._result(out, parts)
        ends = np.cumsum([bag.shape[1] for bag in self._bags])[:-1]
        outs = np.split(result, ends, axis=1)
        sums = [sums_for(own, part) for own, part in zip(outs, parts, strict=True)]
        looked_up = [
            bag._part(part, own) for bag, part, own in zip(self._bags, parts, sums, strict=True)
        ]
        bad = _fbg.look_up(looked_up, out is not None, threads(num_threads, name))
        if bad is not None:
            table = bad[0]
            refuse(bad, parts[table], self._bags[table].shape[0], f"{name}: {bad[1]}[{table}]")
        for added, part, own in zip(sums, parts, outs, strict=True):
            divide(added, part, own)
        return result

    def _result(self, out: Array | None, parts: list[BagArguments]) -> Array:
        shape = (parts[0].bags, self.columns)
        if out is None:
            return empty_lines(shape, named_dtype(self.out_dtype))
        rows = [array for bag in self._bags for array in (bag._rows.data, bag._remap)]
        given = [array for part in parts for array in (part.indices, part.offsets, part.weights)]
        return check_out(out, self.out_dtype, shape, "EmbeddingTables", *rows, *given)

    def __repr__(self) -> str:
        return f"EmbeddingTables({self._bags!r})"


def _entries(entries: Any, what: str, count: int) -> list[Any]:
    if entries is None and what != "indices":
        return [None] * count
    if not isinstance(entries, Sequence) or len(entries) != count:
        got = len(entries) if isinstance(entries, Sequence) else type(entries).__name__
        raise ValueError(f"EmbeddingTables: {what} must be a sequence of {count}, got {got}")
    return list(entries)
