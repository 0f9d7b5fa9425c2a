"""Look-ups in embedding tables, and a whole recommender, against torch, FBGEMM and onnxruntime.

    python bench/tables.py --threads 1
    python bench/tables.py --quick
    python bench/tables.py recommender --threads 1 2        DLRM in MLPerf's shapes
    python bench/tables.py recommender --rows 1000000 --samples 128 2048
    python bench/tables.py recommender --rows 50000 --onnx dlrm.onnx

look-ups: sums of bags of rows of float32, int8 and int4. Tables have the bytes of a place: a part
of the L2, of the L3, or more than both; compare the L3 of the machine, which the first line states.
They begin with a line of the cache, as torch's tensors do. Indices are uniform, or follow Zipf's
law with the exponent 1.05 as those of Criteo's features roughly do. Of tables in DRAM, each call
has other indices, so that it finds only by chance what an earlier one has read. Results are
compared bit by bit with torch's before, others by value. `TBE` is
IntNBitTableBatchedEmbeddingBagsCodegen of fbgemm-gpu-cpu; onnxruntime gathers floats and adds them.
`peak lines` reads a byte of each line of the same rows (peers/random_rows.cc), with the prefetching
that is fastest for it.

recommender: the model, its random weights and its indices (Zipf's law) are those of
examples/recommender.py. Contestants compute the probabilities of clicks of the same samples; the
largest change of a probability is that against fbg in float32. MLPs and tables have the precision
of the name, unless it says another one for the tables. --onnx writes the model, and 16 runs of 128
samples into dlrm.npz, and measures nothing; tables of more than 2 GB are in files beside it.
"""

import argparse
import ctypes
import functools
import importlib
import itertools
import runpy
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
from peers import Array, LookUp, installed
from peers.onednn import compiled
from peers.ort import quantize_dynamic, runner

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
MOST_BYTES = 1_900_000_000  # of tables inside of an ONNX file
EXAMPLE = Path(__file__).parents[1] / "examples" / "recommender.py"
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
    library = compiled("random_rows")
    if library is not None:
        number, pointer = ctypes.c_int64, ctypes.c_void_p
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


# --- A recommender ------------------------------------------------------------------------------
class Clicks:
    """Weights, and samples whose clicks are to be predicted."""

    def __init__(self, state: dict[str, Array], dense: Array, indices: list[Array]) -> None:
        self.state, self.dense, self.indices = state, dense, indices
        self.tables = [state[f"emb_l.{t}.weight"] for t in range(len(indices))]
        count = len(indices) + 1
        self.pairs = np.ravel_multi_index(np.tril_indices(count, -1), (count, count))
        self.feed = {"dense": dense} | {f"i{t}": one for t, one in enumerate(indices)}

    def module(self, kind: str) -> Any:
        """Of torch, see peers.torch."""
        make = importlib.import_module("peers.torch").recommender
        return make(self.state, self.tables, self.pairs, kind)

    def with_torch(self, threads: int, kind: str) -> Callable[[], Array]:
        import torch

        torch.set_num_threads(threads)
        module, given = self.module(kind), [torch.from_numpy(x) for x in self.feed.values()]

        def forward() -> Array:
            with torch.inference_mode():
                clicks: Array = module(*given)[:, 0].numpy()
                return clicks

        return forward

    def write_onnx(self, path: Path) -> None:
        """Inputs are `dense` and the indices of each table, for any number of samples."""
        import torch

        given = tuple(torch.from_numpy(x) for x in self.feed.values())
        torch.onnx.export(
            self.module("onnx"),
            given,
            str(path),
            input_names=list(self.feed),
            output_names=["clicks"],
            dynamic_axes={name: {0: "samples"} for name in (*self.feed, "clicks")},
            opset_version=17,
            dynamo=False,
        )

    def with_ort(self, threads: int, int8: bool) -> Callable[[], Array]:
        beside = sum(table.nbytes for table in self.tables) > MOST_BYTES
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "dlrm.onnx"
            self.write_onnx(path)
            if int8:
                path, whole = path.with_name("int8.onnx"), path
                kinds = ["MatMul", "Gemm"]
                more = {"op_types_to_quantize": kinds, "use_external_data_format": beside}
                quantize_dynamic(whole, path, **more)
            run = runner(path, threads)
        return lambda: run(self.feed)[0][:, 0]


def predictors(case: Clicks, threads: int, without_ort: bool) -> Iterator[timing.Contestant]:
    """After a look at what the contestants return."""
    fbg.set_num_threads(threads)
    own = runpy.run_path(str(EXAMPLE))["Recommender"]
    ways = {"fp32": ("float32", "float32"), "int8": ("int8", "int8")}
    ways["int8 int4 tables"] = ("int8", "int4")
    calls: dict[str, Callable[[], Array]] = {
        f"fbg-{name}": partial(own(case.state, *way), case.dense, case.indices)
        for name, way in ways.items()
    }
    if installed("torch"):
        calls |= {f"torch-{n}": case.with_torch(threads, kind) for n, (_, kind) in ways.items()}
    if not without_ort and installed("torch", "onnxruntime", "onnx"):
        calls["ort-fp32"] = case.with_ort(threads, False)
        calls["ort-int8 float32 tables"] = case.with_ort(threads, True)
    wanted = calls["fbg-fp32"]()
    for name, call in calls.items():
        change = float(np.abs(call() - wanted).max())
        if change > 1e-4 and name in ("torch-fp32", "ort-fp32"):
            raise SystemExit(f"tables.py: {name} predicts other clicks than fbg")
        yield timing.Contestant(name, call, figures={"largest change": change})


def recommender(arguments: argparse.Namespace) -> Iterator[timing.Case]:
    example, rng = runpy.run_path(str(EXAMPLE)), np.random.default_rng(0)
    rows = [min(count, arguments.rows) for count in example["ROWS"]]
    state = example["draw_state"](rows, rng)
    if arguments.onnx is not None:
        case = Clicks(state, *example["draw_batch"](rows, 16 * 128, rng))
        case.write_onnx(arguments.onnx)
        runs: dict[str, Any] = {n: value.reshape(16, 128, -1) for n, value in case.feed.items()}
        np.savez(arguments.onnx.with_suffix(".npz"), **runs)
        return
    for samples in arguments.samples:
        case = Clicks(state, *example["draw_batch"](rows, samples, rng))
        for threads in arguments.threads:
            names = {"rows": sum(rows), "samples": samples, "threads": threads}
            yield timing.Case(names, partial(predictors, case, threads, arguments.without_ort))


def main() -> None:
    parser = timing.parser(__doc__)
    questions = ("look-ups", "recommender")
    parser.add_argument("question", nargs="?", choices=questions, default="look-ups")
    parser.add_argument("--places", nargs="+", choices=[*PLACES], default=[*PLACES])
    parser.add_argument("--columns", nargs="+", type=int, default=[*COLUMNS])
    parser.add_argument("--rows", type=int, default=200_000, help="of a table of DLRM, at most")
    parser.add_argument("--samples", type=int, nargs="+", default=[2048])
    parser.add_argument("--without-ort", action="store_true")
    parser.add_argument("--onnx", type=Path, help="write DLRM there, measure nothing")
    arguments = parser.parse_args()
    report = timing.begin(arguments.question, arguments)
    count = timing.rounds(arguments)
    if arguments.question == "recommender":
        comparison.run(report, recommender(arguments), count)
        return
    limits = latencies(arguments.places)
    print(limits)
    comparison.run(report, look_ups(arguments), count)
    for row in report.rows({}):
        rate = LOOK_UPS / row["median_s"] / 1e6
        bag = ", ".join(f"{row[key]}" for key in ("table", "indices", "columns", "rows in a bag"))
        print(f"{bag}, {row['dtype']}: {row['contestant']}: {rate:.1f} · 10⁶ rows/s")


if __name__ == "__main__":
    main()
