"""What the name of a kernel says about its operands (docs/add-a-kernel.md, `kernel_name`)."""

from __future__ import annotations

import re
from dataclasses import dataclass

# Offsets in TileArgs and StageArgs.
COL, STAGES = 0x50, 0xA8
STAGE_SIZE, LOWEST, HIGHEST, ZERO_POINT = 32, 0x14, 0x18, 0x1C
PANEL_COLUMNS = 32


@dataclass(frozen=True)
class Promises:
    """What the name of a kernel says about its operands."""

    zeros: frozenset[int] = frozenset()  # offsets of parameters of stages that are 0
    bounds: frozenset[int] = frozenset()  # of bounds that are applied to numbers, never NaN
    packed: frozenset[int] = frozenset()  # of bounds that packing with saturation applies, too
    starts_panel: bool = False  # no tile begins within a panel
    any_order: bool = False  # sums of floats, as vdpbf16ps adds them in an order of its own
    no_subnormals: bool = False  # among what is cast, as vdpbf16ps makes zeros of them

    @staticmethod
    def of(name: str) -> Promises:
        isa = re.search(r"_(\d+)x(\d+)_(avx\w*?)(_|$)", name)
        if name.startswith("sliding_") or not isa:
            return Promises()
        stages = re.findall(
            r"_(CorrectZeroPoints|Dequantize|Bias|ReLU|GELUTanh|GELU|Tanh|Sigmoid|Clip|Scale|Cast"
            r"|RowRange|Add|Requantize)(?=_|$)((?:_unit|_centered|_bounded|_u?int8|_b?float16)*)",
            name,
        )
        zeros, bounds, packed = set(), set(), set()
        for i, (kind, words) in enumerate(stages):
            if kind != "Requantize":
                continue
            centered, bounded = "_centered" in words, "_bounded" in words
            if centered:
                zeros.add(i * STAGE_SIZE + ZERO_POINT)
            if bounded:
                bounds |= {i * STAGE_SIZE + LOWEST, i * STAGE_SIZE + HIGHEST}
            if bounded and isa[3] == "avx2":
                # Behind the bounds, the zero point z is added, which with 8 unsigned bits may be
                # too much for the greatest numbers: only those are less than 2^31 - 255.
                packed = {i * STAGE_SIZE + LOWEST}
                if centered or "_int8" in words:
                    packed.add(i * STAGE_SIZE + HIGHEST)
        full = "_s4g" in name and int(isa[2]) >= PANEL_COLUMNS
        any_order = name.startswith("gemm_fp32_bf16_bf16")
        normal = any_order and "_avx512_bf16" in name and "_loadc" not in name
        normal &= {kind for kind, _ in stages} <= {"ReLU", "Cast"}
        return Promises(
            frozenset(zeros), frozenset(bounds), frozenset(packed), full, any_order, normal
        )
