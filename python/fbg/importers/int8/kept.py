"""Chooses which nodes of a quantized network stay in float32, so that its outputs agree with those
in float32 as far as wanted.

Errors of rounding add up like independent noise: each node adds the square of the error that it
causes where it alone reads integers. The nodes that stay in float32 first are those whose squares
are largest for the time that they take in float32 by the cost model; as many stay as the outputs
need on the feeds of the calibration.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

from fbg.arrays import Array
from fbg.graph.passes.precision import propose
from fbg.importers.backends.base import TypedNode
from fbg.importers.backends.foreign import modelled_seconds
from fbg.importers.description import Network
from fbg.importers.int8.agreement import Comparable, Outputs
from fbg.importers.int8.float_nodes import in_float, readers_of_integers
from fbg.importers.int8.observe import Calibration, Prepare
from fbg.importers.int8.quantize import quantize_network
from fbg.importers.onnx.inference import Inferred
from fbg.importers.products import quantizable
from fbg.progress import counted

FEEDS = 2  # of which the error of a single node is measured


@dataclass(frozen=True)
class KeptNode:
    """A node that stays in float32. error: of the outputs, relative to float32, if it alone reads
    integers. seconds: its time in float32 by the cost model.
    """

    name: str
    op: str
    error: float
    seconds: float


@dataclass(frozen=True)
class Kept:
    """Which nodes of an int8 network stay in float32, and what for.

    accuracy: the agreement that was wanted. agreement: that of the network on the feeds of the
    calibration; all_int8: that without these nodes. share: of the time of all nodes in
    float32 by the cost model, how much is theirs. equalized: whether channels were given similar
    ranges.
    """

    accuracy: float
    agreement: float
    all_int8: float
    share: float
    nodes: tuple[KeptNode, ...]
    equalized: bool = False

    def __str__(self) -> str:
        head = f"agreement {self.agreement:.4f}, wanted {self.accuracy:g}"
        head += ", channels equalized" if self.equalized else ""
        if not self.nodes:
            return f"{head}: no node stays in float32"
        lines = [
            f"  {node.name} ({node.op}): error {node.error:.2g}, {1e3 * node.seconds:.3g} ms"
            for node in self.nodes
        ]
        count = f"{len(lines)} node{'s' * (len(lines) > 1)} in float32"
        cost = f"{self.share:.1%} of the modelled time in float32"
        return "\n".join(
            [f"{head}; {self.all_int8:.4f} if all is in int8", f"{count}, {cost}:", *lines]
        )

    def as_json(self) -> dict[str, Any]:
        """Return the same for a file."""
        return asdict(self)

    @staticmethod
    def of_json(stored: Mapping[str, Any]) -> Kept:
        """Return what `as_json` has stored; raises ValueError for anything else."""
        try:
            nodes = tuple(
                KeptNode(str(n["name"]), str(n["op"]), float(n["error"]), float(n["seconds"]))
                for n in stored["nodes"]
            )
            return Kept(
                float(stored["accuracy"]),
                float(stored["agreement"]),
                float(stored["all_int8"]),
                float(stored["share"]),
                nodes,
                bool(stored["equalized"]),
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"the nodes in float32 are not as they were saved: {error}") from None


class Candidate(NamedTuple):
    """A network to quantize, and its statistics. equalized: whether its channels were."""

    network: Network
    found: Calibration
    equalized: bool


def reach(
    candidates: Iterable[Candidate],
    accuracy: float,
    feeds: Sequence[Mapping[str, Array]],
    prepare: Prepare,
) -> tuple[Candidate, Kept]:
    """Return the candidate with the least error, with as many nodes in float32 as the wanted
    agreement needs. Those behind one that has it wholly in int8 are not tried.

    Narrow weights stay if products in int8 are left at all: on CPUs that gain from them, other
    products of integers take as long as those in float32. feeds: of the calibration. Raises
    ValueError if no output shows the agreement, and Unreached if no product could stay in int8.
    """
    tried = []
    for candidate in candidates:
        trial = _Trial(candidate.network, candidate.found, feeds, prepare)
        all_int8, loss = trial.compare(())
        tried.append((loss, candidate, trial, all_int8))
        if all_int8 >= accuracy:
            break
    _, chosen, trial, all_int8 = min(tried, key=lambda each: each[0])
    if all_int8 >= accuracy:
        return chosen, Kept(accuracy, all_int8, all_int8, 0.0, (), chosen.equalized)
    try:
        return _with_kept(chosen, trial, accuracy, all_int8)
    except Unreached:
        if not chosen.found.narrow:
            raise
    full = chosen._replace(found=replace(chosen.found, narrow=False))
    return reach([full], accuracy, feeds, prepare)


class Unreached(ValueError):
    """No network with products in int8 has the wanted agreement."""


def _with_kept(
    candidate: Candidate, trial: _Trial, accuracy: float, all_int8: float
) -> tuple[Candidate, Kept]:
    """Return a candidate with the nodes in float32 that it needs, and these nodes."""
    network, found, equalized = candidate
    names = trial.names
    seconds = _modelled(network, found.inferred)
    with_progress = iter(counted("measuring nodes", names))
    proposal = propose(
        names,
        trial.alone,
        lambda kept: 1 - trial.agreement(kept),
        1 - accuracy,
        lambda _: next(with_progress),
        cost=seconds.__getitem__,
    )
    kept, reached = proposal.kept, 1 - proposal.kept_loss
    left = set(readers_of_integers(network, in_float(network, found, kept)))
    if reached < accuracy or left.isdisjoint(trial.products):
        raise Unreached(
            f"load: accuracy={accuracy:g} cannot be reached in int8: the agreement is "
            f"{all_int8:.4f} if all is in int8, and {reached:.4f} with all products in float32"
        )
    ops = {node.name: node.op for node in network.nodes}
    nodes = tuple(
        KeptNode(name, ops[name], proposal.losses[name] ** 0.5, seconds[name]) for name in kept
    )
    share = sum(node.seconds for node in nodes) / sum(seconds.values())
    found = in_float(network, found, kept)
    return Candidate(network, found, equalized), Kept(
        accuracy, reached, all_int8, share, nodes, equalized
    )


class _Trial:
    """Runs a network with some nodes in float32, and compares its outputs.

    products: names of the nodes that could multiply integers.
    """

    def __init__(
        self,
        network: Network,
        found: Calibration,
        feeds: Sequence[Mapping[str, Array]],
        prepare: Prepare,
    ) -> None:
        self._network, self._found = network, found
        self._feeds, self._prepare = feeds, prepare
        self.names = readers_of_integers(network, found)
        self.products = set(quantizable(network))
        self._comparable = Comparable.of(network, found.inferred)
        self._exact = self._run(network, feeds)

    def _run(self, network: Network, feeds: Sequence[Mapping[str, Array]]) -> Outputs:
        prepared = self._prepare(network)
        return [prepared.run(feed) for feed in feeds]

    def _rounded(self, kept: Collection[str], feeds: Sequence[Mapping[str, Array]]) -> Outputs:
        found = in_float(self._network, self._found, kept)
        return self._run(quantize_network(self._network, found), feeds)

    def agreement(self, kept: Collection[str]) -> float:
        """Return the agreement on all feeds if these nodes are in float32."""
        return self.compare(kept)[0]

    def compare(self, kept: Collection[str]) -> tuple[float, float]:
        """Return the same, and the squared error."""
        got = self._rounded(kept, self._feeds)
        agreement = self._comparable.agreement(got, self._exact)
        if agreement is None:
            raise ValueError("load: accuracy: no output of the network can be compared")
        return agreement, self._comparable.loss(got, self._exact)

    def alone(self, name: str) -> float:
        """Return the squared error if only this node reads integers."""
        others = [other for other in self.names if other != name]
        got = self._rounded(others, self._feeds[:FEEDS])
        return self._comparable.loss(got, self._exact[:FEEDS])


def _modelled(network: Network, inferred: Inferred) -> dict[str, float]:
    """Return the seconds of each node in float32 by the cost model."""
    types, constants = inferred.types, inferred.constants
    return {
        node.name: modelled_seconds(TypedNode(node, types, constants)) for node in network.nodes
    }
