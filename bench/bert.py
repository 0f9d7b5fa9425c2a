"""Encoders at batch 1: ours in every dtype against the peers, in turn, on random weights.

    python bench/bert.py                                         BERT-base, every peer installed
    python bench/bert.py --tokens 128 --contestants fbg-int8 ort-int8
    python bench/bert.py --contestants ort-fp32 ort-int8         peers alone; fbg is not imported
    python bench/bert.py --geometry base large roberta-base distilbert tinybert \
        --threads 1 2 --json bert.json --resume                  all; begin again where it stopped

First fp32 must agree with the first fp32 peer to 1e-3 in every hidden state; then times are taken.
The run ends with a table of all cases: our medians, and how many times faster than the fastest
peer of the same precision (float16 weights compute in fp32). Files of other engines are made once
and kept in the directory given by --cache.
"""

from __future__ import annotations

import argparse
import functools
from pathlib import Path
from typing import Any

import bert_peers
import checkpoints
import comparison
import numpy as np
import timing
from bert_peers import Forward
from exports import Array, Exports

OURS = {
    "fbg-fp32": "float32",
    "fbg-fp16": "float16",
    "fbg-bf16": "bfloat16",
    "fbg-int8": "int8",
}
CHOICES = (*OURS, *bert_peers.BERT_PEERS)
TOLERANCE = 1e-3


def ours(name: str, exports: Exports, threads: int) -> Forward:
    import fbg

    loaded = fbg.load(exports.checkpoint, dtype=OURS[name], num_threads=threads)

    def forward(ids: Array) -> Array:
        result: Array = loaded.forward(ids).last_hidden_state
        return result

    return forward


def prepare(names: list[str], exports: Exports, threads: int) -> dict[str, Forward]:
    return {
        name: ours(name, exports, threads)
        if name in OURS
        else bert_peers.peer(name, exports, threads)
        for name in names
    }


def verify(ready: dict[str, Forward], ids: Array) -> None:
    """fp32 engines agree with each other; others point the same way."""
    fp32 = [name for name in ready if name.endswith("fp32")]
    if not fp32:
        print("no fp32 contestant: results not verified")
        return
    reference = next((name for name in fp32 if name not in OURS), fp32[0])
    expected = ready[reference](ids).reshape(ids.size, -1)
    for name, forward in ready.items():
        actual = np.asarray(forward(ids)).reshape(ids.size, -1)
        difference = float(np.abs(actual - expected).max())
        norms = np.linalg.norm(actual, axis=1) * np.linalg.norm(expected, axis=1)
        cosine = float(((actual * expected).sum(axis=1) / norms).mean())
        wrong = difference > TOLERANCE if name in fp32 else cosine < 0.98
        if wrong or not np.isfinite(actual).all():
            raise SystemExit(
                f"bert.py: {name} differs from {reference} by {difference:.2e}, cosine {cosine:.5f}"
            )
        if name != reference:
            print(
                f"verified: {name} against {reference}: largest difference {difference:.1e}, "
                f"mean cosine of tokens {cosine:.5f}"
            )


def show(results: dict[str, timing.Result], title: str) -> None:
    print(f"\n### {title}\n")
    rows = [
        [name, f"{result.median * 1e3:.2f}", f"{result.best * 1e3:.2f}"]
        for name, result in results.items()
    ]
    print(timing.markdown(["contestant", "median ms", "best ms"], rows), flush=True)


def options() -> argparse.Namespace:
    parser = timing.parser(__doc__.splitlines()[0])
    parser.add_argument(
        "--geometry", nargs="+", choices=checkpoints.GEOMETRIES, default=["base"], metavar="NAME"
    )
    parser.add_argument("--tokens", type=int, nargs="+", default=[8, 32, 64, 128, 384])
    parser.add_argument("--contestants", nargs="+", choices=CHOICES, metavar="NAME")
    parser.add_argument("--cache", type=Path, default=checkpoints.default_cache())
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.tokens = [tokens for tokens in arguments.tokens if tokens <= 128]
    return arguments


def contest(
    exports: Exports,
    names: list[str],
    cases: list[dict[str, Any]],
    arguments: argparse.Namespace,
    report: timing.Report,
) -> None:
    """Measure the cases, all of one geometry and one number of threads."""
    threads: int = cases[0]["threads"]
    vocabulary: int = exports.config["vocab_size"]
    ready = prepare(names, exports, threads)
    verify(ready, checkpoints.random_ids(vocabulary, min(arguments.tokens[-1], 64)))
    for case in cases:
        ids = checkpoints.random_ids(vocabulary, case["tokens"])
        field = [
            timing.Contestant(name, functools.partial(forward, ids))
            for name, forward in ready.items()
        ]
        results = timing.race(field, timing.rounds(arguments), timing.pause(threads))
        show(results, ", ".join(f"{key} {value}" for key, value in case.items()))
        report.add(case, results)


def main() -> None:
    arguments = options()
    timing.use_clock(arguments)
    report = timing.Report("bert", arguments)
    measured = []
    for geometry in arguments.geometry:
        exports = checkpoints.random_exports(geometry, arguments.cache)
        names = arguments.contestants or list(CHOICES)
        for name in [n for n in names if n not in OURS and not bert_peers.available(n, exports)]:
            print(f"{name}: not installed, left out")
            names = [other for other in names if other != name]
        for threads in arguments.threads:
            cases: list[dict[str, Any]] = [
                {"geometry": geometry, "threads": threads, "tokens": tokens}
                for tokens in arguments.tokens
            ]
            measured += cases
            missing = [case for case in cases if not set(names) <= set(report.find(case))]
            if missing:
                contest(exports, names, missing, arguments, report)
    rows = [row for case in measured for row in report.rows(case)]
    print(f"\n{comparison.text(rows)}")


if __name__ == "__main__":
    main()
