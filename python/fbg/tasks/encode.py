"""Embeddings of sentences: the methods of Model; their computation is in encoder.py."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from fbg.arrays import Floats
from fbg.progress import progress_bar
from fbg.tasks.context import TaskContext
from fbg.tasks.encoder import SENTENCES, EncodeOptions, Encoder
from fbg.tasks.inputs import require_iterable, require_texts

BAR = "encode: show_progress_bar"


class EncodeMethods:
    """The methods of `Model` that embed sentences; every model has them."""

    _context: TaskContext

    @property
    def max_length(self) -> int:
        """The number of tokens, including special ones, to which texts are truncated."""
        return self._context.tokenizer.max_length

    @property
    def embedding_dimension(self) -> int:
        """The length of embeddings: the hidden size, or the outputs of the last Dense module."""
        return self._context.engines.dimension

    def token_counts(self, sentences: str | Iterable[str]) -> list[int]:
        """Return the number of tokens of each sentence after truncation, including special ones.

        >>> model.token_counts(["", "a b"])
        [2, 4]
        """
        texts = require_texts(SENTENCES, sentences)
        return [tokens.size for tokens in self._context.tokenizer(texts)]

    def encode(
        self,
        sentences: str | Iterable[str],
        batch_size: int = 32,
        normalize_embeddings: bool | None = None,
        show_progress_bar: bool = False,
        *,
        truncate_dim: int | None = None,
        prompt: str | None = None,
        prompt_name: str | None = None,
        truncation: bool = True,
    ) -> Floats:
        """Return the embeddings of sentences, float32.

        sentences: a str, for a vector of shape (embedding_dimension,), or an iterable of n str,
            such as a list, a NumPy array or an Arrow array, for an array of shape
            (n, embedding_dimension) in the same order.
        batch_size: the most sentences to compute at a time; limits memory, and never changes a
            result.
        normalize_embeddings: whether to scale embeddings to length 1; None: as modules.json says.
        show_progress_bar: needs tqdm.
        truncate_dim: the number of first dimensions to keep, for models trained for that. As in
            sentence-transformers, a Normalize module in modules.json runs before the truncation,
            and normalize_embeddings=True after it.
        prompt: a text that is put before every sentence.
        prompt_name: the name of a prompt in `prompts`. Default: the default prompt of the model.
        truncation: True truncates texts to `max_length` tokens, and warns once for each model;
            False raises ValueError for a longer text.

        Raises TypeError if a sentence is not a str; ValueError for an argument out of range, a text
        that is not valid Unicode, or a token id outside the vocabulary; ModelError if the model has
        no tokenizer, or if its tokenizer cannot encode a text.

        >>> model.encode(["a sentence", "another"]).shape
        (2, 384)
        """
        options = EncodeOptions(
            batch_size, normalize_embeddings, truncate_dim, prompt, prompt_name, truncation
        )
        rows = self._encode(sentences, self.encoder(options), show_progress_bar)
        return rows[0] if isinstance(sentences, str) else rows

    def _encode(self, sentences: object, encoder: Encoder, show_progress_bar: bool) -> Floats:
        texts = require_texts(SENTENCES, sentences)
        result = np.empty((len(texts), encoder.dimension), np.float32)
        filled = 0
        with progress_bar(
            len(texts), "sentence", show=show_progress_bar, required_by=BAR
        ) as advance:
            for rows in encoder.checked_blocks(iter(texts), advance=advance):
                result[filled : filled + len(rows)] = rows
                filled += len(rows)
        return result

    def encode_stream(
        self,
        sentences: Iterable[str],
        batch_size: int = 32,
        normalize_embeddings: bool | None = None,
        show_progress_bar: bool = False,
        *,
        truncate_dim: int | None = None,
        prompt: str | None = None,
        prompt_name: str | None = None,
        truncation: bool = True,
    ) -> Iterator[Floats]:
        """Yield the embedding of each sentence of an iterable, in order.

        The arguments and the embeddings are those of `encode`. At most 2048 sentences, or fewer
        long ones, are read before their embeddings are yielded, so memory does not depend on the
        number of sentences. Arguments are checked when the method is called, and each sentence when
        it is read.

        >>> lines = (f"sentence {n}" for n in range(5))
        >>> sum(embedding.size for embedding in model.encode_stream(lines))
        1920
        """
        options = EncodeOptions(
            batch_size, normalize_embeddings, truncate_dim, prompt, prompt_name, truncation
        )
        encoder = self.encoder(options)
        require_iterable("encode_stream: sentences", sentences, "an iterable of str")

        def vectors() -> Iterator[Floats]:
            bar = progress_bar(None, "sentence", show=show_progress_bar, required_by=BAR)
            with bar as advance:
                for rows in encoder.blocks(sentences, advance=advance):
                    for row in rows:
                        yield row.copy()  # a view would keep its whole block

        return vectors()

    def encoder(self, options: EncodeOptions | None = None) -> Encoder:
        """Return an `Encoder`, which embeds any number of texts in blocks of at most 2048.

        options: the other arguments of `encode`. Raises TypeError or ValueError for them.

        >>> encoder = model.encoder(EncodeOptions(truncate_dim=256))
        >>> [rows.shape for rows in encoder.blocks(["a sentence", "another"])]
        [(2, 256)]
        """
        return Encoder(self._context, options or EncodeOptions())
