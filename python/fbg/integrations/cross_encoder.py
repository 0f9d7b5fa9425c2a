"""CrossEncoder: the class of that name of sentence-transformers, for programs that use it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg.errors import needed
from fbg.integrations.drop_ins import DropIn, prompted, require_cpu, takes_old_names
from fbg.integrations.model_arguments import ModelArguments
from fbg.integrations.vectors import has_torch, in_form, tensor
from fbg.tasks.engines import require_head
from fbg.tasks.inputs import require_choice, require_count, require_pairs, require_texts
from fbg.tasks.rerank import Activation, is_one_pair, ranked
from fbg.tasks.results import RankedDocument
from fbg.tasks.scores import SCORES, softmax
from fbg.text.tokenization import Text

__all__ = ["CrossEncoder"]

# A function of logits (pairs, labels), such as a module of torch, or its name.
ActivationFunction = Activation | Callable[[Any], Any]
NAMES = {"sigmoid": "Sigmoid", "none": "Identity"}  # of torch.nn
OLD: dict[str, str | None] = {"activation_fct": "activation_fn", "num_workers": None}


@takes_old_names(
    {
        "__init__": {
            "model_name": "model_name_or_path",
            "automodel_args": "model_kwargs",
            "tokenizer_args": "processor_kwargs",
            "tokenizer_kwargs": "processor_kwargs",
            "config_args": "config_kwargs",
            "cache_dir": "cache_folder",
            "default_activation_function": "activation_fn",
            "classifier_dropout": None,
        },
        "predict": {**OLD, "sentences": "inputs"},
        "rank": {
            **OLD,
            **dict.fromkeys(("apply_softmax", "convert_to_numpy", "convert_to_tensor")),
        },
    }
)
class CrossEncoder(DropIn):
    """Scores pairs of texts, with the methods, arguments and results of sentence-transformers.

    model_name_or_path: a directory or a hub id. num_labels: None, or how many the model has.
    max_length: the tokens at which pairs are cut; None: as the model says. activation_fn: "sigmoid"
    or "none", or a function of tensors (pairs, labels), such as torch.nn.Sigmoid(); None: as the
    model says. keep_in_fp32_modules: None, or none of them. The others are those of
    `SentenceTransformer`.

    >>> model = CrossEncoder("cross-encoder/ms-marco-MiniLM-L6-v2")  # doctest: +SKIP
    >>> model.rank("who wrote it?", ["no idea", "Harper Lee did"])  # doctest: +SKIP
    [{'corpus_id': 1, 'score': 8.1}, {'corpus_id': 0, 'score': -9.7}]
    """

    model_type = "CrossEncoder"

    def __init__(
        self,
        model_name_or_path: str | os.PathLike[str] | None = None,
        *,
        modules: object = None,
        device: str | None = None,
        prompts: Mapping[str, str | None] | None = None,
        default_prompt_name: str | None = None,
        cache_folder: str | None = None,
        trust_remote_code: bool = False,
        revision: str | None = None,
        local_files_only: bool = False,
        token: bool | str | None = None,
        model_kwargs: Mapping[str, Any] | None = None,
        processor_kwargs: Mapping[str, Any] | None = None,
        config_kwargs: Mapping[str, Any] | None = None,
        model_card_data: Any = None,
        backend: str = "torch",
        num_labels: int | None = None,
        max_length: int | None = None,
        activation_fn: ActivationFunction | None = None,
        keep_in_fp32_modules: Sequence[str] | None = None,
        dtype: str | None = None,
        num_threads: int | None = None,
    ) -> None:
        if keep_in_fp32_modules:
            raise ValueError("CrossEncoder: keep_in_fp32_modules must be empty: pass dtype=")
        given = dict(config_kwargs or {})
        labels = given.pop("num_labels", None)
        self._open(ModelArguments.of("cross-encoder", {**locals(), "config_kwargs": given}))
        if max_length is not None:
            self.max_seq_length = max_length
        # Raises here and now, rather than at the first pair, if the model is of another kind.
        head = require_head(self.model.network, self.model.directory, "predict")
        self._templated = head.kind == "ForCausalLM"
        self.num_labels = len(head.labels)
        wanted = labels if num_labels is None else num_labels
        if wanted not in (None, self.num_labels):
            raise ValueError(
                f"CrossEncoder: num_labels must be {self.num_labels}, as the model has, or None, "
                f"got {wanted!r}: a new head has no weights"
            )
        self.activation_fn = activation_fn

    def __repr__(self) -> str:
        labels = f"{self.num_labels} label{'s' * (self.num_labels != 1)}"
        return f"CrossEncoder({self._name!r}, {labels}, {self.model!r})"

    @property
    def max_length(self) -> int:
        """The tokens at which pairs are cut; can be set."""
        return self.model.max_length

    @max_length.setter
    def max_length(self, value: int) -> None:
        self.max_seq_length = value

    @property
    def activation_fn(self) -> Any:
        """The function that makes scores of logits; can be set; None: that of the model.

        It is a module of torch where torch is installed, and otherwise a name.
        """
        return self._activation

    @activation_fn.setter
    def activation_fn(self, value: ActivationFunction | None) -> None:
        if value is None:
            value = self.get_default_activation_fn()
        self._activation = _checked("CrossEncoder", value)

    @property
    def default_activation_function(self) -> Any:
        """The same as activation_fn, its name of today."""
        warnings.warn(
            "The `default_activation_function` property was renamed and is now deprecated. "
            "Please use `activation_fn` instead.",
            DeprecationWarning,
            stacklevel=2,
        )
        return self._activation

    def get_default_activation_fn(self) -> Any:
        """Return the function that the model names, as `activation_fn` does."""
        model = self.model
        named = model.sentence.pair_activation or model.config.tasks.pair_activation
        name = named or ("sigmoid" if self.num_labels == 1 else "none")
        if not has_torch():
            return name
        with needed("modules"):
            from torch import nn
        return getattr(nn, NAMES[name])()

    def is_singular_input(self, inputs: object) -> bool:
        """Whether this is one pair, and not several."""
        return is_one_pair(inputs)

    def tokenize(self, texts: Sequence[Text]) -> dict[str, Any]:
        """Return the token ids of pairs, as `preprocess` does."""
        return self.preprocess(texts)

    def _settings(self) -> dict[str, Any]:
        given = self._activation
        name = NAMES[given] if isinstance(given, str) else type(given).__name__
        if name not in NAMES.values():
            raise ValueError(
                f"CrossEncoder.save: activation_fn must be one of {', '.join(NAMES.values())}, "
                f"which a model can name, got {name}"
            )
        return {**super()._settings(), "activation_fn": f"torch.nn.{name}"}

    def predict(
        self,
        inputs: Any,
        prompt_name: str | None = None,
        prompt: str | None = None,
        batch_size: int = 32,
        show_progress_bar: bool | None = None,
        activation_fn: ActivationFunction | None = None,
        apply_softmax: bool | None = False,
        convert_to_numpy: bool = True,
        convert_to_tensor: bool = False,
        device: str | Sequence[str] | None = None,
        pool: ProcessPoolExecutor | None = None,
        chunk_size: int | None = None,
        *,
        processing_kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Return the scores of pairs: (pairs,), or (pairs, labels); of one pair without that axis.

        prompt, prompt_name: a text before the first text of each pair, or its name; for a decoder
        that reranks, the instruction. convert_to_tensor: return a tensor; convert_to_numpy=False: a
        list of tensors. show_progress_bar: has no effect. device, pool, chunk_size,
        processing_kwargs: as in `SentenceTransformer.encode`.

        Raises TypeError or ValueError for an argument.
        """
        require_cpu("predict", device)
        one = is_one_pair(inputs)
        given: list[Text] = [*require_pairs("predict: inputs", [inputs] if one else inputs)]
        instruction = self._prompt(prompt, prompt_name)
        pairs = given if self._templated else prompted(instruction, given)
        options = {
            "activation_fn": "none",
            "batch_size": require_count("predict: batch_size", batch_size),
            "prompt": instruction if self._templated else None,
        }
        if pool is not None:
            logits = self._in_pool(pool, "predict", pairs, chunk_size, options)
        else:
            model = self._cutting("predict", processing_kwargs)
            logits = model.predict(pairs, **options)  # type: ignore[arg-type]
        chosen = self._activation if activation_fn is None else activation_fn
        scores = self._scores(np.asarray(logits), _checked("predict", chosen), bool(apply_softmax))
        return in_form(scores, one, convert_to_numpy, convert_to_tensor)

    def _scores(
        self, logits: npt.NDArray[Any], activation: ActivationFunction, apply_softmax: bool
    ) -> npt.NDArray[Any]:
        """Return the scores of logits, (pairs,) or (pairs, labels)."""
        rows = logits.reshape(-1, self.num_labels)
        if isinstance(activation, str):
            scores = SCORES[activation](rows).astype(np.float32)
        elif type(activation).__name__ == "Sigmoid":  # the same bits as by its name
            scores = SCORES["sigmoid"](rows).astype(np.float32)
        else:
            scores = activation(tensor(rows)).detach().float().numpy()
        if self.num_labels == 1:
            return scores.reshape(-1)
        return softmax(scores).astype(np.float32) if apply_softmax and len(scores) else scores

    def rank(
        self,
        query: str,
        documents: Iterable[str],
        top_k: int | None = None,
        return_documents: bool = False,
        prompt_name: str | None = None,
        prompt: str | None = None,
        batch_size: int = 32,
        show_progress_bar: bool | None = None,
        activation_fn: ActivationFunction | None = None,
        device: str | Sequence[str] | None = None,
        pool: ProcessPoolExecutor | None = None,
        chunk_size: int | None = None,
    ) -> list[RankedDocument]:
        """Return {"corpus_id", "score"} of the best documents, best first; also "text" if asked.

        documents: an iterable of str, such as a list or a column of a table; "corpus_id" is the
        place of a document in it. The other arguments are those of `predict`.

        Raises ValueError if the model has several labels, TypeError for other documents, such as a
        single str.
        """
        if self.num_labels != 1:
            raise ValueError(
                "CrossEncoder.rank() only works for models with num_labels=1: the model must have "
                f"one label, got {self.num_labels}. Consider using CrossEncoder.predict() with "
                "input pairs instead."
            )
        if not isinstance(query, str):
            raise TypeError(f"rank: query must be a str, got {type(query).__name__}")
        if top_k is not None:
            require_count("rank: top_k", top_k, 0)
        texts = require_texts("rank: documents", documents, several=True)
        scores = self.predict(
            [(query, text) for text in texts],
            prompt_name,
            prompt,
            batch_size,
            show_progress_bar,
            activation_fn,
            device=device,
            pool=pool,
            chunk_size=chunk_size,
        )
        return ranked(texts, scores, top_k, return_documents)


def _checked(where: str, activation: object) -> Any:
    """Return a function of logits, or its name; raises ValueError for another one."""
    if callable(activation) and not isinstance(activation, type):
        return activation
    return require_choice(f"{where}: activation_fn", activation, tuple(NAMES))
