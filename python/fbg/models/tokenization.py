"""tokenizer.json: text to token ids, cut to what the model can take."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fbg.errors import ModelError
from fbg.models.files import require_file

__all__ = ["TextTokenizer"]


def _not_unicode(texts: Sequence[str]) -> Exception:
    """Explain a text that the tokenizer refused: Python's str may hold lone surrogates."""
    for n, text in enumerate(texts):
        try:
            text.encode()
        except UnicodeEncodeError as error:
            return ValueError(f"encode: sentences[{n}] is not valid Unicode: {error}")
    return ValueError("encode: the tokenizer refused the sentences")


class TextTokenizer:
    """The tokenizer of a model directory, without padding and truncating at `max_length` tokens."""

    def __init__(self, path: Path, max_length: int, lowercase: bool = False) -> None:
        from tokenizers import Tokenizer  # here, so that the kernels import with NumPy alone

        require_file(path)
        self.max_length = max_length
        self._lowercase = lowercase
        try:
            self._tokenizer = Tokenizer.from_file(str(path))
            self._tokenizer.no_padding()
            self._tokenizer.enable_truncation(max_length)
        except Exception as error:  # the library raises plain Exception
            raise ModelError(f"{path}: not a readable tokenizer: {error}") from None

    def __call__(self, texts: Sequence[str]) -> list[npt.NDArray[np.int32]]:
        """Return the token ids of each text, special tokens included."""
        if self._lowercase:
            texts = [text.lower() for text in texts]
        try:
            encodings = self._tokenizer.encode_batch_fast(list(texts))
        except TypeError:
            raise _not_unicode(texts) from None
        return [_indices(encoding.ids) for encoding in encodings]


def _indices(ids: Sequence[int]) -> npt.NDArray[np.int32]:
    """Ids are unsigned there: those beyond int32 become its largest, outside any vocabulary."""
    return np.minimum(np.array(ids, np.uint32), np.iinfo(np.int32).max).astype(np.int32)
