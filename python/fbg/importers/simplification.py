"""The order of the passes over the description of a network."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from fbg.importers.description import Network
from fbg.importers.linear_branches import join_branches
from fbg.importers.passes import (
    drop_identities,
    drop_unread_outputs,
    fold_batch_norm,
    take_constants,
)


def simplified(network: Network, kept: Collection[str] = ()) -> Network:
    """Return the network, and its branches, after all passes that need no types."""
    nodes = [
        replace(node, branches=tuple(map(simplified, node.branches))) if node.branches else node
        for node in network.nodes
    ]
    network = drop_unread_outputs(take_constants(replace(network, nodes=nodes), kept), kept)
    with np.errstate(all="ignore"):  # that constants overflow shows in results
        return fold_batch_norm(join_branches(drop_identities(network, kept), kept), kept)
