"""Observes the inputs of each linear layer of a network in a float32 run: smoothing and GPTQ need
them (graph/passes/migration.py, gptq.py). The run is over random token ids, which needs no data, or
over texts.

Layers run one after the other, each on all sequences, so that no more than one layer of float32
weights is packed at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from fbg import _fbg
from fbg.arrays import Floats, Indices
from fbg.checkpoints.weights import UnpackedWeight
from fbg.graph.graph import Graph
from fbg.graph.linear import Linear
from fbg.graph.ops import rows as ops
from fbg.graph.ops.op import Value
from fbg.matmul.weights import PackedWeight
from fbg.networks.config import EncoderConfig
from fbg.networks.transformer import Transformer, linears
from fbg.progress import tell
from fbg.quantization.observers import Moments
from fbg.runtime.engine import PackedBatch, Runner, chunks, pack_sequences

# About as long as sentences are: positions matter.
RANDOM_SEQUENCES, RANDOM_LENGTH = 40, 24
OBSERVED_TOKENS = 1024  # most tokens of one run
# Most tokens whose hidden states are kept between layers: 200 MB if a token has 768 of them.
KEPT_TOKENS = 65536


def random_sequences(config: EncoderConfig, frame: Indices) -> list[Indices]:
    """Return sequences of token ids, the same ones each time.

    frame: the tokens of an empty text; they begin and end each sequence.
    """
    # The raw bit stream of PCG64 is the one that NumPy promises never to change.
    length = min(RANDOM_LENGTH, config.max_length)
    words = np.random.PCG64(0).random_raw(RANDOM_SEQUENCES * length)
    ids = (words % np.uint64(config.vocab_size)).astype(np.int32)
    ids = ids.reshape(RANDOM_SEQUENCES, length)
    if 2 <= frame.size < length and frame.max() < config.vocab_size:
        ids[:, 0], ids[:, 1 - frame.size :] = frame[0], frame[1:]
    return list(ids)


def observe(
    transformer: Transformer,
    sequences: Sequence[Indices],
    num_threads: int,
    grams: bool = False,
    rows: Sequence[Floats] | None = None,
) -> dict[str, Moments]:
    """Run an unpacked encoder in float32; return statistics of inputs of linear layers by name.

    sequences: lists of token ids, none of them empty.
    grams: whether to compute Gram matrices too.
    rows: the patches of the tokens of each sequence, for a tower for pictures.

    Tells of "observing", how many of how many tokens went through a layer, counted once for each.
    Raises ModelError for weights that are not finite.
    """
    moments = {
        name: Moments.empty(linear.weight.shape[0], grams)
        for name, linear in linears(transformer).items()
    }
    parts = [Part.of(transformer, index) for index in range(transformer.parts)]
    last = {name: part for part in parts for name in part.products}
    # Layers that share weights also share their inputs, and a sum depends on its order.
    shared = len({id(layer) for layer in transformer.layers}) < len(transformer.layers)
    total = sum(s.size for s in sequences) * len(parts)
    runner = PartRunner(transformer.config, num_threads, total)
    for runs in batches_of(sequences, transformer.config, 1 if shared else KEPT_TOKENS, rows):
        hidden: list[Floats] | None = None
        for part in parts:
            hidden = runner.observe(part, runs, hidden, moments)
            runner.forget([name for name in part.products if last[name] is part])
    return moments


def batches_of(
    sequences: Sequence[Indices],
    config: EncoderConfig,
    kept_tokens: int,
    rows: Sequence[Floats] | None = None,
) -> Iterator[list[PackedBatch]]:
    """Pack sequences into runs; yields groups of runs that go through each layer together.

    rows: as for `observe`.
    """
    group: list[PackedBatch] = []
    for part in chunks([s.size for s in sequences], OBSERVED_TOKENS, len(sequences)):
        batch = pack_sequences(sequences[part], config.pad_token_id)
        if rows is not None:
            batch.rows = np.concatenate(rows[part])
        group.append(batch)
        if sum(run.tokens for run in group) >= kept_tokens:
            yield group
            group = []
    if group:
        yield group


class Part(NamedTuple):
    """A part of a network: a graph whose output is its hidden states, and the linear layers in it
    whose weights are not packed, by their names.
    """

    graph: Graph
    products: Mapping[str, ops.Linear]

    @staticmethod
    def of(transformer: Transformer, index: int) -> Part:
        """index: 0 for the embeddings, n for the n-th layer, which reads the input of the graph."""
        graph = Graph()
        x = graph.add(ops.Input(transformer.config.hidden_size)) if index else None
        graph.output(transformer.build_part(graph, index, x))
        found = [value.op for value in graph.values if isinstance(value.op, ops.Linear)]
        unpacked = {op.layer.name: op for op in found if op.layer.dtype == "unpacked"}
        return Part(graph, unpacked)


def rows_of(op: ops.Linear, values: Mapping[Value, Floats]) -> Floats:
    """Return the rows that a linear layer multiplies: that of an expert, those that come to it."""
    x = values[op.x]
    return x if op.routes is None else x[: np.count_nonzero(values[op.routes][:, op.expert])]


class PartRunner:
    """Runs graphs of parts of a network, and returns some of their values.

    Weights that are unpacked are packed in float32 when a run first needs them, and kept. total:
    tokens to observe, counted once for each part.
    """

    def __init__(self, config: EncoderConfig, num_threads: int, total: int) -> None:
        self._observed, self._total = 0, total
        self._weights: dict[str, PackedWeight] = {}  # by names of layers
        self._config = config
        self._num_threads = num_threads
        self._features = _fbg.active_features()  # for kernels of all runs
        self._arrays: dict[tuple[int, int], Floats] = {}  # reused: new memory costs page faults

    def forget(self, names: Iterable[str]) -> None:
        """Drop the weights of these layers."""
        for name in names:
            self._weights.pop(name, None)

    def observe(
        self,
        part: Part,
        runs: Sequence[PackedBatch],
        hidden: list[Floats] | None,
        moments: Mapping[str, Moments],
        kept: list[Mapping[Value, Floats]] | None = None,
    ) -> list[Floats]:
        """Run a part of the exact network, which reads `hidden`; return its hidden states.

        moments: of its linear layers, which take in their inputs. kept: receives the inputs and
        the residuals of these layers in each run.
        """
        products, result, after = part.products.values(), part.graph.outputs[0], []
        watched = [value for op in products for value in (op.x, op.routes) if value is not None]
        if kept is not None:
            watched += [op.residual for op in products if op.residual is not None]
        for values in self.run(part.graph, result, runs, hidden, watched):
            for name, op in part.products.items():
                moments[name].update(rows_of(op, values), self._num_threads)
            if kept is not None:
                kept.append({value: values[value].copy() for value in set(watched)})
            after.append(values[result])
            self._observed += len(values[result])
            tell("observing", self._observed, self._total)
        return after

    def run(
        self,
        graph: Graph,
        result: Value,
        runs: Sequence[PackedBatch],
        hidden: list[Floats] | None,
        watched: Iterable[Value] = (),
        packed: Mapping[str, Linear] = MappingProxyType({}),
    ) -> Iterator[Mapping[Value, Floats]]:
        """Compute `result` for each run; yield it with the watched values,
        which are overwritten by the next run.

        hidden: the hidden states of each run that the graph reads, or None for the embeddings,
            which read the rows of the run if they are those of pictures.
        packed: layers that replace layers of the same names.
        """
        inputs = [run.rows for run in runs] if hidden is None else hidden
        own_input = next((value for value in graph.values if value.op.is_brought), None)
        shown = list(dict.fromkeys(v for v in watched if v not in (own_input, result)))
        computed = shown if result is own_input else [*shown, result]
        reads_input = own_input in graph.needed(computed)
        if not computed:
            yield from ({result: x} for x in inputs if x is not None)
            return
        runner = Runner(
            graph, self._config, computed, partial(self._packed, packed), self._features
        )
        for number, run in enumerate(runs):
            x = inputs[number]
            values = {
                value: self._array(slot, run.tokens, value.columns)
                for slot, value in enumerate(shown)
            }
            if result is not own_input:
                values[result] = np.empty((run.tokens, result.columns), np.float32)
            given = [x] if reads_input and x is not None else []
            runner.run(run, list(values.values()), self._num_threads, inputs=given)
            if own_input is not None and x is not None:
                values[own_input] = x
            yield values

    def _packed(self, packed: Mapping[str, Linear], layer: Linear) -> Linear:
        """Return a layer with a packed weight; raises ModelError."""
        layer = packed.get(layer.name, layer)
        if not isinstance(layer.weight, UnpackedWeight):
            return layer
        if layer.name not in self._weights:
            weight = layer.weight.pack("float32", self._num_threads, stored=False)
            self._weights[layer.name] = weight
        return replace(layer, weight=self._weights[layer.name])

    def _array(self, slot: int, tokens: int, columns: int) -> Floats:
        """Return a (tokens, columns) array whose contents last until the next run."""
        array = self._arrays.get((slot, columns))
        if array is None or len(array) < tokens:
            array = self._arrays[slot, columns] = np.empty((tokens, columns), np.float32)
        return array[:tokens]
