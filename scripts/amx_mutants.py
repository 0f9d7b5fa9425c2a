"""Break the generator of AMX kernels in one place at a time, and see whether the tests notice.

    python scripts/amx_mutants.py                  # in the emulator of tests/emulation
    python scripts/amx_mutants.py --native         # on a CPU with AMX
    python scripts/amx_mutants.py --only stride    # mutants whose name holds this

Each mutant is a change of the source text, compiled in a copy of the tree under build-mutants. It
is killed if a test fails, crashes or takes too long. Exits with status 1 if one survives.
scripts/instruction_mutants.py breaks the instructions that generators emit.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from mutant_runs import try_all

ROOT = Path(__file__).resolve().parents[1]
COPY = ROOT / "build-mutants"
TESTS = (
    "test_tile_chain",
    "test_microkernel",
    "test_gemm",
    "test_microkernel_stages",
)  # until one fails
X64 = "src/kernels/x64/"
GENERATOR, FINISH, HEADER, SCOPE = (
    X64 + name for name in ("amx_generator.cc", "amx_finish.cc", "amx_code.h", "amx_scope.cc")
)
SECONDS = 300
FOLDERS = (  # and the file that the build begins with
    "CMakeLists.txt",
    "cmake",
    "examples",
    "include",
    "packaging",
    "src",
    "tests",
)


@dataclass(frozen=True)
class Mutant:
    """`old`, which stands once in `file`, becomes `new`."""

    name: str
    old: str
    new: str
    file: str = GENERATOR


MUTANTS = (
    # Products.
    Mutant("operands swapped", "tdpbusd(sum, x, y)", "tdpbusd(sum, y, x)"),
    Mutant("A signed", "tdpbusd(sum, x, y)", "tdpbssd(sum, x, y)"),
    Mutant("B unsigned", "tdpbusd(sum, x, y)", "tdpbuud(sum, x, y)"),
    Mutant("bf16 operands swapped", "tdpbf16ps(sum, x, y)", "tdpbf16ps(sum, y, x)"),
    Mutant("no zeroing", "tilezero(sums(i, v));", "(void)0;"),
    Mutant(
        "sums so far forgotten", "tileloadd(sums(i, v), sum", "tilezero(sums(i, v)), (void)(sum"
    ),
    Mutant("sums so far without a mask", "key_.masked && v == vectors_ - 1);", "false);"),
    Mutant(
        "rows of sums so far not advanced",
        "if (i + 1 < rows_) add(scratch_, arg(offsetof(TileArgs, ldpartial)));",
        "",
    ),
    Mutant(
        "second rows of sums not stored",
        "for_each_sum([&](int i, int v) { tilestored",
        "for_each_sum([&](int i, int v) { if (i == 0) tilestored",
    ),
    Mutant(
        "last columns of sums not stored",
        "for_each_sum([&](int i, int v) { tilestored",
        "for_each_sum([&](int i, int v) { if (v == 0) tilestored",
    ),
    # Sums that pass no stage are loaded and stored as tiles.
    Mutant(
        "tiles of sums so far forgotten",
        "tileloadd(sums(i, v), ptr[a_[i]",
        "tilezero(sums(i, v)), (void)(ptr[a_[i]",
    ),
    Mutant("tiles not stored", "store_to_c();\n    jmp", "jmp"),
    Mutant(
        "second rows of tiles misplaced",
        "imul(a_[1], b_stride_, first_row(1));",
        "mov(a_[1], b_stride_);",
    ),
    Mutant(
        "distance between rows of C",
        "mov(b_stride_, arg(offsetof(TileArgs, ldc)));",
        "mov(b_stride_, row_bytes());",
    ),
    Mutant(
        "distance between rows of sums so far",
        "mov(b_stride_, arg(offsetof(TileArgs, ldpartial)));",
        "mov(b_stride_, row_bytes());",
    ),
    Mutant("tiles stored without the rests", "jnz(rest, T_NEAR);", ""),
    Mutant(
        "whole tiles of a partial vector",
        "key_.num_stages == 0 && !key_.masked &&",
        "key_.num_stages == 0 &&",
        HEADER,
    ),
    Mutant("stride of B", "mov(b_stride_, kPanelGroupBytes);", "mov(b_stride_, kTileBytes);"),
    Mutant("step along A", "add(a_[i], kTileBytes)", "add(a_[i], kTileBytes / 2)"),
    Mutant("step along B", "add(b_[p], kBlockGroups * kPanelGroupBytes)", "add(b_[p], kTileBytes)"),
    Mutant("one panel twice", "add(b_[1], field(offsetof(BlockPair, b_panel_stride)));", ""),
    Mutant(
        "half of the blocks",
        "shr(blocks_, std::countr_zero(unsigned{kBlockGroups}));",
        "shr(blocks_, 1 + std::countr_zero(unsigned{kBlockGroups}));",
    ),
    Mutant("rows of A without overlap", "lda_, first_row(1));", "lda_, kTileRows);"),
    Mutant("rows of sums without overlap", "0 : rows_ - kTileRows;", "0 : kTileRows;", HEADER),
    Mutant(
        "pairs repeated",
        "L(skip);\n  add(pair_, kPairBytes);\n  dec(pairs_left_);",
        "L(skip);\n  dec(pairs_left_);",
    ),
    Mutant(
        "one pair only",
        "dec(pairs_left_);\n  jmp(next, T_NEAR);",
        "xor_(pairs_left_, pairs_left_);\n  jmp(next, T_NEAR);",
    ),
    Mutant("mask of all tiles", "if (key_.masked) prepare_mask();", ""),
    # Chains of tiles.
    Mutant("chain of one tile", "jnz(tile, T_NEAR);", "(void)tile;"),
    Mutant("last tile unfinished", "jnz(tile, T_NEAR);\n  call(finish_);", "jnz(tile, T_NEAR);"),
    Mutant("tile before unfinished", "}\n  call(finish_);\n  store_sums();", "}\n  store_sums();"),
    Mutant("results never finished", "mov(qword[frame_ + slot_offset(Slot::unfinished)], 1);", ""),
    Mutant("rests not seen", "or_(groups_seen_, blocks_);", ""),
    Mutant(
        "odd rows unfinished",
        "} else if (rows_ % step_rows() != 0) {",
        "} else if (false) {",
        FINISH,
    ),
    Mutant("steps not counted", "pop(*r);\n  dec(steps);", "pop(*r);", FINISH),
    Mutant(
        "a register lost",
        "for (auto r = std::rbegin(used); r != std::rend(used); ++r) pop(*r);",
        "add(rsp, 8 * static_cast<int>(std::size(used)));",
        FINISH,
    ),
    Mutant("rows of C not advanced", "mov(copied(offsetof(TileArgs, c)), c);", "", FINISH),
    Mutant(
        "rows of sums not advanced",
        "mov(scratch_, copied(offsetof(TileArgs, partial)));\n"
        "  step_argument(offsetof(TileArgs, partial), height * row_bytes());",
        "mov(scratch_, copied(offsetof(TileArgs, partial)));",
        FINISH,
    ),
    Mutant(
        "picked rows not advanced",
        "step_argument(offsetof(TileArgs, picked), height);",
        "",
        FINISH,
    ),
    Mutant(
        "rows that are picked singly dropped",
        "cmp(single_rows, 0);\n    jz(done, T_NEAR);",
        "jmp(done, T_NEAR);",
        FINISH,
    ),
    Mutant("row not advanced", "step_argument(offsetof(TileArgs, row), height);", "", FINISH),
    Mutant(
        "scales of A not advanced",
        "step_argument(offsetof(TileArgs, a_scale), height * 4);",
        "",
        FINISH,
    ),
    Mutant(
        "zero points of A not advanced",
        "step_argument(offsetof(TileArgs, a_zero_point), height * 4);",
        "",
        FINISH,
    ),
    Mutant(
        "row terms not advanced",
        "step_argument(offsetof(TileArgs, row_terms), height * 4);",
        "",
        FINISH,
    ),
    # Rests of K.
    Mutant("rest of K dropped", "jnz(rests, T_NEAR);", "(void)rests;"),
    Mutant(
        "rest of K at the start of A",
        "lea(rest, ptr[scratch_ * kGroupBytes]);",
        "xor_(rest, rest);",
        FINISH,
    ),
    Mutant(
        "rest of K at the wrong place of B",
        "imul(scratch_, scratch_, kPanelGroupBytes);",
        "imul(scratch_, scratch_, kTileBytes);",
        FINISH,
    ),
    Mutant("rests not counted", "inc(count);\n", "", FINISH),
    Mutant(
        "finished from zero",
        "call_kernel(vector_key(key_, height, true));",
        "call_kernel(vector_key(key_, height, false));",
        FINISH,
    ),
    Mutant("C not advanced", "add(copied(offsetof(TileArgs, c)), scratch_);", "", FINISH),
    Mutant(
        "sums not advanced",
        "add(copied(offsetof(TileArgs, c)), scratch_);\n"
        "  step_argument(offsetof(TileArgs, partial), height * row_bytes());",
        "add(copied(offsetof(TileArgs, c)), scratch_);",
        FINISH,
    ),
    Mutant(
        "rest of A not advanced",
        "imul(scratch_, field(offsetof(BlockPair, lda)), height);",
        "imul(scratch_, field(offsetof(BlockPair, lda)), 1);",
        FINISH,
    ),
    # The configuration.
    Mutant(
        "rows of the configuration",
        "tile < kFirstB ? std::min<std::int64_t>(rows, kTileRows) : kTileRows",
        "tile < kFirstB ? kTileRows : std::min<std::int64_t>(rows, kTileRows)",
        SCOPE,
    ),
    Mutant(
        "configuration too high",
        "std::min<std::int64_t>(rows, kTileRows) : kTileRows",
        "std::int64_t{kTileRows} : kTileRows",
        SCOPE,
    ),
    Mutant(
        "stale configuration",
        "if (!configured_) return;\n  TileConfig",
        "static thread_local bool before = false;\n  if (!configured_ || before) return;\n"
        "  before = true;\n  TileConfig",
        SCOPE,
    ),
    Mutant(
        "no configuration",
        "if (!configured_) return;\n  TileConfig",
        "return;\n  TileConfig",
        SCOPE,
    ),
)


def build(targets: tuple[str, ...]) -> bool:
    """Whether the copy compiles."""
    command = ["cmake", "--build", str(COPY / "build"), "--target", *targets]
    return subprocess.run(command, stdout=subprocess.DEVNULL).returncode == 0


def prepare() -> None:
    """Copy the tree, and compile it as it is."""
    for name in FOLDERS:
        target = COPY / name
        if (ROOT / name).is_dir():
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(ROOT / name, target)
        else:
            COPY.mkdir(exist_ok=True)
            shutil.copy2(ROOT / name, target)
    for name in {mutant.file for mutant in MUTANTS}:
        (COPY / name).touch()  # an earlier run may have compiled a mutant of it
    configure = ["cmake", "-S", str(COPY), "-B", str(COPY / "build"), "-G", "Ninja"]
    configure += ["-DFBG_BUILD_TESTS=ON", "-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=OFF"]
    subprocess.run(configure, check=True, stdout=subprocess.DEVNULL)
    if not build((*TESTS, "amx_emulator")):
        raise SystemExit("the tree does not compile")


def failing_test(native: bool) -> str | None:
    """Return the first test program that fails, or None."""
    environment = dict(os.environ)
    if not native:
        environment["LD_PRELOAD"] = str(COPY / "build" / "tests" / "libamx_emulator.so")
    for test in TESTS:
        command = [str(COPY / "build" / "tests" / test), "--gtest_brief=1", "--gtest_fail_fast"]
        try:
            done = subprocess.run(command, env=environment, capture_output=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return test
        if done.returncode != 0:
            return test
    return None


def try_mutant(mutant: Mutant, native: bool) -> str | None:
    """Return the test that kills a mutant, or None."""
    path = COPY / mutant.file
    text = path.read_text()
    if text.count(mutant.old) != 1:
        raise SystemExit(f"{mutant.name}: stands {text.count(mutant.old)} times in {mutant.file}")
    try:
        path.write_text(text.replace(mutant.old, mutant.new))
        if not build(TESTS):
            raise SystemExit(f"{mutant.name}: does not compile")
        return failing_test(native)
    finally:
        path.write_text(text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--native", action="store_true", help="without the emulator")
    parser.add_argument("--only", default="", metavar="TEXT", help="mutants whose name holds this")
    options = parser.parse_args()
    prepare()
    if failing_test(options.native):
        raise SystemExit("a test fails without any mutant")
    chosen = [mutant for mutant in MUTANTS if options.only in mutant.name]
    result = try_all(
        chosen, lambda mutant: try_mutant(mutant, options.native), lambda mutant: mutant.name
    )
    print(result)
    return len(result.survivors) > 0


if __name__ == "__main__":
    sys.exit(main())
