"""The golden arrays of the kinds of outputs: tests/data/tiny_outputs.npz. Called by make_golden.py.

Needs model2vec beside the packages of make_golden.py.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from sentence_transformers import CrossEncoder, SentenceTransformer

from helpers import tiny_outputs, tiny_rerankers
from helpers.tiny_outputs import LONG, TEXTS, UNKNOWN

Arrays = dict[str, np.ndarray[Any, Any]]


def output_arrays() -> Arrays:
    return {**_static(), **_rerankers()}


def _static() -> Arrays:
    """Embeddings of TEXTS, UNKNOWN and LONG; model2vec has rules of its own."""
    from model2vec import StaticModel

    result: Arrays = {}
    with tempfile.TemporaryDirectory() as directory:
        for name in tiny_outputs.STATIC:
            path = tiny_outputs.write_static(Path(directory) / name, name)
            if (path / "modules.json").is_file():
                model: Any = SentenceTransformer(str(path), device="cpu")
            else:
                model = StaticModel.from_pretrained(path)
            rows = model.encode([*TEXTS, *UNKNOWN, LONG])
            result[f"static-{name}"] = rows.astype(np.float32)
    return result


def _rerankers() -> Arrays:
    """Scores of tiny_rerankers.PAIRS."""
    result: Arrays = {}
    with tempfile.TemporaryDirectory() as directory:
        for name in tiny_rerankers.RERANKERS:
            path = tiny_rerankers.write_reranker(Path(directory) / name, name)
            if name == "first":
                result[f"rerank-{name}"] = _first_qwen3(path)
                continue
            model = CrossEncoder(str(path), device="cpu")
            result[f"rerank-{name}"] = model.predict(tiny_rerankers.PAIRS)
            if name == "template":
                result["rerank-prompt"] = model.predict(tiny_rerankers.PAIRS, prompt_name="other")
    return result


def _first_qwen3(path: Path) -> np.ndarray[Any, Any]:
    """Scores by the program on the page of Qwen3-Reranker."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(path)
    model = transformers.AutoModelForCausalLM.from_pretrained(path).eval()
    yes, no = (tokenizer.convert_tokens_to_ids(word) for word in ("yes", "no"))
    prefix = (
        "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query "
        'and the Instruct provided. Note that the answer can only be "yes" or "no".<|im_end|>\n'
        "<|im_start|>user\n"
    )
    suffix = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
    task = "Given a web search query, retrieve relevant passages that answer the query"
    scores = []
    for query, document in tiny_rerankers.PAIRS:
        body = f"<Instruct>: {task}\n<Query>: {query}\n<Document>: {document}"
        before, middle, after = (
            tokenizer.encode(text, add_special_tokens=False) for text in (prefix, body, suffix)
        )
        room = tiny_rerankers.FIRST_LENGTH - len(before) - len(after)
        ids = torch.tensor([before + middle[:room] + after])
        with torch.no_grad():
            logits = model(ids).logits[0, -1]
        scores.append(float(torch.softmax(logits[[no, yes]], 0)[1]))
    return np.array(scores, np.float32)
