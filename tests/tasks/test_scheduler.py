"""The scheduler: which sequences share a batch, who receives what, and how runs end."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fbg
from fbg.runtime import scheduler as scheduling
from fbg.runtime.batches import MAX_BATCH_TOKENS
from fbg.runtime.engine import Engine
from fbg.runtime.scheduler import Scheduler
from helpers import tiny_bert


class Recorder:
    """An engine that computes nothing: the output of a token is its id, that of a sequence 1."""

    def __init__(self, per_token: bool = True) -> None:
        self.batches: list[list[int]] = []  # lengths
        self.per_token = per_token

    def runners(self, count: int) -> list[Any]:
        return [object()] * count

    def empty(self) -> np.ndarray:
        return np.zeros((0 if self.per_token else 1, 1), np.float32)

    def compute(
        self, ids: Sequence[np.ndarray], types: Any, runner: Any, threads: int, where: str
    ) -> list[np.ndarray]:
        self.batches.append([part.size for part in ids])
        if any((part == 99).any() for part in ids):
            raise ValueError(f"{where}: no such token")
        if not self.per_token:
            return [np.ones((1, 1), np.float32) for _ in ids]
        return [part[:, None].astype(np.float32) for part in ids]


def run(
    engine: Any, sequences: Sequence[np.ndarray], batch_size: int = 32, threads: int = 1
) -> tuple[list[np.ndarray], list[int]]:
    """Return what each sequence received, and what `run` yielded."""
    received: dict[int, np.ndarray] = {}
    scheduler = Scheduler(engine, num_threads=threads, batch_size=batch_size, where="test")
    for n, ids in enumerate(sequences):
        scheduler.submit(ids, lambda rows, n=n: received.update({n: rows}))
    counts = list(scheduler.run())
    return [received[n] for n in range(len(sequences))], counts


lengths = st.lists(st.integers(0, 700), max_size=40)


@given(lengths, st.integers(1, 9), st.integers(1, 3))
def test_batches_are_full_of_real_tokens_and_everyone_gets_their_own(
    lengths: list[int], batch_size: int, threads: int
) -> None:
    engine = Recorder()
    sequences = [np.full(length, n, np.int32) for n, length in enumerate(lengths)]
    received, counts = run(engine, sequences, batch_size, threads)
    for ids, rows in zip(sequences, received, strict=True):
        assert rows[:, 0].tolist() == ids.tolist()
    assert sum(counts) == len(lengths)
    batches = sorted(engine.batches, key=lambda batch: (-batch[0], -batch[-1]))
    in_order = [length for batch in batches for length in batch]
    assert in_order == sorted(filter(None, lengths), reverse=True)
    for batch in batches:
        assert len(batch) <= batch_size
        assert len(batch) == 1 or sum(batch) <= MAX_BATCH_TOKENS


def test_a_sequence_without_tokens_gets_zeros_or_no_rows() -> None:
    empty = [np.zeros(0, np.int32)]
    assert run(Recorder(per_token=False), empty)[0][0].tolist() == [[0]]
    assert run(Recorder(), empty)[0][0].shape == (0, 1)
    assert run(Recorder(), []) == ([], [0])


def test_what_ran_is_not_run_again() -> None:
    engine = Recorder()
    scheduler = Scheduler(engine, num_threads=1, batch_size=8, where="test")  # type: ignore[arg-type]
    got: list[int] = []
    for _ in range(2):
        scheduler.submit(np.ones(3, np.int32), lambda rows: got.append(rows.size))
        assert sum(scheduler.run()) == 1
    assert got == [3, 3]


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_of_one_batch_ends_the_run(threads: int) -> None:
    engine = Recorder()
    sequences = [np.full(5, 99 if n == 5 else 1, np.int32) for n in range(400)]
    scheduler = Scheduler(engine, num_threads=threads, batch_size=1, where="test")  # type: ignore[arg-type]
    for ids in sequences:
        scheduler.submit(ids, lambda rows: None)
    counts = []
    with pytest.raises(ValueError, match="test: no such token"):
        for count in scheduler.run():
            counts.append(count)
    assert counts == [1] * 5
    assert len(engine.batches) < 400 or threads > 1


def test_threads_compute_whole_batches_where_there_are_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    split: list[int] = []
    original = scheduling.run_in_parallel

    def spy(compute: Any, batches: Any, runners: Any) -> Any:
        split.append(len(runners))
        return original(compute, batches, runners)

    monkeypatch.setattr(scheduling, "run_in_parallel", spy)
    sequences = [np.ones(4, np.int32)] * 24
    run(Recorder(), sequences, batch_size=1, threads=1)
    run(Recorder(), sequences, batch_size=4, threads=2)
    assert split == []
    run(Recorder(), sequences, batch_size=3, threads=2)
    assert split == [2]


def test_sequences_of_several_callers_share_batches_and_no_bits(tmp_path: Any) -> None:
    """What a server's queue needs: one run for many requests gives what each alone would get."""
    model = fbg.load(tiny_bert.write_checkpoint(tmp_path, seed=3, spread=0.25), dtype="int8")
    texts = ["a", "the quick brown fox", "x y z", "one two three four"]
    engine: Engine = model._context.embeddings.engine(normalize=True)
    together, _ = run(engine, model.tokenizer(texts), threads=2)
    alone = model.encode(texts, normalize_embeddings=True)
    assert np.array_equal(np.concatenate(together), alone)
    with pytest.raises(ValueError, match=r"test: token ids must be in \[0, 99\), got 99"):
        run(engine, [np.array([2, 99], np.int32)])
