"""torchao, as transformers stores it in safetensors: the tensors of a subclass side by side.

_weight_qdata       (N, K)                       int8, also for integers of 4 bits, or e4m3
_weight_scale       a factor of each block, (N / rows, K / columns)
_weight_zero_point  of the same shape
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from fbg.checkpoints.files import Settings
from fbg.checkpoints.mapped_file import StoredTensor
from fbg.checkpoints.quantized.bits import FP8, read_fp8
from fbg.checkpoints.quantized.module import FLOATS, Module, points_or_none, read_scale, refusal
from fbg.checkpoints.quantized.tensor import Codes, QuantizedTensor, Scales

PARTS = ("weight", "_weight_qdata", "_weight_scale", "_weight_zero_point")
IRRELEVANT = """
    modules_to_not_convert include_input_output_embeddings untie_embedding_weights
    quant_type_kwargs"""
# Ways to quantize whose tensors are as above.
KINDS = (
    *("Int8WeightOnlyConfig", "Int8DynamicActivationInt8WeightConfig", "IntxWeightOnlyConfig"),
    *("Int8DynamicActivationIntxWeightConfig", "Float8WeightOnlyConfig"),
    *("Float8DynamicActivationFloat8WeightConfig", "FqnToConfig", "ModuleFqnToConfig"),
)


def read(settings: Settings) -> Callable[[Module], QuantizedTensor]:
    """Return the reader of a layer; raises ModelError for the settings."""
    kinds = set(_values(settings.get("quant_type"), "_type"))
    used = {kind for kind in kinds if isinstance(kind, str) and kind.endswith("Config")}
    if not used or not used <= set(KINDS):
        raise settings.error("quant_type", f"an object whose _type is one of {', '.join(KINDS)}")
    # Only if all weights have 4 bits, it is certain that the codes of a layer fit.
    widths = list(_values(settings.get("quant_type"), "weight_dtype"))
    four = [isinstance(width, dict) and width.get("_data") == "int4" for width in widths]
    bits = 4 if four and all(four) else 8
    return lambda module: _weight(module, bits)


def _values(value: Any, key: str) -> Iterator[Any]:
    """Return what stands under a key anywhere in an object."""
    for name, inner in value.items() if isinstance(value, dict) else ():
        if name == key:
            yield inner
        yield from _values(inner, key)


def _weight(module: Module, bits: int) -> QuantizedTensor:
    main = module.matrix("_weight_qdata", ("int8", *FP8))
    outputs, inputs = main.shape
    scale = module.matrix("_weight_scale", FLOATS)
    rows, columns = _block(scale, main)
    points = None
    if "_weight_zero_point" in module:
        types = ("int8", "int32", "int64", "float32")
        points = module.get("_weight_zero_point", types, scale.shape)
    integers = main.dtype == "int8"

    def codes() -> Codes:
        if not integers:
            return read_fp8(main)
        values = main.view()
        if bits == 4 and not (values.min() >= -8 and values.max() <= 7):
            raise refusal(main, "must be within -8 and 7, because weights are int4")
        return values

    def scales() -> Scales:
        row = np.arange(outputs) // rows
        zero = None if points is None else points_or_none(points.view()[row].astype(np.int32))
        return Scales(read_scale(scale)[row], zero, columns)

    return module.weight(main, (outputs, inputs), bits if integers else 0, codes, scales)


def _block(scale: StoredTensor, main: StoredTensor) -> tuple[int, int]:
    """Return the rows and columns that share a factor; raises ModelError."""
    if any(size % count for size, count in zip(main.shape, scale.shape, strict=True)):
        raise refusal(scale, f"must divide a weight of shape {main.shape}, got {scale.shape}")
    return main.shape[0] // scale.shape[0], main.shape[1] // scale.shape[1]
