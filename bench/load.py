"""From import to the first result of a model: time and memory, of a checkpoint and saved.

    python bench/load.py [DIRECTORY] --dtype int8 --rounds 5      default: a random BERT-base

Saves the model in a temporary directory, checks that both give the same bits, then starts a
process for every sample, the two in turn, each with a user cache that is empty. Prints medians;
peak is that of the resident memory.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import checkpoints
import numpy as np

import fbg

IDS = list(range(8))
SAMPLE = rf"""
import json, re, sys, time
import fbg
def peak():  # of this process; getrusage would begin with that of the one that started it
    return int(re.search(r"VmHWM:\s+(\d+)", open("/proc/self/status").read())[1]) / 1024
base = peak()
start = time.perf_counter()
model = fbg.load(sys.argv[1], dtype=sys.argv[2])
loaded = time.perf_counter()
model.forward([{IDS}])
end = time.perf_counter()
print(json.dumps([loaded - start, end - loaded, end - start, base, peak()]))
"""
COLUMNS = ("load s", "first run s", "both s", "import MiB", "peak MiB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("directory", nargs="?", help="a checkpoint that fbg.load reads")
    parser.add_argument("--dtype", default="int8")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cache", type=Path, default=checkpoints.default_cache())
    args = parser.parse_args()
    if args.directory is None:
        args.directory = str(checkpoints.random_exports("base", args.cache).checkpoint)
    with tempfile.TemporaryDirectory() as folder:
        saved = str(Path(folder) / "saved")
        model = fbg.load(args.directory, dtype=args.dtype)
        model.save(saved)
        fresh, mapped = (m.forward([IDS]).last_hidden_state for m in (model, fbg.load(saved)))
        if not np.array_equal(fresh, mapped):
            sys.exit("the saved model gives other bits")
        del model
        samples: dict[str, list[list[float]]] = {args.directory: [], saved: []}
        for _ in range(args.rounds):
            for directory, rows in samples.items():
                command = [sys.executable, "-c", SAMPLE, directory, args.dtype]
                with tempfile.TemporaryDirectory() as empty:
                    variables = {**os.environ, "XDG_CACHE_HOME": empty}
                    rows.append(json.loads(subprocess.check_output(command, env=variables)))
    print(f"{'':<10}" + "".join(f"{column:>13}" for column in COLUMNS))
    for name, rows in zip(("checkpoint", "saved"), samples.values(), strict=True):
        medians = (statistics.median(column) for column in zip(*rows, strict=True))
        print(f"{name:<10}" + "".join(f"{value:>13.3g}" for value in medians))


if __name__ == "__main__":
    main()
