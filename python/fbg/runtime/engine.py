"""A network of rows, ready to run: packs sequences into batches, makes plans for their sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise, starmap
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.arrays import Floats, Indices
from fbg.graph.graph import Graph
from fbg.graph.linear import Linear
from fbg.graph.lower.rows import lower_rows
from fbg.graph.ops.op import Value
from fbg.networks.config import EncoderConfig
from fbg.tuning.plan_cache import PlanCache
from fbg.tuning.store import store

# Tokens of one batch: enough that reading the weights costs little, few enough that the values
# between two layers stay in the caches. Results do not depend on it.
MAX_BATCH_TOKENS = 512
MIN_TOKENS = 64

# The most bytes of all plans of one runner, each with one arena. A plan of BERT-base takes 5 to
# 15 MiB.
MAX_BYTES = 64 << 20

# What goes with a sequence: the types of its tokens, or None for zeros; where an engine reads rows
# of numbers, such as patches of pictures, these rows.
Types = npt.NDArray[Any] | None


class PackedBatch:
    """Tokens of several sequences, none of them empty, end to end.

    offsets: (sequences + 1,), the start of each sequence. position_ids: rows of the position table.
    sequence_positions: where each token stands in its sequence, from 0; masked tokens are counted.
        Attention takes distances of these, and rotations depend on them.
    rows: what the graph reads of each token besides: in a tower for pictures, its patch.
    """

    def __init__(
        self,
        ids: Indices,
        position_ids: Indices,
        types: Indices,
        sequence_positions: Indices,
        offsets: Indices,
        rows: Floats | None = None,
    ) -> None:
        self.ids, self.position_ids, self.types = ids, position_ids, types
        self.sequence_positions, self.offsets, self.rows = sequence_positions, offsets, rows

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


def pack_sequences(
    sequences: Sequence[Indices], padding: int | None = None, types: Sequence[Types] = ()
) -> PackedBatch:
    """Pack token ids. See `token_position_ids` for `padding`.

    types: the token types of each sequence; None stands for zeros, and so does no sequence at all.
    """
    lengths = list(map(len, sequences))
    offsets = np.array([0, *accumulate(lengths)], np.int32)
    ids = np.concatenate(sequences) if len(lengths) > 1 else np.ascontiguousarray(sequences[0])
    positions = np.arange(ids.size, dtype=np.int32) - offsets[:-1].repeat(lengths)
    position_ids = positions
    if padding is not None:
        position_ids = np.concatenate([token_position_ids(s[None], padding)[0] for s in sequences])
    kinds = np.zeros(ids.size, np.int32)
    if types:
        given = zip(sequences, types, strict=True)
        kinds = np.concatenate([np.zeros_like(s) if t is None else t for s, t in given])
    return PackedBatch(ids, position_ids, kinds, positions, offsets)


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


def move_long(batch: PackedBatch, length: int) -> PackedBatch:
    """Move the sequences of more than `length` places behind all others, which makes no
    difference to distances: where rotations depend on the length, they have rows of their own.
    """
    last = batch.sequence_positions[batch.offsets[1:] - 1]
    by = np.where(last >= length, np.int32(length), np.int32(0))
    moved = batch.sequence_positions + np.repeat(by, np.diff(batch.offsets))
    positions = moved.astype(np.int32)
    return PackedBatch(batch.ids, batch.position_ids, batch.types, positions, batch.offsets)


def chunks(lengths: Sequence[int], max_tokens: int, max_count: int) -> list[slice]:
    """Cut consecutive sequences into runs of one, or more while they have <= max_tokens tokens."""
    parts, begin, tokens = [], 0, 0
    for n, length in enumerate(lengths):
        if n > begin and (tokens + length > max_tokens or n - begin == max_count):
            parts.append(slice(begin, n))
            begin, tokens = n, 0
        tokens += length
    if begin < len(lengths):
        parts.append(slice(begin, len(lengths)))
    return parts


def index_array(where: str, value: object, shape: tuple[int, int] | None) -> npt.NDArray[Any]:
    """Return an integer or boolean array of the wanted shape; raises TypeError or ValueError."""
    try:
        array = np.asarray(value)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{where} must be a 2-D array: {error}") from None
    if array.size == 0 and array.dtype == np.float64 and not hasattr(value, "dtype"):
        array = array.astype(np.int64)  # an empty list has no dtype
    if array.dtype.kind not in "iub":
        raise TypeError(f"{where} must be integers, got {array.dtype}")
    if array.ndim != 2:
        raise ValueError(f"{where} must be 2-D (batch, sequence), got shape {array.shape}")
    if shape is not None and array.shape != shape:
        raise ValueError(f"{where} must have the shape of input_ids, {shape}, got {array.shape}")
    return array


def require_in_range(
    where: str, values: npt.NDArray[Any], limit: int, valid: npt.NDArray[np.bool_] | None = None
) -> None:
    """Raise ValueError for the first of `values` outside [0, limit), except for hidden tokens.

    valid: False where a token is hidden, in the shape of `values`; None: every token counts.
    """
    seen = values if valid is None else values[valid]
    if seen.size == 0 or (seen.min() >= 0 and seen.max() < limit):
        return
    wrong = (values < 0) | (values >= limit)
    if valid is not None:
        wrong &= valid
    place = np.argwhere(wrong)[0].tolist()
    got = int(values[tuple(place)])
    raise ValueError(f"{where} must be in [0, {limit}), got {got} at {place}")


class Runner:
    """Runs a graph on packed sequences of any size, of at most `config.max_length` tokens each.

    A plan serves every run up to its capacity, a power of two of tokens. Plans are kept for later
    runs while they take at most MAX_BYTES together; the one that was used least recently is dropped
    first, and the one that is in use stays, however large it is. Threads may share a runner: runs
    at the same time share all of a plan but its arena. Arenas for sequences longer than a batch are
    freed when another plan runs, so that memory is that for the longest sequence.

    outputs: those of a run; None: the outputs of the graph. packed: see `lower_rows`. features: of
    the CPU, for kernels; None: those that are active when a run begins.
    """

    def __init__(
        self,
        graph: Graph,
        config: EncoderConfig,
        outputs: Sequence[Value] | None = None,
        packed: Callable[[Linear], Linear] = lambda layer: layer,
        features: int | None = None,
    ) -> None:
        self.lowered = lower_rows(graph, outputs, packed)
        self._config, self._features = config, features
        self._long_from = config.long_from
        self._plans: PlanCache[_fbg.Plan] = PlanCache(lambda plan: plan.nbytes)
        self._has_long = False

    def run(
        self,
        batch: PackedBatch,
        outputs: Sequence[npt.NDArray[Any]],
        num_threads: int,
        *,
        inputs: Sequence[npt.NDArray[Any]] = (),
        seconds: npt.NDArray[np.float64] | None = None,
        phases: npt.NDArray[np.float64] | None = None,
    ) -> None:
        """Fill `outputs`, one array for every output.

        inputs: one array for every input of the graph besides the sequences.
        seconds: (ops,) receives the time of each op; phases: (ops, 4) the time of its first share
        in packing, scores, softmax and context (include/fbg/core/phase.h).
        """
        plan = self.plan(batch.ids.size, num_threads)
        if self._has_long:
            for other in self._plans.plans:
                if other is not plan and other.tokens > MAX_BATCH_TOKENS:
                    other.free_idle()
        if self._long_from is not None:
            batch = move_long(batch, self._long_from)
        arrays = batch.ids, batch.position_ids, batch.types, batch.sequence_positions, batch.offsets
        plan.run(*arrays, list(outputs), num_threads, seconds, phases, inputs)

    @property
    def arena_bytes(self) -> int:
        """Bytes of the arenas of all plans that are kept."""
        return sum(plan.arena_bytes * plan.num_arenas for plan in self._plans.plans)

    def plan(self, tokens: int, num_threads: int) -> _fbg.Plan:
        """Return a plan for at least `tokens` tokens, with kernels for the ISA that is active."""
        capacity = max(MIN_TOKENS, 1 << (tokens - 1).bit_length())
        self._has_long = self._has_long or capacity > MAX_BATCH_TOKENS
        # Read once: another thread may change the limit while the plan is prepared.
        features = _fbg.active_features() if self._features is None else self._features
        key = (capacity, num_threads, features)

        def prepare() -> _fbg.Plan:
            isa = _fbg.best_isa(features)
            return _fbg.Plan(
                self.lowered.native,
                tokens=capacity,
                sequences=capacity,
                length=self._config.max_length,
                threads=num_threads,
                tuned=store.blockings(self.lowered.native.products, num_threads, isa),
                features=features,
            )

        return self._plans.get(key, prepare, MAX_BYTES)


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
        self, ids: Sequence[Indices], types: Sequence[Types], num_threads: int, where: str
    ) -> list[Floats]:
        """Run one batch of sequences that all have tokens; return the rows of each.

        types: the token types of each sequence; None stands for zeros, and so does no sequence at
            all.
        where: the name of the caller in the ValueError for an id that the network does not have.
        """
        config = self._config
        if config.end_token is not None or config.filler is not None:
            ids = [config.arranged(part) for part in ids]
        batch = self._packed(ids, types)
        bounds = batch.offsets.tolist() if self.per_token else range(batch.offsets.size)
        output = np.empty((bounds[-1], self.columns), np.float32)
        inputs = () if batch.rows is None else (batch.rows,)
        try:
            self.runner.run(batch, [output], num_threads, inputs=inputs)
        except ValueError:
            self.require_valid(ids, types, where)  # the run checks too, but cannot name the caller
            raise
        return list(map(output.__getitem__, starmap(slice, pairwise(bounds))))

    def _packed(self, ids: Sequence[Indices], types: Sequence[Types]) -> PackedBatch:
        has_types = self._config.num_token_types > 1
        return pack_sequences(ids, self._config.pad_token_id, types if has_types else ())


class RowsEngine(Engine):
    """The same of a graph that reads rows of numbers, such as the patches of a picture: a sequence
    has the rows where others have types, and its ids are not read.
    """

    def require_valid(self, ids: Sequence[Indices], types: Sequence[Types], where: str) -> None:
        pass  # places are not from users

    def _packed(self, ids: Sequence[Indices], types: Sequence[Types]) -> PackedBatch:
        rows = [part for part in types if part is not None]
        places = [np.arange(len(part), dtype=np.int32) for part in rows]
        batch = pack_sequences(places)
        batch.rows = np.concatenate(rows)
        return batch
