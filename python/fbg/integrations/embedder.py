"""Embedder: makes batches of embeddings from batches of texts, in processes of any framework."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any

from fbg.arrays import Floats, require_integer
from fbg.errors import needed
from fbg.locks import Lock
from fbg.model.load import load_encoder
from fbg.model.model import Model

if TYPE_CHECKING:
    import pyarrow

__all__ = ["Embedder"]


class Embedder:
    """Embeds a column of batches: used as it is by Ray Data, Daft, datasets and Spark.

    path, dtype: as for `fbg.load`. num_threads: for a call; 1, because such frameworks have a
    process for each CPU. column, output: the columns of the texts and of the embeddings.
    options: those of `Model.encode`.

    An Embedder can be pickled: only these arguments travel. The model is loaded at the first batch,
    or by `warm_up`, once in each process.

    The result by type of batch:

        pyarrow.Table        the table with a column of FixedSizeList<float32>
        mapping of columns   a dict with an array (rows, dimension) more
        sequence of str      a FixedSizeListArray

    >>> embed = Embedder("path/to/model", dtype="int8")  # doctest: +SKIP
    >>> ray.data.read_parquet("texts").map_batches(embed, batch_format="pyarrow")  # doctest: +SKIP
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        dtype: str | None = None,
        num_threads: int = 1,
        *,
        column: str = "text",
        output: str = "embedding",
        **options: Any,
    ) -> None:
        signature(Model.encode).bind_partial(**options)  # raises TypeError for others
        name = os.fspath(path)
        # Workers may run in other directories.
        self._path = os.path.abspath(name) if os.path.isdir(name) else name
        self._dtype = dtype
        self._num_threads = require_integer(num_threads, "Embedder: num_threads", 1, 1024)
        self._column = column
        self._output = output
        self._options = options
        self._model: Model | None = None
        self._lock = Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_model": None}

    @property
    def model(self) -> Model:
        """The model, which is loaded when it is first asked for."""
        with self._lock:
            if self._model is None:
                self._model = load_encoder(self._path, self._dtype, self._num_threads)
            return self._model

    def warm_up(self) -> Embedder:
        """Load the model and run it once; return the Embedder itself."""
        self.model.encode("ready", **self._options)
        return self

    def __call__(self, batch: Any) -> Any:
        """Return the batch with embeddings, or the embeddings of a sequence of texts.

        Raises KeyError for a batch without the column, TypeError for other values than str.
        """
        if isinstance(batch, Mapping):
            texts = batch[self._column]
            return {**batch, self._output: self._encode(texts)}
        if hasattr(batch, "column_names"):
            if self._column not in batch.column_names:
                raise KeyError(self._column)
            rows = fixed_size_lists(self._encode(batch.column(self._column)))
            return batch.append_column(self._output, rows)
        return fixed_size_lists(self._encode(batch))

    def _encode(self, texts: Sequence[str]) -> Floats:
        return self.model.encode(texts, **self._options)


def fixed_size_lists(rows: Floats) -> pyarrow.FixedSizeListArray:
    """Return the rows as an Arrow array, without copying them."""
    with needed("Arrow arrays"):
        import pyarrow

    flat = pyarrow.array(rows.reshape(-1), pyarrow.float32())
    return pyarrow.FixedSizeListArray.from_arrays(flat, rows.shape[1])
