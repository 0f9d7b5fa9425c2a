"""Mixed precision: products that have another dtype than the rest, chosen by their names, and how
many of them are needed.

The names of linear layers of encoders are those of saved models: "layers.0.qkv",
"layers.0.attention_output", "layers.0.intermediate", "layers.0.output", "embeddings.projection".
Layers that share weights have one name, with the number of the first layer. Other products
are nodes of an ONNX file.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import NamedTuple

# Patterns, or patterns with a dtype for each.
HigherPrecision = Iterable[str] | Mapping[str, str]

DEFAULT = "bfloat16"  # for patterns without a dtype: its error is a hundredth of the error of int8
DTYPES = ("float32", "float16", "bfloat16")
WHERE = "load: higher_precision"  # prefix of error messages


def read_patterns(wanted: HigherPrecision) -> dict[str, str]:
    """Return a new dict from patterns to dtypes; `wanted` may be an iterator, or change later.

    Raises TypeError for other objects, and ValueError for an unknown dtype.

    >>> read_patterns(["layers.0.*"])
    {'layers.0.*': 'bfloat16'}
    """
    if isinstance(wanted, (str, bytes)) or not isinstance(wanted, Iterable):
        got = type(wanted).__name__
        raise TypeError(
            f"{WHERE} must be layer name patterns, or a mapping from them to dtypes, got {got}"
        )
    given = wanted.items() if isinstance(wanted, Mapping) else ((p, DEFAULT) for p in wanted)
    patterns: dict[str, str] = {}
    for pattern, dtype in given:
        if not isinstance(pattern, str):
            raise TypeError(f"{WHERE}: a pattern must be a str, got {type(pattern).__name__}")
        if dtype not in DTYPES:
            options = ", ".join(DTYPES)
            raise ValueError(f"{WHERE}: the dtype of {pattern} must be {options}, got {dtype!r}")
        patterns.setdefault(pattern, dtype)
    return patterns


def choose_dtypes(names: Sequence[str], patterns: Mapping[str, str], what: str) -> dict[str, str]:
    """Return the dtype of each product that a pattern matches; the last pattern that matches
    decides.

    what: the word for a product in messages. Raises ValueError for a pattern that matches none.

    >>> choose_dtypes(["layers.0.qkv", "layers.1.qkv"], {"*.1.*": "float32"}, "linear layer")
    {'layers.1.qkv': 'float32'}
    """
    chosen: dict[str, str] = {}
    for pattern, dtype in patterns.items():
        matches = [name for name in names if fnmatchcase(name, pattern)]
        if not matches:
            raise ValueError(
                f"{WHERE}: {pattern!r} matches no {what}; there are {', '.join(names)}"
            )
        chosen.update(dict.fromkeys(matches, dtype))
    return chosen


class Proposal(NamedTuple):
    """Which products to keep in higher precision.

    losses: the loss of each product alone, the largest for its cost first. loss: if all are
    quantized. kept_loss: if all but `kept` are.
    """

    losses: dict[str, float]
    loss: float
    kept: tuple[str, ...]
    kept_loss: float


def propose(
    names: Iterable[str],
    alone: Callable[[str], float],
    all_but: Callable[[Sequence[str]], float],
    target: float,
    progress: Callable[[str], object],
    cost: Callable[[str], float] = lambda name: 1.0,
) -> Proposal:
    """Return the least number of products that reach a loss if they are kept in higher precision,
    starting with the largest losses; all products if even that does not suffice.

    alone: returns the loss if only one product is quantized. all_but: if all others are. progress:
    called with the name of each product before it is measured. cost: of a product in higher
    precision, by which its loss is divided.
    """
    losses = {}
    for name in names:
        progress(name)
        losses[name] = alone(name)
    ranked = sorted(losses, key=lambda name: -losses[name] / cost(name))
    loss_of = cache(lambda count: all_but(ranked[:count]))
    counts = range(len(ranked))
    count = bisect.bisect_left(counts, True, key=lambda count: loss_of(count) <= target)
    losses = {name: losses[name] for name in ranked}
    return Proposal(losses, loss_of(0), tuple(ranked[:count]), loss_of(count))
