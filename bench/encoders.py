"""Encoders and decoders: ours in every dtype against the peers, in turn, on random weights.

    python bench/encoders.py                                         BERT-base, every peer installed
    python bench/encoders.py --tokens 128 --contestants fbg-int8 ort-int8
    python bench/encoders.py --geometry base large roberta-base distilbert tinybert \
        --threads 1 2 --json encoders.json --resume                  begin again where it stopped
    python bench/encoders.py --geometry nomic gte deberta qwen3 gemma modernbert --tokens 8 64 384
    python bench/encoders.py --geometry qwen3 --precision int8 int4  also against llama.cpp
    python bench/encoders.py --contestants fbg-fp32 fbg-onnx-fp32 ort-fp32    an exported BERT
    python bench/encoders.py profile --geometry base distilbert      shares of sub-layers, modules
    python bench/encoders.py short                                   how near to the limit of memory
    python bench/encoders.py long --geometry modernbert --layers 3   memory and time of long texts

The geometries are those of published models (bench/material.py). Of BERT and its like, all run in
turn; of the others, contestants of one precision, and only they are in memory. float16 weights
compute in fp32. First, fp32 must agree with
the first fp32 peer to 1e-3 in every hidden state, and other precisions point the same way: cosine
0.98 (0.8 in int4, as weights are noise). Files of other engines are made once, in --cache.

short: each weight is read once. The bandwidth is what a loop that only loads reads from memory, on
as many threads, measured in turn with the model. `read` is the rate at which the model reads its
weights, as GB/s and as a part of that bandwidth; `products` is the part of the peak that its
products would need for the same time. Where both are near 1, neither can hide behind the other.

long: every figure is of a process of its own, which embeds a short text and then one, or --texts
whose lengths grow by a constant factor from 8 tokens to the longest. MiB are what its resident
memory grows by at most meanwhile: what a text takes beside the weights.
"""

import argparse
import functools
import itertools
import json
import math
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import comparison
import material
import numpy as np
import peers
import timing
from peers import Array
from peers.exports import Exports, available

import fbg
from fbg import _fbg as native
from fbg.networks.transformer import linears
from fbg.reports.peaks import PeakSamples
from fbg.reports.profiling import profile

DTYPES = {"fp32": "float32", "fp16": "float16", "bf16": "bfloat16", "int8": "int8", "int4": "int4"}
TOLERANCE = 1e-3
PROFILE_ROUNDS = 5  # each of which runs the network four times
READ_BYTES, READ_SECONDS, LEAST_TOKENS = 128 << 20, 0.01, 8
SAMPLE = r"""
import ctypes, gc, json, re, sys, time
import fbg
def memory(name):
    return int(re.search(name + r":\s+(\d+)", open("/proc/self/status").read())[1]) / 1024
path, dtype, threads, lengths = json.loads(sys.argv[1])
model = fbg.load(path, dtype=dtype, num_threads=threads)
model.encode("a")
texts = ["a " * (length - 2) for length in lengths]
assert model.token_counts(texts) == lengths
gc.collect()
ctypes.CDLL(None).malloc_trim(0)  # what is free goes back to the system
before = memory("VmRSS")
open("/proc/self/clear_refs", "w").write("5")  # VmHWM begins again
start = time.perf_counter()
model.encode(texts, truncation=False)
seconds = time.perf_counter() - start
report = model.memory_report()
print(json.dumps([memory("VmHWM") - before, seconds, (report.total - report.arenas) / 2**20]))
"""


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
            *(name for name in known if not name.startswith("llama") or geometry == "qwen3"),
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


# --- Profiles, short and long texts -------------------------------------------------------------
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


def short(arguments: argparse.Namespace, report: timing.Report) -> None:
    given = itertools.product(arguments.geometry, arguments.precision, arguments.threads)
    for geometry, precision, threads in given:
        directory = material.random_exports(geometry, arguments.cache).checkpoint
        model = fbg.load(directory, dtype=DTYPES[precision], num_threads=threads)
        layers = [layer.packed for layer in linears(model.network).values()]
        macs = sum(packed.shape[0] * packed.shape[1] for packed in layers)
        ids = {n: material.random_ids(model.config.vocab_size, n) for n in arguments.tokens}
        seconds: dict[int, list[float]] = {count: [] for count in ids}
        reads, peak = [], PeakSamples(model.dtype)
        with ThreadPoolExecutor(threads) as pool:
            for _ in range(timing.rounds(arguments)):
                peak.measure()
                read = partial(native.measure_read, READ_BYTES, READ_SECONDS)
                jobs = [pool.submit(read) for _ in range(threads)]
                reads.append(sum(job.result() for job in jobs))
                for count, own in ids.items():
                    model.forward(own)  # what is left of the loop above leaves the caches
                    run = partial(model.forward, own)
                    seconds[count] += [timing.elapsed(run) for _ in range(5)]
        for count, samples in seconds.items():
            median = statistics.median(samples)
            rate = sum(packed.nbytes for packed in layers) / median * 1e-9
            most = (peak.best(1) or math.nan) * threads
            case = {"geometry": geometry, "dtype": DTYPES[precision], "threads": threads}
            case |= {"tokens": count}
            figures = {"ms": median * 1e3, "read, GB/s": rate}
            figures |= {"of the bandwidth": rate / statistics.median(reads)}
            figures |= {"products, of the peak": 2e-9 * count * macs / median / most}
            report.put(case, [case | figures])
    print(comparison.text(report.rows({})))


def long(arguments: argparse.Namespace, report: timing.Report) -> None:
    for geometry in arguments.geometry:
        longest = max(arguments.tokens)
        path = arguments.cache / f"long-{geometry}-{arguments.layers or 'all'}-{longest}"
        if not (path / "tokenizer.json").exists():
            model_type, settings = material.BY_TRANSFORMERS[geometry]
            settings = settings | {"max_position_embeddings": longest}
            if arguments.layers:
                settings |= {"num_hidden_layers": arguments.layers}
            material.write_with_transformers(path, model_type, settings)
        order = (arguments.precision, arguments.threads, arguments.tokens, arguments.texts)
        for precision, threads, tokens, texts in itertools.product(*order):
            case = {"geometry": geometry, "precision": precision, "threads": threads}
            case |= {"tokens": tokens, "texts": texts}
            if not report.rows(case):
                found = encoded_alone(path, precision, threads, tokens, texts)
                report.put(case, [case | found])
                print(report.rows(case)[0], flush=True)
    print(comparison.text(report.rows({})))


def encoded_alone(
    path: Path, precision: str, threads: int, tokens: int, texts: int
) -> dict[str, float]:
    steps = max(texts - 1, 1)
    lengths = [round(tokens * (LEAST_TOKENS / tokens) ** (n / steps)) for n in range(texts)]
    asked = json.dumps([str(path), DTYPES[precision], threads, lengths])
    command = [sys.executable, "-c", SAMPLE, asked]
    grown, seconds, weights = json.loads(subprocess.check_output(command))
    figures = {"weights, MiB": weights, "MiB": grown, "seconds": seconds}
    return figures | {"KiB for each token": grown * 1024 / tokens}


# By name: what measures, and the options that are its own: geometries, precisions, tokens.
PRECISIONS = ("fp32", "bf16", "int8")
MODELS = ("base", "large", "roberta-base", "distilbert")
QUESTIONS: dict[str, tuple[Any, tuple[str, ...], tuple[str, ...], tuple[int, ...]]] = {
    "race": (None, ("base",), PRECISIONS, (8, 32, 64, 128, 384)),
    "profile": (profiles, MODELS, ("int8", "bf16", "fp32"), (8, 64, 384)),
    "short": (short, ("base",), ("int8",), (1, 2, 4, 8)),
    "long": (long, ("modernbert", "qwen3"), PRECISIONS, (512, 2048, 8192, 32768)),
}


def main() -> None:
    parser = timing.parser(__doc__)
    parser.add_argument("question", nargs="?", choices=QUESTIONS, default="race")
    parser.add_argument("--geometry", nargs="+", choices=material.GEOMETRIES, metavar="NAME")
    parser.add_argument("--precision", nargs="+", choices=DTYPES)
    parser.add_argument("--tokens", type=int, nargs="+")
    parser.add_argument("--contestants", nargs="+", metavar="NAME", help="instead of all")
    parser.add_argument("--layers", type=int, help="of long; memory is the same with fewer")
    parser.add_argument("--texts", type=int, nargs="+", default=[1], help="of long")
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
