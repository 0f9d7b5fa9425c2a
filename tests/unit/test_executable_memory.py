"""Where generated code lies, and what is said where the system refuses executable memory."""

import re
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
LOOK_UP = """
import numpy as np, fbg
bag = fbg.EmbeddingBag(np.ones((5, 40), np.float32), dtype="int8", mode="sum")
indices = np.array([[4, 0, 1]])
"""
CALLS = {"product": (MULTIPLY, "fbg.gemm(a, w)"), "look-up": (LOOK_UP, "bag(indices)")}
REFUSE = f"""
import ctypes
assert ctypes.CDLL(None).prctl({PR_SET_MDWE}, {PR_MDWE_REFUSE_EXEC_GAIN}, 0, 0, 0) == 0
"""


def can_refuse():
    """Whether this kernel (Linux 6.3) and CPU let a process give up executable memory."""
    return subprocess.run([sys.executable, "-c", REFUSE], capture_output=True).returncode == 0


refusing = pytest.mark.skipif(not can_refuse(), reason="Linux 6.3 is the first with PR_SET_MDWE")


def test_no_page_is_writable_and_executable():
    code = """
fbg.gemm(a, w)
for name in fbg._fbg.peak_names():
    fbg._fbg.measure_peak(name, 0.0)
print([line for line in open("/proc/self/maps") if " rwx" in line])
"""
    assert run_python(MULTIPLY + code).stdout.strip() == "[]"


WATCHED = """
import threading
import numpy as np, fbg

found, looks, ended = set(), 0, threading.Event()

def watch():
    global looks
    while not ended.is_set():
        with open("/proc/self/maps") as maps:
            found.update(line for line in maps if "w" in line.split()[1] and "x" in line.split()[1])
        looks += 1

watcher = threading.Thread(target=watch)
watcher.start()
random = np.random.default_rng(0)
for isa in fbg.isa.supported():
    with fbg.isa.limit(isa):
        for n in (1, 17, 64, *range(2, 17)):
            if 1 < n < 17 and looks > 10:  # the watcher has had its share of the time
                break
            x = random.standard_normal((n, 24), dtype=np.float32)
            w = random.standard_normal((24, n), dtype=np.float32)
            for dtype in ("int8", "float32", "bfloat16"):
                fbg.linear(x, fbg.PackedB(w, dtype=dtype), activation="gelu")
            image = random.standard_normal((1, 9, n, 8), dtype=np.float32)
            for dtype, groups in (("int8", 1), ("float32", 8)):
                kernel = random.standard_normal((8, 8 // groups, 3, 1), dtype=np.float32)
                fbg.conv(image, fbg.PackedConv(kernel, dtype=dtype, groups=groups))
            for dtype in ("float16", "int4"):
                fbg.EmbeddingBag(w, dtype, "mean")(np.array([[0, 23, 5]]))
ended.set()
watcher.join()
print(len(fbg._fbg.kernels()) > 20 or fbg.isa.supported() == ("generic",), looks > 10, found)
"""


def test_no_page_is_writable_and_executable_while_kernels_are_generated():
    assert run_python(WATCHED).stdout.split(maxsplit=2) == ["True", "True", "set()\n"]


def test_the_extension_is_linked_with_the_usual_protections():
    """Code and tables of functions are read-only, the stack is data, nothing is patched in code."""
    command = ["readelf", "--dynamic", "--segments", "--wide", fbg._fbg.__file__]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    stack = next(line for line in lines if "GNU_STACK" in line)
    segments = [line.split() for line in lines if line.strip().startswith("LOAD")]
    assert any("GNU_RELRO" in line for line in lines)
    assert any("FLAGS" in line and "NOW" in line for line in lines)
    assert not any("TEXTREL" in line for line in lines)
    assert "E" not in stack.split()[6:-1]
    assert not any({"W", "E"} <= set("".join(segment[6:-1])) for segment in segments)


def test_the_extension_notices_writes_beyond_arrays():
    """Its frames have canaries, and it calls functions of the C library that know sizes."""
    command = ["readelf", "--dyn-syms", "--wide", fbg._fbg.__file__]
    symbols = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    if "__asan_init" in symbols or "__tsan_init" in symbols:
        pytest.skip("a build with sanitizers, which watch these functions themselves")
    assert re.search(r"UND __stack_chk_fail\b", symbols)
    assert re.search(r"UND __\w+_chk\b", symbols)


@refusing
@pytest.mark.skipif(fbg.isa.supported() == ("generic",), reason="this machine generates no kernels")
@pytest.mark.parametrize("kind", CALLS)
def test_refused_executable_memory_is_named_with_the_way_out(kind):
    prepared, call = CALLS[kind]
    result = run_python(prepared + REFUSE + call)
    error = result.stderr.splitlines()[-1]
    assert error.startswith("RuntimeError: JIT: this system denies executable memory (")
    assert error.endswith("set FBG_MAX_ISA=generic to run without generated code")


@refusing
def test_the_way_out_works():
    code = MULTIPLY + REFUSE + "print(fbg.gemm(a, w)[2, 39])"
    assert run_python(code, FBG_MAX_ISA="generic").stdout.strip() == "16.0"


@refusing
@pytest.mark.skipif(fbg.isa.supported() == ("generic",), reason="this machine generates no kernels")
def test_an_embedding_bag_that_got_no_kernel_leaves_out_as_it_was():
    code = """
out = np.full((1, 40), 7, np.float32)
try:
    bag(indices, out=out)
except RuntimeError:
    print((out == 7).all())
with fbg.isa.limit("generic"):
    print(bag(indices, out=out)[0, 39])
"""
    assert run_python(LOOK_UP + REFUSE + code).stdout.split() == ["True", "3.0"]
