"""A linear layer, with unpacked weights of a checkpoint or with packed weights."""

from __future__ import annotations

from dataclasses import dataclass

from fbg.arrays import Floats
from fbg.checkpoints.weights import UnpackedWeight
from fbg.matmul.weights import PackedWeight


@dataclass(frozen=True)
class Linear:
    """y = x @ weight + bias, where x is first multiplied by the channel scale if there is one.

    name: the name in saved models, such as "layers.0.qkv", which `higher_precision` matches.
    weight: (K, N); unpacked until its dtype has been chosen.
    bias: (N,) or None.
    channel_scale: (K,) or None; only for int8 weights.
    """

    name: str
    weight: PackedWeight | UnpackedWeight
    bias: Floats | None
    channel_scale: Floats | None = None

    @property
    def dtype(self) -> str:
        """The dtype of the packed weight, or "unpacked"."""
        return "unpacked" if isinstance(self.weight, UnpackedWeight) else self.weight.dtype

    @property
    def unpacked(self) -> UnpackedWeight:
        """The weight of a layer that is known to be unpacked."""
        assert isinstance(self.weight, UnpackedWeight), f"{self.name} is already packed"
        return self.weight

    @property
    def packed(self) -> PackedWeight:
        """The weight of a layer that is known to be packed."""
        assert not isinstance(self.weight, UnpackedWeight), f"{self.name} is not packed"
        return self.weight
