"""What the library did so far: which kernels it generated, how many weights it packed."""

from __future__ import annotations

from dataclasses import dataclass

from fbg import _fbg

__all__ = ["Kernel", "kernels", "pack_count"]


@dataclass(frozen=True)
class Kernel:
    """A piece of generated code.

    kind: ``"gemm"`` for the microkernels of matrix products, ``"lanewise"`` and
        ``"sliding"`` for those of depthwise and groupwise convolution, ``"peak"`` for the loops
        with which benchmarks and ``fbg profile`` measure what a core can do at most.
    name: ``gemm_<acc>_<a>_<b>_<mr>x<nr>_<isa>…``, ``lanewise_…``, ``sliding_…`` or
        ``peak_<loop>``, as perf and code dumps show it.
    isa: the instruction set it was generated for.
    bytes: the size of its code.
    hits: how often a later preparation found it ready. A ``gemm`` like one before prepares nothing,
        so it adds none; nor does a tile that the kernel runs.
    """

    kind: str
    name: str
    isa: str
    bytes: int
    hits: int


def kernels() -> list[Kernel]:
    """Return every kernel generated so far, in order of generation.

    The portable kernel (ISA ``generic``) is compiled, not generated, and not among them.

    >>> import numpy as np
    >>> import fbg
    >>> y = fbg.linear(np.ones((3, 8), np.float32), fbg.PackedB(np.eye(8, dtype=np.float32)))
    >>> all(kernel.bytes > 0 for kernel in fbg.kernels())
    True
    """
    return [Kernel(*kernel) for kernel in _fbg.kernels()]


def pack_count() -> int:
    """Return how many weight matrices were packed since the start of the process.

    Only making a ``PackedB`` from an array counts; products, ``Model.encode`` and
    ``PackedB.load`` add none.

    >>> import numpy as np
    >>> import fbg
    >>> before = fbg.pack_count()
    >>> w = fbg.PackedB(np.eye(8, dtype=np.float32))
    >>> fbg.pack_count() - before
    1
    """
    return _fbg.pack_b_count()
