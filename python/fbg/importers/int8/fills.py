"""Values that are not data: padding of borders, and values that masks add or insert.

They are so far from the data that a range which holds them has no steps left for the data. Where
only the maximum of windows is read, a negative fill acts like the quantized value of the least
data, so that the range covers the data alone; any other tensor with such values stays in
float32.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from fbg.arrays import Array
from fbg.importers.description import Node

LOWEST, HIGHEST = -148, 128  # exponents of float32: |x| < 2^e
# A tensor with fills has two groups of magnitudes with so many octaves between, each of which holds
# fewer values than the fullest octave of either group, by this factor. The data, which are the
# lower group, are such a share of all values but zeros, and at least so many: a single value is far
# below all others by chance. The fills themselves are within so many octaves of each other; values
# computed from them need not be, but then the data are in more than one octave. A single fill may
# be the background of an image, which rounds to zero without a loss.
GAP, VALLEY, SHARE, LEAST, WIDTH = 4, 8, 0.01, 4, 3


class Magnitudes:
    """The number of values of each magnitude in a tensor."""

    def __init__(self) -> None:
        self._counts = np.zeros(HIGHEST - LOWEST + 1, np.int64)
        self._infinite = False

    def update(self, values: Array) -> None:
        """Add the values of a tensor."""
        finite = np.isfinite(values)
        self._infinite |= bool(np.isinf(values).any())
        exponents = np.frexp(values[finite & (values != 0)])[1] - LOWEST
        self._counts += np.bincount(exponents, minlength=len(self._counts))

    @property
    def have_fills(self) -> bool:
        """Whether some values are infinite, or stand out against data."""
        counts = self._counts
        below = np.maximum.accumulate(counts)
        above = np.maximum.accumulate(counts[::-1])[::-1]
        empty = counts * VALLEY < np.minimum(below, above)
        run = 0
        least = max(SHARE * counts.sum(), LEAST)
        for octave in np.flatnonzero(np.cumsum(counts) >= least):
            run = run + 1 if empty[octave] else 0
            if run == GAP and _stand_out(counts[: octave - GAP + 1], counts[octave + 1 :]):
                return True
        return self._infinite

    @property
    def median(self) -> float:
        """The power of two above half of all values but zeros; 1 if there are none."""
        total = np.cumsum(self._counts)
        if not total[-1]:
            return 1.0
        return float(2.0 ** (int(np.searchsorted(total, total[-1] / 2)) + LOWEST))


def _stand_out(data: Array, fills: Array) -> bool:
    """Whether these groups of counts are data and fills."""
    full = np.flatnonzero(fills * VALLEY >= fills.max())
    if full[-1] - full[0] < WIDTH:
        return True
    peak = int(data.argmax())
    beside = data[max(peak - 1, 0) : peak + 2]
    return bool((beside * VALLEY >= data[peak]).sum() > 1)


def padded_for_maxima(nodes: Iterable[Node], constants: Mapping[str, Array]) -> dict[str, str]:
    """Return tensors that are padded for MaxPool alone, by the padded tensor.

    The fill is negative, and all windows reach the data, whatever the size of the tensor.
    """
    nodes = list(nodes)
    readers: dict[str, list[Node]] = {}
    for node in nodes:
        for name in node.reads:
            readers.setdefault(name, []).append(node)
    found = {}
    for node in nodes:
        pads = _negative_pads(node, constants)
        using = readers.get(node.outputs[0], [])
        if pads is not None and using and all(_reaches(pool, *pads) for pool in using):
            found[node.outputs[0]] = node.inputs[0]
    return found


def _negative_pads(node: Node, constants: Mapping[str, Array]) -> tuple[Array, Array] | None:
    """Return the pads of each spatial axis, if nothing else is padded, and by less than zero."""
    if (node.op, node.domain) != ("Pad", "") or len(node.inputs) > 3:
        return None
    if node.attributes.get("mode", "constant") != "constant":
        return None
    names = [*node.inputs, "", ""]
    pads = constants.get(names[1], node.attributes.get("pads"))
    fill = constants.get(names[2], node.attributes.get("value", 0.0))
    if pads is None or np.size(fill) != 1 or not np.reshape(fill, ()) < 0:
        return None
    before, after = np.reshape(pads, (2, -1))
    return None if before[:2].any() or after[:2].any() else (before[2:], after[2:])


def _reaches(pool: Node, before: Array, after: Array) -> bool:
    """Whether each window of a MaxPool holds data if the tensor is padded by so much."""
    get = pool.attributes.get
    if (pool.op, pool.domain) != ("MaxPool", "") or get("ceil_mode", 0):
        return False
    if get("auto_pad", "NOTSET") not in ("NOTSET", "VALID") or set(get("dilations", [1])) != {1}:
        return False
    kernel = np.array(get("kernel_shape"))
    implicit = np.reshape(get("pads", [0] * (2 * len(kernel))), (2, -1))
    return bool((before + implicit[0] < kernel).all() and (after + implicit[1] < kernel).all())
