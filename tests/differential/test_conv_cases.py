"""The random convolutions reach every algorithm on every instruction set."""

import platform
from random import Random

import pytest

import fbg
from differential.kinds.conv import applicable, draw

EVERYWHERE = {
    "im2col", "pointwise", "implicit_gemm", "col2im", "strassen1", "strassen2",
    "winograd2", "winograd3", "winograd4", "winograd5", "winograd6",
}  # fmt: skip
VECTORS = EVERYWHERE | {"channel_vectorized", "sliding_window", "row_blocked"}
ALGORITHMS = {
    "generic": EVERYWHERE | {"blocked_im2col"},
    "avx2": VECTORS | {"blocked_im2col"},  # for narrow weights
    "avx2_vnni": VECTORS | {"blocked_im2col"},
    "avx512": VECTORS | {"blocked_im2col"},
    "avx512_vnni": VECTORS | {"blocked_im2col"},
    "avx512_bf16": VECTORS | {"blocked_im2col"},
    "avx512_fp16": VECTORS | {"blocked_im2col"},
    "avx512_amx": VECTORS | {"blocked_im2col", "flattened_rows", "block_diagonal"},
}


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the table is of x86-64")
def test_cases_reach_every_algorithm_on_every_isa():
    reached = {name: set() for name in fbg.isa.supported()}
    for number in range(3000):
        _, problem, steps = draw(Random(f"reach {number}"))
        pipeline = fbg.Pipeline([step.stage for step in steps])
        for name, algorithms in reached.items():
            with fbg.isa.limit(name):
                algorithms |= set(applicable(problem, pipeline, False))
    assert reached == {name: ALGORITHMS[name] for name in fbg.isa.supported()}
