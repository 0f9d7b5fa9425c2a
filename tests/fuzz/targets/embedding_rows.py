"""Fused rows of embedding tables that are mapped from a .npy file, and what is looked up in them.

A case is settings, indices, offsets or lengths, and the file. What NumPy does not read is refused.
What is accepted must have the bits of the portable kernel.
"""

from __future__ import annotations

import io
import struct

import numpy as np

import fbg
from fbg.quantization import RowwiseMatrix
from fbg.tables.embedding_bag import MODES
from fbg.tables.rows import BITS, FUSED, INTEGERS, scale_of
from fuzz.files import file_in
from fuzz.mutations import change_bytes
from fuzz.target import target
from helpers.random_cases import Different

SETTINGS = struct.Struct("<BBBbBBBBHH")  # as _run reads them
WIDE, ENDS, PADS, LENGTHS = 1, 2, 4, 8


def _seeds():
    rng, seeds = np.random.default_rng(0), []
    for number, dtype in enumerate(FUSED):
        for flags in range(16):
            columns = (1, 5, 16, 70)[flags % 4]
            table = rng.standard_normal((6, columns)).astype(np.float32)
            rows = fbg.EmbeddingBag(table, dtype).fused()
            file = io.BytesIO()
            np.save(file, np.asfortranarray(rows) if flags == 3 else rows)
            index = np.int64 if flags & WIDE else np.int32
            indices = rng.integers(0, 6, 9).astype(index)
            begins = [4, 0, 5] if flags & LENGTHS else [0, 4, 4, 9] if flags & ENDS else [0, 4, 4]
            mode, ahead = rng.integers(0, 3), rng.integers(0, 20)
            counts = (indices.nbytes, len(begins) * indices.itemsize)
            settings = SETTINGS.pack(number, mode, flags, 3, ahead, 0, 1, 0, columns, 0)
            arrays = indices.tobytes() + np.array(begins, index).tobytes()
            seeds.append(settings + bytes(counts) + arrays + file.getvalue())
    return seeds


def _mutate(data, rng):
    """Change settings, arrays or the file alone as often as anything."""
    file = data.find(b"\x93NUMPY")
    cut = rng.choice((0, SETTINGS.size, SETTINGS.size + 2, max(file, 0), max(file, 0) + 128))
    if rng.random() < 0.5:
        return data[:cut] + change_bytes(data[cut:], rng)
    return change_bytes(data[:cut], rng) + data[cut:]


def _run(data):
    if len(data) < SETTINGS.size + 2:
        raise ValueError("too short")
    number, mode, flags, padding, ahead, scale, threads, _, columns, _ = SETTINGS.unpack_from(data)
    dtype = FUSED[number % len(FUSED)]
    scale_dtype = (None, "float32", "float16")[scale % 3]
    parts, at = [], SETTINGS.size + 2
    for count in data[SETTINGS.size : at]:
        index = np.dtype(np.int64 if flags & WIDE else np.int32)
        part = data[at : at + count]
        parts.append(np.frombuffer(part[: len(part) // index.itemsize * index.itemsize], index))
        at += count
    path = file_in("embedding_rows", "rows.npy")
    path.write_bytes(data[at:])
    try:
        rows = np.load(path, mmap_mode="r")
    except Exception as error:  # it has many types of them
        raise ValueError("no array") from error
    bag = fbg.EmbeddingBag.from_fused(
        rows,
        columns,
        dtype,
        MODES[mode % 3],
        scale_dtype=scale_dtype,
        padding_idx=padding if flags & PADS else None,
        include_last_offset=bool(flags & ENDS),
        prefetch=ahead,
    )
    if dtype in INTEGERS:
        bits, of_scale = BITS[dtype], np.dtype(scale_of(dtype, scale_dtype, "fuzz"))
        RowwiseMatrix.from_fused(rows, columns, bits, of_scale).dequantize()
    offsets, lengths = (None, parts[1]) if flags & LENGTHS else (parts[1], None)
    y = bag(parts[0], offsets, num_threads=threads % 4 + 1, lengths=lengths)
    with fbg.isa.limit("generic"):
        wanted = bag(parts[0], offsets, lengths=lengths)
    same = (y.view(np.uint32) == wanted.view(np.uint32)) | (np.isnan(y) & np.isnan(wanted))
    if not same.all():
        raise Different("other bits than the portable kernel")


KIND = target("embedding_rows", _seeds, _mutate, _run, (ValueError, TypeError))
