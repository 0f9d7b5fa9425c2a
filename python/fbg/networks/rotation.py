"""Rotary positions: the angles by which queries and keys are turned.

Angle i of a head at a place is place * frequency i (Su et al., 2021, arXiv:2104.09864). Models that
were stretched to longer texts than they were first trained on scale the frequencies;
`Rotation.kind` names the rule.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from fbg.arrays import Floats
from fbg.checkpoints.settings import Settings

MAX_ROTATIONS = 1 << 17  # places with a rotation
PLACES_AT_A_TIME = 1024  # whose angles are computed in float64
MAX_THETA = 1e30  # base of the frequencies
MAX_FACTOR = 1e6

# Parameters of some kinds, which the others do not read.
PARAMETERS = (
    *("factor", "original_max_position_embeddings", "attention_factor", "mscale", "mscale_all_dim"),
    *("beta_fast", "beta_slow", "high_freq_factor", "low_freq_factor", "truncate"),
    *("short_factor", "long_factor", "type", "rope_type"),
)

KINDS = ("default", "linear", "dynamic", "ntk", "yarn", "llama3", "longrope")


@dataclass(frozen=True)
class Rotation:
    """The rotations of a layer.

    size: how many elements of a head are turned, an even number.
    theta: base of the frequencies, theta^(-2 i / size).
    kind: how they are scaled by `factor`. "linear": all are divided by it. "ntk": theta is
        multiplied by it, and frequencies are divided by factor^(2 / size). "yarn": low ones are
        divided, high ones stay, and cosines and sines are multiplied by `magnitude` (Peng et al.,
        2023, arXiv:2309.00071). "llama3": the same, with other bounds and without magnitude.
        "longrope": each is divided by a factor of its own, `short` in sequences of at most
        `original` tokens and `long` in longer ones (Ding et al., 2024, arXiv:2402.13753).
    original: the length that the model was first trained on.
    fast, slow: of "yarn" and "llama3", how many turns in `original` places bound the middle range.
    """

    size: int
    theta: float
    kind: str = "default"
    factor: float = 1.0
    original: int = 0
    fast: float = 0.0
    slow: float = 0.0
    magnitude: float = 1.0
    rounded: bool = True  # whether yarn's bounds are whole numbers
    short: tuple[float, ...] = ()
    long: tuple[float, ...] = ()

    @property
    def long_from(self) -> int | None:
        """The length beyond which sequences are rotated differently; None if none are."""
        return self.original if self.kind == "longrope" else None

    def table(self, length: int) -> Floats:
        """Return (length, size): for each place the cosines of size / 2 angles, then their sines.
        For "longrope", (original + length, size): first places of short sequences, then of
        long ones.

        Every step is rounded to float32, as in transformers: at place 8000, this changes an angle
        by up to 5e-4.
        """
        parts = [(self.frequencies, length)]
        if self.kind == "longrope":
            parts = [(self._divided(self.short), min(self.original, length))]
            parts.append((self._divided(self.long), length))
        half = self.size // 2
        table = np.empty((sum(count for _, count in parts), self.size), np.float32)
        row = 0
        for frequencies, count in parts:
            for begin in range(0, count, PLACES_AT_A_TIME):
                places = np.arange(begin, min(begin + PLACES_AT_A_TIME, count), dtype=np.float32)
                angles = (places[:, None] * frequencies).astype(np.float64)
                rows = table[row : row + len(places)]
                rows[:, :half] = np.cos(angles) * self.magnitude
                rows[:, half:] = np.sin(angles) * self.magnitude
                row += len(places)
        return table

    def _divided(self, factors: tuple[float, ...]) -> Floats:
        exponents = np.arange(0, self.size, 2, dtype=np.float32) / np.float32(self.size)
        powers = (self.theta ** exponents.astype(np.float64)).astype(np.float32)
        return np.float32(1) / (np.array(factors, np.float32) * powers)

    @property
    def frequencies(self) -> Floats:
        """(size / 2,), highest first."""
        theta = self.theta * (self.factor if self.kind == "ntk" else 1.0)
        exponents = np.arange(0, self.size, 2, dtype=np.float32) / np.float32(self.size)
        plain = np.float32(1) / (theta ** exponents.astype(np.float64)).astype(np.float32)
        if self.kind == "linear":
            return plain / np.float32(self.factor)
        if self.kind == "ntk":
            return plain / np.float32(self.factor ** (2 / self.size))
        if self.kind in ("yarn", "llama3"):
            kept = self._kept_in_yarn() if self.kind == "yarn" else self._kept_in_llama(plain)
            scaled: Floats = plain / np.float32(self.factor) * (1 - kept) + plain * kept
            return scaled
        return plain

    def _kept_in_yarn(self) -> Floats:
        """Return the part of each frequency that is not scaled."""

        def place_of(turns: float) -> float:
            """Return the index of the frequency that turns so often in `original` places."""
            length = self.original / (turns * 2 * math.pi)
            return self.size * math.log(length) / (2 * math.log(self.theta))

        low, high = place_of(self.fast), place_of(self.slow)
        if self.rounded:
            low, high = math.floor(low), math.ceil(high)
        low, high = max(low, 0), min(high, self.size - 1)
        ramp = (np.arange(self.size // 2) - low) / (high - low if high != low else 0.001)
        kept: Floats = (1 - np.clip(ramp, 0, 1)).astype(np.float32)
        return kept

    def _kept_in_llama(self, plain: Floats) -> Floats:
        turns = self.original * plain.astype(np.float64) / (2 * math.pi)
        smooth = (turns - self.slow) / (self.fast - self.slow)
        return np.clip(smooth, 0, 1).astype(np.float32)


def read_rotation(
    settings: Settings,
    size: int,
    default_theta: float,
    *,
    layers: str | None = None,
    theta_key: str = "rope_theta",
    scaled: bool = True,
) -> Rotation:
    """Read rope_parameters, or rope_theta and rope_scaling of older files; raises ModelError.

    layers: the kind of layers, where rope_parameters has an object for each.
    theta_key: the name of the base in older files. scaled: whether their rope_scaling applies.
    """
    length = settings.size("max_position_embeddings", default=1)
    rope = settings.section("rope_parameters")
    rope = rope if layers is None else rope.section(layers)
    old = rope.get("rope_theta") is None
    theta_at, key = (settings, theta_key) if old else (rope, "rope_theta")
    settings.get(theta_key)  # it yields to the newer key
    theta = theta_at.number(key, default_theta)
    if not 1 < theta <= MAX_THETA:
        raise theta_at.error(key, f"more than 1 and at most {MAX_THETA:g}")
    given = rope
    if settings.get("rope_parameters") is None:
        given = settings.section("rope_scaling" if scaled else "")
    for parameter in PARAMETERS:
        given.get(parameter)
    kind_key = "type" if given.get("rope_type") is None else "rope_type"
    kind = given.choice(kind_key, KINDS, default="default")
    if kind in ("default", "dynamic"):  # dynamic scaling begins beyond the length of the model
        return Rotation(size, theta)
    if kind == "longrope":
        return _read_long(settings, given, Rotation(size, theta, kind), length)
    factor = given.number("factor", default=0)
    if not 1 <= factor <= MAX_FACTOR:
        raise given.error("factor", f"from 1 to {MAX_FACTOR:g}")
    if kind in ("linear", "ntk"):
        return Rotation(size, theta, kind, factor)
    names = (
        ("beta_fast", "beta_slow") if kind == "yarn" else ("high_freq_factor", "low_freq_factor")
    )
    fast, slow = given.number(names[0], default=32), given.number(names[1], default=1)
    if not fast > slow > 0:
        raise given.error(names[0], f"more than {names[1]}, {slow:g}, which must be more than 0")
    original = given.size("original_max_position_embeddings", default=length)
    magnitude = 1.0 if kind == "llama3" else _magnitude(given, factor)
    whole = given.flag("truncate", default=True)
    return Rotation(size, theta, kind, factor, original, fast, slow, magnitude, whole)


def _read_long(settings: Settings, given: Settings, rotation: Rotation, length: int) -> Rotation:
    """Read two lists of factors, and the length that divides their sequences."""
    key, lists = "original_max_position_embeddings", []
    # Phi-3 has the length beside the other settings.
    original = (given if settings.get(key) is None else settings).size(key, length, at_least=2)
    for name in ("short_factor", "long_factor"):
        factors, count = given.get(name), rotation.size // 2
        if not isinstance(factors, list) or len(factors) != count:
            raise given.error(name, f"a list of {count} numbers, half of the size that is turned")
        least = 1 / MAX_FACTOR
        if not all(type(x) in (int, float) and least <= x <= MAX_FACTOR for x in factors):
            raise given.error(name, f"a list of numbers from {least:g} to {MAX_FACTOR:g}")
        lists.append(tuple(float(x) for x in factors))
    factor = length / original
    if given.get("factor") is not None:
        factor = given.number("factor", default=0)
        if not 1 <= factor <= MAX_FACTOR:
            raise given.error("factor", f"from 1 to {MAX_FACTOR:g}")
    magnitude = 1.0 if factor <= 1 else math.sqrt(1 + math.log(factor) / math.log(original))
    if given.get("attention_factor") is not None:
        magnitude = _attention_factor(given)
    short, long = lists
    return replace(
        rotation, factor=factor, original=original, magnitude=magnitude, short=short, long=long
    )


def _attention_factor(given: Settings) -> float:
    value = given.number("attention_factor", default=1)
    if not 0 < value <= MAX_FACTOR:
        raise given.error("attention_factor", f"more than 0 and at most {MAX_FACTOR:g}")
    return value


def _magnitude(given: Settings, factor: float) -> float:
    """Return yarn's factor of cosines and sines."""

    def scale(weight: float) -> float:
        return 1.0 if factor <= 1 else 0.1 * weight * math.log(factor) + 1.0

    if given.get("attention_factor") is not None:
        return _attention_factor(given)
    own, all_dims = (
        0.0 if given.get(key) is None else given.number(key, default=0)
        for key in ("mscale", "mscale_all_dim")
    )
    return scale(own) / scale(all_dims) if own and all_dims else scale(1.0)
