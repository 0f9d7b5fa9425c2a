"""Statistics of the tensors of a float32 network on feeds: ranges, means, coarseness of 8 bits.

Tensors whose range would be taken by fills of padding or masks stay in float32 (fills.py), as do
tensors within a step (integer_tensors.py).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import numpy as np

from fbg.arrays import Array
from fbg.importers.description import Network, TensorType
from fbg.importers.int8.arguments import ArgumentObserver, alone
from fbg.importers.int8.fills import Magnitudes, padded_for_maxima
from fbg.importers.int8.integer_tensors import LookedUp, integer_tensors
from fbg.importers.net_plan import NetPlan
from fbg.importers.onnx.inference import Inferred, infer
from fbg.importers.passes import watching
from fbg.importers.products import MOVES
from fbg.importers.session import computing_without_runtimes
from fbg.matmul.narrow import gains_from_narrow
from fbg.quantization import HistogramObserver

Parameters = tuple[Any, Any]  # scale, zero point


class Prepared(Protocol):
    """A network that runs, as `Net` does."""

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]: ...
    def prepare(self, feeds: Mapping[str, Array]) -> None: ...
    def plan(self) -> NetPlan: ...


Prepare = Callable[[Network], Prepared]


@dataclass(frozen=True)
class Calibration:
    """The statistics of all tensors.

    parameters: scale and zero point of tensors. coarseness: their step, as a multiple of the
    median magnitude. means: of the channels of tensors that are convolved. readers: the products
    that read the integers of a tensor, None for everyone. feed, outputs: the first feed, and the
    outputs of the network in float32 for it. inferred: types for that feed. narrow: whether weights
    become narrow integers (fbg/matmul/narrow.py). looked_up: functions of integers alone, by the
    names of their nodes: each with its argument.
    """

    parameters: Mapping[str, Parameters]
    coarseness: Mapping[str, float]
    means: Mapping[str, Array]
    readers: Mapping[str, frozenset[str] | None]
    feed: Mapping[str, Array]
    outputs: Mapping[str, Array]
    inferred: Inferred
    narrow: bool = False
    looked_up: Mapping[str, str] = field(default_factory=dict)


@dataclass
class _Seen:
    """The statistics of a tensor.

    data: the tensor that has its data, and no fills. means: of each channel over all pixels; one
    for each feed. They are taken if the tensor is convolved.
    """

    data: str
    is_convolved: bool
    observer: HistogramObserver = field(default_factory=lambda: HistogramObserver("mse"))
    magnitudes: Magnitudes = field(default_factory=Magnitudes)
    means: list[Array] = field(default_factory=list)

    was_seen: bool = False

    def update(self, values: Array) -> None:
        """Add the values of the tensor for a feed; only a tensor with data gets a range."""
        if values.size == 0:
            return
        self.was_seen = True
        self.magnitudes.update(values)
        if np.isinf(values).any() and not np.isnan(values).any():
            return
        self.observer.update(values)
        if self.is_convolved:
            pixels = (0, *range(2, values.ndim))
            self.means.append(values.mean(axis=pixels, dtype=np.float64))


def calibrate_network(
    network: Network,
    feeds: Iterable[Mapping[str, Array]],
    prepare: Prepare,
    narrow: bool | None = None,
) -> Calibration:
    """Return the ranges of the tensors of a network.

    feeds: inputs of runs, at least one. prepare: makes the networks that run. narrow: whether
    weights become narrow; None: where this CPU gains from it. A tensor that is empty for all feeds
    has no range, and stays in float32. Raises ValueError where there is no feed with outputs that
    have elements, or a value is NaN.
    """
    feeds = iter(feeds)
    prepared = prepare(network)
    passed, first, outputs = _first_with_outputs(feeds, prepared)
    types = {name: TensorType(array.dtype, array.shape) for name, array in first.items()}
    inferred = infer(network, types, {}, compute=computing_without_runtimes())
    steps = [step.nodes for step in prepared.plan().steps]
    chosen, looked_up = integer_tensors(network, inferred, steps)
    del prepared  # its weights would be in memory twice
    convolved = {node.inputs[0] for node in network.nodes if node.op == "Conv"}
    data = padded_for_maxima(inferred.nodes, inferred.constants)
    floats = [name for name, array in first.items() if array.dtype == np.float32]
    names = dict.fromkeys([*chosen, *floats])
    seen = {name: _Seen(data.get(name, name), name in convolved) for name in names}
    for each in looked_up:
        computes = partial(_results, each, prepare(alone(network, inferred, each)))
        seen[each.argument].observer = ArgumentObserver(computes)
    watched = prepare(watching(network, [tensor.data for tensor in seen.values()]))
    for n, feed in enumerate(itertools.chain([first], feeds), passed):
        values = {**watched.run(feed), **feed}
        for tensor in seen.values():
            try:
                tensor.update(values[tensor.data])
            except ValueError as error:
                raise ValueError(f"calibrate[{n}]: tensor '{tensor.data}': {error}") from error
    usable = {
        name: seen[name]
        for name in chosen
        if seen[name].was_seen and not seen[name].magnitudes.have_fills
    }
    parameters = {name: tensor.observer.qparams() for name, tensor in usable.items()}
    parameters = _shared(network, parameters)
    coarseness = {n: float(p[0]) / seen[n].magnitudes.median for n, p in parameters.items()}
    means = {name: np.mean(t.means, axis=0) for name, t in usable.items() if t.means}
    narrow = gains_from_narrow() if narrow is None else narrow
    arguments = {node.name: each.argument for each in looked_up for node in each.nodes}
    return Calibration(
        parameters, coarseness, means, chosen, first, outputs, inferred, narrow, arguments
    )


def _results(function: LookedUp, prepared: Prepared, x: Array) -> Array:
    return prepared.run({function.argument: x})[function.result]


def _first_with_outputs(
    feeds: Iterator[Mapping[str, Array]], prepared: Prepared
) -> tuple[int, Mapping[str, Array], dict[str, Array]]:
    """Return the first feed whose outputs have elements, its number, and these outputs.

    Those before it, such as a batch of no images, show nothing, and are passed over.
    """
    passed = 0
    for feed in feeds:
        outputs = prepared.run(feed)
        if any(array.size for array in outputs.values()):
            return passed, feed, outputs
        passed += 1
    if passed:
        raise ValueError(
            "calibrate: must hold a feed whose outputs have elements, which are empty for all "
            f"{passed} feeds"
        )
    raise ValueError("calibrate: must hold at least one feed")


def _shared(network: Network, parameters: dict[str, Parameters]) -> dict[str, Parameters]:
    """Give tensors one scale where elements only move from one to the other.

    Joined tensors take the scale of the result; chosen or moved tensors keep that of the source.
    """
    for node in reversed(network.nodes):
        if node.op == "Concat" and node.outputs[0] in parameters:
            for name in node.inputs:
                if name in parameters:
                    parameters[name] = parameters[node.outputs[0]]
    sources: dict[str, str] = {}  # sources of tensors that moves have made
    for node in network.nodes:
        if node.op in MOVES:
            source = sources.get(node.inputs[0], node.inputs[0])
            for name in node.outputs:
                sources[name] = source
                if source in parameters and name in parameters:
                    parameters[name] = parameters[source]
    return parameters
