"""Many requests at a time: the bits of each alone, 429 before memory grows, health at once."""

import concurrent.futures
import time

import httpx
import numpy as np

from helpers.serving import running
from helpers.tiny_tasks import DOCUMENTS, QUERY

WORDS = ["a", "quick", "brown", "fox", "jumps", "over", "the", "lazy", "dog", "and", "42", "more"]


def texts(count, first=0):
    return [" ".join(WORDS[n % 5 : n % 5 + 1 + n % 6]) for n in range(first, first + count)]


def test_answers_have_the_bits_of_encode_whatever_runs_beside(server, models):
    wanted = models["text"].encode(texts(60), normalize_embeddings=True)
    many = models["text"].encode(texts(400), normalize_embeddings=True)
    ranked = models["rank"].rerank(QUERY, DOCUMENTS)

    def ask(n):
        with httpx.Client(base_url=server.url, timeout=60) as client:
            for k in range(n, n + 20):
                if k % 10 == 3:
                    body = {"query": QUERY, "texts": DOCUMENTS}
                    got = client.post("/rerank", json=body).json()
                    assert [r["index"] for r in got] == [r["corpus_id"] for r in ranked]
                    assert [r["score"] for r in got] == [r["score"] for r in ranked]
                elif k % 10 == 7:
                    rows = client.post("/embed", json={"inputs": texts(400)}).json()
                    assert np.array_equal(np.array(rows, np.float32), many)
                else:
                    rows = client.post("/embed", json={"inputs": texts(1, k)}).json()
                    assert np.array_equal(np.array(rows, np.float32)[0], wanted[k])

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        for future in [pool.submit(ask, n) for n in range(32)]:
            future.result(120)


def test_overload_is_refused_and_health_answers_in_between(directories):
    limits = ["--max-concurrent-requests", "4", "--max-waiting-texts", "900"]
    with running(str(directories["text"]), "--threads", "1", *limits) as server:
        statuses = []
        slowest = 0.0

        def ask(n):
            with httpx.Client(base_url=server.url, timeout=60) as client:
                for _ in range(8):
                    answer = client.post("/embed", json={"inputs": texts(800)})
                    statuses.append(answer.status_code)
                    if answer.status_code == 429:
                        assert answer.json()["error_type"] == "Overloaded"
                        assert answer.headers["retry-after"] == "1"
                    else:
                        assert len(answer.json()) == 800

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            futures = [pool.submit(ask, n) for n in range(8)]
            while not all(future.done() for future in futures):
                begin = time.perf_counter()
                assert httpx.get(f"{server.url}/health").status_code == 200
                slowest = max(slowest, time.perf_counter() - begin)
                time.sleep(0.02)
            for future in futures:
                future.result()
        assert set(statuses) == {200, 429}
        assert slowest < 5
        assert httpx.post(f"{server.url}/embed", json={"inputs": "a"}).status_code == 200
