"""Embedding bags of every dtype, made and called in every way, against their definition in NumPy.

The bits are compared, on any instruction set and number of threads: of one table, or of several in
one call. Some cases have one wrong argument, which must be refused before `out` is written to.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import fbg
from differential.layouts import Target, again, laid_out
from fbg.arrays import named_dtype
from fbg.quantization import RowwiseMatrix, quantize_rowwise
from fbg.tables.embedding_bag import MODES
from fbg.tables.rows import BITS, DTYPES, FLOATS, FUSED, INTEGERS
from helpers.embedding_bags import (
    F32,
    FLOAT8,
    Array,
    Values,
    look_up,
    quantized,
    quantized_to_float8,
    values_of,
)
from helpers.random_cases import Different, Kind

ISAS = fbg.isa.supported()
INDEX_DTYPES = (np.int32, np.int64)
SPECIALS = (np.nan, np.inf, -np.inf, -0.0, 3e38, 1e-41)
WRONG = ("index", "offset", "lengths", "weights")


@dataclass(frozen=True)
class Table:
    """A table, what its rows hold by definition, and the rows that indices name if it is pruned."""

    bag: fbg.EmbeddingBag
    held: Array | Values
    remap: Array | None
    text: str

    def look_up(self, bags, factors):
        """Return the result by definition."""
        mode, padding = self.bag.mode, self.bag.padding_idx
        if self.remap is None:
            return look_up(self.held, bags, mode, factors, padding)
        kept = [[i for i, r in enumerate(bag) if r != padding] for bag in bags]
        held = [
            [i for i in some if self.remap[bag[i]] >= 0]
            for some, bag in zip(kept, bags, strict=True)
        ]
        rows = [
            [int(self.remap[bag[i]]) for i in some] for some, bag in zip(held, bags, strict=True)
        ]
        weights = None
        if factors is not None:
            weights = [[w[i] for i in some] for some, w in zip(held, factors, strict=True)]
        if mode != "mean":
            return look_up(self.held, rows, mode, weights)
        counts = np.maximum([len(some) for some in kept], 1).astype(F32)
        return look_up(self.held, rows, "sum", weights) / counts.reshape(-1, 1)


@dataclass
class Call:
    """The arguments of one table in a call, and the bags that they mean."""

    indices: Array
    offsets: Array | None
    lengths: Array | None
    weights: Array | None
    bags: list[list[int]]
    factors: list[list[float]] | None


def _floats(random, rng, shape):
    x = rng.standard_normal(shape) * 2.0 ** random.randint(-9, 9)
    kind = random.randrange(6)
    if kind == 0:
        x = np.rint(x)
    elif kind == 1:  # large numbers that cancel out mostly
        x = np.where(rng.random(shape) < 0.3, np.copysign(64.0, x), x)
    elif kind == 2:
        x[...] = random.choice((0.0, 1.0, -2.0))
    return x.astype(F32)


def _fused(rng, rows, columns, dtype, half):
    """Rows of any values, also in bits that belong to none, with finite scales and biases."""
    scale = np.float16 if half else F32
    ends = rng.standard_normal((rows, 1 if dtype == FLOAT8 else 2)).astype(scale)
    values = rng.integers(0, 256, (rows, -(-columns * BITS[dtype] // 8)), np.uint8)
    return np.concatenate([values, ends.view(np.uint8)], axis=1)


def _draw_table(random, rng, out_dtype):
    rows = random.choice((1, 2, 9, random.randint(0, 40)))
    columns = random.choice((random.randint(1, 40), random.randint(1, 150), 1100))
    remap = None
    if random.random() < 0.2:
        remap = rng.integers(-1, rows, random.randint(0, 60)).astype(random.choice(INDEX_DTYPES))
    named = rows if remap is None else len(remap)
    padding = random.randint(-named, named - 1) if named and random.random() < 0.3 else None
    options = {
        "mode": random.choice(MODES),
        "padding_idx": padding,
        "include_last_offset": random.random() < 0.4,
        "prefetch": random.choice((0, 1, 16, 32768)),
        "remap": remap,
        "out_dtype": out_dtype,
    }
    held: Array | Values
    way = random.randrange(5)
    if way == 0:
        dtype, half = random.choice(FUSED), random.random() < 0.5
        fused = _fused(rng, rows, columns, dtype, half)
        options["scale_dtype"] = "float16" if half else "float32"
        given = laid_out(random, fused)
        bag = fbg.EmbeddingBag.from_fused(given, columns, dtype, **options)
        held = values_of(fused, columns, dtype)
        text = f"from_fused {dtype}"
    elif way == 1:
        dtype, half = random.choice(INTEGERS), random.random() < 0.5
        scale = np.dtype(np.float16 if half else F32)
        if random.random() < 0.5:
            fused = _fused(rng, rows, columns, dtype, half)
            matrix = RowwiseMatrix.from_fused(laid_out(random, fused), columns, BITS[dtype], scale)
        else:
            x = _floats(random, rng, (rows, columns))
            method = random.choice(("covering", "fbgemm"))
            matrix = quantize_rowwise(laid_out(random, x), BITS[dtype], scale, method)
        bag = fbg.EmbeddingBag(again(random, matrix), **options)
        held = (matrix.unpack().astype(F32), matrix.scale.astype(F32), matrix.bias.astype(F32))
        text = f"RowwiseMatrix of {dtype}"
    else:
        dtype = random.choice(DTYPES)
        x = _floats(random, rng, (rows, columns))
        own = random.choice(FLOATS)
        table = x.astype(named_dtype(own))
        if dtype in FLOATS and random.random() < 0.1:
            dtype = own
            table = np.where(rng.random(x.shape) < 0.1, rng.choice(SPECIALS, x.shape), table)
            table = table.astype(named_dtype(own))
        given = laid_out(random, table)
        given = given if given.flags.aligned else given.copy()  # it would be refused
        bag = fbg.EmbeddingBag(given, dtype, **options)
        held = _held(table.astype(F32), dtype)
        text = f"{own} as {dtype}"
    return Table(_again(random, bag), held, remap, f"{text} {rows}x{columns} {options}")


def _again(random, bag):
    """Return the same table, copied, unpickled or mapped from a file that it was saved to."""
    if random.random() < 0.8:
        return again(random, bag)
    with tempfile.TemporaryDirectory() as folder:
        bag.save(Path(folder) / "table.safetensors")
        return fbg.EmbeddingBag.load(
            Path(folder) / "table.safetensors", verify=random.random() < 0.5
        )


def _held(x, dtype):
    if dtype in FLOATS:
        return x.astype(named_dtype(dtype)).astype(F32)
    if not len(x):
        return np.empty(x.shape, F32)
    if dtype == FLOAT8:
        return values_of(quantized_to_float8(x, F32), x.shape[1], dtype)
    fused = quantized(x, dtype, F32 if dtype == "int8" else np.float16)
    return values_of(fused, x.shape[1], dtype)


def _draw_call(random, table, count):
    """Draw the arguments for so many bags of a table."""
    rows, most = table.bag.shape[0], random.choice((1, 4, 4, 60))
    dtype, of_ends = random.choice(INDEX_DTYPES), random.choice(INDEX_DTYPES)
    square, longest = random.random() < 0.25, random.randint(0, most) if rows else 0
    lengths = [longest if square or not rows else random.randint(0, most) for _ in range(count)]
    if not rows:
        lengths = [0] * count
    bags = [[random.randrange(rows) for _ in range(length)] for length in lengths]
    flat = np.array([i for bag in bags for i in bag], dtype)
    factors, weights = None, None
    if table.bag.mode != "max" and random.random() < 0.4:
        factors = [[random.choice((0.0, 1.0, random.gauss(0, 2))) for _ in bag] for bag in bags]
        weights = np.array([w for bag in factors for w in bag], F32)
    call = Call(flat, None, None, weights, bags, factors)
    ends = np.cumsum([0, *lengths]).astype(of_ends)
    if square:
        call.indices = flat.reshape(count, longest)
        call.weights = None if weights is None else weights.reshape(call.indices.shape)
    elif random.random() < 0.4 or (count == 0 and not table.bag.include_last_offset):
        call.lengths = np.array(lengths, of_ends)
    else:
        call.offsets = ends if table.bag.include_last_offset else ends[:-1]
    return call


def _spoil(random, table, call):
    """Make one argument wrong; return the text that the error must have, or None."""
    rows, count = table.bag.shape[0], call.indices.size
    what = random.choice(WRONG)
    if what == "index" and count:
        at, wrong = random.randrange(count), random.choice((-1, rows, 2**31 - 1, -(2**31)))
        call.indices.reshape(-1)[at] = wrong
        place = np.unravel_index(at, call.indices.shape)
        where = at if call.indices.ndim == 1 else tuple(int(i) for i in place)
        return f"must be within [0, {rows}), got {wrong} at {where}"
    if what == "offset" and call.offsets is not None and call.offsets.size:
        at = random.randrange(call.offsets.size)
        call.offsets[at] = random.choice((-1, count + 1))
        return "must begin with 0" if at == 0 else "offsets"
    if what == "lengths" and call.lengths is not None and call.lengths.size:
        at = random.randrange(call.lengths.size)
        call.lengths[at] += random.choice((-1, 1))
        return "lengths"
    if what == "weights" and count:
        call.weights = np.ones(count + 1, F32)
        return "per_sample_weights"
    return None


def run(random):
    """Run one case."""
    rng = np.random.default_rng(random.getrandbits(64))
    out_dtype = random.choice(("float32", *FLOATS))
    kind = named_dtype(out_dtype)
    count = random.choice((1, 1, 1, 2, 3))
    tables = [_draw_table(random, rng, out_dtype) for _ in range(count)]
    count = random.choice((0, 1, 2, random.randint(0, 20)))
    calls = [_draw_call(random, table, count) for table in tables]
    wrong = None
    if random.random() < 0.2:
        which = random.randrange(len(tables))
        wrong = _spoil(random, tables[which], calls[which])
    isa, threads = random.choice(ISAS), random.choice((1, 1, 2, 3))
    columns = sum(table.bag.shape[1] for table in tables)
    target = Target(random, (count, columns), kind) if random.random() < 0.5 else None
    out = None if target is None else target.array
    text = f"{isa}, {threads} threads, {count} bags, {[table.text for table in tables]}"
    arrays = [
        [laid_out(random, a) if a is not None and random.random() < 0.5 else a for a in given]
        for given in ([c.indices, c.offsets, c.weights, c.lengths] for c in calls)
    ]
    with fbg.isa.limit(isa):
        try:
            if len(tables) == 1 and random.random() < 0.8:
                indices, offsets, weights, lengths = arrays[0]
                bag = tables[0].bag
                y = bag(indices, offsets, weights, out, threads, lengths=lengths)
            else:
                several = again(random, fbg.EmbeddingTables([table.bag for table in tables]))
                indices, offsets, weights, lengths = (
                    list(one) for one in zip(*arrays, strict=True)
                )
                y = several(indices, offsets, weights, out, threads, lengths=lengths)
        except ValueError as error:
            if wrong is None or wrong not in str(error):
                raise Different(f"refused: {error}; {text}") from error
            if out is not None and (out.view(np.uint8) != Target.FILL).any():
                raise Different(f"out was written to before an error; {text}") from error
            return "refused"
    if wrong is not None:
        raise Different(f"not refused: {wrong}; {text}")
    if target is not None and (fault := target.fault(y)) is not None:
        raise Different(f"{fault}; {text}")
    parts = [
        table.look_up(call.bags, call.factors) for table, call in zip(tables, calls, strict=True)
    ]
    if not _same(np.array(y), np.concatenate(parts, axis=1).astype(kind)):
        raise Different(f"other bits; {text}")
    return isa


def _same(y, wanted):
    """Whether the bits are the same; any NaN is as good as another."""
    if y.shape != wanted.shape or y.dtype != wanted.dtype:
        return False
    size = np.uint32 if y.dtype == F32 else np.uint16
    bits = [np.where(np.isnan(x), y.dtype.type(np.nan), x).view(size) for x in (y, wanted)]
    return bool(np.array_equal(*bits))


KIND = Kind("differential.embedding_bags", run, cases=1000, seconds=30)
