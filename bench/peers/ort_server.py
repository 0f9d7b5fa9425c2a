"""A peer of `fbg serve`: Starlette and onnxruntime, with dynamic batching. `POST /v1/embeddings`.

    python bench/peers/ort_server.py MODEL.onnx TOKENIZER.json PORT

What one would write oneself: requests wait in a list, and while a batch runs in a thread, the next
one forms. A batch has at most 32 texts in the order of their arrival, padded to the longest.
"""

import asyncio
import base64
import json
import sys
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

BATCH = 32
LONGEST = 256


class Batcher:
    """Texts in, embeddings out, for many requests at a time."""

    def __init__(self, model: str, tokenizer: str) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        self._session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
        self._names = {item.name for item in self._session.get_inputs()}
        self._tokenizer = Tokenizer.from_file(tokenizer)
        self._tokenizer.enable_truncation(LONGEST)
        self._tokenizer.enable_padding()
        self._waiting: list[tuple[str, asyncio.Future[Floats]]] = []
        self._running = False

    def embed(self, texts: list[str]) -> Floats:
        encodings = self._tokenizer.encode_batch_fast(texts)
        ids = np.array([e.ids for e in encodings], np.int64)
        mask = np.array([e.attention_mask for e in encodings], np.int64)
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        used = {name: array for name, array in feed.items() if name in self._names}
        states = self._session.run(None, used)[0]
        weights = mask[:, :, None].astype(np.float32)
        mean = (states * weights).sum(axis=1) / weights.sum(axis=1)
        rows: Floats = mean / np.linalg.norm(mean, axis=1, keepdims=True)
        return rows

    async def submit(self, texts: list[str]) -> Floats:
        loop = asyncio.get_running_loop()
        futures = [loop.create_future() for _ in texts]
        self._waiting += zip(texts, futures, strict=True)
        if not self._running:
            self._running = True
            self._task = loop.create_task(self._run())
        return np.stack(await asyncio.gather(*futures))

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            batch, self._waiting = self._waiting[:BATCH], self._waiting[BATCH:]
            rows = await loop.run_in_executor(None, self.embed, [text for text, _ in batch])
            for (_, future), row in zip(batch, rows, strict=True):
                if not future.done():
                    future.set_result(row)
        self._running = False


def build_app(batcher: Batcher) -> Any:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

    async def embeddings(request: Request) -> Response:
        body = json.loads(await request.body())
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        rows = await batcher.submit(texts)
        encoded = [base64.b64encode(row.tobytes()).decode() for row in rows]
        data = [{"object": "embedding", "index": n, "embedding": e} for n, e in enumerate(encoded)]
        return JSONResponse({"object": "list", "data": data})

    async def health(request: Request) -> Response:
        return Response()

    return Starlette(
        routes=[Route("/v1/embeddings", embeddings, methods=["POST"]), Route("/health", health)]
    )


def main() -> None:
    import uvicorn

    model, tokenizer, port = sys.argv[1:]
    app = build_app(Batcher(model, tokenizer))
    uvicorn.run(app, host="127.0.0.1", port=int(port), access_log=False, log_level="warning")


if __name__ == "__main__":
    main()
