"""Networks that nobody here wrote, from packages of PyPI and from --file, against the peers.

    python bench/networks.py --directory nets --threads 1 2
    python bench/networks.py --only magika --file net.onnx --shape x=1,3,224,224

Each precision is compared with what onnxruntime and OpenVINO have of it, on the same
feeds: float32, bfloat16 (OpenVINO), and int8 as each quantizes it from the feeds that fbg is
calibrated on. network_files.py has the networks and their inputs. The reference is onnxruntime in
float32, on feeds of which no quantizer knew. Error: the largest difference, divided by
the largest output. Symbols: of those that the reference sees, the share that stay. Load and peak
memory are those of a process of its own that loads what was quantized before and runs once, without
what importing takes.
Who refuses a network is named with the reason.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import itertools
import math
import re
import time
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import checkpoints
import comparison
import numpy as np
import numpy.typing as npt
import timing
from cnn_peers import FORWARDS, Case, Feed, Forward
from network_files import File, find
from peers import in_own_process, installed, quietly

import fbg

Array = npt.NDArray[Any]
DTYPES = {"fp32": "float32", "bf16": "bfloat16", "int8": "int8"}
PEERS = {
    "fp32": ("ort-fp32", "openvino-fp32"),
    "bf16": ("openvino-bf16",),
    "int8": ("ort-qdq", "openvino-qdq", "openvino-nncf"),
}
ENGINES = {"fbg": "fbg.importers.net", "ort": "onnxruntime", "openvino": "openvino"}


@dataclass
class Contestant:
    """An engine with a network in one precision. run: None if it refused, for this reason."""

    name: str
    run: Forward | None = None
    reason: str = ""
    figures: dict[str, Any] = field(default_factory=dict)


def load(name: str, case: Case, threads: int, anew: bool = False) -> tuple[Forward, Any]:
    """Return what runs a network, and the network if it is fbg's. anew: quantize and save it."""
    if not name.startswith("fbg-"):
        return FORWARDS[name](case, threads), None
    saved = case.kept / f"{case.path.stem}_{name}"
    if anew:
        dtype = DTYPES[name[4:]]
        given: dict[str, Any] = {"calibrate": case.feeds} if dtype == "int8" else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the table says where steps run, and how accurately
            fbg.load(case.path, dtype=dtype, num_threads=threads, **given).save(
                saved, overwrite=True
            )
    net = fbg.load(case.path if name == "fbg-fp32" else saved, num_threads=threads)
    return lambda feed: list(net.run(feed).values()), net


def prepared(name: str, case: Case, threads: int, tested: list[Feed]) -> Contestant:
    """Return a contestant that has run once."""
    try:
        if not name.startswith("fbg-"):  # one that dies takes no other with it
            in_own_process(sample, name, case, threads, tested[0])
        run, net = load(name, case, threads, anew=True)
        run(tested[0])
    except Exception as error:  # of whatever type: the other engines go on
        reason = " ".join(str(error).split())[:120]
        return Contestant(name, reason=f"{type(error).__name__}: {reason}")
    places: Counter[str] = Counter()
    for step in net.plan().steps if net else ():
        places[step.backend] += len(step.nodes)
    shown = ", ".join(f"{place} {count}" for place, count in places.most_common())
    return Contestant(name, run, figures={"ran on": shown} if shown else {})


def agreement(file: File, got: list[list[Array]], wanted: list[list[Array]]) -> dict[str, float]:
    """Return the error over all feeds, and the share of symbols that stay."""
    errors, same, seen = [0.0], 0, 0
    for ours, theirs in zip(got, wanted, strict=True):
        for y, expected in zip(ours, theirs, strict=True):
            most = np.abs(expected).max(initial=1e-30)
            errors.append(float(np.abs(y.astype(np.float64) - expected).max(initial=0) / most))
        if file.symbols:
            y, expected = (x[0].argmax(-1) for x in (ours, theirs))
            same += int(((y == expected) & (expected != 0)).sum())
            seen += int((expected != 0).sum())
    return {"error": max(errors)} | ({"symbols": same / seen} if seen else {})


def sample(name: str, case: Case, threads: int, feed: Feed) -> dict[str, float]:
    """Load and run a network in this process; return seconds and the growth of peak memory."""

    def peak() -> float:  # getrusage would begin with that of the process that started this one
        found = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
        return int(found[1]) / 1024 if found else math.nan

    for engine in filter(installed, ENGINES.values()):
        importlib.import_module(engine)
    base, start = peak(), time.perf_counter()
    load(name, case, threads)[0](feed)
    return {"load s": time.perf_counter() - start, "peak MiB": peak() - base}


def measure(
    title: str, file: File, precision: str, threads: int, arguments: argparse.Namespace
) -> tuple[list[Contestant], dict[str, timing.Result]]:
    """Return the contestants of a precision, fbg first, and the times of those that run."""
    case, tested = Case(file.path, file.feeds(0), arguments.cache / title), file.feeds(1)
    case.kept.mkdir(parents=True, exist_ok=True)
    exact = FORWARDS["ort-fp32"](case, 1)
    wanted = [exact(feed) for feed in tested]
    names = [n for n in PEERS[precision] if installed(ENGINES[n.split("-")[0]])]
    names = [n for n in names if n != "openvino-nncf" or installed("nncf")]
    field_: list[Contestant] = []
    quietly(
        lambda: field_.extend(
            prepared(name, case, threads, tested) for name in (f"fbg-{precision}", *names)
        )
    )
    racing = []
    for each in field_:
        if each.run is None:
            continue
        each.figures |= agreement(file, [each.run(feed) for feed in tested], wanted)
        each.figures |= in_own_process(sample, each.name, case, threads, tested[0])
        racing.append(timing.Contestant(each.name, functools.partial(each.run, tested[0])))
    count = timing.rounds(arguments) if racing else 0
    return field_, timing.race(racing, count, timing.pause(threads))


def files(arguments: argparse.Namespace) -> dict[str, File]:
    shapes = {}
    for given in arguments.shape:
        name, _, sizes = given.rpartition("=")
        shapes[name] = tuple(map(int, sizes.split(",")))
    own = {path.stem: File(path, shapes) for path in arguments.file}
    if own and arguments.only is None:
        return own
    return find(arguments.only, arguments.directory) | own


def main() -> None:
    parser = timing.parser(__doc__.splitlines()[0])
    parser.add_argument("--cache", type=Path, default=checkpoints.default_cache() / "networks")
    parser.add_argument("--directory", type=Path, help="with the files; default: in --cache")
    parser.add_argument("--only", nargs="+", metavar="NETWORK", help="default: all")
    parser.add_argument(
        "--file", type=Path, nargs="+", default=[], help="others; with --only beside those"
    )
    parser.add_argument("--shape", nargs="+", default=[], metavar="INPUT=1,3,…", help="for --file")
    parser.add_argument("--precision", nargs="+", choices=PEERS, default=list(PEERS))
    arguments = parser.parse_args()
    arguments.directory = arguments.directory or arguments.cache
    timing.use_clock(arguments)
    report = timing.Report("networks", arguments)
    for title, file in files(arguments).items():
        for precision, threads in itertools.product(arguments.precision, arguments.threads):
            case = {"network": title, "precision": precision, "threads": threads}
            if not report.rows(case):
                field_, results = measure(title, file, precision, threads, arguments)
                report.add(case, results, {each.name: each.figures for each in field_})
                for each in field_:
                    if each.run is None:
                        key = case | {"contestant": each.name}
                        report.put(key, [key | {"refused": each.reason}])
            print(comparison.text(report.rows(case)), flush=True)
    rows = report.rows({})
    print(f"\n{comparison.text(rows)}", *comparison.refused(rows), sep="\n")


if __name__ == "__main__":
    main()
