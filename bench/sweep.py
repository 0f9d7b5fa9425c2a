"""Speed over one dimension, so that no M, N or K falls off a cliff.

    python bench/sweep.py int32 fp32 linear             M = 1…136 at N = K = 768
    python bench/sweep.py int32 --over N --range 640 896 --shape 64,768,768

Every value is timed in turn with all the others. A value is flagged when its G op/s are below 0.8
of the line between its neighbours at ±8; the exit status is the number of flags, at most 100.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys

import timing
from contests import CONTESTS, Contest, Shape

import fbg
from gemm import limits, shape, verified

DISTANCE = 8
LEAST = 0.8
DIMENSIONS = ("M", "N", "K")
RANGES = {"M": (1, 136), "N": (704, 832), "K": (704, 832)}


def shapes(base: Shape, over: str, low: int, high: int) -> dict[int, Shape]:
    """The shape for each value of the dimension that varies."""
    m, n, k = base
    return {
        value: {"M": (value, n, k), "N": (m, value, k), "K": (m, n, value)}[over]
        for value in range(low, high + 1)
    }


def measure(
    contest: Contest, sizes: dict[int, Shape], arguments: argparse.Namespace
) -> dict[str, timing.Result]:
    """Results of the contest's leading way, by value."""
    _, prepare = next(iter(contest.ours.items()))
    field = []
    for value, size in sizes.items():
        operands = contest.operands(size)
        call = verified(prepare(operands)(), operands, contest.tolerance, str(size))
        field.append(timing.Contestant(str(value), call))
    return timing.race(field, timing.rounds(arguments), timing.pause(fbg.get_num_threads()))


def flagged(rates: dict[int, float]) -> dict[int, float]:
    """Values below LEAST of the line between their neighbours, and at which fraction of it."""
    found = {}
    for value, rate in rates.items():
        below, above = rates.get(value - DISTANCE), rates.get(value + DISTANCE)
        if below is not None and above is not None:
            fraction = 2 * rate / (below + above)
            if fraction < LEAST:
                found[value] = fraction
    return found


def show(rates: dict[int, float], flags: dict[int, float], over: str) -> str:
    rows = [
        [str(value), f"{rate:.1f}", f"{flags[value]:.2f} of the line" if value in flags else ""]
        for value, rate in rates.items()
    ]
    return timing.markdown([over, "G op/s", ""], rows)


def options() -> argparse.Namespace:
    parser = timing.parser(__doc__.splitlines()[0])
    parser.add_argument("contests", nargs="+", choices=CONTESTS, metavar="CONTEST")
    parser.add_argument("--over", choices=DIMENSIONS, default="M")
    parser.add_argument("--range", type=int, nargs=2, metavar=("FIRST", "LAST"))
    parser.add_argument("--shape", type=shape, default=(64, 768, 768), metavar="M,N,K")
    parser.add_argument("--isa", nargs="+", help="names or all; default: the machine's best")
    return parser.parse_args()


def main() -> None:
    arguments = options()
    timing.use_clock(arguments)
    low, high = arguments.range or RANGES[arguments.over]
    sizes = shapes(arguments.shape, arguments.over, low, high)
    report = timing.Report("sweep", arguments)
    total = 0
    for threads, name in itertools.product(arguments.threads, arguments.contests):
        fbg.set_num_threads(threads)
        for isa in limits(arguments, CONTESTS[name]):
            with fbg.isa.limit(isa):
                results = measure(CONTESTS[name], sizes, arguments)
            rates = {
                value: 2e-9 * math.prod(size) / results[str(value)].median
                for value, size in sizes.items()
            }
            flags = flagged(rates)
            total += len(flags)
            print(f"\n### {name}, threads {threads}, {isa}, over {arguments.over}\n")
            print(show(rates, flags, arguments.over))
            print(f"\n{len(flags)} below {LEAST} of the line between neighbours at ±{DISTANCE}")
            case = {"contest": name, "threads": threads, "isa": isa, "over": arguments.over}
            report.add(case, results)
    report.write()
    sys.exit(min(total, 100))


if __name__ == "__main__":
    main()
