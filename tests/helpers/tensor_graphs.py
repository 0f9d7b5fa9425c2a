"""Graphs of tensors, built by hand: what passes see."""

from __future__ import annotations

import numpy as np

from fbg.graph.graph import Graph
from fbg.graph.ops.common import Map
from fbg.graph.ops.products import Conv, Linear
from fbg.graph.ops.tensors import Constant, TensorInput
from fbg.graph.packed_weights import PackedWeights, Packer, Weights


class Tensors:
    """A graph to which a test adds ops; each is a node of its own, named by its number."""

    def __init__(self):
        self.graph = Graph()
        self.packer = Packer(PackedWeights(), 0)

    def add(self, op):
        return self.graph.add(op, (f"n{len(self.graph.values)}",))

    def input(self, *shape, dtype="float32"):
        return self.graph.add(TensorInput("x", shape, dtype))

    def constant(self, values):
        return self.graph.add(Constant(np.asarray(values, np.float32)))

    def map(self, function, *operands, c0=0, c1=0):
        return self.add(Map.of(function, operands, c0, c1, "float32"))

    def conv(self, x, outputs, **more):
        """Add a convolution with a kernel of size 1 of x (N, C, H, W)."""
        weights = Weights.of(np.ones((outputs, int(x.shape[1]), 1, 1), np.float32))
        shape = (int(x.shape[0]), outputs, int(x.shape[2]), int(x.shape[3]))
        return self.add(Conv(x, weights, shape, **more))

    def linear(self, x, outputs, **more):
        weights = Weights.of(np.ones((outputs, int(x.shape[-1]), 1), np.float32))
        shape = (*(int(n) for n in x.shape[:-1]), outputs)
        return self.add(Linear(x, weights, shape, **more))

    def lines(self, graph):
        """The ops that are left, without types of results and without inputs."""
        lines = [line for line in str(graph).splitlines() if " = input" not in line]
        return [line.partition(" = ")[2] or line for line in lines]
