"""Whether a network that was quantized by calibration still computes what it did in float32.

It runs on the first feed. If its outputs differ too much, the tensors whose values have the
fewest steps stay in float32, as few of them as suffice.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from fbg.arrays import Array
from fbg.importers.description import Network
from fbg.importers.observe import Calibration, Prepare
from fbg.importers.onnx.inference import Inferred
from fbg.importers.quantize import quantize_network

MOST_ERROR = 0.15  # error of an output, as the ratio of the lengths of vectors
MOST_TENSORS = 8  # one in so many tensors may stay in float32, or 4


def verified(
    network: Network, found: Calibration, kept: Collection[str], prepare: Prepare
) -> tuple[Network, float | None]:
    """Return the network, quantized as far as its outputs stay close to those in float32, and their
    error; None if no output shows it.

    If more than a few tensors are the cause, all are quantized, and the error is above MOST_ERROR.
    kept: names of products that stay in float32. prepare: makes the networks that run.
    """
    names = _continuous(network, found.inferred)
    coarsest = sorted(found.parameters, key=found.coarseness.__getitem__, reverse=True)

    def quantized(left: int) -> tuple[Network, float | None]:
        parameters = {name: found.parameters[name] for name in coarsest[left:]}
        result = quantize_network(network, replace(found, parameters=parameters), kept)
        return result, _error(prepare(result).run(found.feed), found.outputs, names)

    whole, error = quantized(0)
    count, most = 1, max(4, len(found.parameters) // MOST_TENSORS)
    while is_poor(error) and count <= most:
        part, left = quantized(count)
        if not is_poor(left):
            return part, left
        count *= 2
    return whole, error


def is_poor(error: float | None) -> bool:
    """Whether an error is larger than rounding explains."""
    return error is not None and error > MOST_ERROR


def _continuous(network: Network, inferred: Inferred) -> list[str]:
    """Return the outputs on which a small error has a small effect.

    They do not depend on integers or booleans computed from floating-point data, such as results of
    comparisons, sorting and counting.
    """
    types = inferred.types
    real = {name for name in network.inputs if types[name].dtype.kind == "f"}
    jumping: set[str] = set()
    for node in inferred.nodes:
        if real.isdisjoint(node.reads) and jumping.isdisjoint(node.reads):
            continue
        jumps = bool(node.captures) or not jumping.isdisjoint(node.reads)
        for name in node.outputs:
            smooth = not jumps and name in types and types[name].dtype.kind == "f"
            (real if smooth else jumping).add(name)
    return [name for name in network.outputs if name in real]


def relative_error(got: Array, wanted: Array) -> float:
    """Return the length of the difference, relative to the length of `wanted` unless it is 0."""
    size = float(np.linalg.norm(wanted))
    return float(np.linalg.norm(got - wanted)) / size if size > 0 else float(np.linalg.norm(got))


def _error(
    got: Mapping[str, Array], wanted: Mapping[str, Array], names: Collection[str]
) -> float | None:
    """Return the largest error of all outputs that should be finite; None if there are none."""
    errors = []
    for name in names:
        want = wanted[name].astype(np.float64)
        if got[name].shape == want.shape and np.isfinite(want).all():
            error = relative_error(got[name], want)
            errors.append(np.inf if np.isnan(error) else error)
    return max(errors, default=None)
