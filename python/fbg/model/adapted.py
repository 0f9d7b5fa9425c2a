"""Several low-rank adapters beside one base: networks that share all weights without an adapter.

The weights of a layer with an adapter are the sum of both, packed in the dtype of the layer in the
base, and smoothed by the same factors: these belong to the rows that the layer reads, and may be
part of the weights of an earlier layer, which perhaps has no adapter. In place of 4 bits, such a
layer has 8, because it is not rounded in turn with the others, which 4 bits need.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from fbg.checkpoints.adapters import Adapter, MergedTensor, find_adapter
from fbg.graph.linear import Linear
from fbg.matmul.weights import INT4_DTYPES
from fbg.model.quantize import finished
from fbg.networks.config import EncoderConfig
from fbg.networks.registry import open_checkpoint, read_opened
from fbg.networks.transformer import Transformer, linears, replace_linears

Adapters = Mapping[str, str | os.PathLike[str]] | Iterable[str]


def checked_adapters(adapters: object) -> dict[str, str]:
    """Return tasks or folders by the names that a user gives them; raises TypeError."""
    pairs: Iterable[tuple[object, object]] = ()
    if isinstance(adapters, Mapping):
        pairs = adapters.items()
    elif isinstance(adapters, Iterable) and not isinstance(adapters, (str, bytes, os.PathLike)):
        pairs = ((name, name) for name in adapters)
    elif adapters is not None:
        got = type(adapters).__name__
        raise TypeError(f"load: adapters must be names, or paths by names, got {got}")
    found = {}
    for name, path in pairs:
        if not isinstance(name, str) or not isinstance(path, (str, os.PathLike)):
            raise TypeError(f"load: adapters must be names, or paths by names, got {name!r:.80}")
        found[name] = str(os.fspath(path))
    return found


def find_adapters(
    directory: Path, encoder: Path, adapters: Mapping[str, str]
) -> dict[str, Adapter]:
    """Find each adapter as `find_adapter` does; raises ValueError."""
    return {name: find_adapter(directory, encoder, path) for name, path in adapters.items()}


@dataclass(frozen=True)
class Base:
    """What networks with adapters are made from.

    network: of the checkpoint in `folder`, packed in a dtype, with `higher` dtypes for some layers.
    smoothed: its linear layers before they were packed.
    """

    folder: Path
    config: EncoderConfig
    network: Transformer
    smoothed: Mapping[str, Linear]
    dtype: str
    higher: Mapping[str, str]
    num_threads: int

    def with_adapter(self, adapter: Adapter) -> Transformer:
        """Return a network with an adapter, which shares the others' weights; raises ModelError."""
        checkpoint = open_checkpoint(self.folder, self.config, adapter, reads=False)
        unread = read_opened(checkpoint, self.config, self.num_threads)
        values = checkpoint.tensors.values()
        merged = {tensor.name for tensor in values if isinstance(tensor, MergedTensor)}
        layers, other = linears(self.network), set(merged)
        changed: dict[str, Linear] = {}
        for name, linear in linears(unread).items():
            names = {part.name for part in linear.unpacked.parts}
            other -= names
            if not names.isdisjoint(merged):
                smoothed, dtype = self.smoothed[name], layers[name].packed.dtype
                weight = replace(smoothed.unpacked, parts=linear.unpacked.parts)
                packed = weight.pack("int8" if dtype in INT4_DTYPES else dtype, self.num_threads)
                changed[name] = replace(smoothed, weight=packed)
        if not other:
            return replace_linears(self.network, changed)
        # Tables or heads, too, which are read as they are.
        checkpoint = open_checkpoint(self.folder, self.config, adapter)
        whole = read_opened(checkpoint, self.config, self.num_threads)
        return finished(whole, layers | changed, self.dtype, self.higher, self.num_threads)
