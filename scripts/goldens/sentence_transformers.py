"""What sentence-transformers, model2vec and PyLate answer, of all kinds of outputs.

sentence_transformers.npz   texts of tests/helpers/drop_ins.py; the names of the arrays are its
                            CALLS, and those of similarities and of pairs below
drop_ins.npz                calls of tests/helpers/drop_in_calls.py: `outcomes` describes their
                            results as JSON, by class and call, `signatures` has the arguments of
                            all public methods, and an array for each call the numbers of its result
tiny_sparse.npz             sparse embeddings, by SparseEncoder
tiny_multi, tiny_pylate     for each model of tests/helpers/tiny_multi.py: NAME-query and
                            NAME-document, the vectors of all texts end to end, NAME-query-tokens
                            and NAME-document-tokens, how many each has; of those of
                            sentence-transformers also NAME-scores
tiny_outputs.npz            static embeddings and the scores of rerankers
"""

from __future__ import annotations

import inspect
import json
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from sentence_transformers import CrossEncoder, SentenceTransformer

from helpers import (
    drop_in_calls,
    drop_ins,
    tiny_multi,
    tiny_outputs,
    tiny_rerankers,
    tiny_sparse,
    tiny_tasks,
)
from helpers.minilm import minilm_directory

Arrays = dict[str, np.ndarray[Any, Any]]
ASKED = {"query": tiny_multi.QUERIES, "document": tiny_multi.DOCUMENTS}
Encode = Callable[[str, list[str]], list[Any]]  # kind and texts
Load = Callable[[str, Path], tuple[Encode, Any]]  # also what computes scores, if anything does
STRATEGIES, ACTIVATIONS = ("max", "sum"), ("relu", "log1p_relu")


def drop_in_arrays() -> dict[str, np.ndarray]:
    arrays: dict[str, np.ndarray] = {}
    with tempfile.TemporaryDirectory() as name:
        directories = {
            "minilm": minilm_directory(),
            "tiny": drop_ins.write_prompted(Path(name) / "tiny"),
        }
        for kind, directory in directories.items():
            model = SentenceTransformer(str(directory), device="cpu")
            for call, (method, options) in drop_ins.CALLS.items():
                arrays[f"{kind}_{call}"] = getattr(model, method)(drop_ins.TEXTS, **options)
        rows = arrays["minilm_encode"]
        for function in drop_ins.SIMILARITIES:
            model.similarity_fn_name = function
            arrays[f"similarity_{function}"] = model.similarity(rows[:5], rows[5:]).numpy()
            pairwise = model.similarity_pairwise(rows[:5], rows[5:10])
            arrays[f"pairwise_{function}"] = pairwise.numpy()
        pairs = CrossEncoder(
            str(tiny_tasks.write_model(Path(name) / "pairs", "pairs")), device="cpu"
        )
        arrays["predict"] = pairs.predict(tiny_tasks.PAIRS)
        ranked = pairs.rank(tiny_tasks.QUERY, tiny_tasks.DOCUMENTS)
        arrays["rank_ids"] = np.array([item["corpus_id"] for item in ranked])
        arrays["rank_scores"] = np.array([item["score"] for item in ranked], np.float32)
    return arrays


def outcome_arrays() -> dict[str, np.ndarray]:
    from sentence_transformers.util.similarity import SimilarityFunction

    drop_in_calls.Distance = SimilarityFunction
    arrays: dict[str, np.ndarray] = {}
    outcomes: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as name:
        models = {
            "SentenceTransformer": SentenceTransformer(
                str(drop_ins.write_prompted(Path(name) / "tiny")), device="cpu"
            ),
            "CrossEncoder": CrossEncoder(
                str(tiny_tasks.write_model(Path(name) / "pairs", "pairs")), device="cpu"
            ),
        }
        for kind, model in models.items():
            outcomes[kind] = {}
            for call, function in drop_in_calls.CALLS[kind].items():
                outcomes[kind][call] = drop_in_calls.outcome(function, model)
                if outcomes[kind][call] != "refused":
                    arrays[f"{kind}/{call}"] = drop_in_calls.numbers(function(model)).astype(
                        np.float32
                    )
        signatures = {kind: _signatures(type(model)) for kind, model in models.items()}
    arrays["outcomes"] = np.array(json.dumps(outcomes))
    arrays["signatures"] = np.array(json.dumps(signatures))
    return arrays


def _signatures(kind: type) -> dict[str, list[str] | None]:
    """The arguments of the public methods of a class that torch does not define.

    None: it is not a method.
    """
    own = [base for base in kind.__mro__ if base.__module__.startswith("sentence_transformers")]
    names = {name for base in own for name in vars(base) if not name.startswith("_")}
    return {
        name: [n for n in inspect.signature(getattr(kind, name)).parameters if n != "self"]
        if inspect.isroutine(getattr(kind, name))
        else None
        for name in sorted({"__init__", *names})
    }


def sparse_arrays() -> dict[str, np.ndarray[Any, Any]]:
    """Return the vectors of tiny_tasks.TEXTS for each pooling strategy and activation, and those of
    queries and documents for models with a table for queries: (texts, vocabulary).
    """
    from sentence_transformers import SparseEncoder
    from sentence_transformers.sparse_encoder.modules import MLMTransformer, SpladePooling

    result = {}
    with tempfile.TemporaryDirectory() as directory:
        path = tiny_tasks.write_model(Path(directory), "bert-ForMaskedLM")
        tokenizer = transformers.PreTrainedTokenizerFast(
            tokenizer_object=tiny_tasks.tokenizer("bert"),
            model_max_length=tiny_tasks.LENGTH,
            pad_token="[PAD]",
            mask_token="[MASK]",
        )
        tokenizer.save_pretrained(path)
        for strategy in STRATEGIES:
            for activation in ACTIVATIONS:
                pooling = SpladePooling(strategy, activation)
                model = SparseEncoder(modules=[MLMTransformer(str(path)), pooling], device="cpu")
                rows = model.encode(tiny_tasks.TEXTS, convert_to_sparse_tensor=False)
                result[f"{strategy}-{activation}"] = rows.numpy()
    with tempfile.TemporaryDirectory() as directory:
        for name in tiny_sparse.ROUTED:
            path = tiny_sparse.write_routed(Path(directory) / name, name)
            model = SparseEncoder(str(path), device="cpu")
            for kind, encode in (
                ("query", model.encode_query),
                ("document", model.encode_document),
            ):
                rows = encode(tiny_sparse.TEXTS, convert_to_sparse_tensor=False)
                result[f"{name}-{kind}"] = rows.numpy()
    return result


def _vectors(
    names: Iterable[str], load: Callable[[str, Path], tuple[Encode, Any]]
) -> dict[str, Any]:
    arrays: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as directory:
        for name in names:
            path = tiny_multi.write_multi(Path(directory) / name, name)
            encode, similarity = load(name, path)
            encoded = {kind: encode(kind, texts) for kind, texts in ASKED.items()}
            for kind, rows in encoded.items():
                arrays[f"{name}-{kind}"] = np.concatenate([np.asarray(row) for row in rows])
                arrays[f"{name}-{kind}-tokens"] = np.array([len(row) for row in rows])
            if similarity is not None:
                arrays[f"{name}-scores"] = similarity(*encoded.values()).numpy()
    return arrays


def multi_arrays() -> dict[str, Any]:
    from sentence_transformers import MultiVectorEncoder

    def load(name: str, path: Path) -> tuple[Encode, Any]:
        model = MultiVectorEncoder(str(path), device="cpu")
        return lambda kind, texts: getattr(model, f"encode_{kind}")(texts), model.similarity

    return _vectors(tiny_multi.MODELS, load)


def pylate_arrays() -> dict[str, Any]:
    from pylate import models

    def load(name: str, path: Path) -> tuple[Encode, Any]:
        known = len(tiny_multi.tokenizer(tiny_multi.PYLATE[name].family, True).get_vocab())
        model = models.ColBERT(str(path), device="cpu")
        assert len(model.tokenizer) == known, "PyLate must not have to add prefixes"

        def encode(kind: str, texts: list[str]) -> list[Any]:
            # One at a time: of a batch, padding would count in queries that are not filled up.
            options = {"is_query": kind == "query", "show_progress_bar": False}
            return [model.encode([text], **options)[0] for text in texts]

        return encode, None

    return _vectors(tiny_multi.PYLATE, load)


def output_arrays() -> Arrays:
    return {**_static(), **_rerankers()}


def _static() -> Arrays:
    """Embeddings of the texts of tiny_outputs; model2vec has rules of its own."""
    from model2vec import StaticModel

    result: Arrays = {}
    with tempfile.TemporaryDirectory() as directory:
        for name in tiny_outputs.STATIC:
            path = tiny_outputs.write_static(Path(directory) / name, name)
            if (path / "modules.json").is_file():
                model: Any = SentenceTransformer(str(path), device="cpu")
            else:
                model = StaticModel.from_pretrained(path)
            rows = model.encode([*tiny_outputs.TEXTS, *tiny_outputs.UNKNOWN, tiny_outputs.LONG])
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
