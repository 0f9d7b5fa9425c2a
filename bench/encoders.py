"""Encoders and decoders: ours in every dtype against the peers, in turn, on random weights.

    python bench/encoders.py                                         BERT-base, every peer installed
    python bench/encoders.py --tokens 128 --contestants fbg-int8 ort-int8
    python bench/encoders.py --geometry base large roberta-base distilbert tinybert \
        --threads 1 2 --json encoders.json --resume                  begin again where it stopped
    python bench/encoders.py --geometry nomic gte deberta qwen3 gemma modernbert --tokens 8 64 384
    python bench/encoders.py --contestants fbg-fp32 fbg-onnx-fp32 ort-fp32    an exported BERT
    python bench/encoders.py profile --geometry base distilbert      shares of sub-layers, modules

The geometries are those of published models (bench/material.py). Of BERT and its like, all run in
turn; of the others, contestants of one precision, and only they are in memory. float16 weights
compute in fp32. First, fp32 must agree with
the first fp32 peer to 1e-3 in every hidden state, and other precisions point the same way: cosine
0.98 (0.8 in int4, as weights are noise). Files of other engines are made once, in --cache.
"""

import argparse
import functools
import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import comparison
import material
import numpy as np
import peers
import timing
from peers import Array
from peers.exports import Exports, available

import fbg
from fbg.reports.profiling import profile

DTYPES = {"fp32": "float32", "fp16": "float16", "bf16": "bfloat16", "int8": "int8", "int4": "int4"}
TOLERANCE = 1e-3
PROFILE_ROUNDS = 5  # each of which runs the network four times


def ours(name: str, exports: Exports, threads: int) -> Callable[[Array], Array]:
    """fbg-onnx-fp32 is the export, everything else the directory."""
    if name == "fbg-onnx-fp32":
        net = fbg.load(exports.plain_onnx(), num_threads=threads)
        return lambda ids: net.run(exports.feed(ids))["last_hidden_state"]
    dtype = DTYPES[name.partition("-")[2]]
    model = fbg.load(exports.checkpoint, dtype=dtype, num_threads=threads)
    return lambda ids: model.forward(ids).last_hidden_state


def theirs(name: str, exports: Exports, threads: int) -> Callable[[Array], Array]:
    run = peers.table("ENCODERS")[name].make(exports, threads)
    return lambda ids: run(exports.feed(ids))[0]


def verify(ready: dict[str, Callable[[Array], Array]], ids: Array) -> None:
    """fp32 engines agree, others point the same way; some know the last token only."""
    names = sorted(ready, key=lambda name: (not name.endswith("fp32"), name.startswith("fbg")))
    found = {name: np.asarray(ready[name](ids)) for name in names}
    found = {name: y.reshape(-1, y.shape[-1]) for name, y in found.items()}
    fewest = min(map(len, found.values()))
    expected = found[names[0]][-fewest:]
    for name in names[1:]:
        actual = found[name][-fewest:]
        norms = np.linalg.norm(actual, axis=1) * np.linalg.norm(expected, axis=1)
        cosine = float(((actual * expected).sum(axis=1) / norms).mean())
        off = float(np.abs(actual - expected).max())
        exact = name.endswith("fp32") and names[0].endswith("fp32")
        if not (off <= TOLERANCE if exact else cosine >= (0.8 if name.endswith("int4") else 0.98)):
            said = f"differs from {names[0]} by {off:.2e}, cosine {cosine:.5f}"
            raise SystemExit(f"encoders.py: {name} {said}")
        print(f"verified: {name} against {names[0]}: {off:.1e}, mean cosine {cosine:.5f}")


def cases(arguments: argparse.Namespace) -> Iterator[timing.Case]:
    known = peers.table("ENCODERS")
    for geometry in arguments.geometry:
        exports = material.random_exports(geometry, arguments.cache)
        chosen = arguments.contestants or [
            *(f"fbg-{name}" for name in DTYPES if name != "int4" or name in arguments.precision),
            *known,
        ]
        there = available([name for name in chosen if name in known], exports)
        apart = geometry in material.FAMILIES  # only contestants of one precision in memory
        groups = [(each,) for each in arguments.precision] if apart else [arguments.precision]
        for group, threads in itertools.product(groups, arguments.threads):
            kinds = (*group, "fp16") if "fp32" in group else tuple(group)
            names = [n for n in chosen if n.endswith(kinds) and (n in there or n not in known)]
            make: dict[str, Any] = {n: partial(theirs if n in known else ours, n) for n in names}
            race = Race(exports, threads, make)
            for tokens in arguments.tokens if names else ():
                key = {"geometry": geometry, "threads": threads, "tokens": tokens}
                key |= {"precision": group[0]} if apart else {}
                yield timing.Case(key, partial(race.field, tokens))


class Race:
    """Contestants that are made when the first case needs them."""

    def __init__(self, exports: Exports, threads: int, make: dict[str, Any]) -> None:
        self._exports, self._threads, self._make = exports, threads, make

    @functools.cached_property
    def _ready(self) -> dict[str, Callable[[Array], Array]]:
        ready = {name: each(self._exports, self._threads) for name, each in self._make.items()}
        verify(ready, self._ids(64))
        return ready

    def _ids(self, tokens: int) -> Array:
        return material.random_ids(self._exports.config["vocab_size"], tokens)

    def field(self, tokens: int) -> list[timing.Contestant]:
        ids = self._ids(tokens)
        return [timing.Contestant(n, partial(run, ids)) for n, run in self._ready.items()]


# --- Profiles -----------------------------------------------------------------------------------
def profiles(arguments: argparse.Namespace, report: timing.Report) -> None:
    for geometry, precision in itertools.product(arguments.geometry, arguments.precision):
        case = {"geometry": geometry, "dtype": DTYPES[precision]}
        if not report.rows(case):
            found = profile(
                material.random_exports(geometry, arguments.cache).checkpoint,
                arguments.tokens,
                num_threads=arguments.threads,
                dtype=DTYPES[precision],
                rounds=min(timing.rounds(arguments), PROFILE_ROUNDS),
            )
            rows = found.to_dict()["profiles"]
            for row in rows:
                del row["layers"]  # alike in these models
            report.put(case, [case | row for row in rows])
        print(comparison.text(report.rows(case)), flush=True)


# By name: what measures, and the options that are its own: geometries, precisions, tokens.
PRECISIONS = ("fp32", "bf16", "int8")
MODELS = ("base", "large", "roberta-base", "distilbert")
QUESTIONS: dict[str, tuple[Any, tuple[str, ...], tuple[str, ...], tuple[int, ...]]] = {
    "race": (None, ("base",), PRECISIONS, (8, 32, 64, 128, 384)),
    "profile": (profiles, MODELS, ("int8", "bf16", "fp32"), (8, 64, 384)),
}


def main() -> None:
    parser = timing.parser(__doc__)
    parser.add_argument("question", nargs="?", choices=QUESTIONS, default="race")
    parser.add_argument("--geometry", nargs="+", choices=material.GEOMETRIES, metavar="NAME")
    parser.add_argument("--precision", nargs="+", choices=DTYPES)
    parser.add_argument("--tokens", type=int, nargs="+")
    parser.add_argument("--contestants", nargs="+", metavar="NAME", help="instead of all")
    arguments = parser.parse_args()
    measure, *defaults = QUESTIONS[arguments.question]
    for name, default in zip(("geometry", "precision", "tokens"), defaults, strict=True):
        setattr(arguments, name, getattr(arguments, name) or default)
    if arguments.quick:
        arguments.tokens = [n for n in arguments.tokens if n <= 128] or arguments.tokens[:1]
    report = timing.begin(arguments.question, arguments)
    if measure:
        measure(arguments, report)
        return
    comparison.run(report, cases(arguments), timing.rounds(arguments))


if __name__ == "__main__":
    main()
