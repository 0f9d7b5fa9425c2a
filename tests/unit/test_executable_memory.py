"""Where generated code lies, and what is said where the system refuses executable memory."""

import subprocess
import sys

import pytest

import fbg
from helpers.fresh_python import run_python

PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN = 65, 1

MULTIPLY = """
import numpy as np, fbg
a = fbg.PackA(np.ones((3, 16), np.float32))
w = fbg.PackedB(np.ones((16, 40), np.float32), dtype="float32")
"""
REFUSE = f"""
import ctypes
assert ctypes.CDLL(None).prctl({PR_SET_MDWE}, {PR_MDWE_REFUSE_EXEC_GAIN}, 0, 0, 0) == 0
"""


def can_refuse() -> bool:
    """Whether this kernel (Linux 6.3) and CPU let a process give up executable memory."""
    return subprocess.run([sys.executable, "-c", REFUSE], capture_output=True).returncode == 0


refusing = pytest.mark.skipif(not can_refuse(), reason="Linux 6.3 is the first with PR_SET_MDWE")


def test_no_page_is_writable_and_executable() -> None:
    code = """
fbg.gemm(a, w)
for name in fbg._fbg.peak_names():
    fbg._fbg.measure_peak(name, 0.0)
print([line for line in open("/proc/self/maps") if " rwx" in line])
"""
    assert run_python(MULTIPLY + code).stdout.strip() == "[]"


@refusing
@pytest.mark.skipif(fbg.isa.supported() == ("generic",), reason="this machine generates no kernels")
def test_refused_executable_memory_is_named_with_the_way_out() -> None:
    result = run_python(MULTIPLY + REFUSE + "fbg.gemm(a, w)")
    error = result.stderr.splitlines()[-1]
    assert error.startswith("RuntimeError: JIT: this system denies executable memory (")
    assert error.endswith("set FBG_MAX_ISA=generic to run without generated code")


@refusing
def test_the_way_out_works() -> None:
    code = MULTIPLY + REFUSE + "print(fbg.gemm(a, w)[2, 39])"
    assert run_python(code, FBG_MAX_ISA="generic").stdout.strip() == "16.0"
