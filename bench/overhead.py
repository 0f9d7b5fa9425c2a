"""Where the time of a small product goes: Python, bindings, dispatch, kernel.

    python bench/overhead.py

    linear    fbg.linear(x, w, bias)
    gemm      fbg.gemm(PackAWithQuantRowOffset(x), w, the same pipeline, out)
    prepare   call(x, out) of fbg.prepare

All three end in the same product: pack x, kernels, output pipeline. Each layer is what its callers
take beyond it, all sampled in turn in one process:

    python     the public function, less the native method it calls with checked arguments
    bindings   that native method, less the product run natively (`product_seconds`, a loop in C++)
    dispatch   the same product with K = 1: the loops around the kernel, and what a tile costs
               whatever K is (its calls, pipeline and stores), so an upper limit of the loops
    kernel     the rest: what grows with K, including the quantization of x

The call from this script, that of an empty method, is taken off first. `outside` is python +
bindings + dispatch. One thread: a team would hide the layers behind its wake-up.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable

import comparison
import numpy as np
import timing

import fbg
import fbg._fbg as native

SHAPES = [(8, 768, 768), (1, 384, 384), (1, 16, 16)]  # M, N, K
NATIVE_SECONDS = 0.005
LAYERS = ("python", "bindings", "dispatch", "kernel", "outside", "total")


class Product:
    """One shape's operands and every way to multiply them."""

    def __init__(self, m: int, n: int, k: int) -> None:
        rng = np.random.default_rng(m + n + k)
        self.x = rng.standard_normal((m, k), dtype=np.float32)
        self.w = fbg.PackedB(rng.standard_normal((k, n), dtype=np.float32))
        self.bias = rng.standard_normal(n, dtype=np.float32)
        self.pipeline = fbg.Dequantize() >> fbg.Bias(self.bias)
        self.out = np.empty((m, n), np.float32)
        self.call = fbg.prepare(self.w, self.pipeline, rows=m, num_threads=1)

    def nothing(self) -> object:
        return None

    def linear(self) -> object:
        return fbg.linear(self.x, self.w, self.bias, None, 1)

    def native_linear(self) -> object:
        return self.w._native.linear(self.x, self.bias, "", 1, False)

    def gemm(self) -> object:
        a = fbg.PackAWithQuantRowOffset(self.x)
        return fbg.gemm(a, self.w, self.pipeline, self.out, 1)

    def native_gemm(self) -> object:
        a = native.AOperand("quant_row", self.x)
        return self.w._native.gemm(a, self.pipeline._native, self.out, 1, False)

    def prepared(self) -> object:
        return self.call(self.x, self.out)

    def seconds(self) -> float:
        """The product alone."""
        once = native.product_seconds(self.call, self.x, self.out, 10)
        repeats = max(1, int(NATIVE_SECONDS / once))
        return native.product_seconds(self.call, self.x, self.out, repeats)


def contestants(product: Product, shallow: Product) -> list[timing.Contestant]:
    called: dict[str, Callable[[], object]] = {
        "nothing": product.nothing,
        "linear": product.linear,
        "native linear": product.native_linear,
        "gemm": product.gemm,
        "native gemm": product.native_gemm,
        "prepare": product.prepared,
    }
    return [
        *(timing.Contestant(name, call) for name, call in called.items()),
        timing.Contestant("product", sample=product.seconds),
        timing.Contestant("K = 1", sample=shallow.seconds),
    ]


def layers(results: dict[str, timing.Result]) -> dict[str, dict[str, float]]:
    """Seconds by call and layer: medians over rounds of the differences within a round."""

    def difference(name: str, *less: str) -> float:
        rows = zip(*(results[n].samples for n in (name, *less)), strict=True)
        return float(statistics.median(first - sum(rest) for first, *rest in rows))

    return {
        name: {
            "python": difference(name, beneath),
            "bindings": difference(beneath, "product", "nothing"),
            "dispatch": difference("K = 1"),
            "kernel": difference("product", "K = 1"),
            "total": difference(name, "nothing"),
        }
        for name, beneath in (
            ("linear", "native linear"),
            ("gemm", "native gemm"),
            ("prepare", "prepare"),
        )
    }


def main() -> None:
    arguments = timing.parser(__doc__.splitlines()[0]).parse_args()
    fbg.set_num_threads(1)
    report = timing.Report("overhead", arguments)
    for m, n, k in SHAPES:
        product, shallow = Product(m, n, k), Product(m, n, 1)
        np.testing.assert_array_equal(product.linear(), product.prepared())
        np.testing.assert_array_equal(product.gemm(), product.prepared())
        results = timing.race(contestants(product, shallow), timing.rounds(arguments))
        for name, by_layer in layers(results).items():
            outside = by_layer["python"] + by_layer["bindings"] + by_layer["dispatch"]
            times = {**by_layer, "outside": outside}
            case = {"M N K": f"{m} {n} {k}", "call": name}
            report.put(case, [case | {f"{layer}, µs": times[layer] * 1e6 for layer in LAYERS}])
    print(f"{fbg.isa.active()}\n\n{comparison.text(report.rows({}))}")


if __name__ == "__main__":
    main()
