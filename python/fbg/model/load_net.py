"""Networks from ONNX files: what `fbg.load` does with a path that ends in .onnx."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from fbg.errors import ModelError

if TYPE_CHECKING:
    from fbg.importers.net import Net

__all__ = ["is_onnx", "load_net"]


def is_onnx(path: str | bytes) -> bool:
    """Whether a path names an ONNX file."""
    return isinstance(path, str) and path.lower().endswith(".onnx")


def load_net(
    path: str,
    dtype: str | None,
    num_threads: int | None,
    calibrate: Iterable[object] | None,
    *,
    unfit: bool,
    shapes: Mapping[str, Sequence[int]] | None = None,
    backends: Sequence[str] | None = None,
    placement: Mapping[str, str] | None = None,
) -> Net:
    """Return the network of a file. unfit: options were given that only encoders take."""
    if unfit:
        raise ValueError("load: smooth and higher_precision do not go with ONNX files")
    if dtype not in (None, "float32", "int8"):
        raise ValueError(
            f"load: dtype of an ONNX file must be 'float32', 'int8' or None, got {dtype!r}"
        )
    if (dtype == "int8") != (calibrate is not None):
        raise ValueError("load: dtype='int8' of an ONNX file and calibrate go together")
    try:
        from fbg.importers.net import Net
        from fbg.importers.onnx.read import read_network
    except ImportError as error:
        raise ModelError(
            f"{path}: ONNX files need the package {error.name}: pip install 'fbg[onnx]'"
        ) from error
    return Net(
        read_network(path),
        shapes=shapes,
        backends=backends,
        placement=placement,
        num_threads=num_threads,
        calibrate=calibrate,
    )
