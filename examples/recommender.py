"""Predict clicks by DLRM, with MLPs in float32 and int8 and tables in float32, int8 and int4.

    python examples/recommender.py
    python examples/recommender.py --checkpoint dlrm.safetensors --batch 256

DLRM (Naumov et al., arXiv 1906.00091) has an MLP for dense features, a table for each sparse one,
the products of all pairs of the vectors that these give, and an MLP on top:

    dense (batch, 13) ──── bottom MLP ── (batch, 128) ──┬───────────────────┐
                                                        ├── pairs (351) ────┴── top MLP ── click
    indices ── 26 tables ─ sums of rows (batch, 26, 128)┘

The checkpoint has the names of github.com/facebookresearch/dlrm: bot_l.0.weight, top_l.2.bias,
emb_l.25.weight and so on. Without one, weights are random, in the shapes that MLPerf has for
Criteo's data; tables are cut to --rows rows. Indices follow Zipf's law with the exponent 1.05.
Their numbers are those of MLPerf's multi-hot data: 214 rows of 26 tables are added for each sample.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import statistics
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file

import fbg

Array = npt.NDArray[Any]
COLUMNS = 128
BOTTOM = (13, 512, 256, COLUMNS)
TOP = (COLUMNS + 27 * 26 // 2, 1024, 1024, 512, 256, 1)
ROWS = (40000000, 39060, 17295, 7424, 20265, 3, 7122, 1543, 63, 40000000, 3067956, 405282, 10)
ROWS += (2209, 11938, 155, 4, 976, 14, 40000000, 40000000, 40000000, 590152, 12973, 108, 36)
POOLING = (3, 2, 1, 2, 6, 1, 1, 1, 1, 7, 3, 8, 1, 6, 9, 5, 1, 1, 1, 12, 100, 27, 10, 3, 1, 1)
EXPONENT = 1.05
BLOCK = 256  # samples
DTYPES = [("float32", "float32"), ("float32", "int8"), ("int8", "int8"), ("int8", "int4")]


class Recommender:
    """DLRM from a state dict, with MLPs and tables of some dtypes."""

    def __init__(self, state: Mapping[str, Array], mlp: str, tables: str) -> None:
        self.bottom, self.top = (read_layers(state, part, mlp) for part in ("bot_l", "top_l"))
        count = sum(name.startswith("emb_l.") for name in state)
        bags = [fbg.EmbeddingBag(state[f"emb_l.{t}.weight"], tables) for t in range(count)]
        self.tables = fbg.EmbeddingTables(bags)
        self.pairs = np.tril_indices(count)

    @property
    def table_bytes(self) -> int:
        return sum(bag.nbytes for bag in self.tables.bags)

    def __call__(self, dense: Array, indices: list[Array]) -> Array:
        """Return the probabilities of clicks: (batch,).

        dense: (batch, 13) float32. indices: for each table (batch, rows that are added).
        """
        if len(dense) <= BLOCK:
            return self.predict(dense, indices)
        blocks = [slice(at, at + BLOCK) for at in range(0, len(dense), BLOCK)]
        parts = [(dense[b], [one[b] for one in indices], 1) for b in blocks]
        with ThreadPoolExecutor(fbg.get_num_threads()) as pool:
            return np.concatenate(list(pool.map(self.predict, *zip(*parts, strict=True))))

    def predict(self, dense: Array, indices: list[Array], threads: int | None = None) -> Array:
        """Do the same for so few samples that what is computed of them stays in the caches."""
        x = multilayer(dense, self.bottom, threads)
        batch, columns = x.shape
        vectors = np.empty((batch, 1 + len(indices), columns), np.float32)
        vectors[:, 0] = x
        self.tables(indices, out=vectors.reshape(batch, -1)[:, columns:], num_threads=threads)
        features = np.concatenate([x, self.interact(vectors)], axis=1)
        logits = multilayer(features, self.top, threads)
        return 1 / (1 + np.exp(-logits[:, 0]))

    def interact(self, vectors: Array) -> Array:
        """Return the products of all pairs of vectors of a sample: (batch, 351).

        Each vector but the first is multiplied by those before it. All by all would be twice as
        slow: NumPy computes a matrix by its own transpose otherwise than other products.
        """
        products = np.matmul(vectors[:, 1:], vectors[:, :-1].transpose(0, 2, 1))
        later, earlier = self.pairs
        return products[:, later, earlier]


Layers = list[tuple[fbg.PackedB, Array]]


def read_layers(state: Mapping[str, Array], part: str, dtype: str) -> Layers:
    """Return weights, which torch keeps as (outputs, inputs), and biases of an MLP."""
    names = {name.rpartition(".")[0] for name in state if name.startswith(f"{part}.")}
    return [
        (fbg.PackedB(state[f"{n}.weight"], dtype=dtype, transpose=True), state[f"{n}.bias"])
        for n in sorted(names, key=lambda name: int(name.rpartition(".")[2]))
    ]


def multilayer(x: Array, layers: Layers, threads: int | None) -> Array:
    """Return what an MLP makes of x; there is a ReLU behind each layer of several outputs."""
    for weight, bias in layers:
        x = fbg.linear(x, weight, bias, "relu" if len(bias) > 1 else None, threads)
    return x


def draw_state(rows: list[int], rng: np.random.Generator) -> dict[str, Array]:
    """Return random weights, by which the sums of all tables are equally large."""
    state = {}
    for part, sizes in (("bot_l", BOTTOM), ("top_l", TOP)):
        for i, (k, n) in enumerate(itertools.pairwise(sizes)):
            weight = rng.standard_normal((n, k), np.float32) * np.float32((2 / k) ** 0.5)
            state[f"{part}.{2 * i}.weight"] = weight
            state[f"{part}.{2 * i}.bias"] = np.zeros(n, np.float32)
    for t, (count, pooling) in enumerate(zip(rows, POOLING, strict=True)):
        table = rng.standard_normal((count, COLUMNS), np.float32)
        state[f"emb_l.{t}.weight"] = table * np.float32(0.25 / pooling**0.5)
    return state


def draw_batch(rows: list[int], batch: int, rng: np.random.Generator) -> tuple[Array, list[Array]]:
    """Return dense features and the indices of each table, whose frequent rows are anywhere."""
    indices = []
    for count, pooling in zip(rows, POOLING, strict=True):
        shares = np.cumsum(np.arange(1, count + 1) ** -EXPONENT)
        ranks = np.searchsorted(shares, rng.random((batch, pooling)) * shares[-1])
        indices.append(rng.permutation(count)[np.minimum(ranks, count - 1)])
    dense = np.log1p(rng.exponential(2, (batch, BOTTOM[0]))).astype(np.float32)
    return dense, indices


def milliseconds(call: Callable[[], object]) -> float:
    """Return the median of nine calls."""
    call()
    seconds = []
    for _ in range(9):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return 1e3 * statistics.median(seconds)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checkpoint", type=Path, help="a safetensors file of this model")
    parser.add_argument("--rows", type=int, default=200_000, help="of drawn tables, at most")
    parser.add_argument("--batch", type=int, default=2048)
    options = parser.parse_args(arguments)
    rng = np.random.default_rng(0)
    if options.checkpoint:
        state = load_file(options.checkpoint)
    else:
        state = draw_state([min(rows, options.rows) for rows in ROWS], rng)
    rows = [len(state[f"emb_l.{t}.weight"]) for t in range(len(ROWS))]
    dense, indices = draw_batch(rows, options.batch, rng)
    print(f"{sum(rows)} rows, batches of {options.batch}, {fbg.get_num_threads()} threads")
    print("MLPs     tables   MB of tables  ms a batch  times as fast  largest change  correlation")
    first = None
    for mlp, tables in DTYPES:
        model = Recommender(state, mlp, tables)
        clicks = model(dense, indices)
        time_of_batch = milliseconds(functools.partial(model, dense, indices))
        wanted, slow = first = first or (clicks, time_of_batch)
        print(
            f"{mlp:8} {tables:8} {model.table_bytes / 1e6:12.0f} {time_of_batch:11.2f} "
            f"{slow / time_of_batch:14.2f} {np.abs(clicks - wanted).max():15.5f} "
            f"{np.corrcoef(clicks, wanted)[0, 1]:12.6f}"
        )


if __name__ == "__main__":
    main()
