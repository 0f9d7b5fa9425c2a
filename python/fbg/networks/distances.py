"""What attention makes of distances: biases of scores from tables, and ALiBi; and the disentangled
attention of DeBERTa (He et al., 2020, arXiv:2006.03654; 2021, arXiv:2111.09543).

In the latter, distances have embeddings, which projections turn into keys and queries. As they do
not depend on a text, they are computed once, when a checkpoint is read, and saved with the model.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fbg.arrays import Floats
from fbg.checkpoints.weights import Read
from fbg.networks.config import Buckets, Relative
from fbg.networks.names import RelativeNames
from fbg.networks.source import Source


@dataclass(frozen=True)
class RelativeTables:
    """Keys and queries of distances, (2 span, heads * head_dim); the largest distance comes first:
    rows ascend with the place of the key minus the place of the query.
    """

    keys: Floats | None
    queries: Floats | None


def read_tables(
    source: Source, relative: Relative, names: RelativeNames, layers: list[str], size: int
) -> list[RelativeTables]:
    """Return the tables of each layer; raises ModelError.

    layers: names. size: width of hidden states, and of all heads together.
    """
    rows = 2 * relative.span
    descending: list[Floats] = []  # the embeddings, which all layers share

    def embeddings(read: Read) -> Floats:
        stored = read(f"{names.embeddings}.weight", rows, size).astype(np.float64)
        if relative.norm_eps is not None:
            stored -= stored.mean(axis=1, keepdims=True)
            stored /= np.sqrt(np.square(stored).mean(axis=1, keepdims=True) + relative.norm_eps)
            stored = stored * read(f"{names.norm}.weight", size) + read(f"{names.norm}.bias", size)
        return np.ascontiguousarray(stored[::-1], np.float32)

    def projected(n: int, field: str, name: str, biased: bool = True) -> Floats:
        name = f"{layers[n]}.{name}"

        def table(read: Read) -> Floats:
            if not descending:
                descending.append(embeddings(read))
            product: Floats = descending[0] @ read(f"{name}.weight", size, size).T
            return product + read(f"{name}.bias", size) if biased else product

        return source.computed(f"layers.{n}.relative.{field}", (rows, size), table)

    key, query = (names.key, names.query) if relative.shared else (names.own_key, names.own_query)
    return [
        RelativeTables(
            projected(n, "keys", key, names.key_biased) if relative.keys else None,
            projected(n, "queries", query) if relative.queries else None,
        )
        for n in range(len(layers))
    ]


def distance_rows(relative: Relative, length: int) -> npt.NDArray[np.int32]:
    """Return (2 L - 1,): the table row for each place of a key minus the place of a query."""
    away = np.arange(length - 1, -length, -1)  # place of query minus place of key, as in the paper
    rows = away.astype(np.float64)
    if relative.buckets:
        middle, far = relative.span // 2, np.float32((relative.longest - 1) / (relative.span // 2))
        # This is float32, as in transformers: the result is rounded up.
        share = np.maximum(np.abs(away), middle - 1).astype(np.float32) / np.float32(middle)
        powers = np.log(share) / np.log(far) * np.float32(middle - 1)
        rows = np.where(np.abs(away) <= middle, away, np.sign(away) * (np.ceil(powers) + middle))
    descending = np.clip(rows + relative.span, 0, 2 * relative.span - 1)
    return np.ascontiguousarray(2 * relative.span - 1 - descending, np.int32)


def distance_buckets(distances: npt.NDArray[np.int64], buckets: Buckets) -> npt.NDArray[np.int64]:
    """Return the row of the table for each place of a key minus the place of a query."""
    half = buckets.count // 2
    exact, away = half // 2, np.abs(distances)
    with np.errstate(divide="ignore"):
        power = np.log(away.astype(np.float32) / exact) / math.log(buckets.longest / exact)
    far = exact + np.where(away < exact, 0, power * np.float32(half - exact)).astype(np.int64)
    near: npt.NDArray[np.int64] = np.where(away < exact, away, np.minimum(far, half - 1))
    return near + np.where(distances > 0, half, 0)


def alibi_slopes(heads: int) -> npt.NDArray[np.float64]:
    """Return the rate of each head: powers of 2^(-8 / heads); for numbers other than powers of two,
    the rates for the next smaller one, then every other rate for twice that.
    """
    power = 1 << (heads.bit_length() - 1)
    first = 2.0 ** (-8.0 / power * np.arange(1, power + 1))
    between = 2.0 ** (-4.0 / power * np.arange(1, 2 * power, 2))
    return np.concatenate([first, between])[:heads]
