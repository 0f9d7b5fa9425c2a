"""Reports of the memory of a model and of its plans: data, printed as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.matmul.weights import PackedWeight


@dataclass(frozen=True)
class MemoryReport:
    """The memory of a model in bytes. Weights that several layers share are counted once.

    packed_weights: the weights of linear layers.
    embeddings: the embedding tables.
    vectors: the weights and biases of norms, and the biases of linear layers.
    derived: tables that are computed while loading, such as those of rotary positions.
    arenas: the buffers and scratch memory of the plans prepared so far. A run of a new size may add
        a plan.
    mapped: whether weights, embeddings and vectors are mapped from a file. Then their pages are
        read when they are first used, shared with other processes, and may be dropped again.
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
        """Add up the tensors of a model, by the names that saved.py gives them."""
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
    def weights(self) -> int:
        """The bytes of all weights, whatever their dtype."""
        return self.packed_weights + self.embeddings + self.vectors

    @property
    def total(self) -> int:
        return self.weights + self.derived + self.arenas

    @property
    def owned(self) -> int:
        """The bytes that are not mapped from a file."""
        return self.derived + self.arenas if self.mapped else self.total

    @property
    def parts(self) -> dict[str, int]:
        """The bytes of each part, by its name in reports."""
        return {
            "packed weights": self.packed_weights,
            "embeddings": self.embeddings,
            "norms and biases": self.vectors,
            "derived tables": self.derived,
            "arenas": self.arenas,
        }

    def __str__(self) -> str:
        rows = [*self.parts.items(), ("total", self.total)]
        where = ["mapped" if self.mapped else "owned"] * 3 + ["owned"] * 2
        where.append(f"{self.owned / 2**20:.1f} MiB owned")
        lines = zip(rows, where, strict=True)
        return "\n".join(
            f"{part:<16}  {size / 2**20:7.1f} MiB  {how}" for (part, size), how in lines
        )


@dataclass(frozen=True)
class PlanOp:
    """An op of a plan.

    name: what the op computes, with the shape of its weights and the stages of its pipeline.
    kernel: the name of the microkernel of a linear layer, which includes its ISA; otherwise "".
    offset, bytes: the place of its output in the arena. Ops with the same offset use the same
        memory one after the other; 0 bytes means that the op writes to an array of the caller.
    scratch_offset, scratch_bytes: the scratch memory of all threads while the op runs.
    blocking: the blocking of a linear layer for each number of tokens for which `fbg.tune` found a
        faster one than the cost model chooses; otherwise "".
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
    """The ops of a graph that was prepared for `tokens` tokens and `threads` threads.

    arena_bytes: the size of the memory that holds the outputs and scratch memory of all ops.
    """

    tokens: int
    threads: int
    arena_bytes: int
    ops: tuple[PlanOp, ...]

    @classmethod
    def of(cls, plan: _fbg.Plan, tokens: int, threads: int) -> PlanReport:
        kernels = plan.kernels(tokens, threads)
        ops = tuple(
            replace(PlanOp(*op), kernel=kernel)
            for op, kernel in zip(plan.ops, kernels, strict=True)
        )
        return cls(tokens, threads, plan.arena_bytes, ops)

    def describe(self) -> str:
        """Return a table of the ops: the parts of the arena that each uses, and its kernel."""
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
