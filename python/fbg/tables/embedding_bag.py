"""One embedding table, and sums, means or maxima of its rows."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.arrays import (
    Array,
    empty_lines,
    is_bfloat16,
    named_dtype,
    require_choice,
    require_dtype_name,
    require_flag,
    require_integer,
)
from fbg.errors import ModelError
from fbg.files import path_text
from fbg.quantization.rowwise import MOST_COLUMNS
from fbg.tables.arguments import (
    BagArguments,
    check_bags,
    check_out,
    divide,
    refuse,
    sums_for,
    threads,
)
from fbg.tables.pruning import check_mapping, remapped
from fbg.tables.rows import DTYPES, FLOATS, FUSED, Rows, fused_rows, make_rows, scale_of

MODES = ("sum", "mean", "max")
Mode = Literal["sum", "mean", "max"]


class EmbeddingBag:
    """Look rows of a table up and add them, bag by bag, as ``torch.nn.EmbeddingBag`` does.

    Args:
        table: float32, float16 or bfloat16 (rows, columns), or a ``RowwiseMatrix``. Floats in their
            own dtype are read where they are: keep the array as it is. Others are converted.
        dtype: of the rows: "float32", "float16", "bfloat16", "float8_e4m3fn", "int8", "int4" or
            "int2"; None: that of the table. Integers have the bits of PyTorch's quantized bags.
            Floats of 8 bits have a scale for each row: max |x| / 448, or 1 where that is 0; they
            are x / scale, rounded half to even.
        mode: "sum", "mean" or "max" of the rows of a bag.
        padding_idx: a row that is left out, also of the number by which a mean divides.
        include_last_offset: whether offsets end with the end of the last bag.
        prefetch: how many rows ahead are fetched into the cache; 0: none. Changes no result.
        scale_dtype: of the scales (and biases) of rows that are quantized: "float32" or "float16";
            None: as PyTorch has it, float16 for int4 and int2, float32 for 8 bits.
        remap: of a pruned table, int32 or int64 with the row of each index, -1 for one that was
            pruned, as FBGEMM's compressed_indices_mapping; it is read where it is. A pruned row
            adds nothing, and a mean counts it. `padding_idx` is an index, not a row.
        out_dtype: of results: "float32", "float16" or "bfloat16". They are computed in float32, and
            rounded once at the end, half to even.

    Raises TypeError for other dtypes, ValueError for shapes and values: a table without columns,
    rows to quantize that are not finite or too large for the scale, a mapping to other rows.

    >>> table = np.array([[0, 1, 2], [10, 11, 12], [20, 21, 22]], np.float32)
    >>> bag = EmbeddingBag(table, mode="sum")
    >>> bag(np.array([0, 2, 1, 1]), offsets=np.array([0, 2, 2]))
    array([[20., 22., 24.],
           [ 0.,  0.,  0.],
           [20., 22., 24.]], dtype=float32)
    """

    def __init__(
        self,
        table: object,
        dtype: str | None = None,
        mode: Mode = "sum",
        *,
        padding_idx: int | None = None,
        include_last_offset: bool = False,
        prefetch: int = 16,
        scale_dtype: Any = None,
        remap: object = None,
        out_dtype: Any = "float32",
    ) -> None:
        if dtype is not None:
            require_choice(dtype, "EmbeddingBag: dtype", *DTYPES)
        rows = make_rows(table, dtype, scale_dtype, "EmbeddingBag")
        self._set(rows, mode, padding_idx, include_last_offset, prefetch, remap, out_dtype)

    def _set(
        self,
        rows: Rows,
        mode: Mode,
        padding_idx: int | None,
        ends: bool,
        prefetch: int,
        remap: object,
        out_dtype: Any,
    ) -> None:
        require_choice(mode, "EmbeddingBag: mode", *MODES)
        self._remap: Array | None = None
        if remap is not None:
            self._remap = check_mapping(remap, len(rows.data), "EmbeddingBag: remap")
        count = len(rows.data if self._remap is None else self._remap)
        padding = -1
        if padding_idx is not None:
            padding = require_integer(padding_idx, "EmbeddingBag: padding_idx", -count, count - 1)
            padding += count if padding < 0 else 0
        self._rows = rows
        self._mode: Mode = mode
        self._padding = padding
        self._ends = require_flag(ends, "EmbeddingBag: include_last_offset")
        self._prefetch = require_integer(prefetch, "EmbeddingBag: prefetch", 0, 1 << 15)
        self._out_dtype = require_dtype_name(out_dtype, "EmbeddingBag: out_dtype", *FLOATS)

    @staticmethod
    def from_fused(
        fused: object,
        columns: int,
        dtype: str = "int8",
        mode: Mode = "sum",
        *,
        scale_dtype: Any = None,
        padding_idx: int | None = None,
        include_last_offset: bool = False,
        prefetch: int = 16,
        remap: object = None,
        verify: bool = True,
        out_dtype: Any = "float32",
    ) -> EmbeddingBag:
        """Return the table that fused rows hold, as FBGEMM, PyTorch or ``fused`` wrote them.

        Args:
            fused: uint8 (rows, bytes of a row), read where it is: it may be mapped from a file
                that is larger than memory, such as ``np.load("rows.npy", mmap_mode="r")``.
            columns: how many values a row has.
            dtype: "int8", "int4" or "int2"; or "float8_e4m3fn", whose rows have no bias.
            scale_dtype: of scales and biases, "float32" or "float16"; None: as PyTorch has it.
            mode, padding_idx, include_last_offset, prefetch, remap, out_dtype: as of the
                class.
            verify: whether to look at all scales and biases, which reads the whole table. Without
                it, sums with one that is not finite are NaN or infinite, and nothing else happens.

        Raises TypeError for other dtypes, ValueError for a shape that does not go with them or a
        scale or bias that is not finite.

        >>> row = np.array([[0x21, 0x03, 0x00, 0x38, 0x00, 0xBC]], np.uint8)  # 1 2 3, 0.5, -1
        >>> EmbeddingBag.from_fused(row, 3, "int4")(np.array([[0, 0]]))
        array([[-1.,  0.,  1.]], dtype=float32)
        """
        name = "EmbeddingBag.from_fused"
        require_choice(dtype, f"{name}: dtype", *FUSED)
        number = require_integer(columns, f"{name}: columns", 1, MOST_COLUMNS)
        scales = scale_of(dtype, scale_dtype, name)
        bag = EmbeddingBag.__new__(EmbeddingBag)
        verified = require_flag(verify, f"{name}: verify")
        rows = fused_rows(fused, number, dtype, scales, verified, name)
        bag._set(rows, mode, padding_idx, include_last_offset, prefetch, remap, out_dtype)
        return bag

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the table and its settings to a file that `load` maps.

        overwrite: replace a file of that name, which may be in use.

        The file is written completely or not at all. It is a safetensors file
        (python/fbg/tables/saved_table.py). Raises TypeError if `path` is not a path,
        FileExistsError if there is a file that may not be replaced, and OSError if it cannot be
        written.

        >>> import tempfile
        >>> bag = EmbeddingBag(np.eye(3, dtype=np.float32), "int8", mode="mean")
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     bag.save(f"{directory}/t.safetensors")
        ...     EmbeddingBag.load(f"{directory}/t.safetensors")
        EmbeddingBag(3, 3, dtype='int8', mode='mean')
        """
        from fbg.tables.saved_table import write_table

        rows, file = self._rows, Path(path_text(path, "EmbeddingBag.save"))
        options = {
            "columns": rows.columns,
            "dtype": rows.dtype,
            "scale_dtype": "float16" if rows.half else "float32",
            "mode": self._mode,
            "padding_idx": self.padding_idx,
            "include_last_offset": self._ends,
            "prefetch": self._prefetch,
            "out_dtype": self._out_dtype,
        }
        kept = require_flag(overwrite, "EmbeddingBag.save: overwrite")
        write_table(file, rows.data, self._remap, options, kept)

    @staticmethod
    def load(
        path: str | os.PathLike[str],
        tensor: str | None = None,
        *,
        verify: bool = True,
        **options: Any,
    ) -> EmbeddingBag:
        """Map a table, whose rows are read from the file as they are looked up.

        Args:
            path: a file that `save` wrote, or any safetensors file. While it is mapped, it may be
                replaced or removed, but not truncated.
            tensor: the name of a tensor in a file that `save` did not write: float32, float16,
                bfloat16, or uint8 with fused rows.
            verify: whether to compare the checksum, and to look at all scales and biases, which
                reads the whole file: False for a table that is larger than memory. No memory
                outside of the file is ever read.
            options: for a tensor, as of the class, or as of `from_fused`, which needs `columns`.

        Raises ``fbg.ModelError`` (a ValueError) that names a file that is missing, damaged or of
        another kind; TypeError and ValueError for options, as the class does.

        >>> EmbeddingBag.load("dlrm.safetensors", "emb_l.0.weight")  # doctest: +SKIP
        EmbeddingBag(39884406, 128, dtype='float32', mode='sum')
        """
        from fbg.tables.saved_table import read_table, read_tensor

        name, file = "EmbeddingBag.load", Path(path_text(path, "EmbeddingBag.load"))
        verified = require_flag(verify, f"{name}: verify")
        if tensor is not None:
            table = read_tensor(file, tensor)
            if table.dtype == np.uint8:
                return EmbeddingBag.from_fused(table, verify=verified, **options)
            return EmbeddingBag(table, **options)
        if options:
            raise TypeError(f"{name}: options go with a tensor, got {min(options)}")
        table, saved = read_table(file, verified)
        try:
            if table.dtype == np.uint8:
                return EmbeddingBag.from_fused(table, verify=verified, **saved)
            return EmbeddingBag(table, **saved)
        except (TypeError, ValueError) as error:
            raise ModelError(f"{file}: damaged: {error}") from None

    @staticmethod
    def from_torch(
        module: Any, dtype: str | None = None, *, out_dtype: Any = "float32"
    ) -> EmbeddingBag:
        """Return the table of a ``torch.nn.EmbeddingBag`` or ``Embedding``, or of a quantized one.

        Args:
            module: an ``nn.EmbeddingBag`` or ``nn.Embedding``, or one of
                ``torch.ao.nn.quantized``. Rows of an ``Embedding`` are bags of one index.
            dtype, out_dtype: as of the class; dtype None: as the module has it.

        Raises TypeError for any other module, ValueError for one with ``max_norm``, or that is
        pruned.
        """
        from fbg.tables.torch_modules import read_module

        table, options = read_module(module, "EmbeddingBag.from_torch")
        return EmbeddingBag(table, dtype, out_dtype=out_dtype, **options)

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns); the rows of a pruned table are those that indices may name."""
        named = self._rows.data if self._remap is None else self._remap
        return len(named), self._rows.columns

    @property
    def dtype(self) -> str:
        """Of the rows, such as "int8"."""
        return self._rows.dtype

    @property
    def out_dtype(self) -> str:
        """Of results, such as "float32"."""
        return self._out_dtype

    @property
    def mode(self) -> Mode:
        """What is computed of the rows of a bag."""
        return self._mode

    @property
    def padding_idx(self) -> int | None:
        """The row that is left out."""
        return None if self._padding < 0 else self._padding

    @property
    def include_last_offset(self) -> bool:
        """Whether offsets end with the end of the last bag."""
        return self._ends

    @property
    def nbytes(self) -> int:
        """Bytes of all rows that are held."""
        return self._rows.data.nbytes

    def fused(self) -> npt.NDArray[np.uint8]:
        """Return uint8 (rows, bytes of a row), not to be written to: the rows as memory has them.

        `from_fused` reads those that have scales.
        """
        view = self._rows.data.view()
        view.flags.writeable = False
        return view

    def __call__(
        self,
        indices: object,
        offsets: object = None,
        per_sample_weights: object = None,
        out: Array | None = None,
        num_threads: int | None = None,
        *,
        lengths: object = None,
    ) -> Array:
        """Return `out_dtype` (bags, columns): the sum, mean or maximum of the rows of each bag.

        Args:
            indices: int32 or int64 (n,), or (bags, length), which needs no offsets.
            offsets: int32 or int64 (bags,): where each bag begins; (bags + 1,) with
                ``include_last_offset``. An empty bag is 0.
            per_sample_weights: float32, of the shape of the indices: a factor for each row of a sum
                or a mean.
            out: `out_dtype` (bags, columns) for the result; rows must be contiguous.
            num_threads: as in ``gemm``.
            lengths: int32 or int64 (bags,), in place of offsets: how many indices each bag has.

        The rows of a bag are added in their order, each step rounded to float32, so that the result
        depends on neither the instruction set nor the number of threads.

        Raises TypeError for other dtypes, ValueError for shapes, for indices outside of the table
        and for offsets that do not begin with 0, fall, or exceed the number of indices, or lengths
        that do not add up to it. `out` is not changed then.

        >>> bag = EmbeddingBag(np.eye(3, dtype=np.float32), dtype="float16", mode="mean")
        >>> weights = np.array([[1, 3], [1, 1]], np.float32)
        >>> bag(np.array([[0, 1], [2, 2]]), per_sample_weights=weights)
        array([[0.5, 1.5, 0. ],
               [0. , 0. , 1. ]], dtype=float32)
        """
        name = "EmbeddingBag"
        part = self._checked(name, indices, offsets, per_sample_weights, lengths)
        shape = (part.bags, self._rows.columns)
        given = out is not None
        if out is None:
            result = empty_lines(shape, named_dtype(self._out_dtype))
        else:
            inputs = (self._rows.data, self._remap, part.indices, part.offsets, part.weights)
            result = check_out(out, self._out_dtype, shape, name, *inputs)
        sums = sums_for(result, part)
        bad = _fbg.look_up([self._part(part, sums)], given, threads(num_threads, name))
        if bad is not None:
            refuse(bad, part, self.shape[0], f"{name}: {bad[1]}")
        divide(sums, part, result)
        return result

    def _checked(self, name: str, *given: object, at: str = "") -> BagArguments:
        """Return the arguments of a call for the rows that are held."""
        part = check_bags(name, *given, mode=self._mode, ends=self._ends, at=at)
        if self._remap is None:
            return part
        counts = self._mode == "mean"
        return remapped(part, self._remap, self._padding, self._ends, counts, name, at)

    def _part(self, given: BagArguments, out: Array) -> tuple[Any, ...]:
        """Return what the native look-up is told of this table."""
        rows, b = self._rows, given
        mode = "sum" if b.counts is not None else self._mode
        padding = self._padding if self._remap is None else -1
        out = out.view(np.uint16) if is_bfloat16(out) else out
        return (
            *(rows.data, DTYPES.index(rows.dtype), rows.half, rows.columns),
            *(MODES.index(mode), padding, self._prefetch),
            *(b.indices, b.offsets, b.weights, out, self._ends),
        )

    def __repr__(self) -> str:
        rows, columns = self.shape
        out = "" if self._out_dtype == "float32" else f", out_dtype={self._out_dtype!r}"
        return f"EmbeddingBag({rows}, {columns}, dtype={self.dtype!r}, mode={self._mode!r}{out})"

    def __getstate__(self) -> tuple[Any, ...]:
        options = (self._mode, self._padding, self._ends, self._prefetch)
        return self._rows, *options, self._remap, self._out_dtype

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        rows, mode, padding, *others = state
        self._set(rows, mode, None if padding < 0 else padding, *others)
