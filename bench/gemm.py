"""GEMM: verify against NumPy, then time this library and its peers in turn, shape by shape.

    python bench/gemm.py                            every contest, each over its own shapes
    python bench/gemm.py linear                     dynamic int8 against torch and onnxruntime
    python bench/gemm.py fp32 int32 --isa all --memory warm cold --threads 1 2
    python bench/gemm.py int32 --shapes 64,768,768  or --set bert_base square

bench/contests.py says what each contest compares, bench/shapes.py which sets there are.

--memory warm: every call uses the same weights. cold: calls rotate over copies of them that
exceed the last-level cache 1.5 times, so that B comes from DRAM; peers as well have a module or
session for each copy. A and C stay warm.

G op/s counts 2·M·N·K. "of peak" is the fraction of the best register-only rate of the instructions
an ISA allows (bench/peak.py), measured in the same rounds.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import comparison
import gemm_peers
import peak
import shapes
import timing
from contests import CONTESTS, LEADS, Call, Contest, Operands, Shape

import fbg


def last_level_cache() -> int:
    """Bytes, as Linux tells."""
    sizes = Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size")
    return max(int(path.read_text().rstrip("K\n")) << 10 for path in sizes)


def copies(shape: Shape, weight_bytes: int, memory: str) -> int:
    """How many copies of the weights the calls of a contestant rotate over."""
    if memory == "warm":
        return 1
    return 1 + math.ceil(1.5 * last_level_cache() / (shape[1] * shape[2] * weight_bytes))


def rotate(make: Callable[[], Call], count: int) -> Call:
    """A call that uses the next copy of the weights each time."""
    calls = [make() for _ in range(count)]
    if count == 1:
        return calls[0]
    turns = itertools.cycle(calls)
    return lambda: next(turns)()


def verified(call: Call, operands: Operands, tolerance: float, name: str) -> Call:
    error = operands.error(gemm_peers.as_float(call()))
    if not error <= tolerance:
        raise SystemExit(
            f"gemm.py: {name} is off by {error:.2e} at A {operands.a.shape}, B {operands.b.shape}"
        )
    return call


def rival(
    name: str, product: gemm_peers.Product, operands: Operands, tolerance: float
) -> timing.Contestant | None:
    """Return a peer, or None if it is missing, has no such product or computes it wrongly."""
    peer = gemm_peers.prepare(name, product)
    if peer is None:
        return None
    with peer.around():
        call = rotate(peer.make, product.copies)
        error = operands.error(gemm_peers.as_float(call()))
    if not error <= tolerance:
        print(f"{name} is left out, its result is off by {error:.2e}", flush=True)
        return None
    return timing.Contestant(name, call, around=peer.around)


def field(
    contest: Contest, shape: Shape, isas: list[str], threads: int, memory: str, rivals: list[str]
) -> list[timing.Contestant]:
    """Everything that runs for one shape: our ways under each ISA, the peaks, the peers."""
    operands = contest.operands(shape)
    count = copies(shape, contest.weight_bytes, memory)
    result: list[timing.Contestant] = []
    for way, prepare in contest.ours.items():
        make = prepare(operands)
        for isa in isas:
            limit = functools.partial(fbg.isa.limit, isa)
            with limit():  # packing as well: int16 is kept only where it is the faster way
                call = rotate(make, count)
                verified(call, operands, contest.tolerance, f"{way} {isa}")
            result.append(timing.Contestant(f"{way} {isa}", call, around=limit))
    for isa in isas:
        for family in sorted(set(contest.peak.values())):
            if names := peak.names(isa, family):
                label = f"peak {family} {isa}"
                result.append(peak.contestant(label, names, 2.0 * math.prod(shape), threads))
    product = gemm_peers.Product(operands.a, operands.b, operands.bias, threads, count)
    found = (rival(name, product, operands, contest.tolerance) for name in rivals)
    return result + [each for each in found if each is not None]


def shape(text: str) -> Shape:
    m, n, k = (int(part) for part in text.split(","))
    return m, n, k


def options() -> argparse.Namespace:
    parser = timing.parser(__doc__.splitlines()[0])
    parser.add_argument("contests", nargs="*", metavar="CONTEST", help=", ".join(CONTESTS))
    parser.add_argument("--shapes", type=shape, nargs="+", metavar="M,N,K")
    parser.add_argument("--set", choices=shapes.SETS, nargs="+", help="shapes to measure instead")
    parser.add_argument("--isa", nargs="+", help="names or all; default: the machine's best")
    parser.add_argument("--memory", choices=("warm", "cold"), nargs="+", default=["warm"])
    parser.add_argument("--peers", nargs="*", choices=gemm_peers.PEERS, metavar="PEER")
    parser.add_argument("--markdown", type=Path, metavar="OUT", help="also write the summaries")
    arguments = parser.parse_args()
    unknown = set(arguments.contests) - set(CONTESTS)
    if unknown:
        parser.error(f"unknown contest {', '.join(sorted(unknown))}; known: {', '.join(CONTESTS)}")
    return arguments


def limits(arguments: argparse.Namespace, contest: Contest) -> list[str]:
    if arguments.isa == ["all"]:
        return list(fbg.isa.supported())
    named: list[str] | None = arguments.isa
    return named or [contest.isa or fbg.isa.active()]


def chosen(arguments: argparse.Namespace, contest: Contest) -> list[Shape]:
    if arguments.shapes:
        named: list[Shape] = arguments.shapes
        return named
    sets = arguments.set or contest.sets
    return list(dict.fromkeys(shape for name in sets for shape in shapes.SETS[name]))


def run(name: str, threads: int, memory: str, arguments: Any, report: timing.Report) -> str:
    """One contest over its shapes; its summary."""
    contest = CONTESTS[name]
    isas = limits(arguments, contest)
    rivals = list(contest.peers) if arguments.peers is None else arguments.peers
    setting = {"contest": name, "threads": threads, "memory": memory}
    for m, n, k in chosen(arguments, contest):
        case = setting | {"m": m, "n": n, "k": k}
        entrants = functools.partial(field, contest, (m, n, k), isas, threads, memory, rivals)
        results = report.race(case, entrants, timing.rounds(arguments))
        times = (f"{x} {y.median * 1e6:.1f}" for x, y in results.items() if x[:4] != "peak")
        print(f"{m}x{n}x{k}: {', '.join(times)} µs", flush=True)
    return comparison.text(report.rows(setting), LEADS)


def main() -> None:
    arguments = options()
    timing.use_clock(arguments)
    report = timing.Report("gemm", arguments)
    texts: list[str] = []
    todo = itertools.product(
        arguments.threads, arguments.memory, arguments.contests or list(CONTESTS)
    )
    for threads, memory, name in todo:
        fbg.set_num_threads(threads)
        texts.append(run(name, threads, memory, arguments, report))
        print(f"\n{texts[-1]}\n", flush=True)
        report.write()
        if arguments.markdown:
            arguments.markdown.write_text("\n\n".join(texts) + "\n")


if __name__ == "__main__":
    main()
