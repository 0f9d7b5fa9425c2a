"""An engine that computes nothing, and a caller of a batcher: what the batcher does with both."""

import threading

import numpy as np

from fbg.runtime.batcher import Caller, Future
from fbg.runtime.steps import Request

__all__ = ["RecordingCaller", "RecordingEngine", "request", "submit"]

UNKNOWN, FAILS = 99, 98  # tokens


class RecordingEngine:
    """The output for a token is its id; without `per_token`, that for a sequence is 1.

    A run waits until `gate` is open, and releases `running` before. batches, teams: the sequences
    of each run, and how many threads shared it.
    """

    def __init__(self, per_token=True):
        self.per_token = per_token
        self.batches = []
        self.teams = []
        self.gate = threading.Event()
        self.gate.set()
        self.running = threading.Semaphore(0)

    @property
    def lengths(self):
        return [[ids.size for ids in batch] for batch in self.batches]

    @property
    def first_ids(self):
        return [[int(ids[0]) for ids in batch] for batch in self.batches]

    def require_valid(self, ids, types, where):
        if any((part == UNKNOWN).any() for part in ids):
            raise ValueError(f"{where}: no such token")

    def empty(self):
        return np.zeros((0 if self.per_token else 1, 1), np.float32)

    def compute(self, ids, types, threads, where):
        self.batches.append(list(ids))
        self.teams.append(threads)
        self.running.release()
        self.gate.wait(20)
        self.require_valid(ids, types, where)
        if any((part == FAILS).any() for part in ids):
            raise RuntimeError("the engine fails")
        if not self.per_token:
            return [np.ones((1, 1), np.float32) for _ in ids]
        return [part[:, None].astype(np.float32) for part in ids]


class RecordingCaller(Caller):
    """A caller that remembers the order in which its futures were done."""

    def __init__(self):
        self.done = []
        self.batches = []
        self._changed = threading.Condition()

    def finished(self, futures):
        with self._changed:
            self.done += futures
            self._changed.notify_all()

    def batch(self, tokens, sequences):
        self.batches.append(tokens)

    def wait(self, count):
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.done) >= count, 20)
        return self.done


def request(engine, *sequences, **options):
    ids = [np.array(sequence, np.int32) for sequence in sequences]
    return Request(engine, ids, "test", **options)


def submit(batcher, request, caller, tag=None, previous=None):
    future = Future(request, caller, tag)
    batcher.submit(future, previous)
    return future
