"""AsyncModel: the results of Model, to the bit, whatever runs at the same time."""

import asyncio
import contextlib
import gc
import weakref
from random import Random
from typing import Any

import numpy as np
import pytest

import fbg
from fbg.errors import ClosedError
from fbg.model.async_model import Record
from fbg.runtime.batcher import Batcher
from fbg.runtime.steps import Request
from fbg.tasks import inputs
from helpers import tiny_bert
from helpers.forks import run_in_child
from helpers.tiny_tasks import CONTEXTS, DOCUMENTS, PAIRS, QUERY, QUESTIONS, TEXTS, write_model

WORDS = ["a", "quick", "brown", "fox", "jumps", "over", "the", "lazy", "dog", "and", "42", "more"]


def run(coroutine):
    async def bounded():
        return await asyncio.wait_for(coroutine, 60)

    return asyncio.run(bounded())


@pytest.fixture(scope="module", params=["float32", "int8"])
def model(request, tmp_path_factory):
    path = tiny_bert.write_checkpoint(tmp_path_factory.mktemp("m"), seed=3, spread=0.25)
    return fbg.load(path, dtype=request.param, num_threads=2)


def texts(count):
    return [" ".join(WORDS[n % 5 : n % 5 + n % 7]) for n in range(count)]


async def test_concurrent_calls_give_the_bits_of_encode(model):
    given = texts(150)
    alone = model.encode(given)

    async with fbg.AsyncModel(model) as m:
        calls = [m.encode(text) for text in given]
        bulk = m.encode(given * 3)
        *rows, many = await asyncio.gather(*calls, bulk)
        assert np.array_equal(np.stack(rows), alone)
        assert np.array_equal(many, np.concatenate([alone] * 3))
        assert (await m.encode([])).shape == (0, alone.shape[1])


async def test_calls_of_one_turn_of_the_loop_are_submitted_together(model, monkeypatch):
    submitted = []
    submit = Batcher.submit

    def count(batcher, future, previous):
        submitted.append(len(future.request.ids))
        submit(batcher, future, previous)

    monkeypatch.setattr(Batcher, "submit", count)

    async with fbg.AsyncModel(model) as m:
        calls = [asyncio.create_task(m.encode(text)) for text in texts(5)]
        calls[2].cancel()
        await asyncio.sleep(0)  # the others have been tokenized
        assert submitted == []
        calls[3].cancel()
        await asyncio.sleep(0)
        assert submitted == [1, 1, 1]
        await asyncio.gather(*calls, return_exceptions=True)


async def test_a_request_that_ends_between_its_parts_leaves_no_place_taken(model):
    engine = model.encoder()._engine
    ids = [np.array([1, 2], np.int32)]

    def steps():
        yield Request(engine, ids, "test", after=3)
        raise ValueError("the second part is wrong")

    queue = Batcher(1, max_waiting=4)
    async with fbg.AsyncModel(model, queue) as m:
        with pytest.raises(ValueError, match="the second part"):
            await m.run(steps())
        assert (await m.encode(["a"] * 4)).shape[0] == 4
    queue.close()


async def test_a_callback_that_fails_fails_the_requests_of_its_batch(model):
    def on_batch(tokens, sequences):
        raise KeyError("no such metric")

    async with fbg.AsyncModel(model, on_batch=on_batch) as m:
        for _ in range(6):  # more than there are threads
            with pytest.raises(KeyError, match="no such metric"):
                await m.encode("a")


def test_nothing_of_a_request_that_failed_waits_for_the_garbage_collector(model):
    def keep(number, rows):
        raise KeyError(number)

    async def check():
        async with fbg.AsyncModel(model) as m:
            ids = [np.array([2, 5, 3], np.int32)]
            kept = weakref.ref(ids[0])

            def steps():
                yield Request(model.encoder()._engine, [ids.pop()], "test", keep=keep)

            gc.disable()
            try:
                with contextlib.suppress(KeyError):
                    await m.run(steps())
                for _ in range(50):  # the thread forgets its batch after it has told of it
                    if kept() is None:
                        return
                    await asyncio.sleep(0.01)
                raise AssertionError(gc.get_referrers(kept()))
            finally:
                gc.enable()

    run(check())


async def test_options_are_those_of_encode(model):
    async with fbg.AsyncModel(model) as m:
        options: dict[str, Any]
        for options in ({"truncate_dim": 5, "normalize_embeddings": True}, {"prompt": "x: "}):
            got = await m.encode(["a fox", "the dog"], **options)
            assert np.array_equal(got, model.encode(["a fox", "the dog"], **options))
        with pytest.raises(ValueError, match="truncate_dim"):
            await m.encode("a", truncate_dim=0)
        with pytest.raises(TypeError, match="sentences"):
            await m.encode([1])


async def test_token_ids_and_token_embeddings(model):
    sentences = ["a fox", "the lazy dog jumps"]

    async with fbg.AsyncModel(model) as m:
        ids = model.context.tokenizer(sentences)
        assert np.array_equal(await m.encode_tokens(ids), model.encode(sentences))
        for states, tokens in zip(await m.token_embeddings(sentences), ids, strict=True):
            assert np.array_equal(states, model.forward(tokens[None]).last_hidden_state[0])
        with pytest.raises(ValueError, match="the model takes"):
            await m.encode_tokens([np.ones(model.max_length + 1, np.int32)])


@pytest.mark.parametrize(
    ("name", "asked", "called"),
    [
        (
            "bert-ForSequenceClassification",
            lambda m: m.classify([*TEXTS, *PAIRS], top_k=None),
            lambda m: m.classify([*TEXTS, *PAIRS], top_k=None),
        ),
        (
            "nli",
            lambda m: m.zero_shot_classify(TEXTS, "a, b"),
            lambda m: m.zero_shot_classify(TEXTS, "a, b"),
        ),
        ("pairs", lambda m: m.predict(PAIRS), lambda m: m.predict(PAIRS).tolist()),
        ("pairs", lambda m: m.rerank(QUERY, DOCUMENTS), lambda m: m.rerank(QUERY, DOCUMENTS)),
        ("roberta-ForTokenClassification", lambda m: m.ner(TEXTS), lambda m: m.ner(TEXTS)),
        (
            "bert-ForQuestionAnswering",
            lambda m: m.answer(QUESTIONS, CONTEXTS),
            lambda m: m.answer(QUESTIONS, CONTEXTS),
        ),
        (
            "bert-ForMaskedLM",
            lambda m: m.fill_mask("the [MASK] cat"),
            lambda m: m.fill_mask("the [MASK] cat"),
        ),
    ],
)
async def test_tasks_give_the_results_of_the_model(name, asked, called, tmp_path):
    model = fbg.load(write_model(tmp_path / "m", name), dtype="int8")

    async with fbg.AsyncModel(model) as m:
        results = await asyncio.gather(*(asked(m) for _ in range(4)))
        for result in results:
            got = result.tolist() if isinstance(result, np.ndarray) else result
            assert got == called(model)


async def test_models_may_share_a_queue_and_closing_it_refuses_work(model):
    queue = Batcher(2)
    batches = []
    first = fbg.AsyncModel(model, queue, lambda tokens, sequences: batches.append(tokens))
    second = fbg.AsyncModel(model, queue)
    await asyncio.gather(first.encode("a fox"), second.encode("a dog"))
    assert sum(batches) >= 4
    first.close()
    await second.encode("still there")
    queue.close()
    with pytest.raises(ClosedError):
        await second.encode("too late")
    second.close()


async def test_a_cancelled_call_leaves_the_queue(model):
    queue = Batcher(1)
    async with fbg.AsyncModel(model, queue) as m:
        task = asyncio.create_task(m.encode(texts(2000)))
        while queue.waiting == 0:
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert queue.waiting == 0
    queue.close()


async def test_a_record_says_what_a_call_took(model):
    async with fbg.AsyncModel(model) as m:
        record, given = Record(), texts(20)
        await m.encode(given, record)
        assert record.sequences == 20 and record.tokens == sum(model.token_counts(given))
        assert record.inference > 0 and record.tokenization > 0 and record.queue >= 0


def test_it_takes_a_model():
    with pytest.raises(TypeError, match=r"AsyncModel: model must be an fbg\.Model, got str"):
        fbg.AsyncModel("path")


@pytest.mark.parametrize("leave", ["context", "close"])
def test_what_was_submitted_before_leaving_ends(model, leave):
    async def run():
        asynchronous = fbg.AsyncModel(model)
        async with asynchronous:
            task = asyncio.create_task(asynchronous.encode(TEXTS[0]))
            await asyncio.sleep(0)  # the text is tokenized, and waits for the end of the turn
            if leave == "close":
                asynchronous.close()
        return await task

    np.testing.assert_array_equal(asyncio.run(run()), model.encode(TEXTS[0]))


LONG = ["a quick brown fox jumps over the lazy dog"] * 80  # too many to tokenize in the loop


@pytest.mark.parametrize("created", [0, 0.02])  # seconds ago
def test_requests_that_have_begun_end_before_the_context(model, created, monkeypatch):
    monkeypatch.setattr(inputs, "BLOCK_TEXTS", 30)  # several parts, each tokenized by itself

    async def run():
        async with fbg.AsyncModel(model) as m:
            calls = [m.encode(LONG), m.token_embeddings(LONG), m.encode(TEXTS[0]), m.encode(LONG)]
            tasks = [asyncio.create_task(call) for call in calls]
            await asyncio.sleep(created)
            tasks[-1].cancel()
        assert all(task.done() for task in tasks)
        with pytest.raises(ClosedError, match="the AsyncModel is closed"):
            await m.encode("too late")
        return [task.result() for task in tasks[:-1]]

    many, states, one = asyncio.run(run())
    np.testing.assert_array_equal(many, model.encode(LONG))
    np.testing.assert_array_equal(one, model.encode(TEXTS[0]))
    assert len(states) == len(LONG)


@pytest.mark.parametrize("seed", range(12))
async def test_whatever_closes_a_model_requests_end_or_learn_that_it_is_closed(model, seed):
    rng = Random(seed)
    queue = Batcher(2) if rng.random() < 0.5 else None

    async def close(m):
        await asyncio.sleep(0.01 * rng.random())
        kind = rng.choice(("here", "thread", "context", "queue"))
        if kind == "here":
            m.close()
        elif kind == "thread":
            await asyncio.to_thread(m.close)
        elif kind == "queue" and queue is not None:
            await asyncio.to_thread(queue.close)
        else:
            leaving = asyncio.create_task(m.__aexit__(None, None, None))
            await asyncio.sleep(0.004 * rng.random())
            if rng.random() < 0.5:
                leaving.cancel()
            await asyncio.gather(leaving, return_exceptions=True)

    m = fbg.AsyncModel(model, queue)
    tasks = []
    for _ in range(12):
        given = LONG if rng.random() < 0.5 else TEXTS[0]
        tasks.append(asyncio.create_task(m.encode(given)))
    closing = asyncio.create_task(close(m))
    while not closing.done():
        await asyncio.sleep(0.002 * rng.random())
        rng.choice(tasks).cancel()
        tasks.append(asyncio.create_task(m.encode(LONG)))
    await closing
    for found in await asyncio.gather(*tasks, return_exceptions=True):
        assert isinstance(found, np.ndarray | ClosedError | asyncio.CancelledError), found
    m.close()
    if queue is not None:
        queue.close()


def test_a_forked_child_is_told_that_it_has_no_threads(model):
    async def encode(m):
        with pytest.raises(ClosedError):
            await m.encode(LONG)

    m = fbg.AsyncModel(model)
    run(m.encode(LONG))
    assert run_in_child(lambda: run(encode(m))) == 0
    m.close()


def test_event_loops_are_forgotten(model):
    loops = []
    with_queue = fbg.AsyncModel(model)

    async def run():
        loops.append(weakref.ref(asyncio.get_running_loop()))
        await with_queue.encode(TEXTS[0])

    for _ in range(3):
        asyncio.run(run())
    with_queue.close()
    gc.collect()
    assert [loop() for loop in loops] == [None] * 3
