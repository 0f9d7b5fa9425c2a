"""Sources of the tensors of a network: a checkpoint, or a saved model.

Each tensor has two names. field: its path from the Transformer, as saved models call it. name: the
one in checkpoints. For layers and norms both go without ".weight" and ".bias". What a network needs
is in a saved model as it is; in a checkpoint, it may have to be computed from other tensors.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fbg.arrays import Floats
from fbg.checkpoints.checkpoint import Checkpoint
from fbg.checkpoints.weights import Named, Read, UnpackedWeight, as_part
from fbg.graph.linear import Linear
from fbg.graph.ops.common import LayerNorm, RmsNorm
from fbg.matmul.vocabulary import BESIDE, Table
from fbg.matmul.weights import PackedWeight
from fbg.saved_file import SavedFile

Parts = Sequence[Named]  # parts of a layer side by side
# A weight, and the factors of what it multiplies.
Weight = tuple[PackedWeight | UnpackedWeight, Floats | None]


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

        def biases(read: Read) -> Floats:
            parts = zip(names, widths, strict=True)
            return np.concatenate([as_part(name).bias(read, width) for name, width in parts])

        weight, scale = self._weight(field, names, inputs, widths, dtype)
        added = self.computed(f"{field}.bias", (sum(widths),), biases) if bias else None
        return Linear(field, weight, added, scale)

    def norm(self, field: str, name: str, size: int, eps: float, *, bias: bool = True) -> LayerNorm:
        return LayerNorm(
            self.floats(f"{field}.weight", f"{name}.weight", size),
            self.floats(f"{field}.bias", f"{name}.bias", size) if bias else None,
            eps,
        )

    def rms_norm(self, field: str, name: str, size: int, eps: float, adds_one: bool) -> RmsNorm:
        """Return a norm. adds_one: its weight is the checkpoint's plus 1."""

        def weight(read: Read) -> Floats:
            stored = read(f"{name}.weight", size)
            return stored + np.float32(1) if adds_one else stored

        return RmsNorm(self.computed(f"{field}.weight", (size,), weight), eps)

    def table(self, field: str, name: str, rows: int, cols: int) -> Floats:
        return self.floats(field, f"{name}.weight", rows, cols)

    @property
    @abstractmethod
    def path(self) -> Path:
        """The file that stands for the source in errors."""

    @abstractmethod
    def has(self, field: str, *names: str) -> bool:
        """Whether there is a tensor: in a saved model, or all that it is made of in a checkpoint.

        The names of this and of what follows are complete.
        """

    @abstractmethod
    def rows(self, field: str, name: str) -> int | None:
        """Return how many rows a tensor has that may be missing or wrong; None if it is missing."""

    @abstractmethod
    def floats(self, field: str, name: str, *shape: int) -> Floats:
        """Return a tensor."""

    @abstractmethod
    def computed(
        self, field: str, shape: tuple[int, ...], compute: Callable[[Read], Floats]
    ) -> Floats:
        """Return a tensor that is computed from those of a checkpoint, which `read` gives by name
        and shape. None of them is to be changed.
        """

    @abstractmethod
    def vocabulary(self, field: str, name: str, rows: int, cols: int, scale: float) -> Table:
        """Return a table that a saved model may hold as rows of 8 bits. scale: a factor for the
        checkpoint's.
        """

    @abstractmethod
    def _weight(
        self, field: str, names: Parts, inputs: int, outputs: Sequence[int], dtype: str | None
    ) -> Weight: ...


@dataclass(frozen=True)
class CheckpointSource(Source):
    """Weights of a checkpoint, in float32; those that may be compressed stay unpacked, and so do
    all if it reads no values.

    num_threads: threads that pack the others.
    """

    checkpoint: Checkpoint
    num_threads: int

    @property
    def path(self) -> Path:
        return self.checkpoint.path

    def has(self, field: str, *names: str) -> bool:
        return all(name in self.checkpoint for name in names)

    def rows(self, field: str, name: str) -> int | None:
        return self.checkpoint.count(name)

    def floats(self, field: str, name: str, *shape: int) -> Floats:
        return self._read(name, *shape)

    def _read(self, name: str, *shape: int) -> Floats:
        return self.checkpoint.tensor(name, *shape, num_threads=self.num_threads)

    def computed(
        self, field: str, shape: tuple[int, ...], compute: Callable[[Read], Floats]
    ) -> Floats:
        return compute(self._read)

    def vocabulary(self, field: str, name: str, rows: int, cols: int, scale: float) -> Table:
        table = self.table(field, name, rows, cols)
        if scale != 1.0 and self.checkpoint.reads:
            table *= np.float32(scale)
        return table

    def _weight(
        self, field: str, names: Parts, inputs: int, outputs: Sequence[int], dtype: str | None
    ) -> Weight:
        weight = self.checkpoint.weight(names, outputs, inputs)
        if dtype is None or not self.checkpoint.reads:
            return weight, None
        return weight.pack(dtype, self.num_threads), None


@dataclass(frozen=True)
class SavedSource(Source):
    """Weights of a saved model, mapped as they were packed.

    dtype: for layers without a particular one; mixed: dtypes of layers that differ from it.
    """

    file: SavedFile
    dtype: str
    mixed: Mapping[str, str]

    @property
    def path(self) -> Path:
        return self.file.path

    def has(self, field: str, *names: str) -> bool:
        return field in self.file

    def rows(self, field: str, name: str) -> int | None:
        entry = self.file.entry(field)
        return None if entry is None else math.prod(entry.shape[:1])

    def floats(self, field: str, name: str, *shape: int) -> Floats:
        former = field.replace(".mlp_norm.", ".output_norm.")  # in models of BERT before 0.3
        return self.file.floats(former if former in self.file else field, *shape)

    def computed(
        self, field: str, shape: tuple[int, ...], compute: Callable[[Read], Floats]
    ) -> Floats:
        return self.floats(field, "", *shape)

    def vocabulary(self, field: str, name: str, rows: int, cols: int, scale: float) -> Table:
        entry = self.file.entry(field)
        if entry is not None and entry.dtype == "U8":
            return self.file.array(field, "U8", (rows, cols + BESIDE))
        return self.floats(field, name, rows, cols)

    def _weight(
        self, field: str, names: Parts, inputs: int, outputs: Sequence[int], dtype: str | None
    ) -> Weight:
        wanted, scale = dtype or self.mixed.get(field, self.dtype), f"{field}.channel_scale"
        weight = self.file.packed(f"{field}.weight", wanted, inputs, sum(outputs))
        return weight, self.floats(scale, "", inputs) if self.has(scale) else None
