"""The right operand of a product: weights, which are packed once."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.arrays import (
    Array,
    as_array,
    bfloat16,
    first_of,
    int4,
    require_choice,
    require_dtype,
    require_finite,
    require_flag,
    require_matrix,
    require_points,
    require_scales,
)
from fbg.files import path_text, require_free_file
from fbg.matmul.arguments import check_accum, check_quantizing
from fbg.matmul.int4 import check_group, pack_int4
from fbg.matmul.weights import WEIGHT_LIMITS, PackedWeight, require_packed_dtype
from fbg.quantization import dequantize
from fbg.saved_file import PACKED, SavedFile, write

TENSOR = "packed_b"  # the one in a file


def _metadata(native: PackedWeight) -> dict[str, str]:
    """Return what a file says of its block."""
    return {"dtype": native.dtype, "shape": str(list(native.shape))}


class Outliers(NamedTuple):
    """Weights that are stored outside the dense panels, as a matrix of compressed sparse columns.

    Column j has ``data[p]`` in row ``indices[p]`` for ``indptr[j] <= p < indptr[j + 1]``. These are
    the arrays of ``scipy.sparse.csc_array((data, indices, indptr), shape=packed.shape)``.
    """

    indptr: npt.NDArray[np.int64]
    indices: npt.NDArray[np.int32]
    data: npt.NDArray[np.int8]


class PackedB:
    """The right operand of ``gemm``: a K x N matrix of weights in the layout that kernels read.

    Args:
        w: (K, N), any strides: float32, float16 or ``ml_dtypes.bfloat16``, or int8 weights that are
            already quantized.
        transpose: whether `w` is (N, K), as torch stores the weights of a linear layer.
        granularity: ``"column"`` quantizes with one scale per output column, ``"tensor"`` with one
            scale for all of w.
        symmetric: whether zero points are 0 and ``scale = max|w| / 127``. Otherwise
            ``scale = (max - min) / 255``, over a range that includes 0. int4 weights that are not
            symmetric have an offset for each scale: ``real = scale * q + offset``.
        scale: for int8 `w`, float32 of shape () or (N,): ``real = scale * (w - zero_point)``. None
            where no stage reads it: ``CorrectZeroPoints`` gives integers.
        zero_point: for int8 `w`, integers of shape () or (N,) within [-128, 127]; default 0.
        dtype: the dtype of the packed weights: ``"int8"`` (default), ``"int4"``, ``"float32"``,
            ``"float16"`` or ``"bfloat16"``. int4 weights have a float16 scale for each `group` of K
            and each column, and a float16 offset if they are not symmetric; both are searched for
            the least squared error. Their products are float32, so that pipelines do not begin
            with Dequantize. 16-bit weights are rounded half to even and multiplied in float32; with
            ``PackA(x, dtype="bfloat16")``, bfloat16 weights are multiplied by the bfloat16
            dot-product instruction.
        group: with ``dtype="int4"``, how many consecutive weights of a column share a scale: 32
            (default), 64 or 128. Small groups are more accurate; large ones take less memory. A
            weight takes 4 bits, and a group 16 more for its scale and 16 for its offset.
        accum: how products with int8 weights are summed: in ``"int32"`` (default) or ``"int16"``.
            int16 is faster on CPUs without VNNI if most weights are small. The results are the
            same: sums are moved to int32 before they can overflow, and the few large weights that
            would make this too frequent are stored separately, in `outliers`. If int16 cannot be
            faster, because the CPU has VNNI or too many weights are large, the weights are packed
            for int32 instead, which `accum` and ``repr`` show. Products with float weights are
            summed in float32; the exact sums of int4 groups are added up in float32, too.
            ``"float16"``, for float16 weights: rows of A are scaled by a power of two and rounded
            to float16, multiplied in float16, and the sums of 128 products are added up in float32.
            That is nearly twice as fast as float32 on CPUs with AVX512-FP16, and more accurate than
            bfloat16; on other CPUs, such products are those with ``accum="float32"``.
        outlier_bits: with ``accum="int16"``, weights that do not fit in this many bits (1 to 8,
            signed) are outliers. None chooses the fastest number for each panel of 32 columns.

    Raises:
        TypeError: if a dtype is not one of these.
        ValueError: if an argument has a wrong shape or an unknown value, a weight to be quantized
            is not finite or too large (for float16 beyond ±65504, or ±250 with
            ``accum="float16"``, for int4 beyond ±440000, where
            its scale exceeds float16, or beyond ±65504 if it is not symmetric), a scale is not
            finite and positive, or a zero point is out of range.

    Quantization follows ONNX QuantizeLinear: ``q = saturate(rint(w / scale) + zero_point)``, half
    to even.

    >>> import numpy as np
    >>> w = np.array([[1.27, -2.0], [-0.5, 1.0]], np.float32)
    >>> packed = PackedB(w)
    >>> packed.unpack()
    array([[ 127, -127],
           [ -50,   64]], dtype=int8)
    >>> packed
    PackedB(K=2, N=2, int8, accum=int32, scale per column)

    Weights of 4 bits that are all positive lose less with offsets:

    >>> w = np.linspace(1, 2, 64, dtype=np.float32).reshape(32, 2)
    >>> packed = PackedB(w, dtype="int4", symmetric=False)
    >>> packed
    PackedB(K=32, N=2, int4, accum=float32, scale and offset per group of 32)
    >>> bool(np.abs(packed.dequantize() - w).max() < 0.04)
    True
    >>> bool(np.abs(PackedB(w, dtype="int4").dequantize() - w).max() < 0.1)
    False
    """

    _redirected = ""  # why requested int16 sums are not used

    def __init__(
        self,
        w: object,
        *,
        transpose: bool = False,
        granularity: Literal["column", "tensor"] = "column",
        symmetric: bool = True,
        scale: object = None,
        zero_point: object = None,
        dtype: Literal["int8", "int4", "float32", "float16", "bfloat16"] | None = None,
        group: Literal[32, 64, 128] | None = None,
        accum: Literal["int32", "int16", "float32", "float16"] | None = None,
        outlier_bits: int | None = None,
    ) -> None:
        array = as_array(w, "PackedB: w")
        require_dtype(array, "PackedB: w", "float32", "float16", "bfloat16", "int8")
        transpose = require_flag(transpose, "PackedB: transpose")
        symmetric = require_flag(symmetric, "PackedB: symmetric")
        require_matrix(array, "PackedB: w", "(N, K)" if transpose else "(K, N)")
        require_choice(granularity, "PackedB: granularity", "column", "tensor")
        require_packed_dtype(dtype)

        check_accum(accum, outlier_bits, dtype)
        check_group(group, dtype)
        unread = {"symmetric": not symmetric, "granularity": granularity != "column"}
        check_quantizing("PackedB", array, dtype, unread)

        self._native: PackedWeight
        if array.dtype == np.int8:
            if dtype is not None and dtype != "int8":
                raise TypeError(f"PackedB: w must be floating for dtype={dtype!r}, got int8")
            array = array.T if transpose else array
            quant = _given_quant(scale, zero_point, array.shape[1])
            self._keep(_fbg.pack_b_int8(array, *quant), accum, outlier_bits)
            return
        if scale is not None or zero_point is not None:
            raise TypeError(f"PackedB: scale and zero_point require an int8 w, got {array.dtype}")
        floats = array.astype(np.float32, copy=False)
        if dtype == "int4":
            if granularity != "column":
                raise ValueError("PackedB: int4 weights have scales per group, not per tensor")
            self._native = pack_int4(floats, group or 32, symmetric, transpose)
            return
        if dtype == "float16":
            require_float16(floats, "PackedB: w", accum)
        matrix = floats.T if transpose else floats
        if dtype is not None and dtype != "int8":
            name = "float16_accum" if accum == "float16" else dtype
            self._native = _fbg.pack_b_convert(matrix, name)
            return
        try:
            quantized = _fbg.pack_b_quantize(matrix, granularity == "column", symmetric)
        except ValueError:
            require_finite(floats, "PackedB: w")  # names the place in the axes of w
            raise
        self._keep(quantized, accum, outlier_bits)

    def _keep(self, native: PackedWeight, accum: str | None, outlier_bits: int | None) -> None:
        """Keep int8 weights, split for int16 sums if requested and worthwhile."""
        self._native = native
        if accum != "int16":
            return
        if _fbg.kernel_isa("int16").endswith("vnni"):
            self._redirected = "VNNI sums int32 as fast"
            return
        split = _fbg.pack_b_split(native, outlier_bits or 0)
        if split is None:
            self._redirected = "too many large weights"
        else:
            self._native = split

    @property
    def shape(self) -> tuple[int, int]:
        """(K, N)."""
        return self._native.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the packed weights: int8, float32, float16, or bfloat16 or int4 as
        ``ml_dtypes`` has them.
        """
        if self.group is not None:
            return int4()
        name = self._native.dtype
        return bfloat16() if name == "bfloat16" else np.dtype(name.removesuffix("_accum"))

    @property
    def accum(self) -> str:
        """The type in which products are summed: ``"int32"``, ``"int16"``, ``"float32"`` or
        ``"float16"``.
        """
        return self._native.accum

    @property
    def outliers(self) -> Outliers | None:
        """The weights that are stored outside the panels; None unless `accum` is ``"int16"``.

        >>> import numpy as np
        >>> import fbg
        >>> w = np.ones((8, 2), np.int8)
        >>> w[3, 1] = 100
        >>> with fbg.isa.limit("generic"):
        ...     packed = fbg.PackedB(w, accum="int16", outlier_bits=4)
        >>> packed
        PackedB(K=8, N=2, int8, accum=int16, 1 outlier, no scale)
        >>> packed.outliers.indices, packed.outliers.data
        (array([3], dtype=int32), array([100], dtype=int8))
        """
        arrays = self._native.outliers
        return None if arrays is None else Outliers(*arrays)

    @property
    def spill_depths(self) -> npt.NDArray[np.int64] | None:
        """For each panel of 32 columns, how many k are summed in int16 before a move to int32.

        int64 of shape (ceil(N / 32),); None unless `accum` is ``"int16"``. Among that many k, the
        positive dense weights that one int16 lane multiplies sum to at most 128, and so do the
        magnitudes of the negative ones; 255 times either sum fits in int16.
        """
        return self._native.spill_depths

    @property
    def group(self) -> int | None:
        """How many consecutive weights of a column share a scale; None unless they are int4."""
        return self._native.group

    @property
    def scale(self) -> Array | None:
        """The scales, float32 of shape (N,) or (); float16 of shape (K / group, N), K / group
        rounded up, for int4 weights; None for weights without a scale.
        """
        return self._native.scale

    @property
    def offset(self) -> npt.NDArray[np.float16] | None:
        """The offsets of int4 weights that are not symmetric, float16 of the shape of `scale`:
        ``real = scale * q + offset``; None for all others.
        """
        return self._native.offset

    @property
    def zero_point(self) -> Array | None:
        """The zero points, int32 of shape (N,) or (); None for weights that have neither scales
        nor zero points.
        """
        native = self._native
        point, scale = native.zero_point, native.scale
        if point is not None or scale is None or native.group is not None:
            return point
        return np.zeros_like(scale, np.int32)

    @property
    def column_offsets(self) -> Array | None:
        """The sum of each column of the int8 matrix, int32 of shape (N,); None for floats."""
        return self._native.column_offsets

    @property
    def nbytes(self) -> int:
        """The size in bytes of panels, parameters and header."""
        return self._native.nbytes

    def unpack(self) -> Array:
        """Return the packed (K, N) matrix as a C-contiguous array of `dtype`."""
        return self._native.unpack().view(self.dtype)

    def dequantize(self) -> npt.NDArray[np.float32]:
        """Return ``scale * (q - zero_point)``, of int4 weights ``scale * q + offset``, or the float
        weights, as float32 of shape (K, N).

        Raises ValueError for int8 weights that were packed without a scale.

        >>> import numpy as np
        >>> PackedB(np.eye(2, dtype=np.float32)).dequantize()
        array([[1., 0.],
               [0., 1.]], dtype=float32)
        """
        q = self.unpack()
        if self.group is not None:
            scales = np.asarray(self.scale, np.float32).repeat(self.group, axis=0)[: len(q)]
            values = q.astype(np.float32) * scales
            if self.offset is not None:
                values += self.offset.astype(np.float32).repeat(self.group, axis=0)[: len(q)]
            return values
        if q.dtype != np.int8:
            return q.astype(np.float32, copy=False)
        scale, zero_point = self.scale, self.zero_point
        if scale is None:
            raise ValueError("PackedB.dequantize: these weights were packed without a scale")
        return dequantize(q, scale, zero_point)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the weights to a file that `load` maps; it does not depend on the ISA.

        overwrite: replace a file of that name, which may be in use.

        The file is written completely or not at all. It is a safetensors file with one tensor
        (python/fbg/saved_file.py).

        Raises TypeError if `path` is not a path, FileExistsError if there is a file that may not be
        replaced, as `Model.save` does, and OSError if it cannot be written.

        >>> import tempfile
        >>> import numpy as np
        >>> packed = PackedB(np.eye(3, dtype=np.float32))
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     packed.save(f"{directory}/w.safetensors")
        ...     PackedB.load(f"{directory}/w.safetensors")
        PackedB(K=3, N=3, int8, accum=int32, scale per column)
        """
        file = path_text(path, "PackedB.save")
        require_free_file(file, overwrite)
        write(file, {TENSOR: self._native}, _metadata(self._native), PACKED)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, verify: bool = True) -> PackedB:
        """Map a file that `save` wrote. Kernels read the mapped file; nothing is copied.

        Args:
            path: the file. While it is mapped, it may be replaced or removed, but not truncated.
            verify: whether to compare the checksum, which reads the whole file. Without it, a
                damaged file can give wrong results, but no memory outside the file is ever read.

        Raises TypeError if `path` is not a path, and ``fbg.ModelError`` (a ValueError) that names
        the file if it is missing, damaged, not a file of packed weights, or of a newer version.

        `save` has an example.
        """
        place = Path(path_text(path, "PackedB.load"))
        with SavedFile(place, PACKED, verify=verify) as file:
            native = file.block(TENSOR)
            file.require_all_read()
            for key, value in _metadata(native).items():
                if file.metadata(key) != value:
                    raise file.error(TENSOR, f"damaged: its block has {key} {value}")
        return cls._of(native)

    @classmethod
    def _of(cls, native: PackedWeight) -> PackedB:
        packed = cls.__new__(cls)
        packed._native = native
        return packed

    @classmethod
    def _from_block(cls, block: npt.NDArray[np.uint8]) -> PackedB:
        return cls._of(_fbg.packed_b_from_bytes(block))

    def __reduce__(self) -> tuple[Callable[..., PackedB], tuple[npt.NDArray[np.uint8]]]:
        # The array is a view of the block; protocol 5 can pass it on without a copy.
        return self._from_block, (self._native.block,)

    def __copy__(self) -> PackedB:
        packed = self._of(self._native)  # packed weights never change, so the copy may share them
        packed._redirected = self._redirected
        return packed

    def __deepcopy__(self, memo: dict[int, object]) -> PackedB:
        return self.__copy__()

    def __repr__(self) -> str:
        k, n = self.shape
        parts = [f"K={k}", f"N={n}", str(self.dtype), f"accum={self.accum}"]
        if self._redirected:
            parts[-1] += f" (not int16: {self._redirected})"
        if self.outliers is not None:
            count = self.outliers.data.size
            parts.append(f"{count} outlier{'s' * (count != 1)}")
        if self.group is not None:
            parameters = "scale" if self.offset is None else "scale and offset"
            parts.append(f"{parameters} per group of {self.group}")
        elif self.dtype == np.int8:
            scale = self.scale
            parts.append(
                "no scale" if scale is None else f"scale per {'column' if scale.ndim else 'tensor'}"
            )
        return f"PackedB({', '.join(parts)})"


def require_float16(w: Array, name: str, accum: str | None = None) -> None:
    """Raise ValueError where a float32 weight, or a sum, might be an infinity in float16."""
    if accum == "float16":
        limit = WEIGHT_LIMITS["float16_accum"]
        if (large := np.abs(w) > limit).any():
            raise ValueError(
                f"{name} must be within ±{limit:g} for accum='float16', got {first_of(w, large)}"
            )
    infinite = np.abs(w) >= 65520  # rounds to infinity
    if infinite.any():
        got = first_of(w, infinite)
        raise ValueError(f"{name} must be within ±65504 for dtype='float16', got {got}")


def _given_quant(
    scale: object, zero_point: object, n: int
) -> tuple[Array | None, Array | None, bool]:
    """Check the parameters of an int8 matrix: 1-D, of 1 or n values, and whether per column."""
    if scale is None and zero_point is None:
        return None, None, False
    scales = require_scales(1.0 if scale is None else scale, "PackedB: scale")
    points = require_points(
        0 if zero_point is None else zero_point, "PackedB: zero_point", -128, 127
    )
    for name, values in (("scale", scales), ("zero_point", points)):
        if values.shape not in ((), (n,)):
            raise ValueError(f"PackedB: {name} must have shape () or ({n},), got {values.shape}")
    if points.ndim > scales.ndim:  # the scale is one per column, too
        scales = np.broadcast_to(scales, (n,))
    per_column = scales.ndim > 0
    if n == 0 and per_column:  # only the shape is kept
        scales, points = np.ones(1, np.float32), np.zeros(1, np.int32)
    given = None if scale is None else np.atleast_1d(scales)
    return given, np.atleast_1d(points).astype(np.int32), per_column
