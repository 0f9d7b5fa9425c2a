"""A graph: the values that ops compute, in an order in which they can run."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from fbg.graph.ops.op import Op, Value


class Graph:
    """A list of values, each computed by an op from values before it. It prints like a program.

    >>> import numpy as np
    >>> from fbg.graph.ops import common, rows
    >>> graph = Graph()
    >>> with graph.scope("embeddings"):
    ...     x = graph.add(rows.Embed(np.zeros((100, 8), np.float32)))
    ...     x = graph.add(common.Norm(x, common.RmsNorm(np.ones(8, np.float32), 1e-5)))
    >>> graph.output(graph.add(rows.Pool(x, "mean")))
    >>> print(graph)
    embeddings:
      %0: float32[tokens, 8] = embed(word [100, 8])
      %1: float32[tokens, 8] = rms_norm(%0, eps=1e-05)
    %2: float32[sequences, 8] = pool(%1, pooling=mean)
    return %2
    """

    def __init__(self) -> None:
        self.values: list[Value] = []
        self.outputs: list[Value] = []
        self._scope = ""
        self._names: Counter[str] = Counter()
        self._known: set[Value] = set()

    @contextlib.contextmanager
    def scope(self, name: str) -> Iterator[None]:
        """Begin the names of the values that are added in this block with `name` and a dot."""
        outer = self._scope
        self._scope = f"{outer}{name}."
        try:
            yield
        finally:
            self._scope = outer

    def add(self, op: Op, nodes: tuple[str, ...] = ()) -> Value:
        """Add an op and return its value. Raises ValueError for one that does not fit.

        nodes: see `Value`.
        """
        self._require_known(op.inputs, op.kind)
        name = self._scope + op.label
        self._names[name] += 1
        if self._names[name] > 1:
            name = f"{name}_{self._names[name]}"
        return self.append(Value(name, op.infer(), op, op.element_type(), nodes))

    def append(self, value: Value) -> Value:
        """Add a value, which another graph may contain as well, and return it."""
        self.values.append(value)
        self._known.add(value)
        return value

    def output(self, value: Value) -> None:
        """Let a run return a value, after those that it returns already."""
        self._require_known([value], "output")
        self.outputs.append(value)

    def copy(self) -> Graph:
        """Return a graph with the same values and outputs, to which others can be added."""
        graph = Graph()
        graph.values, graph.outputs = self.values.copy(), self.outputs.copy()
        graph._names, graph._known = self._names.copy(), self._known.copy()
        return graph

    def rewritten(self, change: Callable[[Op], Op]) -> Graph:
        """Return a graph with the same names and outputs, and `change(op)` in the place of each
        op: the op itself, or another that reads the same values and has a result of the same shape.
        """
        graph = Graph()
        new: dict[Value, Value] = {}
        for value in self.values:
            op = change(value.op).reading(new)
            new[value] = graph.append(value.with_op(op))
        graph.outputs = [new[value] for value in self.outputs]
        return graph

    def needed(self, results: Sequence[Value]) -> list[Value]:
        """Return these values and all from which they are computed, in order."""
        wanted = set(results)
        for value in reversed(self.values):
            if value in wanted:
                wanted.update(value.op.inputs)
        return [value for value in self.values if value in wanted]

    def live(self) -> list[Value]:
        """Return the values that the outputs need, and all inputs of a run, in order."""
        brought = [value for value in self.values if value.op.is_brought]
        return self.needed([*brought, *self.outputs])

    def pruned(self) -> Graph:
        """Remove values that no output needs; return the graph."""
        self.values = self.live()
        return self

    def late(self) -> list[Value]:
        """Return the same values, each as late as possible: just before its first reader."""
        live = self.live()
        read = [x for value in live for x in value.op.inputs]
        return list(dict.fromkeys([*(v for v in live if v.op.is_brought), *read, *self.outputs]))

    def uses(self) -> Counter[Value]:
        """Return how often each value is read, by ops or as an output."""
        uses = Counter(x for value in self.values for x in value.op.inputs)
        uses.update(self.outputs)
        return uses

    def _require_known(self, values: Iterable[Value], what: str) -> None:
        for value in values:
            if value not in self._known:
                raise ValueError(f"{what}: {value.name} is not a value of this graph")

    def __str__(self) -> str:
        numbers: dict[Value, str] = {}
        shown: list[Value] = []
        for value in self.values:
            numbers[value] = value.op.literal() or f"%{len(shown)}"
            shown += [value] * (value.op.literal() is None)
        lines, scope = [], ""
        for value in shown:
            own = value.name.rpartition(".")[0]
            if own != scope:
                lines += [f"{own}:"] if own else []
                scope = own
            shape = ", ".join(map(str, value.shape))
            text = f"{numbers[value]}: {value.dtype}[{shape}] = {value.op.expression(numbers)}"
            nodes = f"  # {', '.join(value.nodes)}" if value.nodes else ""
            lines.append(f"{'  ' * bool(own)}{text}{nodes}")
        if self.outputs:
            lines.append("return " + ", ".join(numbers[value] for value in self.outputs))
        return "\n".join(lines)
