"""Look-ups in embedding tables, against torch, FBGEMM's tables and onnxruntime.

    python bench/tables_lookup.py --threads 1
    python bench/tables_lookup.py --quick

Sums of bags of rows of float32, int8 and int4. Tables have the bytes of a place: a part of the L2,
of the L3, or more than both; compare the L3 of the machine, which the first line states. They begin
with a line of the cache, as torch's tensors do. Indices are uniform, or follow Zipf's law with the
exponent 1.05 as those of Criteo's features roughly do. Of tables in DRAM, each call has other
indices, so that it finds only by chance what an earlier one has read. Results are compared bit by
bit before, those of onnxruntime by value.

Torch's quantized bags are kernels of FBGEMM. `TBE` is IntNBitTableBatchedEmbeddingBagsCodegen of
fbgemm-gpu-cpu, whose integers have scales of float16; onnxruntime gathers floats and adds them.
`peak lines` reads a byte of each line of the same rows (bench/random_rows.cc), with the prefetching
that is fastest for it.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import comparison
import numpy as np
import peers
import roofline
import timing

import fbg

PLACES = {"L2": 256 << 10, "L3": 8 << 20, "DRAM": 2 << 30}
COLUMNS, QUICK_COLUMNS = (16, 32, 64, 128, 256, 512), (64,)
POOLING, QUICK_POOLING = (1, 20, 200), (20,)
LAWS = ("uniform", "Zipf")
EXPONENT = 1.05
LOOK_UPS = 100_000  # of a call
SETS = {"L2": 1, "L3": 1, "DRAM": 64}  # of indices
BLOCK = 32 << 20  # bytes of a table that is repeated
DTYPES = {"float32": "", "int8": "byte", "int4": "4bit"}
AHEAD = ((0, 1), *itertools.product((8, 16, 32, 64), (1, 0)))  # of the reader of lines
Array = np.ndarray[Any, np.dtype[Any]]
Calls = Sequence[Callable[[], Any]]


def draw_indices(law: str, rows: int, sets: int, rng: np.random.Generator) -> list[Array]:
    """Return sets of indices of that law; ranks of Zipf's are spread over the table."""
    if law == "uniform":
        return [rng.integers(0, rows, LOOK_UPS) for _ in range(sets)]
    shares = np.cumsum(np.arange(1, rows + 1) ** -EXPONENT)
    spread = rng.permutation(rows)
    return [spread[np.searchsorted(shares, rng.random(LOOK_UPS) * shares[-1])] for _ in range(sets)]


class Case(NamedTuple):
    """A table and its bags."""

    names: dict[str, Any]
    dtype: str
    rows: Array  # uint8, or float32
    columns: int
    sets: list[Array]
    offsets: Array


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


def with_torch(case: Case) -> Calls:
    """Return the calls of torch that compute the same sums."""
    import torch

    begins, packed = torch.from_numpy(case.offsets), torch.from_numpy(case.rows)
    sets = [torch.from_numpy(indices) for indices in case.sets]
    name = DTYPES[case.dtype]
    if not name:
        bag = functools.partial(torch.nn.functional.embedding_bag, mode="sum")
        return [functools.partial(bag, at, packed, begins) for at in sets]
    look_up: Callable[..., Any] = getattr(
        torch.ops.quantized, f"embedding_bag_{name}_rowwise_offsets"
    )
    last = (begins, False, 0, False, None, None, False)
    return [functools.partial(look_up, packed, at, *last) for at in sets]


def with_fbgemm(case: Case) -> Calls:
    """Return the calls of FBGEMM's tables, with scales and biases of float16 before the values."""
    import torch
    from fbgemm_gpu.split_embedding_configs import SparseType
    from fbgemm_gpu.split_table_batched_embeddings_ops_common import EmbeddingLocation
    from fbgemm_gpu.split_table_batched_embeddings_ops_inference import (
        IntNBitTableBatchedEmbeddingBagsCodegen,
    )

    kind = {"float32": SparseType.FP32, "int8": SparseType.INT8, "int4": SparseType.INT4}
    spec = ("", len(case.rows), case.columns, kind[case.dtype], EmbeddingLocation.HOST)
    table = IntNBitTableBatchedEmbeddingBagsCodegen(
        [spec], device="cpu", output_dtype=SparseType.FP32
    )
    table.fill_random_weights()
    values, ends = table.split_embedding_weights()[0]
    bytes_ = torch.from_numpy(case.rows.view(np.uint8))
    values.copy_(bytes_[:, : values.shape[1]])
    if ends is not None:
        scales = case.rows[:, values.shape[1] :]
        if case.dtype == "int8":
            scales = np.ascontiguousarray(scales).view(np.float32).astype(np.float16)
        ends.copy_(torch.from_numpy(scales.view(np.uint8)))
    begins = torch.from_numpy(np.append(case.offsets, LOOK_UPS))
    return [functools.partial(table, torch.from_numpy(at), begins) for at in case.sets]


def with_onnxruntime(case: Case) -> Calls:
    """Return the calls of a Gather and a ReduceSum."""
    import onnx

    helper, kind = onnx.helper, onnx.TensorProto
    pooling = int(case.names["rows in a bag"])
    shapes = {"table": case.rows.shape, "at": (LOOK_UPS // pooling, pooling)}
    types = {"table": kind.FLOAT, "at": kind.INT64}
    inputs = [helper.make_tensor_value_info(n, types[n], shape) for n, shape in shapes.items()]
    out = helper.make_tensor_value_info("y", kind.FLOAT, (shapes["at"][0], case.columns))
    nodes = [
        helper.make_node("Gather", ["table", "at"], ["rows"]),
        helper.make_node("ReduceSum", ["rows", "axis"], ["y"], keepdims=0),
    ]
    axis = helper.make_tensor("axis", kind.INT64, [1], [1])
    graph = helper.make_graph(nodes, "sums", inputs, [out], [axis])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    session = peers.ort_session(model.SerializeToString(), case.names["threads"])
    feeds = [{"table": case.rows, "at": at.reshape(shapes["at"])} for at in case.sets]
    return [functools.partial(_first_output, session, feed) for feed in feeds]


def _first_output(session: Any, feed: dict[str, Array]) -> Any:
    return session.run(None, feed)[0]


@functools.cache
def reader() -> Any:
    """The library that reads lines, or None without a compiler."""
    target = Path(tempfile.mkdtemp()) / "random_rows.so"
    source = Path(__file__).with_name("random_rows.cc")
    try:
        subprocess.run(["c++", "-O2", "-shared", "-fPIC", "-o", target, source], check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    library = ctypes.CDLL(str(target))
    number, pointer = ctypes.c_int64, ctypes.c_void_p
    library.read_rows.argtypes = (pointer, number, number, pointer, number, number, ctypes.c_int)
    library.follow.argtypes = (pointer, number, pointer, number)
    return library


def with_lines(case: Case) -> Calls:
    """Return the calls that only read the lines, the way that is fastest."""
    size = case.rows[0].nbytes

    def calls(ahead: int, near: int) -> Calls:
        first = (case.rows.ctypes.data, size, size)
        return [
            functools.partial(reader().read_rows, *first, at.ctypes.data, LOOK_UPS, ahead, near)
            for at in case.sets
        ]

    field = [timing.Contestant(str(way), in_turn(calls(*way), 0)) for way in AHEAD]
    times = timing.race(field, 3)
    return calls(*min(AHEAD, key=lambda way: times[str(way)].median))


def contestants(case: Case) -> list[timing.Contestant]:
    """Return what competes, with equal results."""
    if case.dtype == "float32":
        bag = fbg.EmbeddingBag(case.rows)
    else:
        bag = fbg.EmbeddingBag.from_fused(case.rows, case.columns, case.dtype)
    calls: dict[str, Calls] = {
        "fbg": [functools.partial(bag, at, case.offsets) for at in case.sets]
    }
    if peers.installed("torch"):
        calls["torch"] = with_torch(case)
        if not np.array_equal(calls["fbg"][0](), calls["torch"][0]().numpy()):
            raise SystemExit(f"tables_lookup.py: {case.dtype} has other sums than torch")
    if peers.installed("torch", "fbgemm_gpu") and case.names["table"] != "DRAM":  # a copy of it
        calls["TBE"] = with_fbgemm(case)
    if peers.installed("onnxruntime", "onnx") and case.dtype == "float32":
        calls["onnxruntime"] = with_onnxruntime(case)
    for name in calls.keys() - {"fbg", "torch"}:
        if not np.allclose(calls["fbg"][0](), calls[name][0](), 1e-2, 1e-1):
            raise SystemExit(f"tables_lookup.py: {case.dtype} has other sums than {name}")
    if reader() and case.names["threads"] == 1:
        calls["peak lines"] = with_lines(case)
    shift = len(case.sets) // len(calls)  # at any time, each of them is at other indices
    return [
        timing.Contestant(name, in_turn(own, shift * n))
        for n, (name, own) in enumerate(calls.items())
    ]


def race(case: Case, arguments: Any, report: timing.Report) -> None:
    """Measure a case, unless that is done."""
    if report.rows(case.names):
        return
    pause = timing.pause(case.names["threads"])
    results = timing.race(contestants(case), timing.rounds(arguments), pause)
    size = case.rows[0].nbytes
    rates = {name: LOOK_UPS / result.median for name, result in results.items()}
    figures = {
        name: {"10⁶ rows/s": rate / 1e6, "GB/s": rate * size / 1e9} for name, rate in rates.items()
    }
    report.add(case.names, results, figures)


def cases(arguments: Any) -> Iterator[Case]:
    """Draw tables and bags."""
    widths = QUICK_COLUMNS if arguments.quick else arguments.columns
    poolings = QUICK_POOLING if arguments.quick else POOLING
    for place, columns, dtype in itertools.product(arguments.places, widths, DTYPES):
        rng = np.random.default_rng(0)
        rows = draw_rows(dtype, columns, PLACES[place], rng)
        for law in LAWS:
            sets = draw_indices(law, len(rows), SETS[place], rng)
            for threads, pooling in itertools.product(arguments.threads, poolings):
                if peers.installed("torch"):
                    import torch

                    torch.set_num_threads(threads)
                fbg.set_num_threads(threads)
                names = {"threads": threads, "table": place, "indices": law, "columns": columns}
                names |= {"rows in a bag": pooling, "dtype": dtype}
                yield Case(names, dtype, rows, columns, sets, np.arange(0, LOOK_UPS, pooling))


def latencies(places: list[str]) -> str:
    """Nanoseconds from the address of a random line to its bytes, by place."""
    if not reader():
        return "no compiler: no limits"
    texts = []
    for place in places:
        rows = draw_rows("float32", 16, PLACES[place], np.random.default_rng(0))
        sets = draw_indices("uniform", len(rows), 32, np.random.default_rng(1))
        calls = [
            functools.partial(reader().follow, rows.ctypes.data, 64, at.ctypes.data, LOOK_UPS // 10)
            for at in sets
        ]
        result = timing.race([timing.Contestant("", in_turn(calls, 0))], 15)[""]
        texts.append(f"{place} {result.median / (LOOK_UPS // 10) * 1e9:.0f}")
    sizes = ", ".join(f"{name} {size >> 10} KB" for name, size in roofline.caches().items())
    return f"latency of a line, ns: {', '.join(texts)}; caches: {sizes}"


def means(rows: comparison.Rows) -> str:
    """Geometric means over the cases of a place: × the best peer and, of integers, the limit."""
    lines = []
    compared = comparison.compare(rows)
    for threads, place, dtype in itertools.product(
        sorted({each.case["threads"] for each in compared}), PLACES, ("", *DTYPES)
    ):
        own = [
            each
            for each in compared
            if (each.case["threads"], each.case["table"]) == (threads, place)
            and dtype in ("", each.case["dtype"])
        ]
        line = [str(threads), place, dtype or "all", str(len(own))]
        for values in ([each.ratio for each in own], [each.of_peak for each in own]):
            known = [value for value in values if value > 0]
            line += [f"{comparison.mean(known):.2f}", f"{min(known):.2f}"] if known else ["", ""]
        if own:
            lines.append(line)
    head = ["threads", "table", "dtype", "cases", "× best peer", "least", "of limit", "least"]
    return timing.markdown(head, lines)


def main() -> None:
    parser = timing.parser(__doc__.splitlines()[0])
    parser.add_argument("--places", nargs="+", choices=[*PLACES], default=[*PLACES])
    parser.add_argument("--columns", nargs="+", type=int, default=[*COLUMNS])
    arguments = parser.parse_args()
    timing.use_clock(arguments)
    report = timing.Report("tables_lookup", arguments)
    limits = latencies(arguments.places)
    print(limits)
    for case in cases(arguments):
        race(case, arguments, report)
    print(f"\n### Embedding tables, {fbg.isa.active()}\n\n{limits}\n\n{means(report.rows({}))}")
    print(f"\n{comparison.text(report.rows({}))}")


if __name__ == "__main__":
    main()
