"""What shows of a model directory without its weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from fbg.checkpoints.saved_directory import WEIGHTS
from fbg.checkpoints.saved_file import SavedFile
from fbg.model.adapted import find_adapters
from fbg.model.head import with_head
from fbg.model.load import dtype_and_method, require_no_adapters, tokenizer_of
from fbg.model.settings import ModelSettings
from fbg.model.stored import StoredDtypes, stored_dtypes
from fbg.networks.registry import open_checkpoint, read_opened, read_saved
from fbg.networks.source import HeaderSource
from fbg.networks.transformer import Transformer


@dataclass(frozen=True)
class Inspected:
    """Result of `inspect`.

    network: without weights. dtype, method: of a saved model, else None. tensors: how many a
    checkpoint has of each dtype. left_out: those that nothing reads, with the reason. quantized:
    how its weights are, if they are.
    """

    network: Transformer
    dtype: str | None = None
    method: str | None = None
    tensors: Mapping[str, int] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    quantized: StoredDtypes | None = None


def inspect(
    directory: Path, settings: ModelSettings, adapters: Mapping[str, str] = MappingProxyType({})
) -> Inspected:
    """Check a directory as `load` does, and raise its ModelError, without reading the weights of
    the network, except scales of quantized ones.

    adapters: paths of those that are to be kept beside the base, by name.

    What only values show stays unnoticed: numbers that are not finite, wrong checksums and copies.
    """
    config = with_head(settings.config, directory, settings.sentence, tokenizer_of(settings))
    if (directory / WEIGHTS).is_file():
        require_no_adapters(directory, adapters)
        with SavedFile(directory / WEIGHTS, verify=False) as file:
            dtype, method = dtype_and_method(file)
            return Inspected(read_saved(file, config, dtype), dtype, method)
    checkpoint = open_checkpoint(settings.folder, config)
    network = read_opened(checkpoint, config, 1, HeaderSource)
    for adapter in find_adapters(directory, settings.folder, adapters).values():
        read_opened(open_checkpoint(settings.folder, config, adapter), config, 1, HeaderSource)
    quantized = stored_dtypes(config, network)
    return Inspected(network, None, None, checkpoint.dtypes, checkpoint.left_out, quantized)
