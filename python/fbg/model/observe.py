"""What goes into each linear layer of a network, observed in a float32 run: smoothing and GPTQ need
it (compression/smoothing.py). The run is over random token ids, which needs no data, or over texts.

Layers run one after the other, each on all sequences, so that no more than one layer of float32
weights is packed at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.compression.smoothing import Inputs
from fbg.matmul.weights import PackedWeight
from fbg.networks.config import EncoderConfig
from fbg.networks.graph import ObservedGraph
from fbg.networks.transformer import Embeddings, Layer, Transformer, linears, linears_of
from fbg.progress import Progress
from fbg.runtime.batches import PackedBatch, chunks, move_long, pack_sequences

__all__ = ["PartRunner", "add_part", "batches_of", "observe", "random_sequences"]

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
        weights: dict[str, PackedWeight] = {}  # layers that share theirs pack them once
        hidden: list[Floats] | None = None
        for index in range(len(parts)):
            graph = ObservedGraph(weights, self._num_threads)
            result = add_part(graph, transformer, index)
            hidden = self._run_part(runs, graph, result, hidden)
            for name in [name for name in weights if last_part[name] <= index]:
                del weights[name]

    def _run_part(
        self,
        runs: Sequence[PackedBatch],
        graph: ObservedGraph,
        result: int,
        hidden: list[Floats] | None,
    ) -> list[Floats]:
        """Run the embeddings, or a layer on the hidden states of all runs; return its results."""
        width = {b: readers[0].weight.shape[0] for b, readers in graph.readers.items()}

        def add(number: int, values: Mapping[int, Floats]) -> None:
            for buffer, readers in graph.readers.items():
                for linear in readers:
                    self._inputs[linear.name].add(values[buffer], self._num_threads)
            self._done += runs[number].tokens
            if self._progress is not None:
                self._progress("observing", self._done, self._total)

        return self._runner.run(graph, result, runs, hidden, width, add)


def add_part(graph: _fbg.Graph, transformer: Transformer, index: int) -> int:
    """Add a part of a network to an empty graph; return the buffer of its hidden states.

    index: 0 for the embeddings, n for the n-th layer, whose input is the first buffer.
    """
    if index == 0:
        return transformer.build_embeddings(graph)
    return transformer.build_layer(graph, index - 1, graph.input(transformer.config.hidden_size))


class PartRunner:
    """Runs graphs of parts of a network, and shows some of their buffers."""

    def __init__(self, config: EncoderConfig, num_threads: int) -> None:
        self._config = config
        self._num_threads = num_threads
        self._features = _fbg.active_features()  # of all runs
        self._arrays: dict[tuple[int, int], Floats] = {}  # reused: new memory costs page faults

    def run(
        self,
        graph: ObservedGraph,
        result: int,
        runs: Sequence[PackedBatch],
        hidden: list[Floats] | None,
        widths: Mapping[int, int],
        receive: Callable[[int, Mapping[int, Floats]], None],
    ) -> list[Floats]:
        """Run a graph on each run; return what is in the buffer `result` after each.

        hidden: the hidden states of each run that the graph reads, or None for the embeddings.
        widths: the columns of the buffers to show. receive: called with the number of each run and
            these buffers, which are overwritten after the call.
        """
        own_input = None if hidden is None else 0  # the first buffer of a graph is its input
        shown = {b: width for b, width in widths.items() if b not in (own_input, result)}
        for buffer in (*shown, result):
            graph.output(buffer)
        width = widths.get(result, self._config.hidden_size)
        tokens = max(run.tokens for run in runs)
        plan = _fbg.Plan(
            graph,
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
                buffer: self._array(slot, run.tokens, columns)
                for slot, (buffer, columns) in enumerate(shown.items())
            }
            values[result] = np.empty((run.tokens, width), np.float32)
            placed = move_long(run, self._config.long_from)
            plan.run(*placed.arrays, list(values.values()), self._num_threads, inputs=x)
            results.append(values[result])
            if own_input is not None:
                values[own_input] = x[0]
            receive(number, values)
        return results

    def _array(self, slot: int, tokens: int, columns: int) -> Floats:
        """Return a (tokens, columns) array whose contents last until the next run."""
        array = self._arrays.get((slot, columns))
        if array is None or len(array) < tokens:
            array = self._arrays[slot, columns] = np.empty((tokens, columns), np.float32)
        return array[:tokens]
