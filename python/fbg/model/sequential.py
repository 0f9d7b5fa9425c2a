"""Rounds a network to int8 or int4 layer by layer: each layer is rounded for what it reads behind
layers that are already rounded, and makes up for their errors (compression/correction.py).

The same tokens go through two networks, the exact one and the one that is being rounded. For each
layer of the second, what it reads and the residual that it is added to are compared with the first.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from fbg.checkpoints.weights import UnpackedWeight
from fbg.compression.correction import Pairs
from fbg.compression.linear import Linear
from fbg.compression.smoothing import Factors, Inputs, choose_factors, pack_by_gram
from fbg.graph import ops
from fbg.graph.graph import Graph
from fbg.graph.ops import Value
from fbg.matmul.weights import QUANTIZED, WEIGHT_LIMITS
from fbg.model.observe import PartRunner, batches_of, part_graph, readers
from fbg.networks.transformer import Transformer, linears, replace_linears
from fbg.progress import Progress

__all__ = [
    "MOST_TOKENS",
    "compress_sequentially",
    "is_sequential",
    "sequences_within_budget",
]

Floats = npt.NDArray[np.float32]
Indices = npt.NDArray[np.int32]

# What all linear layers of a block read is in memory for these: 400 MB where a token has 768
# hidden states and 3072 wide ones.
MOST_TOKENS = 16384
# Of the correction of weights, times the mean of the Gram matrix's diagonal. The errors of int8 are
# mostly those of activations, of which little can be corrected.
RIDGE, RIDGES = 0.5, {"int8": 30.0}
# Sequences of synthetic tokens, times weights; and the limits of their number. More than 200 bring
# int8 hardly anything.
BUDGET = 7e9
FEWEST_SEQUENCES, MOST_SEQUENCES, MOST_INT8_SEQUENCES = 40, 640, 200


def is_sequential(transformer: Transformer, dtype: str, calibrated: bool) -> bool:
    """Whether this is for a network and a dtype: layers have to run once each. int8 is calibrated
    on request, and otherwise only smoothed, which takes less time.
    """
    distinct = {id(layer) for layer in transformer.layers}
    if len(distinct) < len(transformer.layers) or not linears(transformer):
        return False
    return dtype in QUANTIZED and (dtype != "int8" or calibrated)


def sequences_within_budget(transformer: Transformer, dtype: str) -> int:
    """Return how many sequences of synthetic tokens take seconds, and not minutes, to observe."""
    budget = BUDGET / max(_weights(transformer), 1)
    most = MOST_INT8_SEQUENCES if dtype == "int8" else MOST_SEQUENCES
    return int(np.clip(budget, FEWEST_SEQUENCES, most))


def _weights(transformer: Transformer) -> int:
    return sum(int(np.prod(linear.weight.shape)) for linear in linears(transformer).values())


def compress_sequentially(
    transformer: Transformer,
    dtype: str,
    higher: Mapping[str, str],
    sequences: Sequence[Indices],
    num_threads: int,
    progress: Progress | None = None,
) -> Transformer:
    """Return a network of unpacked weights packed in `dtype`, int8 or int4; raises ModelError.

    higher: the dtypes of the linear layers that do not have `dtype`.
    sequences: of token ids, none of them empty; those beyond MOST_TOKENS tokens are not used.
    progress: called with "observing" and "quantizing", in turn: how many of how many tokens went
        through a layer, counted once for each layer, and how many layers of how many are packed.
    """
    dtypes = {name: higher.get(name, dtype) for name in linears(transformer)}
    kept: list[Indices] = []
    tokens = 0
    for sequence in sequences:
        tokens += sequence.size
        if kept and tokens > MOST_TOKENS:
            break
        kept.append(sequence)
    work = _Work(transformer, dtypes, kept, num_threads, progress)
    for index in range(len(transformer.layers) + 1):
        work.advance(index)
    return replace(replace_linears(transformer, work.packed), dtype=dtype)


class _Work:
    """Two networks, the hidden states of both, and the layers that are packed so far."""

    def __init__(
        self,
        transformer: Transformer,
        dtypes: Mapping[str, str],
        sequences: Sequence[Indices],
        num_threads: int,
        progress: Progress | None,
    ) -> None:
        self.packed: dict[str, Linear] = {}
        self._transformer = transformer
        self._dtypes = dtypes
        self._num_threads = num_threads
        self._progress = progress
        self._observed = 0  # tokens, once for each part of the network
        self._count = len(linears(transformer))
        padding = transformer.config.pad_token_id
        (self._runs,) = batches_of(sequences, padding, 2 * MOST_TOKENS + sequences[0].size)
        self._runner = PartRunner(transformer.config, num_threads)
        self._exact: list[Floats] | None = None  # hidden states of each run
        self._rounded: list[Floats] | None = None

    def advance(self, index: int) -> None:
        """Pack the linear layers of a part, and send the tokens through it."""
        self._runner.weights.clear()
        graph = part_graph(self._transformer, index)
        result, found = graph.outputs[0], readers(graph)
        products = {op.layer.name: op for read in found.values() for op in read}
        layers = {name: op.layer for name, op in products.items()}
        residuals = [op.residual for op in products.values() if op.residual is not None]
        watched = dict.fromkeys([*residuals, *found])
        inputs = {name: Inputs.empty(x.weight.shape[0], False) for name, x in layers.items()}
        exact: list[dict[Value, Floats]] = []

        def keep(number: int, values: Mapping[Value, Floats]) -> None:
            self._observed += self._runs[number].tokens
            if self._progress is not None:
                total = sum(r.tokens for r in self._runs) * (len(self._transformer.layers) + 1)
                self._progress("observing", self._observed, total)
            exact.append({value: values[value].copy() for value in watched})
            for name, op in products.items():
                inputs[name].add(values[op.x], self._num_threads)

        after = self._runner.run(graph, result, self._runs, self._exact, watched, keep)
        groups = [g for g in self._transformer.smoothing_groups() if g.readers[0] in layers]
        factors = choose_factors(layers, self._dtypes, self._num_threads, groups, inputs)
        for name, linear in layers.items():
            pairs = None
            if self._dtypes[name] in QUANTIZED:
                pairs = self._compare(graph, products[name], exact, factors)
            self.packed[name] = self._pack(linear, pairs, factors)
            if self._progress is not None:
                self._progress("quantizing", len(self.packed), self._count)
        self._rounded = self._runner.run(
            graph, result, self._runs, self._rounded, (), lambda number, values: None, self.packed
        )
        self._exact = after

    def _compare(
        self,
        graph: Graph,
        op: ops.Linear,
        exact: Sequence[Mapping[Value, Floats]],
        factors: Factors,
    ) -> Pairs:
        """Return sums over what a layer reads in both networks, divided by its factors."""
        name, unpacked, residual = op.layer.name, op.layer.weight, op.residual
        assert isinstance(unpacked, UnpackedWeight)
        weight = unpacked.read(factors.columns.get(name))
        if name in factors.rows:
            weight = weight * factors.rows[name][:, None]
        pairs = Pairs(weight)
        inverse = 1 / factors.rows[name] if name in factors.rows else np.float32(1)
        # Where no input is divided, an earlier layer that is already packed does it.
        inverse_of_rounded = inverse if name in factors.scaled else np.float32(1)
        divisor = factors.columns.get(name, np.float32(1))

        def add(number: int, values: Mapping[Value, Floats]) -> None:
            error = None
            if residual is not None:
                error = (exact[number][residual] - values[residual]) / divisor
            rounded = values[op.x] * inverse_of_rounded
            pairs.add(exact[number][op.x] * inverse, rounded, error)

        watched = [op.x] if residual is None else [op.x, residual]
        own_input = graph.values[0]
        if self._rounded is not None and all(value is own_input for value in watched):
            for number, hidden in enumerate(self._rounded):
                add(number, {own_input: hidden})
            return pairs
        self._runner.run(graph, op.x, self._runs, self._rounded, watched, add, self.packed)
        return pairs

    def _pack(self, linear: Linear, pairs: Pairs | None, factors: Factors) -> Linear:
        """Pack a layer. pairs: sums over what it reads, if it has 8 or 4 bits."""
        name, unpacked, dtype = linear.name, linear.weight, self._dtypes[linear.name]
        assert isinstance(unpacked, UnpackedWeight)
        divisor, rows = factors.columns.get(name), factors.rows.get(name)
        bias = linear.bias
        if bias is not None and divisor is not None:
            bias = bias / divisor
        packed = None
        if pairs is not None and pairs.is_finite:
            target = pairs.corrected(bias is not None, RIDGES.get(dtype, RIDGE))
            if np.abs(target).max(initial=0) <= WEIGHT_LIMITS[dtype]:
                gram = pairs.gram_of(bias is not None)
                with contextlib.suppress(np.linalg.LinAlgError):  # of values too far apart
                    packed, rounded = pack_by_gram(target, gram, dtype)
                    if bias is not None:
                        bias = bias + pairs.bias_change(rounded)
        if packed is None:
            packed = unpacked.pack(dtype, self._num_threads, divisor, rows)
        scale = np.float32(1) / rows if rows is not None and name in factors.scaled else None
        return replace(linear, weight=packed, bias=bias, channel_scale=scale)
