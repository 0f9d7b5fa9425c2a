"""The networks, and how one is read from a checkpoint."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fbg.checkpoints.checkpoint import Checkpoint
from fbg.networks.bert import Bert
from fbg.networks.config import EncoderConfig
from fbg.networks.modernbert import ModernBert
from fbg.networks.transformer import WEIGHT_LIMITS, LayerNorm, Linear, Transformer, pack_weight

__all__ = ["NETWORKS", "CheckpointSource", "read_transformer"]

Floats = npt.NDArray[np.float32]

# As Architecture.network names them.
NETWORKS: dict[str, type[Transformer]] = {"bert": Bert, "modernbert": ModernBert}


@dataclass(frozen=True)
class CheckpointSource:
    """A Source that packs the weights of a checkpoint for `dtype`."""

    checkpoint: Checkpoint
    dtype: str

    def linear(
        self,
        field: str,
        names: tuple[str, ...],
        inputs: int,
        outputs: int,
        *,
        bias: bool = True,
        dtype: str | None = None,
    ) -> Linear:
        # The safetensors layout is (outputs, inputs); ours is (K, N) = (inputs, all outputs).
        kind, tensor = dtype or self.dtype, self.checkpoint.tensor
        limit = WEIGHT_LIMITS[kind]
        weights = [tensor(f"{name}.weight", outputs, inputs, limit=limit) for name in names]
        biases = [tensor(f"{name}.bias", outputs) for name in names] if bias else []
        return Linear(
            pack_weight(np.concatenate(weights).T, kind), np.concatenate(biases) if biases else None
        )

    def norm(self, field: str, name: str, size: int, eps: float, *, bias: bool = True) -> LayerNorm:
        weight = self.checkpoint.tensor(f"{name}.weight", size)
        return LayerNorm(
            weight, self.checkpoint.tensor(f"{name}.bias", size) if bias else None, eps
        )

    def table(self, field: str, name: str, rows: int, cols: int) -> Floats:
        return self.checkpoint.tensor(f"{name}.weight", rows, cols)

    def vector(self, field: str, name: str, size: int) -> Floats:
        return self.checkpoint.tensor(name, size)

    def rows(self, field: str, name: str) -> int | None:
        return self.checkpoint.count(name)

    def __contains__(self, names: tuple[str, str]) -> bool:
        return f"{names[1]}.weight" in self.checkpoint


def read_transformer(checkpoint: Checkpoint, config: EncoderConfig, dtype: str) -> Transformer:
    """Read and pack the weights of a Hugging Face model; raises ModelError.

    With dtype "int8" the linear layers of the encoder are quantized, symmetric with one scale per
    output column; "bfloat16" and "float16" round them.
    """
    network = NETWORKS[config.architecture.network]
    return network.read(CheckpointSource(checkpoint, dtype), config, dtype)
