"""Fingerprints of everything that the library computes, to compare two builds bit by bit.

`make` writes random checkpoints once, with the modules of the tests that build them. `run` needs
only the library and NumPy; it prints one line per case: its name and the CRC-32 of its result.
`compare` prints the cases that differ, and fails if there are any.

    python scripts/result_bits make models --helpers tests/helpers
    python scripts/result_bits run models > before.txt
    python scripts/result_bits run models > after.txt        # with another build
    python scripts/result_bits compare before.txt after.txt

Only the public interface is used, so that builds with different internals can be compared. The
cases run under every ISA of the machine, with one thread and with two, and their names end in the
ISA and the number of threads; lines from two different machines therefore do not compare.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

# A BLAS library may sum in another order with another number of threads. It reads this variable
# when it is loaded.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["FBG_TUNING_CACHE"] = "off"  # choices tuned on this machine must not affect the results

from cases import Case, everywhere, fingerprint
from checkpoints import make
from images import conv_cases, net_cases
from products import depth_cases, shape_cases, view_cases
from stages import stage_cases, value_cases
from storage import packing_cases, quantization_cases

from models import minilm_cases, saved_cases, tiny_cases, wide_cases
from tasks import task_cases


def gemm_cases(models: Path) -> Iterator[Case]:
    for setting in everywhere():
        for cases in (shape_cases, stage_cases, value_cases, view_cases, depth_cases):
            for name, result in cases(setting):
                yield f"{name}/{setting}", result


def image_cases(models: Path) -> Iterator[Case]:
    for setting in everywhere():
        yield from conv_cases(setting)
    yield from net_cases(models)


GROUPS: dict[str, Callable[[Path], Iterator[Case]]] = {
    "gemm": gemm_cases,
    "packing": packing_cases,
    "quantization": quantization_cases,
    "tiny": tiny_cases,
    "wide": wide_cases,
    "minilm": minilm_cases,
    "tasks": task_cases,
    "saved": saved_cases,
    "images": image_cases,
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
    making.add_argument("--helpers", type=Path, required=True, help="folder of tiny_models.py")
    running = commands.add_parser("run", help="print a fingerprint for each case")
    running.add_argument("models", type=Path)
    running.add_argument("--only", nargs="+", choices=GROUPS, default=list(GROUPS))
    comparing = commands.add_parser("compare", help="print the cases that differ; fail if any do")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    arguments = parser.parse_args()
    if arguments.command == "make":
        make(arguments.models, arguments.helpers)
    elif arguments.command == "run":
        run(arguments.models, arguments.only)
    elif compare(arguments.before, arguments.after):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
