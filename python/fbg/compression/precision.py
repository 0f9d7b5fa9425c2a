"""Linear layers by name, and mixed precision: some of them in another dtype than the rest.

A linear layer has the name under which a saved model stores it: "layers.0.qkv",
"layers.0.attention_output", "layers.0.intermediate", "layers.0.output", "embeddings.projection".
Layers that share weights have one, numbered as they first run.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from fbg.matmul.packed_file import dtype_name
from fbg.networks.transformer import WEIGHT_LIMITS, Linear, Transformer, pack_weight

__all__ = [
    "HigherPrecision",
    "choose_layers",
    "linears",
    "map_linears",
    "mixed_dtypes",
    "read_patterns",
    "repack",
]

# Patterns, or patterns with a dtype for each.
HigherPrecision = Iterable[str] | Mapping[str, str]

DEFAULT = "bfloat16"  # of patterns alone: its error is a hundredth of that of int8
DTYPES = ("float32", "float16", "bfloat16")
WHERE = "load: higher_precision"  # in errors


def map_linears(transformer: Transformer, function: Callable[[str, Linear], Linear]) -> Transformer:
    """Return the transformer with each linear layer of its encoder replaced by what `function`
    makes of it; layers that are shared stay shared, and the pooler stays as it is.
    """
    embeddings = _map("embeddings", transformer.embeddings, function)
    distinct = {id(layer): layer for layer in transformer.layers}
    layers = {
        key: _map(f"layers.{n}", layer, function) for n, (key, layer) in enumerate(distinct.items())
    }
    return dataclasses.replace(
        transformer,
        embeddings=embeddings,
        layers=tuple(layers[id(layer)] for layer in transformer.layers),
    )


def _map(name: str, value: Any, function: Callable[[str, Linear], Linear]) -> Any:
    if isinstance(value, Linear):
        return function(name, value)
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return value
    parts = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    mapped = {key: _map(f"{name}.{key}", part, function) for key, part in parts.items()}
    changed = {key: part for key, part in mapped.items() if part is not parts[key]}
    return dataclasses.replace(value, **changed) if changed else value


def linears(transformer: Transformer) -> dict[str, Linear]:
    """Return the linear layers of the encoder by name, in the order in which they first run."""
    found: dict[str, Linear] = {}

    def note(name: str, linear: Linear) -> Linear:
        found[name] = linear
        return linear

    map_linears(transformer, note)
    return found


def mixed_dtypes(transformer: Transformer) -> dict[str, str]:
    """Return the dtype of each linear layer that has not that of the transformer."""
    dtypes = {name: dtype_name(linear.weight) for name, linear in linears(transformer).items()}
    return {name: dtype for name, dtype in dtypes.items() if dtype != transformer.dtype}


def read_patterns(wanted: HigherPrecision) -> dict[str, str]:
    """Return the dtype of each pattern, in an object of its own: `wanted` may be read only once, or
    change later. Raises TypeError, ValueError for a dtype that is none.
    """
    if isinstance(wanted, (str, bytes)) or not isinstance(wanted, Iterable):
        got = type(wanted).__name__
        raise TypeError(f"{WHERE} must be patterns of names of layers, or map them, got {got}")
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


def choose_layers(transformer: Transformer, patterns: Mapping[str, str]) -> dict[str, str]:
    """Return the dtype of each layer that a pattern matches; of several patterns, the last counts.

    Raises ValueError for a pattern that matches nothing.
    """
    names = list(linears(transformer))
    chosen: dict[str, str] = {}
    for pattern, dtype in patterns.items():
        matches = [name for name in names if fnmatchcase(name, pattern)]
        if not matches:
            raise ValueError(
                f"{WHERE}: {pattern!r} matches no linear layer; there are {', '.join(names)}"
            )
        chosen.update(dict.fromkeys(matches, dtype))
    return chosen


def repack(transformer: Transformer, dtype: str, chosen: Mapping[str, str]) -> Transformer:
    """Return it in `dtype`, the chosen layers in theirs. Weights not yet so must be float32."""

    def convert(name: str, linear: Linear) -> Linear:
        wanted = chosen.get(name, dtype)
        if dtype_name(linear.weight) == wanted:
            return linear
        weight = linear.weight.unpack()
        if np.abs(weight).max() > WEIGHT_LIMITS[wanted]:
            limit = WEIGHT_LIMITS[wanted]
            raise ValueError(f"load: {wanted} cannot hold {name}, with weights beyond ±{limit:g}")
        return dataclasses.replace(linear, weight=pack_weight(weight, wanted))

    return dataclasses.replace(map_linears(transformer, convert), dtype=dtype)
