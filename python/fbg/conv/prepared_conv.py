"""A convolution of one shape: arguments checked once, then called with arrays only; and `prepare`,
which makes such calls of products, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast, overload

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.again import Again, again
from fbg.arrays import (
    Array,
    bfloat16,
    is_bfloat16,
    no_array,
    require_dtype,
    require_dtype_name,
    require_flag,
)
from fbg.conv.convolution import (
    Quantization,
    Stages,
    dense_channels,
    find_prepared,
    pipeline_of,
    run_shaped,
)
from fbg.conv.geometry import sizes_of
from fbg.conv.packed_conv import PackedConv
from fbg.matmul.packed_b import PackedB
from fbg.matmul.product import PreparedCall, prepare_product
from fbg.tuning.store import conv_key
from fbg.tuning.trials import ConvTrial

_CALL = "PreparedConv"


class PreparedConv:
    """A convolution of one shape, validated once: ``call(x, out=None)``. Made by `fbg.prepare`.

    >>> import numpy as np
    >>> import fbg
    >>> w = fbg.PackedConv(np.ones((4, 2, 1, 1), np.float32), dtype="float32")
    >>> call = fbg.prepare(w, fbg.ReLU(), shape=(1, 3, 3, 2))
    >>> call
    PreparedConv((1, 3, 3, 2) -> (1, 3, 3, 4), pointwise, ReLU())
    >>> call(np.ones((1, 3, 3, 2), np.float32))[0, 0, 0]
    array([2., 2., 2., 2.], dtype=float32)
    """

    def __init__(
        self,
        wc: PackedConv,
        pipeline: Stages,
        *,
        shape: tuple[int, ...],
        x_dtype: npt.DTypeLike | None = None,
        scale: float | None = None,
        zero_point: int = 0,
        algorithm: str | None = None,
        exact: bool = False,
        num_threads: int | None = None,
        flush_subnormals: bool = False,
    ) -> None:
        self._wc = wc
        self._shape = sizes_of(shape, "prepare: shape")
        wc.check_shape(self._shape, "prepare: shape must be")
        name = "uint8" if wc.dtype == np.int8 and scale is not None else "float32"
        if x_dtype is not None:
            name = require_dtype_name(x_dtype, "prepare: x_dtype", *wc.x_dtypes)
        self._x_dtype = bfloat16() if name == "bfloat16" else np.dtype(name)
        self._quant = Quantization(self._x_dtype, wc, scale, zero_point, "prepare")
        self._pipeline = pipeline_of(pipeline, None, None, self._quant, wc, "prepare")
        self._prepared = find_prepared(
            wc,
            self._shape,
            self._pipeline,
            self._quant,
            algorithm,
            exact,
            num_threads,
            "prepare",
        )
        self._flushes = require_flag(flush_subnormals, "prepare: flush_subnormals")
        self._output_shape = wc.output_shape(self._shape)
        self._call: Any = None  # the state that calls in a loop share, from the first one on
        self._options = {
            "algorithm": algorithm,
            "exact": exact,
            "num_threads": num_threads,
            "flush_subnormals": self._flushes,
        }

    def trial(self) -> ConvTrial:
        """Return the trial of `fbg.tune`: an x of the prepared shape, with random pixels."""
        wc, quant, stages = self._wc, self._quant, self._pipeline._native
        batch, spatial = wc.check_shape(self._shape, "tune: shape must be")
        shape = (batch, *spatial, wc.in_channels)
        features = _fbg.active_features()
        rng = np.random.default_rng(0)
        native = wc._native_for(quant.source)
        if self._x_dtype.kind not in "iu":
            x: Array = rng.standard_normal(shape, np.float32).astype(self._x_dtype)
            x = x.view(np.uint16) if is_bfloat16(x) else x
        else:
            limits = np.iinfo(self._x_dtype)
            x = rng.integers(limits.min, limits.max + 1, shape, self._x_dtype)

        def prepare(algorithm: str) -> Callable[[], object]:
            exact, threads = False, 1
            ready = native.prepare(
                batch,
                spatial,
                stages,
                quant.source,
                quant.is_real,
                algorithm,
                "",
                exact,
                threads,
                features,
            )
            point = quant.zero_point
            y = ready.run(x, stages, quant.scale, point, None, self._flushes)
            return lambda: ready.run(x, stages, quant.scale, point, y, self._flushes)

        return ConvTrial(
            conv_key(native, wc.geometry, spatial, stages, quant.source, features),
            native.algorithms(batch, spatial, stages, quant.source, quant.is_real, False, features),
            prepare,
        )

    @property
    def algorithm(self) -> str:
        """Name of the algorithm that was chosen."""
        name: str = self._prepared.algorithm
        return name

    @property
    def kernel(self) -> str:
        """Name of the microkernel that does most of the work."""
        name: str = self._prepared.kernel
        return name

    @property
    def num_threads(self) -> int:
        """Threads of a call."""
        threads: int = self._prepared.num_threads
        return threads

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the result."""
        return bfloat16() if self._pipeline._gives_bfloat16 else np.dtype(self._prepared.dtype)

    @property
    def output_shape(self) -> tuple[int, ...]:
        """(N, *output, O)."""
        return self._output_shape

    def __call__(self, x: Array, out: Array | None = None) -> Array:
        """Return the result for an x of the shape and dtype that were prepared."""
        if self._call is not None and self._call.run(x, out):
            return cast(Array, out)
        if not isinstance(x, np.ndarray):
            raise no_array(x, f"{_CALL}: x")
        require_dtype(x, f"{_CALL}: x", self._x_dtype.name)
        if x.shape != self._shape:
            raise ValueError(f"{_CALL}: x must have shape {self._shape}, got {x.shape}")
        stages, quant = self._pipeline, self._quant
        dense, shape = dense_channels(x), self._output_shape
        y = run_shaped(self._prepared, dense, shape, stages, quant, out, self._flushes, _CALL)
        # The native call gets bfloat16 as uint16, and cannot tell them apart.
        if self._call is None and not (self._pipeline._gives_bfloat16 or is_bfloat16(x)):
            self._call = self._prepared.bind(
                stages._native,
                quant.scale,
                quant.zero_point,
                self._shape,
                self._output_shape,
                self._flushes,
            )
        return y

    def __reduce__(self) -> Again:
        quant = self._quant
        return again(
            PreparedConv,
            self._wc,
            self._pipeline,
            shape=self._shape,
            x_dtype=self._x_dtype,
            scale=quant.scale if quant.has_scale else None,
            zero_point=quant.zero_point,
            **self._options,
        )

    def __repr__(self) -> str:
        stages = f", {self._pipeline}" if self._pipeline.stages else ""
        return f"PreparedConv({self._shape} -> {self.output_shape}, {self.algorithm}{stages})"


@overload
def prepare(
    weights: PackedB, pipeline: Stages = None, *, rows: int, **options: Any
) -> PreparedCall: ...
@overload
def prepare(
    weights: PackedConv, pipeline: Stages = None, *, shape: tuple[int, ...], **options: Any
) -> PreparedConv: ...
def prepare(
    weights: PackedB | PackedConv, pipeline: Stages = None, **options: Any
) -> PreparedCall | PreparedConv:
    """Return a function ``call(x, out=None)`` that applies `weights` and `pipeline` to x.

    Preparing does everything that does not depend on the elements of x. A call then only checks its
    two arrays and allocates nothing; for a small product it takes a fraction of the time of `gemm`.
    x is a NumPy array of the prepared dtype with any strides: (M, K) with M at most `rows` for a
    product, or of exactly the prepared shape for a convolution. `out` is a NumPy array of
    ``call.dtype`` with contiguous rows, and is returned; without it, a new array is. Several
    threads may use a call at the same time, unless its pipeline ends in `RowRange`, which writes to
    one array. A call keeps the kernels of the ISA that was active when it was prepared, and refers
    to the arrays of its stages: later calls see changes to them. The residual of `Add` has `rows`
    rows, of which a call uses the first M. A pickle or a copy of a call is prepared anew where it
    is loaded, for the ISA that is active there; a deep copy has its own arrays.

    Args:
        weights: `PackedB` for a product, `PackedConv` for a convolution.
        pipeline: as in `gemm` and `conv`.
        options: for a product: ``rows``, the most rows of any x; ``packer``, the class that packs
            x: `PackAWithQuantRowOffset` (the default for int8 weights), `PackA` (the default for
            float weights and for uint8 x) or `PackAWithRowOffset`; ``x_dtype``, by default uint8
            for `PackAWithRowOffset` and for `PackA` with int8 weights, otherwise float32;
            ``num_threads`` and ``flush_subnormals``, as in `gemm`; and the options of the packer,
            such as ``granularity``, ``scale`` and ``zero_point``, or a ``row_range`` with `rows`
            rows. For a convolution: ``shape``, the shape of every x; ``x_dtype``, ``scale``,
            ``zero_point``, ``algorithm``, ``exact``, ``num_threads`` and ``flush_subnormals`` as in
            `conv`.

    Raises the errors of `gemm` and `conv`.

    >>> import numpy as np
    >>> import fbg
    >>> w = fbg.PackedB(np.eye(2, dtype=np.float32))
    >>> call = fbg.prepare(w, fbg.Dequantize() >> fbg.ReLU(), rows=4)
    >>> call
    PreparedCall(rows=4, K=2, N=2, PackAWithQuantRowOffset, Dequantize() >> ReLU(), num_threads=1)
    >>> out = np.empty((1, 2), call.dtype)
    >>> call(np.array([[2.0, -1.0]], np.float32), out)
    array([[2., 0.]], dtype=float32)
    """
    if isinstance(weights, PackedB):
        return prepare_product(weights, pipeline, **options)
    if isinstance(weights, PackedConv):
        return PreparedConv(weights, pipeline, **options)
    raise TypeError(
        f"prepare: weights must be a PackedB or a PackedConv, got {type(weights).__name__}"
    )
