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

import timing

import fbg
import fbg._fbg as native

SECONDS = 0.05
FP32 = ("fp32_fma_zmm", "fp32_fma_ymm")
VNNI = ("int8_vpdpbusd_zmm", "int8_vpdpbusd_ymm")
EXACT = ("int8_maddwd_zmm", "int8_maddwd_ymm")
LEAST_RATIO = 3.6

# What the int32 and fp32 kernels of an ISA may issue, best instruction first.
BY_ISA = {
    "avx2": (EXACT[1:], FP32[1:]),
    "avx2_vnni": (VNNI[1:], FP32[1:]),
    "avx512": (EXACT, FP32),
    "avx512_vnni": (VNNI, FP32),
    "avx512_bf16": (VNNI, FP32),
}


def names(isa: str, family: str) -> list[str]:
    """The peaks that bound `family` ("int8" or "fp32") on an ISA and that this CPU can run."""
    int8, fp32 = BY_ISA.get(isa, ((), ()))
    available = native.peak_names()
    return [name for name in (int8 if family == "int8" else fp32) if name in available]


def contestant(label: str, peaks: list[str], operations: float, threads: int) -> timing.Contestant:
    """The time in which the best of `peaks` would do `operations` on `threads` cores."""

    def sample() -> float:
        best = max(float(native.measure_peak(name, SECONDS / 2)) for name in peaks)
        return operations / (best * 1e9 * threads)

    return timing.Contestant(label, sample=sample)


def main() -> None:
    arguments = timing.parser(__doc__.splitlines()[0]).parse_args()
    report = timing.Report("peak", arguments)

    def sample(name: str) -> float:
        return 1e-9 / float(native.measure_peak(name, SECONDS))

    contestants = [
        timing.Contestant(name, sample=functools.partial(sample, name))
        for name in native.peak_names()
    ]
    results = timing.race(contestants, timing.rounds(arguments))
    rate = {name: 1e-9 / result.median for name, result in results.items()}
    fp32 = max((rate[name] for name in FP32 if name in rate), default=float("nan"))
    rows = [
        [name, f"{value:.0f}", f"{1e-9 / results[name].best:.0f}", f"{value / fp32:.2f}"]
        for name, value in rate.items()
    ]
    print(f"{timing.machine()['cpu']}, one core, ISA {fbg.isa.active()}\n")
    print(timing.markdown(["instruction", "median G op/s", "best G op/s", "× fp32"], rows))
    report.add({}, results)
    report.write()

    if any(name in rate for name in VNNI):
        ratio = statistics.median(
            min(results[name].samples[n] for name in FP32 if name in rate)
            / min(results[name].samples[n] for name in VNNI if name in rate)
            for n in range(timing.rounds(arguments))
        )
        print(f"\nint8 / fp32 = {ratio:.2f} (must be at least {LEAST_RATIO})")
        if ratio < LEAST_RATIO:
            sys.exit("peak.py: this cannot be the peak of a VNNI machine")


if __name__ == "__main__":
    main()
