"""Calls of SentenceTransformer and CrossEncoder, ours and the originals, and what comes of them.

An outcome is a description of the result, such as "tensor (2, 48) float32", or "refused". Calls of
pandas, torch and the like are made of objects that look like theirs, which need no package.
"""

from enum import Enum

import numpy as np

TEXTS = ["the dog ran", "a cat sat on the mat"]
PAIRS = [("the dog", "ran fast"), ("a cat", "sat on the mat")]


class Distance(Enum):
    """Like SimilarityFunction, the enum of sentence-transformers, which the original gets."""

    MANHATTAN = "manhattan"


class Results:
    """An evaluator that only stores a metric, as those of sentence-transformers do."""

    def __call__(self, model, output_path=None):
        model.model_card_data.set_evaluation_metrics(self, {"score": 0.5}, 0, 1)
        return {"score": 0.5}


def similarity_of(name):
    def call(model):
        before = model.similarity_fn_name
        try:
            model.similarity_fn_name = name
            rows = np.float32([[1, 2], [3, 5], [0, 1]])
            return model.similarity_fn_name, model.similarity(rows, rows[:2])
        finally:
            model.similarity_fn_name = before

    return call


def prompts_of(method, prompts, **options):
    """The embedding that a method makes with other prompts."""

    def call(model):
        before, model.prompts = model.prompts, prompts
        try:
            return getattr(model, method)(TEXTS, **options)
        finally:
            model.prompts = before

    return call


def shortened(model, dimensions):
    with model.truncate_embeddings(dimensions):
        return model.get_embedding_dimension(), model.encode(TEXTS)


THREE = {"document": "d: ", "passage": "p: ", "corpus": "c: "}
ENCODE = {
    "tensor": {"convert_to_tensor": True},
    "list": {"convert_to_numpy": False},
    "no precision": {"precision": None},
    "int8 tensor": {"precision": "int8", "convert_to_tensor": True},
    "bad precision": {"precision": "int4"},
    "batch of 0": {"batch_size": 0},
    "batch of a half": {"batch_size": 0.5},
    "bad prompt": {"prompt": 5},
    "bad prompt name": {"prompt_name": "other"},
    "prompt and name": {"prompt": "a: ", "prompt_name": "query"},
    "tokens": {"output_value": "token_embeddings"},
    "everything": {"output_value": None},
    "everything with a prompt": {"output_value": None, "prompt": "find: "},
    "more dimensions than there are": {"truncate_dim": 1000},
    "dimensions of a str": {"truncate_dim": "8"},
    "half a dimension": {"truncate_dim": 2.5},
    "devices": {"device": "cpu"},
    "unknown": {"normalise": True},
    "shorter": {"processing_kwargs": {"text": {"max_length": 4, "truncation": True}}},
    "task": {"task": "query"},
}
INPUTS = {
    "tuple": ("a dog", "a cat"),
    "array": np.array(TEXTS),
    "pairs": PAIRS,
    "lists": [[*pair] for pair in PAIRS],
    "array of pairs": np.array(PAIRS),
    "triples": [("a", "b", "c")],
    "mapping": {"text": "the dog"},
    "mappings": [{"text": "the dog"}, {"text": "the cat"}],
    "columns": {"q": "the dog"},
    "None": None,
    "number": 5,
    "bytes": b"the dog",
    "list of numbers": [1, 2],
    "None in a list": ["a", None],
    "floats": np.zeros(3, np.float32),
}
ROWS = np.float32([[1, 2, 3], [3, 5, 1]])

SENTENCE_CALLS = {
    **{f"encode: {name}": (lambda m, o=o: m.encode(TEXTS, **o)) for name, o in ENCODE.items()},
    **{
        f"encode one: {n}": (lambda m, o=ENCODE[n]: m.encode("a dog", **o))
        for n in ("tensor", "list", "tokens", "everything", "no precision")
    },
    **{f"inputs: {name}": (lambda m, x=x: m.encode(x)) for name, x in INPUTS.items()},
    "encode by name": lambda m: m.encode(inputs=TEXTS),
    "encode by the old name": lambda m: m.encode(sentences=TEXTS),
    "int8 of one": lambda m: m.encode("a dog", precision="int8"),
    "no texts as a list": lambda m: m.encode([], convert_to_numpy=False),
    "query": lambda m: m.encode_query(TEXTS),
    "query by name": lambda m: m.encode_query(inputs=TEXTS),
    "query without a name": lambda m: m.encode_query(TEXTS, prompt_name=None),
    "query with a prompt": lambda m: m.encode_query(TEXTS, prompt="x: "),
    "query by place": lambda m: m.encode_query(TEXTS, None, None, 1),
    "document without a name": lambda m: m.encode_document(TEXTS, prompt_name=None),
    "document": prompts_of("encode_document", THREE),
    "passage": prompts_of("encode_document", {k: THREE[k] for k in ("passage", "corpus")}),
    "corpus": prompts_of("encode_document", {"corpus": "c: "}),
    "no prompt for documents": prompts_of("encode_document", {"query": "q: "}),
    "no prompt for queries": prompts_of("encode_query", THREE),
    "similarity: enum": lambda m: similarity_of(Distance.MANHATTAN)(m),
    "similarity: name": similarity_of("dot"),
    "similarity: none": similarity_of(None),
    "similarity: capital": similarity_of("Cosine"),
    "similarity: number": similarity_of(5),
    "similarity: of several vectors": similarity_of("maxsim"),
    "similarity: vector": lambda m: m.similarity(ROWS[0], ROWS),
    "similarity: lists": lambda m: m.similarity(ROWS.tolist(), ROWS.tolist()),
    "similarity: none of them": lambda m: m.similarity(ROWS[:0], ROWS),
    "similarity: other sizes": lambda m: m.similarity(ROWS, ROWS[:, :2]),
    "pairwise": lambda m: m.similarity_pairwise(ROWS, ROWS[::-1].copy()),
    "pairwise: other sizes": lambda m: m.similarity_pairwise(ROWS, ROWS[:, :2]),
    "pairwise: other numbers": lambda m: m.similarity_pairwise(ROWS, np.ones((3, 3), np.float32)),
    "shortened": lambda m: shortened(m, 8),
    "not shortened": lambda m: shortened(m, 1000),
    "size": lambda m: m.get_embedding_dimension(),
    "length": lambda m: (m.max_seq_length, m.get_max_seq_length()),
    "device": lambda m: m.device.type,
    "backend": lambda m: m.get_backend(),
    "model kwargs": lambda m: m.get_model_kwargs(),
    "modalities": lambda m: m.modalities,
    "supports": lambda m: [m.supports(x) for x in ("text", "image", ("image", "text"))],
    "singular": lambda m: [
        m.is_singular_input(x)
        for x in ("a", ["a"], ("a",), np.array(["a"]), {"text": "a"}, None, 5)
    ],
    "evaluate": lambda m: m.evaluate(Results()),
    "features": lambda m: dict(m.preprocess(TEXTS)),
    "features with a prompt": lambda m: dict(m.preprocess(TEXTS, prompt="find: ")),
    "features of pairs": lambda m: dict(m.preprocess(PAIRS)),
    "features of nothing": lambda m: m.preprocess([]),
    "no file": lambda m: m.save_pretrained(None),
    "type": lambda m: m.model_type,
    "other things": lambda m: type(m)(modules=[]),
    "device by place": lambda m: type(m)("m", "cpu"),
}
SCORES = {
    "plain": {},
    "tensor": {"convert_to_tensor": True},
    "list": {"convert_to_numpy": False},
    "prompt": {"prompt": "find: "},
    "no such prompt": {"prompt_name": "other"},
    "softmax": {"apply_softmax": True},
    "batch of 0": {"batch_size": 0},
    "unknown": {"softmax": True},
    "workers": {"num_workers": 2},
    "shorter": {"processing_kwargs": {"text": {"max_length": 6, "truncation": True}}},
}
PAIR_INPUTS = {
    "array": np.array(PAIRS),
    "array of one": np.array(PAIRS[0]),
    "tuple of pairs": (PAIRS[0], PAIRS[1]),
    "text": "the dog",
    "None": None,
    "texts": [("a",)],
    "numbers": [(1, 2)],
}
PAIR_CALLS = {
    **{f"predict: {name}": (lambda m, o=o: m.predict(PAIRS, **o)) for name, o in SCORES.items()},
    **{
        f"predict one: {n}": (lambda m, o=SCORES[n]: m.predict(PAIRS[0], **o))
        for n in ("plain", "tensor", "list")
    },
    **{f"pairs: {name}": (lambda m, x=x: m.predict(x)) for name, x in PAIR_INPUTS.items()},
    "no pairs as a list": lambda m: m.predict([], convert_to_numpy=False),
    "predict by name": lambda m: m.predict(inputs=PAIRS),
    "predict by the old name": lambda m: m.predict(sentences=PAIRS),
    "rank": lambda m: m.rank("the dog", TEXTS),
    "rank with texts": lambda m: m.rank("the dog", TEXTS, return_documents=True),
    "rank one": lambda m: m.rank("the dog", TEXTS, top_k=1),
    "rank none": lambda m: m.rank("the dog", TEXTS, top_k=0),
    "rank with a prompt": lambda m: m.rank("the dog", TEXTS, prompt="find: "),
    "rank an array": lambda m: m.rank("the dog", np.array(TEXTS)),
    "rank what comes": lambda m: m.rank("the dog", (text for text in TEXTS)),
    "rank with a softmax": lambda m: m.rank("the dog", TEXTS, apply_softmax=True),
    "rank numbers": lambda m: m.rank("the dog", [1, 2]),
    "rank for None": lambda m: m.rank(None, TEXTS),
    "labels": lambda m: m.num_labels,
    "length": lambda m: (m.max_seq_length, m.get_max_seq_length()),
    "device": lambda m: m.device.type,
    "supports": lambda m: [m.supports(x) for x in ("text", "image", ("image", "text"))],
    "singular": lambda m: [
        m.is_singular_input(x)
        for x in (PAIRS, PAIRS[0], [*PAIRS[0]], np.array(PAIRS), np.array(PAIRS[0]), [])
    ],
    "evaluate": lambda m: m.evaluate(Results()),
    "features": lambda m: dict(m.preprocess(PAIRS)),
    "type": lambda m: m.model_type,
    "other things": lambda m: type(m)(modules=[]),
}
CALLS = {"SentenceTransformer": SENTENCE_CALLS, "CrossEncoder": PAIR_CALLS}


def outcome(call, model):
    """Describe what a call returns, in JSON; any error of its arguments is "refused"."""
    try:
        return described(call(model))
    except (TypeError, ValueError, RuntimeError, KeyError, AttributeError) as error:
        if isinstance(error, ModuleNotFoundError):
            raise
        return "refused"


def described(value):
    """Describe a result: kinds, shapes and dtypes of tensors and arrays, and other values."""
    if isinstance(value, dict):
        return {str(key): described(each) for key, each in sorted(value.items())}
    if isinstance(value, (list, tuple)):
        return [described(each) for each in value]
    if hasattr(value, "shape"):
        kind = "tensor" if hasattr(value, "detach") else "array"
        return f"{kind} {tuple(value.shape)} {str(value.dtype).removeprefix('torch.')}"
    return "float" if isinstance(value, float) else value


def numbers(value):
    """The numbers of a result, one after the other, for comparing."""
    if isinstance(value, dict):
        value = [each for _, each in sorted(value.items())]
    if isinstance(value, (list, tuple)):
        parts = [numbers(each) for each in value]
        return np.concatenate(parts) if parts else np.zeros(0)
    if isinstance(value, (str, type(None))):
        return np.zeros(0)
    found = value.detach().numpy() if hasattr(value, "detach") else np.asarray(value)
    return found.astype(np.float64).reshape(-1) if found.dtype.kind in "fiub" else np.zeros(0)
