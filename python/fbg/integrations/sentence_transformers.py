"""SentenceTransformer: the class of that name of sentence-transformers, for programs that use it.

Neither sentence-transformers nor torch is needed; tensors are returned where torch is installed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fbg.checkpoints.files import read_optional
from fbg.errors import named_arguments, require_known
from fbg.integrations.drop_ins import DropIn, require_cpu
from fbg.integrations.vectors import SIMILARITIES, quantized, similarities, tensor
from fbg.model.directory import find_directory
from fbg.model.load import load_encoder
from fbg.model.model import Model
from fbg.tasks.embedding_precision import Precision
from fbg.tasks.inputs import require_texts
from fbg.threads import get_num_threads

__all__ = ["SentenceTransformer"]

SETTINGS = "config_sentence_transformers.json"


@named_arguments
class SentenceTransformer(DropIn):
    """Embeds sentences, with the methods, arguments and results of sentence-transformers.

    model_name_or_path: a directory or a hub id. prompts: replace those of the model.
    default_prompt_name: the prompt of `encode`. cache_folder, revision: where hub models are kept,
    and which version is taken. local_files_only: do not ask the hub. similarity_fn_name: "cosine",
    "dot", "euclidean" or "manhattan"; None: as the model says, else "cosine". truncate_dim: the
    dimensions of embeddings to keep.
    dtype, num_threads: as for `fbg.load`. device: None or "cpu". trust_remote_code: accepted and of
    no effect, since no code of models is run.

    Results differ from those of torch by rounding; with dtype="int8" by quantization, too.

    >>> model = SentenceTransformer("all-MiniLM-L6-v2", dtype="int8")  # doctest: +SKIP
    >>> rows = model.encode(["a cat", "a dog"])  # doctest: +SKIP
    >>> model.similarity(rows, rows).shape  # doctest: +SKIP
    (2, 2)
    """

    def __init__(
        self,
        model_name_or_path: str | os.PathLike[str],
        device: str | None = None,
        prompts: dict[str, str] | None = None,
        default_prompt_name: str | None = None,
        cache_folder: str | None = None,
        revision: str | None = None,
        similarity_fn_name: str | None = None,
        truncate_dim: int | None = None,
        *,
        trust_remote_code: bool = False,
        local_files_only: bool = False,
        dtype: str | None = None,
        num_threads: int | None = None,
    ) -> None:
        require_cpu("SentenceTransformer", device)
        self._name = os.fspath(model_name_or_path)
        directory = find_directory(
            _full_name(self._name),
            revision=revision,
            cache_folder=cache_folder,
            local_files_only=local_files_only,
        )
        self._arguments = (str(directory.absolute()), dtype)
        self.model: Model = load_encoder(directory, dtype, num_threads)
        sentence = self.model.sentence
        # Every model has these two, as in the original: empty ones, if it has none.
        self.prompts = {"query": "", "document": "", **(prompts or sentence.prompts)}
        self.default_prompt_name = default_prompt_name or sentence.default_prompt_name
        if self.default_prompt_name not in (None, *self.prompts):
            raise ValueError(
                f"SentenceTransformer: default_prompt_name must be one of {[*self.prompts]}, "
                f"got {default_prompt_name!r}"
            )
        self.truncate_dim = truncate_dim
        chosen = similarity_fn_name
        if chosen is None:
            chosen = read_optional(directory / SETTINGS).get("similarity_fn_name")
        self.similarity_fn_name = chosen or "cosine"
        if self.similarity_fn_name not in SIMILARITIES:
            raise ValueError(
                f"SentenceTransformer: similarity_fn_name must be one of {', '.join(SIMILARITIES)},"
                f" got {chosen!r}"
            )

    # --- What a model is ------------------------------------------------------------------------

    def __repr__(self) -> str:
        size = self.get_sentence_embedding_dimension()
        return (
            f"SentenceTransformer({self._name!r}, {size} dimensions, max_seq_length="
            f"{self.max_seq_length}, {self.similarity_fn_name}, {self.model!r})"
        )

    @property
    def max_seq_length(self) -> int:
        """The tokens at which sentences are cut; can be set."""
        return self.model.max_length

    @max_seq_length.setter
    def max_seq_length(self, value: int) -> None:
        self.model = self.model.with_max_length(value)

    def get_max_seq_length(self) -> int:
        """Return the tokens at which sentences are cut."""
        return self.model.max_length

    def get_sentence_embedding_dimension(self) -> int:
        """Return the length of embeddings."""
        return self.truncate_dim or self.model.embedding_dimension

    get_embedding_dimension = get_sentence_embedding_dimension

    def __len__(self) -> int:
        return 1

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

    def save_pretrained(
        self,
        path: str | os.PathLike[str],
        model_name: str | None = None,
        create_model_card: bool = True,
        train_datasets: Sequence[str] | None = None,
        safe_serialization: bool = True,
    ) -> None:
        """Write a directory that this class and `fbg.load` read; its weights are packed.

        path: created with the directories above it; a saved model there is replaced. The other
        arguments are about model cards and formats, and have no effect.
        """
        Path(path).absolute().parent.mkdir(parents=True, exist_ok=True)
        self.model.save(path, overwrite=True)

    save = save_pretrained

    @contextmanager
    def truncate_sentence_embeddings(self, truncate_dim: int | None) -> Iterator[None]:
        """Keep the first dimensions of embeddings in the block."""
        before, self.truncate_dim = self.truncate_dim, truncate_dim
        try:
            yield
        finally:
            self.truncate_dim = before

    # --- Embedding ------------------------------------------------------------------------------

    def encode(
        self,
        sentences: str | Sequence[str],
        prompt_name: str | None = None,
        prompt: str | None = None,
        batch_size: int = 32,
        show_progress_bar: bool | None = None,
        output_value: Literal["sentence_embedding"] = "sentence_embedding",
        precision: Precision = "float32",
        convert_to_numpy: bool = True,
        convert_to_tensor: bool = False,
        device: str | Sequence[str] | None = None,
        normalize_embeddings: bool = False,
        truncate_dim: int | None = None,
        pool: ProcessPoolExecutor | None = None,
        chunk_size: int | None = None,
    ) -> Any:
        """Return the embeddings of sentences: an array (sentences, dimension), or a vector.

        precision: "int8" and "uint8" take the ranges of each dimension from these sentences;
        "binary" and "ubinary" pack the signs of eight dimensions into a byte. convert_to_tensor:
        return a tensor; convert_to_numpy=False: a list of them. normalize_embeddings: True scales
        to length 1 after the truncation; False keeps the model's setting. pool: from
        `start_multi_process_pool`; chunk_size: sentences that a process receives at a time.

        Raises TypeError or ValueError for an argument, and NotImplementedError for another
        output_value.
        """
        if output_value != "sentence_embedding":
            raise NotImplementedError(
                f"encode: output_value must be 'sentence_embedding', got {output_value!r}"
            )
        require_cpu("encode", device)
        single = isinstance(sentences, str)
        texts: list[str] = [sentences] if isinstance(sentences, str) else list(sentences)
        options: dict[str, Any] = {
            "prompt": self._prompt(prompt_name, prompt),
            "batch_size": batch_size,
            "normalize_embeddings": True if normalize_embeddings else None,
            "truncate_dim": truncate_dim or self.truncate_dim,
        }
        if pool is None:
            bar = bool(show_progress_bar)
            rows = self.model.encode(texts, show_progress_bar=bar, **options)
        else:
            rows = self._encode_in(pool, texts, chunk_size, options)
        rows = quantized(rows, precision)
        if convert_to_tensor:
            return tensor(rows[0] if single else rows)
        if not convert_to_numpy:
            return tensor(rows[0]) if single else [tensor(row) for row in rows]
        return rows[0] if single else rows

    def encode_query(self, sentences: str | Sequence[str], **options: Any) -> Any:
        """Embed as `encode` with the prompt "query"; without one if the model does not have it."""
        require_known("encode_query", options, SentenceTransformer.encode)
        return self.encode(sentences, **{"prompt_name": "query", **options})

    def encode_document(self, sentences: str | Sequence[str], **options: Any) -> Any:
        """Embed as `encode` with the prompt "document"; without one if the model does not have it.

        As in sentence-transformers 6, a prompt "passage" is used only if it is asked for.
        """
        require_known("encode_document", options, SentenceTransformer.encode)
        return self.encode(sentences, **{"prompt_name": "document", **options})

    def _prompt(self, name: str | None, prompt: str | None) -> str:
        if prompt is not None:
            return prompt
        name = self.default_prompt_name if name is None else name
        if name is None:
            return ""
        if name not in self.prompts:
            raise ValueError(f"encode: prompt_name must be one of {[*self.prompts]}, got {name!r}")
        return self.prompts[name]

    def similarity(self, embeddings1: Any, embeddings2: Any) -> Any:
        """Return the similarity of each row of one with each of the other, (rows1, rows2).

        It is an array, or a tensor if one of the arguments is a tensor.
        """
        return similarities(self.similarity_fn_name, embeddings1, embeddings2, pairwise=False)

    def similarity_pairwise(self, embeddings1: Any, embeddings2: Any) -> Any:
        """Return the similarity of each row of one with the same row of the other, (rows,)."""
        return similarities(self.similarity_fn_name, embeddings1, embeddings2, pairwise=True)

    # --- Several processes ----------------------------------------------------------------------

    def start_multi_process_pool(
        self, target_devices: Sequence[str] | None = None
    ) -> ProcessPoolExecutor:
        """Return a pool for `encode`: a process for each device; None: one for each CPU.

        Its processes cut sentences at the `max_seq_length` of this moment.

        One process with threads is as fast on most machines, and takes less memory.
        """
        require_cpu("start_multi_process_pool", target_devices)
        cpus = get_num_threads()
        count = cpus if target_devices is None else len(target_devices)
        threads = max(1, cpus // max(1, count))
        return ProcessPoolExecutor(
            count,
            get_context("spawn"),
            _load_in_process,
            (*self._arguments, threads, self.max_seq_length),
        )

    @staticmethod
    def stop_multi_process_pool(pool: ProcessPoolExecutor) -> None:
        """End the processes of a pool."""
        pool.shutdown()

    def encode_multi_process(
        self, sentences: Sequence[str], pool: ProcessPoolExecutor, **options: Any
    ) -> Any:
        """Embed as `encode` with a pool."""
        require_known("encode_multi_process", options, SentenceTransformer.encode)
        return self.encode(sentences, pool=pool, **options)

    def _encode_in(
        self,
        pool: ProcessPoolExecutor,
        texts: list[str],
        chunk_size: int | None,
        options: dict[str, Any],
    ) -> npt.NDArray[np.float32]:
        size = chunk_size or 512
        futures = [
            pool.submit(_encode_in_process, texts[begin : begin + size], options)
            for begin in range(0, len(texts), size)
        ]
        if not futures:
            return self.model.encode([], **options)
        return np.concatenate([future.result() for future in futures])


def _full_name(name: str) -> str:
    """Return a path or hub id; names without an organization belong to sentence-transformers."""
    if "/" in name or os.path.exists(name):
        return name
    return f"sentence-transformers/{name}"


_model_of_process: list[Model] = []


def _load_in_process(path: str, dtype: str | None, num_threads: int, max_length: int) -> None:
    _model_of_process[:] = [load_encoder(path, dtype, num_threads).with_max_length(max_length)]


def _encode_in_process(texts: list[str], options: dict[str, Any]) -> npt.NDArray[np.float32]:
    return _model_of_process[0].encode(texts, **options)
