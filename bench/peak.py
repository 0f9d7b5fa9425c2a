"""What the instructions of this CPU can do at most: one core, registers only, nothing from memory.

Every "fraction of peak" elsewhere is a fraction of these, measured in the same run. On a machine
with VNNI, int8 does four multiply-adds where fp32 does one; a measured ratio below 3.6 means that
the measurement (or the machine, at that moment) is wrong, and the exit status says so.

    python bench/peak.py
"""

from __future__ import annotations

import functools
import statistics
import sys
import time

import timing

import fbg
import fbg._fbg as native

SECONDS = 0.05
FP32 = ("fp32_fma_zmm", "fp32_fma_ymm")
VNNI = ("int8_vpdpbusd_zmm", "int8_vpdpbusd_ymm")
EXACT = ("int8_maddwd_zmm", "int8_maddwd_ymm")
LEAST_RATIO = 3.6

INT16 = ("int16_maddubs_addw_zmm", "int16_maddubs_addw_ymm")
BF16 = ("bf16_vdpbf16ps_zmm",)

Peaks = dict[str, tuple[str, ...]]

# What the kernels of a family may issue under an ISA limit, best instruction first. With VNNI,
# int16 accumulation is left to int32; bfloat16 without its instruction is computed in fp32.
AVX2: Peaks = {"int8": EXACT[1:], "int16": INT16[1:], "fp32": FP32[1:], "bf16": FP32[1:]}
AVX512: Peaks = {"int8": EXACT, "int16": INT16, "fp32": FP32, "bf16": FP32}
BY_ISA: dict[str, Peaks] = {
    "avx2": AVX2,
    "avx2_vnni": {**AVX2, "int8": VNNI[1:], "int16": VNNI[1:]},
    "avx512": AVX512,
    "avx512_vnni": {**AVX512, "int8": VNNI, "int16": VNNI},
    "avx512_bf16": {**AVX512, "int8": VNNI, "int16": VNNI, "bf16": BF16},
}


def names(isa: str, family: str) -> list[str]:
    """The peaks that bound a family (a key of AVX2) on an ISA and that this CPU can run."""
    available = native.peak_names()
    return [name for name in BY_ISA.get(isa, {}).get(family, ()) if name in available]


def rate(name: str, seconds: float) -> float:
    """G op/s of one core; the native wall-clock figure, by the clock that contestants use."""
    measured = 0.0

    def measure() -> None:
        nonlocal measured
        measured = float(native.measure_peak(name, seconds))

    start = time.perf_counter()
    by_clock = timing.elapsed(measure)
    return measured * (time.perf_counter() - start) / by_clock


def contestant(label: str, peaks: list[str], operations: float, threads: int) -> timing.Contestant:
    """The time in which the best of `peaks` would do `operations` on `threads` cores."""

    def sample() -> float:
        best = max(rate(name, SECONDS / 4) for name in peaks)
        return operations / (best * 1e9 * threads)

    return timing.Contestant(label, sample=sample)


def main() -> None:
    arguments = timing.parser(__doc__.splitlines()[0]).parse_args()
    timing.use_clock(arguments)
    report = timing.Report("peak", arguments)

    def sample(name: str) -> float:
        return 1e-9 / rate(name, SECONDS)

    contestants = [
        timing.Contestant(name, sample=functools.partial(sample, name))
        for name in native.peak_names()
    ]
    results = timing.race(contestants, timing.rounds(arguments))
    rates = {name: 1e-9 / result.median for name, result in results.items()}
    fp32 = max((rates[name] for name in FP32 if name in rates), default=float("nan"))
    rows = [
        [name, f"{value:.0f}", f"{1e-9 / results[name].best:.0f}", f"{value / fp32:.2f}"]
        for name, value in rates.items()
    ]
    print(f"{timing.machine()['cpu']}, one core, ISA {fbg.isa.active()}\n")
    print(timing.markdown(["instruction", "median G op/s", "best G op/s", "× fp32"], rows))
    report.add({}, results)
    report.write()

    if any(name in rates for name in VNNI):
        ratio = statistics.median(
            min(results[name].samples[n] for name in FP32 if name in rates)
            / min(results[name].samples[n] for name in VNNI if name in rates)
            for n in range(timing.rounds(arguments))
        )
        print(f"\nint8 / fp32 = {ratio:.2f} (must be at least {LEAST_RATIO})")
        if ratio < LEAST_RATIO:
            sys.exit("peak.py: this cannot be the peak of a VNNI machine")


if __name__ == "__main__":
    main()
