"""Quantization toolbox: ``real = scale * (q - zero_point)``, rounded half to even, as in ONNX.

Choose parameters (from bounds, from data, from batches), apply them, and pack rows in 2, 4 or 8
bits. Reading order: ``affine``, ``observers``, ``rowwise``.

>>> import numpy as np
>>> x = np.array([-1.0, 0.0, 1.55], np.float32)
>>> scale, zero_point = choose_qparams(x.min(), x.max())
>>> q = quantize(x, scale, zero_point)
>>> q
array([  0, 100, 255], dtype=uint8)
>>> dequantize(q, scale, zero_point)
array([-1.  ,  0.  ,  1.55], dtype=float32)
"""

from fbg.quantization.affine import (
    choose_qparams,
    choose_qparams_mse,
    dequantize,
    quantize,
    requantize,
)
from fbg.quantization.observers import (
    HistogramObserver,
    MinMaxObserver,
    Observer,
    PercentileObserver,
)
from fbg.quantization.rowwise import RowwiseMatrix, quantize_rowwise

__all__ = [
    "HistogramObserver",
    "MinMaxObserver",
    "Observer",
    "PercentileObserver",
    "RowwiseMatrix",
    "choose_qparams",
    "choose_qparams_mse",
    "dequantize",
    "quantize",
    "quantize_rowwise",
    "requantize",
]
