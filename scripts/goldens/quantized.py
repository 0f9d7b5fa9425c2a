"""The golden arrays of quantized checkpoints.; tests/helpers/tiny_quantized.py
describes them.

Weights are quantized by compressed-tensors, bitsandbytes and torchao. gptqmodel and autoawq want a
GPU, so that their layouts are written here as they document them; autoawq's packing_utils.py, which
does not, reads back what is written for it. The hidden states are those of transformers with the
weights that the packages dequantize.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from typing import Any, NamedTuple

import bitsandbytes
import numpy as np
import torch
import transformers
from compressed_tensors.compressors import BaseCompressor
from compressed_tensors.compressors.nvfp4.helpers import unpack_fp4_from_uint8
from compressed_tensors.quantization import (
    QuantizationArgs,
    QuantizationConfig,
    QuantizationScheme,
)
from compressed_tensors.quantization.lifecycle.forward import dequantize, quantize
from compressed_tensors.quantization.utils import calculate_qparams, generate_gparam
from torchao.prototype.safetensors.safetensors_support import flatten_tensor_state_dict
from torchao.quantization import (
    Float8WeightOnlyConfig,
    Int8DynamicActivationInt8WeightConfig,
    Int8WeightOnlyConfig,
    IntxWeightOnlyConfig,
    MappingType,
    PerGroup,
    quantize_,
)

from helpers.tiny_quantized import FAMILIES, IDS, base_config, base_tensors, modules

Tensor = torch.Tensor
LINEAR = ["Linear"]


class Quantized(NamedTuple):
    """tensors: of a layer, by what follows its name. weight: dequantized. codes: if they count."""

    tensors: dict[str, Tensor]
    weight: Tensor
    codes: Tensor | None = None


class Maker(NamedTuple):
    family: str
    settings: dict[str, Any]
    make: Callable[[Tensor], Quantized]


# --- compressed-tensors -----------------------------------------------------------------------


def _extremes(weight: Tensor, args: QuantizationArgs) -> tuple[Tensor, Tensor]:
    if args.strategy == "tensor":
        parts = weight.reshape(1, -1)
        return parts.amin(-1), parts.amax(-1)
    if args.strategy == "block":
        rows, columns = args.block_structure
        n, k = weight.shape
        parts = weight.reshape(n // rows, rows, k // columns, columns)
        return parts.amin((1, 3)), parts.amax((1, 3))
    size = args.group_size if args.strategy in ("group", "tensor_group") else weight.shape[1]
    parts = weight.reshape(len(weight), -1, size)
    return parts.amin(-1), parts.amax(-1)


def compressed(
    family: str,
    form: str,
    inputs: dict[str, Any] | None = None,
    order: bool = False,
    **weights: Any,
) -> Maker:
    args = QuantizationArgs(**weights)
    activations = None if inputs is None else QuantizationArgs(**inputs)
    scheme = QuantizationScheme(targets=LINEAR, weights=args, input_activations=activations)
    config = QuantizationConfig(
        config_groups={"group_0": scheme},
        format=form,
        quantization_status="compressed",
        ignore=[
            "re:.*self.(query|key|value)",
            "re:.*o_proj",
            "re:.*(gate|up)_proj",
            "pooler.dense",
        ],
    )
    settings = {"sparsity_config": {}, "transform_config": {}, **config.model_dump(mode="json")}
    if order:
        settings["config_groups"]["group_0"]["weights"]["actorder"] = "group"
    compressor = BaseCompressor.get_value_from_registry(form)

    def make(weight: Tensor) -> Quantized:
        state = {}
        ordered = torch.randperm(weight.shape[1], generator=torch.Generator().manual_seed(3))
        places = torch.argsort(ordered)
        source = weight[:, ordered] if order else weight
        common = None
        if args.strategy == "tensor_group":
            common = generate_gparam(source.min(), source.max())
            state["weight_global_scale"] = common.reshape(1)
        scale, point = calculate_qparams(*_extremes(source, args), args, common)
        state |= {"weight": source, "weight_scale": scale, "weight_zero_point": point}
        stored = compressor.compress(state, scheme)
        dense = compressor.decompress(dict(stored), scheme)["weight"].float()
        if args.strategy == "tensor_group":  # decompress rounds to bfloat16
            pairs = unpack_fp4_from_uint8(stored["weight_packed"], *weight.shape, torch.float32)
            scale = stored["weight_scale"].float()
            dense = dequantize(pairs, scale, args=args, global_scale=common, dtype=torch.float32)
        codes = None
        if args.type == "int":
            packed = form == "pack-quantized"
            given = scale, point.to(torch.int8) if not args.symmetric else None
            codes = quantize(source, *given, args, dtype=torch.int8) if packed else stored["weight"]
        if order:  # packed in the order of the layer, with the group of each input
            dense, codes = dense[:, places], codes[:, places]
            stored["weight_packed"] = _pack(codes + 8, 4)
            stored["weight_g_idx"] = (places // args.group_size).to(torch.int32)
        if inputs is not None and not inputs["dynamic"]:
            stored |= {"input_scale": torch.tensor([0.02]), "input_zero_point": torch.tensor([3])}
        return Quantized(stored, dense, codes)

    return Maker(family, settings, make)


def _pack(codes: Tensor, bits: int) -> Tensor:
    """(rows, K) codes as int32, the lowest bits first."""
    count = 32 // bits
    wide = codes.to(torch.int64).reshape(len(codes), -1, count)
    words = (wide << (torch.arange(count) * bits)).sum(-1)
    return torch.where(words >= 2**31, words - 2**32, words).to(torch.int32)


# --- GPTQ and AWQ -----------------------------------------------------------------------------


def _affine(weight: Tensor, bits: int, size: int, symmetric: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Codes (N, K), scales in float16 and zero points (N, G) as auto-gptq's Quantizer has them."""
    groups, most = weight.reshape(len(weight), -1, size), 2**bits - 1
    low, high = groups.amin(-1).clamp(max=0), groups.amax(-1).clamp(min=0)
    if symmetric:
        high = torch.maximum(-low, high)
        low = -high
    scale = ((high - low) / most).half().float()
    point = torch.full_like(scale, (most + 1) / 2) if symmetric else (-low / scale).round()
    codes = (groups / scale[..., None]).round() + point[..., None]
    return codes.clamp(0, most).reshape(weight.shape), scale, point.clamp(0, most)


def gptq(bits: int, size: int, symmetric: bool, version: int = 1, order: bool = False) -> Maker:
    settings = {
        **{"quant_method": "gptq", "bits": bits, "group_size": size, "desc_act": order},
        **{"sym": symmetric, "lm_head": False, "damp_percent": 0.01, "true_sequential": True},
        "checkpoint_format": "gptq" if version == 1 else "gptq_v2",
        "meta": {"quantizer": ["gptqmodel:7.7.0"]},
    }

    def make(weight: Tensor) -> Quantized:
        inputs = weight.shape[1]
        group = inputs if size == -1 else size
        ordered = torch.arange(inputs)
        if order:
            ordered = torch.randperm(inputs, generator=torch.Generator().manual_seed(4))
        places = torch.argsort(ordered)
        codes, scale, point = _affine(weight[:, ordered], bits, group, symmetric)
        groups = places // group
        codes = codes[:, places]
        dense = (codes - point[:, groups]) * scale[:, groups]
        less = point.T - (1 if version == 1 else 0)
        tensors = {
            "qweight": _pack(codes, bits).T.contiguous(),
            "qzeros": _pack(less % 2**bits, bits),
            "scales": scale.T.half().contiguous(),
            "g_idx": groups.to(torch.int32),
        }
        return Quantized(tensors, dense, codes - 2 ** (bits - 1))

    return Maker("qwen3", settings, make)


def _packing_utils() -> Any:
    folder = importlib.util.find_spec("awq").submodule_search_locations[0]
    spec = importlib.util.spec_from_file_location("utils", f"{folder}/utils/packing_utils.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def awq(size: int, symmetric: bool = False) -> Maker:
    settings = {
        **{"quant_method": "awq", "bits": 4, "group_size": size, "zero_point": not symmetric},
        **{"version": "gemm", "modules_to_not_convert": ["o_proj", "gate_proj", "up_proj"]},
    }

    def make(weight: Tensor) -> Quantized:
        codes, scale, point = _affine(weight, 4, size, symmetric)
        order = [0, 2, 4, 6, 1, 3, 5, 7]

        def pack(values: Tensor) -> Tensor:
            return _pack(values.reshape(len(values), -1, 8)[..., order].reshape(values.shape), 4)

        tensors = {"qweight": pack(codes.T), "qzeros": pack(point.T), "scales": scale.T.half()}
        dense = _packing_utils().dequantize_gemm(
            tensors["qweight"], tensors["qzeros"], tensors["scales"].float(), 4, size
        )
        return Quantized(tensors, dense.T, codes - 8)

    return Maker("qwen3", settings, make)


# --- Floats of 8 bits, bitsandbytes -----------------------------------------------------------


def fp8(block: list[int] | None) -> Maker:
    settings = {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": block}

    def make(weight: Tensor) -> Quantized:
        rows, columns = block or weight.shape
        n, k = (-(-size // of) for size, of in zip(weight.shape, (rows, columns), strict=True))
        scale = torch.empty(n, k)
        spread = torch.empty_like(weight)
        for i in range(n):
            for j in range(k):
                part = slice(i * rows, (i + 1) * rows), slice(j * columns, (j + 1) * columns)
                scale[i, j] = weight[part].abs().max() / 448
                spread[part] = scale[i, j]
        codes = (weight / spread).to(torch.float8_e4m3fn)
        tensors = {"weight": codes, "weight_scale_inv": scale if block else scale.reshape(())}
        return Quantized(tensors, codes.float() * spread)

    return Maker("qwen3", {**settings, "modules_to_not_convert": ["o_proj", "mlp.up_proj"]}, make)


def fbgemm() -> Maker:
    def make(weight: Tensor) -> Quantized:
        scale = weight.abs().amax(1, keepdim=True) / 448
        codes = (weight / scale).to(torch.float8_e4m3fn)
        return Quantized({"weight": codes, "weight_scale": scale}, codes.float() * scale)

    settings = {"quant_method": "fbgemm_fp8", "activation_scale_ub": 1200.0}
    return Maker("bert", {**settings, "modules_to_not_convert": ["self", "pooler"]}, make)


def bnb_int8() -> Maker:
    def make(weight: Tensor) -> Quantized:
        codes, largest, _ = bitsandbytes.functional.int8_vectorwise_quant(weight.half())
        tensors = {"weight": codes, "SCB": largest, "weight_format": torch.tensor(0).byte()}
        dense = bitsandbytes.functional.int8_vectorwise_dequant(codes, largest)
        return Quantized(tensors, dense.float(), codes)

    config = transformers.BitsAndBytesConfig(load_in_8bit=True, llm_int8_skip_modules=["pooler"])
    return Maker("bert", config.to_dict(), make)


def bnb_4bit(kind: str, double: bool) -> Maker:
    def make(weight: Tensor) -> Quantized:
        codes, state = bitsandbytes.functional.quantize_4bit(
            weight.contiguous(), quant_type=kind, compress_statistics=double, blocksize=64
        )
        dense = bitsandbytes.functional.dequantize_4bit(codes, state)
        parts = {f"weight.{key}": value for key, value in state.as_dict(packed=True).items()}
        return Quantized({"weight": codes, **parts}, dense)

    config = transformers.BitsAndBytesConfig(
        load_in_4bit=True, bnb_4bit_quant_type=kind, bnb_4bit_use_double_quant=double
    )
    return Maker("qwen3", config.to_dict(), make)


def torchao(family: str, config: Any) -> Maker:
    """A layer of torchao, in the tensors in which transformers stores it."""

    def make(weight: Tensor) -> Quantized:
        layer = torch.nn.Sequential(torch.nn.Linear(*weight.shape[::-1], bias=False))
        layer[0].weight.data = weight.clone()
        quantize_(layer, config)
        state, _ = flatten_tensor_state_dict(layer.state_dict())
        tensors = {key.removeprefix("0."): value for key, value in state.items()}
        codes = tensors["_weight_qdata"]
        dense = layer[0].weight.dequantize()
        return Quantized(tensors, dense, codes if codes.dtype == torch.int8 else None)

    settings = transformers.TorchAoConfig(config).to_dict()
    return Maker(family, json.loads(json.dumps(settings)), make)


DYNAMIC = {"num_bits": 8, "strategy": "token", "dynamic": True}
STATIC = {"num_bits": 8, "strategy": "tensor", "dynamic": False}
CHANNEL = {"num_bits": 8, "strategy": "channel"}
GROUP = {"num_bits": 4, "strategy": "group", "group_size": 32}
INT4 = {"weight_dtype": torch.int4, "granularity": PerGroup(32)}
FLOAT = {"num_bits": 8, "type": "float"}
MAKERS: dict[str, Maker] = {
    "w8a8": compressed("bert", "int-quantized", DYNAMIC, **CHANNEL),
    "w8a8-static": compressed("qwen3", "int-quantized", STATIC, **CHANNEL),
    "w8a8-tensor": compressed("bert", "int-quantized", DYNAMIC, num_bits=8, strategy="tensor"),
    "w8a8-offset": compressed("bert", "int-quantized", DYNAMIC, **CHANNEL, symmetric=False),
    "w8a16": compressed("qwen3", "pack-quantized", **CHANNEL),
    "w4a16": compressed("qwen3", "pack-quantized", **GROUP),
    "w4a16-offset": compressed("bert", "pack-quantized", **GROUP, symmetric=False),
    "w4a16-channel": compressed("qwen3", "pack-quantized", num_bits=4, strategy="channel"),
    "w4a16-order": compressed("qwen3", "pack-quantized", order=True, **GROUP),
    "fp8-channel": compressed("bert", "float-quantized", DYNAMIC, **FLOAT, strategy="channel"),
    "fp8-tensor": compressed("qwen3", "naive-quantized", **FLOAT, strategy="tensor"),
    "nvfp4": compressed(
        *("qwen3", "nvfp4-pack-quantized"),
        **{"num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16},
        **{"scale_dtype": torch.float8_e4m3fn, "zp_dtype": torch.float8_e4m3fn},
    ),
    "mxfp4": compressed(
        *("qwen3", "mxfp4-pack-quantized"),
        **{"num_bits": 4, "type": "float", "strategy": "group", "group_size": 32},
        **{"scale_dtype": torch.uint8, "zp_dtype": torch.uint8},
    ),
    "gptq": gptq(4, 32, symmetric=True),
    "gptq-offset": gptq(4, 32, symmetric=False),
    "gptq-v2": gptq(4, -1, symmetric=False, version=2),
    "gptq-order": gptq(4, 32, symmetric=True, order=True),
    "gptq-8bit": gptq(8, -1, symmetric=True),
    "gptq-8bit-groups": gptq(8, 32, symmetric=True),
    "awq": awq(32),
    "awq-symmetric": awq(32, symmetric=True),
    "fp8-block": fp8([32, 24]),
    "fp8": fp8(None),
    "fbgemm": fbgemm(),
    "bnb-int8": bnb_int8(),
    "bnb-nf4": bnb_4bit("nf4", double=False),
    "bnb-nf4-double": bnb_4bit("nf4", double=True),
    "bnb-fp4": bnb_4bit("fp4", double=False),
    "ao-int8": torchao("bert", Int8WeightOnlyConfig(version=2)),
    "ao-w8a8": torchao("qwen3", Int8DynamicActivationInt8WeightConfig(version=2)),
    "ao-int4": torchao("qwen3", IntxWeightOnlyConfig(**INT4)),
    "ao-int4-offset": torchao(
        "bert", IntxWeightOnlyConfig(**INT4, mapping_type=MappingType.ASYMMETRIC)
    ),
    "ao-float8": torchao("qwen3", Float8WeightOnlyConfig(version=2)),
}
PLAIN = {torch.float8_e4m3fn: "float8_e4m3fn", torch.bfloat16: "bfloat16"}


def _stored(tensor: Tensor) -> np.ndarray:
    if tensor.dtype in PLAIN:
        width = torch.uint8 if tensor.dtype.itemsize == 1 else torch.int16
        return tensor.view(width).contiguous().numpy()
    return tensor.contiguous().numpy()


def quantized_arrays() -> dict[str, np.ndarray]:
    result: dict[str, np.ndarray] = {}
    models = {}
    for family in FAMILIES:
        config = transformers.AutoConfig.for_model(**base_config(family))
        config._attn_implementation = "eager"
        models[family] = transformers.AutoModel.from_config(config).eval()
        shapes = {key: tuple(value.shape) for key, value in models[family].state_dict().items()}
        result[f"shapes:{family}"] = np.array(json.dumps(shapes))
    about = {}
    for name, (family, settings, make) in MAKERS.items():
        shapes = json.loads(str(result[f"shapes:{family}"]))
        tensors = base_tensors(family, shapes)
        state = {key: torch.from_numpy(value) for key, value in tensors.items()}
        types: dict[str, str] = {}
        for module in modules(family):
            made = make(state[f"{module}.weight"])
            state[f"{module}.weight"] = made.weight
            for part, tensor in made.tensors.items():
                result[f"{name}:{module}.{part}"] = _stored(tensor)
                if tensor.dtype in PLAIN:
                    types[f"{module}.{part}"] = PLAIN[tensor.dtype]
            if made.codes is not None:
                result[f"{name}:integers"] = made.codes.to(torch.int8).contiguous().numpy()
        models[family].load_state_dict(state)
        with torch.inference_mode():
            hidden = models[family](torch.from_numpy(IDS)).last_hidden_state.numpy()
        result[f"{name}:hidden"] = hidden
        about[name] = {"family": family, "settings": settings, "types": types}
    result["cases"] = np.array(json.dumps(about, default=str))
    return result
