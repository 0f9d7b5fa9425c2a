"""Embedding texts with other engines: tokenized, run, mean-pooled and normalised, as fbg's encode.

Each strategy is what a user of the engine would write; which is the fastest depends on the engine:

    batch     texts sorted by length, 32 at a time, padded to the longest of the batch
    single    one text at a time, no padding
    queue     OpenVINO's THROUGHPUT hint: one text at a time in its AsyncInferQueue
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bert_peers
import numpy as np
import numpy.typing as npt
from bert_peers import Forward
from exports import Array, Exports

Floats = npt.NDArray[np.float32]
Embed = Callable[[list[str]], Floats]  # n texts -> (n, hidden), rows of length 1
Tokenize = Callable[[list[str]], list[Array]]  # n texts -> n (length,) int64 ids

BATCH = 32


def strategies(name: str) -> tuple[str, ...]:
    return ("batch", "single", "queue") if name.startswith("openvino") else ("batch", "single")


def real_exports(checkpoint: Path, cache: Path, calibrating: list[str]) -> tuple[Exports, Tokenize]:
    """Exports of a model directory, calibrated on texts, and its tokenizer."""
    settings = checkpoint / "sentence_bert_config.json"
    longest = json.loads(settings.read_text())["max_seq_length"] if settings.exists() else 512
    tokenize = tokenizer(checkpoint, longest)
    calibration = tuple(ids[None] for ids in tokenize(calibrating))
    digest = hashlib.sha256(str(checkpoint.resolve()).encode()).hexdigest()[:8]
    folder = cache / f"{checkpoint.name}-{digest}"
    return Exports(checkpoint, folder, calibration, pooler=False), tokenize


def tokenizer(checkpoint: Path, max_length: int) -> Tokenize:
    from tokenizers import Tokenizer

    reader = Tokenizer.from_file(str(checkpoint / "tokenizer.json"))
    reader.no_padding()
    reader.enable_truncation(max_length)

    def tokenize(texts: list[str]) -> list[Array]:
        return [np.array(text.ids, np.int64) for text in reader.encode_batch_fast(texts)]

    return tokenize


def embedders(name: str, exports: Exports, threads: int, tokenize: Tokenize) -> dict[str, Embed]:
    """One peer of bert_peers with each of its strategies."""
    forward = bert_peers.peer(name, exports, threads)
    result = {"batch": batch(forward, tokenize, exports), "single": single(forward, tokenize)}
    if "queue" in strategies(name):
        result["queue"] = queue(exports, name.partition("-")[2], threads, tokenize)
    return result


def batch(forward: Forward, tokenize: Tokenize, exports: Exports) -> Embed:
    padding = exports.config.get("pad_token_id", 0)

    def embed(texts: list[str]) -> Floats:
        ids = tokenize(texts)
        order = np.argsort([-row.size for row in ids], kind="stable")
        parts = [order[start : start + BATCH] for start in range(0, order.size, BATCH)]
        embeddings = np.concatenate(
            [_pooled(forward, [ids[n] for n in part], padding) for part in parts]
        )
        result = np.empty_like(embeddings)
        result[order] = embeddings
        return _normalised(result)

    return embed


def single(forward: Forward, tokenize: Tokenize) -> Embed:
    def embed(texts: list[str]) -> Floats:
        return _normalised(
            np.stack([forward(ids[None])[0].mean(axis=0) for ids in tokenize(texts)])
        )

    return embed


def queue(exports: Exports, precision: str, threads: int, tokenize: Tokenize) -> Embed:
    import openvino

    model = bert_peers.openvino_model(exports, precision, threads, "THROUGHPUT")
    requests = openvino.AsyncInferQueue(model)
    results: dict[int, Floats] = {}

    def finished(request: Any, n: int) -> None:
        results[n] = request.get_output_tensor(0).data[0].mean(axis=0)

    requests.set_callback(finished)

    def embed(texts: list[str]) -> Floats:
        results.clear()
        for n, ids in enumerate(tokenize(texts)):
            requests.start_async(exports.feed(ids[None]), n)
        requests.wait_all()
        return _normalised(np.stack([results[n] for n in range(len(texts))]))

    return embed


def _pooled(forward: Forward, rows: list[Array], padding: int) -> Floats:
    """The mean over the tokens of each row, padded to the longest."""
    ids = np.full((len(rows), max(row.size for row in rows)), padding, np.int64)
    mask = np.zeros_like(ids)
    for n, row in enumerate(rows):
        ids[n, : row.size] = row
        mask[n, : row.size] = 1
    hidden = forward(ids, None if mask.all() else mask)
    total: Floats = np.einsum("bth,bt->bh", hidden, mask.astype(np.float32))
    mean: Floats = total / mask.sum(axis=1, dtype=np.float32)[:, None]
    return mean


def _normalised(embeddings: Floats) -> Floats:
    result: Floats = embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True)
    return result
