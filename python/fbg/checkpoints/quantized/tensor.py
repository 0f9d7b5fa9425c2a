"""A weight that a checkpoint stores as codes with scales. Whoever reads it as floats gets

    scale * (code - zero_point)

in float32, computed anew each time; a product of integers takes the codes themselves. `Module` has
the tensors of which the weight of one layer is made, checked; behind it are readers of codes of
less than 8 bits in larger integers, and of floats of 4 and 8 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.arrays import Floats
from fbg.checkpoints.mapped_file import StoredTensor
from fbg.errors import ModelError
from fbg.matmul.weights import INT4_DTYPES, PackedWeight, int4_name

Codes = npt.NDArray[Any]
Rows = slice | npt.NDArray[np.intp]
HALF_LIMIT = float(np.finfo(np.float16).max)  # of scales and offsets of int4 weights
# Numbers of inputs that may share a scale of int4 weights, the largest first.
GROUPS = sorted({layout.group for layout in INT4_DTYPES.values()}, reverse=True)
LARGEST = 1 << 40  # more rows or columns than any weight has
Bytes = npt.NDArray[np.uint8]

FP8 = ("float8_e4m3fn", "float8_e5m2")
# Values of the codes of e2m1, of which the highest bit is the sign (OCP Microscaling, 5.3.3).
_HALF = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
FP4 = np.array([*_HALF, *(-value for value in _HALF)], np.float32)


@dataclass(frozen=True, eq=False)
class Scales:
    """What the codes of a weight (N, K) are worth.

    scale: (N, G) float32. zero_point: (N, G) int32; None: all of them are 0. size: inputs of a
    group; the last may have fewer. groups: (K,) the group of each input; None: inputs of a group
    are neighbours.
    """

    scale: Floats
    zero_point: npt.NDArray[np.int32] | None
    size: int
    groups: npt.NDArray[np.int32] | None = None

    def of_inputs(self, values: npt.NDArray[Any], inputs: int) -> npt.NDArray[Any]:
        """Return (N, K): the element of the group of each input."""
        if values.shape[1] == 1:
            return values
        if self.groups is None:
            return np.repeat(values, self.size, axis=1)[:, :inputs]
        return values[:, self.groups]

    def rows(self, span: Rows) -> Scales:
        points = None if self.zero_point is None else self.zero_point[span]
        return replace(self, scale=self.scale[span], zero_point=points)


@dataclass(frozen=True, eq=False)
class Words:
    """Codes of 4 bits plus 8 in int32, the lowest bits first, as kernels pack them: (N, K / 8), or
    of outputs 0, 2, 4, 6, 1, 3, 5, 7 of 8, (N / 8, K).
    """

    values: npt.NDArray[np.int32]
    of_outputs: bool = False

    def rows(self, span: Rows) -> npt.NDArray[np.int32] | None:
        """Return those of some outputs; None if they are not whole words."""
        if self.of_outputs:
            if not isinstance(span, slice) or span.start % 8 or span.stop % 8:
                return None
            span = slice(span.start // 8, span.stop // 8)
        return np.require(self.values[span], None, ["ALIGNED"])


@dataclass(frozen=True)
class QuantizedTensor(StoredTensor):
    """A weight of linear layers, (N, K), made of several tensors of a file.

    parts: the tensors. bits: of a code; 0 for codes that are no integers. codes: returns them,
    (N, K), as int8 or float32. words: returns the same without unpacking them; None: they are in no
    such words. scales: returns the rest. first: the row of the tensors at which it begins. order:
    the rows of the tensors, if they are in another order.

    Both functions raise ModelError for values that have no meaning.
    """

    parts: Sequence[StoredTensor] = field(kw_only=True)
    bits: int = field(kw_only=True)
    codes: Callable[[], Codes] = field(kw_only=True)
    words: Callable[[], Words] | None = field(kw_only=True, default=None)
    scales: Callable[[], Scales] = field(kw_only=True)
    first: int = field(kw_only=True, default=0)
    order: npt.NDArray[np.intp] | None = field(kw_only=True, default=None)

    @property
    def span(self) -> Rows:
        """The rows of the tensors that it has."""
        span = slice(self.first, self.first + self.shape[0])
        return span if self.order is None else self.order[span]

    def view(self) -> npt.NDArray[Any]:
        """Return the weight as float32."""
        scales = self.own_scales()
        values = self.own_codes().astype(np.float32, order="C")
        if scales.zero_point is not None:
            values -= scales.of_inputs(scales.zero_point, self.shape[1])
        with np.errstate(over="ignore", invalid="ignore"):  # its reader reports what overflows
            values *= scales.of_inputs(scales.scale, self.shape[1])
        return values

    def rows(self, first: int, count: int) -> QuantizedTensor:
        return replace(self, shape=(count, self.shape[1]), first=self.first + first)

    def ordered(self, order: npt.NDArray[np.intp]) -> QuantizedTensor:
        """Return some rows in another order."""
        rows = np.arange(self.first + self.shape[0]) if self.order is None else self.order
        shape = order.size, self.shape[1]
        return replace(self, shape=shape, first=0, order=rows[self.first + order])

    def release(self) -> None:
        for part in self.parts:
            part.release()

    def own_codes(self) -> Codes:
        """Return the codes of the rows of this weight."""
        return self.codes()[self.span]

    def own_scales(self) -> Scales:
        """Return the scales of the rows of this weight."""
        return self.scales().rows(self.span)

    def kernel_dtype(self) -> str | None:
        """Return the dtype of the packed weights that can hold the codes; None if none does."""
        if not self.bits:
            return None
        scales = self.own_scales()
        if scales.groups is not None or not np.isfinite(scales.scale).all():
            return None
        if self.bits == 8:
            return "int8" if scales.scale.shape[1] == 1 and (scales.scale > 0).all() else None
        size, offset = self._kernel_group(scales), _offset(scales)
        values = [scales.scale] if offset is None else [scales.scale, offset]
        if size is None or any(np.abs(value).max() > HALF_LIMIT for value in values):
            return None
        return int4_name(size, symmetric=offset is None)

    def _kernel_group(self, scales: Scales) -> int | None:
        """Return the largest group of int4 kernels of which each group consists."""
        if scales.scale.shape[1] == 1:
            return GROUPS[0]
        return next((group for group in GROUPS if scales.size % group == 0), None)


def _stored_codes(parts: Sequence[QuantizedTensor]) -> tuple[list[npt.NDArray[Any]], bool]:
    """Return the codes of weights, as words if all have such, and whether these are of outputs."""
    words = [part.words() for part in parts if part.words is not None]
    forms = {each.of_outputs for each in words}
    if len(words) == len(parts) and len(forms) == 1:
        rows = [each.rows(part.span) for each, part in zip(words, parts, strict=True)]
        found = [each for each in rows if each is not None]
        if len(found) == len(parts):
            return found, forms.pop()
    return [part.own_codes() for part in parts], False


def pack_stored(parts: Sequence[QuantizedTensor], dtype: str, num_threads: int) -> PackedWeight:
    """Return weights side by side, packed with the codes that they have; `dtype` holds all."""
    codes, of_outputs = _stored_codes(parts)
    inputs = parts[0].shape[1]
    scales = [part.own_scales() for part in parts]
    if dtype == "int8":
        scale = np.concatenate([each.scale[:, 0] for each in scales])
        zeros = [
            np.zeros(len(each.scale), np.int32)
            if each.zero_point is None
            else each.zero_point[:, 0]
            for each in scales
        ]
        point = np.concatenate(zeros)
        points = point if point.any() else None
        return _fbg.pack_codes(
            codes, inputs, of_outputs, dtype, scale, points, None, None, num_threads
        )
    group, symmetric = INT4_DTYPES[dtype]

    def of_groups(values: Sequence[Floats]) -> npt.NDArray[np.uint16]:
        """Return (ceil(K / group), N) float16 as bits."""
        first = np.arange(0, inputs, group)
        spread = [
            value[:, np.minimum(first // each.size, value.shape[1] - 1)]
            for value, each in zip(values, scales, strict=True)
        ]
        return np.ascontiguousarray(np.concatenate(spread).T, np.float16).view(np.uint16)

    offsets = None
    if not symmetric:
        found = [_offset(each) for each in scales]
        none = [np.zeros_like(each.scale) for each in scales]
        offsets = of_groups([z if o is None else o for o, z in zip(found, none, strict=True)])
    factors = of_groups([each.scale for each in scales])
    return _fbg.pack_codes(
        codes, inputs, of_outputs, dtype, None, None, factors, offsets, num_threads
    )


def common_dtype(parts: Sequence[StoredTensor]) -> str | None:
    """Return the dtype that holds the codes of weights side by side; None if there is none."""
    found: set[str] = set()
    for part in parts:
        dtype = part.kernel_dtype() if isinstance(part, QuantizedTensor) else None
        if dtype is None:
            return None
        found.add(dtype)
    if len(found) == 1:
        return found.pop()
    if not found <= set(INT4_DTYPES):
        return None
    # Smaller groups hold larger ones, and offsets may be 0.
    layouts = [INT4_DTYPES[name] for name in found]
    symmetric = all(layout.symmetric for layout in layouts)
    return int4_name(min(layout.group for layout in layouts), symmetric)


def _offset(scales: Scales) -> Floats | None:
    """Return what is added to scale * code; None if it is nothing."""
    if scales.zero_point is None:
        return None
    offset: Floats = scales.scale * -scales.zero_point.astype(np.float32)
    return offset


@dataclass(frozen=True)
class Module:
    """A layer by its name in the file, which its tensors have before theirs: {name}.{part}."""

    name: str
    parts: Mapping[str, StoredTensor]

    def __contains__(self, part: str) -> bool:
        return part in self.parts

    def get(self, part: str, dtypes: Sequence[str], *shapes: tuple[int, ...]) -> StoredTensor:
        """Return a tensor that must have one of the types and one of the shapes, any shape if
        none is given; raises ModelError.
        """
        if part not in self.parts:
            path = next(iter(self.parts.values())).path
            raise ModelError(f"{path}: tensor {self.name}.{part} is missing")
        tensor = self.parts[part]
        if tensor.dtype not in dtypes:
            raise tensor.error(f"must have dtype {', '.join(dtypes)}, got {tensor.dtype}")
        if shapes and tensor.shape not in shapes:
            wanted = " or ".join(map(str, dict.fromkeys(shapes)))
            raise tensor.error(f"must have shape {wanted}, got {tensor.shape}")
        return tensor

    def matrix(self, part: str, dtypes: Sequence[str]) -> StoredTensor:
        """Return a tensor that must have two axes, neither of them empty."""
        tensor = self.get(part, dtypes)
        if len(tensor.shape) != 2 or 0 in tensor.shape:
            raise tensor.error(f"must be a matrix, got shape {tensor.shape}")
        return tensor

    def weight(
        self,
        main: StoredTensor,
        shape: tuple[int, int],
        bits: int,
        codes: Callable[[], Codes],
        scales: Callable[[], Scales],
        words: Callable[[], Words] | None = None,
    ) -> QuantizedTensor:
        """Return the weight, of shape (outputs, inputs). main: the tensor of its codes."""
        return QuantizedTensor(
            main.file,
            f"{self.name}.weight",
            "float32",
            shape,
            main.begin,
            parts=tuple(self.parts.values()),
            bits=bits,
            codes=codes,
            words=words,
            scales=scales,
        )


def group_count(tensor: StoredTensor, inputs: int, size: int) -> int:
    """Return how many groups the inputs have; raises ModelError if one would be shorter."""
    if size < 1 or inputs % size:
        raise tensor.error(f"has {inputs} inputs, which groups of {size} do not divide")
    return inputs // size


def read_scale(tensor: StoredTensor) -> Floats:
    """Return scales as float32; raises ModelError for those that are not finite."""
    scale = np.asarray(tensor.view(), np.float32)
    if not np.isfinite(scale).all():
        raise tensor.error("holds NaN or infinite values")
    return scale


def read_groups(tensor: StoredTensor, count: int, size: int) -> npt.NDArray[np.int32] | None:
    """Return the group of each input, None if those of a group are neighbours, in order.

    Raises ModelError unless each input belongs to one of `count` groups of `size` inputs at most.
    """
    groups = tensor.view()
    if groups.min() < 0 or groups.max() >= count:
        got = f"{groups.min()} to {groups.max()}"
        raise tensor.error(f"must name one of {count} groups for each input, got {got}")
    members = np.bincount(groups, minlength=count)
    if members.max() > size:
        raise tensor.error(
            f"must be a permutation of groups of {size} inputs, got {members.max()} inputs in "
            f"group {members.argmax()}"
        )
    in_order = np.array_equal(groups, np.arange(groups.size) // size)
    return None if in_order else groups.astype(np.int32)


def points_or_none(points: npt.NDArray[np.int32]) -> npt.NDArray[np.int32] | None:
    """Return zero points; None if all of them are 0."""
    return points if points.any() else None


def unpack(words: npt.NDArray[Any], bits: int, count: int) -> Bytes:
    """Return (rows, count) codes of 2, 3, 4 or 8 bits of the rows of int32 words, or of bytes: the
    lowest bits come first.
    """
    octets = np.ascontiguousarray(words).view(np.uint8)
    if bits == 8:
        return octets[:, :count]
    if bits < 4:
        each = np.unpackbits(octets, axis=1, count=count * bits, bitorder="little")
        return np.packbits(
            each.reshape(len(octets), count, bits), axis=2, bitorder="little"
        ).reshape(len(octets), count)
    pairs = octets.astype("<u2")  # a code in each byte
    pairs |= pairs << 4
    pairs &= 0x0F0F
    return pairs.view(np.uint8)[:, :count]


def centred(codes: Bytes, bits: int) -> npt.NDArray[np.int8]:
    """Return codes less half of their range, which fit in int8."""
    half = np.uint8(1 << bits - 1)
    return (codes ^ half if bits == 8 else codes - half).view(np.int8)


def read_fp8(tensor: StoredTensor) -> Floats:
    """Return floats of 8 bits; raises ModelError for those that are no numbers."""
    values = tensor.view().astype(np.float32)
    if not np.isfinite(values).all():
        raise tensor.error("holds NaN or infinite values")
    return values
