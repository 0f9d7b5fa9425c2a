"""A pass over a graph: a rule keeps or replaces each op, in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from fbg.graph.graph import Graph
from fbg.graph.ops.op import Op, Value
from fbg.graph.refusal import REFUSALS, refused


class Rewriting:
    """The graph that a pass builds, as far as it is complete.

    nodes: the nodes of the op to which the rule is applied.
    """

    def __init__(self) -> None:
        self.graph = Graph()
        self.uses: Counter[Value] = Counter()
        self.nodes: tuple[str, ...] = ()

    def is_inside(self, value: Value) -> bool:
        """Whether only the op to which the rule is applied reads a value."""
        return self.uses[value] <= 1

    def add(self, op: Op, *joined: Value) -> Value:
        """Add an op, which also computes for the nodes of the values that it replaces."""
        return self.graph.add(op, nodes_of(*joined, nodes=self.nodes))


# A rule returns the value that replaces an op of the new graph's values, or None to keep the op.
Rule = Callable[[Rewriting, Op], Value | None]


def rewrite(graph: Graph, rule: Rule, of: type[Op] | tuple[type[Op], ...]) -> Graph:
    """Return a graph in which a rule has been applied to each op, without ops that none needs.

    of: the types of ops to which the rule applies; without any, the graph stays as it is.
    """
    if not any(isinstance(value.op, of) for value in graph.values):
        return graph
    made = Rewriting()
    uses = graph.uses()
    new: dict[Value, Value] = {}
    for value in graph.values:
        op = value.op.reading(new)
        made.nodes = value.nodes
        try:
            found = rule(made, op)
        except REFUSALS as error:
            raise refused(value.owner, error) from error
        result = made.graph.append(value.with_op(op)) if found is None else found
        made.uses[result] += uses[value]
        new[value] = result
    made.graph.outputs = [new[value] for value in graph.outputs]
    return made.graph.pruned()


def nodes_of(*values: Value, nodes: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return the nodes of the values and then the others, each once."""
    joined = [name for value in values for name in value.nodes]
    return tuple(dict.fromkeys([*joined, *nodes]))
