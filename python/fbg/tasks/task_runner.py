"""Runs the head of a model on encoded texts: packed batches, results in the order of the texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.errors import ModelError
from fbg.matmul.packed_b import PackedB
from fbg.matmul.product import linear
from fbg.model.save import Origin
from fbg.networks.heads import HEADS, describe_head
from fbg.networks.task_config import KINDS
from fbg.networks.transformer import Head, Transformer
from fbg.runtime.batches import MAX_TOKENS, chunks, pack_sequences
from fbg.runtime.runner import Runner
from fbg.text.tokenization import EncodedText, TextTokenizer

__all__ = ["TaskRunner"]

Floats = npt.NDArray[np.float32]

MAX_MASKS = 32  # of one product with the decoder: a panel of its packed factor


class TaskRunner:
    """The head of a model, or the explanation that there is none."""

    def __init__(
        self,
        transformer: Transformer,
        tokenizer: TextTokenizer,
        origin: Origin,
        num_threads: int | None,
    ) -> None:
        self.config = transformer.config
        self.tokenizer = tokenizer
        self.runner: Runner | None = None
        self._transformer = transformer
        self._directory = origin.directory
        self._num_threads = num_threads
        head = transformer.head
        if head is not None:
            names = HEADS[head.kind][self.config.model_type]
            if names.pooled and transformer.pooler is None:
                raise ModelError(
                    f"{self._directory}: {names.output}.weight follows a pooler, which is missing"
                )
            graph = _fbg.Graph()
            describe_head(graph, transformer, head)
            self.runner = Runner(graph, self.config.max_length)

    @property
    def runners(self) -> list[Runner]:
        """The runner of the head, if there is one."""
        return [] if self.runner is None else [self.runner]

    def head(self, task: str) -> Head:
        """Return the head if it is one for this method of Model; raises ModelError."""
        head, tasks = self._transformer.head, self.config.tasks
        if head is not None and task in KINDS[head.kind]:
            return head
        config = self._directory / "config.json"
        has = ", ".join(("encode", *(KINDS[head.kind] if head is not None else ())))
        if task in KINDS.get(tasks.kind, ()):
            raise ModelError(
                f"{task}: {config} names {tasks.kind}, but the checkpoint has no tensors of that "
                f"head; this model has: {has}"
            )
        kind = next(kind for kind, methods in KINDS.items() if task in methods)
        got = ", ".join(tasks.architectures) or "nothing"
        raise ModelError(
            f"{task}: {config}: architectures must name a model {kind}, got {got}; "
            f"this model has: {has}"
        )

    def logits(self, texts: Sequence[EncodedText], batch_size: int, where: str) -> list[Floats]:
        """Return the outputs of the head for each text, (1, labels) or (tokens, labels).

        A text without tokens has zeros or no rows. Each result depends on its own text alone.
        """
        assert self.runner is not None and self._transformer.head is not None
        head = self._transformer.head
        per_text = head.kind == "ForSequenceClassification"
        width = self._transformer.embeddings.word.shape[1]
        columns = width if head.output is None else len(head.labels)
        results = [np.zeros((int(per_text), columns), np.float32)] * len(texts)
        lengths = np.array([text.ids.size for text in texts], np.int64)
        # Longest first, so that the texts of a run have about one length.
        order = np.argsort(-lengths, kind="stable")
        order = order[lengths[order] > 0]
        for part in chunks(lengths[order].tolist(), MAX_TOKENS, batch_size):
            chosen = [texts[n] for n in order[part]]
            packed = pack_sequences([text.ids for text in chosen], self.config.pad_token_id)
            self._require_in(f"{where}: token ids", packed.ids, self.config.vocab_size)
            if self.config.type_vocab_size > 1:
                types = np.concatenate([text.types for text in chosen])
                self._require_in(f"{where}: token types", types, self.config.type_vocab_size)
                packed = replace(packed, types=types)
            rows = packed.sequences if per_text else packed.tokens
            output = np.empty((rows, columns), np.float32)
            self.runner.run(packed, [output], self._num_threads or _fbg.num_threads())
            ends = np.arange(1, rows) if per_text else packed.offsets[1:-1]
            for n, rows_of_text in zip(order[part], np.split(output, ends), strict=True):
                results[n] = rows_of_text
        return results

    def decode(self, states: Floats) -> Iterator[Floats]:
        """Yield the logits of every token of the vocabulary for each masked token.

        states: (masks, embedding_size), what `logits` gave for masked tokens.
        """
        head = self._transformer.head
        assert head is not None and head.decoder_bias is not None
        table = self._transformer.embeddings.word if head.decoder is None else head.decoder
        for begin in range(0, states.shape[0], MAX_MASKS):
            # The table is by far the larger factor: it is read where it lies, as the left one, and
            # the states are packed.
            part = states[begin : begin + MAX_MASKS]
            packed = PackedB(part, transpose=True, dtype="float32")
            columns = linear(table, packed, num_threads=self._num_threads or _fbg.num_threads())
            yield from columns.T + head.decoder_bias

    @staticmethod
    def _require_in(where: str, values: npt.NDArray[np.int32], limit: int) -> None:
        if values.size > 0 and not 0 <= values.min() <= values.max() < limit:
            wrong = values[(values < 0) | (values >= limit)][0]
            raise ValueError(f"{where} must be in [0, {limit}), got {wrong}")
