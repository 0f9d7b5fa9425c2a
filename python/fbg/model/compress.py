"""From the network of a checkpoint to one that runs: its linear layers packed in some dtype.

int8 is smoothed by what goes into each layer (compression/smoothing.py), which is observed in a
float32 run: on random token ids, which needs no data, or on texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.compression.smoothing import Inputs, compress_linears
from fbg.networks.config import EncoderConfig
from fbg.networks.graph import NamedGraph
from fbg.networks.transformer import Transformer, linears, replace_linears
from fbg.runtime.batches import chunks, pack_sequences

__all__ = ["compress", "observe", "random_sequences"]

Floats = npt.NDArray[np.float32]
Indices = npt.NDArray[np.int32]

# About as long as sentences are: positions matter.
RANDOM_SEQUENCES, RANDOM_LENGTH = 40, 24
OBSERVED_TOKENS = 1024  # of one run: bounds memory


def compress(
    transformer: Transformer,
    dtype: str,
    higher: Mapping[str, str],
    inputs: Mapping[str, Inputs] | None = None,
) -> Transformer:
    """Return a network of unpacked weights packed in `dtype`; raises ModelError.

    higher: dtypes of linear layers that have another one.
    inputs: as `observe` gives them: int8 weights are smoothed.
    """
    dtypes = {name: higher.get(name, dtype) for name in linears(transformer)}
    groups = [] if inputs is None else transformer.smoothing_groups()
    packed = compress_linears(linears(transformer).values(), dtypes, groups, inputs)
    return replace(replace_linears(transformer, packed), dtype=dtype)


def random_sequences(config: EncoderConfig, frame: Indices) -> list[Indices]:
    """Return sequences of token ids, the same ones each time.

    frame: the tokens of an empty text; they begin and end each sequence.
    """
    # The raw bit stream of PCG64 is the one that NumPy promises never to change.
    length = min(RANDOM_LENGTH, config.max_length)
    words = np.random.PCG64(0).random_raw(RANDOM_SEQUENCES * length)
    ids = (words % np.uint64(config.vocab_size)).astype(np.int32)
    ids = ids.reshape(RANDOM_SEQUENCES, length)
    if 2 <= frame.size < length and frame.max() < config.vocab_size:
        ids[:, 0], ids[:, 1 - frame.size :] = frame[0], frame[1:]
    return list(ids)


def observe(
    transformer: Transformer, sequences: Sequence[Indices], num_threads: int, grams: bool = False
) -> dict[str, Inputs]:
    """Run the encoder in float32; return the inputs of each linear layer by its name."""
    config = transformer.config
    packed = compress(transformer, "float32", {})
    graph = NamedGraph()
    packed.build(graph)
    # Several layers may read one buffer, and in ALBERT one layer reads several.
    found = linears(packed)
    inputs = {name: Inputs.empty(linear.weight.shape[0], grams) for name, linear in found.items()}
    width = {buffer: found[name].weight.shape[0] for name, buffer in graph.linears}
    readers: dict[int, set[str]] = {}
    for name, buffer in graph.linears:
        readers.setdefault(buffer, set()).add(name)
    for buffer in width:
        graph.output(buffer)

    runs = [
        pack_sequences(sequences[part], config.pad_token_id)
        for part in chunks([s.size for s in sequences], OBSERVED_TOKENS, len(sequences))
    ]
    tokens = max(run.tokens for run in runs)
    plan = _fbg.Plan(graph, tokens, tokens, config.max_length, num_threads)
    for run in runs:
        outputs = [np.empty((run.tokens, k), np.float32) for k in width.values()]
        plan.run(*run.arrays, outputs, num_threads)
        for buffer, x in zip(width, outputs, strict=True):
            for reader in readers[buffer]:
                inputs[reader].add(x)
    return inputs
