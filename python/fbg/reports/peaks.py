"""Peak rates of the instructions of this CPU, and which of them bound a family of kernels."""

from __future__ import annotations

import statistics

import fbg
from fbg import _fbg
from fbg.matmul.weights import INT4_DTYPES

FP32 = ("fp32_fma_zmm", "fp32_fma_ymm")
VNNI = ("int8_vpdpbusd_zmm", "int8_vpdpbusd_ymm")
EXACT = ("int8_maddwd_zmm", "int8_maddwd_ymm")
INT16 = ("int16_maddubs_addw_zmm", "int16_maddubs_addw_ymm")
BF16 = ("bf16_vdpbf16ps_zmm",)
FP16 = ("fp16_vfmadd_zmm",)
AMX_INT8 = ("int8_tdpbusd",)
AMX_BF16 = ("bf16_tdpbf16ps",)

NEON_FP32 = ("fp32_fmla_neon",)
NEON_INT8 = ("int8_smlal_neon",)
NEON_DOT = ("int8_sdot_neon",)
NEON_I8MM = ("int8_sudot_neon",)
NEON_BF16 = ("bf16_bfdot_neon",)

STEADY = 0.9  # part of the best sample that half of the others reach on a quiet machine

FLOATS = ("fp32", "bf16", "fp16")
Peaks = dict[str, tuple[str, ...]]

# Instructions of the kernels of a family under an ISA limit, best instruction first. With VNNI,
# int16 accumulation is left to int32; bfloat16 and
# float16 sums without their instructions are computed in fp32.
AVX2: Peaks = {"int8": EXACT[1:], "int16": INT16[1:], **dict.fromkeys(FLOATS, FP32[1:])}
AVX512: Peaks = {"int8": EXACT, "int16": INT16, **dict.fromkeys(FLOATS, FP32)}
NEON: Peaks = {"int8": NEON_INT8, "int16": NEON_INT8, **dict.fromkeys(FLOATS, NEON_FP32)}
BY_ISA: dict[str, Peaks] = {
    "avx2": AVX2,
    "avx2_vnni": {**AVX2, "int8": VNNI[1:], "int16": VNNI[1:]},
    "avx512": AVX512,
    "avx512_vnni": {**AVX512, "int8": VNNI, "int16": VNNI},
    "avx512_bf16": {**AVX512, "int8": VNNI, "int16": VNNI, "bf16": BF16},
    "avx512_fp16": {**AVX512, "int8": VNNI, "int16": VNNI, "bf16": BF16, "fp16": FP16 + FP32},
    "avx512_amx": {
        **AVX512,
        "int8": AMX_INT8 + VNNI,
        "int16": VNNI,
        "bf16": AMX_BF16 + BF16,
        "fp16": FP16 + FP32,
    },
    "neon": NEON,
    "neon_dot": {**NEON, "int8": NEON_DOT, "int16": NEON_DOT},
    "neon_i8mm": {**NEON, "int8": NEON_I8MM, "int16": NEON_I8MM},
    "neon_bf16": {**NEON, "int8": NEON_I8MM, "int16": NEON_I8MM, "bf16": NEON_BF16},
}
FAMILIES = {
    "int8": "int8",
    **dict.fromkeys(INT4_DTYPES, "int8"),  # widened to int8 in registers
    "bfloat16": "bf16",
    "float16": "fp32",
    "float16_accum": "fp16",
    "float32": "fp32",
}


def names(isa: str, family: str) -> list[str]:
    """The peaks that bound a family (a key of AVX2) on an ISA and that this CPU can run."""
    available = _fbg.peak_names()
    return [name for name in BY_ISA.get(isa, {}).get(family, ()) if name in available]


def peak_rate(dtype: str, seconds: float = 0.02) -> float | None:
    """Measure G op/s of one core for linear layers of a dtype; None where no instruction is known.

    Registers only: nothing is read from memory. It takes `seconds` for each instruction.
    """
    found = names(fbg.isa.active(), FAMILIES[dtype])
    return max((_fbg.measure_peak(name, seconds) for name in found), default=None)


class PeakSamples:
    """The peak of one core for linear layers of a dtype, measured several times in between runs.

    Whatever else uses the machine can only make a sample too low, so the best one counts.
    """

    def __init__(self, dtype: str) -> None:
        self._dtype = dtype
        self._samples: list[float] = []

    def measure(self) -> None:
        """Take another sample, in a few milliseconds."""
        rate = peak_rate(self._dtype, 0.002)
        if rate is not None:
            self._samples.append(rate)

    def best(self, threads: int) -> float | None:
        """Return G op/s of that many cores; None where no instruction is known."""
        return threads * max(self._samples) if self._samples else None

    @property
    def steady(self) -> bool:
        """Whether at least half of the samples are within a tenth of the best."""
        if not self._samples:
            return True
        return statistics.median(self._samples) >= STEADY * max(self._samples)
