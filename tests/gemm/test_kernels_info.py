"""What was generated and packed can be seen: fbg.kernels, pack_count, perf map, code dump."""

import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import fbg
from helpers import tiny_bert
from helpers.fresh_python import run_python

GENERATED = [name for name in fbg.isa.supported() if name != "generic"]
needs_generated = pytest.mark.skipif(not GENERATED, reason="this machine generates no kernels")

MULTIPLY = """
import numpy as np, fbg, os
w = np.ones((16, 40), np.float32)
y = fbg.linear(np.ones((3, 16), np.float32), fbg.PackedB(w))
assert np.allclose(y, 16), y
"""


def linear(k, n, **options):
    fbg.linear(np.ones((3, k), np.float32), fbg.PackedB(np.ones((k, n), np.float32)), **options)


@pytest.mark.parametrize("name", GENERATED)
def test_kernels_tells_what_was_generated(name):
    with fbg.isa.limit(name):
        linear(24, 72) if name != "avx512_amx" else linear(256, 72)
        ours = fbg._fbg.kernel_isa("int32")
        kernels = [k for k in fbg.kernels() if k.kind == "gemm" and k.isa == ours]
    assert kernels
    for kernel in kernels:
        assert re.match(rf"gemm_(int32|int16|fp32)_\w+_\d+x\d+_{ours}", kernel.name)
        assert kernel.bytes > 10  # AMX leaves short tiles to another kernel: a jump
        assert kernel.hits >= 0


@needs_generated
def test_every_kernel_has_a_name_of_its_own():
    for w in (
        fbg.PackedB(np.ones((8, 40), np.float32)),
        fbg.PackedB(np.ones((8, 40), np.float32), symmetric=False),
    ):
        a = fbg.PackAWithQuantRowOffset(np.ones((5, 8), np.float32))
        fbg.gemm(a, w, fbg.CorrectZeroPoints())
        fbg.gemm(a, w, fbg.Dequantize())
        fbg.gemm(a, w, fbg.Requantize(0.5, 3, np.int8))
        fbg.gemm(a, w, fbg.Requantize(0.5, 3, np.uint8))
    names = Counter(kernel.name for kernel in fbg.kernels())
    assert [name for name, count in names.items() if count > 1] == []
    assert any("_za_zb_Dequantize" in name for name in names)
    assert any("_za_Dequantize" in name for name in names)


@needs_generated
def test_hits_count_preparations_that_found_the_kernel():
    def total():
        return sum(kernel.hits for kernel in fbg.kernels())

    linear(8, 32, activation="relu")
    names, before = {kernel.name for kernel in fbg.kernels()}, total()
    linear(8, 32, activation="relu")  # prepared already
    assert total() == before
    linear(12, 32, activation="relu")  # prepared anew, with the same kernels
    assert total() > before
    assert {kernel.name for kernel in fbg.kernels()} == names


def test_generic_generates_nothing():
    code = MULTIPLY + "print(len(fbg.kernels()))"
    assert run_python(code, FBG_MAX_ISA="generic").stdout.strip() == "0"


def test_a_packed_matrix_counts_once():
    before = fbg.pack_count()
    packed = fbg.PackedB(np.ones((8, 40), np.float32))
    assert fbg.pack_count() == before + 1
    for m in (1, 5, 40):
        fbg.linear(np.ones((m, 8), np.float32), packed)
        packed.unpack()
    assert fbg.pack_count() == before + 1


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_inference_packs_nothing(dtype, tmp_path):
    before = fbg.pack_count()
    model = fbg.load(tiny_bert.write_checkpoint(tmp_path / "model", seed=3), dtype=dtype)
    packed = fbg.pack_count()
    assert packed > before
    for texts in (["a"], ["a b c", "d e f g h i j"] * 20, "x"):
        model.encode(texts)
        model.encode(texts, batch_size=1)
    model.forward([[2, 5, 3]])
    assert fbg.pack_count() == packed


# --- For perf and disassemblers -----------------------------------------------------------------


@needs_generated
def test_the_perf_map_names_every_kernel():
    code = MULTIPLY + "print(os.getpid(), *[f'{k.name}:{k.bytes}' for k in fbg.kernels()])"
    result = run_python(code, FBG_PERF_MAP="1")
    pid, *kernels = result.stdout.split()
    path = Path(f"/tmp/perf-{pid}.map")
    try:
        lines = [line.split(" ", 2) for line in path.read_text().splitlines()]
    finally:
        path.unlink()
    assert kernels, result.stderr
    assert [f"{name}:{int(size, 16)}" for _, size, name in lines] == kernels
    ranges = sorted((int(begin, 16), int(size, 16)) for begin, size, _ in lines)
    assert all(a + size <= b for (a, size), (b, _) in pairwise(ranges))


@pytest.mark.parametrize("value", [None, "", "0"])
def test_without_the_variable_there_is_no_perf_map(value):
    env = {} if value is None else {"FBG_PERF_MAP": value}
    pid = run_python(MULTIPLY + "print(os.getpid())", **env).stdout.strip()
    assert not Path(f"/tmp/perf-{pid}.map").exists()


@needs_generated
def test_the_dump_holds_the_code_of_every_kernel(tmp_path):
    directory = tmp_path / "made" / "here"
    code = MULTIPLY + "print(*[f'{k.name}:{k.bytes}' for k in fbg.kernels()])"
    result = run_python(code, FBG_DUMP_KERNELS=str(directory))
    files = sorted(f"{path.stem}:{path.stat().st_size}" for path in directory.glob("*.bin"))
    assert files == sorted(result.stdout.split()), result.stderr
    assert files
    code_of_first = next(directory.iterdir()).read_bytes()
    assert b"\xc5\xf8\x77\xc3" in code_of_first  # vzeroupper; ret


@needs_generated
def test_a_dump_that_cannot_be_written_is_an_error_that_says_so(tmp_path):
    (tmp_path / "file").touch()
    result = run_python(MULTIPLY, FBG_DUMP_KERNELS=str(tmp_path / "file"))
    assert "OSError: FBG_DUMP_KERNELS: cannot write" in result.stderr


def test_an_unknown_accumulator_is_an_error():
    with pytest.raises(ValueError, match=r"kernel_isa: accumulator must be int32, .* got 'int2'"):
        fbg._fbg.kernel_isa("int2")
