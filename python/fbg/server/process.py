"""One process of the server: load, warm up, answer, reload on SIGHUP, drain on SIGTERM."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import signal
import socket
import sys
from collections.abc import Mapping
from types import FrameType

import uvicorn

from fbg.environment import INTERRUPTED
from fbg.model.model import Model
from fbg.runtime.batcher import choose_lanes
from fbg.server.app import build_app
from fbg.server.connection import Connection
from fbg.server.listening import address_of
from fbg.server.models.served import Loaded, Models, load_models, serve_models, warm_up
from fbg.server.settings import Settings
from fbg.server.state import State

log = logging.getLogger("fbg.server")

# After SIGTERM requests are still answered for so long, each with `Connection: close`: clients
# then leave in good order, instead of finding a connection closed that they were about to use.
# Hardly any new connection is let in, because the system resets those that wait at the end.
GOODBYE_SECONDS = 0.5
# Connections that were let in last have so long to send their request.
LAST_SECONDS = 0.2

TICKS_OF_LOOK = 5  # between two looks at all connections

# How long a thread may run Python before another one gets its turn. The event loop waits for that.
SWITCH_SECONDS = 0.001

# Collect garbage after so many more objects than were freed, instead of 700. A request makes dozens
# of objects that live until its answer, and hardly any of them are parts of cycles.
YOUNG_OBJECTS = 20_000


class Server(uvicorn.Server):
    """uvicorn, which loads the models of `state` and ends in order.

    failed: the models could not be loaded, or the queue cannot compute any more. interrupted: by
    SIGINT.
    """

    def __init__(self, state: State, models: Mapping[str, Loaded] | None) -> None:
        settings = state.settings
        config = uvicorn.Config(
            build_app(state),
            http=Connection,
            loop="uvloop" if _has_uvloop() else "asyncio",
            ws="none",
            lifespan="off",
            access_log=False,
            proxy_headers=False,
            log_config=None,
            server_header=False,
            ssl_certfile=settings.ssl_certfile,
            ssl_keyfile=settings.ssl_keyfile,
            timeout_graceful_shutdown=round(settings.drain_seconds),
        )
        super().__init__(config)
        self._state = state
        self._models = models
        self._loop: asyncio.AbstractEventLoop | None = None
        self.failed = self.interrupted = False
        self._listening: list[socket.socket] = []
        self._background: set[asyncio.Task[None]] = set()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and get ready in the background: /health says when that is done.

        One of several workers has its models already. It gets ready first, since requests would
        reach it as soon as any worker is.
        """
        self._listening = sockets or []
        if self._models is not None:
            await self._prepare("load")
        await super().startup(sockets)
        self._loop = asyncio.get_running_loop()
        self._loop.add_signal_handler(signal.SIGHUP, self._start, "reload")
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGHUP})  # which a worker has blocked
        if not self._state.ready:
            self._start("load")

    def _start(self, what: str) -> None:
        task = asyncio.get_running_loop().create_task(self._prepare(what))
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def _prepare(self, what: str) -> None:
        """Load all models, run each once, and only then let requests have them."""
        state = self._state
        with contextlib.ExitStack() as in_use:
            try:
                served = await self._load(in_use)
            except Exception as error:
                log.error("%s failed: %s", what, error)
                if not state.ready:
                    self.should_exit = True
                    self.failed = True
                return
            state.models.replace(served)
        if what == "load" or state.settings.idle_unload is None:
            _set_aside_what_stays()
        state.ready = True
        self._say_that_it_serves(what)

    async def _load(self, in_use: contextlib.ExitStack) -> Models:
        """Load models that wait for no request, and those that the requests before have loaded."""
        state, models = self._state, self._models
        self._models = None
        if models is None:
            models = await asyncio.to_thread(load_models, state.settings)
        if state.settings.lanes == "auto" and not state.ready:
            threads, pin = state.settings.threads, state.settings.pin
            for model in models.values():
                if isinstance(model, Model) and model.config.picture is None:
                    engine = model.context.engines.tokens
                    chosen = await asyncio.to_thread(choose_lanes, engine, threads, pin)
                    log.info("lanes", extra={"fields": chosen})
                    state.use_lanes(chosen["lanes"], threads)
                    break
        metrics = state.metrics
        served = serve_models(models, state.batcher, metrics.batch, state.settings, metrics.changed)
        try:
            slots = served.slots
            for name, before in state.models.slots.items():
                if before.value is not None:
                    await slots[name].take()
                    in_use.callback(slots[name].give_back)
            await warm_up(served)
        except BaseException:
            served.retire()
            raise
        return served

    def _say_that_it_serves(self, what: str) -> None:
        fields: dict[str, object] = {"models": self._state.models.names}
        if what == "load" and self._listening:
            fields |= address_of(self._listening[0])
        log.info("listening" if what == "load" else f"{what}: ready", extra={"fields": fields})

    async def on_tick(self, counter: int) -> bool:
        """Say whether to end: a process that cannot compute is of no use, and may be replaced.

        It is called 10 times a second, and counts these calls.
        """
        if counter % TICKS_OF_LOOK == 0:
            now = asyncio.get_running_loop().time()
            for connection in tuple(self.server_state.connections):
                if isinstance(connection, Connection):
                    connection.look(now)
        if self._state.batcher.failure is not None:
            self.failed = True
            return True
        return await super().on_tick(counter)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """SIGTERM and SIGINT: drain, then stop; the second one stops at once."""
        self.interrupted |= sig == signal.SIGINT
        if self._state.draining:
            self.should_exit = self.force_exit = True
            return
        self._state.draining = True
        if self._loop is None:
            self.should_exit = True
        else:
            self._loop.call_soon_threadsafe(self._drain)

    def _drain(self) -> None:
        log.info("stopping")
        for listening in self._listening:
            listening.listen(0)
        asyncio.get_running_loop().call_later(GOODBYE_SECONDS, self._stop)

    def _stop(self) -> None:
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop listening; answer the accepted requests."""
        for server in self.servers:
            server.close()
        await asyncio.sleep(LAST_SECONDS)
        closing = asyncio.get_running_loop().create_task(self._end_idle_connections())
        await super().shutdown(sockets)
        closing.cancel()

    async def _end_idle_connections(self) -> None:
        """End what a client leaves open that has no request: it may never answer the end of TLS."""
        while True:
            await asyncio.sleep(LAST_SECONDS)
            for connection in tuple(self.server_state.connections):
                if isinstance(connection, Connection) and connection.is_idle:
                    connection.transport.abort()


def run_process(
    settings: Settings, listening: socket.socket, models: Mapping[str, Loaded] | None = None
) -> int:
    """Serve until a signal ends it; return the exit code of the process.

    models: already loaded, by name; None: they are loaded here.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    state = State(settings, settings.threads)
    server = Server(state, models)
    server.run([listening])
    state.batcher.close()
    if state.access_log is not None:
        state.access_log.flush()
    if state.tracing is not None:
        state.tracing.close()
    return 1 if server.failed else INTERRUPTED if server.interrupted else 0


def _set_aside_what_stays() -> None:
    """Exempt all that is loaded by now from garbage collection.

    A collection of all generations looks at each of some hundred thousand objects, nearly all of
    which live as long as the process, and holds up the event loop for 50 ms. Models that a reload
    has replaced are collected first.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS)


def _has_uvloop() -> bool:
    try:
        import uvloop  # noqa: F401
    except ImportError:
        return False
    return True
