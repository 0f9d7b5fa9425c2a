"""The text around a query and a document, for decoders that are asked whether they fit.

Such a reranker has a chat template (Jinja) with the roles "query" and "document", as
sentence-transformers uses it, or it is a Qwen3-Reranker as first published, whose text is known.
The template is rendered once for each prompt, with marks in place of the texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fbg.checkpoints.files import Settings, read_settings
from fbg.errors import ModelError

__all__ = ["PairTemplate", "read_pair_template"]

QUERY, DOCUMENT = "\x02query\x03", "\x02document\x03"

# As on the page of the model.
QWEN3 = (
    "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and "
    'the Instruct provided. Note that the answer can only be "yes" or "no".<|im_end|>\n'
    "<|im_start|>user\n"
    "<Instruct>: {prompt}\n<Query>: " + QUERY + "\n<Document>: " + DOCUMENT + "<|im_end|>\n"
    "<|im_start|>assistant\n<think>\n\n</think>\n\n"
)
QWEN3_PROMPT = "Given a web search query, retrieve relevant passages that answer the query"


@dataclass(frozen=True)
class PairTemplate:
    """path: where it comes from, for errors. source: in Jinja; "": that of Qwen3-Reranker.
    options: names that the template may use. prompt: the one of the model, or None.
    """

    path: Path
    source: str
    options: Mapping[str, Any]
    prompt: str | None
    _known: dict[str | None, tuple[str, str, str]] = field(default_factory=dict, compare=False)

    def text(self, query: str, document: str, prompt: str | None = None) -> str:
        """Return what the model reads about a pair; prompt: instead of that of the model."""
        before, between, after = self._parts(self.prompt if prompt is None else prompt)
        return f"{before}{query}{between}{document}{after}"

    def _parts(self, prompt: str | None) -> tuple[str, str, str]:
        if prompt not in self._known:
            self._known[prompt] = self._split(prompt)
        return self._known[prompt]

    def _split(self, prompt: str | None) -> tuple[str, str, str]:
        if not self.source:
            rendered = QWEN3.replace("{prompt}", prompt or QWEN3_PROMPT)
        else:
            rendered = self._render(prompt, structured=False)
            if QUERY not in rendered or DOCUMENT not in rendered:
                rendered = self._render(prompt, structured=True)
        before, query, rest = rendered.partition(QUERY)
        between, document, after = rest.partition(DOCUMENT)
        if not query or not document or QUERY in after or DOCUMENT in after:
            raise ModelError(
                f"{self.path}: chat_template must place messages of the roles query and document, "
                "once each and in this order"
            )
        return before, between, after

    def _render(self, prompt: str | None, structured: bool) -> str:
        from jinja2 import TemplateError
        from jinja2.sandbox import ImmutableSandboxedEnvironment

        def message(role: str, text: str) -> dict[str, Any]:
            content = [{"type": "text", "text": text}] if structured else text
            return {"role": role, "content": content}

        messages = [message("query", QUERY), message("document", DOCUMENT)]
        if prompt:
            messages.insert(0, message("system", prompt))
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
        )
        environment.globals["raise_exception"] = _raise
        try:
            template = environment.from_string(self.source)
            return template.render(messages=messages, tools=None, documents=None, **self.options)
        except (TemplateError, TypeError, ValueError, LookupError) as error:
            raise ModelError(f"{self.path}: chat_template cannot be rendered: {error}") from None


def read_pair_template(
    directory: Path, prompt: str | None, *, is_qwen3: bool
) -> PairTemplate | None:
    """Return the template of a reranker, None if it has none; raises ModelError.

    prompt: the default prompt of the model. is_qwen3: Qwen3-Reranker without a module for scores,
    whose chat template is that of conversations.
    """
    if is_qwen3:
        return PairTemplate(directory, "", {}, prompt)
    options: dict[str, Any] = {"add_generation_prompt": False}
    path = directory / "tokenizer_config.json"
    tokens = read_settings(path) if path.is_file() else Settings(path, {})
    for key in ("bos_token", "eos_token", "pad_token", "unk_token"):
        value = tokens.get(key)
        text = value.get("content") if isinstance(value, dict) else value
        if isinstance(text, str):
            options[key] = text
    source = tokens.get("chat_template")
    if (directory / "chat_template.jinja").is_file():
        path = directory / "chat_template.jinja"
        try:
            source = path.read_text(encoding="utf-8")
        except (OSError, UnicodeError) as error:
            raise ModelError(f"{path}: {error}") from None
    if source is None:
        return None
    if not isinstance(source, str):
        raise tokens.error("chat_template", "a string")
    given = directory / "sentence_bert_config.json"
    if given.is_file():
        section = read_settings(given).section("processing_kwargs").section("chat_template")
        options.update(section.values())
        options.pop("restore_suffix", None)
    template = PairTemplate(path, source, options, prompt)
    template.text("", "")  # raises for a template that cannot be used
    return template


def _raise(message: str) -> str:
    raise ValueError(message)
