"""fbg: the BERT family and quantized matrix products on CPUs."""

from fbg import isa, quantization
from fbg._fbg import __version__
from fbg.errors import ModelError
from fbg.introspection import Kernel, kernels, pack_count
from fbg.loading import load
from fbg.models.encoder import Model, ModelOutput
from fbg.models.tuning import TuneReport, tune
from fbg.packed_b import PackedB
from fbg.packing import PackA, PackAWithQuantRowOffset, PackAWithRowOffset
from fbg.pipeline import (
    GELU,
    Add,
    Bias,
    Cast,
    Clip,
    CorrectZeroPoints,
    Dequantize,
    Pipeline,
    ReLU,
    Requantize,
    RowRange,
    Scale,
    Sigmoid,
    Tanh,
)
from fbg.product import PreparedCall, gemm, linear, prepare
from fbg.threads import get_num_threads, set_num_threads

__all__ = [
    "GELU",
    "Add",
    "Bias",
    "Cast",
    "Clip",
    "CorrectZeroPoints",
    "Dequantize",
    "Kernel",
    "Model",
    "ModelError",
    "ModelOutput",
    "PackA",
    "PackAWithQuantRowOffset",
    "PackAWithRowOffset",
    "PackedB",
    "Pipeline",
    "PreparedCall",
    "ReLU",
    "Requantize",
    "RowRange",
    "Scale",
    "Sigmoid",
    "Tanh",
    "TuneReport",
    "__version__",
    "gemm",
    "get_num_threads",
    "isa",
    "kernels",
    "linear",
    "load",
    "pack_count",
    "prepare",
    "quantization",
    "set_num_threads",
    "tune",
]
