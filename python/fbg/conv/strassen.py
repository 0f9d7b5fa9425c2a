"""Strassen's algorithm for products in float32.

A product is a pointwise convolution whose pixels are the rows of the left operand. The convolutions
have the algorithm, its kernels and its workspace; this module only turns one call into the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.again import Again, again
from fbg.arrays import (
    Array,
    no_array,
    require_choice,
    require_dtype,
    require_dtype_name,
    require_integer,
    shown,
)
from fbg.conv.packed_conv import PackedConv
from fbg.conv.prepared_conv import PreparedConv
from fbg.matmul.packed_b import PackedB
from fbg.matmul.packers import PackA
from fbg.matmul.pipeline import Pipeline

# The number of blocks of K and N. "strassen" takes the one with the lowest modelled cost.
_BLOCKS = {"strassen": 2, "strassen1": 2, "strassen2": 4}
_CALL = "StrassenCall"
_LANES = 16  # the columns of a block are whole vectors
_MOST_ROWS = 2**31 - 1

# The weights of products that were multiplied in this way, packed once more.
_convolutions: WeakKeyDictionary[PackedB, PackedConv] = WeakKeyDictionary()


def _as_convolution(packed_b: PackedB) -> PackedConv:
    """Return float32 weights in the form of a pointwise convolution."""
    found = _convolutions.get(packed_b)
    if found is None:
        found = PackedConv(packed_b.unpack().T[:, :, None], dtype="float32")
        _convolutions[packed_b] = found
    return found


class StrassenCall:
    """A product by Strassen's algorithm, validated once: ``call(x, out=None)``.

    `gemm` and `fbg.prepare` make it where ``algorithm="strassen"`` asks for it. x is float32 of the
    shape (rows, K) that was prepared. The result is the same for every number of threads, but rows
    are divided into blocks, so that the rounding of a row depends on how many there are, and a
    value that is not finite reaches other rows.

    >>> import numpy as np
    >>> import fbg
    >>> w = fbg.PackedB(np.ones((2, 32), np.float32), dtype="float32")
    >>> call = fbg.prepare(w, fbg.ReLU(), rows=3, algorithm="strassen")
    >>> call
    StrassenCall(rows=3, K=2, N=32, strassen1, ReLU())
    >>> call(np.ones((3, 2), np.float32))[0, :3]
    array([2., 2., 2.], dtype=float32)
    """

    def __init__(
        self,
        packed_b: PackedB,
        pipeline: Pipeline,
        rows: int,
        algorithm: str,
        num_threads: int | None,
        flush_subnormals: bool,
        name: str,
    ) -> None:
        require_choice(algorithm, f"{name}: algorithm", *_BLOCKS, None)
        if packed_b.dtype != np.float32:
            raise TypeError(
                f"{name}: algorithm={algorithm!r} requires float32 weights, got {packed_b.dtype}"
            )
        blocks = _BLOCKS[algorithm]
        k, n = packed_b.shape
        if k % blocks or n % (blocks * _LANES):
            raise ValueError(
                f"{name}: algorithm={algorithm!r} requires K in multiples of {blocks} and N in "
                f"multiples of {blocks * _LANES}, got K={k}, N={n}"
            )
        require_integer(rows, f"{name}: rows", 0, _MOST_ROWS)
        if num_threads is not None:
            require_integer(num_threads, f"{name}: num_threads", 1, _fbg.MAX_THREADS)
        self._name = _CALL if name == "prepare" else name
        self._pipeline = pipeline
        self._call = PreparedConv(
            _as_convolution(packed_b),
            pipeline,
            shape=(1, rows, k),
            algorithm=algorithm,
            num_threads=num_threads,
            flush_subnormals=flush_subnormals,
        )
        self.rows = rows
        self.shape = (k, n)
        self._again = again(
            StrassenCall, packed_b, pipeline, rows, algorithm, num_threads, flush_subnormals, name
        )

    @staticmethod
    def of_packed(
        a: PackA,
        packed_b: PackedB,
        pipeline: Pipeline,
        algorithm: str,
        num_threads: int | None,
        flush_subnormals: bool,
    ) -> StrassenCall:
        """Return the call that `gemm` makes; raises TypeError unless `a` is plain float32."""
        if not isinstance(a, PackA):
            raise TypeError(f"gemm: a must be a packer such as PackA, got {type(a).__name__}")
        if type(a) is not PackA or a.dtype != np.float32 or a.rounds:
            raise TypeError(f"gemm: a must be PackA of a float32 x for algorithm, got {a!r}")
        if a.shape[1] != packed_b.shape[0]:
            k, wanted = a.shape[1], packed_b.shape[0]
            raise ValueError(f"gemm: K of a is {k}, but packed_b has K = {wanted}")
        rows = a.shape[0]
        return StrassenCall(
            packed_b, pipeline, rows, algorithm, num_threads, flush_subnormals, "gemm"
        )

    @staticmethod
    def of_options(
        packed_b: PackedB,
        pipeline: Pipeline,
        algorithm: str,
        *,
        rows: int,
        packer: Callable[..., PackA] | None = None,
        x_dtype: npt.DTypeLike | None = None,
        num_threads: int | None = None,
        flush_subnormals: bool = False,
        **more: Any,
    ) -> StrassenCall:
        """Return the call that `prepare` makes; raises TypeError unless x is packed plainly."""
        kind = f"algorithm={algorithm!r}"
        if packer is not None and packer is not PackA:
            raise TypeError(f"prepare: packer must be PackA for {kind}, got {shown(packer)}")
        if x_dtype is not None:
            require_dtype_name(x_dtype, f"prepare: x_dtype for {kind}", "float32")
        if more:
            raise TypeError(f"prepare: {kind} does not take {next(iter(more))}")
        return StrassenCall(
            packed_b, pipeline, rows, algorithm, num_threads, flush_subnormals, "prepare"
        )

    @property
    def algorithm(self) -> str:
        """``"strassen1"`` or ``"strassen2"``."""
        return self._call.algorithm

    @property
    def num_threads(self) -> int:
        """The most threads that a call uses."""
        return self._call.num_threads

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the elements of out."""
        return self._call.dtype

    def __call__(self, x: Array, out: Array | None = None) -> Array:
        """Return the product for an x of the prepared shape."""
        wanted = (self.rows, self.shape[0])
        if not isinstance(x, np.ndarray):
            raise no_array(x, f"{self._name}: x")
        require_dtype(x, f"{self._name}: x", "float32")
        if x.shape != wanted:
            raise ValueError(f"{self._name}: x must have shape {wanted}, got {x.shape}")
        if out is not None:
            self._check_out(x, out)
        result: Array = self._call(x[None], None if out is None else out[None])[0]
        return result if out is None else out

    def _check_out(self, x: Array, out: Array) -> None:
        if not isinstance(out, np.ndarray):
            raise no_array(out, f"{self._name}: out")
        require_dtype(out, f"{self._name}: out", str(self.dtype))
        wanted = (self.rows, self.shape[1])
        if out.shape != wanted:
            raise ValueError(f"{self._name}: out must have shape {wanted}, got {out.shape}")
        if np.may_share_memory(x, out):
            raise ValueError(f"{self._name}: out must not overlap the left operand")

    def __reduce__(self) -> Again:
        return self._again

    def __repr__(self) -> str:
        k, n = self.shape
        stages = f", {self._pipeline}" if self._pipeline.stages else ""
        return f"StrassenCall(rows={self.rows}, K={k}, N={n}, {self.algorithm}{stages})"
