"""From the start of a process to the first result of an encoder: time and memory.

    python bench/start.py --dtype int8 fp32 --rounds 5     random models of --geometry
    python bench/start.py DIRECTORY --dtype int8           a checkpoint that fbg.load reads

Every sample is a process of its own with an empty user cache: it imports the engine, loads the
model and computes the hidden states of 8 tokens; contestants take turns. fbg starts from the
checkpoint, with --tune also with tune=True, and from what it saved, which must give the same bits;
other engines from the files that they make (exports.py). A time is that of all three; peak is that
of the resident memory, and a size that of the files, in 10⁶ bytes.
"""

import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import comparison
import material
import numpy as np
import timing
from peers.exports import Exports, available

import fbg

IDS = list(range(8))
DTYPES = {"fp32": "float32", "bf16": "bfloat16", "int8": "int8"}
SAMPLE = r"""
import json, re, sys, time
def peak():  # of this process; getrusage would begin with that of the one that started it
    return int(re.search(r"VmHWM:\s+(\d+)", open("/proc/self/status").read())[1]) / 1024
path, dtype = sys.argv[1:3]
times, memory = [time.perf_counter()], []
for step in sys.argv[3:]:
    exec(step)
    times.append(time.perf_counter())
    memory.append(peak())
print(json.dumps([b - a for a, b in zip(times, times[1:])] + [memory[0], memory[-1]]))
"""
FIGURES = ("import s", "load s", "first result s", "import MiB", "peak MiB")
# What each engine imports, how it loads and how it runs.
FEED = f"{{n: numpy.full((1, {len(IDS)}), n == 'attention_mask', 'int64') for n in names}}"
RUN = f"model.forward([{IDS}])"
STEPS = {
    "fbg": ("import fbg", "model = fbg.load(path, dtype=dtype or None)", RUN),
    "tuned": ("import fbg", "model = fbg.load(path, dtype=dtype, tune=True)", RUN),
    "ort": (
        "import numpy, onnxruntime",
        "s = onnxruntime.InferenceSession(path, providers=['CPUExecutionProvider'])",
        f"names = [x.name for x in s.get_inputs()]; s.run(None, {FEED})",
    ),
    "openvino": (
        "import numpy, openvino",
        "s = openvino.Core().compile_model(path, 'CPU', {'PERFORMANCE_HINT': 'LATENCY'})",
        f"names = [x.any_name for x in s.inputs]; s.create_infer_request().infer({FEED})",
    ),
}


def measured(name: str, engine: str, path: Path, dtype: str) -> timing.Contestant:
    """Each sample is a process; the medians of the figures are known after the last one."""
    kept: list[list[float]] = []
    command = [sys.executable, "-c", SAMPLE, str(path), dtype, *STEPS[engine]]
    found = timing.Contestant(name, figures={"MB": size(path)})

    def sample() -> float:
        with tempfile.TemporaryDirectory() as empty:
            told = subprocess.check_output(command, env={**os.environ, "XDG_CACHE_HOME": empty})
        kept.append(json.loads(told.splitlines()[-1]))
        medians = map(statistics.median, zip(*(kept[1:] or kept), strict=True))
        found.figures.update(zip(FIGURES, medians, strict=True))
        return sum(kept[-1][:3])

    found.sample = sample
    return found


def saved(directory: Path, dtype: str, folder: Path) -> Path:
    model = fbg.load(directory, dtype=DTYPES[dtype])
    model.save(folder)
    fresh, mapped = (m.forward([IDS]).last_hidden_state for m in (model, fbg.load(folder)))
    if not np.array_equal(fresh, mapped):
        sys.exit("load.py: the saved model gives other bits")
    return folder


def size(path: Path) -> float:
    """Of a directory, or of a file with those that belong to it."""
    files = path.rglob("*") if path.is_dir() else path.parent.glob(f"{path.stem}.*")
    return sum(file.stat().st_size for file in files if file.is_file()) / 1e6


def peers(exports: Exports, dtype: str) -> dict[str, Path]:
    """The files of other engines, by contestant."""
    made = {
        "ort-fp32": exports.optimized_onnx,
        "ort-int8": exports.int8_onnx,
        "openvino-fp32": exports.plain_onnx,
        "openvino-int8": exports.openvino_int8,
    }
    names = [name for name in made if name.endswith(dtype)]
    return {name: made[name]() for name in available(names, exports)}


def field(exports: Exports, dtype: str, tune: bool) -> Iterator[timing.Contestant]:
    yield measured(f"fbg-{dtype}", "fbg", exports.checkpoint, DTYPES[dtype])
    if tune:
        yield measured(f"fbg-{dtype} tuned", "tuned", exports.checkpoint, DTYPES[dtype])
    folder = saved(exports.checkpoint, dtype, Path(tempfile.mkdtemp()) / "saved")
    yield measured(f"fbg-{dtype} saved", "fbg", folder, "")
    for name, path in peers(exports, dtype).items():
        yield measured(name, name.partition("-")[0], path, DTYPES[dtype])


def main() -> None:
    parser = timing.parser(__doc__)
    parser.add_argument("directory", type=Path, nargs="?", help="a checkpoint that fbg.load reads")
    names = material.GEOMETRIES
    parser.add_argument("--geometry", nargs="+", choices=names, default=["base"], metavar="NAME")
    parser.add_argument("--dtype", nargs="+", choices=DTYPES, default=["int8"])
    parser.add_argument("--tune", action="store_true", help="also fbg.load(..., tune=True)")
    arguments = parser.parse_args()
    report = timing.begin("start", arguments)
    models = {name: material.random_exports(name, arguments.cache) for name in arguments.geometry}
    if arguments.directory:
        models = {arguments.directory.name: Exports(arguments.directory, arguments.directory, ())}
    cases = (
        timing.Case(
            {"model": name, "precision": dtype}, partial(field, exports, dtype, arguments.tune)
        )
        for (name, exports), dtype in itertools.product(models.items(), arguments.dtype)
    )
    comparison.run(report, cases, timing.rounds(arguments))


if __name__ == "__main__":
    main()
