"""The state that requests share: models, batcher, metrics, keys, and the load."""

from __future__ import annotations

import contextlib
import hmac
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from fbg.model.async_model import Record
from fbg.runtime.batcher import Batcher, Lanes
from fbg.runtime.steps import Request
from fbg.server.admission import AdmissionLimiter
from fbg.server.errors import Dialect, Fault, RequestError
from fbg.server.logs import AccessLog
from fbg.server.messages import Message
from fbg.server.metrics import Metrics
from fbg.server.models.served import Models, Served
from fbg.server.models.slot import Slot
from fbg.server.settings import Settings

if TYPE_CHECKING:
    from fbg.server.tracing import Tracing

T = TypeVar("T")

BYTES_OF_NUMBER = 22  # bytes of an answer, in JSON
WINDOWS_OF_TEXT = 4  # in which a request may have its texts read, for each that it may have


class State:
    """One process of the server.

    ready: models are loaded and have run. draining: the process ends; new requests are answered,
    and its connection closed. access_log: None if requests are not logged. tracing: None if they
    are not traced. encoders: the threads that make large answers. networks: the thread that runs
    networks, one at a time, or one in each lane. dialects: of the routes, by path.
    requests, held: how many are worked on, and the bytes that they need.
    """

    def __init__(self, settings: Settings, num_threads: int) -> None:
        self.settings = settings
        self.batcher = Batcher(
            num_threads, settings.max_batch_tokens, max_waiting=settings.max_waiting_texts
        )
        self.metrics = Metrics(
            lambda: self.batcher.waiting, (source.name for source in settings.models)
        )
        self.models = Models({})
        self.access_log = AccessLog() if settings.access_log else None
        self.tracing = _tracing() if settings.tracing else None
        self.admission = AdmissionLimiter()
        self.encoders = ThreadPoolExecutor(2, "fbg-answer")
        self.networks = ThreadPoolExecutor(1, "fbg-infer")
        if isinstance(settings.lanes, int):
            self.use_lanes(settings.lanes, num_threads)
        self.dialects: dict[str, Dialect] = {}
        self.ready = False
        self.draining = False
        self._keys = [key.encode() for key in settings.api_keys]
        self.requests = 0
        self.held = 0

    def use_lanes(self, count: int, num_threads: int) -> None:
        """Compute in so many lanes; nothing may have been computed yet."""
        lanes = Lanes(count, num_threads, self.settings.pin)
        self.batcher.use_lanes(lanes)
        self.networks = lanes.pool()

    @property
    def healthy(self) -> bool:
        """Whether the server takes requests."""
        return self.ready and not self.draining and self.batcher.failure is None

    def loaded(self, slot: Slot[Any]) -> dict[str, bool]:
        """Return whether a model is in memory, as JSON; nothing where all of them always are."""
        return {} if self.settings.idle_unload is None else {"loaded": slot.value is not None}

    def check_key(self, authorization: bytes | None) -> None:
        """Raise RequestError unless the header holds one of the keys, where there are any."""
        if not self._keys:
            return
        scheme, _, given = (authorization or b"").partition(b" ")
        # Every key is compared, and each in a time that does not depend on where it differs.
        same = [hmac.compare_digest(given.strip(), key) for key in self._keys]
        if scheme.lower() != b"bearer" or not any(same):
            raise RequestError(Fault.UNAUTHORIZED, "the API key is missing or wrong")

    @contextlib.contextmanager
    def request(self) -> Iterator[Call]:
        """Count a request while it is worked on; raises RequestError if there are too many."""
        if not self.ready:
            raise RequestError(Fault.UNHEALTHY, "the models are not ready yet")
        if self.requests >= self.settings.max_concurrent_requests:
            raise RequestError(Fault.OVERLOADED, "too many requests at the same time")
        self.requests += 1
        call = Call(self)
        try:
            yield call
        finally:
            call.end()
            self.requests -= 1

    def hold(self, more: int) -> None:
        """Count bytes that a request needs besides those that it has; negative: bytes returned.

        Raises RequestError if all requests together would need too many.
        """
        if more > 0 and self.held + more > self.settings.max_held:
            raise RequestError(Fault.OVERLOADED, "the requests and answers together are too large")
        self.held += more


class Call:
    """One request, as the function that answers it sees it.

    record: its cost so far. message: its decoded body, to which errors refer. headers, binary: of
    its body, and the bytes in it behind the JSON. parameters: of its path. warnings: for headers of
    its answer. json_length: of an answer with bytes behind the JSON.
    """

    def __init__(self, state: State) -> None:
        self.state = state
        windows = WINDOWS_OF_TEXT * state.settings.max_client_batch_size
        self.record = Record(max_sequences=windows)
        self.message: Any = None
        self.characters = 0
        self.headers: Sequence[tuple[bytes, bytes]] = ()
        self.binary: memoryview | None = None
        self.parameters: dict[str, str] = {}
        self.warnings: list[bytes] = []
        self.json_length: int | None = None
        self._kept = 0
        self._held = 0
        self._used: list[Slot[Any]] = []

    async def choose(
        self, task: str, message: Message, fits: Callable[[Served], bool] | None = None
    ) -> Served:
        """Return the model for a task (`Models.choose`), cutting long texts where the message says.

        It is loaded, and stays so until the request ends. Raises RequestError.
        """
        served = self.state.models.choose(task, message, fits)
        await self.use(served.slot)
        return served.cutting(message.cuts)

    async def use(self, slot: Slot[T]) -> T:
        """Return the value of a slot, which stays until the request ends; raises RequestError."""
        value = await slot.take()
        self._used.append(slot)
        return value

    def end(self) -> None:
        """Give back all that the request needed."""
        self.message, self.binary, self.headers = None, None, ()
        self._kept = 0
        self.hold(0)
        while self._used:
            self._used.pop().give_back()

    def keep(self, size: int) -> None:
        """Add bytes that the request needs until it ends, instead of those that it holds; raises
        RequestError."""
        self._kept += size
        self.hold(0)

    def hold(self, size: int) -> None:
        """Set the number of bytes that the request needs from now on, besides those that it keeps;
        raises RequestError."""
        size += self._kept
        self.state.hold(size - self._held)
        self._held = size

    def count(self, number: int, what: str = "inputs") -> None:
        """Raise RequestError for no texts, or for more than a request may have."""
        limit = self.state.settings.max_client_batch_size
        if number == 0:
            raise RequestError(Fault.EMPTY, f"`{what}` cannot be empty", what)
        if number > limit:
            raise RequestError(
                Fault.VALIDATION, f"batch size {number} > maximum allowed batch size {limit}", what
            )

    def limit_numbers(self, most: int | None = None, size: int = BYTES_OF_NUMBER) -> None:
        """Limit and hold the numbers that are computed for every token.

        most: how many; None: those of an answer. size: the bytes that each takes.
        """
        self.record = _Numbers(self, most or self.state.settings.max_answer_numbers, size)

    def texts(self, texts: list[str], what: str = "inputs") -> list[str]:
        """Return texts that are neither too many nor empty; raises RequestError."""
        self.count(len(texts), what)
        if not all(texts):
            raise RequestError(Fault.EMPTY, f"`{what}` cannot be empty", what)
        self.characters += sum(map(len, texts))
        return texts


class _Numbers(Record):
    """Holds room for numbers before they are computed."""

    def __init__(self, call: Call, most: int, size: int) -> None:
        super().__init__(max_numbers=most, max_sequences=call.record.max_sequences)
        self._call, self._size = call, size

    def count_numbers(self, request: Request) -> None:
        super().count_numbers(request)
        self._call.hold(self.numbers * self._size)


def _tracing() -> Tracing:
    from fbg.server.tracing import Tracing  # here: its libraries are an extra

    return Tracing()
