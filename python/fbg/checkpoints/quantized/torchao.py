"""torchao, as transformers stores it in safetensors: the tensors of a subclass side by side.

_weight_qdata       (N, K)                       int8, also for integers of 4 bits, or e4m3
_weight_scale       a factor of each block, (N / rows, K / columns)
_weight_zero_point  of the same shape
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fbg.checkpoints.mapped_file import FLOATS
from fbg.checkpoints.quantized.tensor import (
    FP8,
    Codes,
    Module,
    QuantizedTensor,
    Scales,
    group_count,
    points_or_none,
    read_fp8,
    read_scale,
)
from fbg.checkpoints.settings import Settings

PARTS = ("weight", "_weight_qdata", "_weight_scale", "_weight_zero_point")
IRRELEVANT = """
    modules_to_not_convert include_input_output_embeddings untie_embedding_weights
    quant_type_kwargs"""
# Ways to quantize whose tensors are as above, granularities that have a factor for each row, and
# keys that say nothing of the tensors.
KINDS = (
    *("Int8WeightOnlyConfig", "Int8DynamicActivationInt8WeightConfig", "IntxWeightOnlyConfig"),
    *("Int8DynamicActivationIntxWeightConfig", "Float8WeightOnlyConfig"),
    "Float8DynamicActivationFloat8WeightConfig",
)
ROWS = (("PerRow", -1), ("PerRow", 1), ("PerAxis", 0))
OF_ACTIVATIONS = """
    set_inductor_config reduce_range act_mapping_type weight_only_decode scale_dtype mm_config
    weight_scale_dtype intx_choose_qparams_algorithm activation_dtype activation_value_lb
    activation_value_ub kernel_preference layout packing_format version"""


@dataclass(frozen=True)
class Scheme:
    """floats: codes are floats of 8 bits. symmetric: zero points may be missing. per: "row",
    "tensor", or how many inputs of a row share a factor.
    """

    floats: bool
    bits: int
    symmetric: bool
    per: str | int


def read(settings: Settings) -> Callable[[Module], QuantizedTensor]:
    """Return the reader of a layer; raises ModelError for the settings."""
    section = settings.section("quant_type").section("default")
    kind = section.choice("_type", KINDS)
    section.get("_version")
    data = section.section("_data")
    for key in OF_ACTIVATIONS.split():
        data.get(key)
    packing = _name(data.get("intx_packing_format"))
    if packing not in (None, "UNPACKED_TO_INT8"):
        raise data.error("intx_packing_format", "UNPACKED_TO_INT8")
    mappings = [_name(data.get(key)) for key in ("mapping_type", "weight_mapping_type")]
    symmetric = all(mapping in (None, "SYMMETRIC") for mapping in mappings)
    bits = 4 if _name(data.get("weight_dtype")) == "int4" else 8
    scheme = Scheme(kind.startswith("Float8"), bits, symmetric, _read_granularity(data))
    return lambda module: _weight(module, scheme)


def _name(value: Any) -> Any:
    """Return the name of a type or of a choice, which is beside the name of its class."""
    return value.get("_data") if isinstance(value, dict) else value


def _read_granularity(data: Settings) -> str | int:
    """Return which codes share a factor; raises ModelError."""
    key = "weight_granularity" if data.get("weight_granularity") is not None else "granularity"
    value = data.get(key)
    if isinstance(value, list):  # of activations and weights
        value = value[-1] if value else None
    if value is None:
        return data.size("group_size") if data.get("group_size") is not None else "row"
    kind = value.get("_type") if isinstance(value, dict) else None
    inner = value.get("_data") if isinstance(value, dict) else None
    inner = inner if isinstance(inner, dict) else {}
    if kind == "PerTensor":
        return "tensor"
    if (kind, inner.get("dim", inner.get("axis"))) in ROWS:
        return "row"
    size = inner.get("group_size")
    if kind != "PerGroup" or type(size) is not int or size < 1:
        raise data.error(key, "PerRow, PerAxis of axis 0, PerGroup or PerTensor")
    return size


def _weight(module: Module, scheme: Scheme) -> QuantizedTensor:
    main = module.matrix("_weight_qdata", FP8 if scheme.floats else ("int8",))
    outputs, inputs = main.shape
    columns = scheme.per if isinstance(scheme.per, int) else inputs
    rows = outputs if scheme.per == "tensor" else 1
    shape = outputs // rows, group_count(main, inputs, columns)
    flat = ((), (1,)) if scheme.per == "tensor" else ()
    scale = module.get("_weight_scale", FLOATS, shape, *flat)
    points = None
    if "_weight_zero_point" in module or not scheme.symmetric:
        types = ("int8", "int32", "int64", "float32")
        points = module.get("_weight_zero_point", types, scale.shape)

    def codes() -> Codes:
        if scheme.floats:
            return read_fp8(main)
        values = main.view()
        if scheme.bits == 4 and not (values.min() >= -8 and values.max() <= 7):
            raise main.error("must be within -8 and 7, because weights are int4")
        return values

    def scales() -> Scales:
        row = np.arange(outputs) // rows
        zero = None
        if points is not None:
            zero = points_or_none(points.view().reshape(shape)[row].astype(np.int32))
        return Scales(read_scale(scale).reshape(shape)[row], zero, columns)

    bits = 0 if scheme.floats else scheme.bits
    return module.weight(main, (outputs, inputs), bits, codes, scales)
