"""What goes into each linear layer of a network, observed in a float32 run: smoothing and GPTQ need
it (compression/smoothing.py). The run is over random token ids, which needs no data, or over texts.

Layers run one after the other, each on all sequences, so that no more than one layer of float32
weights is packed at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.checkpoints.weights import UnpackedWeight
from fbg.compression.linear import Linear
from fbg.compression.smoothing import Inputs
from fbg.graph import ops
from fbg.graph.graph import Graph
from fbg.graph.lower_rows import lower_rows
from fbg.graph.ops import Value
from fbg.matmul.weights import PackedWeight
from fbg.networks.config import EncoderConfig
from fbg.networks.transformer import Embeddings, Layer, Transformer, linears, linears_of
from fbg.progress import Progress
from fbg.runtime.batches import PackedBatch, chunks, move_long, pack_sequences

__all__ = ["PartRunner", "batches_of", "observe", "part_graph", "random_sequences", "readers"]

Floats = npt.NDArray[np.float32]
Indices = npt.NDArray[np.int32]

# About as long as sentences are: positions matter.
RANDOM_SEQUENCES, RANDOM_LENGTH = 40, 24
OBSERVED_TOKENS = 1024  # of one run
# Whose hidden states are kept between two layers: 200 MB where a token has 768 of them.
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
    progress: Progress | None = None,
) -> dict[str, Inputs]:
    """Run an unpacked encoder in float32; return the inputs of each linear layer by its name.

    sequences: of token ids, none of them empty.
    grams: whether to compute Gram matrices too.
    progress: called with "observing", and how many of how many tokens went through a layer, counted
        once for each layer.

    Raises ModelError for weights that are not finite.
    """
    inputs = {
        name: Inputs.empty(linear.weight.shape[0], grams)
        for name, linear in linears(transformer).items()
    }
    total = sum(s.size for s in sequences) * (len(transformer.layers) + 1)
    observer = _Observer(transformer, inputs, num_threads, total, progress)
    # Layers that share weights also share their inputs, and a sum depends on its order.
    shared = len({id(layer) for layer in transformer.layers}) < len(transformer.layers)
    padding = transformer.config.pad_token_id
    for group in batches_of(sequences, padding, 1 if shared else KEPT_TOKENS):
        observer.run(group)
    return inputs


def batches_of(
    sequences: Sequence[Indices], padding: int | None, kept_tokens: int
) -> Iterator[list[PackedBatch]]:
    """Pack sequences into runs; yields those that go through each layer together."""
    group: list[PackedBatch] = []
    for part in chunks([s.size for s in sequences], OBSERVED_TOKENS, len(sequences)):
        group.append(pack_sequences(sequences[part], padding))
        if sum(run.tokens for run in group) >= kept_tokens:
            yield group
            group = []
    if group:
        yield group


class _Observer:
    """Sends tokens through a network layer by layer, and adds up what linear layers read."""

    def __init__(
        self,
        transformer: Transformer,
        inputs: dict[str, Inputs],
        num_threads: int,
        total: int,
        progress: Progress | None,
    ) -> None:
        self._transformer = transformer
        self._inputs = inputs
        self._runner = PartRunner(transformer.config, num_threads)
        self._num_threads = num_threads
        self._done, self._total = 0, total
        self._progress = progress

    def run(self, runs: Sequence[PackedBatch]) -> None:
        transformer = self._transformer
        parts: list[Embeddings | Layer] = [transformer.embeddings, *transformer.layers]
        last_part = {
            linear.name: n for n, part in enumerate(parts) for linear in linears_of(part).values()
        }
        hidden: list[Floats] | None = None
        for index in range(len(parts)):
            hidden = self._run_part(runs, part_graph(transformer, index), hidden)
            weights = self._runner.weights  # layers that share theirs pack them once
            for name in [name for name in weights if last_part[name] <= index]:
                del weights[name]

    def _run_part(
        self, runs: Sequence[PackedBatch], graph: Graph, hidden: list[Floats] | None
    ) -> list[Floats]:
        """Run the embeddings, or a layer on the hidden states of all runs; return its results."""
        found = readers(graph)

        def add(number: int, values: Mapping[Value, Floats]) -> None:
            for read, products in found.items():
                for op in products:
                    self._inputs[op.layer.name].add(values[read], self._num_threads)
            self._done += runs[number].tokens
            if self._progress is not None:
                self._progress("observing", self._done, self._total)

        return self._runner.run(graph, graph.outputs[0], runs, hidden, found, add)


def part_graph(transformer: Transformer, index: int) -> Graph:
    """Return the graph of a part of a network, whose output is its hidden states.

    index: 0 for the embeddings, n for the n-th layer, whose input is that of the graph.
    """
    graph = Graph()
    x = graph.add(ops.Input(transformer.config.hidden_size)) if index else None
    graph.output(transformer.build_part(graph, index, x))
    return graph


def readers(graph: Graph) -> dict[Value, list[ops.Linear]]:
    """Return the values that linear layers read, and these layers."""
    result: dict[Value, list[ops.Linear]] = {}
    for value in graph.values:
        if isinstance(value.op, ops.Linear):
            result.setdefault(value.op.x, []).append(value.op)
    return result


class PartRunner:
    """Runs graphs of parts of a network, and shows some of their values.

    weights: those that were packed in float32 because they were unpacked, by the names of layers.
    """

    def __init__(self, config: EncoderConfig, num_threads: int) -> None:
        self.weights: dict[str, PackedWeight] = {}
        self._config = config
        self._num_threads = num_threads
        self._features = _fbg.active_features()  # of all runs
        self._arrays: dict[tuple[int, int], Floats] = {}  # reused: new memory costs page faults

    def run(
        self,
        graph: Graph,
        result: Value,
        runs: Sequence[PackedBatch],
        hidden: list[Floats] | None,
        watched: Iterable[Value],
        receive: Callable[[int, Mapping[Value, Floats]], None],
        packed: Mapping[str, Linear] = MappingProxyType({}),
    ) -> list[Floats]:
        """Run what `result` needs on each run; return `result` of each.

        hidden: the hidden states of each run that the graph reads, or None for the embeddings.
        watched: values to show. receive: called with the number of each run and these values, which
            are overwritten after the call.
        packed: layers to run in the place of those with their names.
        """
        own_input = None if hidden is None else graph.values[0]
        shown = list(dict.fromkeys(v for v in watched if v not in (own_input, result)))
        lowered = lower_rows(graph, [*shown, result], partial(self._packed, packed))
        tokens = max(run.tokens for run in runs)
        plan = _fbg.Plan(
            lowered.native,
            tokens,
            tokens,
            self._config.max_length,
            self._num_threads,
            features=self._features,
        )
        results = []
        for number, run in enumerate(runs):
            x = [] if hidden is None else [hidden[number]]
            values = {
                value: self._array(slot, run.tokens, value.columns)
                for slot, value in enumerate(shown)
            }
            values[result] = np.empty((run.tokens, result.columns), np.float32)
            placed = move_long(run, self._config.long_from)
            plan.run(*placed.arrays, list(values.values()), self._num_threads, inputs=x)
            results.append(values[result])
            if own_input is not None:
                values[own_input] = x[0]
            receive(number, values)
        return results

    def _packed(self, packed: Mapping[str, Linear], layer: Linear) -> Linear:
        """Return a layer with a packed weight; raises ModelError."""
        layer = packed.get(layer.name, layer)
        if not isinstance(layer.weight, UnpackedWeight):
            return layer
        if layer.name not in self.weights:
            weight = layer.weight.pack("float32", self._num_threads, stored=False)
            self.weights[layer.name] = weight
        return replace(layer, weight=self.weights[layer.name])

    def _array(self, slot: int, tokens: int, columns: int) -> Floats:
        """Return a (tokens, columns) array whose contents last until the next run."""
        array = self._arrays.get((slot, columns))
        if array is None or len(array) < tokens:
            array = self._arrays[slot, columns] = np.empty((tokens, columns), np.float32)
        return array[:tokens]
