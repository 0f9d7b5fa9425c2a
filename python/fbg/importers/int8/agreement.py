"""How far the outputs of a network in int8 agree with those in float32, on the same feeds.

    cosine    of an output that a small error changes by little; the mean over all feeds
    argmax    of an output that is scores of classes (class_scores.py): the share of all rows whose
              largest element is at the same place
    equal     of an output of integers: the share of equal elements

The agreement of a network is the least of these, over all outputs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fbg.arrays import Array
from fbg.importers.class_scores import class_scores
from fbg.importers.description import Network
from fbg.importers.onnx.inference import Inferred
from fbg.importers.products import PRODUCTS

Outputs = Sequence[Mapping[str, Array]]  # one mapping for each feed


@dataclass(frozen=True)
class Comparable:
    """The outputs of a network that tell how far it is from float32, by how they are compared."""

    smooth: tuple[str, ...]
    scores: tuple[str, ...]
    counted: tuple[str, ...]

    @staticmethod
    def of(network: Network, inferred: Inferred) -> Comparable:
        """Return the outputs that depend on data, and whose shapes do not."""
        smooth = smooth_outputs(network, inferred)
        scores = [name for name in class_scores(network) if name in smooth]
        counted = [
            name
            for name in network.outputs
            if name in inferred.types
            and inferred.types[name].dtype.kind in "biu"
            and inferred.types[name].fixed is not None
            and name not in inferred.constants
        ]
        return Comparable(tuple(smooth), tuple(scores), tuple(counted))

    def agreement(self, got: Outputs, wanted: Outputs) -> float | None:
        """Return the agreement of a network; None if no output shows it."""
        pairs = list(zip(got, wanted, strict=True))
        shares: list[float] = []
        for name in self.smooth:
            cosines = [cosine(y[name], w[name]) for y, w in pairs if np.isfinite(w[name]).all()]
            shares += [float(np.mean(cosines))] if cosines else []
        for name in self.scores:
            rows = [(y[name].argmax(-1) == w[name].argmax(-1)).ravel() for y, w in pairs]
            shares.append(_share(rows))
        for name in self.counted:
            shares.append(_share([(y[name] == w[name]).ravel() for y, w in pairs]))
        return min((share for share in shares if not np.isnan(share)), default=None)

    def loss(self, got: Outputs, wanted: Outputs) -> float:
        """Return the mean square of the error, relative to the output that shows it most; the share
        of elements that differ, where no output is smooth.
        """
        pairs = list(zip(got, wanted, strict=True))
        losses = [
            [relative_error(y[name], w[name].astype(np.float64)) ** 2 for y, w in pairs]
            for name in self.smooth
        ] or [[float((y[name] != w[name]).mean()) for y, w in pairs] for name in self.counted]
        return max((float(np.nanmean(each)) for each in losses), default=0.0)


def smooth_outputs(network: Network, inferred: Inferred) -> list[str]:
    """Return the outputs on which a small error has a small effect.

    They do not depend on integers or booleans computed from floating-point data, such as results of
    comparisons, sorting and counting. What follows from inputs of integers alone is exact up to the
    first product.
    """
    types = inferred.types
    real = {name for name in network.inputs if types[name].dtype.kind == "f"}
    exact = set(network.inputs) - real
    jumping: set[str] = set()
    for node in inferred.nodes:
        rounds = not real.isdisjoint(node.reads) or not jumping.isdisjoint(node.reads)
        if not rounds and exact.isdisjoint(node.reads):
            continue
        rounds |= node.op in PRODUCTS
        jumps = bool(node.captures) or not jumping.isdisjoint(node.reads)
        for name in node.outputs:
            smooth = not jumps and name in types and types[name].dtype.kind == "f"
            (exact if not rounds else real if smooth else jumping).add(name)
    return [name for name in network.outputs if name in real]


def relative_error(got: Array, wanted: Array) -> float:
    """Return the length of the difference, relative to the length of `wanted` unless it is 0."""
    size = float(np.linalg.norm(wanted))
    return float(np.linalg.norm(got - wanted)) / size if size > 0 else float(np.linalg.norm(got))


def largest_error(
    got: Mapping[str, Array], wanted: Mapping[str, Array], names: Collection[str]
) -> float | None:
    """Return the largest error of all outputs that should be finite; None if there are none."""
    errors = []
    for name in names:
        want = wanted[name].astype(np.float64)
        if got[name].shape == want.shape and np.isfinite(want).all():
            error = relative_error(got[name], want)
            errors.append(np.inf if np.isnan(error) else error)
    return max(errors, default=None)


def cosine(got: Array, wanted: Array) -> float:
    """Return the cosine of two tensors as vectors; 1 if both are zero, 0 if one is no number."""
    if got.shape != wanted.shape:
        return 0.0
    a, b = got.ravel().astype(np.float64), wanted.ravel().astype(np.float64)
    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    if lengths == 0:
        return float(np.array_equal(a, b))
    cosine = float(a @ b) / lengths
    return min(cosine, 1.0) if np.isfinite(cosine) else 0.0


def _share(rows: Sequence[Array]) -> float:
    same = np.concatenate(rows) if rows else np.empty(0, bool)
    return float(same.mean()) if same.size else float("nan")
