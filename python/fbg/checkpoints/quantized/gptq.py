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
ONES = {4: 0x11111111, 8: 0x01010101}


def read(settings: Settings) -> Callable[[Module], QuantizedTensor]:
    """Return the reader of a layer; raises ModelError for the settings."""
    bits, size = read_bits(settings, "bits"), read_group_size(settings, "group_size")
    key = "checkpoint_format" if settings.get("checkpoint_format") is not None else "format"
    missing = VERSIONS[settings.choice(key, tuple(VERSIONS), default="gptq")]
    settings.get("format")
    for name in ("dynamic", "is_marlin_format", "adapter"):
        if settings.get(name):
            raise settings.error(name, "left out")
    ordered = settings.flag("desc_act")
    return lambda module: _weight(module, bits, size, missing, ordered)


def read_bits(settings: Settings, key: str) -> int:
    """Return the bits of a code; raises ModelError."""
    bits = settings.size(key)
    if bits not in (4, 8):
        raise settings.error(key, "4 or 8")
    return bits


def read_group_size(settings: Settings, key: str) -> int | None:
    """Return how many inputs a group has; None if there is only one. Raises ModelError."""
    return None if settings.get(key) in (-1, None) else settings.size(key)


def _weight(
    module: Module, bits: int, given: int | None, missing: int, ordered: bool
) -> QuantizedTensor:
    packed = module.matrix("qweight", ("int32",))
    inputs, outputs = packed.shape[0] * 32 // bits, packed.shape[1]
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
        # Whole integers were decreased, which may borrow from a neighbour.
        words = points.view().astype(np.uint32) + np.uint32(missing * ONES[bits])
        zero = codes_of.centred(codes_of.unpack(words, bits, outputs), bits).T.astype(np.int32)
        groups = None if order is None else read_groups(order, count, size)
        return Scales(read_scale(scale).T, points_or_none(zero), size, groups)

    words = (lambda: Words(packed.view().T)) if bits == 4 else None
    return module.weight(packed, (outputs, inputs), bits, codes, scales, words)
