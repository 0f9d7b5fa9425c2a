"""Packs the linear layers of the network of a checkpoint in some dtype, so that it can run.

`quantize` packs each layer by itself, for its inputs in the float32 network. `quantize_in_turn`
rounds each layer for its inputs behind layers that are already rounded, so that it makes up for
their errors (graph/passes/correction.py): the same tokens go through two networks, the exact one
and the one that is being rounded, and the inputs of a layer and the residual of its output are
compared. What a checkpoint has quantized already may be kept as it is.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from fbg.arrays import Floats, Indices
from fbg.graph.graph import Graph
from fbg.graph.linear import Linear
from fbg.graph.ops import rows as ops
from fbg.graph.ops.op import Value
from fbg.graph.passes.correction import Pairs
from fbg.graph.passes.migration import SmoothingGroup, smooth
from fbg.graph.passes.rounding import RoundedWeight, round_by_gram
from fbg.matmul.vocabulary import converted
from fbg.matmul.weights import QUANTIZED, WEIGHT_LIMITS
from fbg.model.observe import Part, PartRunner, batches_of
from fbg.networks.config import EncoderConfig
from fbg.networks.transformer import (
    Transformer,
    linears,
    replace_linears,
    vocabulary,
    with_dtype,
)
from fbg.progress import tell
from fbg.quantization.observers import Moments
from fbg.runtime.engine import PackedBatch

# Most tokens for which the inputs of all layers of a block are in memory: 400 MB for 768
# hidden states and 3072 wide ones per token.
MOST_TOKENS = 16384
# Ridge of the correction, times the mean of the Gram matrix's diagonal. The errors of int8 are
# mostly those of activations, and little of these can be corrected.
RIDGE, RIDGES = 0.5, {"int8": 30.0}
# Sequences of synthetic tokens, times weights; and the limits of their number. More than 200 bring
# int8 hardly any gain.
BUDGET = 7e9
FEWEST_SEQUENCES, MOST_SEQUENCES, MOST_INT8_SEQUENCES = 40, 640, 200


def quantize(
    transformer: Transformer,
    dtype: str,
    higher: Mapping[str, str],
    num_threads: int,
    moments: Mapping[str, Moments] | None = None,
    smoothed: dict[str, Linear] | None = None,
) -> Transformer:
    """Return a network of unpacked weights packed in `dtype`; raises ModelError.

    higher: dtypes of the linear layers and the vocabulary that differ from `dtype`.
    moments: the result of `observe`; with it, int8 weights are smoothed.
    smoothed: as for `pack_linears`.
    """
    unpacked = linears(transformer)
    dtypes = {name: higher.get(name, dtype) for name in unpacked}
    groups = [] if moments is None else transformer.smoothing_groups()
    packed = pack_linears(unpacked, dtypes, num_threads, groups, moments or {}, smoothed)
    return finished(transformer, packed, dtype, higher, num_threads)


def finished(
    transformer: Transformer,
    packed: Mapping[str, Linear],
    dtype: str,
    higher: Mapping[str, str],
    num_threads: int,
) -> Transformer:
    """Return the network with its packed layers, and its vocabulary in that of the dtype."""
    for name, table in vocabulary(transformer).items():
        word = converted(table, higher.get(name, dtype), num_threads)
        transformer = replace(transformer, embeddings=replace(transformer.embeddings, word=word))
    return with_dtype(replace_linears(transformer, packed), dtype)


def pack_linears(
    unpacked: Mapping[str, Linear],
    dtypes: Mapping[str, str],
    num_threads: int,
    groups: Iterable[SmoothingGroup],
    moments: Mapping[str, Moments],
    smoothed: dict[str, Linear] | None = None,
) -> dict[str, Linear]:
    """Pack linear layers, each once, in the dtype of its name in `dtypes`.

    groups, moments: smoothing groups of the layers and statistics of their inputs. int8 layers of
        such groups are smoothed, and rounded by GPTQ if there are Gram matrices. Without groups,
        weights are rounded to the nearest integer.
    smoothed: receives the layers as they were before they were packed.

    Tells of "quantizing", or "packing" if no layer is quantized, and how many layers are packed.
    Raises ModelError for weights that a dtype cannot represent.
    """
    stage = "packing" if set(QUANTIZED).isdisjoint(dtypes.values()) else "quantizing"
    packed = {}
    layers = smooth(unpacked, groups, dtypes, moments, num_threads)
    if smoothed is not None:
        smoothed.update(layers)
    for name, linear in layers.items():
        factors, rounded = linear.unpacked.factors, None
        gram = None if factors is None else moments[name].gram
        if factors is not None and gram is not None:
            inverse = np.float32(1) / factors
            with np.errstate(all="ignore"):  # the products may overflow
                gram = gram * inverse[:, None] * inverse
            rounded = round_by_gram(linear.unpacked.read(), gram, dtypes[name])
        packed[name] = _packed(linear, dtypes[name], num_threads, rounded)
        tell(stage, len(packed), len(unpacked))
    return packed


def _packed(linear: Linear, dtype: str, num_threads: int, rounded: RoundedWeight | None) -> Linear:
    """Pack a layer. rounded: its weight in integers; None: round it to nearest."""
    if rounded is not None:
        return replace(linear, weight=rounded.pack())
    return replace(linear, weight=linear.unpacked.pack(dtype, num_threads))


def is_sequential(transformer: Transformer, dtype: str, calibrated: bool) -> bool:
    """Whether `quantize_in_turn` is for a network and a dtype: layers have to run once each. int8
    is calibrated on request, and otherwise only smoothed, which takes less time.
    """
    distinct = {id(layer) for layer in transformer.layers}
    if len(distinct) < len(transformer.layers) or not linears(transformer):
        return False
    return dtype in QUANTIZED and (dtype != "int8" or calibrated)


def sequences_within_budget(transformer: Transformer, dtype: str) -> int:
    """Return the number of synthetic sequences whose observation takes seconds, not minutes."""
    weights = sum(int(np.prod(linear.weight.shape)) for linear in linears(transformer).values())
    most = MOST_INT8_SEQUENCES if dtype == "int8" else MOST_SEQUENCES
    return int(np.clip(BUDGET / max(weights, 1), FEWEST_SEQUENCES, most))


def quantize_in_turn(
    transformer: Transformer,
    dtype: str,
    higher: Mapping[str, str],
    sequences: Sequence[Indices],
    num_threads: int,
    rows: Sequence[Floats] | None = None,
    smoothed: dict[str, Linear] | None = None,
) -> Transformer:
    """Return a network of unpacked weights packed in `dtype`, int8 or int4; raises ModelError.

    higher: dtypes of the linear layers and the vocabulary that differ from `dtype`.
    sequences: lists of token ids, none of them empty; those beyond MOST_TOKENS tokens are not used.
    rows: as for `observe`.
    smoothed: as for `pack_linears`.

    Tells of "observing" and "quantizing", in turn: how many of how many tokens went through a
    layer, counted once for each layer, and how many layers of how many are packed.
    """
    dtypes = {name: higher.get(name, dtype) for name in linears(transformer)}
    tokens = np.cumsum([sequence.size for sequence in sequences])
    kept = sequences[: max(int(np.searchsorted(tokens, MOST_TOKENS, side="right")), 1)]
    (runs,) = batches_of(kept, transformer.config, int(tokens[-1]) + 1, rows)
    total = sum(run.tokens for run in runs) * transformer.parts
    runner = PartRunner(transformer.config, num_threads, total)
    work = _InTurn(transformer, dtypes, runs, runner, num_threads)
    for index in range(transformer.parts):
        work.advance(Part.of(transformer, index))
    if smoothed is not None:
        smoothed.update(work.smoothed)
    return finished(transformer, work.packed, dtype, higher, num_threads)


@dataclass
class _InTurn:
    """Two networks, the hidden states of both in each run, and the layers that are packed so far,
    with what they were before.
    """

    transformer: Transformer
    dtypes: Mapping[str, str]
    runs: Sequence[PackedBatch]
    runner: PartRunner
    num_threads: int
    packed: dict[str, Linear] = field(default_factory=dict)
    smoothed: dict[str, Linear] = field(default_factory=dict)
    exact: list[Floats] | None = None
    rounded: list[Floats] | None = None

    def advance(self, part: Part) -> None:
        """Pack the linear layers of a part, and send the tokens through it in both networks."""
        graph, products = part
        moments = {name: Moments.empty(op.x.columns) for name, op in products.items()}
        exact: list[Mapping[Value, Floats]] = []
        self.exact = self.runner.observe(part, self.runs, self.exact, moments, exact)
        layers = {name: op.layer for name, op in products.items()}
        groups = [g for g in self.transformer.smoothing_groups() if g.readers[0] in layers]
        smoothed = smooth(layers, groups, self.dtypes, moments, self.num_threads)
        self.smoothed.update(smoothed)
        for name, layer in smoothed.items():
            dtype, rounded = self.dtypes[name], None
            # Rows may come to other experts in the network that is quantized.
            if dtype in QUANTIZED and products[name].routes is None:
                pairs = self.compare(graph, products[name], layer, exact)
                rounded = _corrected(pairs, dtype, layer.bias is not None)
                if rounded is not None and layer.bias is not None:
                    layer = replace(
                        layer, bias=layer.bias + pairs.bias_change(rounded.dequantize())
                    )
            self.packed[name] = _packed(layer, dtype, self.num_threads, rounded)
            tell("quantizing", len(self.packed), len(self.dtypes))
        result = graph.outputs[0]
        runs = self.runner.run(graph, result, self.runs, self.rounded, packed=self.packed)
        self.rounded = [values[result] for values in runs]
        self.runner.forget(products)

    def compare(
        self,
        graph: Graph,
        op: ops.Linear,
        smoothed: Linear,
        exact: Sequence[Mapping[Value, Floats]],
    ) -> Pairs:
        """Return sums over the inputs of a layer in both networks, divided by its factors."""
        weight, residual, one = smoothed.unpacked, op.residual, np.float32(1)
        inverse = one if weight.factors is None else one / weight.factors
        # Where no input is divided, an earlier layer that is already packed does it.
        scale = one if smoothed.channel_scale is None else smoothed.channel_scale
        divisor = one if weight.divisor is None else weight.divisor
        pairs = Pairs(weight.read())
        watched = [op.x] if residual is None else [op.x, residual]
        runs = self.runner.run(graph, op.x, self.runs, self.rounded, watched, self.packed)
        for wanted, got in zip(exact, runs, strict=True):
            error = None
            if residual is not None:
                error = (wanted[residual] - got[residual]) / divisor
            pairs.update(wanted[op.x] * inverse, got[op.x] * scale, error)
        return pairs


def _corrected(pairs: Pairs, dtype: str, has_bias: bool) -> RoundedWeight | None:
    """Return the weight that makes up for earlier errors, rounded; None if it cannot be found."""
    if not pairs.is_finite:
        return None
    target = pairs.corrected(has_bias, RIDGES.get(dtype, RIDGE))
    if np.abs(target).max(initial=0) > WEIGHT_LIMITS[dtype]:
        return None
    return round_by_gram(target, pairs.gram_of(has_bias), dtype)


@dataclass(frozen=True)
class StoredDtypes:
    """The linear layers whose weights are quantized in a checkpoint.

    method: how. dtypes: of all layers; None: there is no kernel for its codes, or there are none.
    dequantized: those that have codes for which there is no kernel.
    """

    method: str
    dtypes: Mapping[str, str | None]
    dequantized: tuple[str, ...]

    @property
    def most_common(self) -> str | None:
        """The dtype of most layers; None if there is no kernel for any."""
        counts = Counter(dtype for dtype in self.dtypes.values() if dtype is not None)
        return counts.most_common(1)[0][0] if counts else None

    def __str__(self) -> str:
        counts = Counter(dtype for dtype in self.dtypes.values() if dtype is not None)
        parts = [f"{dtype} in {count}" for dtype, count in counts.most_common()]
        if self.dequantized:
            parts.append(f"dequantized in {len(self.dequantized)}")
        others = len(self.dtypes) - sum(counts.values()) - len(self.dequantized)
        if others:
            parts.append(f"floats in {others}")
        return f"{self.method}: {', '.join(parts)} of {len(self.dtypes)} linear layers"


def stored_dtypes(config: EncoderConfig, unpacked: Transformer) -> StoredDtypes | None:
    """Describe the weights of a checkpoint; None if config.json says that they are floats."""
    if config.quantization is None:
        return None
    weights: Mapping[str, Linear] = linears(unpacked)
    dtypes = {name: linear.unpacked.stored_dtype for name, linear in weights.items()}
    dequantized = tuple(
        name
        for name, linear in weights.items()
        if linear.unpacked.is_quantized and dtypes[name] is None
    )
    return StoredDtypes(config.quantization.method, dtypes, dequantized)


def choose_stored(
    directory: Path, asked: str | None, stored: StoredDtypes | None
) -> tuple[str, dict[str, str] | None]:
    """Return the dtype of a model, and dtypes of the layers that differ if it keeps the integers
    of its checkpoint; None if it does not.

    asked: the dtype that the user has chosen. Warns about layers that are dequantized, unless the
    user wants floats.
    """
    if stored is None:
        return asked or "float32", None
    own, count = stored.most_common, len(stored.dtypes)
    if own is not None and asked in (None, own):
        if stored.dequantized:
            _warn(directory, len(stored.dequantized), count, stored.method)
        kept = {name: dtype or "float32" for name, dtype in stored.dtypes.items() if dtype != own}
        return own, kept
    if asked is None:
        _warn(directory, len(stored.dequantized), count, stored.method)
    elif asked in QUANTIZED:
        way_out = "no dtype keeps" if own is None else f"{own!r} would keep"
        warnings.warn(
            f"{directory}: weights that are quantized already ({stored.method}) are quantized "
            f"again, because dtype is {asked!r}; {way_out} them as they are",
            UserWarning,
            stacklevel=2,
        )
    return asked or "float32", None


def _warn(directory: Path, some: int, count: int, method: str) -> None:
    warnings.warn(
        f"{directory}: {some} of {count} linear layers are dequantized and compute in float32, "
        f"because fbg has no kernel for their weights ({method}); dtype='int8' is faster",
        UserWarning,
        stacklevel=2,
    )
