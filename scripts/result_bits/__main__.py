"""Fingerprints of everything that the library computes, to compare two builds bit by bit.

`make` writes random checkpoints once. `run` prints one line per result: its name and its CRC-32.
Products, convolutions and networks are those that tests/differential draws; encoders and tasks are
of the checkpoints. `compare` prints the results that differ, and fails if there are any.

    python scripts/result_bits make models
    python scripts/result_bits run models > before.txt
    python scripts/result_bits run models > after.txt        # with another build
    python scripts/result_bits compare before.txt after.txt

Cases are drawn by the tests beside this script: run the same copy of it with the Python of each
build. They run under every ISA of the machine, with one thread and with two, and their names end in
the ISA and the number of threads; lines from two different machines therefore do not compare.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from random import Random

# A BLAS library may sum in another order with another number of threads. It reads this variable
# when it is loaded.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["FBG_TUNING_CACHE"] = "off"  # choices tuned on this machine must not affect the results

sys.path.append(str(Path(__file__).parents[2] / "tests"))

from cases import Case, everywhere, fingerprint
from checkpoints import make
from quantization import quantization_cases

import fbg
from helpers.random_cases import find_kind
from models import minilm_cases, net_cases, saved_cases, tiny_cases, wide_cases
from tasks import task_cases


def drawn_cases(name: str, count: int) -> Callable[[Path], Iterator[Case]]:
    """Cases that the differential tests of that name draw."""

    def cases(models: Path) -> Iterator[Case]:
        results = find_kind(f"differential.{name}").results
        assert results is not None
        for number in range(count):
            compute = results(Random(f"{name} {number}"))
            for setting in everywhere():
                for part, result in compute(fbg.get_num_threads()):
                    yield f"{number}/{part}/{setting}", result

    return cases


GROUPS: dict[str, Callable[[Path], Iterator[Case]]] = {
    "gemm": drawn_cases("gemm", 1500),
    "conv": drawn_cases("conv", 3000),
    "onnx_ops": drawn_cases("onnx_ops", 500),
    "onnx_quantized": drawn_cases("onnx_quantized", 100),
    "int8_calibration": drawn_cases("int8_calibration", 40),
    "quantization": quantization_cases,
    "tiny": tiny_cases,
    "wide": wide_cases,
    "minilm": minilm_cases,
    "tasks": task_cases,
    "saved": saved_cases,
    "images": net_cases,
}


def run(models: Path, groups: Iterable[str]) -> None:
    warnings.simplefilter("ignore")  # some texts are cut, and some numbers are not finite
    for group in groups:
        start, count = time.perf_counter(), 0
        for name, result in GROUPS[group](models):
            print(f"{group}/{name} {fingerprint(result):08x}", flush=True)
            count += 1
        took = time.perf_counter() - start
        print(f"{group}: {count} cases, {took:.1f} s", file=sys.stderr)


def compare(first: Path, second: Path) -> int:
    """Print the cases that differ or that one file lacks, and return how many there are."""
    before, after = (
        dict(line.rsplit(" ", 1) for line in path.read_text().splitlines())
        for path in (first, second)
    )
    names = list(dict.fromkeys([*before, *after]))
    differ = [name for name in names if before.get(name) != after.get(name)]
    for name in differ:
        print(f"{name} {before.get(name, 'missing')} {after.get(name, 'missing')}")
    print(f"{len(differ)} of {len(names)} cases differ")
    return len(differ)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    making = commands.add_parser("make", help="write the checkpoints that `run` loads")
    making.add_argument("models", type=Path)
    running = commands.add_parser("run", help="print a fingerprint for each case")
    running.add_argument("models", type=Path)
    running.add_argument("--only", nargs="+", choices=GROUPS, default=list(GROUPS))
    comparing = commands.add_parser("compare", help="print the cases that differ; fail if any do")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    arguments = parser.parse_args()
    if arguments.command == "make":
        make(arguments.models)
    elif arguments.command == "run":
        run(arguments.models, arguments.only)
    elif compare(arguments.before, arguments.after):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
