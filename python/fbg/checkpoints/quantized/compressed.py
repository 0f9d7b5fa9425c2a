"""compressed-tensors, as llm-compressor writes it. A layer has one of

    weight         (N, K)                          int8, or floats of 8 bits
    weight_packed  (N, ceil(K * bits / 32)), int32 integers plus half of their range
    weight_packed  (N, K / 2), uint8               pairs of floats of 4 bits (nvfp4, mxfp4)

and weight_scale, (1,), (N, 1), (N, K / group) or one for each block; weight_zero_point where it is
not symmetric; weight_g_idx, the group of each input, if inputs were reordered. config_groups says
which layers are stored how. Activations are quantized as fbg does, not with scales of the file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from fbg.arrays import Floats
from fbg.checkpoints.mapped_file import FLOATS, StoredTensor
from fbg.checkpoints.quantized.fp8 import SCALES, blocks, read_block
from fbg.checkpoints.quantized.patterns import Patterns, read_patterns
from fbg.checkpoints.quantized.tensor import (
    FP4,
    FP8,
    LARGEST,
    Codes,
    Module,
    QuantizedTensor,
    Scales,
    Words,
    centred,
    group_count,
    points_or_none,
    read_groups,
    read_scale,
    unpack,
)
from fbg.checkpoints.settings import Settings

PARTS = (
    *("weight", "weight_packed", "weight_scale", "weight_zero_point", "weight_g_idx"),
    *("weight_shape", "weight_global_scale", "input_scale", "input_zero_point"),
    "input_global_scale",
)
FORMATS = (
    *("int-quantized", "pack-quantized", "float-quantized", "naive-quantized", "mixed-precision"),
    *("nvfp4-pack-quantized", "mxfp4-pack-quantized"),
)
IRRELEVANT = "global_compression_ratio version ignore quantization_status"
OF_WEIGHTS = "dynamic observer observer_kwargs scale_dtype zp_dtype"
CLASSES = frozenset(("Linear", "Embedding"))
STRATEGIES = ("tensor", "channel", "group", "tensor_group", "block")
# What turns a description of sparsity or of transforms off.
OFF: tuple[object, ...] = (None, {}, [], "dense")


@dataclass(frozen=True)
class Scheme:
    """How some layers are stored. targets: their names, or the name of their class. size: inputs of
    a group, for groups; block: rows and columns, for blocks. ordered: whether the inputs of a group
    need not be neighbours.
    """

    targets: Patterns
    bits: int
    floats: bool
    symmetric: bool
    strategy: str
    size: int
    block: tuple[int, int] | None
    ordered: bool


def read(settings: Settings) -> Callable[[Module], QuantizedTensor]:
    """Return the reader of a layer; raises ModelError for the settings."""
    settings.choice("format", FORMATS)
    for key in ("sparsity_config", "transform_config", "kv_cache_scheme", "moe_sparsity_config"):
        value = settings.get(key)
        if value not in OFF and not (isinstance(value, dict) and _is_dense(value)):
            raise settings.error(key, "left out")
    groups = settings.section("config_groups")
    schemes = [_read_scheme(groups.section(name)) for name in groups.values()]
    if not schemes:
        raise settings.error("config_groups", "an object that describes how layers are stored")
    return lambda module: _weight(module, schemes)


def _is_dense(value: dict[str, object]) -> bool:
    """Whether a description says that there is nothing to describe."""
    return value.get("format") == "dense" or not any(value.values())


def _read_scheme(settings: Settings) -> Scheme:
    targets = read_patterns(settings, "targets")
    if settings.get("output_activations") is not None:
        raise settings.error("output_activations", "null: only inputs of layers are quantized")
    settings.get("input_activations")
    if settings.get("format") is not None:
        settings.choice("format", FORMATS)
    weights = settings.section("weights")
    for key in OF_WEIGHTS.split():
        weights.get(key)
    floats = weights.choice("type", ("int", "float"), default="int") == "float"
    bits = weights.size("num_bits", default=8)
    if bits not in (4, 8):
        raise weights.error("num_bits", "4 or 8")
    given = weights.get("group_size")
    size = 0 if given in (None, -1) else weights.size("group_size")
    default = "group" if size else "channel" if given == -1 else "tensor"
    if weights.get("strategy") is not None:
        default = weights.choice("strategy", STRATEGIES)
    block = read_block(weights, "block_structure")
    if (default in ("group", "tensor_group")) != bool(size) or (default == "block") != bool(block):
        raise weights.error("strategy", "one that agrees with group_size and block_structure")
    symmetric = weights.flag("symmetric", default=True)
    if floats and not symmetric:
        raise weights.error("symmetric", "true, as for all floats")
    ordered = weights.get("actorder") in ("group", "dynamic", True)
    return Scheme(targets, bits, floats, symmetric, default, size, block, ordered)


def _scheme_of(module: Module, schemes: Sequence[Scheme]) -> Scheme:
    """Return the scheme that names a layer, or else one that names its class."""
    by_name = [scheme for scheme in schemes if scheme.targets.match(module.name)]
    of_class = [scheme for scheme in schemes if not CLASSES.isdisjoint(scheme.targets.names)]
    found = by_name or of_class
    if not found:
        first = next(iter(module.parts.values()))
        raise first.error("belongs to a layer that no entry of config_groups describes")
    return found[0]


def _weight(module: Module, schemes: Sequence[Scheme]) -> QuantizedTensor:
    scheme = _scheme_of(module, schemes)
    if scheme.floats:
        return _fp8(module, scheme) if scheme.bits == 8 else _fp4(module, scheme)
    return _integers(module, scheme)


def _shapes(
    scheme: Scheme, main: StoredTensor, outputs: int, inputs: int
) -> tuple[tuple[int, ...], ...]:
    """Return the shapes that scales may have."""
    if scheme.strategy == "tensor":
        return (1,), (), (1, 1)
    if scheme.strategy == "channel":
        return (outputs, 1), (outputs,)
    if scheme.block:
        rows, columns = scheme.block
        return ((math.ceil(outputs / rows), math.ceil(inputs / columns)),)
    return ((outputs, group_count(main, inputs, scheme.size)),)


def _integers(module: Module, scheme: Scheme) -> QuantizedTensor:
    bits, packed = scheme.bits, "weight_packed" in module
    if packed:
        main = module.matrix("weight_packed", ("int32",))
        outputs, inputs = _stored_shape(module)
        module.get("weight_packed", ("int32",), (outputs, math.ceil(inputs * bits / 32)))
    else:
        main = module.matrix("weight", ("int8",))
        outputs, inputs = main.shape
    shapes = _shapes(scheme, main, outputs, inputs)
    scale = module.get("weight_scale", FLOATS, *shapes)
    points = None
    if not scheme.symmetric:
        if packed and scheme.strategy in ("group", "channel"):
            shape = math.ceil(outputs * bits / 32), math.prod(shapes[0]) // outputs
            points = module.get("weight_zero_point", ("int32",), shape)
        else:
            points = module.get("weight_zero_point", ("int8", "int32", "int64"), *shapes)
    elif "weight_zero_point" in module:  # zeros, which older versions stored
        zeros = module.get("weight_zero_point", ("int8", "int32", "int64"))
        if zeros.view().any():
            raise zeros.error("must be 0, because the settings say that weights are symmetric")
    rows, size = scheme.block or (
        outputs if scheme.strategy == "tensor" else 1,
        scheme.size or inputs,
    )
    order = None
    if scheme.ordered or "weight_g_idx" in module:
        order = module.get("weight_g_idx", ("int32", "int64"), (inputs,))

    def spread(values: Floats) -> Floats:
        return values.reshape(math.ceil(outputs / rows), -1)[np.arange(outputs) // rows]

    def codes() -> Codes:
        if not packed:
            return main.view()
        return centred(unpack(main.view(), bits, inputs), bits)

    def scales() -> Scales:
        zero, groups = None, None
        if points is not None and points.dtype == "int32" and packed and rows == 1:
            octets = unpack(points.view().T, bits, outputs)
            zero = centred(octets, bits).T.astype(np.int32)
        elif points is not None:
            zero = spread(points.view()).astype(np.int32)
        if order is not None and (order.view() != -1).any():  # -1: inputs are in order
            groups = read_groups(order, math.ceil(inputs / size), size)
        zero = None if zero is None else points_or_none(zero)
        return Scales(spread(read_scale(scale)), zero, size, groups)

    words = (lambda: Words(main.view())) if packed and bits == 4 else None
    return module.weight(main, (outputs, inputs), bits, codes, scales, words)


def _stored_shape(module: Module) -> tuple[int, int]:
    """Return the shape that a packed weight stands for."""
    tensor = module.get("weight_shape", ("int32", "int64"), (2,))
    outputs, inputs = (int(size) for size in tensor.view())
    if not (0 < outputs <= LARGEST and 0 < inputs <= LARGEST):
        raise tensor.error(f"must be two sizes, got {outputs} and {inputs}")
    return outputs, inputs


def _fp8(module: Module, scheme: Scheme) -> QuantizedTensor:
    main = module.matrix("weight", FP8)
    outputs, inputs = main.shape
    scale = module.get("weight_scale", SCALES, *_shapes(scheme, main, outputs, inputs))
    if "weight_zero_point" in module and module.parts["weight_zero_point"].view().any():
        raise module.parts["weight_zero_point"].error("must be 0, as for all floats")
    whole = outputs if scheme.strategy == "tensor" else 1
    return blocks(module, main, scale, scheme.block or (whole, scheme.size or inputs))


def _fp4(module: Module, scheme: Scheme) -> QuantizedTensor:
    main = module.matrix("weight_packed", ("uint8",))
    outputs, inputs = main.shape[0], 2 * main.shape[1]
    size = scheme.size or inputs
    shape = outputs, group_count(main, inputs, size)
    common = None
    if scheme.strategy == "tensor_group":
        scale = module.get("weight_scale", SCALES, shape)
        common = module.get("weight_global_scale", FLOATS, (1,), ())
    else:
        scale = module.get("weight_scale", ("uint8", *SCALES), shape)  # uint8: exponents

    def codes() -> Codes:
        return FP4[unpack(main.view(), 4, inputs)]

    def scales() -> Scales:
        if scale.dtype == "uint8":
            exponents = scale.view()
            if (exponents == 255).any():
                raise scale.error("holds NaN")
            return Scales(np.ldexp(np.float32(1), exponents.astype(np.int32) - 127), None, size)
        factors = read_scale(scale)
        if common is not None:
            whole = read_scale(common).reshape(())
            if not whole > 0:
                raise common.error(f"must be more than 0, got {whole}")
            factors = factors / whole
        return Scales(factors, None, size)

    return module.weight(main, (outputs, inputs), 0, codes, scales)
