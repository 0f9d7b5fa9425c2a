"""What SentenceTransformer, ours and the original, is asked in scripts and tests."""

from helpers import tiny_bert
from helpers.minilm import sentences

TEXTS = [text for text in sentences() if len(text) < 200][:12]
SIMILARITIES = ("cosine", "dot", "euclidean", "manhattan")

# name: (method, arguments)
CALLS = {
    "encode": ("encode", {}),
    "query": ("encode_query", {}),
    "document": ("encode_document", {}),
    "prompt": ("encode", {"prompt": "a note: "}),
    "normalized": ("encode", {"normalize_embeddings": True}),
    "short": ("encode", {"truncate_dim": 48}),
    "short_normalized": ("encode", {"truncate_dim": 48, "normalize_embeddings": True}),
    "int8": ("encode", {"precision": "int8"}),
    "uint8": ("encode", {"precision": "uint8"}),
    "binary": ("encode", {"precision": "binary"}),
    "ubinary": ("encode", {"precision": "ubinary"}),
}

PROMPTS = {
    "prompts": {"query": "find: ", "passage": "text: "},
    "default_prompt_name": "query",
    "similarity_fn_name": "dot",
}


def write_prompted(directory):
    """A tiny model without modules, so with mean pooling, with prompts and a similarity."""
    directory.mkdir()
    tiny_bert.write_checkpoint(directory, seed=3, spread=0.25)
    tiny_bert.write_json(directory / "config_sentence_transformers.json", PROMPTS)
    return directory
