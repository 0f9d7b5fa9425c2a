"""What this CPU can do at most: instructions with operands in registers, and reading each cache.

The products of AMX are also measured on tiles of random data that each step of K loads from the L1,
as a product of matrices does ("..._from_l1").

Every "fraction of peak" elsewhere is a fraction of these, measured in the same run. On a machine
with VNNI, int8 does four multiply-adds where fp32 does one; a measured ratio below 3.6 means that
the measurement (or the machine, at that moment) is wrong, and the exit status says so.

    python bench/peaks.py
"""

import functools
import statistics
import sys
import time
from pathlib import Path

import comparison
import timing

import fbg
import fbg._fbg as native
from fbg.reports.peaks import FP32, VNNI, names

__all__ = ["contestant", "names", "rate"]

SECONDS = 0.05
LEAST_RATIO = 3.6
READS, READ_SECONDS, DRAM_BYTES = 40, 0.02, 128 << 20


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


def caches() -> dict[str, int]:
    """Bytes of the unified caches of one core, nearest first: {"L2": …, "L3": …}."""
    found = {}
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        kind, level, size = ((folder / n).read_text().strip() for n in ("type", "level", "size"))
        if kind == "Unified":
            found[f"L{level}"] = int(size.rstrip("K")) << 10
    return found


def bandwidths(samples: int = READS) -> dict[str, float]:
    """GB/s that one core reads from each level, the best of several samples: a roof."""
    sizes = {name: capacity // 2 for name, capacity in caches().items()} | {"DRAM": DRAM_BYTES}
    return {
        name: max(native.measure_read(size, READ_SECONDS) for _ in range(samples))
        for name, size in sizes.items()
    }


def main() -> None:
    arguments = timing.parser(__doc__).parse_args()
    report = timing.begin("peaks", arguments)
    contestants = [
        timing.Contestant(name, sample=functools.partial(lambda n: 1e-9 / rate(n, SECONDS), name))
        for name in native.peak_names()
    ]
    results = timing.race(contestants, timing.rounds(arguments))
    rates = {name: 1e-9 / result.median for name, result in results.items()}
    for name, value in rates.items():
        case: dict[str, object] = {"instruction": name}
        figures = {"median G op/s": value, "best G op/s": 1e-9 / results[name].best}
        figures |= {f"× {fp32}": value / rates[fp32] for fp32 in FP32 if fp32 in rates}
        report.put(case, [case | figures])
    for level, found in bandwidths(4 if arguments.quick else READS).items():
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
            sys.exit("peaks.py: this cannot be the peak of a VNNI machine")


if __name__ == "__main__":
    main()
