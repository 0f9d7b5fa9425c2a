"""`fbg serve`: listen, then serve in this process, or in several that share the models.

Worker processes are forked after the models were loaded, so that they share the memory of weights.
Networks from ONNX files are loaded again by each, since other back ends may have started threads.
Workers on NUMA nodes load all by themselves, so that the weights are in the memory of their node.
The parent only watches: it passes signals on, replaces a worker that died, and ends with the last.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Set
from dataclasses import replace
from types import FrameType
from typing import Any

from fbg.environment import INTERRUPTED
from fbg.errors import ModelError
from fbg.saved_file import SavedFile
from fbg.server.listening import address_of, identity, listen, require_certificate
from fbg.server.logs import configure_logs
from fbg.server.settings import Settings
from fbg.threads import get_num_threads
from fbg.topology import split_cpus, usable_cpus

log = logging.getLogger("fbg.server")

# A worker that lived shorter than this is not replaced: it would die again.
SHORTEST_LIFE = 5.0
UNLOADABLE = 3  # the exit code of one that cannot load its models, however long it tried


def serve(settings: Settings) -> int:
    """Serve until a signal ends it; return the exit code.

    Raises OSError if the address is taken, ModelError for a model that cannot be loaded.
    """
    configure_logs()
    require_certificate(settings)
    listening = listen(settings)
    bound = identity(settings.uds)
    fields = address_of(listening) | {"workers": settings.workers}
    log.info("loading; requests are answered 503 until then", extra={"fields": fields})
    try:
        if settings.workers == 1:
            from fbg.server.process import run_process

            return run_process(settings, listening)
        return _serve_in_workers(settings, listening)
    finally:
        if settings.uds is not None and identity(settings.uds) == bound:  # not that of a successor
            with contextlib.suppress(OSError):
                os.unlink(settings.uds)


def _serve_in_workers(settings: Settings, listening: socket.socket) -> int:
    # The metrics of all workers are in files here; the library looks when it is imported.
    metrics = tempfile.mkdtemp(prefix="fbg-metrics-")
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = metrics
    try:
        from fbg.model.model import Model
        from fbg.server.models.facts import Facts, NetFacts
        from fbg.server.models.served import load_models

        models = {} if settings.places else load_models(settings)
        # Threads of other back ends would not come along into a worker, which loads networks again.
        kept = (Model, Facts, NetFacts)
        known = {name: model for name, model in models.items() if isinstance(model, kept)}
        del models
        return _Supervisor(settings, listening, known).run()
    except ModelError as error:
        log.error("load failed: %s", error)
        return 1
    finally:
        shutil.rmtree(metrics, ignore_errors=True)


class _Supervisor:
    """The parent of the workers."""

    def __init__(
        self, settings: Settings, listening: socket.socket, models: dict[str, Any]
    ) -> None:
        self._settings = settings
        self._listening = listening
        self._models = models
        self._started: dict[int, tuple[float, Set[int]]] = {}  # with the CPUs, none if any
        self._stopping = False
        self._failed = self._interrupted = False

    def run(self) -> int:
        """Start the workers, and return when the last has ended."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._pass_on)
        settings = self._settings
        places = settings.places or [set()] * settings.workers
        if settings.pin and not settings.places:
            places = split_cpus(usable_cpus(), settings.workers)
        for place in places:
            self._start(place)
        while self._started:
            try:
                pid, status = os.wait()
            except InterruptedError:
                continue
            self._ended(pid, os.waitstatus_to_exitcode(status))
        return 1 if self._failed else INTERRUPTED if self._interrupted else 0

    def _start(self, place: Set[int]) -> None:
        blocked = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
        before = signal.pthread_sigmask(signal.SIG_BLOCK, blocked)
        pid = os.fork()
        if pid == 0:
            for number in blocked:
                signal.signal(number, signal.SIG_DFL)
            # One that loads again must wait until the worker can do it, or it would end the worker.
            signal.pthread_sigmask(signal.SIG_SETMASK, {*before, signal.SIGHUP})
            self._work(place)
        self._started[pid] = time.monotonic(), place
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _work(self, place: Set[int]) -> None:
        code = 1
        try:
            from fbg.server.models.served import load_models
            from fbg.server.process import run_process

            settings = self._settings
            if place:
                os.sched_setaffinity(0, place)
            if settings.places:
                SavedFile.copies = True
                share = get_num_threads() * len(place) // sum(map(len, settings.places))
                settings = replace(settings, num_threads=settings.num_threads or max(1, share))
            models = load_models(settings, self._models)
            code = run_process(settings, self._listening, models)
        except ModelError as error:
            log.error("load failed: %s", error)
            code = UNLOADABLE
        except BaseException:
            log.exception("a worker failed")
        finally:
            sys.stderr.flush()
            os._exit(code)

    def _ended(self, pid: int, code: int) -> None:
        from prometheus_client import multiprocess

        multiprocess.mark_process_dead(pid)  # type: ignore[no-untyped-call]
        started, place = self._started.pop(pid)
        if self._stopping:
            # A worker that had not begun yet is ended by the signal itself.
            self._failed |= code not in (0, INTERRUPTED, -signal.SIGTERM, -signal.SIGINT)
            return
        log.error("worker %d ended with code %d", pid, code)
        if time.monotonic() - started >= SHORTEST_LIFE and code != UNLOADABLE:
            self._start(place)
        else:
            self._failed = True
            self._pass_on(signal.SIGTERM, None)

    def _pass_on(self, number: int, frame: FrameType | None) -> None:
        self._stopping |= number != signal.SIGHUP
        self._interrupted |= number == signal.SIGINT
        if number == signal.SIGHUP:  # a worker that is started later loads what is there then
            self._models.clear()
        for pid in tuple(self._started):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
