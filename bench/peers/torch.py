"""torch: oneDNN in floating point; in int8 torch.ao's quantized layers by FBGEMM or oneDNN."""

import warnings
from functools import partial
from typing import Any

import numpy as np

from peers import Array, Call, Convolution, Feed, Forward, LookUp, Peer, Product, Row, rotate
from peers.exports import Exports

NEEDS = ("torch",)
FORMATS = {1: "contiguous_format", 2: "channels_last", 3: "channels_last_3d"}


def quantized(module: Any, engine: str = "fbgemm") -> Any:
    """Dynamic quantization of the Linear layers of a module, a scale for each output channel.

    The engine that is set while weights are packed is the one that runs them, whatever is set
    later: linear_dynamic is a method of the packed weights.
    """
    import torch

    torch.backends.quantized.engine = engine
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        layers = {torch.nn.Linear: torch.ao.quantization.per_channel_dynamic_qconfig}
        return torch.ao.quantization.quantize_dynamic(module, layers)


def _linear(product: Product) -> Any:
    import torch

    torch.set_num_threads(product.threads)
    k, n = product.w.shape
    linear = torch.nn.utils.skip_init(torch.nn.Linear, k, n, bias=product.bias is not None)
    with torch.no_grad():
        linear.weight.copy_(torch.from_numpy(product.w.T))
        if product.bias is not None:
            linear.bias.copy_(torch.from_numpy(product.bias))
    return linear.eval()


def _product(product: Product, dtype: str, engine: str = "fbgemm") -> Peer:
    import torch

    x = torch.from_numpy(product.x)
    x = x if dtype == "int8" else x.to(getattr(torch, dtype))

    def make() -> Call:
        module = _linear(product)
        if dtype == "int8":
            module = quantized(torch.nn.Sequential(module), engine)[0]
        else:
            module = module.to(x.dtype)
        return lambda: module(x)

    return Peer(rotate(make, product.copies), around=torch.inference_mode)


def _conv(p: Convolution, engine: str = "") -> Peer:
    """float32, or int8 by an engine."""
    import torch

    torch.set_num_threads(p.threads)
    layer, axes = p.layer, len(p.layer.size)
    last = getattr(torch, FORMATS[axes])
    x, w, bias = (torch.from_numpy(values) for values in (p.channels_first, p.w, p.bias))
    geometry = [[layer.stride] * axes, list(layer.pads), [layer.dilation] * axes, layer.groups]
    if p.w_scale is None:
        x, w = x.contiguous(memory_format=last), w.contiguous(memory_format=last)
        call = partial(getattr(torch.nn.functional, f"conv{axes}d"), x, w, bias, *geometry)
        return Peer(call, lambda: np.moveaxis(call().numpy(), 1, -1), torch.inference_mode)
    torch.backends.quantized.engine = engine
    scales, zeros = (
        torch.from_numpy(p.w_scale.astype(np.float64)),
        torch.zeros(layer.outputs).long(),
    )
    w = torch._make_per_channel_quantized_tensor(w, scales, zeros, 0)
    x = torch._make_per_tensor_quantized_tensor(x, p.x_scale, 0).contiguous(memory_format=last)
    bias = torch.from_numpy((p.bias * p.x_scale * p.w_scale).astype(np.float32))
    packed = getattr(torch.ops.quantized, f"conv{axes}d_prepack")(w, bias, *geometry)
    call = partial(getattr(torch.ops.quantized, f"conv{axes}d"), x, packed, p.y_scale, 0)
    value = lambda: np.moveaxis(call().int_repr().numpy(), 1, -1)  # noqa: E731
    return Peer(call, value, torch.inference_mode)


def _encoder(exports: Exports, threads: int, precision: str) -> Forward:
    """Fused attention; bf16: weights and activations."""
    import torch

    module = exports.torch()
    if precision == "int8":
        module = quantized(module)
    elif precision == "bf16":
        module = module.to(torch.bfloat16)

    def run(feed: Feed) -> list[Array]:
        torch.set_num_threads(threads)
        given = {name: torch.from_numpy(value) for name, value in feed.items()}
        if feed["attention_mask"].all():
            del given["attention_mask"]
        with torch.inference_mode():
            return [module(**given).last_hidden_state.float().numpy()]

    return run


BAGS = {"float32": "", "int8": "byte", "int4": "4bit"}


def _look_up(case: LookUp) -> list[Call]:
    """Its embedding bags; those of integers are kernels of FBGEMM."""
    import torch

    torch.set_num_threads(case.threads)
    begins, rows = torch.from_numpy(case.offsets), torch.from_numpy(case.rows)
    sets = [torch.from_numpy(indices) for indices in case.sets]
    if case.dtype == "float32":
        bag = partial(torch.nn.functional.embedding_bag, mode="sum")
        return [partial(bag, at, rows, begins) for at in sets]
    look_up = getattr(torch.ops.quantized, f"embedding_bag_{BAGS[case.dtype]}_rowwise_offsets")
    return [partial(look_up, rows, at, begins, False, 0, False, None, None, False) for at in sets]


def _tbe(case: LookUp) -> list[Call]:
    """FBGEMM's tables, whose integers have scales and biases of float16 before the values."""
    import torch
    from fbgemm_gpu import split_table_batched_embeddings_ops_inference as ops
    from fbgemm_gpu.split_embedding_configs import SparseType
    from fbgemm_gpu.split_table_batched_embeddings_ops_common import EmbeddingLocation

    kind = {"float32": SparseType.FP32, "int8": SparseType.INT8, "int4": SparseType.INT4}
    spec = ("", len(case.rows), case.columns, kind[case.dtype], EmbeddingLocation.HOST)
    make = ops.IntNBitTableBatchedEmbeddingBagsCodegen
    table = make([spec], device="cpu", output_dtype=SparseType.FP32)
    table.fill_random_weights()
    values, ends = table.split_embedding_weights()[0]
    values.copy_(torch.from_numpy(case.rows.view(np.uint8))[:, : values.shape[1]])
    if ends is not None:
        scales = case.rows[:, values.shape[1] :]
        if case.dtype == "int8":
            scales = np.ascontiguousarray(scales).view(np.float32).astype(np.float16)
        ends.copy_(torch.from_numpy(scales.view(np.uint8)))
    begins = torch.from_numpy(np.append(case.offsets, len(case.sets[0])))
    return [partial(table, torch.from_numpy(at), begins) for at in case.sets]


LOOKUPS = {"torch": Row(NEEDS, _look_up), "TBE": Row((*NEEDS, "fbgemm_gpu"), _tbe)}
PRODUCTS = {
    "torch-fp32": Row(NEEDS, partial(_product, dtype="float32")),
    "torch-bf16": Row(NEEDS, partial(_product, dtype="bfloat16")),
    "torch-int8": Row(NEEDS, partial(_product, dtype="int8")),
    "torch-onednn-int8": Row(NEEDS, partial(_product, dtype="int8", engine="onednn")),
}
CONVOLUTIONS = {
    "torch-fp32": Row(NEEDS, _conv),
    "torch-fbgemm-int8": Row(NEEDS, partial(_conv, engine="fbgemm")),
    "torch-onednn-int8": Row(NEEDS, partial(_conv, engine="onednn")),
}
ENCODERS = {
    f"torch-{name}": Row((*NEEDS, "transformers"), partial(_encoder, precision=name))
    for name in ("fp32", "bf16", "int8")
}
