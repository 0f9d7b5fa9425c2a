"""Break one instruction of a generated kernel at a time, and see whether random cases notice.

    python scripts/instruction_mutants.py build/tests/kernel_tester          # 1000 on each ISA
    python scripts/instruction_mutants.py TESTER --isa avx2 --count 100 --seed 7

Kernels of all kinds are drawn at random, as in tests/kernels/kernel_tester.cc, which runs them. In
a mutant, an instruction is dropped, swapped with its neighbour, or has another offset, register,
mask or immediate; changes that data flow shows to be without effect are left out. A mutant is
killed if a result differs, if something is not preserved, by a signal, or if it takes too long.
Survivors are printed. Exits with status 1 where a smaller share is killed than --least says.

With --left-out, it tries the changes that it otherwise leaves out because code computes the same
with them, and exits with status 1 if any is killed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

from instruction_changes import KINDS, Change, Mutator
from mutant_runs import Result, try_all

MUTANTS_OF_KERNEL = 5
FEW_CASES = 100


@dataclass(frozen=True)
class Mutant:
    """A change of a kernel that a group of cases calls."""

    isa: str
    group: int
    kernel: str
    change: Change

    def __str__(self) -> str:
        return f"{self.isa} group {self.group} {self.kernel}, {self.change.text}"


class Tester:
    """A kernel_tester that runs groups of cases on command."""

    def __init__(self, program: Path, seed: int, preload: Path | None) -> None:
        self.seed = seed
        environment = dict(os.environ)
        if preload:
            environment["LD_PRELOAD"] = str(preload.absolute())
        self._process = subprocess.Popen(
            [program, "--serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def ask(self, command: str) -> list[str]:
        """Return the lines of an answer."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()
        lines = []
        for line in self._process.stdout:
            if line == "end\n":
                return lines
            lines.append(line.rstrip("\n"))
        raise SystemExit(f"the tester gave no answer to: {command[:200]}")

    def kernels(self, isa: str, group: int) -> dict[str, bytes]:
        """Return the code of the kernels that a group calls, by name."""
        answer = self.ask(f"code {isa} {self.seed} {group}")
        return {name: bytes.fromhex(code) for name, code in (line.split() for line in answer)}

    def killer(self, mutant: Mutant, cases: int) -> str | None:
        """Return what noticed a mutant, or None. What few cases do not notice, many may."""
        change = mutant.change
        for count in (FEW_CASES, cases):
            (verdict,) = self.ask(
                f"try {mutant.isa} {self.seed} {mutant.group} {count} {mutant.kernel} "
                f"{change.offset} {change.new.hex()}"
            )
            if verdict == "timeout" and count > FEW_CASES:
                return None  # many cases may take long
            if verdict != "survived":
                return verdict.split(":")[0]
        return None

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()


def mutants(tester: Tester, isa: str, count: int, left_out: bool = False) -> Iterator[Mutant]:
    """Mutants of kernels of all kinds, a few of each kernel; or what is left out meanwhile."""
    random = Random(f"{tester.seed} {isa}")
    group = left = 0
    while left < count:
        kernels = tester.kernels(isa, group)
        # What finishes the sums of others runs only a part of its code.
        sliding = {name: code for name, code in kernels.items() if name.startswith("sliding_")}
        kernels = sliding or kernels
        if kernels:
            name = random.choice(sorted(kernels))
            mutator = Mutator(kernels[name], random, name)
            changes = list(mutator.changes(min(MUTANTS_OF_KERNEL, count - left)))
            left += len(changes)
            for change in mutator.left_out if left_out else changes:
                yield Mutant(isa, group, name, change)
        group += 1


def report(isa: str, result: Result[Mutant], all_mutants: list[Mutant], seconds: float) -> None:
    tried = Counter(mutant.change.kind for mutant in all_mutants)
    survived = Counter(mutant.change.kind for mutant in result.survivors)
    kinds = ", ".join(f"{kind} {tried[kind] - survived[kind]}/{tried[kind]}" for kind in KINDS)
    killers = ", ".join(f"{name} {count}" for name, count in result.killers.most_common(8))
    print(f"{isa}: {result} in {seconds:.0f} s; {kinds}; by {killers}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("tester", type=Path, metavar="TESTER")
    parser.add_argument("--isa", action="append", help="all that the tester has kernels for")
    parser.add_argument("--preload", type=Path, help="of tests/emulation, for --isa avx512_amx")
    parser.add_argument("--count", type=int, default=1000, help="mutants on each ISA")
    parser.add_argument("--cases", type=int, default=3000, help="most cases for a mutant")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--left-out", action="store_true", help="try what has no effect instead")
    parser.add_argument("--least", type=float, default=90, help="per cent that must be killed")
    options = parser.parse_args()
    isas = options.isa or tester_isas(options.tester)
    well = True
    for isa in isas:
        tester = Tester(options.tester, options.seed, options.preload)
        begin = time.monotonic()

        all_mutants = list(mutants(tester, isa, options.count, options.left_out))
        result = try_all(
            all_mutants,
            partial(tester.killer, cases=options.cases),
            str,
            only_survivors=not options.left_out,
        )
        report(isa, result, all_mutants, time.monotonic() - begin)
        tester.close()
        killed_enough = 100 * result.killed >= options.least * result.tried
        well = well and (result.killed == 0 if options.left_out else killed_enough)
    return not well


def tester_isas(program: Path) -> list[str]:
    """The instruction sets with kernels of their own that this CPU has."""
    listed = subprocess.run([program, "--list"], check=True, capture_output=True, text=True)
    return listed.stdout.split()


if __name__ == "__main__":
    sys.exit(main())
