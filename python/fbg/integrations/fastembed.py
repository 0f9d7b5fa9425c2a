"""TextEmbedding: the class of that name of fastembed, whose methods are generators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg.integrations.prompted import DOCUMENT_PROMPTS, QUERY_PROMPTS
from fbg.model.directory import find_directory
from fbg.model.load import load_encoder
from fbg.model.model import Model

__all__ = ["TextEmbedding"]

Vectors = Iterator[npt.NDArray[np.float32]]


class TextEmbedding:
    """Embeds streams of documents, as fastembed does.

    model_name: a directory or a hub id. cache_dir: where hub models are kept. threads: of a call.
    dtype: as for `fbg.load`. Memory does not depend on the number of documents.

    >>> model = TextEmbedding("BAAI/bge-small-en-v1.5", dtype="int8")  # doctest: +SKIP
    >>> for vector in model.embed(documents): ...  # doctest: +SKIP
    """

    def __init__(
        self,
        model_name: str,
        cache_dir: str | None = None,
        threads: int | None = None,
        *,
        dtype: str | None = None,
    ) -> None:
        self.model: Model = load_encoder(
            find_directory(model_name, cache_folder=cache_dir), dtype, threads
        )

    @property
    def embedding_size(self) -> int:
        return self.model.embedding_dimension

    def embed(
        self, documents: str | Iterable[str], batch_size: int = 256, **options: Any
    ) -> Vectors:
        """Yield the embedding of each document, without a prompt; options: of `Model.encode`."""
        texts = [documents] if isinstance(documents, str) else documents
        return self.model.encode_stream(texts, batch_size, **{"prompt": "", **options})

    def query_embed(self, query: str | Iterable[str], **options: Any) -> Vectors:
        """Yield the embedding of each query, with the prompt for queries if the model has one."""
        return self.embed(query, **{"prompt": self._prompt(QUERY_PROMPTS), **options})

    def passage_embed(self, texts: str | Iterable[str], **options: Any) -> Vectors:
        """Yield the embedding of each passage, with the prompt for documents if there is one."""
        return self.embed(texts, **{"prompt": self._prompt(DOCUMENT_PROMPTS), **options})

    def _prompt(self, names: Iterable[str]) -> str:
        prompts = self.model.prompts
        return next((prompts[name] for name in names if name in prompts), "")
