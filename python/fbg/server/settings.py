"""The settings of `fbg serve`: the models, where to listen, and the limits of requests."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import PurePath

from fbg.runtime.engine import MAX_BATCH_TOKENS
from fbg.threads import get_num_threads


@dataclass(frozen=True)
class ModelSource:
    """A model to serve: its name in requests, and the arguments of `fbg.load`.

    adapters: of the model, by name; requests name them as they name models.
    """

    name: str
    path: str
    adapters: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(cls, text: str) -> ModelSource:
        """Read `NAME=MODEL` or `MODEL`, whose name is then the last part of the path or hub id,
        without `.onnx`."""
        name, equals, path = text.partition("=")
        if not equals:
            name, path = PurePath(text).name.removesuffix(".onnx"), text
        if not name or not path:
            raise ValueError(f"serve: MODEL must be MODEL or NAME=MODEL, got {text!r}")
        return cls(name, path)

    @classmethod
    def with_adapters(
        cls, sources: Sequence[ModelSource], texts: Iterable[str]
    ) -> tuple[ModelSource, ...]:
        """Return sources with adapters, each `[MODEL:]NAME=ADAPTER`; raises ValueError."""
        found: dict[str, list[tuple[str, str]]] = {source.name: [] for source in sources}
        for text in texts:
            names, _, path = text.partition("=")
            model, colon, name = names.rpartition(":")
            if not colon and len(sources) == 1:
                model = sources[0].name
            if not name or not path or model not in found:
                raise ValueError(
                    "serve: ADAPTER must be NAME=ADAPTER, or MODEL:NAME=ADAPTER for one of several "
                    f"models ({', '.join(found)}), got {text!r}"
                )
            found[model].append((name, path))
        return tuple(replace(source, adapters=tuple(found[source.name])) for source in sources)


@dataclass(frozen=True)
class Settings:
    """Options of the server; `fbg serve --help` explains them.

    max_concurrent_requests: requests that are worked on; more are answered 429.
    max_waiting_texts: texts in the queue, of all requests. max_client_batch_size: texts of one
    request. max_body: its bytes; max_tensor_body: of one with tensors or pictures.
    max_answer_numbers: of an answer with a vector for every token. max_answer: the bytes of an
    answer. max_held: the bytes of all requests and answers that are worked on. api_keys: any of
    them opens the server; none: everybody may use it. body_seconds: in which a request must
    have arrived. drain_seconds: which requests have to end after SIGTERM. idle_unload: the
    seconds without a request after which a model is unloaded, to be loaded again by the next;
    None: all models are loaded at once, and stay. uds: the path of a Unix
    socket at which the server listens, instead of host and port. ssl_certfile, ssl_keyfile: PEM
    files of a certificate, with which the server speaks TLS, and of its key, if that is another
    file. places: the CPUs of each worker, which then has its own weights; none: all may use
    any. lanes: batches that a process computes at once, or "auto"; None: as the load is. pin:
    whether lanes are bound.
    """

    models: tuple[ModelSource, ...]
    dtype: str | None = None
    num_threads: int | None = None
    host: str = "127.0.0.1"
    port: int = 8080
    workers: int = 1
    max_concurrent_requests: int = 512
    max_waiting_texts: int = 32_768
    max_batch_tokens: int = MAX_BATCH_TOKENS
    max_client_batch_size: int = 2048
    max_body: int = 2 << 20
    max_tensor_body: int = 16 << 20
    max_answer_numbers: int = 1 << 23  # 8192 tokens of 1024 numbers
    max_answer: int = 192 << 20  # so many numbers as text
    max_held: int = 384 << 20
    api_keys: tuple[str, ...] = ()
    cors_origins: tuple[str, ...] = ()
    access_log: bool = True
    tracing: bool = False
    body_seconds: float = 30.0
    drain_seconds: float = 30.0
    idle_unload: float | None = None
    uds: str | None = None
    ssl_certfile: str | None = None
    ssl_keyfile: str | None = None
    places: Sequence[Set[int]] = ()
    lanes: int | str | None = None
    pin: bool = False

    @property
    def max_body_of_tensors(self) -> int:
        """Bytes of a request with tensors or pictures: never fewer than of any other."""
        return max(self.max_body, self.max_tensor_body)

    @property
    def threads(self) -> int:
        """Threads of one process: those given, else an equal share of the CPUs."""
        return self.num_threads or max(1, get_num_threads() // self.workers)

    def __post_init__(self) -> None:
        names = [source.name for source in self.models]
        names += [name for source in self.models for name, _ in source.adapters]
        if not names:
            raise ValueError("serve: at least one MODEL must be given")
        if len(set(names)) < len(names):
            raise ValueError(f"serve: every model must have a NAME of its own, got {names}")
        if self.idle_unload is not None and not 0 < self.idle_unload < math.inf:
            raise ValueError(f"serve: idle_unload must be seconds, got {self.idle_unload}")
        if self.uds == "":
            raise ValueError("serve: uds must be the path of a socket, got ''")
        if self.ssl_keyfile is not None and self.ssl_certfile is None:
            raise ValueError("serve: ssl_keyfile must come with ssl_certfile")
        most = max(1, min(self.threads, len(os.sched_getaffinity(0)) // self.workers))
        if isinstance(self.lanes, int) and not 1 <= self.lanes <= most:
            raise ValueError(
                f"serve: lanes must be at most {most}, the threads and CPUs of a process, "
                f"got {self.lanes}"
            )
        if self.lanes == "auto" and self.idle_unload is not None:
            raise ValueError("serve: lanes must be a number with idle_unload")
        if self.pin and self.lanes is None:
            raise ValueError("serve: pin must come with lanes")
        if not all(self.api_keys):
            raise ValueError("serve: an API key must not be empty")
