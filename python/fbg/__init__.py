"""Fast inference for encoders and ONNX networks on CPUs, and the kernels that it is built on."""

from fbg import isa, quantization
from fbg._fbg import __version__
from fbg.conv.convolution import PreparedConv, conv
from fbg.conv.im2col import PackAWithIm2Col
from fbg.conv.packed_conv import PackedConv
from fbg.cpp import get_cmake_dir, get_include
from fbg.errors import ModelError
from fbg.integrations.cross_encoder import CrossEncoder
from fbg.integrations.sentence_transformers import SentenceTransformer
from fbg.matmul.introspection import Kernel, kernels, pack_count
from fbg.matmul.packed_b import PackedB
from fbg.matmul.packers import PackA, PackAWithQuantRowOffset, PackAWithRowOffset
from fbg.matmul.pipeline import (
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
from fbg.matmul.product import PreparedCall, linear
from fbg.model.async_model import AsyncModel
from fbg.model.load import load
from fbg.model.model import Model, ModelOutput
from fbg.model.tuning import TuneReport, tune
from fbg.preparation import gemm, prepare
from fbg.tasks.embedding_precision import embedding_ranges, quantize_embeddings
from fbg.tasks.encoder import EncodeOptions
from fbg.tasks.multi.scores import maxsim
from fbg.tasks.search import semantic_search, similarity
from fbg.tasks.sparse import SparseEmbeddings
from fbg.threads import get_num_threads, set_num_threads

__all__ = [
    "GELU",
    "Add",
    "AsyncModel",
    "Bias",
    "Cast",
    "Clip",
    "CorrectZeroPoints",
    "CrossEncoder",
    "Dequantize",
    "EncodeOptions",
    "Kernel",
    "Model",
    "ModelError",
    "ModelOutput",
    "PackA",
    "PackAWithIm2Col",
    "PackAWithQuantRowOffset",
    "PackAWithRowOffset",
    "PackedB",
    "PackedConv",
    "Pipeline",
    "PreparedCall",
    "PreparedConv",
    "ReLU",
    "Requantize",
    "RowRange",
    "Scale",
    "SentenceTransformer",
    "Sigmoid",
    "SparseEmbeddings",
    "Tanh",
    "TuneReport",
    "__version__",
    "conv",
    "embedding_ranges",
    "gemm",
    "get_cmake_dir",
    "get_include",
    "get_num_threads",
    "isa",
    "kernels",
    "linear",
    "load",
    "maxsim",
    "pack_count",
    "prepare",
    "quantization",
    "quantize_embeddings",
    "semantic_search",
    "set_num_threads",
    "similarity",
    "tune",
]
