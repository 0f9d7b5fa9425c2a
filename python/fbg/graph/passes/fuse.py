"""The order of the passes that fuse ops."""

from __future__ import annotations

from fbg.graph.graph import Graph
from fbg.graph.packed_weights import Packer
from fbg.graph.passes.attention import fuse_attention
from fbg.graph.passes.epilogue import fuse_epilogues
from fbg.graph.passes.functions import find_functions
from fbg.graph.passes.integers import take_integers
from fbg.graph.passes.maps import fuse_maps


def fuse(graph: Graph, packer: Packer) -> Graph:
    """Return the same graph with fewer ops. Each keeps the names of its original nodes.

    packer: packs the weights of the graph.
    """
    graph = fuse_attention(find_functions(take_integers(graph)))
    return fuse_maps(fuse_epilogues(graph, packer))
