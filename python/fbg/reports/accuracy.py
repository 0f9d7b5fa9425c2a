"""How far results are from those in float32: embeddings, layers, outputs and nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg.arrays import Array, Floats
from fbg.errors import ModelError
from fbg.graph.graph import Graph
from fbg.graph.ops.op import Value
from fbg.model.model import Model
from fbg.progress import counted
from fbg.runtime.engine import Runner, chunks, pack_sequences

REFERENCE = "float32"
COMPARED_TOKENS = 1024  # tokens of one run that returns every layer


@dataclass(frozen=True)
class LayerError:
    """Hidden states of all tokens, compared; layer 0 is the embeddings, n the n-th layer's output.

    relative_error: |x - x32| / |x32|, Euclidean, over all tokens together.
    cosine: its mean over tokens.
    """

    layer: int
    relative_error: float
    cosine: float


@dataclass(frozen=True)
class NodeError:
    """The result of a node in int8, against that in float32.

    relative_error: |x - x32| / |x32|, Euclidean, over all feeds together.
    """

    node: str
    relative_error: float
    cosine: float


def cosines(x: Array, exact: Array) -> npt.NDArray[np.float64]:
    """Return the cosine of each pair of rows; 1 where both are zero."""
    a, b = x.astype(np.float64), exact.astype(np.float64)
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    products = (a * b).sum(axis=1)
    result: npt.NDArray[np.float64] = np.divide(
        products, lengths, out=(a == b).all(axis=1).astype(np.float64), where=lengths > 0
    )
    return result


def nearest_texts(embeddings: Floats, count: int) -> npt.NDArray[np.intp]:
    """Return (n, count): the texts whose embeddings have the largest products with each."""
    similarity = embeddings @ embeddings.T
    np.fill_diagonal(similarity, -np.inf)
    return np.argpartition(-similarity, count - 1, axis=1)[:, :count]


def layer_errors(models: dict[str, Model], texts: list[str]) -> dict[str, list[LayerError]]:
    """Run each model on the texts, a few at a time, and add up differences from float32."""
    taps = {dtype: _Taps(model) for dtype, model in models.items()}
    sums: dict[str, list[npt.NDArray[np.float64]]] = {dtype: [] for dtype in models}
    count = 0
    for runs in zip(*(tap.runs(texts) for tap in taps.values()), strict=True):
        states = dict(zip(taps, runs, strict=True))
        exact = states[REFERENCE]
        count += len(exact[0])
        for dtype, hidden in states.items():
            parts = [
                (
                    np.square(x - y, dtype=np.float64).sum(),
                    np.square(y, dtype=np.float64).sum(),
                    cosines(x, y).sum(),
                )
                for x, y in zip(hidden, exact, strict=True)
            ]
            sums[dtype].append(np.array(parts))
    result = {}
    for dtype, parts_of_runs in sums.items():
        total = np.sum(parts_of_runs, axis=0)
        result[dtype] = [
            LayerError(n, float(np.sqrt(error / max(size, 1e-300))), float(cosine / count))
            for n, (error, size, cosine) in enumerate(total)
        ]
    return result


class _Taps:
    """An encoder that hands back the hidden states of every layer."""

    def __init__(self, model: Model) -> None:
        self._model = model
        graph = Graph()
        self._taps: list[Value] = []
        model.network.build(graph, self._taps)
        self._runner = Runner(graph, model.config, self._taps)

    def runs(self, texts: list[str]) -> Iterator[list[Floats]]:
        model = self._model
        tokens = [ids for ids in model.tokenizer(texts) if ids.size]
        parts = list(chunks([ids.size for ids in tokens], COMPARED_TOKENS, len(tokens)))
        for part in counted("comparing layers", parts):
            packed = pack_sequences(tokens[part], model.config.pad_token_id)
            shape = (packed.tokens, model.config.hidden_size)
            outputs = [np.empty(shape, np.float32) for _ in self._taps]
            self._runner.run(packed, outputs, model.num_threads)
            yield outputs


def cosine(results: Mapping[str, Array], exact: Mapping[str, Array]) -> float:
    """Return the cosine of all floating outputs of a run, taken together."""
    floats = [name for name, value in exact.items() if value.dtype.kind == "f"]
    if not floats:
        raise ModelError("compare: the network has no floating outputs")
    a = np.concatenate([results[name].ravel().astype(np.float64) for name in floats])
    b = np.concatenate([exact[name].ravel().astype(np.float64) for name in floats])
    return _cosine(a, b)


def _cosine(a: Array, b: Array) -> float:
    return float(cosines(a[None], b[None])[0])


def top_1(
    results: Sequence[tuple[Mapping[str, Array], Mapping[str, Array]]], names: Sequence[str]
) -> float | None:
    same = [
        (y[name].argmax(-1) == exact[name].argmax(-1)).ravel()
        for y, exact in results
        for name in names
        if exact[name].ndim > 0 and exact[name].size > 0
    ]
    return float(np.concatenate(same).mean()) if same else None


def node_errors(
    net: Any, quantized: Any, feeds: Sequence[Mapping[str, Array]]
) -> tuple[NodeError, ...]:
    """Return the errors of the results of all products that both networks compute."""
    from fbg.importers.int8.agreement import relative_error
    from fbg.importers.passes import watching
    from fbg.importers.variants import results_of_products

    names = results_of_products(net)
    exact, rounded = (n.variant(watching(n.network, names.values())) for n in (net, quantized))
    pairs = [(rounded.run(feed), exact.run(feed)) for feed in feeds]
    found = []
    for node, name in names.items():
        a, b = (
            np.concatenate([pair[which][name].ravel().astype(np.float64) for pair in pairs])
            for which in (0, 1)
        )
        found.append(NodeError(node, relative_error(a, b), _cosine(a, b)))
    return tuple(found)
