"""Strassen's product in float32: its gain over the ordinary product, by size.

    python bench/strassen.py
    python bench/strassen.py --sizes 1024 2048

Square matrices, multiplied by `fbg.prepare` with and without ``algorithm=``. Errors are relative to
the standard deviation of the results.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import peak
import timing

import fbg

NAMES = ["product", "strassen1", "strassen2"]
HEADERS = ["n", "product, ms", "of peak", "1 level", "2 levels", "error", "1 level", "2 levels"]


def row(n: int, threads: int, arguments: Any, report: timing.Report) -> list[str]:
    rng = np.random.default_rng(n)
    x = rng.standard_normal((n, n), dtype=np.float32)
    w = rng.standard_normal((n, n), dtype=np.float32)
    packed = fbg.PackedB(w, dtype="float32")
    exact = x[:32].astype(np.float64) @ w.astype(np.float64)
    entrants, errors = [], []
    for name in NAMES:
        algorithm = None if name == "product" else name
        call: Callable[..., Any] = fbg.prepare(
            packed, rows=n, algorithm=algorithm, num_threads=threads
        )
        out = call(x)
        errors.append(float(np.abs(out[:32] - exact).max() / exact.std()))
        if not errors[-1] < 1e-3:
            raise SystemExit(f"strassen.py: {name} is off by {errors[-1]:.1e} at n = {n}")
        entrants.append(timing.Contestant(name, functools.partial(call, x, out)))
    names = peak.names(fbg.isa.active(), "fp32")
    entrants.append(peak.contestant("peak", names, 2.0 * n**3, threads))
    results = timing.race(entrants, timing.rounds(arguments), timing.pause(threads))
    report.add({"n": n, "threads": threads}, results)
    product = results["product"]
    gains = [results[name].speedup_over(product) for name in NAMES[1:]]
    return [
        str(n),
        f"{product.median * 1e3:.2f}",
        f"{product.speedup_over(results['peak']):.2f}",
        *(f"{gain:.2f}" for gain in gains),
        *(f"{error:.1e}" for error in errors),
    ]


def main() -> None:
    parser = timing.parser(__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[256, 512, 1024, 1536, 2048, 3072])
    arguments = parser.parse_args()
    timing.use_clock(arguments)
    report = timing.Report("strassen", arguments)
    for threads in arguments.threads:
        fbg.set_num_threads(threads)
        rows = [row(n, threads, arguments, report) for n in arguments.sizes]
        print(f"\n### Strassen, {threads} thread{'s' * (threads > 1)}, {fbg.isa.active()}\n")
        print(timing.markdown(HEADERS, rows), flush=True)


if __name__ == "__main__":
    main()
