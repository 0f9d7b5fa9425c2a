"""One embedding table, and sums, means or maxima of its rows."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.arrays import Floats, require_choice, require_flag, require_integer
from fbg.errors import named_arguments
from fbg.quantization.rowwise import MOST_COLUMNS
from fbg.tables.arguments import BagArguments, check_bags, check_out, refuse, threads
from fbg.tables.rows import DTYPES, FUSED, Rows, fused_rows, make_rows, scale_of

MODES = ("sum", "mean", "max")
Mode = Literal["sum", "mean", "max"]


@named_arguments
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

    Raises TypeError for other dtypes, ValueError for shapes and values: a table without columns,
    and rows to quantize that are not finite or too large for the scale.

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
    ) -> None:
        if dtype is not None:
            require_choice(dtype, "EmbeddingBag: dtype", *DTYPES)
        rows = make_rows(table, dtype, scale_dtype, "EmbeddingBag")
        self._set(rows, mode, padding_idx, include_last_offset, prefetch)

    def _set(
        self, rows: Rows, mode: Mode, padding_idx: int | None, ends: bool, prefetch: int
    ) -> None:
        require_choice(mode, "EmbeddingBag: mode", *MODES)
        count = len(rows.data)
        padding = -1
        if padding_idx is not None:
            padding = require_integer(padding_idx, "EmbeddingBag: padding_idx", -count, count - 1)
            padding += count if padding < 0 else 0
        self._rows = rows
        self._mode: Mode = mode
        self._padding = padding
        self._ends = require_flag(ends, "EmbeddingBag: include_last_offset")
        self._prefetch = require_integer(prefetch, "EmbeddingBag: prefetch", 0, 1 << 15)

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
    ) -> EmbeddingBag:
        """Return the table that fused rows hold, as FBGEMM, PyTorch or ``fused`` wrote them.

        Args:
            fused: uint8 (rows, bytes of a row), read where it is: it may be mapped from a file
                that is larger than memory, such as ``np.load("rows.npy", mmap_mode="r")``.
            columns: how many values a row has.
            dtype: "int8", "int4" or "int2"; or "float8_e4m3fn", whose rows have no bias.
            scale_dtype: of scales and biases, "float32" or "float16"; None: as PyTorch has it.
            mode, padding_idx, include_last_offset, prefetch: as of the class.

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
        rows = fused_rows(fused, number, dtype, scales, name)
        bag._set(rows, mode, padding_idx, include_last_offset, prefetch)
        return bag

    @staticmethod
    def from_torch(module: Any, dtype: str | None = None) -> EmbeddingBag:
        """Return the table of a ``torch.nn.EmbeddingBag``, or of a quantized one.

        Args:
            module: an ``nn.EmbeddingBag`` or a ``torch.ao.nn.quantized.EmbeddingBag``.
            dtype: as of the class; None: as the module has it.

        Raises TypeError for any other module, ValueError for one with ``max_norm``, or that is
        pruned.
        """
        from fbg.tables.torch_modules import read_module

        table, options = read_module(module, "EmbeddingBag.from_torch")
        return EmbeddingBag(table, dtype, **options)

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return len(self._rows.data), self._rows.columns

    @property
    def dtype(self) -> str:
        """Of the rows, such as "int8"."""
        return self._rows.dtype

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
        """Bytes of all rows."""
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
        out: Floats | None = None,
        num_threads: int | None = None,
        *,
        lengths: object = None,
    ) -> Floats:
        """Return float32 (bags, columns): the sum, mean or maximum of the rows of each bag.

        Args:
            indices: int32 or int64 (n,), or (bags, length), which needs no offsets.
            offsets: int32 or int64 (bags,): where each bag begins; (bags + 1,) with
                ``include_last_offset``. An empty bag is 0.
            per_sample_weights: float32, of the shape of the indices: a factor for each row of a sum
                or a mean.
            out: float32 (bags, columns) for the result; rows must be contiguous.
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
        part = check_bags(
            name, indices, offsets, per_sample_weights, lengths, mode=self._mode, ends=self._ends
        )
        shape = (part.bags, self._rows.columns)
        given = out is not None
        if out is None:
            result = np.empty(shape, np.float32)
        else:
            inputs = (self._rows.data, part.indices, part.offsets, part.weights)
            result = check_out(out, shape, name, *inputs)
        bad = _fbg.look_up([self._part(part, result)], given, threads(num_threads, name))
        if bad is not None:
            refuse(bad, part, self.shape[0], f"{name}: {bad[1]}")
        return result

    def _part(self, given: BagArguments, out: Floats) -> tuple[Any, ...]:
        """Return what the native look-up is told of this table."""
        rows, b = self._rows, given
        return (
            *(rows.data, DTYPES.index(rows.dtype), rows.half, rows.columns),
            *(MODES.index(self._mode), self._padding, self._prefetch),
            *(b.indices, b.offsets, b.weights, out, self._ends),
        )

    def __repr__(self) -> str:
        rows, columns = self.shape
        return f"EmbeddingBag({rows}, {columns}, dtype={self.dtype!r}, mode={self._mode!r})"

    def __getstate__(self) -> tuple[Any, ...]:
        return self._rows, self._mode, self._padding, self._ends, self._prefetch

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        rows, mode, padding, ends, prefetch = state
        self._set(rows, mode, None if padding < 0 else padding, ends, prefetch)
