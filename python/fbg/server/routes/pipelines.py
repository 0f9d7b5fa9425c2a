"""`/ner`, `/answer`, `/fill_mask` and `/zero_shot`: tasks of the pipelines of transformers.

Messages and results are those that InferenceClient of huggingface_hub sends and reads for them.
"""

from __future__ import annotations

from typing import Any

from fbg.server.endpoint import Route
from fbg.server.errors import Fault, RequestError
from fbg.server.inputs import MOST_CHARACTERS, require_short, truncation
from fbg.server.messages import Answers, Entities, MaskFilling, ZeroShot, given
from fbg.server.models.served import Served
from fbg.server.routes.results import Label, Lists, OneOrMany
from fbg.server.state import Call
from fbg.tasks.zero_shot import TEMPLATE

MAX_CHARACTERS = 1 << 21  # as many as a body may have bytes by default
# Characters of contexts, counted once for each answer that is compared in a part of them.
MAX_COMPARED = 1 << 25
CHARACTERS_OF_GUESS = 32  # besides those of its text


async def ner(call: Call, message: Entities) -> Any:
    """`POST /ner`: the entities of a text, or of each text of a list."""
    options = {**given(message.parameters), "truncation": truncation(message)}
    labels = options.get("labels")
    served = await call.choose(
        "ner", message, lambda each: each.facts.finds_labels == (labels is not None)
    )
    texts = call.texts([message.inputs] if isinstance(message.inputs, str) else message.inputs)
    require_short(texts, MOST_CHARACTERS, "inputs", "characters")
    if labels is not None:
        call.texts(labels, "labels")
        _require_short_pairs(texts, labels, "")
    results = await served.runs.ner(texts, call.record, **options)
    for entities in results:
        for entity in entities:
            entity["score"] = float(entity["score"])
    return results[0] if isinstance(message.inputs, str) else results


async def answer(call: Call, message: Answers) -> Any:
    """`POST /answer`: the answer to a question in a context, or a list with top_k > 1."""
    served = await call.choose("answer", message)
    call.texts([message.inputs.question], "question")
    call.texts([message.inputs.context], "context")
    question, context = message.inputs.question, message.inputs.context
    require_short([question, context], MOST_CHARACTERS, "inputs", "characters")
    options = given(message.parameters)
    compared = 2 * options.get("top_k", 1) + 10  # in each part of the context
    _limit("the contexts of all answers that are compared", compared * len(context), MAX_COMPARED)
    return await served.runs.answer(question, context, call.record, **options)


async def fill_mask(call: Call, message: MaskFilling) -> Any:
    """`POST /fill_mask`: the likeliest tokens for the mask of a text, or of each text of a list."""
    served = await call.choose("fill_mask", message)
    texts = call.texts([message.inputs] if isinstance(message.inputs, str) else message.inputs)
    options = {**given(message.parameters), "truncation": truncation(message)}
    _limit("the completed texts", _completed_characters(served, texts, options), MAX_CHARACTERS)
    results = await served.runs.fill_mask(texts, call.record, **options)
    return results[0] if isinstance(message.inputs, str) else results


def _completed_characters(served: Served, texts: list[str], options: dict[str, Any]) -> int:
    """Return the number of characters of the guesses, each of which holds its whole text."""
    mask = served.model.context.tokenizer.mask_token
    if mask is None:
        return 0
    tokens = len(options["targets"]) if "targets" in options else served.model.config.vocab_size
    guesses = min(options.get("top_k", 5), tokens)
    return sum(guesses * text.count(mask) * (len(text) + CHARACTERS_OF_GUESS) for text in texts)


async def zero_shot(call: Call, message: ZeroShot) -> Any:
    """`POST /zero_shot`: given labels with scores, best first, of a text or of each of a list."""
    served = await call.choose("zero_shot_classify", message)
    texts = call.texts([message.inputs] if isinstance(message.inputs, str) else message.inputs)
    labels = call.texts(message.parameters.candidate_labels, "candidate_labels")
    call.count(len(texts) * len(labels), "inputs")
    _require_short_pairs(texts, labels, message.parameters.hypothesis_template or TEMPLATE)
    options = {**given(message.parameters), "truncation": truncation(message)}
    del options["candidate_labels"]
    found = await served.runs.zero_shot_classify(texts, labels, call.record, **options)
    results = [
        [
            {"label": label, "score": score}
            for label, score in zip(one["labels"], one["scores"], strict=True)
        ]
        for one in found
    ]
    return results[0] if isinstance(message.inputs, str) else results


def _require_short_pairs(texts: list[str], labels: list[str], template: str) -> None:
    """Raise RequestError if the pairs of each text and each label are too long together.

    All of them are tokenized, so that a small body may ask for much work.
    """
    characters = len(labels) * sum(map(len, texts)) + len(texts) * sum(map(len, labels))
    characters += len(texts) * len(labels) * len(template)
    _limit("the pairs of a text and a label", characters, MAX_CHARACTERS)


def _limit(what: str, characters: int, most: int) -> None:
    """Raise RequestError for more characters than a request may ask for."""
    if characters > most:
        raise RequestError(
            Fault.VALIDATION,
            f"{what} must have at most {most} characters in total, got {characters}",
            "inputs",
        )


ROUTES = [
    Route("/ner", ner, Entities, "ner", Lists),
    Route("/answer", answer, Answers, "answer", OneOrMany),
    Route("/fill_mask", fill_mask, MaskFilling, "fill_mask", Lists),
    Route("/zero_shot", zero_shot, ZeroShot, "zero_shot", list[Label | list[Label]]),
]
