"""The archive of a wheel (packaging/manylinux): what an object refers to in itself is final."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

RESOLVE = Path(__file__).parents[2] / "packaging" / "manylinux" / "resolve_relocations.py"

LIBRARY = """
#include <string.h>
static const char kWords[2][6] = {"seven", "eight"};
static int offsets[] = {3, 4};
static int (*const kTable[])(int) = {0, 0};
__attribute__((noinline)) static int twice(int x) { return 2 * x + offsets[x & 1]; }
__attribute__((noinline, weak)) int chosen(int x) { return x; }
__attribute__((noinline)) int strange(int x) { return twice(x) + chosen(x); }
static int (*volatile pointer)(int) = twice;
int probe(int x) {
  return strange(x) + pointer(x) + (int)strlen(kWords[x & 1]) + (kTable[x & 1] ? 1 : 0);
}
"""

PROGRAM = """
int probe(int x);
int chosen(int x) { return 100 * x; }
int main(void) { return probe(1) != 6 + 100 + 6 + 5; }
"""


@pytest.mark.skipif(not shutil.which("gcc"), reason="needs GCC")
@pytest.mark.skipif(platform.machine() not in ("x86_64", "aarch64"), reason="of other machines")
def test_programs_link_with_a_resolved_object(tmp_path):
    def run(*command):
        found = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
        return found.stdout

    (tmp_path / "library.c").write_text(LIBRARY)
    (tmp_path / "program.c").write_text(PROGRAM)
    run("gcc", "-O1", "-fPIC", "-c", "library.c", "-o", "library.o")
    before = run("readelf", "--relocs", "--wide", "library.o")
    run(sys.executable, str(RESOLVE), "library.o", "unused")
    after = run("readelf", "--relocs", "--wide", "library.o")
    unused = (tmp_path / "unused").read_text().split()
    assert "twice" in unused and "chosen" not in unused and "strange" not in unused
    assert "twice" not in after.replace(".text", "") and "chosen" in after and "strlen" in after
    assert after.count("R_") < before.count("R_")
    run("objcopy", "--strip-symbols=unused", "library.o")
    run("gcc", "library.o", "program.c", "-o", "program")
    run(str(tmp_path / "program"))
    run("gcc", "-shared", "library.o", "-o", "liblibrary.so")
