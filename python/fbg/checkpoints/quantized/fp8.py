"""Floats of 8 bits with scales: fine-grained FP8 as DeepSeek has it, and fbgemm's.

weight            (N, K), e4m3 or e5m2
weight_scale_inv  factors of blocks, (ceil(N / rows), ceil(K / columns)), or one of all of them
weight_scale      fbgemm: (N, 1)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from fbg.checkpoints.mapped_file import FLOATS, StoredTensor
from fbg.checkpoints.quantized.tensor import (
    FP8,
    LARGEST,
    Module,
    QuantizedTensor,
    Scales,
    read_fp8,
    read_scale,
)
from fbg.checkpoints.settings import Settings

PARTS = ("weight", "weight_scale_inv", "weight_scale", "activation_scale", "input_scale")
IRRELEVANT = """
    activation_scheme activation_scale_ub fmt scale_fmt modules_to_not_convert ignored_layers
    dequantize"""
SCALES = (*FLOATS, "float8_e8m0fnu", "float8_e4m3fn")


def read(settings: Settings) -> Callable[[Module], QuantizedTensor]:
    """Return the reader of a layer; raises ModelError for the settings."""
    block = read_block(settings, "weight_block_size")
    return lambda module: _weight(module, block)


def read_fbgemm(settings: Settings) -> Callable[[Module], QuantizedTensor]:
    """Return the reader of a layer in fbgemm's layout."""
    return _channels


def read_block(settings: Settings, key: str) -> tuple[int, int] | None:
    """Return the rows and columns of blocks that share a factor; None if all of a weight do."""
    block = settings.get(key)
    if block is None:
        return None
    sizes = block if isinstance(block, list) else []
    if len(sizes) != 2 or any(type(n) is not int or not 0 < n <= LARGEST for n in sizes):
        raise settings.error(key, "two integers of at least 1, or null")
    return sizes[0], sizes[1]


def _weight(module: Module, block: tuple[int, int] | None) -> QuantizedTensor:
    main = module.matrix("weight", FP8)
    if block is None:
        scale = module.get("weight_scale_inv", SCALES, (), (1,), (1, 1))
        return blocks(module, main, scale, main.shape)
    counts = tuple(math.ceil(size / of) for size, of in zip(main.shape, block, strict=True))
    scale = module.get("weight_scale_inv", SCALES, counts)
    return blocks(module, main, scale, block)


def _channels(module: Module) -> QuantizedTensor:
    main = module.matrix("weight", FP8)
    rows, columns = main.shape
    scale = module.get("weight_scale", SCALES, (rows, 1), (rows,))
    return blocks(module, main, scale, (1, columns))


def blocks(
    module: Module, main: StoredTensor, scale: StoredTensor, block: Sequence[int]
) -> QuantizedTensor:
    """Return a weight of floats of 8 bits, whose scale is one of each block."""
    outputs, inputs = main.shape

    def scales() -> Scales:
        factors = read_scale(scale).reshape(math.ceil(outputs / block[0]), -1)
        return Scales(factors[np.arange(outputs) // block[0]], None, block[1])

    return module.weight(main, (outputs, inputs), 0, lambda: read_fp8(main), scales)
