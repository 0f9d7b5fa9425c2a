"""SentenceTransformer: the class of that name of sentence-transformers, for programs that use it.

Neither sentence-transformers nor torch is needed; tensors are returned where torch is installed.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from inspect import signature
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fbg.arrays import require_integer
from fbg.integrations.drop_ins import (
    DropIn,
    require_choices,
    require_cpu,
    takes_old_names,
    texts_of,
)
from fbg.integrations.model_arguments import ModelArguments
from fbg.integrations.vectors import in_form, quantized, require_similarity, similarities, tensor
from fbg.model.model import Model
from fbg.runtime.steps import run_steps
from fbg.tasks.embedding_precision import Precision
from fbg.tasks.encode import EncodeOptions
from fbg.tasks.inputs import MOST, require_count, require_texts, text_blocks
from fbg.text.tokenization import Text

__all__ = ["SentenceTransformer"]

Inputs = str | Sequence[Text] | Mapping[str, str]
Output = Literal["sentence_embedding", "token_embeddings"] | None
OLD: dict[str, str | None] = {"sentences": "inputs"}


@takes_old_names(
    {
        "__init__": {"tokenizer_kwargs": "processor_kwargs"},
        **dict.fromkeys(("encode", "encode_query", "encode_document"), OLD),
    }
)
class SentenceTransformer(DropIn):
    """Embeds sentences, with the methods, arguments and results of sentence-transformers.

    model_name_or_path: a directory or a hub id. prompts: go before those of the model.
    default_prompt_name: the prompt of `encode`. cache_folder, revision, token: where hub models are
    kept, which version is taken, and who asks. local_files_only: do not ask the hub.
    similarity_fn_name: "cosine", "dot", "euclidean" or "manhattan"; None: as the model says, else
    "cosine". truncate_dim: the dimensions of embeddings to keep.
    model_kwargs, processor_kwargs: a `dtype`; a `model_max_length` and a `truncation_side`. These
    and config_kwargs also take what has no effect here; other keys are refused. model_card_data: an
    object that evaluators write to. backend: "torch", which means no other backend.
    dtype, num_threads: as for `fbg.load`. device: None or "cpu". trust_remote_code: accepted and of
    no effect, since no code of models is run. modules: refused.

    Results differ from those of torch by rounding; with dtype="int8" by quantization, too.

    >>> model = SentenceTransformer("all-MiniLM-L6-v2", dtype="int8")  # doctest: +SKIP
    >>> rows = model.encode(["a cat", "a dog"])  # doctest: +SKIP
    >>> model.similarity(rows, rows).shape  # doctest: +SKIP
    (2, 2)
    """

    _USUAL = MappingProxyType({"query": None, "document": None})

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
        use_auth_token: bool | str | None = None,
        model_kwargs: Mapping[str, Any] | None = None,
        processor_kwargs: Mapping[str, Any] | None = None,
        config_kwargs: Mapping[str, Any] | None = None,
        model_card_data: Any = None,
        backend: str = "torch",
        similarity_fn_name: str | None = None,
        truncate_dim: int | None = None,
        dtype: str | None = None,
        num_threads: int | None = None,
    ) -> None:
        self.similarity_fn_name, self.truncate_dim = similarity_fn_name, truncate_dim
        if use_auth_token is not None:
            warnings.warn("`use_auth_token` is now `token`", FutureWarning, stacklevel=4)
            if token is not None:
                raise ValueError("Both `token` and `use_auth_token` are specified: pass token only")
            token = use_auth_token
        self._open(ModelArguments.of("sentence-transformers", locals()))
        saved = self._saved_settings
        if similarity_fn_name is None:
            self.similarity_fn_name = saved.get("similarity_fn_name")
        if truncate_dim is None:
            self.truncate_dim = saved.get("truncate_dim")

    # --- What a model is ------------------------------------------------------------------------

    def __repr__(self) -> str:
        size = self.get_embedding_dimension()
        return (
            f"SentenceTransformer({self._name!r}, {size} dimensions, max_seq_length="
            f"{self.max_seq_length}, {self.similarity_fn_name}, {self.model!r})"
        )

    @property
    def similarity_fn_name(self) -> str:
        """The name of the function of `similarity`; can be set, also to None: "cosine"."""
        return self._similarity

    @similarity_fn_name.setter
    def similarity_fn_name(self, name: object) -> None:
        where = "SentenceTransformer"
        self._similarity = "cosine" if name is None else require_similarity(where, name)

    @property
    def truncate_dim(self) -> int | None:
        """The dimensions of embeddings that are kept; can be set; None: all."""
        return self._truncate_dim

    @truncate_dim.setter
    def truncate_dim(self, value: int | None) -> None:
        self._truncate_dim = _dimensions("SentenceTransformer", value)

    def get_embedding_dimension(self) -> int:
        """Return the length of embeddings."""
        return min(self.truncate_dim or MOST, self.model.context.engines.dimension)

    get_sentence_embedding_dimension = get_embedding_dimension

    def __len__(self) -> int:
        return 1

    def is_singular_input(self, inputs: object) -> bool:
        """Whether this is one input, whose embedding has one dimension, and not several."""
        if isinstance(inputs, np.ndarray):
            return inputs.ndim == 0 or inputs.dtype.kind not in "UOS"
        return isinstance(inputs, (str, bytes, Mapping)) or not isinstance(inputs, Iterable)

    def tokenize(self, texts: Sequence[str]) -> dict[str, npt.NDArray[np.int64]]:
        """Return the `input_ids` and the `attention_mask` of texts, (texts, tokens) each.

        They are arrays, as `Model.forward` takes them.
        """
        rows = self.model.tokenizer(require_texts("tokenize: texts", texts, several=True))
        shape = (len(rows), max((row.size for row in rows), default=0))
        ids = np.full(shape, self.model.tokenizer.padding_id or 0, np.int64)
        mask = np.zeros(shape, np.int64)
        for n, row in enumerate(rows):
            ids[n, : row.size], mask[n, : row.size] = row, 1
        return {"input_ids": ids, "attention_mask": mask}

    def _settings(self) -> dict[str, Any]:
        own = {"similarity_fn_name": self.similarity_fn_name, "truncate_dim": self.truncate_dim}
        return {**super()._settings(), **own}

    @contextmanager
    def truncate_embeddings(self, truncate_dim: int | None) -> Iterator[None]:
        """Keep the first dimensions of embeddings in the block."""
        before, self.truncate_dim = self.truncate_dim, truncate_dim
        try:
            yield
        finally:
            self.truncate_dim = before

    truncate_sentence_embeddings = truncate_embeddings

    @staticmethod
    def load(input_path: str) -> SentenceTransformer:
        """Return the model of a directory, as the constructor does."""
        return SentenceTransformer(input_path)

    # --- Embedding ------------------------------------------------------------------------------

    def encode(
        self,
        inputs: Inputs,
        prompt_name: str | None = None,
        prompt: str | None = None,
        batch_size: int = 32,
        show_progress_bar: bool | None = None,
        output_value: Output = "sentence_embedding",
        precision: Precision | None = "float32",
        convert_to_numpy: bool = True,
        convert_to_tensor: bool = False,
        device: str | Sequence[str] | None = None,
        normalize_embeddings: bool = False,
        truncate_dim: int | None = None,
        pool: ProcessPoolExecutor | None = None,
        chunk_size: int | None = None,
        *,
        task: str | None = None,
        processing_kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Return the embeddings of inputs: an array (inputs, dimension), or a vector.

        inputs: a text, or an iterable of texts and of pairs of texts, which are one sequence each.
        output_value: "token_embeddings" gives a tensor (tokens, hidden size) for each input, and
        None a dict with these, the embedding and the token ids.
        precision: "int8" and "uint8" take the ranges of each dimension from these sentences;
        "binary" and "ubinary" pack the signs of eight dimensions into a byte. convert_to_tensor:
        return a tensor; convert_to_numpy=False: a list of them. normalize_embeddings: True scales
        to length 1 after the truncation; False keeps the model's setting. pool: from
        `start_multi_process_pool`; chunk_size: sentences that a process receives at a time.
        device: "cpu", or several of them, which make no difference. task: "query" or "document",
        which make no difference to models that are loaded here. processing_kwargs: a `max_length`
        of this call.

        Raises TypeError or ValueError for an argument.
        """
        require_cpu("encode", device)
        require_choices(output_value, precision, task)
        single = isinstance(inputs, (str, Mapping))
        texts = texts_of("encode: inputs", inputs)
        model = self._cutting("encode", processing_kwargs)
        cut = _dimensions("encode", truncate_dim) or self.truncate_dim or MOST
        options: dict[str, Any] = {
            "prompt": self._prompt(prompt, prompt_name) or "",
            "batch_size": require_count("encode: batch_size", batch_size),
            "normalize_embeddings": True if normalize_embeddings else None,
            "truncate_dim": min(cut, model.context.engines.dimension),
        }
        if output_value != "sentence_embedding":
            found = list(self._outputs(model, _only_texts(texts), output_value, options))
            return found[0] if single else found
        if pool is not None:
            rows = self._in_pool(pool, "encode", _only_texts(texts), chunk_size, options)
        else:
            rows = _embedded(model, texts, options, bool(show_progress_bar))
        rows = quantized(rows, precision)
        return in_form(rows, single, convert_to_numpy, convert_to_tensor)

    def _outputs(
        self, model: Model, texts: Sequence[str], output_value: Output, options: dict[str, Any]
    ) -> Iterator[Any]:
        """Yield the states of tokens of each text, or all that modules of torch would return."""
        encoder = model.encoder(EncodeOptions(**{**options, "normalize_embeddings": None}))
        for block in text_blocks(texts):
            states = run_steps(encoder.token_states(block), model.num_threads)
            if output_value == "token_embeddings":
                yield from map(tensor, states)
                continue
            rows = run_steps(encoder.embed(block), model.num_threads)
            for text, tokens, row in zip(block, states, rows, strict=True):
                found = self._preprocessed(model, [text], options["prompt"])
                own = {key: value[0] for key, value in found.items() if hasattr(value, "ndim")}
                yield {
                    **found,
                    **own,
                    "token_embeddings": tensor(tokens),
                    "sentence_embedding": tensor(row),
                }

    def encode_query(
        self,
        inputs: Inputs,
        prompt_name: str | None = None,
        prompt: str | None = None,
        *more: Any,
        **options: Any,
    ) -> Any:
        """Embed as `encode` with the prompt "query"; without one if the model does not have it."""
        if prompt_name is None and prompt is None and "query" in self.prompts:
            prompt_name = "query"
        return self.encode(
            inputs=inputs,
            prompt_name=prompt_name,
            prompt=prompt,
            task="query",
            **_by_name("encode_query", more),
            **options,
        )

    def encode_document(
        self,
        inputs: Inputs,
        prompt_name: str | None = None,
        prompt: str | None = None,
        *more: Any,
        **options: Any,
    ) -> Any:
        """Embed as `encode` with the first of the prompts "document", "passage" and "corpus" that
        there is; without one if there is none.

        As in sentence-transformers 6, every model has a prompt "document", which may be empty,
        until `prompts` is set.
        """
        if prompt_name is None and prompt is None:
            names = ("document", "passage", "corpus")
            prompt_name = next((name for name in names if name in self.prompts), None)
        return self.encode(
            inputs=inputs,
            prompt_name=prompt_name,
            prompt=prompt,
            task="document",
            **_by_name("encode_document", more),
            **options,
        )

    def similarity(self, embeddings1: Any, embeddings2: Any) -> Any:
        """Return the similarity of each row of one with each of the other, (rows1, rows2).

        It is an array, or a tensor if one of the arguments is a tensor.
        """
        return similarities(self.similarity_fn_name, embeddings1, embeddings2, pairwise=False)

    def similarity_pairwise(self, embeddings1: Any, embeddings2: Any) -> Any:
        """Return the similarity of each row of one with the same row of the other, (rows,)."""
        return similarities(self.similarity_fn_name, embeddings1, embeddings2, pairwise=True)

    def encode_multi_process(
        self, inputs: Inputs, pool: ProcessPoolExecutor, **options: Any
    ) -> Any:
        """Embed as `encode` with a pool."""
        return self.encode(inputs, pool=pool, **options)


def _by_name(method: str, more: Sequence[Any]) -> dict[str, Any]:
    """Return arguments of `encode` by name that were given by place behind the prompt."""
    names = list(signature(SentenceTransformer.encode).parameters)[4:]
    if len(more) > len(names):
        raise TypeError(f"{method}: takes at most {len(names) + 3} arguments by place")
    return dict(zip(names, more, strict=False))


def _dimensions(where: str, value: int | None) -> int | None:
    """Return how many dimensions to keep; raises ValueError for none of them."""
    return None if value is None else require_integer(value, f"{where}: truncate_dim", 1, MOST)


def _only_texts(texts: Sequence[Text]) -> list[str]:
    """Return inputs for a pool; raises TypeError for pairs."""
    return require_texts("encode with a pool: inputs", texts, several=True)


def _embedded(
    model: Model, texts: Sequence[Text], options: dict[str, Any], show: bool
) -> npt.NDArray[np.float32]:
    """Return the embeddings of texts and pairs, (texts, dimension)."""
    if not any(isinstance(text, tuple) for text in texts):
        return model.encode(_only_texts(texts), show_progress_bar=show, **options)
    encoder = model.encoder(EncodeOptions(**options))
    blocks = text_blocks(texts)
    return np.concatenate(
        [run_steps(encoder.embed_pairs(block), model.num_threads) for block in blocks]
    )
