"""Advice for operands of a product that do not fit: looked for only after a failure.

Kernels say what they refuse. The advice that follows from the operands is added to
their message.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np

from fbg.errors import named
from fbg.matmul.packed_b import PackedB
from fbg.matmul.pipeline import Pipeline


class Operand(Protocol):
    """The attributes of a left operand, a PackA, that are used here: packers import this module."""

    rounds: bool
    _options: dict[str, Any]

    @property
    def shape(self) -> tuple[int, int]: ...

    @property
    def dtype(self) -> np.dtype[Any]: ...


@contextmanager
def advising(function: str, a: Operand, b: PackedB, pipeline: Pipeline) -> Iterator[None]:
    """Add the way out to errors of the block. It is slower than to catch them for `advised`."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise advised(error, function, a, b, pipeline) from None


def advised(
    error: Exception, function: str, a: Operand, b: PackedB, pipeline: Pipeline
) -> Exception:
    """Return the error in the name of the function that the user called, and with advice if
    the operands show any.
    """
    error = named(error, function)
    if isinstance(error, TypeError):
        hint = _packer(a, b) or _stages(a, b, pipeline)
    else:
        hint = transposed(a.shape[1], b)
    return type(error)(f"{error}; {hint}") if hint else error


def transposed(k: int, b: PackedB) -> str:
    """Return advice if the weights have been given as (N, K)."""
    rows, columns = b.shape
    if k == rows or k != columns:
        return ""
    return (
        f"weights that are stored as (N, K), here ({rows}, {columns}), are packed with "
        "PackedB(w, transpose=True)"
    )


def _packer(a: Operand, b: PackedB) -> str:
    """Return which packer the weights take, or which weights the packer takes."""
    name, dtype = type(a).__name__, a.dtype.name
    if b.dtype == np.int8 or b.group is not None:
        if name == "PackA" and dtype != "uint8":
            return "PackAWithQuantRowOffset(x) quantizes float32 while it packs"
        if name == "PackA" and b.group is not None:
            return "PackAWithRowOffset(x, scale=…) has scales"
        return ""
    if name.startswith("PackAWith"):
        return "for these weights, pass PackA(x) of float32, or pack them with dtype='int8'"
    if dtype == "uint8":
        return "dequantize it, or pack the weights with dtype='int8'"
    rounded = dtype == "bfloat16" or a.rounds
    differs = rounded and b.dtype.name != "bfloat16"
    return "pack the weights with dtype='bfloat16'" if differs else ""


def _stages(a: Operand, b: PackedB, pipeline: Pipeline) -> str:
    """Return what the first stage that does not fit lacks: another stage before it, or scales."""
    integer = b.dtype == np.int8
    way = refused(pipeline, "acc" if integer else "float32")
    corrects = any(s._types.get("acc", "acc") != "acc" for s in pipeline.stages)
    if way or not (integer and corrects):
        return way
    plain = type(a).__name__ == "PackA"
    if not any(stage._row.scales for stage in pipeline.stages if "acc" in stage._types):
        return "pass PackAWithRowOffset(x, zero_point=…)" if plain else ""
    lacks_scale = plain or a._options.get("scale", 1.0) is None
    missing = ["PackAWithRowOffset(x, scale=…)"] if lacks_scale else []
    missing += ["PackedB(w, scale=…)"] if b.scale is None else []
    return f"pass {' and '.join(missing)}" if missing else ""


def refused(pipeline: Pipeline, given: str) -> str:
    """Return advice for the first stage that does not accept its input, or "".

    given: the type of the sums that a product hands to the first one.
    """
    before = ""
    for stage in pipeline.stages:
        if given not in stage._types:
            return stage._advice({given}, before)
        given, before = stage._types[given], type(stage).__name__
    return ""
