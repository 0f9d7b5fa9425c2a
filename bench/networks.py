"""Networks that nobody here wrote, from packages of PyPI and from --file, against the peers.

    python bench/networks.py --directory nets --threads 1 2 --html networks.html
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
import math
import multiprocessing
import re
import statistics
import time
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import checkpoints
import numpy as np
import numpy.typing as npt
import timing
from cnn_peers import FORWARDS, Case, Feed, Forward
from network_files import File, find
from peers import installed, quietly

import fbg
from fbg.reports.pages.page import Page, Section, Table, write_page

Array = npt.NDArray[Any]
DTYPES = {"fp32": "float32", "bf16": "bfloat16", "int8": "int8"}
PEERS = {
    "fp32": ("ort-fp32", "openvino-fp32"),
    "bf16": ("openvino-bf16",),
    "int8": ("ort-qdq", "openvino-qdq", "openvino-nncf"),
}
ENGINES = {"fbg": "fbg.importers.net", "ort": "onnxruntime", "openvino": "openvino"}
HEAD = (
    *("network", "precision", "threads", "fbg ms", "best peer ms", "peer", "×", "± %"),
    *("error", "of peer", "symbols", "of peer", "load s", "of peer", "peak MiB", "of peer"),
    "ran on",
)


@dataclass
class Contestant:
    """An engine with a network in one precision. run: None if it refused, for this reason."""

    name: str
    run: Forward | None = None
    reason: str = ""
    figures: dict[str, float] = field(default_factory=dict)
    places: str = ""


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
        run, net = load(name, case, threads, anew=True)
        run(tested[0])
    except Exception as error:  # of whatever type: the other engines go on
        reason = " ".join(str(error).split())[:120]
        return Contestant(name, reason=f"{type(error).__name__}: {reason}")
    places: Counter[str] = Counter()
    for step in net.plan().steps if net else ():
        places[step.backend] += len(step.nodes)
    shown = ", ".join(f"{place} {count}" for place, count in places.most_common())
    return Contestant(name, run, places=shown)


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
    return {"load": time.perf_counter() - start, "peak": peak() - base}


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
        each.figures = agreement(file, [each.run(feed) for feed in tested], wanted)
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            each.figures |= pool.apply(sample, (each.name, case, threads, tested[0]))
        racing.append(timing.Contestant(each.name, functools.partial(each.run, tested[0])))
    count = timing.rounds(arguments) if racing else 0
    return field_, timing.race(racing, count, timing.pause(threads))


def row(
    case: dict[str, Any], field_: list[Contestant], results: dict[str, timing.Result]
) -> list[str]:
    mine, *others = field_
    running = [each for each in others if each.run is not None]
    best = min(running, key=lambda peer: results[peer.name].median, default=None)
    figures = [f"{results[mine.name].median * 1e3:.2f}" if mine.run else "refused", *[""] * 4]
    if best is not None:
        theirs = results[best.name]
        figures[1:3] = [f"{theirs.median * 1e3:.2f}", best.name]
        if mine.run:
            pairs = zip(theirs.samples, results[mine.name].samples, strict=True)
            low, _, high = statistics.quantiles([x / y for x, y in pairs], n=4)
            ratio = results[mine.name].speedup_over(theirs)
            figures[3:] = [f"{ratio:.2f}", f"{50 * (high - low) / ratio:.0f}"]
    forms = {"error": "{:.1e}", "symbols": "{:.3f}", "load": "{:.2f}", "peak": "{:.0f}"}
    for key, form in forms.items():
        for each in (mine, best):
            found = each.figures.get(key) if each else None
            figures.append("" if found is None else form.format(found))
    return [*map(str, case.values()), *figures, mine.places]


def ratios(rows: list[list[str]]) -> list[list[str]]:
    """Return geometric means of × for each precision and number of threads."""
    kept: dict[tuple[str, str], list[float]] = {}
    for each in rows:
        if each[6]:
            kept.setdefault((each[1], each[2]), []).append(float(each[6]))
    return [
        [*key, str(len(own)), f"{statistics.geometric_mean(own):.2f}", f"{min(own):.2f}"]
        for key, own in kept.items()
    ]


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
    parser.add_argument("--html", type=Path, metavar="OUT", help="write the table as a page")
    arguments = parser.parse_args()
    arguments.directory = arguments.directory or arguments.cache
    timing.use_clock(arguments)
    report = timing.Report("networks", arguments)
    rows, refused = [], []
    for title, file in files(arguments).items():
        for precision in arguments.precision:
            for threads in arguments.threads:
                case = {"network": title, "precision": precision, "threads": threads}
                field_, results = measure(title, file, precision, threads, arguments)
                report.add(case, results)
                rows.append(row(case, field_, results))
                refused += [f"{title}: {x.name}: {x.reason}" for x in field_ if x.run is None]
                print(timing.markdown(HEAD, rows[-1:]), flush=True)
    means, words = ratios(rows), ("precision", "threads", "networks", "mean ×", "least ×")
    print(f"\n{timing.markdown(HEAD, rows)}\n\n{timing.markdown(words, means)}")
    print(*dict.fromkeys(refused), sep="\n")
    if arguments.html is not None:
        tables = [Table("Each network", HEAD, rows, 2), Table("Geometric means", words, means)]
        section = Section("networks", "Networks", list(dict.fromkeys(refused)), (), tables)
        machine = timing.machine()
        facts = {"CPU": machine["cpu"], "ISA": machine["isa"], "versions": str(machine["versions"])}
        write_page(Page("Networks against other engines", facts, [], [section]), arguments.html)


if __name__ == "__main__":
    main()
