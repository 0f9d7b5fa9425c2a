"""Encoders and decoders of today at batch 1: ours against the peers, precision by precision.

    python bench/families.py                                     every family, every peer installed
    python bench/families.py --geometry deberta qwen3 --precision int8 --threads 1 2
    python bench/families.py --json families.json --resume       begin again where it stopped

Weights are random, the geometries those of published models (geometries.py). Contestants of one
precision run in turn, and only they are in memory. In fp32, every hidden state must agree with the
first peer's to 1e-3. The run ends with a table: our medians, and how many times faster we are than
each peer of the same precision. Files of other engines are made once and kept in --cache.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import bert
import bert_peers
import checkpoints
import timing
from geometries import FAMILIES

PEERS = {
    "fp32": ("ort-fp32", "openvino-fp32"),
    "bf16": ("openvino-bf16", "torch-bf16"),
    "int8": ("ort-int8", "openvino-int8"),
}
Measured = list[tuple[dict[str, Any], dict[str, timing.Result]]]


def options() -> argparse.Namespace:
    parser = timing.parser(__doc__.splitlines()[0])
    parser.add_argument(
        "--geometry", nargs="+", choices=FAMILIES, default=list(FAMILIES), metavar="NAME"
    )
    parser.add_argument("--precision", nargs="+", choices=PEERS, default=list(PEERS))
    parser.add_argument("--tokens", type=int, nargs="+", default=[8, 64, 384])
    parser.add_argument("--cache", type=Path, default=checkpoints.default_cache())
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.tokens = [tokens for tokens in arguments.tokens if tokens <= 64]
    return arguments


def summary(measured: Measured) -> str:
    """Markdown: a row for each geometry, precision and number of threads; a case in each cell."""
    lengths = sorted({case["tokens"] for case, _ in measured})
    rows: dict[tuple[str, ...], list[str]] = {}
    for case, results in measured:
        precision = case["precision"]
        mine = results[f"fbg-{precision}"]
        key = (case["geometry"], precision, str(case["threads"]))
        row = rows.setdefault(key, [""] * (2 * len(lengths)))
        column = 2 * lengths.index(case["tokens"])
        row[column] = f"{mine.median * 1e3:.2f}"
        row[column + 1] = ", ".join(
            f"{mine.speedup_over(results[name]):.2f} {name.partition('-')[0]}"
            for name in PEERS[precision]
            if name in results
        )
    headers = ["family", "precision", "threads"]
    for tokens in lengths:
        headers += [f"{tokens} tokens, ms", "× as fast as"]
    return timing.markdown(headers, [[*key, *row] for key, row in rows.items()])


def main() -> None:
    arguments = options()
    timing.use_clock(arguments)
    report = timing.Report("families", arguments)
    measured: Measured = []
    for geometry in arguments.geometry:
        exports = checkpoints.random_exports(geometry, arguments.cache)
        for precision in arguments.precision:
            peers = [name for name in PEERS[precision] if bert_peers.available(name, exports)]
            names = [f"fbg-{precision}", *peers]
            for threads in arguments.threads:
                cases = [
                    {"geometry": geometry, "precision": precision, "threads": threads, "tokens": n}
                    for n in arguments.tokens
                ]
                missing = [case for case in cases if not set(names) <= set(report.find(case))]
                if missing:
                    bert.contest(exports, names, missing, arguments, report)
                measured += [(case, report.find(case)) for case in cases]
    print(f"\n{summary(measured)}")


if __name__ == "__main__":
    main()
