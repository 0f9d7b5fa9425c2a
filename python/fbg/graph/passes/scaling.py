"""Multiplies weights by a factor for each output channel, which follows their product."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np

from fbg.arrays import Array
from fbg.graph.graph import Graph
from fbg.graph.ops.products import Product
from fbg.graph.packed_weights import Packer, Weights


class Scaling:
    """Multiplies weights while there is room: products that share weights get copies of them."""

    def __init__(self, graph: Graph, packer: Packer) -> None:
        self._packer = packer
        products = (value.op for value in graph.values if isinstance(value.op, Product))
        self._users = Counter(product.w for product in products)
        self._room = packer.room - sum(weights.nbytes for weights in self._users)

    def scaled(self, product: Product, factors: Array) -> Product | None:
        """Multiply the weights of each output channel, or their scales; None if impossible."""
        with np.errstate(all="ignore"):
            if product.is_integer:
                if product.w_scale is None:
                    return None
                scale = np.broadcast_to(product.w_scale, factors.shape) * factors
                if not (np.isfinite(scale).all() and (scale > 0).all()):
                    return None
                return replace(product, w_scale=scale)
            transposed = product.options.get("transposed")
            groups = int(product.options.get("groups", 1)) if transposed else 0
            make = partial(_largest, product.w, product.out_channels, groups)
            largest = self._packer.once(("largest", groups, product.w), (), make)
            if not np.isfinite(largest * factors).all():
                return None
        weights = _times(product.w, factors, groups)
        return replace(product, w=weights) if self._takes(product.w, weights) else None

    def _takes(self, old: Weights, new: Weights) -> bool:
        """Whether a product may have new weights; the last reader of the old ones frees them."""
        needed = new.nbytes * (new not in self._users) - old.nbytes * (self._users[old] == 1)
        if needed > self._room:
            return False
        self._room -= needed
        self._users[new] += 1
        self._users[old] -= 1
        if not self._users[old]:
            del self._users[old]
        return True


def _largest(weights: Weights, channels: int, groups: int) -> Array:
    """Return the largest absolute value of the float32 weights of each output channel.

    groups: for transposed weights, which have output channels along their second axis, else 0.
    """
    w = weights.make()
    if groups:
        w = w.reshape(groups, -1, *w.shape[1:]).swapaxes(1, 2).reshape(channels, -1)
    axes = tuple(range(1, w.ndim))
    largest: Array = np.maximum(w.max(axes), -w.min(axes))
    return largest


def _times(weights: Weights, factors: Array, groups: int) -> Weights:
    """Return float32 weights times the factor of each output channel. groups: see _largest."""

    def scaled(w: Array) -> Array:
        with np.errstate(all="ignore"):
            if not groups:
                plain: Array = w * factors.reshape(-1, *[1] * (w.ndim - 1))
                return plain
            by_group = w.reshape(groups, -1, *w.shape[1:])
            shape = (groups, 1, w.shape[1], *[1] * (w.ndim - 2))
            return (by_group * factors.reshape(shape)).reshape(w.shape)

    return weights.then(("scaled", groups, factors.tobytes()), scaled)
