"""Tensors while a native graph is built: where they are, or how to get them.

A tensor of shape (N, C, H, W) may lie in memory with its axes in another order, such as
(N, H, W, C). `order` names the axes from the outermost to the innermost; ops that do not care keep
it, and transposing a tensor only changes it.

A tensor may also be deferred: an elementwise program that has not run yet, which the next
elementwise op extends, a convolution whose epilogue is still open, a product that may be the first
one of attention, or means of windows that may be rounded to integers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.conv.packed_conv import PackedConv
from fbg.errors import ModelError
from fbg.importers.backends.base import Unsupported
from fbg.importers.description import QuantizedWeights
from fbg.importers.ops.conv_trial import trial_of
from fbg.importers.ops.epilogue import Epilogue, Step, Sums, sums_pipeline
from fbg.importers.ops.packed_weights import Packer, Weights
from fbg.tuning.store import store
from fbg.tuning.trials import ConvTrial

__all__ = ["Deferred", "OpenConv", "Program", "Quantized", "Value", "strides_of"]

Array = npt.NDArray[Any]
Order = tuple[int, ...]
BLOCK = 2**20  # elements that are looked at together
ProgramStep = tuple[str, int, int, float, float]


def strides_of(shape: tuple[int, ...], order: Order) -> list[int]:
    """Return the distance between elements along each axis of a dense tensor in that order.

    >>> strides_of((2, 3, 4, 5), (0, 2, 3, 1))
    [60, 1, 15, 3]
    """
    strides, distance = [0] * len(shape), 1
    for axis in reversed(order):
        strides[axis] = distance
        distance *= shape[axis]
    return strides


@dataclass
class Program:
    """An elementwise program: its operands, which are not deferred, and its steps.

    A step is (function, register a, register b, constant, constant); registers are first the
    operands and then the steps. nodes: those of the network that it computes.
    """

    operands: list[Value]
    steps: list[ProgramStep]
    nodes: list[str] = field(default_factory=list)


@dataclass
class Quantized:
    """Integers that stand for ``scale * (q - zero_point)``, one scale for the whole tensor."""

    integers: Value
    scale: float
    zero_point: int

    def integer_of(self, number: float) -> int | None:
        """Return the integer that stands for a number, bit for bit, or None where there is none.

        None stands for what lies outside of the range or between two steps, nor for NaN. Whatever
        puts a number among these integers asks here, and works in float32 where there is none.
        """
        limits = np.iinfo(self.integers.dtype)
        scale = np.float32(self.scale)
        with np.errstate(all="ignore"):
            wanted = np.float32(number)
            q = np.rint(np.float64(wanted) / scale) + self.zero_point
            real = np.float32(q - self.zero_point) * scale
        if not limits.min <= q <= limits.max or real.tobytes() != wanted.tobytes():
            return None
        return int(q)


@dataclass
class OpenConv:
    """A convolution that has not been appended yet.

    x: its input; channels-last, or of a product (rows, K). batch, spatial: of x, three axes.
    w: (O, I / groups, *kernel), float32 or int8. options: of `PackedConv`. bias: float32 (O,), or
    int32 in units of the sums. result: what the sums become before `stages`: "sums" (of integers,
    with `stages` to follow), "int32" (corrected for zero points) or "float32". algorithm: "" leaves
    it to the cost model. nodes: those of the network that it computes. packed: w, until it changes.
    """

    x: Value
    batch: int
    spatial: tuple[int, int, int]
    w: Weights
    options: dict[str, Any]
    w_scale: Array | None = None
    w_zero_point: Array | None = None
    x_scale: float | None = None
    x_zero_point: int = 0
    bias: Array | None = None
    result: str = "float32"
    stages: list[Step] = field(default_factory=list)
    residual: Value | None = None
    algorithm: str = ""
    nodes: list[str] = field(default_factory=list)
    packed: PackedConv | None = None

    @property
    def is_integer(self) -> bool:
        """Whether it multiplies integers."""
        return self.w.dtype == np.int8

    @property
    def channel_axis(self) -> int:
        """The axis of w that counts output channels of a group."""
        return 1 if self.options.get("transposed") else 0

    @property
    def out_channels(self) -> int:
        """Channels of the result."""
        if self.options.get("transposed"):
            return self.w.shape[1] * int(self.options.get("groups", 1))
        return self.w.shape[0]

    def check(self, name: str, x_shape: tuple[int, ...], packer: Packer) -> None:
        """Raise Unsupported unless some algorithm computes it."""
        try:
            self.packed = packed = packer.get(self.w, self._packed_options())
            if not packed.algorithms(x_shape, zero_points=self.w_zero_point is not None):
                raise Unsupported(name, "no algorithm of convolution applies")
        except ModelError:
            raise
        except (TypeError, ValueError) as error:
            raise Unsupported(name, str(error)) from error

    def _packed_options(self) -> dict[str, Any]:
        """Return what `PackedConv` takes beside the weights."""
        if not self.is_integer:
            return {"dtype": "float32", **self.options}
        scale = np.float32(1) if self.w_scale is None else self.w_scale
        return {"scale": scale, "zero_point": self.w_zero_point, **self.options}

    def finish(
        self,
        graph: _fbg.Graph,
        x: int,
        residual: int | None,
        packer: Packer,
        features: int,
        **place: Any,
    ) -> tuple[int, ConvTrial]:
        """Append it to a graph; return its buffer, and how to time it alone.

        x, residual: the buffers of these. packer: packs the weights. features: of
        the CPU that kernels use. place: `channels`, `first` and `before` where the result becomes a
        part of a tensor.
        """
        packed = packer.get(self.w, self._packed_options())
        packer.kept.append(packed)
        epilogue = self._epilogue(packer)
        stages = epilogue.stages
        source = "int8" if self.x.dtype == np.int8 else "native"
        append = partial(
            _fbg.tensor_conv,
            weights=packed._native,
            batch=self.batch,
            spatial=self.spatial,
            stages=stages,
            source=source,
            has_scale=self.is_integer,
            scale=epilogue.x_scale,
            zero_point=self.x_zero_point,
        )
        values = [self.x] if self.residual is None else [self.x, self.residual]
        inputs = [value.size * value.dtype.itemsize for value in values]
        trial = trial_of(append, packed, self.batch, self.spatial, stages, source, inputs, features)
        measured = store.algorithm(trial.key)
        place |= {"residual": residual, "algorithm": self.algorithm, "measured": measured}
        buffer = append(graph, x, **place)
        return buffer, trial

    def _most(self) -> int:
        """Return what no sum exceeds in absolute value: inputs are at most 255 apart."""
        axis = self.channel_axis
        w = np.moveaxis(self.w.make(), axis, 0).reshape(self.w.shape[axis], -1)
        zeros = np.zeros(1, np.int64)
        if self.w_zero_point is not None:
            zeros = np.asarray(self.w_zero_point, np.int64).reshape(-1)
        if zeros.size not in (1, len(w)):  # channels of groups, transposed
            return 255 * 255 * w.shape[1]
        zeros = np.broadcast_to(zeros, len(w))[:, None]
        rows = max(1, BLOCK // max(w.shape[1], 1))  # at a time: as int64, they take 8 times as much
        blocks = (slice(i, i + rows) for i in range(0, len(w), rows))
        return 255 * max(
            (int(np.abs(w[i].astype(np.int64) - zeros[i]).sum(1).max()) for i in blocks), default=0
        )

    def _epilogue(self, packer: Packer) -> Epilogue:
        x_scale = 1.0 if self.x_scale is None else self.x_scale
        if self.is_integer and self.result == "float32":
            scale = np.ones((), np.float32) if self.w_scale is None else self.w_scale
            points = () if self.w_zero_point is None else (self.w_zero_point,)
            most = packer.once(("most", self.channel_axis, self.w), points, self._most)
            sums = Sums(x_scale, scale, most)
            return Epilogue.of_integers(sums, self.bias, self.stages)
        stages = sums_pipeline(self.bias, self.result == "int32", self.stages)
        return Epilogue(stages, x_scale)


class Deferred(Protocol):
    """What computes a tensor when it is asked for, with the ops of a Builder.

    nodes: those of the network that it computes.
    """

    nodes: list[str]

    def compute(self, builder: Any, value: Value) -> int:
        """Append what computes `value`; return its buffer."""
        ...


@dataclass(eq=False)
class Value:
    """A tensor: in a buffer, constant, or deferred as a program, a convolution, integers, or what
    else computes it.

    uses: how many readers it has; a deferred tensor with several is computed once and kept.
    reordered: copies in other orders. array: of a constant. weights: of one that is made of
    integers. origin: the input of
    the part whose elements these are, in any order.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    order: Order
    buffer: int | None = None
    array: Array | None = None
    program: Program | None = None
    conv: OpenConv | None = None
    deferred: Deferred | None = None
    quantized: Quantized | None = None
    weights: QuantizedWeights | None = None
    origin: str | None = None
    uses: int = 1
    reordered: dict[Order, Value] = field(default_factory=dict)

    @property
    def is_constant(self) -> bool:
        """Whether the elements are known."""
        return self.array is not None or self.weights is not None

    @property
    def constant(self) -> Array | None:
        """The elements if they are known: in a new array if they are made of integers."""
        return self.weights.dequantized() if self.weights is not None else self.array

    def as_weights(self) -> Weights | None:
        """Return the elements if they are known, not computed yet if they are made of integers."""
        source = self.array if self.weights is None else self.weights
        return None if source is None else Weights.of(source)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def native_type(self) -> str:
        """Type of the elements as the native graph calls it; bool is stored as uint8."""
        return "uint8" if self.dtype == np.bool_ else str(self.dtype)

    def lies_in(self, order: Order) -> bool:
        """Whether its elements lie as in that order: axes of size 1 may stand anywhere."""
        mine = [axis for axis in self.order if self.shape[axis] != 1]
        return mine == [axis for axis in order if self.shape[axis] != 1]
