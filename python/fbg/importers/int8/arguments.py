"""The range of the argument of a function that a table of 256 bytes computes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from fbg.arrays import Array, Floats
from fbg.importers.description import Network, TensorType
from fbg.importers.int8.integer_tensors import LookedUp
from fbg.importers.onnx.inference import Inferred
from fbg.quantization import HistogramObserver
from fbg.quantization.affine import choose_qparams, integer_range, round_trip

PASSES = 3  # one end of the range moves in each


def alone(network: Network, inferred: Inferred, function: LookedUp) -> Network:
    """Return the network of the nodes of a function, of a vector."""
    kind = TensorType(np.dtype(np.float32), ("n",))
    read = {name for node in function.nodes for name in node.reads}
    return replace(
        network,
        inputs={function.argument: kind},
        outputs={function.result: kind},
        constants={name: inferred.constants[name] for name in read if name in inferred.constants},
        nodes=list(function.nodes),
        declared={},
    )


class ArgumentObserver(HistogramObserver):
    """The range of an argument that changes the results of its function least.

    SiLU and GELU map all numbers far below 0 to almost the same: the range may end above them.

    Args:
        function: returns the results for a vector.
        candidates: ends of the range tried in each pass.
    """

    def __init__(self, function: Callable[[Floats], Floats], *, candidates: int = 48) -> None:
        super().__init__("mse", candidates=candidates)
        self._function = function

    def _channel(
        self, c: int, lo: float, hi: float, dtype: npt.DTypeLike, symmetric: bool
    ) -> tuple[float, float]:
        counts = self._counts[c]
        seen = np.flatnonzero(counts)
        centres = (seen - self._bins // 2 + 0.5) * float(self._width[c])
        with np.errstate(all="ignore"):
            wanted = self._function(centres.astype(np.float32)).reshape(-1).astype(np.float64)
        if symmetric or not np.isfinite(wanted).all():
            return super()._channel(c, lo, hi, dtype, symmetric)
        limits = integer_range(dtype)

        def error(low: float, high: float) -> float:
            scale, point = choose_qparams(np.array([low]), np.array([high]), dtype, False)
            real = round_trip(centres[None], scale, point, *limits)[0]
            lost: Array = np.interp(real, centres, wanted) - wanted
            return float(counts[seen] @ lost**2)

        shares: Iterable[float] = np.linspace(1, 0, self._candidates, endpoint=False)
        best = (lo, hi)
        for n in range(PASSES):
            tried = [(lo * s, best[1]) if n % 2 == 0 else (best[0], hi * s) for s in shares]
            best = min([best, *tried], key=lambda ends: error(*ends))
        return best
