"""What weights become in memory and in files, and what the quantization functions compute."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from cases import Case, everywhere
from inputs import floats, integers, small_weights
from products import pack_int16


def packing_cases(models: Path) -> Iterator[Case]:
    import fbg

    def packed(k: int, n: int) -> Iterator[tuple[str, Any]]:
        w, q = floats((k, n), 40), integers((k, n), -128, 127, np.int8, 41)
        for dtype in ("float32", "float16", "bfloat16"):
            yield dtype, fbg.PackedB(w, dtype=dtype)
        for granularity in ("column", "tensor"):
            for symmetric in (True, False):
                name = f"int8-{granularity}-{'symmetric' if symmetric else 'asymmetric'}"
                yield name, fbg.PackedB(w, granularity=granularity, symmetric=symmetric)
        yield "int8-given", fbg.PackedB(q)
        yield "int8-transposed", fbg.PackedB(q.T, transpose=True, scale=0.1, zero_point=2)
        for bits in (None, *range(1, 9)):
            yield f"int16-{bits}", pack_int16(small_weights((k, n), 42), outlier_bits=bits)

    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "weights.safetensors"
        for setting in everywhere((1,)):
            for k, n in ((1, 1), (5, 3), (64, 32), (129, 100), (700, 65), (4, 0), (0, 4)):
                for name, b in packed(k, n):
                    path.unlink(missing_ok=True)
                    b.save(path)
                    parts = [b.scale, b.zero_point, b.column_offsets, b.outliers, b.spill_depths]
                    result = [path.read_bytes(), *parts, b.unpack(), fbg.PackedB.load(path).nbytes]
                    yield f"{name}/{k}x{n}/{setting}", result


def quantization_cases(models: Path) -> Iterator[Case]:
    from fbg import quantization as quant

    x = floats((37, 53), 50)
    for dtype in (np.uint8, np.int8):
        for symmetric in (False, True):
            name = f"{np.dtype(dtype).name}-{'symmetric' if symmetric else 'asymmetric'}"
            scale, point = quant.choose_qparams(x.min(0), x.max(0), dtype, symmetric)
            q = quant.quantize(x, scale, point, dtype)
            yield f"parameters/{name}", [scale, point, q, quant.dequantize(q, scale, point)]
            yield f"search/{name}", quant.choose_qparams_mse(x, dtype, symmetric, axis=1)
            for observer in (
                quant.MinMaxObserver(axis=1),
                quant.PercentileObserver(),
                quant.HistogramObserver(),
            ):
                for part in np.split(x[:36], 4):
                    observer.update(part)
                kind = type(observer).__name__
                yield f"{kind}/{name}", observer.qparams(dtype, symmetric)
        sums = integers((9, 20), -90000, 90000, np.int32, 51)
        yield f"requantize/{np.dtype(dtype).name}", quant.requantize(sums, 0.001, 5, dtype)
    for bits in (2, 4, 8):
        for scale_dtype in (np.float32, np.float16):
            rows = quant.quantize_rowwise(x, bits, scale_dtype)
            name = f"rowwise-{bits}/{np.dtype(scale_dtype).name}"
            yield name, [rows.data, rows.scale, rows.bias, rows.dequantize(), rows.fused()]
