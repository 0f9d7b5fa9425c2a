"""How many requests begin in one turn of the event loop, so that no turn takes long."""

from __future__ import annotations

import asyncio
from collections import deque

# A request takes about 0.1 ms of the loop until its work is in the queue.
MOST_REQUESTS = 16


class AdmissionLimiter:
    """Lets at most MOST_REQUESTS begin in each turn of the event loop, in the order of arrival.

    If a hundred requests arrive together and all begin in one turn, whatever comes next waits for
    all of them: /health, answers that are ready, and clients that went away. With this limit the
    loop looks at its sockets in between.
    """

    def __init__(self) -> None:
        self._begun = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def wait(self) -> None:
        """Return when the request may begin: at once, unless many others have just begun."""
        loop = asyncio.get_running_loop()
        if self._begun == 0:
            loop.call_soon(self._next_turn, loop)
        if self._begun < MOST_REQUESTS:
            self._begun += 1
            return
        future = loop.create_future()
        self._waiting.append(future)
        await future

    def _next_turn(self, loop: asyncio.AbstractEventLoop) -> None:
        self._begun = 0
        while self._waiting and self._begun < MOST_REQUESTS:
            future = self._waiting.popleft()
            if not future.done():  # its client may have gone away
                future.set_result(None)
                self._begun += 1
        if self._begun:
            loop.call_soon(self._next_turn, loop)
