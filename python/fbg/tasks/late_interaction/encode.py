"""A vector for every token of queries and documents, as models like ColBERT compare them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from fbg.arrays import Floats, Indices, require_flag
from fbg.errors import ModelError
from fbg.runtime.steps import Request, Steps
from fbg.tasks.context import TaskContext, TaskMethods, task
from fbg.tasks.inputs import require_choice, require_count, require_texts, text_blocks
from fbg.tasks.late_interaction.expansion import can_expand
from fbg.tasks.late_interaction.scores import maxsim
from fbg.tasks.rerank import ranked
from fbg.tasks.results import RankedDocument
from fbg.text.multi_vector import KINDS, MARKERS, Expansion, MultiVector
from fbg.text.tokenization import TextTokenizer
from fbg.threads import calling

Kind = Literal["query", "document"]

# Documents whose vectors are kept at a time by `rank`.
PART_DOCUMENTS = 128


class MultiVectorMethods(TaskMethods):
    """The methods of `Model` for models with a vector for every token (late interaction)."""

    @task
    def encode_multi(
        self,
        texts: str | Iterable[str],
        kind: Kind = "document",
        batch_size: int = 32,
        truncation: bool = True,
    ) -> Steps[Floats | list[Floats]]:
        """Return the vectors of the tokens of each text.

        texts: a str, or an iterable of str.
        kind: "query" or "document", which differ in their prefix, in where they are cut, in the
            mask tokens with which queries are padded, and in the tokens that are left out.
        batch_size: the most texts to compute at a time; limits memory, and never changes a result.
        truncation: True truncates texts to the length of their kind, and warns once for each
            model; False raises ValueError for a longer text.

        Returns a list of (tokens, dimension) float32 arrays, which `fbg.maxsim` compares; for a
        str, one array. Results are those of MultiVectorEncoder of sentence-transformers,
        which also reads the directories of PyLate. Raises ModelError for other models.

        >>> model.encode_multi("what is rust?", "query").shape  # doctest: +SKIP
        (32, 128)
        """
        call = _Call(self._context, kind, batch_size, truncation, "encode_multi: texts")
        rows = yield from call.all_vectors(texts)
        return rows[0] if isinstance(texts, str) else rows

    @task
    def rank(
        self,
        query: str,
        documents: Iterable[str],
        top_k: int | None = None,
        return_documents: bool = False,
        batch_size: int = 32,
        truncation: bool = True,
    ) -> Steps[list[RankedDocument]]:
        """Rank documents by how well their tokens match those of a query (`fbg.maxsim`).

        The arguments and results are those of `rerank`, which needs a cross-encoder.

        >>> model.rank("who wrote it?", ["no idea", "Harper Lee did"], top_k=1)  # doctest: +SKIP
        [{'corpus_id': 1, 'score': 21.5}]
        """
        context = self._context
        if not isinstance(query, str):
            raise TypeError(f"rank: query must be a str, got {type(query).__name__}")
        k = None if top_k is None else require_count("rank: top_k", top_k)
        given = require_texts("rank: documents", documents, several=True)
        of_query = _Call(context, "query", batch_size, truncation, "rank: query")
        asked = yield from of_query.all_vectors(query)
        call = _Call(context, "document", batch_size, truncation, "rank: documents")
        scores = np.zeros(len(given), np.float32)
        first = 0
        for block in text_blocks(given):
            for begin in range(0, len(block), PART_DOCUMENTS):
                part = block[begin : begin + PART_DOCUMENTS]
                end = first + len(part)
                found = yield from call.vectors(part, first, first, len(given) - end)
                with calling:
                    scores[first:end] = maxsim(asked, found, context.num_threads)[0]
                del found
                first = end
        return ranked(given, scores, k, return_documents)


class _Call:
    """One call of `encode_multi` or `rank`, for texts of one kind."""

    def __init__(
        self, context: TaskContext, kind: Kind, batch_size: int, truncation: bool, where: str
    ) -> None:
        self._where, self._task = where, where.partition(":")[0]
        require_choice(f"{self._task}: kind", kind, KINDS)
        self._batch_size = require_count(f"{self._task}: batch_size", batch_size)
        self._truncation = require_flag(truncation, f"{self._task}: truncation")
        settings = _settings(context, self._task)
        self._reader = _Reader(context, settings, kind, self._task)
        self._engine = context.engines.vectors(settings, self._reader.hidden_length)

    def all_vectors(self, texts: str | Iterable[str]) -> Steps[list[Floats]]:
        """Return the vectors of each text, in a list for a single one, too."""
        results: list[Floats] = []
        for block in text_blocks(require_texts(self._where, texts)):
            results += yield from self.vectors(block, len(results))
        return results

    def vectors(
        self, texts: Sequence[str], first: int, before: int = 0, after: int = 0
    ) -> Steps[list[Floats]]:
        """Return the vectors of some texts, of which texts[0] has the number `first` in errors.

        before, after: texts of the same call that are computed earlier and later (`Request`).
        """
        sequences = self._reader.read(texts, self._where, first, self._truncation)
        kept = [self._reader.kept(ids) for ids in sequences]

        def keep(n: int, output: Floats) -> Floats:
            rows: Floats = output[kept[n]]
            return rows

        size = self._batch_size
        return (yield Request(self._engine, sequences, self._task, keep, size, before, after))


def _settings(context: TaskContext, task: str) -> MultiVector:
    """Return the settings; raises ModelError if the model has one vector for a text."""
    if context.sentence.multi_vector is None:
        raise ModelError(
            f"{task}: {context.directory}: has no vectors for tokens: neither has modules.json a "
            "MultiVectorMask, nor config_sentence_transformers.json the model_type ColBERT or "
            "MultiVectorEncoder, nor config.json the architecture HF_ColBERT"
        )
    return context.sentence.multi_vector


class _Reader:
    """Tokenizes texts of one kind.

    hidden_length: length of queries whose mask tokens no token attends to; else 0.
    """

    def __init__(self, context: TaskContext, settings: MultiVector, kind: Kind, task: str) -> None:
        self._context = context
        self._expansion = settings.expansion if kind == "query" else None
        self._fill = 0
        if self._expansion is not None:
            self._fill = _fill_token(context.tokenizer, self._expansion)
        limit = settings.lengths[kind]
        if self._expansion is not None:
            least = self._expansion.length
            limit = least if self._expansion.cuts else max(limit, least)
        if context.tokenizer.max_length != context.sentence.max_length:
            limit = min(limit, context.tokenizer.max_length)  # set by Model.with_max_length
        self._limit = limit
        attended = self._expansion is None or self._expansion.attended
        self.hidden_length = 0 if attended else limit
        if self.hidden_length and not can_expand(context.config):
            raise ModelError(
                f"{task}: {context.directory}: models of the type {context.config.model_type} must "
                "attend to the tokens with which queries are padded"
            )
        prefix = settings.prefixes[kind]
        self._inserted, self._prefix = None, prefix
        if settings.inserted:
            self._inserted, self._prefix = _split_prefix(context.tokenizer, prefix)
            if self._inserted is None and kind in settings.assumed:
                self._prefix = prefix.removeprefix(MARKERS[kind])
        room = limit if self._inserted is None else limit - 1
        try:
            self._tokenizer = context.tokenizer.with_max_length(room)
        except ValueError as error:
            raise ModelError(f"{task}: {kind}_length of the model: {error}") from None
        skipped = settings.skiplist if kind in settings.skipped_in else ()
        known = [context.tokenizer.token_id(word) for word in skipped]
        self._skipped = np.array([token for token in known if token is not None], np.int32)

    def read(self, texts: Sequence[str], where: str, first: int, truncation: bool) -> list[Indices]:
        """Return the tokens of texts; a token to which no other attends is given as ~token."""
        prefixed = [self._prefix + text for text in texts]
        place = where, first, truncation, self._tokenizer
        encoded = self._context.tokenize(prefixed, *place, sentences=True, types=False)
        with calling:
            frame = self._tokenizer.frame
            return [self._filled(self._with_prefix(text.ids, frame)) for text in encoded]

    def _with_prefix(self, ids: Indices, frame: Indices) -> Indices:
        if self._inserted is None:
            return ids
        place = int(frame.size > 1 and ids.size > 0 and ids[0] == frame[0])
        return np.insert(ids, place, self._inserted)

    def _filled(self, ids: Indices) -> Indices:
        expansion = self._expansion
        missing = 0
        if expansion is not None:
            missing = max(min(expansion.length, self._limit) - ids.size, 0)
        fill = self._fill if expansion is not None and expansion.attended else ~self._fill
        return np.concatenate([ids, np.full(missing, fill, np.int32)])

    def kept(self, ids: Indices) -> npt.NDArray[np.bool_]:
        """Return a mask of the tokens that have vectors in the result."""
        return ~np.isin(np.where(ids < 0, ~ids, ids), self._skipped)


def _split_prefix(tokenizer: TextTokenizer, prefix: str) -> tuple[int | None, str]:
    """Return the token that a prefix is or begins with, None if there is none, and the rest."""
    for text in (prefix, *prefix.split()[:1]):
        token = tokenizer.token_id(text) if text else None
        if token is not None:
            return token, prefix[len(text) :].lstrip()
    return None, prefix


def _fill_token(tokenizer: TextTokenizer, expansion: Expansion) -> int:
    """Return the token with which queries are padded; raises ModelError."""
    named = expansion.token
    found = tokenizer.mask_id if named is None else tokenizer.token_id(named)
    if found is None:
        what = "[MASK] or <mask>" if named is None else repr(named)
        raise ModelError(f"{tokenizer.path}: has no token {what}, with which queries are padded")
    return found
