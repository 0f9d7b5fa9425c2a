"""The golden results of tasks: tests/data/tiny_tasks.npz, tiny_tasks_5.npz.

One array, "models", of JSON: for each model of tests/helpers/tiny_tasks.py

    config, shapes     config.json and the shape of each tensor, as transformers has them
    others             what its pipelines answered

tiny_tasks.npz needs transformers < 5: later ones have no pipeline for question answering. The other
file, of tiny_tasks.LATER, needs transformers 5.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from goldens.references import jina_forward, jina_shapes
from transformers.modeling_outputs import BaseModelOutputWithPooling

from helpers import tiny_models, tiny_tasks

AUTO = {
    "ForSequenceClassification": transformers.AutoModelForSequenceClassification,
    "ForTokenClassification": transformers.AutoModelForTokenClassification,
    "ForQuestionAnswering": transformers.AutoModelForQuestionAnswering,
    "ForMaskedLM": transformers.AutoModelForMaskedLM,
}


# Heads that files on the hub have and transformers lacks.
OWN: dict[tuple[str, str], Any] = {}
if hasattr(transformers, "GteModel"):

    class GteForQuestionAnswering(transformers.GtePreTrainedModel):
        """As the code beside gte's files on the hub has it."""

        def __init__(self, config: Any) -> None:
            super().__init__(config)
            self.gte = transformers.GteModel(config, add_pooling_layer=False)
            self.qa_outputs = torch.nn.Linear(config.hidden_size, 2)
            self.post_init()

        def forward(self, **inputs: Any) -> Any:
            return self.qa_outputs(self.gte(**inputs)[0])

    OWN["gte", "ForQuestionAnswering"] = GteForQuestionAnswering


def task_arrays(later: bool = False) -> dict[str, np.ndarray]:
    names = [n for n, model in tiny_tasks.MODELS.items() if (model[0] in tiny_tasks.LATER) == later]
    models = {name: _golden(name) for name in names}
    text = json.dumps(models, default=lambda value: value.item())
    return {"models": np.array(text)}


def _golden(name: str) -> dict[str, Any]:
    family, kind, _ = tiny_tasks.MODELS[name]
    settings = tiny_tasks.settings(name)
    built = transformers.AutoConfig.for_model(settings.pop("model_type"), **settings)
    auto = OWN.get((family, kind), AUTO[kind])
    empty = auto.from_config(built) if auto is AUTO[kind] else auto(built)
    built.architectures = [type(empty).__name__]
    config = json.loads(built.to_json_string())
    untied = () if getattr(built, "tie_word_embeddings", True) else ("lm_head.weight",)
    keys = [key for key in empty._tied_weights_keys or () if key not in untied]
    tied = [re.compile(pattern) for pattern in keys]
    state = {n: t for n, t in empty.state_dict().items() if not any(p.search(n) for p in tied)}
    shapes = {name: tuple(tensor.shape) for name, tensor in state.items()}
    if family == "jina_bert":
        model, shapes = _jina_model(empty, config, shapes, tiny_tasks.seed(name))
        tokenizer = _tokenizer(family, built)
        results = _results(family, kind, model, tokenizer)
        return {"config": config, "shapes": shapes, **results}
    with tempfile.TemporaryDirectory() as directory:
        path = tiny_models.write_checkpoint(
            Path(directory), config, tiny_models.random_tensors(shapes, tiny_tasks.seed(name))
        )
        model, report = auto.from_pretrained(
            path, attn_implementation="eager", output_loading_info=True
        )
    assert not any(report.values()), report
    tokenizer = _tokenizer(family, built)
    return {"config": config, "shapes": shapes, **_results(family, kind, model.eval(), tokenizer)}


def _tokenizer(family: str, config: Any) -> Any:
    tokenizer = tiny_tasks.tokenizer(family)
    square = tokenizer.token_to_id("[CLS]") is not None
    names = ("[CLS]", "[SEP]", "[UNK]", "[PAD]") if square else ("<s>", "</s>", "<unk>", "<pad>")
    keys = ("cls_token", "sep_token", "unk_token", "pad_token")
    # Families with token types whose tokenizers give them. (Where they give zeros, the library
    # gives ones all the same to the windows of a long text after the first.)
    typed = getattr(config, "type_vocab_size", 1) > 1 and any(tokenizer.encode("a", "b").type_ids)
    types = ["token_type_ids"] if typed else []
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        mask_token=tiny_tasks.mask_token(family),
        model_max_length=tiny_tasks.LENGTH,
        model_input_names=["input_ids", "attention_mask", *types],
        **dict(zip(keys, names, strict=True)),
    )


def _results(family: str, kind: str, model: Any, tokenizer: Any) -> dict[str, Any]:
    def pipeline(task: str) -> Any:
        return transformers.pipeline(task, model=model, tokenizer=tokenizer, device="cpu")

    if kind == "ForSequenceClassification":
        return _classified(pipeline, model, tokenizer)
    if kind == "ForTokenClassification":
        return _entities(pipeline("token-classification"))
    if kind == "ForQuestionAnswering" and family in tiny_tasks.LATER:
        return {"best": _best_answers(model, tokenizer)}
    if kind == "ForQuestionAnswering":
        return _answers(pipeline("question-answering"))
    fill = pipeline("fill-mask")
    return {
        "filled": fill(tiny_tasks.masked(family), top_k=4),
        "one": fill(tiny_tasks.masked(family)[0], top_k=1),
        "targets": fill(tiny_tasks.masked(family)[0], targets=tiny_tasks.targets(family)),
    }


def _classified(pipeline: Callable[[str], Any], model: Any, tokenizer: Any) -> dict[str, Any]:
    classify = pipeline("text-classification")
    pairs = [{"text": a, "text_pair": b} for a, b in tiny_tasks.PAIRS]
    results = {
        "texts": classify(tiny_tasks.TEXTS, top_k=None),
        "pairs": [classify(pair, top_k=None) for pair in pairs],
        "nesting": {
            "str": classify(tiny_tasks.TEXTS[1]),
            "list": classify(tiny_tasks.TEXTS),
            "list of one": classify(tiny_tasks.TEXTS[1:2]),
            "str, top_k=1": classify(tiny_tasks.TEXTS[1], top_k=1),
            "list, top_k=1": classify(tiny_tasks.TEXTS, top_k=1),
            "str, top_k=2": classify(tiny_tasks.TEXTS[1], top_k=2),
            "list, top_k=2": classify(tiny_tasks.TEXTS, top_k=2),
            "str, top_k=None": classify(tiny_tasks.TEXTS[1], top_k=None),
        },
        "cut": classify(tiny_tasks.LONG, top_k=None, truncation=True),
    }
    if any(label.lower().startswith("entail") for label in model.config.id2label.values()):
        zero_shot = pipeline("zero-shot-classification")
        texts, labels = tiny_tasks.TEXTS, tiny_tasks.CANDIDATES
        template = tiny_tasks.TEMPLATE
        results["zero_shot"] = {
            "default": zero_shot(texts, labels),
            "template": zero_shot(texts, labels, hypothesis_template=template),
            "multi_label": zero_shot(texts, labels, multi_label=True),
            "one label": zero_shot(texts, labels[:1]),
            "commas": zero_shot(texts[0], ", ".join(labels)),
            "cut": zero_shot(tiny_tasks.LONG, labels),
        }
    if model.config.num_labels == 1:
        query = [tiny_tasks.QUERY] * len(tiny_tasks.DOCUMENTS)
        with torch.inference_mode():
            logits = [
                model(**tokenizer(q, d, return_tensors="pt")).logits[0, 0]
                for q, d in zip(query, tiny_tasks.DOCUMENTS, strict=True)
            ]
        # As CrossEncoder of sentence-transformers does by default.
        results["documents"] = [float(torch.sigmoid(logit)) for logit in logits]
    return results


def _entities(ner: Any) -> dict[str, Any]:
    results = {
        strategy: ner(tiny_tasks.TEXTS, aggregation_strategy=strategy)
        for strategy in tiny_tasks.STRATEGIES
    }
    results["cut"] = ner(tiny_tasks.LONG, aggregation_strategy="simple")
    results["windows"] = {
        strategy: ner([tiny_tasks.LONG, "x"], aggregation_strategy=strategy, stride=stride)
        for strategy, stride in tiny_tasks.STRIDES.items()
    }
    return results


def _answers(answer: Any) -> dict[str, Any]:
    def ask(**options: Any) -> list[Any]:
        return answer(question=tiny_tasks.QUESTIONS, context=tiny_tasks.CONTEXTS, **options)

    return {
        "best": ask(),
        "several": ask(top_k=4, max_answer_len=5),
        "windows": ask(top_k=3, max_seq_len=40, doc_stride=7),
        "impossible": ask(top_k=3, handle_impossible_answer=True),
    }


def _best_answers(model: Any, tokenizer: Any) -> list[dict[str, Any]]:
    """What the pipeline of transformers 4 answers, which later ones do not have."""
    length, best = tiny_tasks.LENGTH, []
    for question, context in zip(tiny_tasks.QUESTIONS, tiny_tasks.CONTEXTS, strict=True):
        windows = tokenizer(
            question,
            context,
            truncation="only_second",
            max_length=length,
            stride=length // 2,
            return_overflowing_tokens=True,
        )
        found: list[dict[str, Any]] = []
        for n, window in enumerate(windows.encodings):
            given = {"input_ids": window.ids, "attention_mask": window.attention_mask}
            if "token_type_ids" in tokenizer.model_input_names:
                given["token_type_ids"] = window.type_ids
            with torch.inference_mode():
                result = model(**{key: torch.tensor([value]) for key, value in given.items()})
            if hasattr(result, "start_logits"):
                result = torch.stack([result.start_logits, result.end_logits], -1)
            inside = torch.tensor([part == 1 for part in window.sequence_ids])
            cls = torch.tensor(window.ids) == tokenizer.cls_token_id  # takes part in the softmax
            logits = torch.where((inside | cls)[:, None], result[0], -10000.0)
            start, end = torch.softmax(logits, 0).T
            scores = torch.triu(start[:, None] * end).tril(14) * inside[:, None] * inside
            # Those of the best spans that are the same words are one answer.
            for score, place in zip(*scores.flatten().topk(12), strict=True):
                first, last = divmod(int(place), len(inside))
                if score == 0:
                    continue
                words = [windows.token_to_word(n, token) for token in (first, last)]
                begin = windows.word_to_chars(n, words[0], sequence_index=1).start
                stop = windows.word_to_chars(n, words[1], sequence_index=1).end
                answer = context[begin:stop]
                same = [one for one in found if one["answer"].lower() == answer.lower()]
                if same:
                    same[0]["score"] += float(score)
                else:
                    span = {"score": float(score), "start": begin, "end": stop}
                    found.append({**span, "answer": answer})
        best.append(max(found, key=lambda answer: answer["score"]))
    return best


def _jina_model(
    model: Any, config: dict[str, Any], shapes: dict[str, tuple[int, ...]], seed: int
) -> tuple[Any, dict[str, tuple[int, ...]]]:
    """BERT with a head, whose encoder is that of jina-embeddings-v2, and the shapes of both."""
    pooled = model.bert.pooler is not None
    encoder = {f"bert.{name}": shape for name, shape in jina_shapes(config).items()}
    head = {name: shape for name, shape in shapes.items() if not name.startswith("bert.")}
    both = {n: shape for n, shape in encoder.items() if pooled or "pooler" not in n} | head
    tensors = tiny_models.random_tensors(both, seed)
    own = {n.removeprefix("bert."): t for n, t in tensors.items() if n.startswith("bert.")}

    class Encoder(torch.nn.Module):
        def forward(
            self, input_ids: Any, attention_mask: Any, token_type_ids: Any, **_: Any
        ) -> Any:
            given = (input_ids, attention_mask, token_type_ids)
            rows = zip(*(tensor.numpy() for tensor in given), strict=True)
            states = [jina_forward(config, own, *row) for row in rows]
            hidden = torch.tensor(np.stack(states).astype(np.float32))
            if not pooled:
                return BaseModelOutputWithPooling(hidden)
            weight, bias = (torch.tensor(own[f"pooler.dense.{p}"]) for p in ("weight", "bias"))
            return BaseModelOutputWithPooling(hidden, torch.tanh(hidden[:, 0] @ weight.T + bias))

    model.bert = Encoder()
    given = {name: torch.tensor(tensors[name]) for name in head}
    if "cls.predictions.bias" in given:
        given["cls.predictions.decoder.weight"] = torch.tensor(
            own["embeddings.word_embeddings.weight"]
        )
        given["cls.predictions.decoder.bias"] = given["cls.predictions.bias"]
    model.load_state_dict(given)
    return model.eval(), both
