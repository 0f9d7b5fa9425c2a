"""GPTQ as gptqmodel, auto-gptq and optimum write it (arXiv:2210.17323).

qweight (K * bits / 32, N), int32   codes of inputs that follow each other, lowest bits first
qzeros  (G, N * bits / 32), int32   zero points in the same way; version 1 stores them less 1
scales  (G, N)
g_idx   (K,), int32                 the group of each input

AWQ in the layout "gemm" of autoawq (arXiv:2306.00978):

qweight (K, N / 8), int32           codes of 8 outputs, in the order 0, 2, 4, 6, 1, 3, 5, 7
qzeros  (G, N / 8), int32           zero points in the same order
scales  (G, N)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg.checkpoints.mapped_file import FLOATS, StoredTensor
from fbg.checkpoints.quantized.tensor import (
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

PARTS = ("qweight", "qzeros", "scales", "g_idx")
# How the weights were made, and what runs them elsewhere.
IRRELEVANT = """
    damp_percent damp_auto_increment static_groups true_sequential model_name_or_path
    act_group_aware model_file_base_name dataset tokenizer use_cuda_fp16 use_exllama
    disable_exllama exllama_config max_input_length cache_block_outputs batch_size pad_token_id
    block_name_to_quantize backend module_name_preceding_first_block
    modules_in_block_to_quantize model_seqlen meta pack_dtype modules_to_not_convert lm_head sym
    desc_act mse offload_to_disk hyb_act format_version quantizer"""
VERSIONS = {"gptq": 1, "gptq_v2": 0}  # what is missing in the zero points
BITS = (2, 3, 4, 8)
KERNEL_BITS = (4, 8)
# What version 1 lacks in the words of zero points.
ONES = {2: [0x55555555], 4: [0x11111111], 8: [0x01010101]}
# Codes of 3 bits go on from word to word. Packages lack this, which is no 1 of each code.
FOR_3 = [0x24924924, 0x92492492, 0x49249249]

AWQ_PARTS = ("qweight", "qzeros", "scales")
AWQ_IRRELEVANT = """
    modules_to_not_convert backend do_fuse fuse_max_seq_len modules_to_fuse exllama_config
    zero_point q_group_size w_bit sym desc_act meta pack_dtype lm_head true_sequential
    modules_in_block_to_quantize duo_scaling n_parallel_calib_samples max_calib_samples
    max_calib_seq_len model_seqlen static_groups damp_percent quantizer"""
# The code of an output among the 8 of an integer.
PLACES = [0, 4, 1, 5, 2, 6, 3, 7]


def read(settings: Settings) -> Callable[[Module], QuantizedTensor]:
    """Return the reader of a layer; raises ModelError for the settings."""
    bits, size = settings.size("bits"), read_group_size(settings, "group_size")
    if bits not in BITS:
        raise settings.error("bits", "2, 3, 4 or 8")
    key = "checkpoint_format" if settings.get("checkpoint_format") is not None else "format"
    missing = VERSIONS[settings.choice(key, tuple(VERSIONS), default="gptq")]
    settings.get("format")
    for name in ("dynamic", "is_marlin_format", "adapter"):
        if settings.get(name):
            raise settings.error(name, "left out")
    ordered = settings.flag("desc_act")
    return lambda module: _weight(module, bits, size, missing, ordered)


def read_group_size(settings: Settings, key: str) -> int | None:
    """Return how many inputs a group has; None if there is only one. Raises ModelError."""
    return None if settings.get(key) in (-1, None) else settings.size(key)


def _weight(
    module: Module, bits: int, given: int | None, missing: int, ordered: bool
) -> QuantizedTensor:
    packed = module.matrix("qweight", ("int32",))
    inputs, outputs = packed.shape[0] * 32 // bits, packed.shape[1]
    if packed.shape[0] % bits and bits == 3:
        raise packed.error(f"has {packed.shape[0]} rows, which end within a code")
    if outputs * bits % 32:
        raise packed.error(f"has {outputs} columns, whose zero points do not fill integers")
    size = min(given or inputs, inputs)
    count = math.ceil(inputs / size)
    points = module.get("qzeros", ("int32",), (count, outputs * bits // 32))
    scale = module.get("scales", FLOATS, (count, outputs))
    order = None
    if ordered or "g_idx" in module:
        order = module.get("g_idx", ("int32",), (inputs,))

    def codes() -> Codes:
        return centred(unpack(packed.view().T, bits, inputs), bits)

    def scales() -> Scales:
        zero = _zero_points(points, bits, outputs, missing).T
        groups = None if order is None else read_groups(order, count, size)
        return Scales(read_scale(scale).T, points_or_none(zero), size, groups)

    words = (lambda: Words(packed.view().T)) if bits == 4 else None
    kept = bits if bits in KERNEL_BITS else 0
    return module.weight(packed, (outputs, inputs), kept, codes, scales, words)


def _zero_points(
    tensor: StoredTensor, bits: int, outputs: int, missing: int
) -> npt.NDArray[np.int32]:
    """Return (G, N) zero points less half of the range of codes; raises ModelError."""
    words = tensor.view().astype(np.uint32)
    ones = np.resize(np.array(ONES.get(bits, FOR_3), np.uint32), words.shape[1])
    # Whole integers were decreased, which may borrow from a neighbour.
    codes = unpack(words + np.uint32(missing) * ones, bits, outputs)
    if bits == 3 and missing and (codes != 4).any():
        codes = (unpack(words, bits, outputs) + np.uint8(1)) & np.uint8(7)
        if (codes != 4).any():
            raise tensor.error("must stand for 4s in version 1, which packages write in two ways")
    return centred(codes, bits).astype(np.int32)


def read_awq(settings: Settings) -> Callable[[Module], QuantizedTensor]:
    """Return the reader of a layer; raises ModelError for the settings."""
    key = "bits" if settings.get("bits") is not None else "w_bit"
    if settings.size(key, default=4) != 4:
        raise settings.error(key, "4")
    key = "group_size" if settings.get("group_size") is not None else "q_group_size"
    size = read_group_size(settings, key)
    for name in ("version", "checkpoint_format", "format"):
        if settings.get(name) is not None:
            version = settings.get(name)
            if not isinstance(version, str) or version.lower() != "gemm":
                raise settings.error(name, "gemm")
    return lambda module: _awq_weight(module, size)


def _awq_weight(module: Module, given: int | None) -> QuantizedTensor:
    packed = module.matrix("qweight", ("int32",))
    inputs, columns = packed.shape
    size = given or inputs
    count = group_count(packed, inputs, size)
    points = module.get("qzeros", ("int32",), (count, columns))
    scale = module.get("scales", FLOATS, (count, 8 * columns))

    def codes() -> Codes:
        return centred(_ordered(packed.view()), 4)

    def scales() -> Scales:
        zero = _ordered(points.view()).astype(np.int32) - 8
        return Scales(read_scale(scale).T, points_or_none(zero), size)

    def words() -> Words:
        return Words(packed.view().T, of_outputs=True)

    return module.weight(packed, (8 * columns, inputs), 4, codes, scales, words)


def _ordered(words: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """Return (N, rows): the codes of each output."""
    codes = unpack(words, 4, 8 * words.shape[1]).reshape(len(words), -1, 8)
    return codes[..., PLACES].reshape(len(words), -1).T
