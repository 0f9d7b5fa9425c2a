"""Products with int4 weights against the same with int8 weights, on one thread.

    python bench/int4.py        few rows, weights in DRAM; then 64 and 256 rows, weights in caches
    python bench/int4.py --isa avx2_vnni --rows 1 4 --threads 2
    python bench/int4.py --offsets      groups that have an offset beside their scale, too

Weights in DRAM are matrices of 4096 x 8192, many enough to exceed the last-level cache. Each call
reads another one, and the dtypes take turns. Rates count two operations per multiply-add.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator
from typing import Literal

import numpy as np

import fbg

DEEP, WIDE = 4096, 8192
SHAPES = ((1024, 1024), (384, 1536), (1536, 384))  # (K, N) of weights in caches
GROUPS: tuple[Literal[32, 64, 128], ...] = (32, 64, 128)


def weights(k: int, n: int, offsets: bool) -> Iterator[tuple[str, fbg.PackedB]]:
    w = np.random.default_rng(0).standard_normal((k, n), dtype=np.float32)
    yield "int8", fbg.PackedB(w)
    for group in GROUPS:
        yield f"int4, {group}", fbg.PackedB(w, dtype="int4", group=group)
    for group in GROUPS if offsets else ():
        packed = fbg.PackedB(w, dtype="int4", group=group, symmetric=False)
        yield f"offsets, {group}", packed


def in_memory(rows: list[int], offsets: bool, megabytes: int, threads: int, rounds: int) -> None:
    copies = {
        name: [
            fbg.PackedB._from_block(packed._native.block.copy())
            for _ in range(max(megabytes * 1_000_000 // packed.nbytes, 1))
        ]
        for name, packed in weights(DEEP, WIDE, offsets)
    }
    for m in rows:
        x = np.random.default_rng(1).standard_normal((m, DEEP), dtype=np.float32)
        seconds: dict[str, list[float]] = {name: [] for name in copies}
        for turn in range(rounds * len(copies["int8"])):
            for name, many in copies.items():
                packed = many[turn % len(many)]
                start = time.perf_counter()
                fbg.linear(x, packed, num_threads=threads)
                seconds[name].append(time.perf_counter() - start)
        report(
            f"DRAM {DEEP} x {WIDE}, M = {m}", {n: statistics.median(s) for n, s in seconds.items()}
        )


def in_caches(rows: list[int], offsets: bool, threads: int) -> None:
    for k, n in SHAPES:
        packed = dict(weights(k, n, offsets))
        for m in rows:
            x = np.random.default_rng(1).standard_normal((m, k), dtype=np.float32)
            best = dict.fromkeys(packed, float("inf"))
            for _ in range(60):
                for name, w in packed.items():
                    start = time.perf_counter()
                    fbg.linear(x, w, num_threads=threads)
                    best[name] = min(best[name], time.perf_counter() - start)
            report(f"{k} x {n}, M = {m}", best)


def report(what: str, seconds: dict[str, float]) -> None:
    ratios = "   ".join(
        f"{name}: {s * 1e6:8.1f} us {seconds['int8'] / s:5.2f} x" for name, s in seconds.items()
    )
    print(f"{what:30} {ratios}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--isa", default="avx512_vnni", help="the best instruction set to use")
    parser.add_argument("--rows", type=int, nargs="+", default=[1, 2, 4], help="in DRAM")
    parser.add_argument("--tall", type=int, nargs="*", default=[64, 256], help="in caches")
    parser.add_argument("--megabytes", type=int, default=700, help="of weights of each dtype")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--offsets", action="store_true", help="groups with offsets as well")
    arguments = parser.parse_args()
    with fbg.isa.limit(arguments.isa):
        in_memory(
            arguments.rows,
            arguments.offsets,
            arguments.megabytes,
            arguments.threads,
            arguments.rounds,
        )
        in_caches(arguments.tall, arguments.offsets, arguments.threads)


if __name__ == "__main__":
    main()
