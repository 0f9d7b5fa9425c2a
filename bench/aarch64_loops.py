"""What the inner loops of the AArch64 kernels can reach at most, as llvm-mca models the cores.

    make aarch64
    python bench/aarch64_loops.py

The tests of `build-aarch64` write their kernels to files in an emulator. For the tile that
computes most products of each family, the loop over K is disassembled and given to llvm-mca. The
figures are
multiply instructions in a cycle; the peak is what llvm-mca gives for these instructions alone.
Needs llvm-mca 16, which is in Debian's package `llvm-16`: older ones know less of Neoverse N2.
"""

import argparse
import os
import re
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "build-aarch64" / "tests"
LLVM_MCA = "llvm-mca-16"
EMULATOR = ("qemu-aarch64-static", "-cpu", "max", "-L", "/usr/aarch64-linux-gnu")
PROGRAMS = {
    "test_microkernel": "*GeometryFits*:*OperandsInPairs*",
    "test_aarch64": "*RunOnLanewiseKernels",
}
ITERATIONS = 200
LINE = re.compile(r"^\s*([0-9a-f]+):\t[0-9a-f]{8}\s+\t?(\S+)\s*(.*)$")
MULTIPLIES = ("fmla", "smlal", "smlal2", "sdot", "usdot", "sudot", "usmmla", "bfdot", "bfmmla")
LOOPS = Path(__file__).with_name("data") / "aarch64_loops.txt"


def write_kernels(directory: str) -> None:
    """Let the tests generate every kernel, and write each to a file."""
    environment = os.environ | {"FBG_DUMP_KERNELS": directory}
    for program, tests in PROGRAMS.items():
        command = [*EMULATOR, str(TESTS / program), "--gtest_brief=1", f"--gtest_filter={tests}"]
        subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)


def disassemble(path: Path) -> list[tuple[int, str, str]]:
    """Return the addresses, the mnemonics and the operands of a kernel's instructions."""
    command = ["aarch64-linux-gnu-objdump", "-b", "binary", "-m", "aarch64", "-D", str(path)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    matches = (LINE.match(line) for line in text.splitlines())
    return [(int(m[1], 16), m[2], m[3].split("//")[0].strip()) for m in matches if m]


def inner_loop(code: list[tuple[int, str, str]]) -> list[str]:
    """Return the innermost loop with most multiply instructions, without branches."""
    best: list[str] = []
    last = 0  # the end of the loop before
    for end, (address, name, operands) in enumerate(code):
        if name.split(".")[0] != "b" or not operands.startswith("0x"):
            continue
        target = int(operands, 16)
        if target >= address:
            continue
        body = [f"{op} {args}" for at, op, args in code[:end] if at >= target and op != "cbz"]
        if target > last and len(multiplies(body)) > len(multiplies(best)):
            best = body
        last = address
    return best


def multiplies(body: list[str]) -> list[str]:
    """Return the instructions that multiply, without those that scale sums of integers."""
    found = [line for line in body if line.split()[0] in MULTIPLIES]
    return [line for line in found if line.split()[0] != "fmla"] or found


def cycles(body: list[str], core: str) -> float:
    """Return the cycles of an iteration of the loop."""
    command = [LLVM_MCA, "-march=aarch64", f"-mcpu={core}", f"-iterations={ITERATIONS}"]
    done = subprocess.run(
        command, input="\n".join(body), check=True, capture_output=True, text=True
    )
    found = re.search(r"Total Cycles:\s+(\d+)", done.stdout)
    if found is None:
        raise SystemExit("llvm-mca printed no number of cycles")
    return int(found[1]) / ITERATIONS


def peak(body: list[str], core: str) -> float:
    """Return how many of the loop's multiply instructions a core runs in a cycle by themselves."""
    only = multiplies(body)
    independent = [re.sub(r" v\d+\.", f" v{i % 15}.", line, count=1) for i, line in enumerate(only)]
    independent = [re.sub(r", v\d+\.", ", v15.", line) for line in independent]
    return len(only) / cycles(independent, core)


def main() -> None:
    argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "").parse_args()
    with tempfile.TemporaryDirectory() as directory:
        write_kernels(directory)
        for line in LOOPS.read_text(encoding="utf-8").splitlines()[1:]:
            name, start, end, cores = (word.strip() for word in line.split("|"))
            body = inner_loop(disassemble(Path(directory) / f"{start}{end}.bin"))
            for core in (f"neoverse-{model}" for model in cores.split()):
                rate, most = len(multiplies(body)) / cycles(body, core), peak(body, core)
                share = f"{rate:.2f} of {most:.2f} ({rate / most:.0%})"
                print(f"{name:28} {core:12} {share:20} {start}")


if __name__ == "__main__":
    main()
