"""Whether a network that was quantized by calibration still computes what it did in float32.

It runs on the first feed. If its outputs differ too much, the tensors whose values have the
fewest steps stay in float32 if they are the cause: as few of them as suffice, and without them most
of the error is gone. Errors of many tensors add up in deep networks, where a few tensors more or
less in float32 cost time and change little. Narrow weights are given up before that if the error is
then small enough.
"""

from __future__ import annotations

from dataclasses import replace

from fbg.importers.description import Network
from fbg.importers.int8.agreement import largest_error, smooth_outputs
from fbg.importers.int8.observe import Calibration, Prepare
from fbg.importers.int8.quantize import quantize_network

MOST_ERROR = 0.15  # error of an output, as the ratio of the lengths of vectors
MOST_TENSORS = 8  # one in so many tensors may stay in float32, or 4
CAUSED = 0.5  # of the error, by tensors that are the cause


def verified(
    network: Network, found: Calibration, prepare: Prepare
) -> tuple[Network, float | None]:
    """Return the network, quantized as far as its outputs stay close to those in float32, and their
    error; None if no output shows it.

    If no few tensors are the cause, all are quantized, and the error is above MOST_ERROR.
    prepare: makes the networks that run.
    """
    names = smooth_outputs(network, found.inferred)
    coarsest = sorted(found.parameters, key=found.coarseness.__getitem__, reverse=True)

    def quantized(left: int, narrow: bool = found.narrow) -> tuple[Network, float | None]:
        parameters = {name: found.parameters[name] for name in coarsest[left:]}
        result = quantize_network(network, replace(found, parameters=parameters, narrow=narrow))
        return result, largest_error(prepare(result).run(found.feed), found.outputs, names)

    whole, error = quantized(0)
    if found.narrow and is_poor(error):
        full, left = quantized(0, narrow=False)
        if not is_poor(left):
            return full, left
    count, most = 1, max(4, len(found.parameters) // MOST_TENSORS)
    while error is not None and is_poor(error) and count <= most:
        part, left = quantized(count)
        if left is None or left <= min(MOST_ERROR, (1 - CAUSED) * error):
            return part, left
        count *= 2
    return whole, error


def is_poor(error: float | None) -> bool:
    """Whether an error is larger than rounding explains."""
    return error is not None and error > MOST_ERROR
