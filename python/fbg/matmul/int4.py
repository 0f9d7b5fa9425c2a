"""Weights of 4 bits of a PackedB: groups and packing."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.arrays import require_within, shown
from fbg.matmul.weights import INT4_DTYPES, WEIGHT_LIMITS, PackedWeight, int4_name
from fbg.threads import get_num_threads

# The numbers of weights that may share a scale.
INT4_GROUPS = sorted({layout.group for layout in INT4_DTYPES.values()})


def check_group(group: object, dtype: str | None) -> None:
    """Check the argument `group` of a PackedB with that dtype."""
    if group is None:
        return
    if dtype != "int4":
        raise ValueError(f"PackedB: group requires dtype='int4', got dtype={dtype!r}")
    if not isinstance(group, (int, np.integer)) or group not in INT4_GROUPS:
        *others, largest = map(str, INT4_GROUPS)
        choice = f"{', '.join(others)} or {largest}"
        raise ValueError(f"PackedB: group must be {choice}, got {shown(group)}")


def pack_int4(
    w: npt.NDArray[np.float32], group: int, symmetric: bool, transpose: bool
) -> PackedWeight:
    """Quantize and pack w: a scale for each group, and unless `symmetric`, an offset.

    w: (K, N), or (N, K) to `transpose`.
    """
    name = int4_name(group, symmetric)
    limit = WEIGHT_LIMITS[name]
    kind = "dtype='int4'" + ("" if symmetric else ", symmetric=False")
    require_within(w, "PackedB: w", limit, f"for {kind}")
    w = w.T if transpose else w
    if w.size == 0:
        scales = np.zeros((-(-w.shape[0] // group), w.shape[1]), np.uint16)
        offsets = None if symmetric else scales
        return _fbg.pack_b_int4(np.zeros(w.shape, np.int8), scales, offsets, group)
    columns = np.array(w.T, np.float32, order="C")  # a copy has the strides of its shape
    return _fbg.pack_linear([columns], name, None, None, limit, True, get_num_threads())
