"""Requests that arrive together begin in several turns of the event loop."""

import asyncio

from fbg.server.admission import MOST_REQUESTS, AdmissionLimiter


def test_requests_begin_in_order_and_few_at_a_time():
    async def main():
        limiter, begun = AdmissionLimiter(), list[list[int]]()

        async def request(n):
            await limiter.wait()
            begun[-1].append(n)

        tasks = [asyncio.create_task(request(n)) for n in range(3 * MOST_REQUESTS + 5)]
        while not all(task.done() for task in tasks):
            begun.append([])
            await asyncio.sleep(0)
        return begun

    begun = asyncio.run(main())
    assert max(map(len, begun)) <= MOST_REQUESTS
    assert [n for turn in begun for n in turn] == list(range(3 * MOST_REQUESTS + 5))


def test_requests_whose_clients_have_gone_take_no_place():
    async def main():
        limiter = AdmissionLimiter()
        tasks = [asyncio.create_task(limiter.wait()) for _ in range(4 * MOST_REQUESTS)]
        await asyncio.sleep(0)
        for task in tasks[MOST_REQUESTS : 3 * MOST_REQUESTS]:
            task.cancel()
        for _ in range(4):
            await asyncio.sleep(0)
        return sum(task.done() and not task.cancelled() for task in tasks)

    assert asyncio.run(main()) == 2 * MOST_REQUESTS
