"""Networks from ONNX files: `fbg.load` for a path that ends in .onnx."""

from __future__ import annotations

import os.path
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fbg.arrays import require_flag, require_number
from fbg.errors import ModelError, install_line
from fbg.networks.gliner import GLINER
from fbg.saved_file import WEIGHTS

if TYPE_CHECKING:
    from fbg.importers.net import Net
    from fbg.importers.products import ProductCount


def is_onnx(path: str | bytes) -> bool:
    """Whether a path names an ONNX file."""
    return isinstance(path, str) and path.lower().endswith(".onnx")


def is_net(path: str | bytes) -> bool:
    """Whether a path names an ONNX file, or a directory that `Net.save` wrote."""
    if not isinstance(path, str) or is_onnx(path):
        return is_onnx(path)
    # Unlike the methods of Path, these raise no errors for names that are too long.
    settings = ("config.json", "modules.json", GLINER)
    of_model = any(os.path.exists(os.path.join(path, name)) for name in settings)
    return os.path.isfile(os.path.join(path, WEIGHTS)) and not of_model


def require_encoder(path: str) -> None:
    """Raise ModelError for a network where a model of texts is required."""
    if is_net(path):
        kind = "an ONNX file" if is_onnx(path) else "a network saved from an ONNX file"
        raise ModelError(
            f"{path}: is {kind}, which takes arrays; expected a model of texts: a directory with "
            "config.json and tokenizer.json, or a hub id"
        )


def load_net(
    path: str,
    dtype: str | None,
    num_threads: int | None,
    calibrate: Iterable[object] | None,
    smooth: bool,
    *,
    shapes: Mapping[str, Sequence[int]] | None = None,
    backends: Sequence[str] | None = None,
    placement: Mapping[str, str] | None = None,
    higher_precision: Sequence[str] = (),
    equalize: bool = False,
    accuracy: float | None = None,
    narrow_weights: bool | None = None,
) -> Net:
    """Return the network of a file or of a saved network.

    Arguments are those of `fbg.load`; smooth is for encoders only.
    """
    wanted = None if accuracy is None else _require_accuracy(accuracy)
    if not require_flag(smooth, "load: smooth"):
        raise ValueError("load: smooth cannot be used with ONNX files")
    saved = not is_onnx(path)
    given = {
        "calibrate": calibrate is not None,
        "higher_precision": bool(higher_precision),
        "equalize": require_flag(equalize, "load: equalize"),
        "accuracy": wanted is not None,
        "narrow_weights": _is_chosen(narrow_weights),
    }
    check_quantization(path, dtype, [name for name in given if given[name]])
    try:
        from fbg.importers.net import Net
        from fbg.importers.onnx.read import read_network
        from fbg.importers.products import count_products
        from fbg.importers.saved_net import read_saved
    except ImportError as error:
        raise ModelError(
            f"{path}: ONNX files need the package {error.name}: {install_line(error.name)}"
        ) from error
    network, stored, kept = read_saved(Path(path)) if saved else (read_network(path), None, None)
    if saved:
        _require_stored(path, dtype, stored)
    net = Net(
        network,
        shapes=shapes,
        backends=backends,
        placement=placement,
        num_threads=num_threads,
        calibrate=calibrate,
        dtype=stored or dtype,
        higher_precision=higher_precision,
        equalize=equalize,
        accuracy=wanted,
        narrow_weights=narrow_weights,
        kept=kept,
    )
    if calibrate is not None:
        _warn(path, None if higher_precision else count_products(network), net)
    return net


def _require_stored(path: str, dtype: str | None, stored: str | None) -> None:
    """Raise ValueError for another dtype than that of a saved network."""
    if dtype not in (None, stored):
        raise ValueError(
            f"load: dtype must be {stored!r}, the dtype of the saved network {path}, or None, got "
            f"{dtype!r}"
        )


def _is_chosen(narrow_weights: object) -> bool:
    """Whether the option is given; raises TypeError if it is neither a bool nor None."""
    if narrow_weights is not None:
        require_flag(narrow_weights, "load: narrow_weights")
    return narrow_weights is not None


def _require_accuracy(value: object) -> float:
    """Return an agreement with float32 that can be wanted; else TypeError or ValueError."""
    accuracy = require_number(value, "load: accuracy")
    if not 0 < accuracy <= 1:
        raise ValueError(f"load: accuracy must be in (0, 1], got {value}")
    return accuracy


def percent(error: float | None) -> str:
    """Return an error as text for messages, or "none"."""
    return f"{100 * (error or 0):.2g} %"


def check_quantization(path: str, dtype: str | None, given: Sequence[str]) -> None:
    """Raise ValueError for a dtype, or for options of quantization that do not fit it.

    given: the names of these options.
    """
    from fbg.importers.description import DTYPES

    if dtype not in (None, *DTYPES):
        raise ValueError(
            "load: dtype of an ONNX file must be 'float32', 'bfloat16', 'int8' or None, got "
            f"{dtype!r}"
        )
    if not is_onnx(path):
        for name in given:
            raise ValueError(
                f"load: {name} must be left out: {path} is a saved network, which is quantized or "
                "not as it was saved; it goes with the ONNX file that the network was saved from"
            )
    elif dtype == "int8" and "calibrate" not in given:
        raise ValueError(
            "load: dtype='int8' of an ONNX file requires calibrate=…, inputs similar to those "
            "that it will get"
        )
    elif dtype != "int8":
        for name in given:
            raise ValueError(
                f"load: {name} of an ONNX file requires dtype='int8', got dtype={dtype!r}"
            )


def _warn(path: str, before: ProductCount | None, net: Net) -> None:
    """Warn if calibration has changed nothing, or too much.

    before: the products of the file; None if some were to stay as they are.
    """
    if before is not None:
        _warn_if_unchanged(path, before, net)
    _warn_if_poor(path, net)


def _warn_if_unchanged(path: str, before: ProductCount, net: Net) -> None:
    """Warn if calibration has added no product that multiplies integers."""
    from fbg.importers.products import quantizable, unchanged

    if net.products.int8 > before.int8:
        return
    reason = unchanged(path, before)
    if quantizable(net.network):  # products that could multiply integers
        why = "the values that the others read do not fit 8 bits, or they are faster in float32"
        reason = f"{path}: {net.products}: {why}"
    warnings.warn(reason, UserWarning, stacklevel=5)


def _warn_if_poor(path: str, net: Net) -> None:
    """Warn if calibration has left the outputs of a network far from the outputs in float32."""
    from fbg.importers.int8.verification import is_poor

    if net.kept is not None or not is_poor(net.int8_error):
        return
    off = percent(net.int8_error)
    warnings.warn(
        f"{path}: the outputs of the first run in int8 differ by {off} from those in float32: "
        f"fbg compare {path} --sensitivity proposes which nodes to keep in float32 with "
        "higher_precision, and accuracy=0.99 chooses some",
        UserWarning,
        stacklevel=5,
    )
