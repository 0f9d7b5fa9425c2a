"""Products of tensors: either with constant weights and an output pipeline, or of two variables.

A product with constant weights is a convolution, or linear: a convolution with a kernel of size 1
over the rows of x. `post` changes its results before they are written.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fbg.arrays import Array
from fbg.graph.epilogue import Epilogue, Sums, sums_pipeline
from fbg.graph.ops.op import Value
from fbg.graph.ops.tensors import Sizes, TensorOp, shape_of
from fbg.graph.packed_weights import Packer, Weights
from fbg.graph.steps import Quantization, Step

BLOCK = 2**20  # elements that are checked together


@dataclass(frozen=True)
class IntegerWeights:
    """int8 weights with float32 scales and integer zero points, () or one for each channel."""

    integers: Weights
    scale: Array
    zero_point: Array


@dataclass(frozen=True)
class Part:
    """The channels of a tensor that a product writes. before: the product that writes others."""

    channels: int
    first: int


@dataclass(frozen=True, eq=False)
class Product(TensorOp):
    """A product with constant weights.

    w: (O, I / groups, *kernel), float32, bfloat16 or int8. options: for `PackedConv`. bias: float32
    (O,), or int32 in units of the sums. result: the form of the sums before `post`: "sums"
    (integers, with `post` to follow), "int32" (corrected for zero points) or "float32". algorithm:
    "" leaves it to the cost model. alternative: the same weights as integers, if any, for an
    integer x. computed_scale, computed_zero_point: those of x if runs compute them, tensors of one
    element. part, before: set if the result is a part of a tensor, which `before` writes, too.
    """

    x: Value
    w: Weights
    shape: Sizes
    options: Mapping[str, Any] = field(default_factory=dict)
    w_scale: Array | None = None
    w_zero_point: Array | None = None
    x_scale: float | None = None
    x_zero_point: int = 0
    bias: Array | None = None
    result: str = "float32"
    post: tuple[Step, ...] = ()
    residual: Value | None = None
    computed_scale: Value | None = None
    computed_zero_point: Value | None = None
    algorithm: str = ""
    alternative: IntegerWeights | None = None
    part: Part | None = None
    before: Value | None = None

    def element_type(self) -> str:
        if self.post and isinstance(self.post[-1], Quantization):
            return self.post[-1].dtype
        return "int32" if self.result == "int32" else "float32"

    def infer(self) -> Sizes:
        if self.part is None:
            return self.checked(self.shape)
        axis = self.channel_axis
        return (*self.shape[:axis], self.part.channels, *self.shape[axis + 1 :])

    def describe(self, numbers: Mapping[Value, str]) -> list[str]:
        steps = ("stride", "dilation")
        sizes = {name: self.options.get(name, (1,)) for name in steps}
        shown = [f"{name}={list(own)}" for name, own in sizes.items() if set(own) != {1}]
        if self.options.get("groups", 1) != 1:
            shown.append(f"groups={self.options['groups']}")
        if self.options.get("transposed"):
            shown.append("transposed")
        if self.bias is not None:
            shown.append("bias")
        residual = "" if self.residual is None else numbers[self.residual]
        shown += [step.text(residual) for step in self.post]
        for name in ("computed_scale", "computed_zero_point"):
            if (value := getattr(self, name)) is not None:
                shown.append(f"{name.removeprefix('computed_')}={numbers[value]}")
        if self.part is not None:
            end = self.part.first + self.out_channels
            shown.append(f"channels={self.part.first}:{end}")
        if self.before is not None:
            shown.append(f"before={numbers[self.before]}")
        return [numbers[self.x], f"{self.w.dtype}{list(self.w.shape)}", *shown]

    @property
    def channel_axis(self) -> int:
        """The axis of the result that counts output channels."""
        raise NotImplementedError

    @property
    def pixels(self) -> Sizes:
        """The shape of x in the layout of `PackedConv`: (N, *spatial, C)."""
        raise NotImplementedError

    @property
    def is_integer(self) -> bool:
        """Whether it multiplies integers."""
        return self.w.dtype == np.int8

    @property
    def out_channels(self) -> int:
        """Channels of the result."""
        if self.options.get("transposed"):
            return self.w.shape[1] * int(self.options.get("groups", 1))
        return self.w.shape[0]

    def packed_options(self) -> dict[str, Any]:
        """Return the arguments of `PackedConv` besides the weights."""
        if not self.is_integer:
            return {"dtype": self.w.dtype.name, **self.options}
        scale = np.float32(1) if self.w_scale is None else self.w_scale
        return {"scale": scale, "zero_point": self.w_zero_point, **self.options}

    def epilogue(self, packer: Packer) -> Epilogue:
        """Return the output pipeline."""
        x_scale = 1.0 if self.x_scale is None else self.x_scale
        if self.is_integer and self.result == "float32":
            scale = np.ones((), np.float32) if self.w_scale is None else self.w_scale
            points = () if self.w_zero_point is None else (self.w_zero_point,)
            axis = 1 if self.options.get("transposed") else 0
            most = packer.once(("most", axis, self.w), points, lambda: self._most(axis))
            return Epilogue.of_integers(Sums(x_scale, scale, most), self.bias, self.post)
        stages = sums_pipeline(self.bias, self.result == "int32", self.post)
        return Epilogue(stages, x_scale)

    def _most(self, axis: int) -> int:
        """Return a bound of the absolute values of all sums: inputs differ by at most 255.

        axis: the axis of w that counts output channels of a group.
        """
        w = np.moveaxis(self.w.make(), axis, 0).reshape(self.w.shape[axis], -1)
        zeros = np.zeros(1, np.int64)
        if self.w_zero_point is not None:
            zeros = np.asarray(self.w_zero_point, np.int64).reshape(-1)
        if zeros.size not in (1, len(w)):  # transposed weights have groups of channels
            return 255 * 255 * w.shape[1]
        zeros = np.broadcast_to(zeros, len(w))[:, None]
        rows = max(1, BLOCK // max(w.shape[1], 1))  # in blocks: int64 takes 8 times as much
        blocks = (slice(i, i + rows) for i in range(0, len(w), rows))
        return 255 * max(
            (int(np.abs(w[i].astype(np.int64) - zeros[i]).sum(1).max()) for i in blocks), default=0
        )


@dataclass(frozen=True, eq=False)
class Conv(Product):
    """A convolution of x (N, C, *spatial)."""

    kind = "conv"

    @property
    def channel_axis(self) -> int:
        return 1

    @property
    def pixels(self) -> Sizes:
        batch, channels, *spatial = shape_of(self.x)
        return (batch, *spatial, channels)


@dataclass(frozen=True, eq=False)
class Linear(Product):
    """x (…, K) times weights (N, K, 1)."""

    kind = "linear"

    @property
    def channel_axis(self) -> int:
        return len(self.shape) - 1

    @property
    def pixels(self) -> Sizes:
        *rows, columns = shape_of(self.x)
        return 1, math.prod(rows), columns


@dataclass(frozen=True, eq=False)
class MatMul(TensorOp):
    """a (…, M, K) times b (…, K, N), as NumPy multiplies stacks of matrices."""

    a: Value
    b: Value
    kind = "matmul"

    def infer(self) -> Sizes:
        a, b = shape_of(self.a), shape_of(self.b)
        if a[-1] != b[-2]:
            raise self.error("b", f"have {a[-1]} rows", b)
        return self.checked((*np.broadcast_shapes(a[:-2], b[:-2]), a[-2], b[-1]))


@dataclass(frozen=True, eq=False)
class Attend(TensorOp):
    """softmax(scale * q k + bias) v, whose scores never reach memory.

    q: (…, M, K). k: (…, K, N). v: (…, N, L). bias: broadcast to (…, M, N). rounds: whether
    products may round to bfloat16.
    """

    q: Value
    k: Value
    v: Value
    bias: Value | None = None
    scale: float = 1.0
    rounds: bool = False
    kind = "attend"

    def infer(self) -> Sizes:
        q, k, v = (shape_of(value) for value in (self.q, self.k, self.v))
        stack = np.broadcast_shapes(np.broadcast_shapes(q[:-2], k[:-2]), v[:-2])
        return self.checked((*stack, q[-2], v[-1]))
