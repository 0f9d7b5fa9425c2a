"""Inputs of reports: texts or random tokens, random inputs or those of a file, and
numbers of threads.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.arrays import Array, require_integer
from fbg.files import open_regular
from fbg.importers.feeds import random_array, runs_of
from fbg.model.load import load
from fbg.tasks.inputs import require_tower

if TYPE_CHECKING:
    from fbg.importers.description import TensorType
    from fbg.importers.net import Net
    from fbg.model.model import Model

Feed = dict[str, Array]
TOKENS = (8, 32, 128, 384)
RANDOM_FEEDS = 8
CALIBRATION_FEEDS = 4
# Errors of damaged archives that NumPy lets through.
NOT_NPZ = (zipfile.BadZipFile, zlib.error, KeyError, NotImplementedError)


def sample_texts() -> list[str]:
    """Return the sentences that come with fbg: plain English, a hundred or so."""
    text = resources.files("fbg.reports").joinpath("sample_texts.txt").read_text(encoding="utf-8")
    return text.splitlines()


def require_texts(where: str, texts: Sequence[str] | None, least: int) -> list[str]:
    """Return those that are not empty, or the sample; raises TypeError or ValueError."""
    if isinstance(texts, (str, bytes)):
        raise TypeError(f"{where}: texts must be a sequence of str, got a single str")
    sentences = sample_texts() if texts is None else [text for text in texts if text.strip()]
    if len(sentences) < least:
        raise ValueError(
            f"{where}: texts must contain at least {least} that are not empty, got {len(sentences)}"
        )
    return sentences


def sequence_lengths(where: str, tokens: Sequence[int] | None, model: Model) -> list[int]:
    """Check lengths against the positions of a model; None takes those of TOKENS that fit."""
    require_tower(model.config, where)
    longest = model.config.max_length
    if tokens is None:
        return [length for length in TOKENS if length <= longest] or [longest]
    lengths = [require_integer(length, f"{where}: tokens", 1, longest) for length in tokens]
    if not lengths:
        raise ValueError(f"{where}: tokens must contain at least one length, got none")
    return lengths


def synthetic_ids(model: Model, tokens: int, batch: int) -> npt.NDArray[np.int64]:
    """Return (batch, tokens) random token ids, always the same ones."""
    return np.random.default_rng(0).integers(0, model.config.vocab_size, (batch, tokens))


def thread_counts(where: str, given: Iterable[int] | None, default: Iterable[int]) -> list[int]:
    """Check numbers of threads; None takes the default."""
    most, name = _fbg.MAX_THREADS, f"{where}: num_threads"
    counts = [require_integer(n, name, 1, most) for n in (default if given is None else given)]
    if not counts:
        raise ValueError(f"{name} must contain at least one count, got none")
    return counts


def feeds_of(net: Net, inputs: str | None) -> list[Feed]:
    """Return the runs of a .npz file, or some on random numbers where there is none."""
    return random_feeds(net, RANDOM_FEEDS) if inputs is None else read_feeds(inputs, net)


def random_feeds(net: Net, count: int, seed: int = 0) -> list[Feed]:
    """Return inputs for some runs: normally distributed floats; integers are 0, and bool is true.

    Raises ValueError for an input whose size is not known.
    """
    rng = np.random.default_rng(seed)
    inputs = net.inputs.items()
    return [{name: _values(name, kind, rng) for name, kind in inputs} for _ in range(count)]


def calibrated_net(path: str, net: Net, calibrate: str | None, options: Mapping[str, Any]) -> Net:
    """Load an ONNX file in int8, calibrated on the inputs of a .npz file or on random ones, which
    say nothing about accuracy.

    net: the same in floats. options: of `fbg.load`.
    """
    feeds = random_feeds(net, CALIBRATION_FEEDS, 1)
    if calibrate is not None:
        feeds = read_feeds(calibrate, net)
    quantized: Net = load(path, dtype="int8", calibrate=feeds, **options)
    return quantized


def _values(name: str, kind: TensorType, rng: np.random.Generator) -> Array:
    if kind.fixed is None:
        raise ValueError(f"the shape of input '{name}' is {kind}: pass --shape {name}=1,…")
    return random_array(kind, rng)


def read_feeds(path: str, net: Net) -> list[Feed]:
    """Return the inputs of some runs from a .npz file.

    It holds an array for each input, by name, with one more axis before those of the input: that of
    the runs. Raises ValueError naming the file and the error.
    """
    try:
        with open_regular(path) as file, np.load(file, allow_pickle=False) as stored:
            arrays: Mapping[str, Array] = {name: stored[name] for name in stored.files}
    except (*NOT_NPZ, ValueError, EOFError, AttributeError, TypeError):
        inputs = ", ".join(f"{name}=…" for name in net.inputs)
        written = f"as np.savez(FILE, {inputs}) writes it"
        raise ValueError(f"{path}: not a .npz file, {written}") from None
    missing = [name for name in net.inputs if name not in arrays]
    if missing:
        held = ", ".join(arrays) or "none"
        raise ValueError(f"{path}: has no array for input '{missing[0]}'; its arrays are {held}")
    counts = {name: len(arrays[name]) if arrays[name].ndim else 0 for name in net.inputs}
    count = min(counts.values())
    if count < 1 or count != max(counts.values()):
        raise ValueError(f"{path}: arrays must hold the same number of runs, got {counts}")
    for name, kind in net.inputs.items():
        shape = arrays[name].shape
        if not kind.takes(shape[1:]):
            raise ValueError(f"{path}: array '{name}': {runs_of(kind, name, shape)}")
        if arrays[name].dtype != kind.dtype:
            raise ValueError(
                f"{path}: array '{name}' must be {kind.dtype}, got {arrays[name].dtype}; "
                f"convert it with astype(np.{kind.dtype})"
            )
        for run, array in enumerate(arrays[name] if kind.dtype.kind == "f" else ()):
            if np.isnan(array).any():
                raise ValueError(f"{path}: array '{name}' has a NaN in run {run}, counted from 0")
    return [{name: arrays[name][i] for name in net.inputs} for i in range(count)]
