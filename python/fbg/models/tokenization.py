"""tokenizer.json: text to token ids, cut to what the model can take."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fbg.errors import ModelError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["TextTokenizer"]


def _not_unicode(texts: Sequence[str], first: int) -> Exception:
    """Explain a text that the tokenizer refused: Python's str may hold lone surrogates."""
    for n, text in enumerate(texts):
        try:
            text.encode()
        except UnicodeEncodeError as error:
            return ValueError(f"encode: sentences[{first + n}] is not valid Unicode: {error}")
    return ValueError("encode: the tokenizer refused the sentences")


class TextTokenizer:
    """The tokenizer of a model directory, without padding and truncating at `max_length` tokens.

    A directory may lack it, since token ids need none: then the first text is a ModelError.
    """

    def __init__(self, path: Path, max_length: int, lowercase: bool = False) -> None:
        from tokenizers import Tokenizer  # here, so that the kernels import with NumPy alone

        self.max_length = max_length
        self._lowercase = lowercase
        self._path = path
        self._read: Tokenizer | None = None
        if not path.is_file():
            return
        try:
            self._read = Tokenizer.from_file(str(path))
            self._read.no_padding()
            self._read.enable_truncation(max_length)
        except Exception as error:  # the library raises plain Exception
            raise ModelError(f"{path}: not a readable tokenizer: {error}") from None

    @property
    def _tokenizer(self) -> Tokenizer:
        if self._read is None:
            raise ModelError(f"{self._path}: no such file; only token ids can do without it")
        return self._read

    @property
    def frame(self) -> npt.NDArray[np.int32]:
        """The tokens of an empty text; none without a tokenizer."""
        return _indices([]) if self._read is None else self([""])[0]

    def __call__(self, texts: Sequence[str]) -> list[npt.NDArray[np.int32]]:
        """Return the token ids of each text, special tokens included."""
        return self.tokenize(texts)[0]

    def tokenize(
        self, texts: Sequence[str], first: int = 0
    ) -> tuple[list[npt.NDArray[np.int32]], dict[int, int]]:
        """Return the token ids of each text and, of those that were cut, how many they had.

        first: the number of texts[0] in errors, where these are a part of more.
        """
        if self._lowercase:
            texts = [text.lower() for text in texts]
        try:
            encodings = self._tokenizer.encode_batch_fast(list(texts))
        except TypeError:
            raise _not_unicode(texts, first) from None
        ids = [_indices(encoding.ids) for encoding in encodings]
        special = self._tokenizer.num_special_tokens_to_add(False)
        cut = {}
        for n, tokens in enumerate(ids):
            if tokens.size == self.max_length:
                rest = encodings[n].overflowing  # each part has its own special tokens
                if rest:
                    cut[n] = tokens.size + sum(len(part) - special for part in rest)
        return ids, cut


def _indices(ids: Sequence[int]) -> npt.NDArray[np.int32]:
    """Ids are unsigned there: those beyond int32 become its largest, outside any vocabulary."""
    return np.minimum(np.array(ids, np.uint32), np.iinfo(np.int32).max).astype(np.int32)
