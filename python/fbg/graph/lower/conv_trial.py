"""One convolution of a network, alone in a graph of its own, so that `fbg.tune` can time it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from fbg import _fbg
from fbg.conv.packed_conv import PackedConv
from fbg.tuning.store import conv_key
from fbg.tuning.trials import ConvTrial


def trial_of(
    fields: Mapping[str, Any], packed: PackedConv, inputs: Sequence[int], features: int
) -> ConvTrial:
    """Return a function that times the convolution.

    fields: those of the op in a native graph, without its inputs and its algorithm.
    inputs: bytes of x and of the residual, if there is one. features: CPU features for kernels.
    """
    weights, batch, spatial, stages, source = (
        fields[name] for name in ("weights", "batch", "spatial", "stages", "source")
    )
    real = packed.dtype == np.int8
    return ConvTrial(
        conv_key(weights, packed.geometry, spatial, stages, source, features),
        weights.algorithms(batch, spatial, stages, source, real, False, features),
        partial(_prepare, fields, inputs, "uint8" if real else "float32", features),
    )


def _prepare(
    fields: Mapping[str, Any], inputs: Sequence[int], dtype: str, features: int, algorithm: str
) -> Callable[[], object]:
    graph = _fbg.Graph()
    buffers = [graph.append("input", size, "tensor") for size in inputs]
    residual = buffers[1] if len(inputs) > 1 else None
    y = graph.append("convolve", buffers[0], residual=residual, algorithm=algorithm, **fields)
    graph.output(y)
    plan = _fbg.Plan(graph, 1, 1, 1, 1, features=features)
    rng = np.random.default_rng(0)
    x: np.ndarray[Any, Any] = rng.integers(0, 256, inputs[0], np.uint8)
    if dtype == "float32":
        x = rng.standard_normal(inputs[0] // 4, np.float32)
    given = [x, *(np.zeros(size, np.uint8) for size in inputs[1:])]
    out = [np.empty(graph.columns(y), np.uint8)]
    return lambda: _fbg.run_tensors(plan, given, out, 1)
