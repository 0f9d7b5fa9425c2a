"""fbg: quantized matrix products and BERT inference on CPUs."""

from fbg import isa
from fbg._fbg import __version__
from fbg.errors import ModelError
from fbg.loading import load
from fbg.models.encoder import Model, ModelOutput
from fbg.threads import get_num_threads, set_num_threads

__all__ = [
    "Model",
    "ModelError",
    "ModelOutput",
    "__version__",
    "get_num_threads",
    "isa",
    "load",
    "set_num_threads",
]
