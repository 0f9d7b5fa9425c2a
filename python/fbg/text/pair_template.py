"""The text around a query and a document, or many, for decoders that are asked whether they fit.

Such a reranker has a chat template (Jinja) with the roles "query" and "document", as
sentence-transformers uses it, or it is a Qwen3-Reranker as first published, whose text is known.
The template is rendered for every pair, with its texts: it may do with them what it likes.

jina-reranker-v3 (Wang et al., 2025, arXiv:2509.25085) reads many documents in one prompt, each with
a token at its end whose state is compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fbg.checkpoints.files import read_optional
from fbg.checkpoints.settings import Settings
from fbg.errors import ModelError
from fbg.files import read_regular

CHAT_TEMPLATE = "chat_template.jinja"

# This is the text on the page of the model.
QWEN3 = (
    "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and "
    'the Instruct provided. Note that the answer can only be "yes" or "no".<|im_end|>\n'
    "<|im_start|>user\n"
    "<Instruct>: {prompt}\n<Query>: {query}\n<Document>: {document}<|im_end|>\n"
    "<|im_start|>assistant\n<think>\n\n</think>\n\n"
)
QWEN3_PROMPT = "Given a web search query, retrieve relevant passages that answer the query"


# The first pair differs from the others in its query, or its document.
PROBES = (("query", "document"), ("other", "document"), ("query", "other"))


@dataclass(frozen=True)
class PairTemplate:
    """path: of its file, for errors. source: the Jinja text; "": the one of Qwen3-Reranker.
    options: names that the template may use. prompt: the model's prompt, or None; "" means no
    instruction. structured: the content of a message is a list of parts.
    """

    path: Path
    source: str
    options: Mapping[str, Any]
    prompt: str | None
    structured: bool = False

    def text(self, query: str, document: str, prompt: str | None = None) -> str:
        """Return the input of the model for a pair; prompt: replaces the model's prompt."""
        prompt = self.prompt if prompt is None else prompt
        if not self.source:
            prompt = QWEN3_PROMPT if prompt is None else prompt
            return QWEN3.format(prompt=prompt, query=query, document=document)
        from fbg.text.chat_template import render_chat_template

        texts = {"system": prompt, "query": query, "document": document}
        messages = [self._message(role, text) for role, text in texts.items() if text is not None]
        if prompt == "":
            del messages[0]
        values = {"tools": None, "documents": None, **self.options, "messages": messages}
        try:
            return render_chat_template(self.source, (prompt or "", query, document), values)
        except ValueError as error:
            raise ModelError(f"{self.path}: chat_template cannot be rendered: {error}") from None

    def _message(self, role: str, text: str) -> dict[str, Any]:
        content = [{"type": "text", "text": text}] if self.structured else text
        return {"role": role, "content": content}

    @property
    def places_both_texts(self) -> bool:
        """Whether the input of the model depends on the query and on the document."""
        first, *others = (self.text(*pair) for pair in PROBES)
        return first not in others


def read_pair_template(
    directory: Path, settings: Settings, prompt: str | None, *, is_qwen3: bool
) -> PairTemplate | None:
    """Return the template of a reranker, None if it has none; raises ModelError.

    directory: with the files of the decoder. settings: of the decoder as a module. prompt: the
    default prompt of the model. is_qwen3: Qwen3-Reranker without a module for scores, whose chat
    template is for conversations.
    """
    if is_qwen3:
        return PairTemplate(directory, "", {}, prompt)
    options: dict[str, Any] = {"add_generation_prompt": False}
    path = directory / "tokenizer_config.json"
    tokens = read_optional(path)
    for key in ("bos_token", "eos_token", "pad_token", "unk_token"):
        value = tokens.get(key)
        text = value.get("content") if isinstance(value, dict) else value
        if isinstance(text, str):
            options[key] = text
    source = tokens.get("chat_template")
    if (directory / CHAT_TEMPLATE).is_file():
        path = directory / CHAT_TEMPLATE
        try:
            source = read_regular(path).decode("utf-8")
        except (OSError, UnicodeError) as error:
            raise ModelError(f"{path}: {error}") from None
    message = settings.section("modality_config").get("message")
    if source is None and message is not None:
        raise ModelError(
            f"{settings.path}: modality_config has message, which requires a chat template: "
            "neither chat_template.jinja nor chat_template in tokenizer_config.json is there"
        )
    if source is None:
        return None
    if not isinstance(source, str) or not source:
        found = Settings(path, {"chat_template": source})
        raise found.error("chat_template", "a string that is not empty")
    given = settings.section("processing_kwargs").section("chat_template")
    options.update({key: given.get(key) for key in given.values()})
    options.pop("restore_suffix", None)
    form = message.get("format") if isinstance(message, dict) else None
    return _usable(PairTemplate(path, source, options, prompt), form)


def _usable(template: PairTemplate, form: object) -> PairTemplate:
    """Return the template with messages of the form that it takes: "flat", "structured", or other
    values for whichever places the texts of a pair; raises ModelError.
    """
    forms = {"flat": [False], "structured": [True]}.get(str(form), [False, True])
    failure = None
    for structured in forms:
        tried = replace(template, structured=structured)
        try:
            if tried.places_both_texts:
                return tried
        except ModelError as error:
            failure = failure or error
    raise failure or ModelError(
        f"{template.path}: chat_template must place messages of the roles query and document: what "
        "it renders does not depend on both"
    )


# --- Many documents -------------------------------------------------------------------------------

DOCUMENT_TOKEN, QUERY_TOKEN = "<|embed_token|>", "<|rerank_token|>"
MOST_DOCUMENTS = 125  # of a prompt
DOCUMENT_LENGTH, QUERY_LENGTH = 2048, 512  # tokens to which texts are cut

# This is the text with which the model was trained.
SYSTEM = (
    "You are a search relevance expert who can determine a ranking of the passages based on how "
    "relevant they are to the query. If the query is a question, how relevant a passage is depends "
    "on how well it answers the question. If not, try to analyze the intent of the query and "
    "assess how well each passage satisfies the intent. If an instruction is provided, you should "
    "follow the instruction when determining the ranking."
)


def listwise_prompt(query: str, documents: Sequence[str], instruction: str | None) -> str:
    """Return the input of the model; instruction: of the user, or None."""
    query, *documents = (_without_tokens(text) for text in (query, *documents))
    lines = [
        f"<|im_start|>system\n{SYSTEM}<|im_end|>",
        f"<|im_start|>user\nI will provide you with {len(documents)} passages, each indicated by a "
        f"numerical identifier. Rank the passages based on their relevance to query: {query}",
    ]
    if instruction:
        lines.append(f"<instruct>\n{instruction}\n</instruct>")
    for n, text in enumerate(documents):
        lines.append(f'<passage id="{n}">\n{text}{DOCUMENT_TOKEN}\n</passage>')
    lines.append(f"<query>\n{query}{QUERY_TOKEN}\n</query><|im_end|>")
    return "\n".join([*lines, "<|im_start|>assistant\n<think>\n\n</think>\n\n"])


def _without_tokens(text: str) -> str:
    """Return a text without the two tokens, also where taking one away makes another."""
    before = None
    while text != before:
        before, text = text, text.replace(QUERY_TOKEN, "").replace(DOCUMENT_TOKEN, "")
    return text
