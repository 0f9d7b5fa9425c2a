"""tokenizer.json: text to token ids, cut to what the model can take."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fbg.errors import ModelError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["EncodedText", "TextTokenizer"]

Indices = npt.NDArray[np.int32]

# What tokens with a meaning of their own are called, in the vocabularies of all families.
MASK_TOKENS = ("[MASK]", "<mask>")
UNKNOWN_TOKENS = ("[UNK]", "<unk>")
PADDING_TOKENS = ("[PAD]", "<pad>")


def _not_unicode(where: str, texts: Sequence[str | tuple[str, str]], first: int = 0) -> Exception:
    """Explain a text that the tokenizer refused: Python's str may hold lone surrogates."""
    for n, text in enumerate(texts):
        for part in (text,) if isinstance(text, str) else text:
            try:
                part.encode()
            except UnicodeEncodeError as error:
                return ValueError(f"{where}[{first + n}] is not valid Unicode: {error}")
    return ValueError(f"{where}: the tokenizer refused them")


@dataclass(frozen=True)
class EncodedText:
    """The tokens of a text, or of two texts of which the second has token type 1 or so.

    Where the tokens lie in the text is there only if it was asked for:

    offsets: (tokens, 2), the characters of each token, from and to.
    segments: 0 and 1 for tokens of the first and second text, -1 for special tokens.
    words: the number of each token's word in its text, -1 for none.
    """

    ids: Indices
    types: Indices
    offsets: Indices | None = None
    segments: Indices | None = None
    words: Indices | None = None

    def take(self, chosen: npt.NDArray[np.intp]) -> EncodedText:
        """Return some of the tokens."""
        parts = (self.ids, self.types, self.offsets, self.segments, self.words)
        return EncodedText(*(None if part is None else part[chosen] for part in parts))  # type: ignore[arg-type]


class TextTokenizer:
    """The tokenizer of a model directory, without padding and truncating at `max_length` tokens.

    A directory may lack it, since token ids need none: then the first text is a ModelError.
    """

    def __init__(self, path: Path, max_length: int, lowercase: bool = False) -> None:
        from tokenizers import Tokenizer  # here, so that the kernels import with NumPy alone

        self.max_length = max_length
        self._lowercase = lowercase
        self._untruncated: Any = None  # made when it is needed
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
        # With less room than that the library would not cut at all.
        special = self._read.num_special_tokens_to_add(False)
        if max_length < special:
            raise ModelError(
                f"{path}: puts {special} special tokens around a text, the model takes {max_length}"
            )

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
            raise _not_unicode("encode: sentences", texts, first) from None
        ids = [_indices(encoding.ids) for encoding in encodings]
        special = self._tokenizer.num_special_tokens_to_add(False)
        cut = {}
        for n, tokens in enumerate(ids):
            if tokens.size == self.max_length:
                rest = encodings[n].overflowing  # each part has its own special tokens
                if rest:
                    cut[n] = tokens.size + sum(len(part) - special for part in rest)
        return ids, cut

    def encode(self, texts: Sequence[str | tuple[str, str]], where: str) -> list[EncodedText]:
        """Return the tokens of texts and pairs of texts; of a pair, the longer text is cut.

        where: what errors call the texts. They are taken as they are: `lowercase` belongs to the
            embeddings of sentences.
        """
        try:
            encodings = self._tokenizer.encode_batch_fast(list(texts))
        except TypeError:
            raise _not_unicode(where, texts) from None
        return [EncodedText(_indices(e.ids), _indices(e.type_ids)) for e in encodings]

    def locate(
        self, texts: Sequence[str | tuple[str, str]], where: str, *, cut: bool = True
    ) -> list[EncodedText]:
        """Return the tokens and where they lie. cut: False keeps all, however many there are."""
        try:
            encodings = (self._tokenizer if cut else self._uncut()).encode_batch(list(texts))
        except TypeError:
            raise _not_unicode(where, texts) from None
        return [
            EncodedText(
                _indices(encoding.ids),
                _indices(encoding.type_ids),
                np.array(encoding.offsets, np.int32).reshape(-1, 2),
                _or_minus_one(encoding.sequence_ids),
                _or_minus_one(encoding.word_ids),
            )
            for encoding in encodings
        ]

    def _uncut(self) -> Any:
        # A copy: several threads may use the tokenizer, which would have to forget its length.
        if self._untruncated is None:
            tokenizer = deepcopy(self._tokenizer)
            tokenizer.no_truncation()
            self._untruncated = tokenizer
        return self._untruncated

    @property
    def mask_id(self) -> int | None:
        """The token that stands for a missing one, None if there is no such token."""
        return self._first_id(MASK_TOKENS)

    @property
    def unknown_id(self) -> int | None:
        return self._first_id(UNKNOWN_TOKENS)

    @property
    def padding_id(self) -> int | None:
        return self._first_id(PADDING_TOKENS)

    def _first_id(self, names: Sequence[str]) -> int | None:
        ids = (self._tokenizer.token_to_id(name) for name in names)
        return next((number for number in ids if number is not None), None)

    def token_id(self, token: str) -> int | None:
        number: int | None = self._tokenizer.token_to_id(token)
        return number

    def tokens(self, ids: Sequence[int]) -> list[str]:
        """Return tokens as they stand in the vocabulary."""
        return [self._tokenizer.id_to_token(number) or "" for number in ids]

    @property
    def marks_subwords(self) -> bool:
        """Whether tokens inside a word look different from those that begin one, as in "##ing"."""
        return bool(getattr(self._tokenizer.model, "continuing_subword_prefix", None))

    def join(self, tokens: Sequence[str]) -> str:
        """Return the text of tokens."""
        decoder = self._tokenizer.decoder
        text = " ".join(tokens) if decoder is None else decoder.decode(list(tokens))
        return str(text)

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> str:
        return str(self._tokenizer.decode(list(ids), skip_special_tokens=skip_special_tokens))


def _or_minus_one(values: Sequence[int | None]) -> Indices:
    return np.array([-1 if value is None else value for value in values], np.int32)


def _indices(ids: Sequence[int]) -> npt.NDArray[np.int32]:
    """Ids are unsigned there: those beyond int32 become its largest, outside any vocabulary."""
    return np.minimum(np.array(ids, np.uint32), np.iinfo(np.int32).max).astype(np.int32)
