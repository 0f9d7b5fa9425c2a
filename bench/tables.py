"""Look-ups in embedding tables against torch, FBGEMM and onnxruntime.

    python bench/tables.py --threads 1
    python bench/tables.py --quick

Sums of bags of rows of float32, int8 and int4. Tables have the bytes of a place: a part
of the L2, of the L3, or more than both; compare the L3 of the machine, which the first line states.
They begin with a line of the cache, as torch's tensors do. Indices are uniform, or follow Zipf's
law with the exponent 1.05 as those of Criteo's features roughly do. Of tables in DRAM, each call
has other indices, so that it finds only by chance what an earlier one has read. Results are
compared bit by bit with torch's before, others by value. `TBE` is
IntNBitTableBatchedEmbeddingBagsCodegen of fbgemm-gpu-cpu; onnxruntime gathers floats and adds them.
`peak lines` reads a byte of each line of the same rows (peers/random_rows.cc), with the prefetching
that is fastest for it.
"""

import argparse
import ctypes
import functools
import itertools
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import comparison
import numpy as np
import peaks
import peers
import timing
from peers import Array, LookUp

import fbg

PLACES = {"L2": 256 << 10, "L3": 8 << 20, "DRAM": 2 << 30}
COLUMNS, QUICK_COLUMNS = (16, 32, 64, 128, 256, 512), (64,)
POOLING, QUICK_POOLING = (1, 20, 200), (20,)
LAWS = ("uniform", "Zipf")
EXPONENT = 1.05
LOOK_UPS = 100_000  # of a call
SETS = {"L2": 1, "L3": 1, "DRAM": 64}  # of indices
BLOCK = 32 << 20  # bytes of a table that is repeated
DTYPES = ("float32", "int8", "int4")
AHEAD = ((0, 1), *itertools.product((8, 16, 32, 64), (1, 0)))  # of the reader of lines
Calls = Sequence[Callable[[], Any]]


def draw_indices(law: str, rows: int, sets: int, rng: np.random.Generator) -> list[Array]:
    """Return sets of indices of that law; ranks of Zipf's are spread over the table."""
    if law == "uniform":
        return [rng.integers(0, rows, LOOK_UPS) for _ in range(sets)]
    shares = np.cumsum(np.arange(1, rows + 1) ** -EXPONENT)
    spread = rng.permutation(rows)
    return [spread[np.searchsorted(shares, rng.random(LOOK_UPS) * shares[-1])] for _ in range(sets)]


def draw_rows(dtype: str, columns: int, size: int, rng: np.random.Generator) -> Array:
    """Return rows of about so many bytes in all: as torch prepacks them, or float32."""
    count = max(1, min(size, BLOCK) // (4 * columns))
    block: Array = rng.standard_normal((count, columns), dtype=np.float32)
    if dtype != "float32":
        bits, scale = (8, "float32") if dtype == "int8" else (4, "float16")
        block = fbg.quantization.quantize_rowwise(block, bits, scale, "fbgemm").fused()
    rows = fbg.arrays.empty_lines((size // block[0].nbytes, block.shape[1]), block.dtype)
    for begin in range(0, len(rows), len(block)):
        part = rows[begin : begin + len(block)]
        part[:] = block[: len(part)]
    return rows


def in_turn(calls: Calls, first: int) -> Callable[[], Any]:
    """Return a call of the next one of them."""
    order = itertools.cycle([*calls[first:], *calls[:first]])
    return lambda: next(order)()


@functools.cache
def reader() -> Any:
    """The library that reads lines, or None without a compiler."""
    target = str(Path(tempfile.mkdtemp()) / "random_rows.so")
    source = str(Path(__file__).parent / "peers" / "random_rows.cc")
    command = ["c++", "-std=c++17", "-O2", "-shared", "-fPIC", "-o", target, source]
    try:
        subprocess.run(command, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    library, number, pointer = ctypes.CDLL(target), ctypes.c_int64, ctypes.c_void_p
    kinds = (pointer, number, number, pointer, number, number, ctypes.c_int)
    library.read_rows.argtypes = kinds
    library.follow.argtypes = (pointer, number, pointer, number)
    return library


def lines(case: LookUp) -> Calls:
    """Return the calls that only read the lines, the way that is fastest."""
    size = case.rows[0].nbytes

    def calls(ahead: int, near: int) -> Calls:
        read = partial(reader().read_rows, case.rows.ctypes.data, size, size)
        return [partial(read, at.ctypes.data, LOOK_UPS, ahead, near) for at in case.sets]

    field = [timing.Contestant(str(way), in_turn(calls(*way), 0)) for way in AHEAD]
    times = timing.race(field, 3)
    return calls(*min(AHEAD, key=lambda way: times[str(way)].median))


def contestants(case: LookUp, place: str) -> Iterator[timing.Contestant]:
    """Return what competes, with equal results."""
    if case.dtype == "float32":
        bag = fbg.EmbeddingBag(case.rows)
    else:
        bag = fbg.EmbeddingBag.from_fused(case.rows, case.columns, case.dtype)
    calls: dict[str, Calls] = {"fbg": [partial(bag, at, case.offsets) for at in case.sets]}
    wanted = calls["fbg"][0]()
    for name in peers.available("LOOKUPS"):
        if name == "TBE" and place == "DRAM":  # it would make a copy of the table
            continue
        made: Calls = peers.table("LOOKUPS")[name].make(case)
        if not made:
            continue
        found = np.asarray(made[0]())
        same = np.array_equal if name == "torch" else partial(np.allclose, rtol=1e-2, atol=1e-1)
        if not same(wanted, found):
            raise SystemExit(f"tables.py: {case.dtype} has other sums than {name}")
        calls[name] = made
    if reader() and case.threads == 1:
        calls["peak lines"] = lines(case)
    shift = len(case.sets) // len(calls)  # at any time, each of them is at other indices
    for n, (name, own) in enumerate(calls.items()):
        yield timing.Contestant(name, in_turn(own, shift * n))


def look_ups(arguments: argparse.Namespace) -> Iterator[timing.Case]:
    """Draw tables and bags."""
    widths = QUICK_COLUMNS if arguments.quick else arguments.columns
    poolings = QUICK_POOLING if arguments.quick else POOLING
    for place, columns, dtype in itertools.product(arguments.places, widths, DTYPES):
        rng = np.random.default_rng(0)
        rows = draw_rows(dtype, columns, PLACES[place], rng)
        for law in LAWS:
            sets = draw_indices(law, len(rows), SETS[place], rng)
            for threads, pooling in itertools.product(arguments.threads, poolings):
                fbg.set_num_threads(threads)
                names = {"threads": threads, "table": place, "indices": law, "columns": columns}
                names |= {"rows in a bag": pooling, "dtype": dtype}
                begins = np.arange(0, LOOK_UPS, pooling)
                case = LookUp(rows, columns, dtype, sets, begins, pooling, threads)
                yield timing.Case(names, partial(contestants, case, place))


def latencies(places: list[str]) -> str:
    """Nanoseconds from the address of a random line to its bytes, by place."""
    sizes = ", ".join(f"{name} {size >> 10} KB" for name, size in peaks.caches().items())
    texts = []
    for place in places if reader() else ():
        rows = draw_rows("float32", 16, PLACES[place], np.random.default_rng(0))
        sets = draw_indices("uniform", len(rows), 32, np.random.default_rng(1))
        follow = partial(reader().follow, rows.ctypes.data, 64)
        calls = [partial(follow, at.ctypes.data, LOOK_UPS // 10) for at in sets]
        result = timing.race([timing.Contestant("", in_turn(calls, 0))], 15)[""]
        texts.append(f"{place} {result.median / (LOOK_UPS // 10) * 1e9:.0f}")
    return f"latency of a line, ns: {', '.join(texts) or 'no compiler'}; caches: {sizes}"


def main() -> None:
    parser = timing.parser(__doc__)
    parser.add_argument("--places", nargs="+", choices=[*PLACES], default=[*PLACES])
    parser.add_argument("--columns", nargs="+", type=int, default=[*COLUMNS])
    arguments = parser.parse_args()
    report = timing.begin("look-ups", arguments)
    print(latencies(arguments.places))
    comparison.run(report, look_ups(arguments), timing.rounds(arguments))
    for row in report.rows({}):
        rate = LOOK_UPS / row["median_s"] / 1e6
        bag = ", ".join(f"{row[key]}" for key in ("table", "indices", "columns", "rows in a bag"))
        print(f"{bag}, {row['dtype']}: {row['contestant']}: {rate:.1f} · 10⁶ rows/s")


if __name__ == "__main__":
    main()
