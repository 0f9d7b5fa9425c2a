"""bitsandbytes: LLM.int8() (arXiv:2208.07339), and 4 bits that index a table (arXiv:2305.14314).

weight         (N, K), int8              of LLM.int8()
SCB            (N,)                      the largest magnitude of each row, for the code 127

weight         (ceil(N * K / 2), 1), uint8   of 4 bits: two codes, the first in the upper half
weight.quant_map                         (16,) what codes stand for, times
weight.absmax                            the factor of each block of codes; if these are
                                         quantized themselves, bytes that index
weight.nested_quant_map                  (256,) with
weight.nested_absmax                     factors of their own, plus an offset
weight.quant_state.bitsandbytes__nf4     JSON as bytes: shape, sizes of blocks, the offset
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fbg.arrays import Floats
from fbg.checkpoints.mapped_file import FLOATS
from fbg.checkpoints.quantized.tensor import (
    LARGEST,
    Codes,
    Module,
    QuantizedTensor,
    Scales,
    read_scale,
)
from fbg.checkpoints.settings import Settings
from fbg.files import parse_json

KINDS = ("nf4", "fp4")
STATES = tuple(f"weight.quant_state.bitsandbytes__{kind}" for kind in KINDS)
PARTS = (
    *("weight", "SCB", "weight_format", "weight.absmax", "weight.quant_map"),
    *("weight.nested_absmax", "weight.nested_quant_map", *STATES),
)
IRRELEVANT = """
    llm_int8_* bnb_4bit_* _load_in_* load_in_* modules_to_not_convert"""


def read(settings: Settings) -> Callable[[Module], QuantizedTensor]:
    """Return the reader of a layer."""
    if settings.flag("load_in_8bit") == settings.flag("load_in_4bit"):
        raise settings.error("load_in_4bit", "true, or load_in_8bit, and not both")
    return _int8 if settings.flag("load_in_8bit") else _four_bits


def _int8(module: Module) -> QuantizedTensor:
    main = module.matrix("weight", ("int8",))
    outputs, inputs = main.shape
    largest = module.get("SCB", FLOATS, (outputs,))
    if "weight_format" in module:
        form = module.get("weight_format", ("uint8",), (), (1,))
        if form.view().any():
            raise form.error(f"must be 0, for rows, got {form.view()}")

    def scales() -> Scales:
        return Scales(read_scale(largest)[:, None] / np.float32(127), None, inputs)

    return module.weight(main, (outputs, inputs), 8, main.view, scales)


@dataclass(frozen=True)
class _State:
    """The JSON of a weight of 4 bits: its shape, codes of a block, and factors of a block."""

    shape: tuple[int, int]
    block: int
    nested_block: int
    offset: float


def _four_bits(module: Module) -> QuantizedTensor:
    main = module.get("weight", ("uint8",))
    state = _read_state(module)
    count = math.prod(state.shape)
    module.get("weight", ("uint8",), (math.ceil(count / 2), 1))
    table = module.get("weight.quant_map", FLOATS, (16,))
    factors = math.ceil(count / state.block)
    largest = module.get("weight.absmax", (*FLOATS, "uint8"), (factors,))
    nested = None
    if largest.dtype == "uint8":
        blocks = math.ceil(factors / state.nested_block)
        nested = (
            module.get("weight.nested_quant_map", FLOATS, (256,)),
            module.get("weight.nested_absmax", FLOATS, (blocks,)),
        )

    def factor() -> Floats:
        if nested is None:
            return read_scale(largest)
        inner = np.repeat(read_scale(nested[1]), min(state.nested_block, factors))[:factors]
        factors_of_blocks: Floats = read_scale(nested[0])[largest.view()]
        return factors_of_blocks * inner + np.float32(state.offset)

    def codes() -> Codes:
        octets = main.view().reshape(-1)
        halves = np.stack([octets >> 4, octets & 15], axis=1).reshape(-1)[:count]
        values = read_scale(table)[halves]
        values *= np.repeat(factor(), min(state.block, count))[:count]
        return values.reshape(state.shape)

    def scales() -> Scales:
        return Scales(np.ones((state.shape[0], 1), np.float32), None, state.shape[1])

    return module.weight(main, state.shape, 0, codes, scales)


def _read_state(module: Module) -> _State:
    part = next((part for part in STATES if part in module), STATES[0])
    tensor = module.get(part, ("uint8",))
    try:
        state: Any = parse_json(tensor.view().tobytes())
        shape, offset = state["shape"], float(state.get("nested_offset", 0.0))
        sizes = [*shape, state["blocksize"], state.get("nested_blocksize", 1)]
        if len(shape) != 2 or any(type(n) is not int or not 0 < n <= LARGEST for n in sizes):
            raise ValueError("its sizes are none")
        if not math.isfinite(offset):
            raise ValueError("its offset is not finite")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise tensor.error(f"must describe a weight: {error!r:.80}") from None
    return _State((shape[0], shape[1]), sizes[2], sizes[3], offset)
