"""Queries with mask tokens that attend to other tokens, while none attends to them.

ColBERT's queries are filled up with mask tokens (arXiv:2004.12832). In most models these read the
tokens of the query, but neither each other nor themselves, and nothing reads them. Attention has no
such mask; it adds a bias that depends on the distance between two positions. So the query is there
twice, each copy reading the other, and the mask tokens read the first copy: every pair of places
that must not see each other is at a distance whose bias hides it.

    places      [0, L)         [P, P + L)      [3 P, 3 P + L)      P = 2 L
                the query      its copy        mask tokens
    reads       the copy       the query       the query
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate

import numpy as np

from fbg.arrays import Floats, Indices
from fbg.graph.graph import Graph
from fbg.graph.ops import rows as ops
from fbg.graph.ops.op import Op
from fbg.graph.ops.rows import Heads
from fbg.networks.config import EncoderConfig
from fbg.runtime.engine import Engine, PackedBatch, token_position_ids

HIDDEN = -1e9  # bias of a score that must not count
ZONES = 4  # segments of 2 L places each


def can_expand(config: EncoderConfig) -> bool:
    """Whether attention of this network leaves room for the bias."""
    return not config.causal and config.relative is None and config.softcap is None


def _hide_masks(op: Op, length: int) -> Op:
    """Return an op whose attention hides mask tokens; most ops stay as they are.

    length: the most tokens of a query, mask tokens included.
    """
    if isinstance(op, ops.Rotate):
        return replace(op, table=_rotated_zones(op.table, length))
    if isinstance(op, ops.Attention):
        bias = _hiding_bias(op.heads, op.distance_bias, length)
        return replace(op, heads=replace(op.heads, window=None), distance_bias=bias)
    return op


def _rotated_zones(cos_sin: Floats, length: int) -> Floats:
    period = 2 * length
    table = np.zeros((ZONES * period, cos_sin.shape[1]), np.float32)
    for zone in range(ZONES):
        table[zone * period : zone * period + length] = cos_sin[:length]
    return table


def _hiding_bias(heads: Heads, distance_bias: Floats | None, length: int) -> Floats:
    period, distances = 2 * length, np.arange(1 - length, length)
    seen = distances if heads.window is None else distances[np.abs(distances) <= heads.window]
    bias = np.full((heads.heads, 2 * ZONES * period - 1), HIDDEN, np.float32)
    for shift in (period, -period, -3 * period):
        columns = ZONES * period - 1 + shift + seen
        bias[:, columns] = (
            0 if distance_bias is None else distance_bias[:, distance_bias.shape[1] // 2 + seen]
        )
    return bias


class ExpandedEngine(Engine):
    """An engine for queries whose mask tokens are given as ~token, behind all others."""

    def __init__(self, graph: Graph, config: EncoderConfig, length: int, columns: int) -> None:
        # The graph has a place for each of the zones. No family with such queries rotates long
        # texts differently.
        expanded = replace(
            config,
            max_positions=ZONES * 2 * length,
            pad_token_id=None,
            num_token_types=1,
            rotations=(),
        )
        hiding = graph.rewritten(partial(_hide_masks, length=length))
        super().__init__(hiding, expanded, columns, per_token=True)
        self._period, self._padding = 2 * length, config.pad_token_id

    def require_valid(
        self, ids: Sequence[Indices], types: Sequence[Indices | None], where: str
    ) -> None:
        plain = [np.where(part < 0, ~part, part) for part in ids]
        super().require_valid(plain, types, where)

    def compute(
        self,
        ids: Sequence[Indices],
        types: Sequence[Indices | None],
        num_threads: int,
        where: str,
    ) -> list[Floats]:
        self.require_valid(ids, types, where)
        results = []
        outputs = super().compute(ids, types, num_threads, where)
        for part, rows in zip(ids, outputs, strict=True):
            own = int(np.count_nonzero(part >= 0))
            results.append(np.concatenate([rows[:own], rows[2 * own :]]))
        return results

    def _packed(self, ids: Sequence[Indices], types: Sequence[Indices | None]) -> PackedBatch:
        parts = list(zip(*map(self._expanded, ids), strict=True))
        tokens, position_ids, places = (np.concatenate(p).astype(np.int32) for p in parts)
        offsets = np.array([0, *accumulate(map(len, parts[0]))], np.int32)
        return PackedBatch(tokens, position_ids, np.zeros_like(tokens), places, offsets)

    def _expanded(self, ids: Indices) -> tuple[Indices, Indices, Indices]:
        """Return the tokens, rows of the position table and places of a query."""
        whole = np.where(ids < 0, ~ids, ids)
        count, own = ids.size, int(np.count_nonzero(ids >= 0))
        rows = token_position_ids(whole[None], self._padding)[0]
        zones = np.repeat([0, 1, 3], [own, own, count - own]).astype(np.int32)
        order = np.concatenate([np.arange(own), np.arange(own), np.arange(own, count)])
        return whole[order], rows[order], order.astype(np.int32) + zones * self._period
