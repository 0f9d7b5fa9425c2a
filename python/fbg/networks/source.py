"""Where a network finds its tensors: a checkpoint, or a model that was saved.

Each tensor has two names. field: its path from the Transformer, as saved models call it. name: the
one in checkpoints. For layers and norms both go without ".weight" and ".bias".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fbg.checkpoints.checkpoint import Checkpoint
from fbg.checkpoints.saved_file import SavedFile
from fbg.checkpoints.weights import UnpackedWeight
from fbg.compression.linear import Linear
from fbg.matmul.weights import PackedWeight
from fbg.networks.graph import LayerNorm

__all__ = ["CheckpointSource", "SavedSource", "Source"]

Floats = npt.NDArray[np.float32]


class Source(ABC):
    """Gives the tensors of a network, checked. Every method raises ModelError."""

    def linear(
        self,
        field: str,
        names: Sequence[str],
        inputs: int,
        outputs: int,
        *,
        bias: bool = True,
        dtype: str | None = None,
    ) -> Linear:
        """Return a layer whose parts, one for each name, have `outputs` columns side by side.

        dtype: what its weights compute in; None leaves it to the model, which may compress them.
        """
        return Linear(
            field,
            self._weight(field, names, inputs, outputs, dtype),
            self._floats(f"{field}.bias", [f"{n}.bias" for n in names], outputs) if bias else None,
            self._channel_scale(field, inputs),
        )

    def norm(self, field: str, name: str, size: int, eps: float, *, bias: bool = True) -> LayerNorm:
        return LayerNorm(
            self._floats(f"{field}.weight", [f"{name}.weight"], size),
            self._floats(f"{field}.bias", [f"{name}.bias"], size) if bias else None,
            eps,
        )

    def table(self, field: str, name: str, rows: int, cols: int) -> Floats:
        return self._floats(field, [f"{name}.weight"], rows, cols)

    def vector(self, field: str, name: str, size: int) -> Floats:
        """Return a vector; the names of this and of `rows` are complete."""
        return self._floats(field, [name], size)

    @property
    @abstractmethod
    def path(self) -> Path:
        """The file that stands for the source in errors."""

    @abstractmethod
    def rows(self, field: str, name: str) -> int | None:
        """Return how many rows a tensor has that may be missing or wrong; None if it is missing."""

    @abstractmethod
    def _floats(self, field: str, names: Sequence[str], *shape: int) -> Floats:
        """Return a tensor; the parts of several names, each of that shape, follow each other."""

    @abstractmethod
    def _weight(
        self, field: str, names: Sequence[str], inputs: int, outputs: int, dtype: str | None
    ) -> PackedWeight | UnpackedWeight: ...

    @abstractmethod
    def _channel_scale(self, field: str, inputs: int) -> Floats | None: ...


@dataclass(frozen=True)
class CheckpointSource(Source):
    """Weights of a checkpoint, in float32; those that may be compressed stay unpacked.

    num_threads: that pack the others.
    """

    checkpoint: Checkpoint
    num_threads: int

    @property
    def path(self) -> Path:
        return self.checkpoint.path

    def rows(self, field: str, name: str) -> int | None:
        return self.checkpoint.count(name)

    def _floats(self, field: str, names: Sequence[str], *shape: int) -> Floats:
        threads = self.num_threads
        parts = [self.checkpoint.tensor(name, *shape, num_threads=threads) for name in names]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _weight(
        self, field: str, names: Sequence[str], inputs: int, outputs: int, dtype: str | None
    ) -> PackedWeight | UnpackedWeight:
        weight = self.checkpoint.weight([f"{name}.weight" for name in names], outputs, inputs)
        return weight if dtype is None else weight.pack(dtype, self.num_threads)

    def _channel_scale(self, field: str, inputs: int) -> Floats | None:
        return None


@dataclass(frozen=True)
class SavedSource(Source):
    """Weights of a saved model, mapped as they were packed.

    dtype: of layers that compute in no particular one; mixed: of those that differ from it.
    """

    file: SavedFile
    dtype: str
    mixed: Mapping[str, str]

    @property
    def path(self) -> Path:
        return self.file.path

    def rows(self, field: str, name: str) -> int | None:
        return self.file.count(field)

    def _floats(self, field: str, names: Sequence[str], *shape: int) -> Floats:
        return self.file.floats(field, len(names) * shape[0], *shape[1:])

    def _weight(
        self, field: str, names: Sequence[str], inputs: int, outputs: int, dtype: str | None
    ) -> PackedWeight | UnpackedWeight:
        wanted = dtype or self.mixed.get(field, self.dtype)
        return self.file.packed(f"{field}.weight", wanted, inputs, len(names) * outputs)

    def _channel_scale(self, field: str, inputs: int) -> Floats | None:
        return self.file.optional(f"{field}.channel_scale", inputs)
