"""Mixed precision: linear layers that have another dtype than the rest, chosen by their names.

The names are those of saved models: "layers.0.qkv", "layers.0.attention_output",
"layers.0.intermediate", "layers.0.output", "embeddings.projection". Layers that share their weights
have one name, with the number of the first of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

__all__ = ["DEFAULT", "HigherPrecision", "choose_layers", "read_patterns"]

# Patterns, or patterns with a dtype for each.
HigherPrecision = Iterable[str] | Mapping[str, str]

DEFAULT = "bfloat16"  # for patterns without a dtype: its error is a hundredth of that of int8
DTYPES = ("float32", "float16", "bfloat16")
WHERE = "load: higher_precision"  # in errors


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


def choose_layers(names: Sequence[str], patterns: Mapping[str, str]) -> dict[str, str]:
    """Return the dtype of each layer that a pattern matches; the last pattern that matches decides.

    Raises ValueError for a pattern that matches no layer.

    >>> choose_layers(["layers.0.qkv", "layers.1.qkv"], {"*.1.*": "float32"})
    {'layers.1.qkv': 'float32'}
    """
    chosen: dict[str, str] = {}
    for pattern, dtype in patterns.items():
        matches = [name for name in names if fnmatchcase(name, pattern)]
        if not matches:
            raise ValueError(
                f"{WHERE}: {pattern!r} matches no linear layer; there are {', '.join(names)}"
            )
        chosen.update(dict.fromkeys(matches, dtype))
    return chosen
