"""Sources of the tensors of a network: a checkpoint, or a saved model.

Each tensor has two names. field: its path from the Transformer, as saved models call it. name: the
one in checkpoints. For layers and norms both go without ".weight" and ".bias".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fbg.arrays import Floats
from fbg.checkpoints.checkpoint import Checkpoint, Named
from fbg.checkpoints.kernel_tensor import Ones, Scaled
from fbg.checkpoints.saved_file import SavedFile
from fbg.checkpoints.weights import UnpackedWeight
from fbg.graph.linear import Linear
from fbg.graph.ops.common import LayerNorm, RmsNorm
from fbg.matmul.vocabulary import Table
from fbg.matmul.weights import PackedWeight

Parts = Sequence[Named]  # parts of a layer side by side
Weight = PackedWeight | UnpackedWeight


class Source(ABC):
    """Gives the tensors of a network, checked. Every method raises ModelError."""

    def linear(
        self,
        field: str,
        names: Parts,
        inputs: int,
        outputs: int | Sequence[int],
        *,
        bias: bool = True,
        dtype: str | None = None,
    ) -> Linear:
        """Return a layer whose parts, one for each name, are side by side.

        outputs: columns of each part, or of all of them.
        dtype: the type in which it computes; None leaves it to the model, which may compress it.
        """
        widths = [outputs] * len(names) if isinstance(outputs, int) else list(outputs)
        weight = self._weight(field, names, inputs, widths, dtype)
        added = None
        if bias:
            stored = [
                None if isinstance(n, Ones) else f"{n if isinstance(n, str) else n.name}.bias"
                for n in names
            ]
            added = self.vectors(f"{field}.bias", stored, widths, missing=1.0)
            if self.is_checkpoint and any(isinstance(name, Scaled) for name in names):
                factors = [self._bias_factors(n, w) for n, w in zip(names, widths, strict=True)]
                added = added * np.concatenate(factors)
        scale, scaled = f"{field}.channel_scale", None
        if not self.is_checkpoint and self.rows(scale, "") is not None:
            scaled = self.floats(scale, "", inputs)
        return Linear(field, weight, added, scaled)

    def _bias_factors(self, name: Named, size: int) -> Floats:
        factors = np.ones(size, np.float32)
        if isinstance(name, Scaled):
            factors *= np.float32(name.bias)
            if name.by is not None:
                factors *= self.floats("", name.by, size)
        return factors

    def norm(self, field: str, name: str, size: int, eps: float, *, bias: bool = True) -> LayerNorm:
        return LayerNorm(
            self.floats(f"{field}.weight", f"{name}.weight", size),
            self.floats(f"{field}.bias", f"{name}.bias", size) if bias else None,
            eps,
        )

    def rms_norm(self, field: str, name: str, size: int, eps: float, adds_one: bool) -> RmsNorm:
        """Return a norm. adds_one: its weight is the checkpoint's plus 1."""
        weight = self.floats(f"{field}.weight", f"{name}.weight", size)
        return RmsNorm(weight + np.float32(1) if adds_one and self.is_checkpoint else weight, eps)

    def table(self, field: str, name: str, rows: int, cols: int, *, scale: float = 1.0) -> Floats:
        """Return a table. scale: a factor for the checkpoint's table."""
        table = self.floats(field, f"{name}.weight", rows, cols)
        if scale != 1.0 and self.is_checkpoint:
            table *= np.float32(scale)
        return table

    def vocabulary(
        self, field: str, name: str, rows: int, cols: int, *, scale: float = 1.0
    ) -> Table:
        """Return a table that a saved model may hold as rows of 8 bits."""
        return self.table(field, name, rows, cols, scale=scale)

    def vectors(
        self,
        field: str,
        names: Sequence[str | None],
        sizes: Sequence[int],
        *,
        missing: float = 0.0,
    ) -> Floats:
        """Return concatenated vectors. Names are complete; missing: in place of None."""
        if not self.is_checkpoint:
            return self.floats(field, field, sum(sizes))
        parts = [
            np.full(size, missing, np.float32) if name is None else self.floats(field, name, size)
            for name, size in zip(names, sizes, strict=True)
        ]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    @property
    @abstractmethod
    def path(self) -> Path:
        """The file that stands for the source in errors."""

    @property
    @abstractmethod
    def is_checkpoint(self) -> bool:
        """Whether tensors are as in a checkpoint, and not yet as the network needs them."""

    @abstractmethod
    def rows(self, field: str, name: str) -> int | None:
        """Return how many rows a tensor has that may be missing or wrong; None if it is missing.

        The names of this and of `floats` are complete.
        """

    @abstractmethod
    def floats(self, field: str, name: str, *shape: int) -> Floats:
        """Return a tensor."""

    @abstractmethod
    def _weight(
        self, field: str, names: Parts, inputs: int, outputs: Sequence[int], dtype: str | None
    ) -> Weight: ...


@dataclass(frozen=True)
class CheckpointSource(Source):
    """Weights of a checkpoint, in float32; those that may be compressed stay unpacked.

    num_threads: threads that pack the others.
    """

    checkpoint: Checkpoint
    num_threads: int
    is_checkpoint = True

    @property
    def path(self) -> Path:
        return self.checkpoint.path

    def rows(self, field: str, name: str) -> int | None:
        return self.checkpoint.count(name)

    def floats(self, field: str, name: str, *shape: int) -> Floats:
        return self.checkpoint.tensor(name, *shape, num_threads=self.num_threads)

    def require_copy(self, name: str, copy: str) -> None:
        """Do as `Checkpoint.require_copy`."""
        self.checkpoint.require_copy(name, copy)

    def _weight(
        self, field: str, names: Parts, inputs: int, outputs: Sequence[int], dtype: str | None
    ) -> Weight:
        weight = self.checkpoint.weight(names, outputs, inputs)
        return weight if dtype is None else weight.pack(dtype, self.num_threads)


class HeaderSource(CheckpointSource):
    """Checks a checkpoint without reading its weights: all of them are 0, and none is packed."""

    def floats(self, field: str, name: str, *shape: int) -> Floats:
        return self.checkpoint.zeros(name, *shape)

    def require_copy(self, name: str, copy: str) -> None:
        pass  # only values show whether it is one

    def table(self, field: str, name: str, rows: int, cols: int, *, scale: float = 1.0) -> Floats:
        return self.floats(field, f"{name}.weight", rows, cols)

    def _weight(
        self, field: str, names: Parts, inputs: int, outputs: Sequence[int], dtype: str | None
    ) -> Weight:
        return self.checkpoint.weight(names, outputs, inputs)


@dataclass(frozen=True)
class SavedSource(Source):
    """Weights of a saved model, mapped as they were packed.

    dtype: for layers without a particular one; mixed: dtypes of layers that differ from it.
    """

    file: SavedFile
    dtype: str
    mixed: Mapping[str, str]
    is_checkpoint = False

    @property
    def path(self) -> Path:
        return self.file.path

    def rows(self, field: str, name: str) -> int | None:
        return self.file.count(field)

    def floats(self, field: str, name: str, *shape: int) -> Floats:
        former = field.replace(".mlp_norm.", ".output_norm.")  # in models of BERT before 0.3
        return self.file.floats(former if former in self.file else field, *shape)

    def vocabulary(
        self, field: str, name: str, rows: int, cols: int, *, scale: float = 1.0
    ) -> Table:
        return self.file.vocabulary(field, rows, cols)

    def _weight(
        self, field: str, names: Parts, inputs: int, outputs: Sequence[int], dtype: str | None
    ) -> Weight:
        wanted = dtype or self.mixed.get(field, self.dtype)
        return self.file.packed(f"{field}.weight", wanted, inputs, sum(outputs))
