"""CrossEncoder: the class of that name of sentence-transformers, for programs that use it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from fbg.errors import named_arguments
from fbg.integrations.drop_ins import DropIn, require_cpu
from fbg.integrations.vectors import tensor
from fbg.model.directory import find_directory
from fbg.model.load import load_encoder
from fbg.model.model import Model
from fbg.tasks.engines import require_head
from fbg.tasks.rerank import ranked
from fbg.tasks.results import RankedDocument

__all__ = ["CrossEncoder"]

Activation = Literal["sigmoid", "none"]


@named_arguments
class CrossEncoder(DropIn):
    """Scores pairs of texts, with the methods, arguments and results of sentence-transformers.

    model_name_or_path: a directory or a hub id. max_length: the tokens at which pairs are cut;
    None: as the model says. cache_folder, revision: where hub models are kept, and which version is
    taken. local_files_only: do not ask the hub. activation_fn: "sigmoid" or "none"; None: as the
    model says. dtype, num_threads: as for `fbg.load`. device: None or "cpu". trust_remote_code:
    accepted and of no effect, since no code of models is run.

    >>> model = CrossEncoder("cross-encoder/ms-marco-MiniLM-L6-v2")  # doctest: +SKIP
    >>> model.rank("who wrote it?", ["no idea", "Harper Lee did"])  # doctest: +SKIP
    [{'corpus_id': 1, 'score': 8.1}, {'corpus_id': 0, 'score': -9.7}]
    """

    def __init__(
        self,
        model_name_or_path: str | os.PathLike[str],
        *,
        device: str | None = None,
        cache_folder: str | None = None,
        revision: str | None = None,
        max_length: int | None = None,
        activation_fn: Activation | None = None,
        trust_remote_code: bool = False,
        local_files_only: bool = False,
        dtype: str | None = None,
        num_threads: int | None = None,
    ) -> None:
        require_cpu("CrossEncoder", device)
        self._name = name = os.fspath(model_name_or_path)
        directory = find_directory(
            name,
            revision=revision,
            cache_folder=cache_folder,
            local_files_only=local_files_only,
        )
        self.model: Model = load_encoder(directory, dtype, num_threads)
        if max_length is not None:
            self.max_length = max_length
        self._activation = activation_fn
        # Raises here and now, rather than at the first pair, if the model is of another kind.
        head = require_head(self.model.network, self.model.directory, "predict")
        self.num_labels = len(head.labels)

    def __repr__(self) -> str:
        labels = f"{self.num_labels} label{'s' * (self.num_labels != 1)}"
        return f"CrossEncoder({self._name!r}, {labels}, {self.model!r})"

    @property
    def max_length(self) -> int:
        """The tokens at which pairs are cut; can be set."""
        return self.model.max_length

    @max_length.setter
    def max_length(self, value: int) -> None:
        self.model = self.model.with_max_length(value)

    def predict(
        self,
        sentences: Sequence[Any],
        batch_size: int = 32,
        show_progress_bar: bool | None = None,
        activation_fn: Activation | None = None,
        apply_softmax: bool = False,
        convert_to_numpy: bool = True,
        convert_to_tensor: bool = False,
        prompt: str | None = None,
        prompt_name: str | None = None,
    ) -> Any:
        """Return the scores of pairs: (pairs,), or (pairs, labels); of one pair without that axis.

        convert_to_tensor: return a tensor; convert_to_numpy=False: a list of tensors. prompt,
        prompt_name: the instruction for a decoder that reranks, or its name in the model.
        """
        if prompt is None and prompt_name is not None:
            if prompt_name not in self.model.prompts:
                has = ", ".join(map(repr, self.model.prompts)) or "none"
                raise ValueError(
                    f"CrossEncoder.predict: prompt_name must be one of {has}, got {prompt_name!r}"
                )
            prompt = self.model.prompts[prompt_name]
        scores = self.model.predict(
            sentences, activation_fn or self._activation, apply_softmax, batch_size, prompt=prompt
        )
        if convert_to_tensor:
            return tensor(np.asarray(scores))
        if not convert_to_numpy:
            return [tensor(np.asarray(score)) for score in np.atleast_1d(scores)]
        return scores

    def rank(
        self,
        query: str,
        documents: Sequence[str],
        top_k: int | None = None,
        return_documents: bool = False,
        batch_size: int = 32,
        show_progress_bar: bool | None = None,
        activation_fn: Activation | None = None,
    ) -> list[RankedDocument]:
        """Return {"corpus_id", "score"} of the best documents, best first; also "text" if asked.

        Raises ValueError if the model has several labels.
        """
        if self.num_labels != 1:
            raise ValueError(
                f"CrossEncoder.rank: the model must have one label, got {self.num_labels}"
            )
        scores = np.atleast_1d(
            self.predict([(query, text) for text in documents], batch_size, None, activation_fn)
        )
        return ranked(documents, scores, top_k, return_documents)
