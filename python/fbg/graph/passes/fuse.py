"""The order of the passes that fuse ops."""

from __future__ import annotations

from fbg.graph.graph import Graph
from fbg.graph.packed_weights import Packer
from fbg.graph.passes.affine import fold_affine
from fbg.graph.passes.attention import fuse_attention
from fbg.graph.passes.epilogue import fuse_epilogues
from fbg.graph.passes.expressions import fuse_expressions
from fbg.graph.passes.functions import find_functions
from fbg.graph.passes.group_norm import find_group_norms
from fbg.graph.passes.integers import join_integers, take_integers, take_means
from fbg.graph.passes.maps import fuse_maps
from fbg.graph.passes.rounded import round_products


def fuse(graph: Graph, packer: Packer) -> Graph:
    """Return the same graph with fewer ops. Each keeps the names of its original nodes.

    packer: packs the weights of the graph, and tells whether products round to bfloat16.
    """
    graph = find_group_norms(join_integers(take_integers(graph)))
    graph = fuse_attention(find_functions(take_means(graph)))
    graph = fold_affine(fuse_maps(fuse_epilogues(graph, packer)))
    graph = fuse_expressions(graph)
    return round_products(graph) if packer.rounds else graph
