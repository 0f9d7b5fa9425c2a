"""What a network from a file consists of, and the memory that it takes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fbg.model.load import load
from fbg.reports.measuring import Report
from fbg.reports.net_feeds import random_feeds

__all__ = ["NetFacts", "net_facts"]


@dataclass(frozen=True)
class NetFacts(Report):
    """Result of `net_facts`.

    operators: how many nodes there are of each operator. steps: of the plan, by back end.
    parameters: elements of constant tensors. tensor_bytes: of all tensors between the nodes, one
    beside the other. arena_bytes: of the memory in which fbg keeps them.
    """

    path: str
    dtype: str
    inputs: dict[str, str]
    outputs: dict[str, str]
    operators: dict[str, int]
    steps: dict[str, int]
    parameters: int
    weight_bytes: int
    tensor_bytes: int
    arena_bytes: int

    def __str__(self) -> str:
        mib = 2**20
        operators = ", ".join(f"{name} {count}" for name, count in self.operators.items())
        steps = ", ".join(f"{name} {count}" for name, count in self.steps.items())
        rows = {
            "network": f"{self.path}, {self.dtype}",
            "inputs": ", ".join(f"{name}: {kind}" for name, kind in self.inputs.items()),
            "outputs": ", ".join(f"{name}: {kind}" for name, kind in self.outputs.items()),
            "operators": operators,
            "steps": steps,
            "parameters": f"{self.parameters:,}",
            "packed weights": f"{self.weight_bytes / mib:.1f} MiB",
            "arena": f"{self.arena_bytes / mib:.1f} MiB, of tensors of "
            f"{self.tensor_bytes / mib:.1f} MiB",
        }
        width = max(map(len, rows))
        return "\n".join(f"{name:<{width}}  {value}" for name, value in rows.items())


def net_facts(path: str, *, shapes: Mapping[str, Sequence[int]] | None = None) -> NetFacts:
    """Load an ONNX file or a saved network and prepare its plan; one run on random inputs.

    shapes: of inputs, where the file leaves sizes open. Raises what `fbg.load` raises, and
    ValueError for an input whose size is not known.
    """
    net = load(path, shapes=shapes or {})
    net.run(random_feeds(net, 1)[0])
    plan, network = net.plan(), net.network
    operators = Counter(node.op for node in network.nodes)
    constants = {name for node in network.nodes for name in node.reads} & network.constants.keys()
    return NetFacts(
        path,
        net.dtype,
        {name: str(kind) for name, kind in net.inputs.items()},
        {name: str(kind) for name, kind in net.outputs.items()},
        dict(operators.most_common()),
        dict(Counter(step.backend for step in plan.steps)),
        sum(math.prod(network.constants[name].shape) for name in constants),
        plan.weight_bytes,
        plan.tensor_bytes,
        plan.arena_bytes,
    )
