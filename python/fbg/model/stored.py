"""Which integers of a quantized checkpoint a model keeps."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fbg.graph.linear import Linear
from fbg.matmul.weights import QUANTIZED
from fbg.networks.config import EncoderConfig
from fbg.networks.transformer import Transformer, linears


@dataclass(frozen=True)
class StoredDtypes:
    """The linear layers whose weights are quantized in a checkpoint.

    method: how. dtypes: of all layers; None: there is no kernel for its codes, or there are none.
    dequantized: those that have codes for which there is no kernel.
    """

    method: str
    dtypes: Mapping[str, str | None]
    dequantized: tuple[str, ...]

    @property
    def most_common(self) -> str | None:
        """The dtype of most layers; None if there is no kernel for any."""
        counts = Counter(dtype for dtype in self.dtypes.values() if dtype is not None)
        return counts.most_common(1)[0][0] if counts else None

    def __str__(self) -> str:
        counts = Counter(dtype for dtype in self.dtypes.values() if dtype is not None)
        parts = [f"{dtype} in {count}" for dtype, count in counts.most_common()]
        if self.dequantized:
            parts.append(f"dequantized in {len(self.dequantized)}")
        others = len(self.dtypes) - sum(counts.values()) - len(self.dequantized)
        if others:
            parts.append(f"floats in {others}")
        return f"{self.method}: {', '.join(parts)} of {len(self.dtypes)} linear layers"


def stored_dtypes(config: EncoderConfig, unpacked: Transformer) -> StoredDtypes | None:
    """Describe the weights of a checkpoint; None if config.json says that they are floats."""
    if config.quantization is None:
        return None
    weights: Mapping[str, Linear] = linears(unpacked)
    dtypes = {name: linear.unpacked.stored_dtype for name, linear in weights.items()}
    dequantized = tuple(
        name
        for name, linear in weights.items()
        if linear.unpacked.is_quantized and dtypes[name] is None
    )
    return StoredDtypes(config.quantization.method, dtypes, dequantized)


def choose_stored(
    directory: Path, asked: str | None, stored: StoredDtypes | None
) -> tuple[str, dict[str, str] | None]:
    """Return the dtype of a model, and dtypes of the layers that differ if it keeps the integers
    of its checkpoint; None if it does not.

    asked: the dtype that the user has chosen. Warns about layers that are dequantized, unless the
    user wants floats.
    """
    if stored is None:
        return asked or "float32", None
    own, count = stored.most_common, len(stored.dtypes)
    if own is not None and asked in (None, own):
        if stored.dequantized:
            _warn(directory, len(stored.dequantized), count, stored.method)
        kept = {name: dtype or "float32" for name, dtype in stored.dtypes.items() if dtype != own}
        return own, kept
    if asked is None:
        _warn(directory, len(stored.dequantized), count, stored.method)
    elif asked in QUANTIZED:
        way_out = "no dtype keeps" if own is None else f"{own!r} would keep"
        warnings.warn(
            f"{directory}: weights that are quantized already ({stored.method}) are quantized "
            f"again, because dtype is {asked!r}; {way_out} them as they are",
            UserWarning,
            stacklevel=2,
        )
    return asked or "float32", None


def _warn(directory: Path, some: int, count: int, method: str) -> None:
    warnings.warn(
        f"{directory}: {some} of {count} linear layers are dequantized and compute in float32, "
        f"because fbg has no kernel for their weights ({method}); dtype='int8' is faster",
        UserWarning,
        stacklevel=2,
    )
