"""A linear layer: unpacked as a checkpoint has it, or packed as it runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fbg.checkpoints.weights import UnpackedWeight
from fbg.matmul.weights import PackedWeight

__all__ = ["Linear"]

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Linear:
    """y = x @ weight + bias; x is first multiplied by the channel scale, if there is one.

    name: as saved models call it, "layers.0.qkv"; patterns of `higher_precision` match it.
    weight: (K, N). What a checkpoint gives stays unpacked until it is known what for.
    bias: (N,). channel_scale: (K,), of int8 weights only.
    """

    name: str
    weight: PackedWeight | UnpackedWeight
    bias: Floats | None
    channel_scale: Floats | None = None

    @property
    def packed(self) -> PackedWeight:
        """The weight, of a layer that is ready to run."""
        assert not isinstance(self.weight, UnpackedWeight), f"{self.name} is not packed"
        return self.weight
