"""Embeddings of sentences: the methods of Model; what they run is in encoder.py."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from fbg.progress import progress_bar
from fbg.tasks.context import TaskContext
from fbg.tasks.encoder import SENTENCES, EncodeOptions, Encoder
from fbg.tasks.inputs import require_iterable, require_texts

__all__ = ["EncodeMethods"]

Floats = npt.NDArray[np.float32]

BAR = "encode: show_progress_bar"


class EncodeMethods:
    """What every model can do with sentences."""

    _context: TaskContext

    @property
    def max_length(self) -> int:
        """Tokens, special ones included, at which `encode` and the tasks cut a text."""
        return self._context.tokenizer.max_length

    @property
    def embedding_dimension(self) -> int:
        """Length of the vectors of `encode`: the hidden size, or what Dense modules make of it."""
        return self._context.embeddings.dimension

    def token_counts(self, sentences: str | Iterable[str]) -> list[int]:
        """Return how many tokens `encode` computes for each sentence, special ones included."""
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
        """Embed sentences.

        sentences: a str gives an (embedding_dimension,) vector, n str of any iterable (also of a
            NumPy or Arrow array) an (n, embedding_dimension) array in the same order.
        batch_size: the most sentences to compute at a time; bounds memory, never changes a result.
        normalize_embeddings: scale vectors to length 1; None does what modules.json says.
        show_progress_bar: needs tqdm.
        truncate_dim: keep that many first dimensions, of models that were trained for it. As with
            sentence-transformers, modules.json normalizes before that, and
            normalize_embeddings=True after it.
        prompt: is put before every sentence.
        prompt_name: the same, by its name in `prompts`. Default: the default of the model, if any.
        truncation: cut texts at `max_length` tokens, and say so in a warning, once for a model.
            False: such a text is a ValueError.

        Raises TypeError if something is not a str, ValueError for an argument out of range, text
        that is not valid Unicode, or a token id outside the vocabulary; ModelError if the model has
        no tokenizer, or one that cannot encode a text.

        >>> model.encode(["a sentence", "another"]).shape  # doctest: +SKIP
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
            for rows in encoder.blocks(texts, advance=advance):
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
        """Embed sentences as they come: yields the vector of each, in their order.

        The arguments and the vectors are those of `encode`. Memory does not depend on the number of
        sentences: at most 2048 of them, and fewer long ones, are read before their vectors are
        yielded. Raises for other arguments at once, for a sentence when its turn comes.

        >>> with open("corpus.txt") as lines:  # doctest: +SKIP
        ...     for vector in model.encode_stream(lines):
        ...         index.add(vector)
        """
        options = EncodeOptions(
            batch_size, normalize_embeddings, truncate_dim, prompt, prompt_name, truncation
        )
        encoder = self.encoder(options)
        encoder = self.encoder(options)
        require_iterable(SENTENCES, sentences, "an iterable of str")

        def vectors() -> Iterator[Floats]:
            bar = progress_bar(None, "sentence", show=show_progress_bar, required_by=BAR)
            with bar as advance:
                for rows in encoder.blocks(sentences, advance=advance):
                    for row in rows:
                        yield row.copy()  # a view would keep its whole block

        return vectors()

    def encoder(self, options: EncodeOptions | None = None) -> Encoder:
        """Return what embeds any number of texts, a block of them at a time.

        options: the arguments of `encode`, which are checked here: raises TypeError or ValueError.

        >>> encoder = model.encoder(EncodeOptions(truncate_dim=256))  # doctest: +SKIP
        >>> for rows in encoder.blocks(lines):  # (at most 2048, 256) each  # doctest: +SKIP
        ...     file.append(rows)
        """
        return Encoder(self._context, options or EncodeOptions())
