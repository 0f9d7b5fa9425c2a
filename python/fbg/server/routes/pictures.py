"""Embeddings and classes of pictures, which requests hold in base64: no URL is fetched.

The pictures of a request have a limit of pixels together, because a file of a few bytes may stand
for millions. What it takes to decode the largest is held before it is decoded.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from fbg.arrays import Floats
from fbg.runtime.event_loop import in_thread
from fbg.server.endpoint import Route
from fbg.server.errors import Fault, RequestError
from fbg.server.logs import quiet_libtiff
from fbg.server.messages import ImageClassification, ImageEmbedding, Modality, given
from fbg.server.models.served import Served
from fbg.server.routes.results import Lists, Vectors
from fbg.server.state import Call

AT_A_TIME = 8  # pictures that are prepared together


async def embed_image(call: Call, message: ImageEmbedding) -> Floats:
    """`POST /embed_image`: an embedding of each picture."""
    served = await call.choose("encode_image", message)
    _, files = await _files(call, message.inputs, "inputs")
    return await _encode(call, served, files, message.normalize)


async def classify_image(call: Call, message: ImageClassification) -> list[Any]:
    """`POST /classify_image`: labels of pictures with scores, the best one first; those that the
    request names (CLIP, SigLIP), or those of the model."""
    options = given(message.parameters)
    labels, most = options.pop("candidate_labels", None), options.pop("top_k", None)
    task = "classify_image" if labels is None else "zero_shot_classify_image"
    served = await call.choose(task, message)
    one, files = await _files(call, message.inputs, "inputs")
    if most is not None and most < 1:
        raise RequestError(Fault.VALIDATION, "`top_k` must be at least 1", "parameters.top_k")
    if labels is None:
        if options:
            text = "`hypothesis_template` is for requests with `candidate_labels`"
            raise RequestError(Fault.VALIDATION, text, "parameters.hypothesis_template")
        found = await served.runs.classify_image(files, call.record, top_k=None)
    else:
        call.texts(labels, "parameters.candidate_labels")
        options["batch_size"] = AT_A_TIME
        rows = await served.runs.zero_shot_classify_image(files, labels, call.record, **options)
        pairs = (zip(row["labels"], row["scores"], strict=True) for row in rows)
        found = [[{"label": label, "score": score} for label, score in row] for row in pairs]
    found = [row[:most] for row in found]
    return found[0] if one else found


async def embed_modalities(
    call: Call, served: Served, items: Sequence[Modality], normalize: bool | None
) -> Floats:
    """Return the embeddings of texts and pictures in their order; raises RequestError."""
    if any((item.text is None) == (item.image is None) for item in items):
        text = "each object of `input` must have either `text` or `image`"
        raise RequestError(Fault.VALIDATION, text, "input")
    rows = np.empty((len(items), served.model.embedding_dimension), np.float32)
    is_text = np.array([item.text is not None for item in items])
    texts = [item.text for item in items if item.text is not None]
    images = [item.image for item in items if item.image is not None]
    if texts:
        rows[is_text] = await served.runs.encode(
            call.texts(texts, "input"), call.record, normalize_embeddings=normalize
        )
    if images:
        _, files = await _files(call, images, "input")
        rows[~is_text] = await _encode(call, served, files, bool(normalize))
    return rows


async def _encode(call: Call, served: Served, files: list[bytes], normalize: bool) -> Floats:
    return await served.runs.encode_image(
        files, call.record, batch_size=AT_A_TIME, normalize_embeddings=normalize
    )


async def _files(call: Call, inputs: str | list[str], what: str) -> tuple[bool, list[bytes]]:
    """Return whether there is one picture, and the files of all; raises RequestError."""
    texts = [inputs] if isinstance(inputs, str) else inputs
    call.count(len(texts), what)
    if not all(texts):
        raise RequestError(Fault.EMPTY, f"`{what}` cannot be empty", what)
    try:
        most = call.state.settings.max_held
        files, size = await in_thread(call.state.encoders, _decoded, texts, what, most)
    except ModuleNotFoundError as error:
        raise RequestError(Fault.UNABLE, f"pictures cannot be read here: {error}", what) from None
    call.keep(size)
    return isinstance(inputs, str), files


def _decoded(texts: Sequence[str], what: str, most: int) -> tuple[list[bytes], int]:
    """Return the files, and the bytes that they take, with the largest of them decoded."""
    from fbg.vision.decode import MAX_PIXELS, cost_of  # here, as it needs Pillow

    quiet_libtiff()
    files, pixels, largest = [], 0, 0
    for n, text in enumerate(texts):
        head, comma, data = text.partition(",")
        try:
            if comma and not (head.startswith("data:") and head.endswith(";base64")):
                raise ValueError
            files.append(base64.b64decode(data if comma else text, validate=True))
        except ValueError:
            raise RequestError(
                Fault.VALIDATION,
                f"`{what}`[{n}] must be a picture in base64, or a data URI with one; the server "
                "fetches no URLs",
                what,
            ) from None
        number, size = cost_of(files[-1], f"images[{n}]")
        if size > most:
            text = f"`{what}`[{n}] must have at most {most * number // size} pixels, got {number}"
            raise RequestError(Fault.VALIDATION, text, what)
        pixels, largest = pixels + number, max(largest, size)
        if pixels > MAX_PIXELS:
            text = f"`{what}` must have at most {MAX_PIXELS} pixels in total"
            raise RequestError(Fault.VALIDATION, text, what)
    return files, sum(map(len, files)) + largest


ROUTES = [
    Route("/embed_image", embed_image, ImageEmbedding, "embed_image", Vectors, large=True),
    Route(
        "/classify_image", classify_image, ImageClassification, "classify_image", Lists, large=True
    ),
]
