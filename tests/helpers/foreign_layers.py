"""Layers of onnxruntime's own operators on integers, for random quantized graphs. Files need not
declare the types of what they compute, and these do not.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    pass

__all__ = ["DOMAIN", "foreign_layer"]

DOMAIN = "com.microsoft"
UNARY = {"QLinearSigmoid": {}, "QLinearLeakyRelu": {"alpha": 0.25}}
POOLS = ("QLinearGlobalAveragePool", "QLinearAveragePool")


def foreign_layer(graph):
    """Append a node and return what it computes; None where none fits what was picked."""
    x, random = graph.pick(), graph.random
    if x.parameters is None:
        return None
    real, zero = graph.scale(), graph.point(x.dtype)
    kind = random.choice([*UNARY, *POOLS, "QLinearAdd", "QLinearMul", "QLinearConcat"])
    if kind in ("QLinearAdd", "QLinearMul") and graph.exact:
        zero -= zero % 2  # onnxruntime adds it before it rounds halves to even
    parameters = graph.parameters(real, zero, x.dtype)
    inputs = [x.name, *x.parameters]
    shape, more = x.shape, dict(UNARY.get(kind, {}))
    if kind in POOLS:
        if len(shape) != 4:
            return None
        shape = (*shape[:2], 1, 1)
        more = {} if "Global" in kind else {"kernel_shape": list(x.shape[2:])}
    elif kind not in UNARY:
        y = _other(graph, x)
        assert y.parameters is not None
        inputs += [y.name, *y.parameters]
    if kind == "QLinearConcat":
        axis = random.randrange(len(shape))
        shape = tuple(2 * n if i == axis else n for i, n in enumerate(shape))
        inputs, more = [*parameters, *inputs], {"axis": axis}
    else:
        inputs += parameters
    if np.prod(shape) > 5000:
        return None
    name = graph.op(kind, *inputs, domain=DOMAIN, **more)
    return replace(
        x,
        name=name,
        shape=shape,
        parameters=parameters,
        scale=real,
        point=zero,
        rounded=not graph.exact,
    )


def _other(graph, x):
    """Return a tensor of the type and shape of x."""
    return graph.random.choice(
        [t for t in graph.tensors if (t.shape, t.dtype) == (x.shape, x.dtype)]
    )
