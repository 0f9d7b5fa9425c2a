"""Fast inference for encoders and ONNX networks on CPUs, and the kernels that it is built on."""

# ruff: noqa: E402
from fbg.environment import end_quietly

end_quietly()  # for the program `fbg`, before slow imports

from importlib import import_module
from typing import TYPE_CHECKING

from fbg import isa, quantization
from fbg._fbg import __version__
from fbg.conv.convolution import conv
from fbg.conv.im2col import PackAWithIm2Col
from fbg.conv.packed_conv import PackedConv
from fbg.conv.prepared_conv import PreparedConv, prepare
from fbg.cpp import get_cmake_dir, get_include
from fbg.errors import ModelError
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
from fbg.matmul.product import PreparedCall, gemm, linear
from fbg.threads import get_num_threads, set_num_threads

# Kernels do not need models: the code that runs models is imported on first use.
_LATER = {
    "AsyncModel": "fbg.model.async_model",
    "CrossEncoder": "fbg.integrations.cross_encoder",
    "EmbeddingBag": "fbg.tables.embedding_bag",
    "EmbeddingTables": "fbg.tables.embedding_tables",
    "EncodeOptions": "fbg.tasks.encode",
    "Model": "fbg.model.model",
    "ModelOutput": "fbg.model.forward",
    "SentenceTransformer": "fbg.integrations.sentence_transformers",
    "SparseEmbeddings": "fbg.tasks.sparse",
    "TuneReport": "fbg.model.tuning",
    "embedding_ranges": "fbg.tasks.embedding_precision",
    "load": "fbg.model.load",
    "maxsim": "fbg.tasks.late_interaction.scores",
    "quantize_embeddings": "fbg.tasks.embedding_precision",
    "semantic_search": "fbg.tasks.search",
    "similarity": "fbg.tasks.search",
    "tune": "fbg.model.tuning",
}

if TYPE_CHECKING:
    from fbg.integrations.cross_encoder import CrossEncoder
    from fbg.integrations.sentence_transformers import SentenceTransformer
    from fbg.model.async_model import AsyncModel
    from fbg.model.forward import ModelOutput
    from fbg.model.load import load
    from fbg.model.model import Model
    from fbg.model.tuning import TuneReport, tune
    from fbg.tables.embedding_bag import EmbeddingBag
    from fbg.tables.embedding_tables import EmbeddingTables
    from fbg.tasks.embedding_precision import embedding_ranges, quantize_embeddings
    from fbg.tasks.encode import EncodeOptions
    from fbg.tasks.late_interaction.scores import maxsim
    from fbg.tasks.search import semantic_search, similarity
    from fbg.tasks.sparse import SparseEmbeddings
else:

    def __getattr__(name):
        if name not in _LATER:
            raise AttributeError(f"module 'fbg' has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(_LATER[name]), name)
        return value

    def __dir__():
        return sorted({*globals(), *__all__})


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
    "EmbeddingBag",
    "EmbeddingTables",
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
