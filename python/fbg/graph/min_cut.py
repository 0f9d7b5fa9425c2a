"""The minimum cut of a directed graph whose edges have capacities, by Dinic's algorithm."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable


class _Network:
    """Edges in pairs: edge e ^ 1 leads back along edge e. left: what may still flow along each."""

    def __init__(self, count: int, edges: Iterable[tuple[int, int, int]]) -> None:
        self.end: list[int] = []
        self.left: list[int] = []
        self.out: list[list[int]] = [[] for _ in range(count)]
        for start, end, capacity in edges:
            for there, to, room in ((start, end, capacity), (end, start, 0)):
                self.out[there].append(len(self.end))
                self.end.append(to)
                self.left.append(room)

    def levels(self, source: int) -> list[int]:
        """Return how far each node is from the source along edges with room; -1: not reached."""
        levels = [-1] * len(self.out)
        levels[source] = 0
        queue = deque([source])
        while queue:
            node = queue.popleft()
            for edge in self.out[node]:
                if self.left[edge] and levels[self.end[edge]] < 0:
                    levels[self.end[edge]] = levels[node] + 1
                    queue.append(self.end[edge])
        return levels

    def block(self, source: int, sink: int, levels: list[int]) -> None:
        """Let as much flow as possible along paths that lead one level on with each edge."""
        tried = [0] * len(self.out)
        path: list[int] = []
        node = source
        while True:
            if node == sink:
                path = self._augment(path)
                node = self.end[path[-1]] if path else source
            edge = self._next(node, levels, tried)
            if edge is not None:
                path.append(edge)
                node = self.end[edge]
            elif path:
                node = self.end[path.pop() ^ 1]
                tried[node] += 1
            else:
                return

    def _next(self, node: int, levels: list[int], tried: list[int]) -> int | None:
        """Return the first edge that is worth trying and leads a level on."""
        edges = self.out[node]
        while tried[node] < len(edges):
            edge = edges[tried[node]]
            if self.left[edge] and levels[self.end[edge]] == levels[node] + 1:
                return edge
            tried[node] += 1
        return None

    def _augment(self, path: list[int]) -> list[int]:
        """Fill a path; return its beginning, up to the first edge that is full now."""
        flow = min(self.left[edge] for edge in path)
        for edge in path:
            self.left[edge] -= flow
            self.left[edge ^ 1] += flow
        return path[: next(i for i, edge in enumerate(path) if not self.left[edge])]


def sink_side(
    count: int, edges: Iterable[tuple[int, int, int]], source: int, sink: int
) -> set[int]:
    """Return the nodes on the side of the sink of a minimum cut: of several, the fewest.

    Nodes are numbers below `count`; an edge is its start, its end and its capacity.

    >>> sorted(sink_side(4, [(0, 1, 3), (1, 2, 1), (2, 3, 9), (0, 2, 1)], 0, 3))
    [2, 3]
    """
    network = _Network(count, edges)
    while (levels := network.levels(source))[sink] >= 0:
        network.block(source, sink, levels)
    side = {sink}
    queue = [sink]
    while queue:
        for edge in network.out[queue.pop()]:
            start = network.end[edge]
            if network.left[edge ^ 1] and start not in side:
                side.add(start)
                queue.append(start)
    return side
