"""Disentangled attention of DeBERTa (He et al., 2020, arXiv:2006.03654; 2021, arXiv:2111.09543).

Distances have embeddings, which projections turn into keys and queries. As they do not depend on
a text, they are computed once, when a checkpoint is read, and saved with the model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fbg.arrays import Floats
from fbg.networks.source import Source


@dataclass(frozen=True)
class Relative:
    """The distances that have embeddings, and how these are used.

    span: half of the rows; distance 0 has the row `span` of the checkpoint.
    buckets: whether distances beyond span / 2 share rows, in steps that grow by powers up to
        `longest`.
    keys, queries: whether queries multiply keys of distances, and keys queries of distances.
    shared: they are made by the projections of the text's queries and keys.
    norm_eps: eps of the layer norm of the embeddings; None if there is none.
    """

    span: int
    buckets: bool
    longest: int
    keys: bool
    queries: bool
    shared: bool
    norm_eps: float | None


@dataclass(frozen=True)
class RelativeNames:
    """A family's names of the tensors; projections follow the name of their layer and a dot.

    key_biased: whether the projection to keys has a bias.
    """

    embeddings: str = "encoder.rel_embeddings"
    norm: str = "encoder.LayerNorm"
    query: str = "attention.self.query_proj"
    key: str = "attention.self.key_proj"
    own_query: str = "attention.self.pos_query_proj"
    own_key: str = "attention.self.pos_key_proj"
    key_biased: bool = True


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
    if not source.is_checkpoint:

        def saved(n: int, field: str, wanted: bool) -> Floats | None:
            return source.table(f"layers.{n}.relative.{field}", "", rows, size) if wanted else None

        return [
            RelativeTables(saved(n, "keys", relative.keys), saved(n, "queries", relative.queries))
            for n in range(len(layers))
        ]
    embeddings = source.table("", names.embeddings, rows, size).astype(np.float64)
    if relative.norm_eps is not None:
        norm = source.norm("", names.norm, size, relative.norm_eps)
        embeddings -= embeddings.mean(axis=1, keepdims=True)
        embeddings /= np.sqrt(np.square(embeddings).mean(axis=1, keepdims=True) + norm.eps)
        assert norm.bias is not None
        embeddings = embeddings * norm.weight + norm.bias
    descending = np.ascontiguousarray(embeddings[::-1], np.float32)

    def projected(name: str, wanted: bool, biased: bool = True) -> Floats | None:
        if not wanted:
            return None
        table: Floats = descending @ source.table("", name, size, size).T
        return table + source.floats("", f"{name}.bias", size) if biased else table

    key, query = (names.key, names.query) if relative.shared else (names.own_key, names.own_query)
    return [
        RelativeTables(
            projected(f"{layer}.{key}", relative.keys, names.key_biased),
            projected(f"{layer}.{query}", relative.queries),
        )
        for layer in layers
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
