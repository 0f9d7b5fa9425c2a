"""An engine: one network, ready to compute batches of token sequences on one or several threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from fbg.arrays import Floats, Indices
from fbg.graph.graph import Graph
from fbg.graph.lower.rows import lower_rows
from fbg.runtime.batches import pack_sequences
from fbg.runtime.indices import require_in_range
from fbg.runtime.runner import Runner


@dataclass(frozen=True)
class InputLimits:
    """The token sequences that a network takes.

    num_token_types: 1 if the network has no token types; types of a sequence are then ignored.
    pad_token_id: not None where positions are counted from it (`pack_sequences`).
    long_from: the length beyond which sequences are rotated differently, if any (`Runner`).
    """

    max_length: int
    vocab_size: int
    num_token_types: int
    pad_token_id: int | None
    long_from: int | None = None


class Engine:
    """A graph with one output, and the plans that compute it. Threads may share an engine.

    columns: of the output. per_token: whether the output has a row for every token; otherwise it
    has one for every sequence.
    """

    def __init__(self, graph: Graph, limits: InputLimits, columns: int, *, per_token: bool) -> None:
        self.columns = columns
        self.per_token = per_token
        self._graph = lower_rows(graph).native
        self._limits = limits
        self._runners = [Runner(self._graph, limits.max_length, limits.long_from)]

    @property
    def arena_bytes(self) -> int:
        """Bytes of the arenas of all plans that are kept."""
        return sum(runner.arena_bytes for runner in tuple(self._runners))

    def runner(self, number: int) -> Runner:
        """Return the runner for the thread with a number; all but the first are made on demand.

        Each has plans of its own, so that several threads can run them side by side.
        """
        while len(self._runners) <= number:
            self._runners.append(
                Runner(self._graph, self._limits.max_length, self._limits.long_from)
            )
        return self._runners[number]

    def empty(self) -> Floats:
        """Return the output of a sequence without tokens: one row of zeros, or no row."""
        return np.zeros((0 if self.per_token else 1, self.columns), np.float32)

    def require_valid(
        self, ids: Sequence[Indices], types: Sequence[Indices | None], where: str
    ) -> None:
        """Raise ValueError for a token id or a token type that the network does not have."""
        limits = self._limits
        if ids:
            require_in_range(f"{where}: token ids", np.concatenate(ids), limits.vocab_size)
        given = [part for part in types if part is not None] if limits.num_token_types > 1 else []
        if given:
            require_in_range(f"{where}: token types", np.concatenate(given), limits.num_token_types)

    def compute(
        self,
        ids: Sequence[Indices],
        types: Sequence[Indices | None],
        runner: Runner,
        num_threads: int,
        where: str,
    ) -> list[Floats]:
        """Run one batch of sequences that all have tokens; return the rows of each.

        types: the token types of each sequence; None stands for zeros.
        where: the name of the caller in the ValueError for an id that the network does not have.
        """
        limits = self._limits
        batch = pack_sequences(ids, limits.pad_token_id)
        if limits.num_token_types > 1 and any(part is not None for part in types):
            parts = [np.zeros_like(i) if t is None else t for i, t in zip(ids, types, strict=True)]
            batch = replace(batch, types=np.concatenate(parts))
        bounds = batch.offsets.tolist() if self.per_token else range(batch.sequences + 1)
        output = np.empty((bounds[-1], self.columns), np.float32)
        try:
            runner.run(batch, [output], num_threads)
        except ValueError:
            self.require_valid(ids, types, where)  # the run checks too, but cannot name the caller
            raise
        return [output[begin:end] for begin, end in pairwise(bounds)]
