"""An engine: one network, ready to compute batches of token sequences on one or several threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg.arrays import Floats, Indices
from fbg.graph.graph import Graph
from fbg.networks.config import EncoderConfig
from fbg.runtime.batches import pack_sequences
from fbg.runtime.indices import require_in_range
from fbg.runtime.runner import Runner

# What goes with a sequence: the types of its tokens, or None for zeros; in a tower for pictures,
# the rows of patches.
Types = npt.NDArray[Any] | None


class Engine:
    """A graph with one output, ready to run. Threads may share an engine.

    config: says which token sequences the graph takes; types of a sequence are ignored if it has
    one kind of segments only.
    columns: of the output. per_token: whether the output has a row for every token; otherwise it
    has one for every sequence.
    """

    def __init__(
        self, graph: Graph, config: EncoderConfig, columns: int, *, per_token: bool
    ) -> None:
        self.columns = columns
        self.per_token = per_token
        self.runner = Runner(graph, config)
        self._config = config

    def empty(self) -> Floats:
        """Return the output of a sequence without tokens: one row of zeros, or no row."""
        return np.zeros((0 if self.per_token else 1, self.columns), np.float32)

    def require_valid(self, ids: Sequence[Indices], types: Sequence[Types], where: str) -> None:
        """Raise ValueError for a token id or a token type that the network does not have."""
        config = self._config
        if ids:
            require_in_range(f"{where}: token ids", np.concatenate(ids), config.vocab_size)
        given = [part for part in types if part is not None] if config.num_token_types > 1 else []
        if given:
            require_in_range(f"{where}: token types", np.concatenate(given), config.num_token_types)

    def compute(
        self,
        ids: Sequence[Indices],
        types: Sequence[Types],
        num_threads: int,
        where: str,
    ) -> list[Floats]:
        """Run one batch of sequences that all have tokens; return the rows of each.

        types: the token types of each sequence; None stands for zeros.
        where: the name of the caller in the ValueError for an id that the network does not have.
        """
        config = self._config
        ids = [config.arranged(part) for part in ids]
        batch = pack_sequences(ids, config.pad_token_id)
        if config.num_token_types > 1 and any(part is not None for part in types):
            parts = [np.zeros_like(i) if t is None else t for i, t in zip(ids, types, strict=True)]
            batch = replace(batch, types=np.concatenate(parts))
        bounds = batch.offsets.tolist() if self.per_token else range(batch.sequences + 1)
        output = np.empty((bounds[-1], self.columns), np.float32)
        try:
            self.runner.run(batch, [output], num_threads)
        except ValueError:
            self.require_valid(ids, types, where)  # the run checks too, but cannot name the caller
            raise
        return [output[begin:end] for begin, end in pairwise(bounds)]

    def compute_rows(self, rows: Sequence[Floats], num_threads: int) -> list[Floats]:
        """Run one batch of pictures, (tokens, numbers of a patch) each; return the rows of each."""
        places = [np.arange(len(part), dtype=np.int32) for part in rows]
        batch = pack_sequences(places)
        bounds = batch.offsets.tolist() if self.per_token else range(batch.sequences + 1)
        output = np.empty((bounds[-1], self.columns), np.float32)
        self.runner.run(batch, [output], num_threads, inputs=[np.concatenate(rows)])
        return [output[begin:end] for begin, end in pairwise(bounds)]


class PictureEngine(Engine):
    """The same of a tower for pictures: a sequence has the place of each patch, and its rows where
    others have types.
    """

    def require_valid(self, ids: Sequence[Indices], types: Sequence[Types], where: str) -> None:
        pass  # places are not from users

    def compute(
        self, ids: Sequence[Indices], types: Sequence[Types], num_threads: int, where: str
    ) -> list[Floats]:
        return self.compute_rows([rows for rows in types if rows is not None], num_threads)
