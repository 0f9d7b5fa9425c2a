"""What a model holds in memory and what its plans decided: data, and as text by `print`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.matmul.weights import PackedWeight

__all__ = ["MemoryReport", "PlanOp", "PlanReport"]


@dataclass(frozen=True)
class MemoryReport:
    """Bytes of the parts of a model; those of weights that layers share count once.

    packed_weights: of the linear layers, as kernels read them.
    embeddings: the tables.
    vectors: weights and biases of norms, biases of linear layers.
    derived: tables computed from others or from config.json: rotations, biases by distance.
    arenas: buffers and scratch of the plans made so far; each size of run may add one.
    mapped: weights, embeddings and vectors lie in a file: pages come into memory as they are
        touched, other processes share them, and the system may drop them.
    """

    packed_weights: int
    embeddings: int
    vectors: int
    derived: int
    arenas: int
    mapped: bool

    @classmethod
    def of(
        cls,
        tensors: Mapping[str, PackedWeight | npt.NDArray[np.float32]],
        derived: Iterable[npt.NDArray[np.float32]],
        arenas: int,
        mapped: bool,
    ) -> MemoryReport:
        """Add up the tensors of a model, which have the names that saved.py gives them."""
        packed = embeddings = vectors = 0
        for tensor in tensors.values():
            if not isinstance(tensor, np.ndarray):
                packed += tensor.nbytes
            elif tensor.ndim == 2:
                embeddings += tensor.nbytes
            else:
                vectors += tensor.nbytes
        return cls(packed, embeddings, vectors, sum(t.nbytes for t in derived), arenas, mapped)

    @property
    def total(self) -> int:
        return self.packed_weights + self.embeddings + self.vectors + self.derived + self.arenas

    @property
    def owned(self) -> int:
        """Bytes that no file backs."""
        return self.derived + self.arenas if self.mapped else self.total

    def __str__(self) -> str:
        where = "mapped" if self.mapped else "owned"
        rows = [
            ("packed weights", self.packed_weights, where),
            ("embeddings", self.embeddings, where),
            ("norms and biases", self.vectors, where),
            ("derived tables", self.derived, "owned"),
            ("arenas", self.arenas, "owned"),
            ("total", self.total, f"{self.owned / 2**20:.1f} MiB owned"),
        ]
        return "\n".join(f"{part:<16}  {size / 2**20:7.1f} MiB  {how}" for part, size, how in rows)


@dataclass(frozen=True)
class PlanOp:
    """An op of a plan.

    name: what it computes, with the shape of its weights and what follows in its pipeline.
    kernel: of a linear layer, the microkernel of its largest tile, ISA included; else "".
    offset, bytes: where the arena holds its output. Ops with the same offset reuse memory; no bytes
        means that the caller's array is written.
    scratch_offset, scratch_bytes: scratch of all threads, only while the op runs.
    blocking: of a linear layer, how it cuts its product, by number of tokens, where `fbg.tune`
        found better than the cost model; else "".
    """

    name: str
    kernel: str
    offset: int
    bytes: int
    scratch_offset: int
    scratch_bytes: int
    blocking: str


@dataclass(frozen=True)
class PlanReport:
    """What was decided when a graph was prepared for `tokens` tokens and `threads` threads."""

    tokens: int
    threads: int
    arena_bytes: int
    ops: tuple[PlanOp, ...]

    @classmethod
    def of(cls, plan: _fbg.Plan, tokens: int, threads: int) -> PlanReport:
        return cls(tokens, threads, plan.arena_bytes, tuple(PlanOp(*op) for op in plan.ops))

    def describe(self) -> str:
        """Return a table: each op, the bytes of the arena that it writes, its kernel."""
        width = max(len(op.name) for op in self.ops)
        head = f"{'op':<{width}}  {'output':>19}  {'scratch':>19}  kernel"
        lines = [f"{self.tokens} tokens, {self.threads} threads, arena {self.arena_bytes} B", head]
        for op in self.ops:
            output = _range(op.offset, op.bytes) or "caller's"
            scratch = _range(op.scratch_offset, op.scratch_bytes)
            line = f"{op.name:<{width}}  {output:>19}  {scratch:>19}  {op.kernel}"
            if op.blocking:
                line += f" ({op.blocking})"
            lines.append(line.rstrip())
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.describe()


def _range(offset: int, size: int) -> str:
    return f"{offset}-{offset + size}" if size else ""
