"""Lets every allocation of fbg's own code fail, one after the other, in what a user does.

    python -m faults.allocations [--step N] [--most N] [--part I N]
                                                    (preloaded: injection.run_with_faults)

Each point runs in a child of its own, so that kernels and caches are as they were. There the call
must raise MemoryError, the same call must then give the results that it gives without a fault, and
memory must not grow when the fault comes again and again. With --step N every N-th point is tried,
with --most N at most so many of each use, evenly spread; with --part I N every N-th use from I on.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path

import numpy as np

import fbg
from faults.injection import ALLOCATIONS, Faults, report
from fbg import _fbg
from fbg.model import quantize
from helpers import tiny_bert
from helpers.packed_weights import PACKED, product

Use = Callable[[], bytes]

REPEATS = 6  # of a fault, to see whether memory is lost
LOST = 24 << 10  # bytes that the heap may have grown by meanwhile
TABLE_ENTRY = 24  # bytes: the address of an object, that of its instance, and a link
CPU_SECONDS = 60  # of a child
SECONDS = 900  # of a child that waits; it may be stopped while something else is measured
RNG = np.random.default_rng(3)
X = RNG.standard_normal((9, 37), dtype=np.float32)
W = RNG.standard_normal((37, 70), dtype=np.float32)
ROWS = RNG.integers(0, 37, (2, 4, 5))
IDS = [[2, 17, 40, 8, 3], [2, 50, 3, 0, 0]]


class _HeapInfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in
                ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks",
                 "fordblks", "keepcost")]  # fmt: skip


def heap_bytes() -> int:
    """Bytes that are allocated by malloc and its like."""
    function = ctypes.CDLL(None).mallinfo2
    function.restype = _HeapInfo
    info = function()
    return int(info.uordblks + info.hblkhd)


def uses(folder: Path) -> dict[str, Callable[[], Use]]:
    """What is tried: functions that prepare, and return the call in which allocations fail."""
    checkpoint = tiny_bert.write_checkpoint(folder / "checkpoint")
    saved = folder / "saved"
    fbg.load(checkpoint, dtype="int8").save(saved)
    packed_file = folder / "w.safetensors"
    fbg.PackedB(W).save(packed_file)

    def pack(kind: str) -> Callable[[], Use]:
        return lambda: lambda: np.asarray(PACKED[kind]().unpack()).tobytes()

    def multiply(kind: str) -> Callable[[], Use]:
        def prepare() -> Use:
            packed = PACKED[kind]()
            return lambda: product(packed).tobytes()

        return prepare

    def prepared() -> Use:
        packed = fbg.PackedB(W)

        def call() -> bytes:
            prepared_call = fbg.prepare(packed, fbg.Dequantize() >> fbg.GELU(), rows=9)
            return np.asarray(prepared_call(X)).tobytes()

        return call

    def convolve(dtype: str) -> Callable[[], Use]:
        def prepare() -> Use:
            x = RNG.standard_normal((1, 9, 9, 8), dtype=np.float32)
            w = RNG.standard_normal((12, 8, 3, 3), dtype=np.float32)
            return lambda: fbg.conv(x, fbg.PackedConv(w, padding=1, dtype=dtype)).tobytes()

        return prepare

    def make_bag(dtype: str) -> Callable[[], Use]:
        return lambda: lambda: fbg.EmbeddingBag(W, dtype, "mean")(ROWS[0]).tobytes()

    def look_up() -> Use:
        fused = fbg.EmbeddingBag(W, "int4").fused()
        bags = [fbg.EmbeddingBag(W, mode="max"), fbg.EmbeddingBag.from_fused(fused, 70, "int4")]
        tables = fbg.EmbeddingTables(bags)
        offsets = [None, np.array([0, 2, 2, 11])]
        return lambda: tables([ROWS[0], ROWS.reshape(-1)], offsets).tobytes()

    def load(directory: Path, dtype: str | None) -> Callable[[], Use]:
        def prepare() -> Use:
            def call() -> bytes:
                model = fbg.load(directory, dtype=dtype) if dtype else fbg.load(directory)
                return model.forward(IDS).last_hidden_state.tobytes()

            return call

        return prepare

    def plan() -> Use:
        model = fbg.load(checkpoint, dtype="int8")
        return lambda: model.forward(IDS).last_hidden_state.tobytes()

    def encode() -> Use:
        model = fbg.load(checkpoint, dtype="float32")
        return lambda: model.encode(["the dog", "a fox"] * 9).tobytes()

    def save() -> Use:
        model = fbg.load(checkpoint, dtype="int8")
        target = folder / "again"

        def call() -> bytes:
            model.save(target, overwrite=True)
            return (target / "fbg.safetensors").read_bytes()

        return call

    def load_packed() -> Use:
        return lambda: np.asarray(fbg.PackedB.load(packed_file).unpack()).tobytes()

    packs = ("int8", "int8_asymmetric", "float32", "bfloat16")
    products = ("int8", "float32", "float16", "bfloat16")
    return {
        **{f"pack {kind}": pack(kind) for kind in packs},
        **{f"multiply {kind}": multiply(kind) for kind in products},
        "pack int16": lambda: lambda: fbg.PackedB(W, accum="int16").unpack().tobytes(),
        "prepare and run": prepared,
        **{f"make an embedding bag, {dtype}": make_bag(dtype) for dtype in ("int8", "float16")},
        "look up in embedding tables": look_up,
        "convolve int8": convolve("int8"),
        "convolve float32": convolve("float32"),
        "load a checkpoint, int8": load(checkpoint, "int8"),
        "load a checkpoint, float32": load(checkpoint, "float32"),
        "load a checkpoint, int4": load(checkpoint, "int4"),
        "load a saved model": load(saved, None),
        "plan and run": plan,
        "encode": encode,
        "save": save,
        "load packed weights": load_packed,
    }


def try_point(faults: Faults, use: Use, number: int, want: bytes) -> str | None:
    """Let allocation `number` fail; return what is wrong with what happens then."""
    try:
        with faults.failing(ALLOCATIONS, number):
            result = use()
    except MemoryError:
        pass
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    else:
        if result != want:
            return "another result"
    return None if use() == want else "another result afterwards"


def lost_bytes(faults: Faults, use: Use, number: int) -> int:
    """Return by how much the heap grows while the same allocation fails again and again."""

    def fail() -> None:
        try:
            with faults.failing(ALLOCATIONS, number):
                use()
        except MemoryError as error:
            traceback.clear_frames(error.__traceback__)

    for _ in range(3):
        fail()
    before = heap_bytes()
    for _ in range(REPEATS):
        fail()
    return heap_bytes() - before


def in_child(work: Callable[[], str | None]) -> str | None:
    """Run work in a child; return what it returns, or how the child ended."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
        signal.alarm(SECONDS)
        try:
            problem = work()
        except BaseException as error:
            problem = "".join(traceback.format_exception(error))
        os.write(writer, (problem or "").encode()[:4000])
        os._exit(0)
    os.close(writer)
    with open(reader, "rb") as pipe:
        told = pipe.read().decode()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return f"the process ended with {status}" if status else told or None


def sweep(
    faults: Faults, name: str, prepare: Callable[[], Use], step: int, most: int
) -> tuple[int, list[str]]:
    """Try the allocations of one use; return how many points were tried, and the problems."""
    use = prepare()

    def count() -> str:
        with faults.failing(ALLOCATIONS, 0):
            use()
        return str(faults.calls)

    calls = int(in_child(count) or "0")
    want = in_child_bytes(use)
    problems = []
    points = range(1, calls + 1, max(step, -(-calls // most)))
    for number in points:

        def point(number: int = number) -> str | None:
            problem = try_point(faults, use, number, want)
            if problem is None and (lost := lost_bytes(faults, use, number)) > LOST:
                problem = f"{lost} bytes are lost in {REPEATS} repetitions"
            return problem

        problem = in_child(point)
        if problem is not None:
            problems.append(f"{name}, allocation {number} of {calls}: {problem}")
    return len(points), problems


def exempt_pybind11(faults: Faults) -> list[object]:
    """Exempt the allocations by which pybind11 registers an object that Python has constructed.

    It does so outside of its own handling of exceptions: a failure there ends the process, in any
    extension module. Each class has a place of its own that allocates an entry of the table of
    objects. Returns so many objects that the table need not grow while they live.
    """
    with faults.exempting():
        objects: list[object] = [_fbg.Checksum() for _ in range(20_000)]
        graphs = [_fbg.Graph() for _ in range(2)]
    x = graphs[0].append("input", 4, "token", "float32")
    tanh = [("tanh", 0, 0, 0.0, 0.0)]
    graphs[0].output(graphs[0].append("elementwise", [4], [(x, "float32", [1])], tanh))
    with faults.exempting(TABLE_ENTRY):
        _fbg.Plan(graphs[0], 1, 1, 1, 1)
    return [objects]


def in_child_bytes(use: Use) -> bytes:
    """Return the result of a use, computed in a child: this process keeps no kernels of it."""
    with tempfile.TemporaryFile() as file:

        def work() -> str | None:
            file.write(use())
            file.flush()
            return None

        problem = in_child(work)
        assert problem is None, problem
        file.seek(0)
        return file.read()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--most", type=int, default=sys.maxsize, help="points of each use")
    parser.add_argument("--only", default="", help="uses whose names have this")
    parser.add_argument("--part", type=int, nargs=2, default=(0, 1), help="this one of so many")
    given = parser.parse_args()
    part, parts = given.part
    fbg.set_num_threads(1)
    quantize.BUDGET = 1  # to round to int4, few sequences are observed, in the same way as many
    faults = Faults()
    kept = exempt_pybind11(faults)
    with tempfile.TemporaryDirectory(prefix="fbg-faults-") as folder:
        chosen = [
            item for item in list(uses(Path(folder)).items())[part::parts] if given.only in item[0]
        ]
        status = report(
            (name, *sweep(faults, name, prepare, given.step, given.most))
            for name, prepare in chosen
        )
    del kept
    return status


if __name__ == "__main__":
    sys.exit(main())
