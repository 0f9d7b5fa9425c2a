"""What a network from a file consists of, and the memory that it takes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fbg.model.load import load
from fbg.reports.inputs import random_feeds
from fbg.reports.measuring import Report, aligned

__all__ = ["NetFacts", "net_facts"]


@dataclass(frozen=True)
class NetFacts(Report):
    """Result of `net_facts`.

    operators: how many nodes there are of each operator. products, int8_products: convolutions and
    products of matrices, and those of them that multiply integers of 8 bits. steps: of the
    plan, by back end. parameters: elements of constant tensors. tensor_bytes: of all tensors
    between the nodes, one beside the other. arena_bytes: of the memory in which fbg keeps them.
    These, the steps and weight_bytes are None where the file leaves sizes of inputs open.
    """

    path: str
    dtype: str
    inputs: dict[str, str]
    outputs: dict[str, str]
    operators: dict[str, int]
    steps: dict[str, int] | None
    products: int
    int8_products: int
    parameters: int
    weight_bytes: int | None
    tensor_bytes: int | None
    arena_bytes: int | None

    def __str__(self) -> str:
        rows = {
            "network": self.path,
            "inputs": _list(self.inputs, ": "),
            "outputs": _list(self.outputs, ": "),
            "operators": _list(self.operators, " "),
            "products": f"{self.products}, {self.int8_products} of them in int8",
            "parameters": f"{self.parameters:,}",
        }
        if self.steps is None:
            name = next(iter(self.inputs))
            rows["plan"] = f"depends on the shapes of inputs: pass --shape {name}=1,…"
        else:
            rows["steps"] = _list(self.steps, " ")
            rows["packed weights"] = _mib(self.weight_bytes)
            rows["arena"] = f"{_mib(self.arena_bytes)}, of tensors of {_mib(self.tensor_bytes)}"
        return aligned(rows)


def _list(values: Mapping[str, object], between: str) -> str:
    return ", ".join(f"{name}{between}{value}" for name, value in values.items())


def _mib(size: int | None) -> str:
    return f"{(size or 0) / 2**20:.1f} MiB"


def net_facts(path: str, *, shapes: Mapping[str, Sequence[int]] | None = None) -> NetFacts:
    """Load an ONNX file or a saved network; prepare its plan by a run on random inputs.

    shapes: of inputs, where the file leaves sizes open; without them there is no plan. Raises what
    `fbg.load` raises.
    """
    net = load(path, shapes=shapes or {})
    plan, network, count = None, net.network, net.products
    if all(kind.fixed is not None for kind in net.inputs.values()):
        net.run(random_feeds(net, 1)[0])
        plan = net.plan()
    operators = Counter(node.op for node in network.nodes)
    constants = {name for node in network.nodes for name in node.reads} & network.constants.keys()
    return NetFacts(
        path,
        net.dtype,
        {name: str(kind) for name, kind in net.inputs.items()},
        {name: str(kind) for name, kind in net.outputs.items()},
        dict(operators.most_common()),
        None if plan is None else dict(Counter(step.backend for step in plan.steps)),
        count.all,
        count.int8,
        sum(math.prod(network.constants[name].shape) for name in constants),
        None if plan is None else plan.weight_bytes,
        None if plan is None else plan.tensor_bytes,
        None if plan is None else plan.arena_bytes,
    )
