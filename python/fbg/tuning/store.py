"""The fastest way to run each product, convolution and network, as measured by `fbg.tune`, by name.

Results come from the tuning file, read when the first plan or convolution is prepared, and
from `fbg.tune`; where nothing is known, the cost model chooses. No choice for a product or a
convolution changes a bit of a result: blockings never do, and a measured algorithm is used only if
it gives the same bits as the one of the cost model. Results for a convolution depend neither on the
batch nor on the number of threads, as its modelled cost. Ops of a network that move to another back
end are rounded as they are there.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from fbg import _fbg
from fbg.tuning import file

Kind = tuple[str, int, int]  # dtype, K and N of a linear layer
ANY_NUMBER = 1 << 40
LIMITS = (32, 8, 1 << 16, _fbg.MAX_THREADS)  # limits of the members of a blocking
# How a stage may be specialized, in the order of its key.
SPECIALIZATIONS = ("unit", "centered", "bounded")

CONV = "conv "
MOVES = "moves "
MOST_NODES = 1 << 24  # of a network
# How names of convolutions spell the types of weights.
WEIGHTS = {"int8": "Int8", "float32": "Float32", "float16": "Float16", "bfloat16": "BFloat16"}
ALGORITHM = re.compile("[a-z0-9_]{1,32}")
PRODUCT = re.compile(r"[^ ]* N [^ ]* N N N".replace("N", "[1-9][0-9]{0,8}"))


class Blocking(NamedTuple):
    """How a product is cut; 0 leaves it to the cost model.

    rows: of the tallest tile. panels: of 32 columns, that the widest tile spans. a_kib: of A that
    a thread works on at a time. row_parts: threads side by side along the rows.
    """

    rows: int = 0
    panels: int = 0
    a_kib: int = 0
    row_parts: int = 0

    def __str__(self) -> str:
        chosen = [f"{name}={value}" for name, value in self._asdict().items() if value]
        return " ".join(chosen) or "cost model"


class Moved(NamedTuple):
    """The nodes of a network that move from fbg to another back end, by number, ascending."""

    nodes: tuple[int, ...] = ()


class Measured(NamedTuple):
    """What to use, its median seconds, and those of the cost model's choice.

    choice: the blocking of a product, the algorithm of a convolution, or what moves of a network.
    """

    choice: Blocking | str | Moved
    seconds: float
    default_seconds: float


def product_key(isa: str, threads: int, kind: Kind, tokens: int) -> str:
    """Return the name of a product of `tokens` rows, and where it ran."""
    dtype, k, n = kind
    return f"{isa} {threads} {dtype} {k} {n} {tokens}"


def conv_key(
    weights: Any,
    geometry: object,
    spatial: Sequence[int],
    stages: Sequence[Any],
    source: str,
    features: int,
) -> str:
    """Return the name of a convolution: all that the time of a run depends on.

    weights: native. spatial: three axes of x. stages: native. features: features of the CPU that
    kernels use.
    """
    isa = _fbg.best_isa(features)
    size = "x".join(map(str, spatial))
    kinds = ",".join(
        "-".join(
            filter(None, [f"{kind}-{wanted}", *itertools.compress(SPECIALIZATIONS, special), form])
        )
        for kind, wanted, special, form in (stage.key for stage in stages)
    )
    kind = "Int16" if weights.sums_int16 else WEIGHTS[weights.dtype]
    return f"{CONV}{isa} Conv{kind} {source} {size} {kinds or 'sums'} {geometry}"


def conv_label(key: str) -> str:
    """Return the readable part of a name: the type of the weights, the image, the geometry."""
    _, _, kind, _, size, _, *geometry = key.split(" ")
    return f"{kind.removeprefix('Conv').lower()} {size} {' '.join(geometry)}"


def moves_key(network: str, backend: str, threads: int, features: int) -> str:
    """Return the name of what moves to a back end. network: a digest of its nodes and types."""
    return f"{MOVES}{_fbg.best_isa(features)} {threads} {backend} {network}"


class Store:
    """The measurements of this process and of those before it.

    generation: counts changes; plans of an older one are out of date.
    forced: the blocking of every product, whatever was measured.
    """

    def __init__(self) -> None:
        self.generation = 0
        self.forced: Blocking | None = None
        self._known: dict[str, Measured] | None = None

    def known(self) -> Mapping[str, Measured]:
        """Return all measurements, by the names of products and convolutions."""
        if self._known is None:
            self._known = file.read(_measured)
        return self._known

    def add(self, found: Mapping[str, Measured]) -> None:
        """Take measurements in and write them to the file."""
        self._known = {**self.known(), **found}
        self.generation += 1
        file.merge({key: _entry(measured) for key, measured in found.items()})

    def forget(self) -> None:
        """Read the file again when next asked."""
        self._known = None
        self.generation += 1

    def algorithm(self, key: str) -> str:
        """Return the algorithm that was measured to be fastest for a convolution, or ""."""
        measured = self.known().get(key)
        return "" if measured is None else str(measured.choice)

    def moved(self, key: str) -> Moved | None:
        """Return what was measured to move to a back end, or None."""
        measured = self.known().get(key)
        found = None if measured is None else measured.choice
        return found if isinstance(found, Moved) else None

    def blockings(
        self, kinds: Sequence[Kind], threads: int, isa: str
    ) -> list[tuple[Kind, int, int, Blocking]]:
        """Return (kind, first, last, blocking), ranges of tokens as `_fbg.Plan` takes them."""
        if self.forced is not None:
            return [(kind, 1, ANY_NUMBER, self.forced) for kind in kinds]
        ranges = []
        for kind in kinds:
            measured = self._by_tokens(product_key(isa, threads, kind, 0).removesuffix("0"))
            sizes = sorted(measured)
            for n, tokens in enumerate(sizes):
                # The best for one size is no guide to a quarter or to four times of it.
                first = max(sizes[n - 1] if n else 0, tokens // 4) + 1
                last = tokens if n + 1 < len(sizes) else 4 * tokens
                ranges.append((kind, first, last, measured[tokens]))
        return ranges

    def _by_tokens(self, prefix: str) -> dict[int, Blocking]:
        return {
            int(key.removeprefix(prefix)): measured.choice
            for key, measured in self.known().items()
            if key.startswith(prefix) and isinstance(measured.choice, Blocking)
        }


def _entry(measured: Measured) -> dict[str, object]:
    """Return a measurement as it stands in the file."""
    seconds = {"seconds": measured.seconds, "default": measured.default_seconds}
    if isinstance(measured.choice, Blocking):
        return {"blocking": list(measured.choice), **seconds}
    if isinstance(measured.choice, Moved):
        return {"nodes": list(measured.choice.nodes), **seconds}
    return {"algorithm": measured.choice, **seconds}


def _measured(name: str, value: Mapping[str, Any]) -> Measured | None:
    """Return the content of an entry, or None if any part of it is wrong."""
    seconds, default = value.get("seconds"), value.get("default")
    if not isinstance(seconds, float) or not isinstance(default, float):
        return None
    choice: Blocking | str | Moved | None
    if name.startswith(CONV):
        choice = _algorithm(name, value)
    elif name.startswith(MOVES):
        choice = _moved(value)
    else:
        choice = _blocking(name, value)
    if choice is None or not (0 < seconds < math.inf and 0 < default < math.inf):
        return None
    return Measured(choice, seconds, default)


def _algorithm(name: str, value: Mapping[str, Any]) -> str | None:
    algorithm = value.get("algorithm")
    if not isinstance(algorithm, str) or not ALGORITHM.fullmatch(algorithm):
        return None
    return algorithm if len(name.split(" ")) >= 7 else None


def _moved(value: Mapping[str, Any]) -> Moved | None:
    nodes = value.get("nodes")
    if not isinstance(nodes, list) or not all(type(n) is int and n < MOST_NODES for n in nodes):
        return None
    ascending = all(a < b for a, b in itertools.pairwise([-1, *nodes]))
    return Moved(tuple(nodes)) if ascending else None


def _blocking(name: str, value: Mapping[str, Any]) -> Blocking | None:
    members = value.get("blocking")
    if not PRODUCT.fullmatch(name) or not isinstance(members, list) or len(members) != len(LIMITS):
        return None
    if not all(type(m) is int and 0 <= m <= most for m, most in zip(members, LIMITS, strict=True)):
        return None
    return Blocking(*members)


store = Store()


@contextmanager
def forced(blocking: Blocking) -> Iterator[None]:
    """Run every product of every plan with one blocking: for tests and benchmarks."""
    before = store.forced
    store.forced = blocking
    store.generation += 1
    try:
        yield
    finally:
        store.forced = before
        store.generation += 1
