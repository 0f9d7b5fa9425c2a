"""GroupNorm, as exporters write it: InstanceNorm of a tensor whose channels are joined to groups.

Reshape to (batch, groups, …), InstanceNorm, Reshape back, Mul and Add with a factor and a summand
for each channel. (arXiv:1803.08494)
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fbg.arrays import Floats
from fbg.graph.graph import Graph
from fbg.graph.ops.common import Map
from fbg.graph.ops.moves import Reshape
from fbg.graph.ops.op import Op, Value
from fbg.graph.ops.tensors import Constant, Sizes, shape_of, size_of
from fbg.graph.ops.windows import GroupNorm
from fbg.graph.rewrite import Rewriting, rewrite


def find_group_norms(graph: Graph) -> Graph:
    """Return the graph with each GroupNorm in place of the ops that compute it."""
    if not any(isinstance(value.op, GroupNorm) for value in graph.values):
        return graph
    return rewrite(graph, _rule, (Map, Reshape))


def _rule(made: Rewriting, op: Op) -> Value | None:
    if isinstance(op, Reshape):
        found = _of_groups(made, op)
        return None if found is None else made.add(found, op.x.op.inputs[0], op.x)
    if not isinstance(op, Map) or op.dtype != "float32":
        return None
    binary = op.binary("multiply", "add")
    if binary is None:
        return None
    function, *operands = binary
    for x, by in (operands, operands[::-1]):
        if isinstance(x.op, GroupNorm) and made.is_inside(x):
            own = _by_channel(by, shape_of(x))
            if own is not None and op.infer() == x.shape:
                return made.add(_with(x.op, function, own), x)
    return None


def _of_groups(made: Rewriting, op: Reshape) -> GroupNorm | None:
    """Return the GroupNorm of an image if its groups are the channels of the norm before op."""
    norm = op.x.op
    if not isinstance(norm, GroupNorm) or not isinstance(norm.x.op, Reshape):
        return None
    x = norm.x.op.x
    shape, joined = shape_of(x), shape_of(norm.x)
    if not made.is_inside(op.x) or shape != op.shape or len(shape) < 3:
        return None
    if shape[0] != joined[0] or norm.groups != joined[1] or shape[1] % norm.groups:
        return None
    each = shape[1] // norm.groups
    weight, bias = (np.repeat(own, each) for own in (norm.weight, norm.bias))
    return GroupNorm(x, norm.groups, weight, bias, norm.eps)


def _by_channel(value: Value, shape: Sizes) -> Floats | None:
    """Return the elements of a constant that differ along the channels alone."""
    if not isinstance(value.op, Constant) or len(value.shape) > len(shape):
        return None
    own = (*[1] * (len(shape) - len(value.shape)), *shape_of(value))
    if size_of(value) not in (1, own[1]):
        return None
    values = value.op.array.astype(np.float32).reshape(-1)
    return np.ascontiguousarray(np.broadcast_to(values, (shape[1],)))


def _with(norm: GroupNorm, function: str, own: Floats) -> GroupNorm:
    if function == "add":
        return replace(norm, bias=norm.bias + own)
    return replace(norm, weight=norm.weight * own, bias=norm.bias * own)
