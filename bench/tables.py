"""All tables of docs/tables.md: measured piece by piece, kept as JSON, made into the page.

    python bench/tables.py                       measure what is missing, then write the page
    python bench/tables.py --seconds 150         stop after that time; the next run goes on
    python bench/tables.py --part ablation       one part only; --anew measures it again
    python bench/tables.py --only-page           no measurements: the page of the results at hand

Parts: `ablation` (ablation.py), `profiles` (as `fbg profile`), and `peers` (every precision against
the other engines that are installed, as bert.py). Models have random weights; they and the files of
other engines are made once and kept in --cache. Results are in --results (bench/results, which git
ignores), one file for each part, written after each case.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import checkpoints
import timing

BENCH = Path(__file__).resolve().parent
MODELS = ("base", "large", "roberta-base", "distilbert")
GEOMETRIES = (*MODELS, "tinybert")
TOKENS = (8, 64, 384)
TINY_TOKENS = (8, 32, 64, 384)  # 32 is what is published
DTYPES = ("int8", "float32")
PEERS = {
    "int8": ("ort-int8", "openvino-int8", "torch-int8"),
    "bf16": ("openvino-bf16", "torch-bf16"),
    "fp32": ("ort-fp32", "openvino-fp32", "torch-fp32"),
}
# torch is the slowest in all shorter cases; it would take most of the time of the long ones.
LONG, SLOW = 384, "torch"
LONG_ROUNDS = 3
PROFILE_ROUNDS = 5  # each of which runs the network four times

Case = dict[str, Any]


def main() -> None:
    arguments = options()
    until = time.monotonic() + arguments.seconds
    parts: dict[str, Callable[[argparse.Namespace, timing.Report], Iterator[str]]] = {
        "ablation": ablation,
        "profiles": profiles,
        "peers": peers,
    }
    arguments.results.mkdir(exist_ok=True)
    for name in [] if arguments.only_page else arguments.part or parts:
        for case in parts[name](arguments, report_of(name, arguments)):
            print(f"{name}: {case}", flush=True)
            if time.monotonic() > until:
                print("out of time: the same command goes on from here")
                return
    if not arguments.no_page:
        import tables_page

        for path in tables_page.write(arguments.results):
            print(f"{path}: written")


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = ("ablation", "profiles", "peers")
    parser.add_argument("--part", nargs="+", choices=names, metavar="PART", help=", ".join(names))
    parser.add_argument("--anew", action="store_true", help="discard the results of these parts")
    parser.add_argument("--rounds", type=int, default=9, help="interleaved rounds (default 9)")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], metavar="N")
    parser.add_argument("--geometry", nargs="+", choices=GEOMETRIES, default=GEOMETRIES)
    parser.add_argument("--dtype", nargs="+", choices=DTYPES, default=DTYPES)
    parser.add_argument("--precision", nargs="+", choices=PEERS, default=list(PEERS))
    parser.add_argument("--tokens", type=int, nargs="+", help="of all that the tables have")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after that time")
    parser.add_argument("--cache", type=Path, default=checkpoints.default_cache())
    parser.add_argument("--results", type=Path, default=BENCH / "results")
    parser.add_argument("--only-page", action="store_true", help="measure nothing")
    parser.add_argument("--no-page", action="store_true", help="measure only")
    return parser.parse_args()


def report_of(part: str, arguments: argparse.Namespace) -> timing.Report:
    path = arguments.results / f"{part}.json"
    kept = argparse.Namespace(json=path, rounds=arguments.rounds)
    return timing.Report(part, kept, resume=not arguments.anew)


def chosen(arguments: argparse.Namespace, tokens: tuple[int, ...]) -> list[int]:
    return [n for n in tokens if not arguments.tokens or n in arguments.tokens]


def rounds(arguments: argparse.Namespace, tokens: int) -> int:
    return min(arguments.rounds, LONG_ROUNDS) if tokens >= LONG else int(arguments.rounds)


def ablation(arguments: argparse.Namespace, report: timing.Report) -> Iterator[str]:
    from ablation import Ablation, Winners

    for dtype in arguments.dtype:
        for threads in arguments.threads:
            winners = Winners(dtype, threads)
            for geometry in [name for name in MODELS if name in arguments.geometry]:
                model = None
                for tokens in chosen(arguments, TOKENS):
                    case = {"geometry": geometry, "dtype": dtype, "threads": threads}
                    case["tokens"] = tokens
                    if report.find(case):
                        continue
                    model = model or Ablation(geometry, dtype, threads, arguments.cache)
                    report.add(case, model.race(tokens, winners, rounds(arguments, tokens)))
                    yield label(case)


def profiles(arguments: argparse.Namespace, report: timing.Report) -> Iterator[str]:
    from fbg.reports.profiling import profile

    for dtype in arguments.dtype:
        for geometry in [name for name in MODELS if name in arguments.geometry]:
            checkpoint = checkpoints.random_exports(geometry, arguments.cache).checkpoint
            case = {"geometry": geometry, "dtype": dtype}
            if report.rows(case):
                continue
            found = profile(
                checkpoint,
                TOKENS,
                num_threads=arguments.threads,
                dtype=dtype,
                rounds=min(arguments.rounds, PROFILE_ROUNDS),
            )
            rows = found.to_dict()["profiles"]
            for row in rows:
                del row["layers"]  # alike in these models
            report.put(case, [case | row for row in rows])
            yield label(case)


def peers(arguments: argparse.Namespace, report: timing.Report) -> Iterator[str]:
    import bert
    import bert_peers

    for geometry in arguments.geometry:
        exports = checkpoints.random_exports(geometry, arguments.cache)
        lengths = chosen(arguments, TINY_TOKENS if geometry == "tinybert" else TOKENS)
        for precision in arguments.precision:
            others = [name for name in PEERS[precision] if bert_peers.available(name, exports)]
            for threads in arguments.threads:
                ready: dict[str, bert_peers.Forward] = {}
                for tokens in lengths:
                    case = {"geometry": geometry, "precision": precision, "threads": threads}
                    case["tokens"] = tokens
                    quick = [n for n in others if tokens < LONG or not n.startswith(SLOW)]
                    names = [f"fbg-{precision}", *quick]
                    if set(names) <= set(report.find(case)):
                        continue
                    if not ready:
                        ready = bert.prepare([f"fbg-{precision}", *others], exports, threads)
                        bert.verify(ready, checkpoints.random_ids(exports.config["vocab_size"], 16))
                    report.add(case, race(ready, names, exports, case, rounds(arguments, tokens)))
                    yield label(case)


def race(
    ready: dict[str, Any], names: list[str], exports: Any, case: Case, count: int
) -> dict[str, timing.Result]:
    ids = checkpoints.random_ids(exports.config["vocab_size"], case["tokens"])

    def call(name: str) -> Callable[[], object]:
        return lambda: ready[name](ids)

    field = [timing.Contestant(name, call(name)) for name in names]
    return timing.race(field, count, timing.pause(case["threads"]))


def label(case: Case) -> str:
    return ", ".join(f"{key} {value}" for key, value in case.items())


if __name__ == "__main__":
    main()
