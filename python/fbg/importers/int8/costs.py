"""Which convolutions are faster in float32 than in int8, by the cost model of convolutions.

The first ones of most networks are: windows of three channels have no runs of bytes that kernels
could multiply as they are, and the image is in float32 before it is rounded. So only those are
considered that read a tensor which is in float32 anyway. Their results are rounded in either form.
"""

from __future__ import annotations

import contextlib
import math

from fbg.arrays import Array
from fbg.conv.packed_conv import PackedConv
from fbg.graph.refusal import Unsupported
from fbg.importers.backends.base import TypedNode
from fbg.importers.description import Network
from fbg.importers.int8.float_nodes import in_float
from fbg.importers.int8.observe import Calibration
from fbg.importers.int8.quantize import integer_weights
from fbg.importers.ops.conv_ops import conv_options
from fbg.importers.products import has_float_weights

# In cycles, the unit of costs:
ROUNDING = 1.0  # an element of x
LEAST = 1e5  # what has to be gained


def without_losses(network: Network, calibration: Calibration) -> Calibration:
    """Return the calibration of a network without the convolutions that int8 makes slower."""
    return in_float(network, calibration, _faster_in_float(network, calibration))


def _faster_in_float(network: Network, calibration: Calibration) -> set[str]:
    """Return the names of the convolutions that read numbers or integers, and gain by numbers."""
    found = set()
    for node in network.nodes:
        readers = calibration.readers.get(node.inputs[0]) if node.op == "Conv" else None
        known = has_float_weights(node, network.constants)
        if readers is None or node.name not in readers or not known:
            continue
        typed = TypedNode(node, calibration.inferred.types)
        with contextlib.suppress(Unsupported, ValueError):  # another back end computes it
            w, rounded = network.constants[node.inputs[1]], math.prod(typed.shape()) / len(readers)
            if _gain(typed, w, calibration.narrow) + ROUNDING * rounded > LEAST:
                found.add(node.name)
    return found


def _gain(op: TypedNode, w: Array, narrow: bool) -> float:
    """Return by how much a convolution costs more with integers."""
    batch, channels, *spatial = op.shape()
    options = conv_options(op, op.shape(), w.shape)
    q, scale = integer_weights(op.node, w, narrow)
    pixels = (batch, *spatial, channels)
    integers = _cost(PackedConv(q, scale=scale, **options), pixels)
    return integers - _cost(PackedConv(w, dtype="float32", **options), pixels)


def _cost(packed: PackedConv, pixels: tuple[int, ...]) -> float:
    """Return the cost of the cheapest algorithm."""
    return min(each.cost for each in packed.algorithms(pixels))
