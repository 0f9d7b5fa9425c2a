"""The golden results of tasks: tests/data/tiny_tasks.npz, tiny_tasks_5.npz. For make_golden.py.

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

from helpers import tiny_models, tiny_tasks

AUTO = {
    "ForSequenceClassification": transformers.AutoModelForSequenceClassification,
    "ForTokenClassification": transformers.AutoModelForTokenClassification,
    "ForQuestionAnswering": transformers.AutoModelForQuestionAnswering,
    "ForMaskedLM": transformers.AutoModelForMaskedLM,
}


def task_arrays(later: bool = False) -> dict[str, np.ndarray]:
    names = [n for n, model in tiny_tasks.MODELS.items() if (model[0] in tiny_tasks.LATER) == later]
    models = {name: _golden(name) for name in names}
    text = json.dumps(models, default=lambda value: value.item())
    return {"models": np.array(text)}


def _golden(name: str) -> dict[str, Any]:
    family, kind, _ = tiny_tasks.MODELS[name]
    settings = tiny_tasks.settings(name)
    built = transformers.AutoConfig.for_model(settings.pop("model_type"), **settings)
    empty = AUTO[kind].from_config(built)
    built.architectures = [type(empty).__name__]
    config = json.loads(built.to_json_string())
    tied = [re.compile(pattern) for pattern in empty._tied_weights_keys or ()]
    state = {n: t for n, t in empty.state_dict().items() if not any(p.search(n) for p in tied)}
    shapes = {name: tuple(tensor.shape) for name, tensor in state.items()}
    with tempfile.TemporaryDirectory() as directory:
        path = tiny_models.write_checkpoint(
            Path(directory), config, tiny_models.random_tensors(shapes, tiny_tasks.seed(name))
        )
        model, report = AUTO[kind].from_pretrained(
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
    # Of families with token types whose tokenizers give them. (Where they give zeros, the library
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
