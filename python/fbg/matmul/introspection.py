"""Lists the kernels that the library has generated, and counts packed weight matrices."""

from __future__ import annotations

from dataclasses import dataclass

from fbg import _fbg


@dataclass(frozen=True)
class Kernel:
    """A generated kernel.

    kind: ``"gemm"`` for the microkernels of matrix products, ``"lanewise"`` and ``"sliding"`` for
        those of depthwise and groupwise convolution, and ``"peak"`` for the loops with which
        benchmarks and ``fbg profile`` measure the peak performance of a core.
    name: ``gemm_<acc>_<a>_<b>_<mr>x<nr>_<isa>…``, ``lanewise_…``, ``sliding_…`` or
        ``peak_<loop>``; the same name appears in profiles of perf and in code dumps.
    isa: the instruction set for which it was generated.
    bytes: the size of its code.
    hits: how many later preparations reused it. A ``gemm`` with the types and sizes of an earlier
        one prepares nothing, and is not counted.
    """

    kind: str
    name: str
    isa: str
    bytes: int
    hits: int


def kernels() -> list[Kernel]:
    """Return all kernels that have been generated, in order of generation.

    The list does not contain the portable kernels (ISA ``generic``), which are compiled.

    >>> import numpy as np
    >>> import fbg
    >>> y = fbg.linear(np.ones((3, 8), np.float32), fbg.PackedB(np.eye(8, dtype=np.float32)))
    >>> all(kernel.bytes > 0 for kernel in fbg.kernels())
    True
    """
    return [Kernel(*kernel) for kernel in _fbg.kernels()]


def pack_count() -> int:
    """Return how many weight matrices have been packed since the start of the process.

    Creating a ``PackedB`` from an array packs one matrix, and ``fbg.load`` packs one for each
    linear layer of a checkpoint. Products, ``Model.encode`` and ``PackedB.load`` pack none.

    >>> import numpy as np
    >>> import fbg
    >>> before = fbg.pack_count()
    >>> w = fbg.PackedB(np.eye(8, dtype=np.float32))
    >>> fbg.pack_count() - before
    1
    """
    return _fbg.pack_b_count()
