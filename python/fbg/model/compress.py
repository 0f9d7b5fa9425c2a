"""From the network of a checkpoint to one that runs: its linear layers packed in some dtype."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fbg.compression.smoothing import Inputs, compress_linears
from fbg.networks.transformer import Transformer, linears, replace_linears
from fbg.progress import Progress

__all__ = ["compress"]


def compress(
    transformer: Transformer,
    dtype: str,
    higher: Mapping[str, str],
    num_threads: int,
    inputs: Mapping[str, Inputs] | None = None,
    progress: Progress | None = None,
) -> Transformer:
    """Return a network of unpacked weights packed in `dtype`; raises ModelError.

    higher: the dtypes of the linear layers that do not have `dtype`.
    inputs: what `observe` returned; with it, int8 weights are smoothed.
    progress: as for `compress_linears`.
    """
    dtypes = {name: higher.get(name, dtype) for name in linears(transformer)}
    groups = [] if inputs is None else transformer.smoothing_groups()
    packed = compress_linears(
        linears(transformer).values(), dtypes, num_threads, groups, inputs, progress
    )
    return replace(replace_linears(transformer, packed), dtype=dtype)
