"""From a float32 network and feeds to a network in int8: what is done, in this order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from fbg.arrays import Array
from fbg.graph.passes.precision import choose_dtypes
from fbg.importers.description import Network
from fbg.importers.int8.agreement import largest_error, smooth_outputs
from fbg.importers.int8.costs import without_losses
from fbg.importers.int8.equalization import channel_ranges, equalize_channels
from fbg.importers.int8.float_nodes import for_products
from fbg.importers.int8.kept import Candidate, Kept, reach
from fbg.importers.int8.observe import Prepare, calibrate_network
from fbg.importers.int8.quantize import quantize_network
from fbg.importers.int8.verification import verified
from fbg.importers.products import fold_weights, quantizable


@dataclass(frozen=True)
class Calibrated:
    """A network in int8. error: of its outputs for the first feed, relative to float32; None if no
    output shows it. kept: the nodes in float32 that a wanted agreement needs, if one was given.
    """

    network: Network
    error: float | None
    kept: Kept | None


def quantize_by_feeds(
    network: Network,
    feeds: Iterable[Mapping[str, Array]],
    prepare: Prepare,
    *,
    untouched: Mapping[str, str],
    higher_precision: Sequence[str],
    equalize: bool,
    accuracy: float | None,
    narrow_weights: bool | None,
) -> Calibrated:
    """Quantize a network by what its tensors hold for these feeds.

    prepare: makes the networks that run. untouched: names of nodes that stay as they are, for
    another back end. Other arguments as of `fbg.load`, which says what is raised.
    """
    network = fold_weights(network, untouched)
    kept_names = partial(_matching, patterns=higher_precision)

    def calibrated(equalized: bool, feeds: Iterable[Mapping[str, Array]]) -> Candidate:
        changed = network
        if equalized:
            feeds = list(feeds)
            changed = equalize_channels(network, channel_ranges(network, feeds, prepare))
        found = calibrate_network(changed, feeds, prepare, narrow_weights)
        found = without_losses(changed, found)
        found = for_products(changed, found, kept_names(quantizable(changed)))
        return Candidate(changed, found, equalized)

    if accuracy is None:
        changed, found, _ = calibrated(equalize, feeds)
        return Calibrated(*verified(changed, found, prepare), None)
    feeds = list(feeds)
    ways = [True] if equalize else [False, True]
    candidates = (calibrated(equalized, feeds) for equalized in ways)
    (changed, found, _), kept = reach(candidates, accuracy, feeds, prepare)
    result = quantize_network(changed, found)
    names = smooth_outputs(changed, found.inferred)
    error = largest_error(prepare(result).run(found.feed), found.outputs, names)
    return Calibrated(result, error, kept)


def _matching(names: Sequence[str], patterns: Sequence[str]) -> set[str]:
    """Return the names that the patterns match."""
    if isinstance(patterns, (str, bytes, Mapping)):
        got = type(patterns).__name__
        raise TypeError(f"load: higher_precision must be patterns of names of nodes, got {got}")
    return set(choose_dtypes(names, dict.fromkeys(patterns, "float32"), "node with weights"))
