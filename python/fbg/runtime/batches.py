"""Packs padded arrays into sequences: valid tokens end to end, and the start of each sequence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg.arrays import Floats, Indices

# Tokens of one batch: enough that reading the weights costs little, few enough that the values
# between two layers stay in the caches. Results do not depend on it.
MAX_BATCH_TOKENS = 512


@dataclass(frozen=True)
class PackedBatch:
    """Tokens of several sequences, none of them empty.

    position_ids: rows of the position table.
    sequence_positions: where each token stands in its sequence, from 0; masked tokens are counted.
        Attention takes distances of these, and rotations depend on them.
    rows: what a tower for pictures reads of each token besides: its patch.
    """

    ids: Indices
    position_ids: Indices
    types: Indices
    sequence_positions: Indices
    offsets: Indices  # (sequences + 1,)
    rows: Floats | None = None

    @property
    def arrays(self) -> tuple[Indices, Indices, Indices, Indices, Indices]:
        """The arrays in the order in which a plan takes them."""
        return self.ids, self.position_ids, self.types, self.sequence_positions, self.offsets

    @property
    def tokens(self) -> int:
        return self.ids.size

    @property
    def sequences(self) -> int:
        return self.offsets.size - 1


def token_position_ids(ids: npt.NDArray[Any], padding: int | None) -> Indices:
    """Return the row of the position table for each token of (B, S) sequences.

    Without `padding` that is its column. With it: p + (number of tokens up to here that are not p),
    and p for p itself, as RoBERTa has it. Neither looks at any mask.
    """
    if padding is None:
        return np.broadcast_to(np.arange(ids.shape[1], dtype=np.int32), ids.shape)
    counted: npt.NDArray[np.bool_] = ids != padding
    positions: Indices = np.cumsum(counted, axis=1, dtype=np.int32)
    return np.where(counted, positions + np.int32(padding), np.int32(padding))


def pack_sequences(sequences: Sequence[Indices], padding: int | None = None) -> PackedBatch:
    """Pack token ids; token types are 0. See `token_position_ids` for `padding`."""
    offsets = np.zeros(len(sequences) + 1, np.int32)
    np.cumsum([sequence.size for sequence in sequences], out=offsets[1:])
    ids = np.concatenate(sequences)
    positions = np.arange(ids.size, dtype=np.int32) - np.repeat(offsets[:-1], np.diff(offsets))
    position_ids = positions
    if padding is not None:
        position_ids = np.concatenate([token_position_ids(s[None], padding)[0] for s in sequences])
    return PackedBatch(ids, position_ids, np.zeros_like(ids), positions, offsets)


def pack_padded(
    ids: npt.NDArray[Any],
    valid: npt.NDArray[np.bool_] | None,
    types: npt.NDArray[Any] | None,
    padding: int | None = None,
) -> PackedBatch:
    """Pack the valid tokens of (B, S) arrays, at least one in each row."""
    rows, columns = ids.shape
    offsets = np.zeros(rows + 1, np.int32)

    def flat(array: npt.NDArray[Any]) -> Indices:
        chosen = array.reshape(-1) if valid is None else array[valid]
        return np.ascontiguousarray(chosen, np.int32)

    if valid is None:
        offsets[:] = np.arange(rows + 1) * columns
    else:
        np.cumsum(valid.sum(axis=1), out=offsets[1:])
    packed, positions = flat(ids), flat(token_position_ids(ids, None))
    return PackedBatch(
        packed,
        positions if padding is None else flat(token_position_ids(ids, padding)),
        np.zeros_like(packed) if types is None else flat(types),
        positions,
        offsets,
    )


def move_long(batch: PackedBatch, length: int | None) -> PackedBatch:
    """Move the sequences of more than `length` places behind all others, which makes no
    difference to distances: where rotations depend on the length, they have rows of their own.
    """
    if length is None:
        return batch
    last = batch.sequence_positions[batch.offsets[1:] - 1]
    by = np.where(last >= length, np.int32(length), np.int32(0))
    moved = batch.sequence_positions + np.repeat(by, np.diff(batch.offsets))
    return replace(batch, sequence_positions=moved.astype(np.int32))


def chunks(lengths: Sequence[int], max_tokens: int, max_count: int) -> Iterator[slice]:
    """Cut consecutive sequences into runs of one, or more while they have <= max_tokens tokens."""
    begin, tokens = 0, 0
    for n, length in enumerate(lengths):
        if n > begin and (tokens + length > max_tokens or n - begin == max_count):
            yield slice(begin, n)
            begin, tokens = n, 0
        tokens += length
    if begin < len(lengths):
        yield slice(begin, len(lengths))
