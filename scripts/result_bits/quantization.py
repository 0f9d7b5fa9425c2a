"""What the quantization functions compute."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from cases import Case

from fbg import quantization as quant


def quantization_cases(models: Path) -> Iterator[Case]:
    rng = np.random.default_rng(50)
    x = rng.standard_normal((37, 53), np.float32)
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
        sums = rng.integers(-90000, 90000, (9, 20), np.int32)
        yield f"requantize/{np.dtype(dtype).name}", quant.requantize(sums, 0.001, 5, dtype)
    for bits in (2, 4, 8):
        for scale_dtype in (np.float32, np.float16):
            rows = quant.quantize_rowwise(x, bits, scale_dtype)
            name = f"rowwise-{bits}/{np.dtype(scale_dtype).name}"
            yield name, [rows.data, rows.scale, rows.bias, rows.dequantize(), rows.fused()]
