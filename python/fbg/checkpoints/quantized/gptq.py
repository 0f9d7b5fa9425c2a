"""GPTQ as gptqmodel, auto-gptq and optimum write it (arXiv:2210.17323).

qweight (K * bits / 32, N), int32   codes of inputs that follow each other, lowest bits first
qzeros  (G, N * bits / 32), int32   zero points in the same way; version 1 stores them less 1
scales  (G, N)
g_idx   (K,), int32                 the group of each input
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from fbg.checkpoints.mapped_file import StoredTensor
from fbg.checkpoints.quantized import bits as codes_of
from fbg.checkpoints.quantized.module import (
    FLOATS,
    Module,
    points_or_none,
    read_groups,
    read_scale,
    refusal,
)
from fbg.checkpoints.quantized.tensor import Codes, QuantizedTensor, Scales, Words
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
        raise refusal(packed, f"has {packed.shape[0]} rows, which end within a code")
    if outputs * bits % 32:
        raise refusal(packed, f"has {outputs} columns, whose zero points do not fill integers")
    size = min(given or inputs, inputs)
    count = math.ceil(inputs / size)
    points = module.get("qzeros", ("int32",), (count, outputs * bits // 32))
    scale = module.get("scales", FLOATS, (count, outputs))
    order = None
    if ordered or "g_idx" in module:
        order = module.get("g_idx", ("int32",), (inputs,))

    def codes() -> Codes:
        return codes_of.centred(codes_of.unpack(packed.view().T, bits, inputs), bits)

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
    codes = codes_of.unpack(words + np.uint32(missing) * ones, bits, outputs)
    if bits == 3 and missing and (codes != 4).any():
        codes = (codes_of.unpack(words, bits, outputs) + np.uint8(1)) & np.uint8(7)
        if (codes != 4).any():
            raise refusal(
                tensor, "must stand for 4s in version 1, which packages write in two ways"
            )
    return codes_of.centred(codes, bits).astype(np.int32)
