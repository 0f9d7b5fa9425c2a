"""Mixtures of experts in the place of the feed-forward part of layers (Shazeer et al., 2017,
arXiv:1701.06538).

A router weighs the experts for each token. The few with the largest weights compute, each for the
tokens that go to it; their results are added up by weight, and a bias that all share is added once.
"""

from __future__ import annotations

from dataclasses import dataclass

from fbg.arrays import Floats
from fbg.checkpoints.weights import ExpertPart
from fbg.graph.graph import Graph
from fbg.graph.linear import Linear
from fbg.graph.ops import rows as ops
from fbg.graph.ops.op import Value
from fbg.networks.config import Mixture
from fbg.networks.names import ExpertNames
from fbg.networks.source import Source

MAX_EXPERTS = 256


@dataclass(frozen=True)
class Expert:
    """The two layers of an expert."""

    intermediate: Linear
    output: Linear


@dataclass(frozen=True)
class Experts:
    """The mixture of a layer. router: in float32, as a weight decides which experts compute."""

    router: Linear
    bias: Floats
    parts: tuple[Expert, ...]


def read_experts(
    source: Source,
    mixture: Mixture,
    names: ExpertNames,
    places: tuple[str, str],
    sizes: tuple[int, int],
) -> Experts:
    """Read the mixture of a layer; raises ModelError.

    places: the layer in saved models and in checkpoints. sizes: of its rows, and between the layers
    of an expert.
    """
    (place, stored), (hidden, wide), count = places, sizes, mixture.count

    def expert(n: int) -> Expert:
        field = f"{place}.experts.parts.{n}"
        first = ExpertPart(f"{stored}.{names.intermediate}", n, count)
        second = ExpertPart(f"{stored}.{names.output}", n, count, transposed=True)
        return Expert(
            source.linear(f"{field}.intermediate", [first], hidden, wide, bias=False),
            source.linear(f"{field}.output", [second], wide, hidden, bias=False),
        )

    field = f"{place}.experts"
    router = f"{stored}.{names.router}"
    return Experts(
        source.linear(f"{field}.router", [router], hidden, count, bias=False, dtype="float32"),
        source.floats(f"{field}.bias", f"{stored}.{names.bias}", hidden),
        tuple(expert(n) for n in range(count)),
    )


def build_experts(
    graph: Graph, x: Value, residual: Value, experts: Experts, chosen: int, activation: str
) -> Value:
    """Add a mixture that reads x, and the sum of its result and the residual."""
    routes = graph.add(ops.Route(graph.add(ops.Linear(x, experts.router)), chosen))
    total, bias = residual, experts.bias
    for n, part in enumerate(experts.parts):
        with graph.scope(f"experts.{n}"):
            rows = graph.add(ops.TakeRouted(x, routes, n))
            for layer, function in ((part.intermediate, activation), (part.output, "none")):
                rows = graph.add(ops.Linear(rows, layer, function, routes=routes, expert=n))
            total = graph.add(ops.AddRouted(total, rows, routes, n, None if n else bias))
    return total
