"""A pass over a graph: each op, in order, stays as it is or becomes what a rule makes of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from fbg.graph.graph import Graph
from fbg.graph.ops.op import Op, Value
from fbg.graph.refusal import REFUSALS, refused


class Rewriting:
    """The graph that a pass makes, as far as it has come.

    nodes: those of the op that the rule looks at.
    """

    def __init__(self) -> None:
        self.graph = Graph()
        self.uses: Counter[Value] = Counter()
        self.nodes: tuple[str, ...] = ()

    def is_inside(self, value: Value) -> bool:
        """Whether nobody else reads a value than the op that the rule looks at."""
        return self.uses[value] <= 1

    def add(self, op: Op, *joined: Value) -> Value:
        """Add an op, which also does what values do that it takes the place of."""
        return self.graph.add(op, nodes_of(*joined, nodes=self.nodes))


# What a rule makes of an op, whose inputs are those of the new graph; None: it stays as it is.
Rule = Callable[[Rewriting, Op], Value | None]


def rewrite(graph: Graph, rule: Rule, of: type[Op] | tuple[type[Op], ...]) -> Graph:
    """Return a graph in which a rule has been applied to each op, without those that none needs.

    of: the ops without which there is nothing to do, and the graph stays as it is.
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
    """Return the nodes of values, and others behind them, each once."""
    joined = [name for value in values for name in value.nodes]
    return tuple(dict.fromkeys([*joined, *nodes]))
