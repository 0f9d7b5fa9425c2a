"""AsyncModel: the tasks of a model as coroutines that share one queue, and so share batches."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import os
import time
import weakref
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NoReturn, TypeVar, cast

from fbg.arrays import Floats, Indices
from fbg.errors import ClosedError
from fbg.model.model import Model
from fbg.runtime.batcher import Batcher, Future
from fbg.runtime.event_loop import LoopCalls, in_thread
from fbg.runtime.steps import Request, Steps
from fbg.tasks.context import steps_of
from fbg.tasks.encode import SENTENCES, EncodeOptions
from fbg.tasks.inputs import require_texts
from fbg.tasks.late_interaction.hybrid import HybridEmbeddings
from fbg.tasks.sparse import SparseEmbeddings, encode_sparse_steps

CLOSED = "the AsyncModel is closed"

Result = TypeVar("Result")

# Texts of so many characters in total are tokenized in the event loop, which takes less time than
# handing them to a thread would be worth; longer ones would hold up other requests.
INLINE_CHARACTERS = 2048


@dataclass
class Record:
    """The cost of a request: tokens computed, and seconds of each stage.

    tokenization: everything outside the queue, including work after the computation.
    queue: until a batch took the first part. inference: from then until the last part was done.
    max_numbers: limit of numbers that models compute for the request; more are a ValueError before
    they are computed. None: no limit; only with a limit are `numbers` counted. max_sequences: limit
    of texts, pictures and windows of long texts; more are a ValueError before they are made.
    background: whether nobody waits for it, so that it is a bulk request, however short.
    """

    tokens: int = 0
    sequences: int = 0
    tokenization: float = 0.0
    queue: float = 0.0
    inference: float = 0.0
    numbers: int = 0
    max_numbers: int | None = None
    max_sequences: int | None = None
    background: bool = False

    def count_numbers(self, request: Request) -> None:
        """Count the numbers that a request will compute; raises ValueError if these, or the
        sequences of its call, are too many.
        """
        number = request.before + len(request.ids) + request.after
        if self.max_sequences is not None and number > self.max_sequences:
            raise ValueError(
                f"{request.where}: the texts of a request may be read in at most "
                f"{self.max_sequences} windows in total, got {number}; pass shorter texts, or "
                "windows that share less"
            )
        if self.max_numbers is None:
            return
        engine = request.engine
        rows = sum(ids.size for ids in request.ids) if engine.per_token else len(request.ids)
        self.numbers += rows * engine.columns
        if self.numbers > self.max_numbers:
            raise ValueError(
                f"{request.where}: the vectors of all tokens may have at most {self.max_numbers} "
                f"numbers in total, got {self.numbers}; pass fewer or shorter texts"
            )

    def count(self, future: Future) -> None:
        """Add the cost of a request that is finished."""
        self.tokens += future.tokens
        self.sequences += len(future.results)
        started = future.started or future.submitted
        self.queue += started - future.submitted
        self.inference += max(future.finished - started, 0.0)


def _advance(
    steps: Steps[Result], outputs: list[Floats] | None
) -> tuple[Request, None] | tuple[None, Result]:
    """Return the request that a task makes next, or what it returns."""
    try:
        return next(steps) if outputs is None else steps.send(outputs), None
    except StopIteration as end:
        return None, end.value


class AsyncModel:
    """The tasks of a model as coroutines, for programs that embed the engine.

    Calls that run at the same time share batches, on a queue that favours short requests
    (runtime/batcher.py); each gets what `Model` gives for it alone, to the bit. A task that is
    cancelled leaves the queue. Arguments and errors are those of the methods of Model; `record`
    receives the cost of a call.

    model: from `fbg.load`. queue: to share with other models; None makes one, with the threads of
    the model. on_batch: called with (tokens, sequences) of every batch, from any thread.

    >>> async with fbg.AsyncModel(model) as m:  # doctest: +SKIP
    ...     vectors = await asyncio.gather(*(m.encode(text) for text in texts))
    """

    def __init__(
        self,
        model: Model,
        queue: Batcher | None = None,
        on_batch: Callable[[int, int], None] = lambda tokens, sequences: None,
    ) -> None:
        if not isinstance(model, Model):
            raise TypeError(f"AsyncModel: model must be an fbg.Model, got {type(model).__name__}")
        self.model = model
        self._queue = Batcher(model.num_threads) if queue is None else queue
        self._owns_queue = queue is None
        self._on_batch = on_batch
        self._pool = ThreadPoolExecutor(2, "fbg-tokenize")
        self._life, self._process = SimpleNamespace(closed=False), os.getpid()
        self._loops: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, LoopCalls]
        self._loops = weakref.WeakKeyDictionary()

    def __reduce__(self) -> NoReturn:
        raise TypeError("an AsyncModel cannot be pickled, nor copied: pickle its model instead")

    async def __aenter__(self) -> AsyncModel:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Let the requests that have begun in this event loop end, then close.

        A request whose task has only been created has begun, too.
        """
        loop = asyncio.get_running_loop()
        try:
            await asyncio.sleep(0)
            self._life.closed = True
            if loop in self._loops:
                await self._loops[loop].ended()
        finally:
            await loop.run_in_executor(None, self.close)

    def cutting(self, side: str) -> AsyncModel:
        """Return one that cuts long texts at another side, with the queue and threads of this."""
        return self._with(self.model.with_truncation_side(side))

    def with_adapter(self, name: str) -> AsyncModel:
        """As `Model.with_adapter`, with the queue and threads of this one, and closed with it."""
        return self._with(self.model.with_adapter(name))

    def _with(self, model: Model) -> AsyncModel:
        other = object.__new__(AsyncModel)
        other.__dict__.update(self.__dict__, model=model)
        return other

    def close(self) -> None:
        """Let what was submitted end, then stop the threads; later calls raise ClosedError.

        So do requests that have begun, when they reach a part that was not submitted.
        """
        self._life.closed = True
        self._submit_now()
        self._pool.shutdown()
        if self._owns_queue:
            self._queue.close()

    def _submit_now(self) -> None:
        """Pass to the queue what the requests of the running event loop, if any, have submitted."""
        with contextlib.suppress(RuntimeError):
            waiting = self._loops.get(asyncio.get_running_loop())
            if waiting is not None:
                waiting.submit()

    # --- Tasks --------------------------------------------------------------------------------

    async def encode(
        self,
        sentences: str | Iterable[str],
        record: Record | None = None,
        **options: Any,
    ) -> Floats:
        """As `Model.encode`."""
        encoder = self.model.encoder(EncodeOptions(**options))
        texts = require_texts(SENTENCES, sentences)
        rows = await self.run(encoder.embed(texts), record, _characters(texts))
        return rows[0] if isinstance(sentences, str) else rows

    async def encode_tokens(
        self,
        sequences: Sequence[Indices],
        record: Record | None = None,
        **options: Any,
    ) -> Floats:
        """Embed token ids, special tokens included; returns (sequences, dimension)."""
        encoder = self.model.encoder(EncodeOptions(**options))
        self._require_fitting(sequences)
        return await self.run(encoder.embed_tokens(sequences), record, 0)

    def _require_fitting(self, sequences: Sequence[Indices]) -> None:
        longest = self.model.max_length
        for n, ids in enumerate(sequences):
            if ids.size > longest:
                raise ValueError(
                    f"sequences[{n}] has {ids.size} tokens, but the model takes at most {longest}"
                )

    async def token_states(
        self, sequences: Sequence[Indices], record: Record | None = None
    ) -> list[Floats]:
        """Return the hidden states of token ids, special tokens included: (tokens, hidden) each."""
        self._require_fitting(sequences)
        return await self.run(self.model.encoder().states_of_tokens(sequences), record, 0)

    async def token_embeddings(
        self,
        sentences: Sequence[str],
        truncation: bool = True,
        record: Record | None = None,
        prompt_name: str | None = None,
    ) -> list[Floats]:
        """Return the hidden states of the tokens of each sentence, (tokens, hidden) each.

        prompt_name: as in `Model.encode`; the tokens of the prompt are included.
        """
        encoder = self.model.encoder(EncodeOptions(truncation=truncation, prompt_name=prompt_name))
        return await self.run(encoder.token_states(sentences), record, _characters(sentences))

    async def encode_sparse(
        self, sentences: str | Sequence[str], record: Record | None = None, **options: Any
    ) -> SparseEmbeddings:
        """As `Model.encode_sparse`."""
        return await self.run(encode_sparse_steps(self.model.context, sentences, **options), record)

    async def encode_multi(
        self, texts: str | Sequence[str], record: Record | None = None, **options: Any
    ) -> Floats | list[Floats]:
        """As `Model.encode_multi`."""
        return await self._task(Model.encode_multi, record, options, texts)

    async def rank(
        self, query: str, documents: Sequence[str], record: Record | None = None, **options: Any
    ) -> Any:
        """As `Model.rank`."""
        return await self._task(Model.rank, record, options, query, documents, inline=False)

    async def encode_hybrid(
        self, texts: str | Sequence[str], record: Record | None = None, **options: Any
    ) -> HybridEmbeddings:
        """As `Model.encode_hybrid`."""
        return await self._task(Model.encode_hybrid, record, options, texts, inline=False)

    async def encode_chunks(
        self, document: str, spans: Any, record: Record | None = None, **options: Any
    ) -> Floats:
        """As `Model.encode_chunks`. `model.chunk_spans` makes spans."""
        return await self._task(Model.encode_chunks, record, options, document, spans, inline=False)

    async def classify(self, texts: Any, record: Record | None = None, **options: Any) -> Any:
        """As `Model.classify`."""
        return await self._task(Model.classify, record, options, texts)

    async def predict(self, inputs: Any, record: Record | None = None, **options: Any) -> Any:
        """As `Model.predict`."""
        return await self._task(Model.predict, record, options, inputs)

    async def rerank(
        self, query: str, documents: Sequence[str], record: Record | None = None, **options: Any
    ) -> Any:
        """As `Model.rerank`."""
        return await self._task(Model.rerank, record, options, query, documents)

    async def ner(self, texts: Any, record: Record | None = None, **options: Any) -> Any:
        """As `Model.ner`."""
        # Spans of words are scored for each label, however short the text.
        inline = options.get("labels") is None
        return await self._task(Model.ner, record, options, texts, inline=inline)

    async def answer(
        self, question: Any, context: Any, record: Record | None = None, **options: Any
    ) -> Any:
        """As `Model.answer`."""
        return await self._task(Model.answer, record, options, question, context, inline=False)

    async def fill_mask(self, texts: Any, record: Record | None = None, **options: Any) -> Any:
        """As `Model.fill_mask`."""
        return await self._task(Model.fill_mask, record, options, texts, inline=False)

    async def zero_shot_classify(
        self, texts: Any, candidate_labels: Any, record: Record | None = None, **options: Any
    ) -> Any:
        """As `Model.zero_shot_classify`."""
        method = Model.zero_shot_classify
        return await self._task(method, record, options, texts, candidate_labels, inline=False)

    async def encode_image(
        self, images: Any, record: Record | None = None, **options: Any
    ) -> Floats:
        """As `Model.encode_image`; pictures are decoded and resized in a thread."""
        return await self._task(Model.encode_image, record, options, images, inline=False)

    async def classify_image(
        self, images: Any, record: Record | None = None, **options: Any
    ) -> Any:
        """As `Model.classify_image`."""
        return await self._task(Model.classify_image, record, options, images, inline=False)

    async def zero_shot_classify_image(
        self, images: Any, candidate_labels: Any, record: Record | None = None, **options: Any
    ) -> Any:
        """As `Model.zero_shot_classify_image`."""
        method = Model.zero_shot_classify_image
        return await self._task(method, record, options, images, candidate_labels, inline=False)

    async def _task(
        self,
        method: Callable[..., Result],
        record: Record | None,
        options: dict[str, Any],
        *given: Any,
        inline: bool = True,
    ) -> Result:
        """Call a method of the model with its inputs and its options.

        inline: whether short texts, the last argument, may be handled in the event loop.
        """
        steps = steps_of(method)
        characters = _characters(given[-1]) if inline else None
        return await self.run(steps(self.model, *given, **options), record, characters)

    async def _in_pool(self, function: Callable[..., Result], *given: Any) -> Result:
        try:
            return await in_thread(self._pool, function, *given)
        except RuntimeError:
            if not self._life.closed:
                raise
            raise ClosedError(CLOSED) from None

    def _require_open(self) -> None:
        if self._life.closed or self._process != os.getpid():  # a forked child lacks its threads
            raise ClosedError(CLOSED)

    # --- Driving ------------------------------------------------------------------------------

    async def run(
        self, steps: Steps[Result], record: Record | None = None, characters: int | None = None
    ) -> Result:
        """Drive a task to its end: its requests go to the queue, the rest runs here or in a thread.

        characters: number in its texts; None: always too many for the event loop.
        """
        self._require_open()
        loop, record = asyncio.get_running_loop(), record or Record()
        waiting = self._loops.get(loop)
        if waiting is None:
            waiting = self._loops[loop] = LoopCalls(loop, self._queue, self._on_batch)
        outputs: list[Floats] | None = None
        future: Future | None = None
        waiting.enter()
        try:
            while True:
                begin = time.perf_counter()
                if characters is not None and characters <= INLINE_CHARACTERS:
                    request, result = _advance(steps, outputs)
                else:
                    request, result = await self._in_pool(_advance, steps, outputs)
                record.tokenization += time.perf_counter() - begin
                if request is None:
                    return cast(Result, result)
                record.count_numbers(request)
                future = await waiting.compute(request, future, record.background)
                outputs = future.results
                record.count(future)
        finally:
            waiting.leave()
            if future is not None and future.expected:
                self._queue.expect_no_more(future)


# The tasks of a model: the methods of `Model` that are coroutines of AsyncModel.
TASKS = tuple(
    name
    for name, method in vars(AsyncModel).items()
    if inspect.iscoroutinefunction(method) and hasattr(Model, name)
)


def _characters(texts: Any) -> int | None:
    """Return the characters of a str, or of a sequence of str and pairs; None for other objects."""
    if isinstance(texts, str):
        return len(texts)
    if not isinstance(texts, (list, tuple)):
        return None
    total = 0
    for text in texts:
        part = _characters(text)
        if part is None:
            return None
        total += part
    return total
