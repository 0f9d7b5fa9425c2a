"""tokenizer.json: makes token ids of texts, cut to the limit of the model.

Whatever the tokenizers library raises about the file or a text becomes a ModelError or a
ValueError: `TextTokenizer` is the only place that calls the library.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fbg.arrays import Indices
from fbg.checkpoints.files import is_model_file, read_model_file, read_optional
from fbg.errors import ModelError, needed
from fbg.text.encoded_text import EncodedText, kept_when_cut
from fbg.text.tokenizer_settings import (
    SPECIAL_TOKENS,
    TOKENIZER_CONFIG,
    apply_settings,
    in_lower_case,
)

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Text = str | tuple[str, str]  # a text, or a pair of texts

PART_CHARACTERS = 1 << 16  # of texts that are tokenized at a time

MOST_PARTS = 1 << 31
MOST_INT32 = np.uint32((1 << 31) - 1)
# The time in which texts are cut into parts grows with the square of their length.
PIECE_CHARACTERS = 1 << 13
CHARACTERS_OF_TOKEN = 32
ENDS = ("\n\n", "\n", ". ", " ")

# The names of special tokens in the vocabularies of all families.
MASK_TOKENS = ("[MASK]", "<mask>")
UNKNOWN_TOKENS = ("[UNK]", "<unk>")
PADDING_TOKENS = ("[PAD]", "<pad>")


class TextTokenizer:
    """The tokenizer of a model directory, without padding, cutting at `max_length` tokens.

    It cuts texts at the end, or at the beginning if `truncation_side` in tokenizer_config.json, or
    the file itself, says "left".

    A directory may lack it, since token ids need none: then the first text is a ModelError. So is
    everything that the library objects to in the file, when it is read or when it is used.
    """

    def __init__(
        self,
        path: Path,
        max_length: int,
        lowercase: bool = False,
        *,
        special_tokens: bool = True,
        skip_unknown: bool = False,
    ) -> None:
        """Raises ModelError for a file that is damaged, or whose special tokens are too many.

        lowercase: sentences are made lower case first, except for special tokens in them.
        special_tokens: whether texts get them.
        skip_unknown: sentences lose their unknown tokens, after they are cut.
        """
        self.max_length = max_length
        self._special_tokens = special_tokens
        self._skipped: int | None = None
        self._path = path
        self._cuts_left = False
        self._read: Tokenizer | None = None
        self._of_sentences: Tokenizer | None = None
        if not is_model_file(path):
            return
        from tokenizers import Tokenizer  # here, so that the kernels import with NumPy alone

        special = 0
        try:
            self._read = Tokenizer.from_buffer(read_model_file(path))
            side = (self._read.truncation or {}).get("direction", "right").lower()
            given = read_optional(path.with_name(TOKENIZER_CONFIG))
            self._cuts_left = given.choice("truncation_side", ("left", "right"), side) == "left"
            self._read.no_padding()
            self._read.no_truncation()
            apply_settings(self._read, given, read_optional(path.with_name(SPECIAL_TOKENS)))
            self._of_sentences = in_lower_case(self._read) if lowercase else self._read
            if special_tokens:
                special = self._read.num_special_tokens_to_add(False)
            if skip_unknown:
                self._skipped = _unknown_id(self._read)
            self._read.encode_batch_fast([""])  # shows a damaged post-processor here and now
        except BaseException as error:
            raise self._explained(error, "not a readable tokenizer") from None
        if max_length < special:
            raise ModelError(
                f"{path}: puts {special} special tokens around a text, but the model takes only "
                f"{max_length} tokens"
            )

    def with_max_length(self, max_length: int) -> TextTokenizer:
        """Return this tokenizer, cutting elsewhere.

        Raises ValueError if the special tokens alone are more.
        """
        special = 0
        if self._read is not None and self._special_tokens:
            special = self._read.num_special_tokens_to_add(False)
        if max_length < special:
            raise ValueError(
                f"max_length must be at least {special}, the number of special tokens around a "
                f"text, got {max_length}"
            )
        other = copy(self)
        other.max_length = max_length
        return other

    @property
    def truncation_side(self) -> str:
        """Where long texts are cut: "left" or "right"."""
        return "left" if self._cuts_left else "right"

    def cutting(self, side: str) -> TextTokenizer:
        """Return this tokenizer, cutting long texts at a side: "left" or "right"."""
        other = copy(self)
        other._cuts_left = side == "left"
        return other

    def _missing(self) -> ModelError:
        """Return the error for a directory without a tokenizer."""
        what = "no such file; without it, the model only takes token ids"
        return ModelError(f"{self._path}: {what}")

    def _explained(self, error: BaseException, what: str = "the tokenizer failed") -> BaseException:
        """Return a ModelError for an error of the library, and others as they are.

        A panic of its Rust code arrives as a PanicException, which is not an Exception. (The report
        that Rust writes to stderr cannot be kept back: stderr belongs to the whole process.)
        """
        is_own = isinstance(error, (ModelError, MemoryError))
        if is_own or not (isinstance(error, Exception) or type(error).__name__ == "PanicException"):
            return error
        return ModelError(f"{self._path}: {what}: {error}")

    def _call(self, function: Callable[[Tokenizer], Any]) -> Any:
        if self._read is None:
            raise self._missing()
        try:
            return function(self._read)
        except BaseException as error:
            raise self._explained(error) from None

    # --- Texts to tokens ------------------------------------------------------------------------

    @property
    def frame(self) -> Indices:
        """The tokens of an empty text; none without a tokenizer."""
        return np.zeros(0, np.int32) if self._read is None else self([""])[0]

    def __call__(self, texts: Sequence[str]) -> list[Indices]:
        """Return the token ids of each text, special tokens included."""
        where = "encode: sentences"
        return [text.ids for text in self.encode(texts, where, sentences=True, types=False)]

    def split(self, text: str, tokens: int, most: int = MOST_PARTS) -> list[tuple[int, int]]:
        """Return the first character of each part of a text, and the one after its last.

        most: if there are more parts, only some are returned, but more than so many.
        """
        with needed("chunks of texts"):
            from semantic_text_splitter import TextSplitter

        def split(tokenizer: Tokenizer) -> list[tuple[int, int]]:
            splitter, found = TextSplitter.from_huggingface_tokenizer(tokenizer, tokens), []
            for piece in _pieces(text, max(PIECE_CHARACTERS, CHARACTERS_OF_TOKEN * tokens)):
                for begin, part in splitter.chunk_indices(text[piece]):
                    found.append((piece.start + begin, piece.start + begin + len(part)))
                if len(found) > most:
                    break
            return found

        return self._call(split)  # type: ignore[no-any-return]

    def encode(
        self,
        texts: Sequence[Text] | Sequence[list[str]],
        where: str,
        first: int = 0,
        *,
        located: bool = False,
        cut: bool = True,
        cut_first: bool = False,
        sentences: bool = False,
        types: bool = True,
        split: bool = False,
        ends: Sequence[str] = (),
    ) -> list[EncodedText]:
        """Return the tokens of texts and pairs of texts.

        where, first: the name of the texts in errors, and the number of texts[0] among them.
        located: also return the positions of tokens in the text.
        cut: leave at most `max_length` tokens of each; the longer text of a pair is cut first.
        cut_first: cut only the first text of a pair.
        sentences: in lower case first if the model wants sentences so.
        types: also return the types of tokens. Sentences without types, which are to be embedded,
            lose the tokens that the model skips before they are cut, as in model2vec.
        split: texts are cut into words, and their tokens are located.
        ends: texts have their special tokens in them already, and two texts are given that end as
            all of them do: texts are cut before the tokens that these two have in common.

        Raises ValueError for text that is not valid Unicode, and with `cut_first` for a second text
        that leaves no room for the first; ModelError if the tokenizer cannot
        encode it, or if the special tokens of a pair are more than the model takes.
        """
        if ends:
            return self._encode_rendered(texts, where, first, ends)
        skipped = self._skipped if sentences and not types else None
        encoded: list[EncodedText] = []
        for part in _parts(texts):  # what the library makes takes 100 bytes for each token
            library, framed = self._of_sentences if sentences else self._read, self._special_tokens
            if library is None:
                raise self._missing()
            some: list[Any] = list(texts[part])
            try:
                if located or split:
                    found = library.encode_batch(
                        some, is_pretokenized=split, add_special_tokens=framed
                    )
                else:  # faster, as it does not track characters
                    found = library.encode_batch_fast(some, add_special_tokens=framed)
            except BaseException as error:
                failure = self._explained(error)
                if isinstance(failure, ModelError):
                    _require_unicode(where, some, first + part.start)  # which explains more
                raise failure from None
            limit = None if skipped is not None or not cut else self.max_length
            for encoding in found:
                text = self._encoded(encoding, types, located or split, limit, cut_first)
                if skipped is not None:
                    text = text.without(skipped)
                    text = text.first(self.max_length) if cut else text
                encoded.append(text)
        return encoded

    def _encoded(
        self, encoding: Any, types: bool, located: bool, limit: int | None, cut_first: bool
    ) -> EncodedText:
        # Ids are unsigned in the library: large ones become the largest int32, in no vocabulary.
        ids = np.minimum(np.array(encoding.ids, np.uint32), MOST_INT32).astype(np.int32)
        kinds = None
        if types:
            kinds = np.minimum(np.array(encoding.type_ids, np.uint32), MOST_INT32).astype(np.int32)
        too_long = limit is not None and ids.size > limit
        segments = _or_minus_one(encoding.sequence_ids) if located or too_long else None
        text = EncodedText(
            ids,
            kinds,
            ids.size,
            np.array(encoding.offsets, np.int32).reshape(-1, 2) if located else None,
            segments if located else None,
            _or_minus_one(encoding.word_ids) if located else None,
        )
        if not too_long:
            return text
        assert segments is not None
        kept = kept_when_cut(segments, self.max_length, cut_first, self._cuts_left)
        if kept is None:
            special = int(np.count_nonzero(segments < 0))
            if cut_first and special <= self.max_length:
                taken = int(np.count_nonzero(segments != 0))
                raise ValueError(
                    f"the second text of a pair leaves no room for the first: with {special} "
                    f"special tokens it takes {taken} of {self.max_length} tokens"
                )
            raise ModelError(
                f"{self._path}: puts {special} special tokens around a pair of texts, but the "
                f"model takes only {self.max_length} tokens"
            )
        return text.take(kept)

    def _encode_rendered(
        self, texts: Sequence[Any], where: str, first: int, ends: Sequence[str]
    ) -> list[EncodedText]:
        plain = copy(self)
        plain._special_tokens = False
        *encoded, one, other = plain.encode([*texts, *ends], where, first, cut=False)
        shorter = min(one.ids.size, other.ids.size)
        same = one.ids[::-1][:shorter] == other.ids[::-1][:shorter]
        kept = shorter if same.all() else int(same.argmin())
        limit = self.max_length
        if any(text.ids.size > limit for text in encoded) and kept >= limit:
            raise ModelError(
                f"{self._path}: the text after a pair has {kept} tokens, but the model takes only "
                f"{limit}"
            )
        return [text if text.ids.size <= limit else _cut(text, limit, kept) for text in encoded]

    @property
    def path(self) -> Path:
        """The file, for errors."""
        return self._path

    @property
    def is_present(self) -> bool:
        """Whether there is a tokenizer at all."""
        return self._read is not None

    # --- The vocabulary -------------------------------------------------------------------------

    @property
    def mask_id(self) -> int | None:
        """The token that stands for a missing one, None if there is no such token."""
        return self._first_id(MASK_TOKENS)

    @property
    def mask_token(self) -> str | None:
        """How the mask token is written in a text, None if there is no such token."""
        return next((name for name in MASK_TOKENS if self.token_id(name) is not None), None)

    @property
    def unknown_id(self) -> int | None:
        return self._first_id(UNKNOWN_TOKENS)

    @property
    def padding_id(self) -> int | None:
        return self._first_id(PADDING_TOKENS)

    def _first_id(self, names: Sequence[str]) -> int | None:
        return next((n for n in map(self.token_id, names) if n is not None), None)

    def token_id(self, token: str) -> int | None:
        number: int | None = self._call(lambda t: t.token_to_id(token))
        return number

    def tokens(self, ids: Sequence[int]) -> list[str]:
        """Return tokens as spelled in the vocabulary."""
        found: list[str | None] = self._call(lambda t: [t.id_to_token(number) for number in ids])
        return [token or "" for token in found]

    @property
    def marks_subwords(self) -> bool:
        """Whether tokens inside a word look different from those that begin one, as in "##ing"."""
        model = self._call(lambda t: t.model)
        return bool(getattr(model, "continuing_subword_prefix", None))

    # --- Tokens to text -------------------------------------------------------------------------

    def join(self, tokens: Sequence[str]) -> str:
        """Return the text of tokens."""

        def joined(tokenizer: Tokenizer) -> str:
            decoder = tokenizer.decoder
            return " ".join(tokens) if decoder is None else str(decoder.decode(list(tokens)))

        return str(self._call(joined))

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> str:
        return str(
            self._call(lambda t: t.decode(list(ids), skip_special_tokens=skip_special_tokens))
        )


def _parts(texts: Sequence[Text] | Sequence[list[str]]) -> list[slice]:
    """Cut texts into parts of PART_CHARACTERS, or a little more; words are texts as well."""
    parts, begin, characters = [], 0, 0
    for n, text in enumerate(texts, 1):
        characters += len(text) if isinstance(text, str) else sum(map(len, text))
        if characters >= PART_CHARACTERS or n == len(texts):
            parts.append(slice(begin, n))
            begin, characters = n, 0
    return parts


def _pieces(text: str, size: int) -> Iterator[slice]:
    """Cut a text into pieces of at most `size` characters, where paragraphs, lines, sentences or
    words end, if they do in the second half."""
    begin = 0
    while len(text) - begin > size:
        ends = (text.rfind(mark, begin + size // 2, begin + size) for mark in ENDS)
        end = next((at + 1 for at in ends if at >= 0), begin + size)
        yield slice(begin, end)
        begin = end
    yield slice(begin, len(text))


def _cut(text: EncodedText, limit: int, kept: int) -> EncodedText:
    """Return the first tokens of a text and the last `kept` ones, `limit` together."""
    places = np.arange(text.ids.size)
    return text.take(places[(places < limit - kept) | (places >= text.ids.size - kept)])


def _unknown_id(tokenizer: Tokenizer) -> int | None:
    """Return the token for unknown text, as model2vec looks it up."""
    model = tokenizer.model
    if hasattr(model, "unk_token"):
        return None if model.unk_token is None else tokenizer.token_to_id(model.unk_token)
    unknown: int | None = json.loads(tokenizer.to_str())["model"].get("unk_id")
    return unknown


def _require_unicode(where: str, texts: Sequence[Text] | Sequence[list[str]], first: int) -> None:
    """Raise ValueError if a text holds lone surrogates, which Python's str may."""
    for n, text in enumerate(texts):
        for part in (text,) if isinstance(text, str) else text:
            try:
                part.encode()
            except UnicodeEncodeError as error:
                raise ValueError(f"{where}[{first + n}] is not valid Unicode: {error}") from None


def _or_minus_one(values: Sequence[int | None]) -> Indices:
    return np.array([-1 if value is None else value for value in values], np.int32)
