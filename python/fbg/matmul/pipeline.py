"""Output pipelines: the steps that are applied to a tile of results before it is written.

A pipeline is a chain of stages. Each stage accepts and returns values of certain types, which are
checked when the pipeline is built: ``acc`` (the int32 sums of products of quantized values),
``int32`` (these sums, corrected for zero points), ``float32``, and the types of results.

>>> import numpy as np
>>> Dequantize() >> Bias(np.zeros(3, np.float32)) >> ReLU()
Dequantize() >> Bias(float32[3]) >> ReLU()
>>> Requantize(1.0) >> ReLU()
Traceback (most recent call last):
    ...
TypeError: pipeline: Requantize must be the last stage; put ReLU before it
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.again import Again, again
from fbg.arrays import (
    as_array,
    is_bfloat16,
    require_choice,
    require_dtype,
    require_dtype_name,
    require_integer,
    require_matrix,
    require_number,
    require_scale,
    shown,
)


class Stage:
    """A step of an output pipeline; ``>>`` composes steps.

    native: the stage of the kernels, whose row of their table says which types it takes.
    arguments, keywords: for the class, from which pickle and copy make the stage again.
    """

    def __init__(
        self, native: _fbg.Stage, text: str, *arguments: object, **keywords: object
    ) -> None:
        self._native = native
        self._row = native.row
        self._types = native.types  # type of input -> type of result
        self._text = text
        self._again = again(type(self), *arguments, **keywords)

    def __reduce__(self) -> Again:
        return self._again

    def __rshift__(self, other: Stage | Pipeline) -> Pipeline:
        return Pipeline([self]) >> other

    def __repr__(self) -> str:
        return self._text


class Pipeline:
    """A sequence of at most 24 stages.

    Raises TypeError if a stage does not accept the type that the previous one returns, or follows a
    stage that must be the last; ValueError for too many stages.

    >>> Pipeline([Dequantize(), ReLU()])
    Dequantize() >> ReLU()
    """

    def __init__(self, stages: Iterable[Stage | Pipeline] = ()) -> None:
        flat: list[Stage] = []
        for item in _items(stages, "pipeline: stages must be a list"):
            if isinstance(item, Pipeline):
                flat.extend(item.stages)
            elif isinstance(item, Stage):
                flat.append(item)
            else:
                raise TypeError(f"pipeline: every item must be a stage, got {_not_a_stage(item)}")
        self.stages: tuple[Stage, ...] = tuple(flat)
        possible = {"acc", "float32"}  # the input of the first stage
        before = "the accumulator"
        for position, stage in enumerate(flat):
            following = {stage._types[t] for t in possible if t in stage._types}
            if not following:
                takes, gives = " or ".join(stage._types), " or ".join(sorted(possible))
                name = type(stage).__name__
                message = f"pipeline: {name} takes {takes}, but {before} gives {gives}"
                raise TypeError(message)
            possible, before = following, type(stage).__name__
            if stage._row.ends and position + 1 < len(flat):
                name = type(flat[position + 1]).__name__
                raise TypeError(f"pipeline: {before} must be the last stage; put {name} before it")
        if len(flat) > _fbg.MAX_STAGES:
            wanted = f"pipeline: must have at most {_fbg.MAX_STAGES} stages"
            raise ValueError(f"{wanted}, got {len(flat)}")
        self._native = [stage._native for stage in flat]
        self._gives_bfloat16 = possible == {"bfloat16"}

    @classmethod
    def of(cls, stages: Pipeline | Stage | Iterable[Stage] | None, function: str) -> Pipeline:
        """Return the pipeline for an argument that is a pipeline, a stage, stages or None."""
        if isinstance(stages, Pipeline):
            return stages
        if stages is None:
            return _NO_STAGES
        if isinstance(stages, Stage):
            return cls([stages])
        wanted = f"{function}: pipeline must be a Pipeline, a stage or a list of stages"
        return cls(_items(stages, wanted))

    def __rshift__(self, other: Stage | Pipeline) -> Pipeline:
        return Pipeline([self, other])

    def __len__(self) -> int:
        return len(self.stages)

    def __reduce__(self) -> Again:
        return again(Pipeline, self.stages)

    def __repr__(self) -> str:
        return " >> ".join(map(repr, self.stages)) or "Pipeline()"


def _items(stages: object, wanted: str) -> Iterable[Any]:
    """Return the container of stages; else TypeError, which begins with what is wanted."""
    if isinstance(stages, Iterable) and not isinstance(stages, (str, bytes, np.ndarray)):
        return stages
    raise TypeError(f"{wanted}, got {_not_a_stage(stages)}")


def _not_a_stage(item: object) -> str:
    """Return the object that was given in place of a stage, and how such a stage is made."""
    if isinstance(item, type) and issubclass(item, Stage):
        return f"the class {item.__name__}; write {item.__name__}(…)"
    return shown(item)


_NO_STAGES = Pipeline()


class CorrectZeroPoints(Stage):
    """acc → int32: corrects the sums for zero points, exactly.

    Returns ``acc - zA_i colsum_j - zB_j rowsum_i + K zA_i zB_j`` for row i and column j, where zA
    and zB are the zero points of the operands.

    >>> CorrectZeroPoints()
    CorrectZeroPoints()
    """

    def __init__(self) -> None:
        super().__init__(_fbg.stage("CorrectZeroPoints"), "CorrectZeroPoints()")


class Dequantize(Stage):
    """acc or int32 → float32: ``float32(corrected) * (sA_i * sB_j)``, with the operands' scales.

    Sums of type acc are first corrected for zero points, as by `CorrectZeroPoints`.

    >>> Dequantize()
    Dequantize()
    """

    def __init__(self) -> None:
        super().__init__(_fbg.stage("Dequantize"), "Dequantize()")


class Bias(Stage):
    """Adds one value per column.

    Args:
        values: (N,): float32 after Dequantize, or int32 in units of sA * sB before it. The stage
            refers to a contiguous array and copies any other.

    >>> import numpy as np
    >>> Bias(np.ones(4, np.float32))
    Bias(float32[4])
    """

    def __init__(self, values: object) -> None:
        array = as_array(values, "Bias: values")
        require_dtype(array, "Bias: values", "float32", "int32")
        if array.ndim != 1:
            raise ValueError(f"Bias: values must be 1-D (N,), got shape {array.shape}")
        array = np.ascontiguousarray(array)
        text = f"Bias({array.dtype}[{array.size}])"
        super().__init__(_fbg.stage("Bias", operand=array), text, array)


class ReLU(Stage):
    """``max(x, 0)`` on int32 or float32; NaN stays NaN.

    >>> ReLU()
    ReLU()
    """

    def __init__(self) -> None:
        super().__init__(_fbg.stage("ReLU"), "ReLU()")


class GELU(Stage):
    """``x * Phi(x)`` on float32; absolute error at most 1e-6 on [-10, 10].

    Args:
        approximate: ``"none"``, the exact (erf) form, or ``"tanh"``:
            ``0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))``.

    >>> GELU()
    GELU()
    """

    def __init__(self, approximate: Literal["none", "tanh"] = "none") -> None:
        require_choice(approximate, "GELU: approximate", "none", "tanh")
        if approximate == "tanh":
            super().__init__(_fbg.stage("GELUTanh"), "GELU(approximate='tanh')", "tanh")
        else:
            super().__init__(_fbg.stage("GELU"), "GELU()")


class Tanh(Stage):
    """``tanh(x)`` on float32; absolute error at most 5e-7.

    >>> Tanh()
    Tanh()
    """

    def __init__(self) -> None:
        super().__init__(_fbg.stage("Tanh"), "Tanh()")


class Sigmoid(Stage):
    """``1 / (1 + exp(-x))`` on float32; absolute error at most 5e-7.

    >>> Sigmoid()
    Sigmoid()
    """

    def __init__(self) -> None:
        super().__init__(_fbg.stage("Sigmoid"), "Sigmoid()")


class Clip(Stage):
    """``min(max(x, lo), hi)`` on float32; NaN stays NaN.

    Args:
        lo, hi: floats, not NaN, ``lo <= hi``.

    >>> Clip(0, 6)
    Clip(0.0, 6.0)
    """

    def __init__(self, lo: float, hi: float) -> None:
        lo, hi = require_number(lo, "Clip: lo"), require_number(hi, "Clip: hi")
        super().__init__(_fbg.stage("Clip", (lo, hi)), f"Clip({lo}, {hi})", lo, hi)


class Scale(Stage):
    """``x * factor`` on float32.

    Args:
        factor: finite float.

    >>> Scale(0.125)
    Scale(0.125)
    """

    def __init__(self, factor: float) -> None:
        factor = require_number(factor, "Scale: factor")
        if not np.isfinite(np.float32(factor)):
            raise ValueError(f"Scale: factor must be finite in float32, got {factor}")
        super().__init__(_fbg.stage("Scale", (factor,)), f"Scale({factor})", factor)


class Cast(Stage):
    """float32 → float16 or bfloat16, rounded half to even. Must be the last stage.

    Args:
        dtype: float16 or bfloat16, as a name, or as ``np.float16`` or ``ml_dtypes.bfloat16``.

    >>> Cast("bfloat16")
    Cast(bfloat16)
    """

    def __init__(self, dtype: npt.DTypeLike) -> None:
        name = require_dtype_name(dtype, "Cast: dtype", "float16", "bfloat16")
        super().__init__(_fbg.stage("Cast", type=name), f"Cast({name})", name)


class Add(Stage):
    """``x + residual[i, j]`` on float32, or ``x + scale * (residual[i, j] - zero_point)``.

    Args:
        residual: (M, N), or (N, *spatial, O) for a convolution: float32, float16 or
            ``ml_dtypes.bfloat16``, or quantized uint8 or int8. Its rows must be contiguous and may
            be any distance apart. The stage keeps a reference and makes no copy. It may also be the
            `out` of the product if the sizes of their elements are equal.
        scale: the scale of a quantized residual: a float, finite and positive.
        zero_point: the zero point of a quantized residual: an int within the range of its dtype.

    Quantized elements are dequantized to ``float32(scale) * float32(q - zero_point)``, and this is
    rounded to float32 before it is added.

    >>> import numpy as np
    >>> Add(np.zeros((2, 3), np.float32))
    Add(float32[2, 3])
    >>> Add(np.zeros((2, 3), np.uint8), scale=0.5, zero_point=128)
    Add(uint8[2, 3], scale=0.5, zero_point=128)
    """

    def __init__(
        self, residual: object, *, scale: float | None = None, zero_point: int = 0
    ) -> None:
        name = "Add: residual"
        given = array = as_array(residual, name, refers=True)
        value, point = 1.0, 0
        require_dtype(array, name, "float32", "float16", "bfloat16", "uint8", "int8")
        if array.ndim > 2:  # pixels of images: rows, where that needs no copy
            rows = array.reshape(-1, array.shape[-1])
            array = rows if array.size == 0 or np.shares_memory(rows, array) else array
        require_matrix(array, name, "(M, N)")
        text = f"{array.dtype}[{array.shape[0]}, {array.shape[1]}]"
        if array.dtype.kind in "iu":
            if scale is None:
                raise TypeError(f"Add: a residual of {array.dtype} needs its scale")
            value = require_scale(scale, "Add: scale")
            limits = np.iinfo(array.dtype)
            point = require_integer(zero_point, "Add: zero_point", int(limits.min), int(limits.max))
            text += f", scale={scale}, zero_point={point}"
        elif scale is not None or require_integer(zero_point, "Add: zero_point", -128, 255):
            raise TypeError(
                f"Add: scale and zero_point require a uint8 or int8 residual, got {array.dtype}"
            )
        bits = array.view(np.uint16) if is_bfloat16(array) else array
        native = _fbg.stage("Add", (value, point), bits)
        factor = None if scale is None else float(scale)
        super().__init__(native, f"Add({text})", given, scale=factor, zero_point=point)


class Requantize(Stage):
    """acc, int32 or float32 → uint8 or int8. Must be the last stage.

    Returns ``q = saturate(rint(r) + zero_point)``, where rint rounds half to even and ``r`` is
    ``float32(corrected) * ((sA_i * sB_j) / scale)`` for sums, or ``x / scale`` for float32.

    Args:
        scale: the scale of the result: a float, finite and positive.
        zero_point: the zero point of the result, within the range of `dtype`.
        dtype: uint8 or int8.

    >>> Requantize(0.1, 3)
    Requantize(scale=0.1, zero_point=3, uint8)
    """

    def __init__(self, scale: float, zero_point: int = 0, dtype: npt.DTypeLike = np.uint8) -> None:
        name = require_dtype_name(dtype, "Requantize: dtype", "uint8", "int8")
        value = require_scale(scale, "Requantize: scale")
        limits = np.iinfo(name)
        point = require_integer(
            zero_point, "Requantize: zero_point", int(limits.min), int(limits.max)
        )
        super().__init__(
            _fbg.stage_requantize(value, point, name),
            f"Requantize(scale={scale}, zero_point={point}, {name})",
            float(scale),
            point,
            name,
        )


class RowRange(Stage):
    """Writes the minimum and maximum of each row to `out`; the values themselves do not change.

    `PackAWithQuantRowOffset` can then quantize the rows without searching them. Must be the last
    stage, after float32.

    Args:
        out: (M, 2) float32, C-contiguous, aligned to 8 bytes and writeable. Each product writes
            ``[min, max]`` of row i to ``out[i]``. Zeros are written as +0; if the row contains a
            NaN, both are NaN; if it has no columns, they are ``[inf, -inf]``.

    >>> import numpy as np
    >>> import fbg
    >>> extents = np.empty((1, 2), np.float32)
    >>> w = fbg.PackedB(np.array([[2, -3, 1]], np.float32), dtype="float32")
    >>> fbg.gemm(fbg.PackA(np.ones((1, 1), np.float32)), w, RowRange(extents))
    array([[ 2., -3.,  1.]], dtype=float32)
    >>> extents
    array([[-3.,  2.]], dtype=float32)
    """

    def __init__(self, out: npt.NDArray[np.float32]) -> None:
        if not isinstance(out, np.ndarray):
            raise TypeError(f"RowRange: out must be a NumPy array, got {type(out).__name__}")
        require_dtype(out, "RowRange: out", "float32")
        require_matrix(out, "RowRange: out", "(M, 2)")
        text = f"RowRange(float32[{len(out)}, 2])"
        super().__init__(_fbg.stage("RowRange", operand=out), text, out)
