"""How near short texts come to the limit of memory: each weight is read once.

    python bench/short_texts.py                       BERT-base, int8, 1 to 8 tokens
    python bench/short_texts.py --dtype float32 --tokens 1 4 --threads 2

The bandwidth is what a loop that only loads reads from memory, on as many threads, measured in
turn with the model. `read` is the rate at which the model reads its weights, as GB/s and as a part
of that bandwidth; `products` is the part of the peak that its products would need for the same
time. Where both are near 1, neither can hide behind the other completely.
"""

from __future__ import annotations

import functools
import math
import statistics
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import checkpoints
import timing

import fbg
from fbg import _fbg as native
from fbg.networks.transformer import linears
from fbg.reports.peaks import PeakSamples

READ_BYTES, READ_SECONDS = 128 << 20, 0.01
HEADERS = ["tokens", "threads", "ms", "read, GB/s", "of the bandwidth", "products, of the peak"]


def bandwidth(pool: ThreadPoolExecutor, threads: int) -> float:
    """GB/s that all threads together read."""
    jobs = [pool.submit(native.measure_read, READ_BYTES, READ_SECONDS) for _ in range(threads)]
    return sum(job.result() for job in jobs)


def measure(model: fbg.Model, threads: int, tokens: list[int], rounds: int) -> list[list[str]]:
    layers = [layer.packed for layer in linears(model.network).values()]
    weights = sum(packed.nbytes for packed in layers)
    macs = sum(packed.shape[0] * packed.shape[1] for packed in layers)
    ids = {count: checkpoints.random_ids(model.config.vocab_size, count) for count in tokens}
    seconds: dict[int, list[float]] = {count: [] for count in tokens}
    reads: list[float] = []
    peak = PeakSamples(model.dtype)
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(rounds):
            peak.measure()
            reads.append(bandwidth(pool, threads))
            for count in tokens:
                model.forward(ids[count])  # what is left of the loop above leaves the caches
                run = functools.partial(model.forward, ids[count])
                seconds[count] += [timing.elapsed(run) for _ in range(5)]
    rows = []
    for count, samples in seconds.items():
        median = statistics.median(samples)
        rate = weights / median * 1e-9
        products = 2e-9 * count * macs / median / ((peak.best(1) or math.nan) * threads)
        part = rate / statistics.median(reads)
        figures = [median * 1e3, rate, part, products]
        rows.append([f"{count}", f"{threads}", *(f"{figure:.2f}" for figure in figures)])
    return rows


def main() -> None:
    parser = timing.parser(__doc__.splitlines()[0])
    parser.add_argument("--geometry", choices=checkpoints.GEOMETRIES, default="base")
    parser.add_argument("--dtype", default="int8", choices=["int8", "int4", "bfloat16", "float32"])
    parser.add_argument("--tokens", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--cache", type=Path, default=checkpoints.default_cache())
    arguments = parser.parse_args()
    timing.use_clock(arguments)
    directory = checkpoints.random_exports(arguments.geometry, arguments.cache).checkpoint
    rows = []
    for threads in arguments.threads:
        model = fbg.load(directory, dtype=arguments.dtype, num_threads=threads)
        rows += measure(model, threads, arguments.tokens, timing.rounds(arguments))
    print(timing.markdown(HEADERS, rows))


if __name__ == "__main__":
    main()
