"""Look-ups in embedding tables, against torch's embedding bags, plain and quantized.

    python bench/tables_lookup.py --threads 1
    python bench/tables_lookup.py --quick

Sums of bags of rows of float32, int8 and int4. Tables have so many rows that those of float32 take
the bytes of a place: a part of the L2, of the L3, or more than both. Indices are uniform, or follow
Zipf's law with the exponent 1.05 as those of Criteo's features roughly do. Results are compared bit
by bit before. Torch's quantized bags are kernels of FBGEMM.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import comparison
import numpy as np
import peers
import timing

import fbg

PLACES = {"L2": 256 << 10, "L3": 8 << 20, "DRAM": 1 << 30}
COLUMNS, QUICK_COLUMNS = (16, 64, 128, 256), (64,)
POOLING, QUICK_POOLING = (1, 20, 100), (20,)
LAWS = ("uniform", "Zipf")
EXPONENT = 1.05
LOOK_UPS = 100_000  # of a call
DTYPES = {"float32": "", "int8": "byte", "int4": "4bit"}
Array = np.ndarray[Any, np.dtype[Any]]


def draw_indices(law: str, rows: int, rng: np.random.Generator) -> Array:
    """Return indices of that law; ranks of Zipf's are spread over the table."""
    if law == "uniform":
        return rng.integers(0, rows, LOOK_UPS)
    shares = np.cumsum(np.arange(1, rows + 1) ** -EXPONENT)
    ranks = np.searchsorted(shares, rng.random(LOOK_UPS) * shares[-1])
    spread: Array = rng.permutation(rows)[ranks]
    return spread


class Case(NamedTuple):
    """A table and its bags."""

    names: dict[str, Any]
    threads: int
    table: Array
    indices: Array
    offsets: Array


def with_torch(name: str, table: Array, rows: Array, indices: Array, offsets: Array) -> Any:
    """Return the call of torch that computes the same sums."""
    import torch

    at, begins = torch.from_numpy(indices), torch.from_numpy(offsets)
    if not name:
        plain = torch.from_numpy(table)
        return functools.partial(torch.nn.functional.embedding_bag, at, plain, begins, mode="sum")
    look_up: Callable[..., Any] = getattr(
        torch.ops.quantized, f"embedding_bag_{name}_rowwise_offsets"
    )
    packed = torch.from_numpy(rows)
    return functools.partial(look_up, packed, at, begins, False, 0, False, None, None, False)


def fused_rows(table: Array, dtype: str) -> Array:
    """Return rows of integers as torch prepacks them."""
    bits, scale = (8, "float32") if dtype == "int8" else (4, "float16")
    return fbg.quantization.quantize_rowwise(table, bits, scale, "fbgemm").fused()


def contestants(dtype: str, table: Array, indices: Array, offsets: Array) -> tuple[Any, int]:
    """Return what competes, with equal results, and the bytes of a row."""
    if dtype == "float32":
        rows, bag = table, fbg.EmbeddingBag(table)
    else:
        rows = fused_rows(table, dtype)
        bag = fbg.EmbeddingBag.from_fused(rows, table.shape[1], dtype)
    own = functools.partial(bag, indices, offsets)
    entrants = [timing.Contestant("fbg", own)]
    if peers.installed("torch"):
        peer = with_torch(DTYPES[dtype], table, rows, indices, offsets)
        if not np.array_equal(own(), peer().numpy()):
            raise SystemExit(f"tables_lookup.py: {dtype} has other sums than torch")
        entrants.append(timing.Contestant("torch", peer))
    return entrants, bag.nbytes // len(table)


def race(case: Case, dtype: str, arguments: Any, report: timing.Report) -> None:
    """Measure a dtype, unless that is done."""
    key = case.names | {"dtype": dtype}
    if not report.rows(key):
        entrants, size = contestants(dtype, case.table, case.indices, case.offsets)
        results = timing.race(entrants, timing.rounds(arguments), timing.pause(case.threads))
        rates = {name: LOOK_UPS / result.median for name, result in results.items()}
        figures = {
            name: {"10⁶ rows/s": rate / 1e6, "GB/s": rate * size / 1e9}
            for name, rate in rates.items()
        }
        report.add(key, results, figures)


def cases(places: list[str], threads: list[int], quick: bool) -> Iterator[Case]:
    """Draw tables and bags."""
    if peers.installed("torch"):
        import torch
    widths = QUICK_COLUMNS if quick else COLUMNS
    for count, place, columns in itertools.product(threads, places, widths):
        if peers.installed("torch"):
            torch.set_num_threads(count)
        fbg.set_num_threads(count)
        rng = np.random.default_rng(0)
        rows = PLACES[place] // (4 * columns)
        table = rng.standard_normal((rows, columns), dtype=np.float32)
        for law in LAWS:
            indices = draw_indices(law, rows, rng)
            for pooling in QUICK_POOLING if quick else POOLING:
                names = {"threads": count, "table": place, "indices": law, "columns": columns}
                names["rows in a bag"] = pooling
                yield Case(names, count, table, indices, np.arange(0, LOOK_UPS, pooling))


def main() -> None:
    parser = timing.parser(__doc__.splitlines()[0])
    parser.add_argument("--places", nargs="+", choices=[*PLACES], default=[*PLACES])
    arguments = parser.parse_args()
    timing.use_clock(arguments)
    report = timing.Report("tables_lookup", arguments)
    for case in cases(arguments.places, arguments.threads, arguments.quick):
        for dtype in DTYPES:
            race(case, dtype, arguments, report)
    print(f"\n### Embedding tables, {fbg.isa.active()}\n\n{comparison.text(report.rows({}))}")


if __name__ == "__main__":
    main()
