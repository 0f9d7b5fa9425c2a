"""Break kernels in one place at a time, and see whether their tests notice.

    python scripts/mutants.py instructions build/tests/kernel_tester     # 1000 on each ISA
    python scripts/mutants.py instructions TESTER --isa avx2 --count 100 --seed 7
    python scripts/mutants.py instructions TESTER --kind lookup
    python scripts/mutants.py amx                  # in the emulator of tests/emulation
    python scripts/mutants.py amx --native --only stride

Of instructions: kernels of all kinds are drawn at random, as in tests/kernels/kernel_tester.cc,
which runs them. An instruction of the generated code is dropped, swapped with its neighbour, or has
another offset, register, mask or immediate (instruction_changes.py). A change that nothing depends
on is left out where data flow shows so; other changes without effect count as survivors.

Of AMX: each mutant is a change of the generator's source text (tests/kernels/amx_mutants.yaml). It
is compiled in a copy of the tree under build-mutants, and some C++ tests run.

A mutant is killed if a result differs, if something is not preserved, by a signal, or if it takes
too long. Survivors are printed. Exits with status 1 where a smaller share is killed than should be.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

import yaml
from instruction_changes import Mutator

ROOT = Path(__file__).resolve().parents[1]
AMX_MUTANTS = ROOT / "tests/kernels/amx_mutants.yaml"
TREE, BUILD = ROOT / "build-mutants/tree", ROOT / "build-mutants/build"
GTEST = ("--gtest_brief=1", "--gtest_fail_fast")
TESTS = {
    "test_pipelined_tiles": GTEST,
    "test_microkernel": GTEST,
    "test_gemm": GTEST,
    "test_microkernel_stages": GTEST,
    "kernel_tester": ("--isa", "avx512_amx", "--cases", "3000"),
}
SECONDS = 300  # for each of these tests
MUTANTS_OF_KERNEL = 5
LENGTH_OF_JUMP = 16  # at least that of a kernel that is nothing but a jump to another one
Group = Callable[..., tuple[bool, list[str]]]  # a kernel that the tester draws, and its cases


@dataclass(frozen=True)
class Mutant:
    """A broken kernel."""

    kind: str
    text: str
    killer: Callable[[], str | None]  # tries the mutant, and returns what noticed it


def judge(title: str, mutants: list[Mutant], least: float) -> bool:
    """Try mutants and print those that survive, how many were killed, and by what.

    Returns whether at least a share of them is killed, in per cent.
    """
    begin = time.monotonic()
    tried, killed, killers = Counter[str](), Counter[str](), Counter[str]()
    for mutant in mutants:
        killer = mutant.killer()
        tried[mutant.kind] += 1
        killed[mutant.kind] += killer is not None
        killers.update([killer] if killer else [])
        if killer is None or least == 100:
            verdict = f"killed by {killer}" if killer else "SURVIVED"
            print(f"{mutant.text}: {verdict}", flush=True)
    share = 100 * killed.total() / max(1, tried.total())
    kinds = ", ".join(f"{kind} {killed[kind]}/{tried[kind]}" for kind in sorted(tried))
    by = ", ".join(f"{name} {count}" for name, count in killers.most_common(8))
    total = f"{killed.total()} of {tried.total()} killed ({share:.1f} %)"
    print(f"{title}: {total} in {time.monotonic() - begin:.0f} s; {kinds}; by {by}", flush=True)
    return share >= least


def run(tester: Path, *arguments: object) -> tuple[bool, list[str]]:
    """Whether the tester finds that all is well, and the lines that it prints."""
    command = [str(word) for word in (tester, *arguments)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)[:300]}: {done.stderr}")
    return done.returncode == 0, done.stdout.splitlines()


def instruction_killer(group: Group, cases: int, change: str) -> str | None:
    well, lines = group("--cases", cases, "--change", change)
    return None if well else lines[0].split(": ")[1]


def kernels_of_group(isa: str, codes: dict[str, bytes]) -> list[str]:
    """Return the kernels that a group is of.

    What finishes the sums of others runs only a part of its code: vector kernels behind those that
    slide, and behind those of a matrix unit.
    """
    with_code = sorted(name for name, code in codes.items() if len(code) > LENGTH_OF_JUMP)
    sliding = [name for name in with_code if name.startswith("sliding_")]
    return sliding or [name for name in with_code if f"_{isa}" in name] or with_code


def instruction_mutants(options: argparse.Namespace, isa: str) -> Iterator[Mutant]:
    """Mutants of kernels of all kinds, a few of each kernel."""
    random = Random(f"{options.seed} {isa}")
    number = made = 0
    while made < options.count:
        which = (*options.kinds, "--isa", isa, "--seed", options.seed, "--group", number)
        group = partial(run, options.tester, *which)
        printed = [line.split() for line in group("--code")[1]]
        codes = {line[1]: bytes.fromhex(line[2]) for line in printed if line[0] == "code"}
        if names := kernels_of_group(isa, codes):
            name = random.choice(names)
            mutator = Mutator(codes[name], random)
            for change in mutator.changes(min(MUTANTS_OF_KERNEL, options.count - made)):
                made += 1
                place = f"{name}:{change.offset}:{change.new.hex()}"
                killer = partial(instruction_killer, group, options.cases, place)
                yield Mutant(change.kind, f"{isa} group {number} {name}, {change.text}", killer)
        number += 1


def try_instructions(options: argparse.Namespace) -> bool:
    options.kinds = ("--kind", options.kind) if options.kind else ()
    _, lines = run(options.tester, *options.kinds, "--cases", 1)
    well = True
    for isa in options.isa or [line.split(":")[0] for line in lines if " cases of " in line]:
        well &= judge(isa, list(instruction_mutants(options, isa)), options.least)
    return well


def copy_tree(touched: list[str]) -> None:
    """Copy the tree. An earlier run may have compiled a mutant of the files to touch."""
    shutil.rmtree(TREE, ignore_errors=True)
    ignored = shutil.ignore_patterns(".*", "build", "build-*", "dist", "models")
    shutil.copytree(ROOT, TREE, ignore=ignored)
    for name in touched:
        (TREE / name).touch()


def compiles(*targets: str) -> bool:
    command = ["cmake", "--build", str(BUILD), "--target", *targets]
    return subprocess.run(command, stdout=subprocess.DEVNULL).returncode == 0


def failing_test(native: bool) -> str | None:
    """Return the first test program that fails, or None."""
    preload = {} if native else {"LD_PRELOAD": str(BUILD / "tests/libamx_emulator.so")}
    for test, arguments in TESTS.items():
        command = [str(BUILD / "tests" / test), *arguments]
        try:
            subprocess.run(
                command, env=os.environ | preload, capture_output=True, timeout=SECONDS, check=True
            )
        except subprocess.SubprocessError:
            return test
    return None


def source_killer(native: bool, file: str, old: str, new: str) -> str | None:
    path = TREE / file
    text = path.read_text()
    try:
        path.write_text(text.replace(old, new))
        if not compiles(*TESTS):
            raise SystemExit(f"{file} does not compile with {new}")
        return failing_test(native)
    finally:
        path.write_text(text)


def try_amx(options: argparse.Namespace) -> bool:
    changed = yaml.safe_load(AMX_MUTANTS.read_text())
    copy_tree(list(changed))
    configure = ["cmake", "-S", str(TREE), "-B", str(BUILD), "-G", "Ninja"]
    configure += ["-DFBG_BUILD_TESTS=ON", "-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=OFF"]
    subprocess.run(configure, check=True, stdout=subprocess.DEVNULL)
    if not compiles(*TESTS, "amx_emulator") or failing_test(options.native):
        raise SystemExit("the tree does not compile, or a test fails without any mutant")
    mutants = [
        Mutant(Path(file).name, name, partial(source_killer, options.native, file, old, new))
        for file, places in changed.items()
        for name, (old, new) in places.items()
        if options.only in name
    ]
    return judge("amx", mutants, least=100)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    commands = parser.add_subparsers(required=True)
    instructions = commands.add_parser("instructions", help="of generated code")
    instructions.set_defaults(command=try_instructions)
    add = instructions.add_argument
    add("tester", type=Path, metavar="TESTER")
    add("--isa", action="append", help="all that the tester has kernels for")
    add("--kind", help="of kernels, as the tester has it; all")
    add("--count", type=int, default=1000, help="mutants on each ISA")
    add("--cases", type=int, default=3000, help="most cases for a mutant")
    add("--seed", type=int, default=1)
    add("--least", type=float, default=90, help="per cent that must be killed")
    amx = commands.add_parser("amx", help="of the generator of AMX kernels")
    amx.set_defaults(command=try_amx)
    amx.add_argument("--native", action="store_true", help="without the emulator")
    amx.add_argument("--only", default="", metavar="TEXT", help="mutants whose name holds this")
    options = parser.parse_args()
    return not options.command(options)


if __name__ == "__main__":
    sys.exit(main())
