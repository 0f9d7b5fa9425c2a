"""Other engines to measure against: an adapter each, and the one interface of all of them.

An adapter has a table for each question that its engine answers: PRODUCTS, CONVOLUTIONS, NETWORKS,
ENCODERS, LOOKUPS, SEARCHES. A row names a contestant, the packages that it needs, and what makes it
ready with an explicit number of threads. Adapters import their engines when asked for one.
"""

import contextlib
import functools
import importlib
import importlib.util
import itertools
import logging
import multiprocessing
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import timing
from shapes import Layer

Array = npt.NDArray[Any]
Call = Callable[[], Any]
Feed = dict[str, Array]  # inputs of a network by name
Forward = Callable[[Feed], list[Array]]
Value = TypeVar("Value")
ADAPTERS = ("vectors", "torch", "ort", "openvino", "mobile")


@dataclass(frozen=True)
class Product:
    """y = x @ w (+ bias): float32, or uint8 and int8; copies: of the weights, one for each call."""

    x: Array
    w: Array
    bias: Array | None
    threads: int
    copies: int = 1


@dataclass(frozen=True)
class Convolution:
    """A layer with its operands, channels last.

    x, w: float32, or uint8 and int8. bias: float32, or int32 in units of the sums. int8 has a
    w_scale for each output channel; zero points are 0, as after a ReLU.
    """

    layer: Layer
    x: Array
    w: Array
    bias: Array
    threads: int
    x_scale: float = 1.0
    w_scale: Array | None = None
    y_scale: float = 1.0

    @property
    def channels_first(self) -> Array:
        return np.ascontiguousarray(np.moveaxis(self.x, -1, 1))


@dataclass(frozen=True)
class LookUp:
    """A table and its bags: rows of uint8 as torch prepacks them, or of float32; sets of indices,
    one for each call; where bags begin, and how many rows they have."""

    rows: Array
    columns: int
    dtype: str
    sets: list[Array]
    offsets: Array
    pooling: int
    threads: int


class Network:
    """An ONNX file, feeds to calibrate on, and the folder of what is made of it, each file once."""

    def __init__(self, path: Path, feeds: list[Feed], kept: Path) -> None:
        self.path, self.feeds, self.kept = path, feeds, kept

    def made(self, suffix: str, make: Callable[[Path], object]) -> Path:
        result = self.kept / f"{self.path.stem}{suffix}"
        if not result.exists():
            make(result)
        return result


@dataclass(frozen=True)
class Peer:
    """A ready contestant. value: its result to verify, if that is not what the call returns."""

    call: Call
    value: Callable[[], Array] | None = None
    around: Callable[[], AbstractContextManager[object]] = contextlib.nullcontext
    sample: Callable[[], float] | None = None


class Row(NamedTuple):
    """Of a table of an adapter. make: gets what is to be computed, then the number of threads."""

    needs: tuple[str, ...]
    make: Callable[..., Any]


@functools.cache
def table(question: str) -> dict[str, Row]:
    """The rows of all adapters, by contestant."""
    modules = [importlib.import_module(f"peers.{name}") for name in ADAPTERS]
    return {name: row for each in modules for name, row in getattr(each, question, {}).items()}


def available(question: str, names: Any = None) -> list[str]:
    """Those of the names (or all) whose packages are installed."""
    rows = table(question)
    return [name for name in names or rows if installed(*rows[name].needs)]


def contestants(
    question: str,
    names: Any,
    problem: Product | Convolution,
    error: Callable[[Array], float],
    tolerance: float,
) -> list[timing.Contestant]:
    """Who is installed, can compute it, and computes it rightly."""
    found = []
    for name in available(question, names) if names else ():
        peer: Peer | None = table(question)[name].make(problem)
        if peer is None:
            continue
        with peer.around():
            off = error(peer.value() if peer.value else as_float(peer.call()))
        if off <= tolerance:
            found.append(timing.Contestant(name, peer.call, peer.around, peer.sample))
        else:
            print(f"{name} is left out, its result is off by {off:.2e}", flush=True)
    return found


def as_float(result: Any) -> Array:
    """NumPy cannot take a bfloat16 tensor as it is."""
    return np.asarray(result if isinstance(result, np.ndarray) else result.float())


def rotate(make: Callable[[], Call], count: int) -> Call:
    """A call that uses the next copy of the weights each time."""
    calls = [make() for _ in range(count)]
    if count == 1:
        return calls[0]
    turns = itertools.cycle(calls)
    return lambda: next(turns)()


def installed(*packages: str) -> bool:
    return all(importlib.util.find_spec(package) is not None for package in packages)


def quietly(make: Callable[[], None]) -> None:
    """Run a converter without its progress and deprecation messages."""
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            make()
    finally:
        logging.disable(logging.NOTSET)


def in_own_process(function: Callable[..., Value], *arguments: Any) -> Value:
    """Return what a function of a module returns, called in a process of its own.

    Raises what the function raises, and ChildProcessError if the process died.
    """
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        try:
            return pool.submit(function, *arguments).result()
        except BrokenProcessPool:
            raise ChildProcessError("its process died") from None
