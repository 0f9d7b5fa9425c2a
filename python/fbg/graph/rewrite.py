"""A pass over a graph: each op, in order, stays as it is or becomes what a rule makes of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from fbg.graph.graph import Graph
from fbg.graph.ops.op import Op, Value
from fbg.graph.refusal import refusing


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


def rewrite(graph: Graph, rule: Rule) -> Graph:
    """Return a graph in which a rule has been applied to each op that is needed."""
    made = Rewriting()
    uses = graph.uses()
    new: dict[Value, Value] = {}
    for value in graph.live():
        op = value.op.reading(new)
        made.nodes = value.nodes
        with refusing(value.owner):
            found = rule(made, op)
        result = made.graph.append(value.with_op(op)) if found is None else found
        made.uses[result] += uses[value]
        new[value] = result
    made.graph.outputs = [new[value] for value in graph.outputs]
    made.graph.values = made.graph.live()
    return made.graph


def nodes_of(*values: Value, nodes: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return the nodes of values, and others behind them, each once."""
    joined = [name for value in values for name in value.nodes]
    return tuple(dict.fromkeys([*joined, *nodes]))
