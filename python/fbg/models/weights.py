"""model.safetensors: every tensor is checked for presence, dtype, shape and finite values."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg.errors import ModelError
from fbg.models.files import require_file

__all__ = ["Checkpoint"]

Floats = npt.NDArray[np.float32]

DTYPES = {"F32": "float32", "F16": "float16", "BF16": "bfloat16"}

# Checkpoints converted from the first BERT release.
OLD_NAMES = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}


class Checkpoint:
    """An open safetensors file; tensors come out as float32 whatever they are stored as.

    Names may carry the prefix that models with a head put before those of the encoder ("bert.").
    """

    def __init__(self, path: Path, prefix: str) -> None:
        # Here, so that the kernels import with NumPy alone; ml_dtypes teaches NumPy bfloat16.
        import ml_dtypes  # noqa: F401
        from safetensors import safe_open

        self.path = require_file(path)
        try:
            file: Any = safe_open(path, framework="numpy")
            self._names = frozenset[str](file.keys())
        except Exception as error:  # SafetensorError, OSError, …: all mean that it cannot be read
            raise ModelError(f"{path}: not a readable safetensors file: {error}") from None
        self._file = file
        prefixed = any(name.startswith(prefix) for name in self._names)
        self._prefix = prefix if prefixed else ""

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        del self._file

    def _stored_name(self, name: str) -> str:
        stored = self._prefix + name
        if stored not in self._names:
            for new, old in OLD_NAMES.items():
                if stored.endswith(new) and stored.removesuffix(new) + old in self._names:
                    return stored.removesuffix(new) + old
        return stored

    def __contains__(self, name: str) -> bool:
        return self._stored_name(name) in self._names

    def tensor(self, name: str, *shape: int) -> Floats:
        """Return a tensor, C-contiguous float32; raises ModelError naming file and tensor."""
        stored = self._stored_name(name)
        if stored not in self._names:
            raise ModelError(f"{self.path}: tensor {stored} is missing")
        try:
            part = self._file.get_slice(stored)
            dtype, got = str(part.get_dtype()), tuple(part.get_shape())
            if dtype not in DTYPES:
                supported = ", ".join(DTYPES.values())
                raise ModelError(
                    f"{self.path}: tensor {stored} must have dtype {supported}, got {dtype}"
                )
            if got != shape:
                raise ModelError(f"{self.path}: tensor {stored} must have shape {shape}, got {got}")
            values = np.ascontiguousarray(self._file.get_tensor(stored), dtype=np.float32)
        except ModelError:
            raise
        except Exception as error:
            raise ModelError(f"{self.path}: tensor {stored} is not readable: {error}") from None
        # The extremes of an array that holds a NaN are NaN.
        if not (np.isfinite(values.min()) and np.isfinite(values.max())):
            raise ModelError(f"{self.path}: tensor {stored} holds NaN or infinite values")
        return values
