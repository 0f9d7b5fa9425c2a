"""What the instructions of this CPU can do at most: one core, operands in registers.

The products of AMX are also measured on tiles of random data that each step of K loads from the L1,
as a product of matrices does ("..._from_l1").

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

import comparison
import roofline
import timing

import fbg
import fbg._fbg as native
from fbg.reports.peaks import FP32, VNNI, names

__all__ = ["contestant", "names", "rate"]

SECONDS = 0.05
LEAST_RATIO = 3.6


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
    for name, value in rates.items():
        case: dict[str, object] = {"instruction": name}
        figures = {"median G op/s": value, "best G op/s": 1e-9 / results[name].best}
        figures |= {f"× {fp32}": value / rates[fp32] for fp32 in FP32 if fp32 in rates}
        report.put(case, [case | figures])
    for level, found in roofline.bandwidths().items():
        case = {"reading from": level}
        report.put(case, [case | {"GB/s": found}])
    print(f"{timing.machine()['cpu']}, one core, ISA {fbg.isa.active()}\n")
    print(comparison.text(report.rows({})))

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
