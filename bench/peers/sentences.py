"""Embedding texts with other engines: tokenized, run, mean-pooled and normalised, as fbg's encode.

Each strategy is what a user of the engine would write; which is the fastest depends on the engine:

    batch     texts sorted by length, 32 at a time, padded to the longest of the batch
    single    one text at a time, no padding; sorted too, which suits engines that keep a plan for
              a shape
    queue     OpenVINO's THROUGHPUT hint: the batches in its AsyncInferQueue
    genai     OpenVINO GenAI's TextEmbeddingPipeline, which tokenizes and pools by itself: 8 texts
              of similar length at a time, which is faster than 32, with the LATENCY hint, because
              it runs one batch after the other
"""

import hashlib
import json
from collections.abc import Callable, Sequence, Sized
from pathlib import Path
from typing import Any

import material
import numpy as np
import numpy.typing as npt

import peers
from peers import Array, Forward
from peers.exports import Exports

Floats = npt.NDArray[np.float32]
Embed = Callable[[list[str]], Floats]  # n texts -> (n, hidden), rows of length 1
Tokenize = Callable[[list[str]], list[Array]]  # n texts -> n (length,) int64 ids

BATCH = 32
GENAI_BATCH = 8

padded = material.of_tests("minilm").padded


def real_exports(checkpoint: Path, cache: Path, calibrating: list[str]) -> tuple[Exports, Tokenize]:
    """Exports of a model directory, calibrated on texts, and its tokenizer."""
    tokenize = tokenizer(checkpoint, longest_text(checkpoint))
    calibration = tuple(ids[None] for ids in tokenize(calibrating))
    digest = hashlib.sha256(str(checkpoint.resolve()).encode()).hexdigest()[:8]
    folder = cache / f"{checkpoint.name}-{digest}"
    return Exports(checkpoint, folder, calibration, pooler=False), tokenize


def longest_text(checkpoint: Path) -> int:
    """Tokens; what is longer is cut."""
    settings = checkpoint / "sentence_bert_config.json"
    return int(json.loads(settings.read_text())["max_seq_length"]) if settings.exists() else 512


def tokenizer(checkpoint: Path, max_length: int) -> Tokenize:
    from tokenizers import Tokenizer

    reader = Tokenizer.from_file(str(checkpoint / "tokenizer.json"))
    reader.no_padding()
    reader.enable_truncation(max_length)

    def tokenize(texts: list[str]) -> list[Array]:
        return [np.array(text.ids, np.int64) for text in reader.encode_batch_fast(texts)]

    return tokenize


def embedders(name: str, exports: Exports, threads: int, tokenize: Tokenize) -> dict[str, Embed]:
    """One peer with each of its strategies."""
    forward = peers.table("ENCODERS")[name].make(exports, threads)
    result = {
        "batch": batch(forward, exports, tokenize, BATCH),
        "single": batch(forward, exports, tokenize, 1),
    }
    engine, _, precision = name.partition("-")
    if engine == "openvino":
        result["queue"] = queue(exports, precision, threads, tokenize)
        if peers.installed("openvino_genai", "openvino_tokenizers", "transformers"):
            result["genai"] = genai(exports, precision, threads)
    return result


def batch(forward: Forward, exports: Exports, tokenize: Tokenize, size: int) -> Embed:
    padding = exports.config.get("pad_token_id", 0)

    def embed(texts: list[str]) -> Floats:
        ids = tokenize(texts)
        order = _longest_first(ids)
        parts = []
        for start in range(0, len(ids), size):
            rows, mask = padded([ids[n] for n in order[start : start + size]], padding)
            parts.append(_pooled(forward(exports.feed(rows, mask))[0], mask))
        return _in_order(np.concatenate(parts), order)

    return embed


def queue(exports: Exports, precision: str, threads: int, tokenize: Tokenize) -> Embed:
    import openvino

    from peers.openvino import compiled, encoder_path, options

    settings = options(precision, threads, "THROUGHPUT")
    requests = openvino.AsyncInferQueue(compiled(encoder_path(exports, precision), settings))
    padding = exports.config.get("pad_token_id", 0)
    parts: dict[int, Floats] = {}

    def finished(request: Any, given: tuple[int, Array]) -> None:
        start, mask = given
        parts[start] = _pooled(request.get_output_tensor(0).data, mask)

    requests.set_callback(finished)

    def embed(texts: list[str]) -> Floats:
        ids = tokenize(texts)
        order = _longest_first(ids)
        parts.clear()
        for start in range(0, len(ids), BATCH):
            rows, mask = padded([ids[n] for n in order[start : start + BATCH]], padding)
            requests.start_async(exports.feed(rows, mask), (start, mask))
        requests.wait_all()
        return _in_order(np.concatenate([parts[start] for start in sorted(parts)]), order)

    return embed


def genai(exports: Exports, precision: str, threads: int) -> Embed:
    from openvino_genai import TextEmbeddingPipeline

    from peers.openvino import options

    pipeline = TextEmbeddingPipeline(
        str(exports.genai(precision)),
        "CPU",
        TextEmbeddingPipeline.Config(
            pooling_type=TextEmbeddingPipeline.PoolingType.MEAN,
            normalize=True,
            max_length=longest_text(exports.checkpoint),
        ),
        **options(precision, threads),
    )

    def embed(texts: list[str]) -> Floats:
        order = _longest_first(texts)
        rows: list[list[float]] = []
        for start in range(0, len(texts), GENAI_BATCH):
            chosen = order[start : start + GENAI_BATCH]
            rows += pipeline.embed_documents([texts[n] for n in chosen])
        return _in_order(np.array(rows, np.float32), order)

    return embed


def _longest_first(texts: Sequence[Sized]) -> Array:
    return np.argsort([-len(text) for text in texts], kind="stable")


def _pooled(hidden: Array, mask: Array) -> Floats:
    """The mean over the tokens of each row, of length 1."""
    total: Floats = np.einsum("bth,bt->bh", hidden, mask.astype(np.float32))
    normalised: Floats = total / np.linalg.norm(total, axis=1, keepdims=True)
    return normalised


def _in_order(embeddings: Floats, order: Array) -> Floats:
    result = np.empty_like(embeddings)
    result[order] = embeddings
    return result
