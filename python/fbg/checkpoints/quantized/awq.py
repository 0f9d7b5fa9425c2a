"""AWQ in the layout "gemm" of autoawq (arXiv:2306.00978).

qweight (K, N / 8), int32   codes of 8 outputs, in the order 0, 2, 4, 6, 1, 3, 5, 7
qzeros  (G, N / 8), int32   zero points in the same order
scales  (G, N)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg.checkpoints.quantized import bits as codes_of
from fbg.checkpoints.quantized.gptq import read_group_size
from fbg.checkpoints.quantized.module import (
    FLOATS,
    Module,
    group_count,
    points_or_none,
    read_scale,
)
from fbg.checkpoints.quantized.tensor import Codes, QuantizedTensor, Scales, Words
from fbg.checkpoints.settings import Settings

PARTS = ("qweight", "qzeros", "scales")
IRRELEVANT = """
    modules_to_not_convert backend do_fuse fuse_max_seq_len modules_to_fuse exllama_config
    zero_point q_group_size w_bit sym desc_act meta pack_dtype lm_head true_sequential
    modules_in_block_to_quantize duo_scaling n_parallel_calib_samples max_calib_samples
    max_calib_seq_len model_seqlen static_groups damp_percent quantizer"""
# The code of an output among the 8 of an integer.
PLACES = [0, 4, 1, 5, 2, 6, 3, 7]


def read(settings: Settings) -> Callable[[Module], QuantizedTensor]:
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
    return lambda module: _weight(module, size)


def _weight(module: Module, given: int | None) -> QuantizedTensor:
    packed = module.matrix("qweight", ("int32",))
    inputs, columns = packed.shape
    size = given or inputs
    count = group_count(packed, inputs, size)
    points = module.get("qzeros", ("int32",), (count, columns))
    scale = module.get("scales", FLOATS, (count, 8 * columns))

    def codes() -> Codes:
        return codes_of.centred(_ordered(packed.view()), 4)

    def scales() -> Scales:
        zero = _ordered(points.view()).astype(np.int32) - 8
        return Scales(read_scale(scale).T, points_or_none(zero), size)

    def words() -> Words:
        return Words(packed.view().T, of_outputs=True)

    return module.weight(packed, (8 * columns, inputs), 4, codes, scales, words)


def _ordered(words: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """Return (N, rows): the codes of each output."""
    codes = codes_of.unpack(words, 4, 8 * words.shape[1]).reshape(len(words), -1, 8)
    return codes[..., PLACES].reshape(len(words), -1).T
