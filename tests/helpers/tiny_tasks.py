"""Tiny random models with heads, one per kind of head and family, and what they are asked.

As in tiny_models.py: transformers says what files look like (scripts/golden.py stores it, and
the results of its pipelines, in tests/data/tiny_tasks.npz), and the numbers are a function of names
and shapes.
"""

import json
from functools import cache

from tokenizers.processors import TemplateProcessing

from helpers.minilm import arrays
from helpers.tiny_models import CONFIGS, SEED, TOKENIZERS, random_tensors, write_checkpoint

LENGTH = 64  # tokens of the longest sequence

LABELS = {0: "bad", 1: "fair", 2: "good"}
TAGS = {0: "O", 1: "B-PER", 2: "I-PER", 3: "B-LOC", 4: "I-LOC"}

KINDS = {
    "ForSequenceClassification": {"id2label": LABELS},
    "ForTokenClassification": {"id2label": TAGS},
    "ForQuestionAnswering": {},
    "ForMaskedLM": {},
}

# The models of a server, by the names that tests give them.
SERVED_KINDS = {
    "rank": "pairs",
    "labels": "bert-ForSequenceClassification",
    "tags": "roberta-ForTokenClassification",
    "answers": "bert-ForQuestionAnswering",
    "masks": "bert-ForMaskedLM",
}

FAMILIES = (
    *("bert", "roberta", "xlm-roberta", "camembert", "distilbert", "electra", "albert"),
    *("mpnet", "modernbert", "rembert", "deberta", "deberta-v2", "megatron-bert"),
    *("xlm-roberta-xl", "jina_bert"),
)

# Families of which transformers has models since version 5, and their layouts on the hub.
LATER = ("gte", "nomic_bert", "jina_embeddings_v3", "eurobert", "gemma3_text")
HUB = ("new", "xlm-roberta-flash", "neobert")  # test_neobert.py has the heads of the last

UNHEADED = {
    ("nomic_bert", "ForQuestionAnswering"),
    ("eurobert", "ForQuestionAnswering"),
    *(("gemma3_text", kind) for kind in KINDS if kind != "ForSequenceClassification"),
}

# Decoders classify texts by their last token. transformers 4 reads their positions from other keys.
DECODERS = ("llama", "mistral", "qwen2", "qwen3", "gemma2")
POSITIONS = {"rope_parameters": None, "rope_theta": 50.0}


def named(*labels):
    """Settings of config.json for these labels."""
    return {"id2label": dict(enumerate(labels)), "label2id": {x: n for n, x in enumerate(labels)}}


# (family, kind, settings of config.json)
MODELS = {
    **{
        f"{family}-{kind}": (family, kind, extra)
        for family in FAMILIES
        for kind, extra in KINDS.items()
        if (family, kind) != ("rembert", "ForMaskedLM")  # which has a decoder of another width
    },
    **{
        f"{family}-ForSequenceClassification": (
            family,
            "ForSequenceClassification",
            {"id2label": LABELS, **POSITIONS},
        )
        for family in DECODERS
    },
    **{
        f"{family}-ForTokenClassification": (
            family,
            "ForTokenClassification",
            {"id2label": TAGS, **POSITIONS},
        )
        for family in DECODERS
    },
    **{
        f"{family}-ForQuestionAnswering": (family, "ForQuestionAnswering", POSITIONS)
        for family in DECODERS
        if family != "gemma2"
    },
    **{
        f"{family}-ForTokenClassification": (
            family,
            "ForTokenClassification",
            {"id2label": TAGS, "n_positions": LENGTH},
        )
        for family in ("t5", "mt5")
    },
    **{
        f"{family}-{kind}": (family, kind, extra)
        for family in LATER
        for kind, extra in KINDS.items()
        if (family, kind) not in UNHEADED
    },
    **{
        f"eurobert-{pooling}": (
            "eurobert",
            "ForSequenceClassification",
            {"classifier_pooling": pooling},
        )
        for pooling in ("bos", "mean")
    },
    "modernbert-mean": (
        "modernbert",
        "ForSequenceClassification",
        {"classifier_pooling": "mean", "classifier_bias": True, "norm_bias": True},
    ),
    "pairs": ("bert", "ForSequenceClassification", {"num_labels": 1}),
    "many-labels": (
        "roberta",
        "ForSequenceClassification",
        {"problem_type": "multi_label_classification", "num_labels": 4},
    ),
    "nli": (
        "roberta",
        "ForSequenceClassification",
        named("contradiction", "neutral", "ENTAILMENT"),
    ),
    "nli-first": (
        "deberta-v2",
        "ForSequenceClassification",
        named("entailment", "neutral", "contradiction"),
    ),
    "regression": (
        "electra",
        "ForSequenceClassification",
        {"problem_type": "regression", "num_labels": 1},
    ),
}

TEXTS = ["the cat", "Ada lives in the north, near York.", "x", "zebra 42! over the hill; again"]
PAIRS = [("where is it?", "here, on the table"), ("a", "the b c d")]
QUERY, DOCUMENTS = "who is the author", ["no idea", "the cat", "Harper wrote it in 1960", "x"]
CONTEXTS = [
    "Ada lives in the north, near York. The river runs by; the bridge was built in 1850. Look.",
    "short context here",
]
QUESTIONS = ["where is she?", "how long"]
MASKED = ["the {mask} cat", "a {mask} and {mask}."]
STRATEGIES = ("none", "simple", "first", "average", "max")
CANDIDATES, TEMPLATE = ["north", "a river", "x"], "It is of {}!"
# More tokens than LENGTH, and the strides with which it is read in windows.
LONG = " ".join([*TEXTS, *(context.lower() for context in CONTEXTS), *TEXTS[::-1]])
STRIDES = {"simple": 0, "first": 7, "average": 20, "max": 40}


def tokenizer(family):
    """Special tokens are found in texts, as in tokenizers of models that were trained."""
    result = TOKENIZERS[family]()
    square = result.token_to_id("[MASK]") is not None
    result.add_special_tokens(["[UNK]", "[CLS]", "[SEP]", "[MASK]"] if square else ["<mask>"])
    if family == "albert":  # which has token types
        result.post_processor = TemplateProcessing(
            single="<s> $A </s>",
            pair="<s> $A </s> $B:1 </s>:1",
            special_tokens=[("<s>", 0), ("</s>", 2)],
        )
    return result


def mask_token(family):
    return "[MASK]" if tokenizer(family).token_to_id("[MASK]") is not None else "<mask>"


def masked(family):
    return [text.format(mask=mask_token(family)) for text in MASKED]


def targets(family):
    """Three tokens that the vocabulary has."""
    tokens = tokenizer(family)
    return [token for token in ("b", "7", "q") if token in tokens.get_vocab()]


# Seeds of weights with which tokens of a text get different labels, "O" among them.
SEEDS = {
    "bert-ForTokenClassification": 6,
    "roberta-ForTokenClassification": 20,
    "xlm-roberta-ForTokenClassification": 50,
    "camembert-ForTokenClassification": 33,
    "distilbert-ForTokenClassification": 33,
    "electra-ForTokenClassification": 26,
    "albert-ForTokenClassification": 46,
    "mpnet-ForTokenClassification": 8,
    "modernbert-ForTokenClassification": 1,
}


def seed(name):
    return SEEDS.get(name, SEED)


def settings(name):
    """What transformers' configuration is made from."""
    family, _, extra = MODELS[name]
    base = CONFIGS[family]
    positions = LENGTH + base.get("pad_token_id", 1) + 1
    skips = family in ("roberta", "xlm-roberta", "camembert", "mpnet", "xlm-roberta-xl")
    sizes = {"max_position_embeddings": positions if skips else LENGTH}
    if family == "albert":
        sizes["inner_group_num"] = 1  # transformers 4 cannot run more of them
    return {**base, **sizes, **extra}


@cache
def golden():
    """For each of MODELS: "config", "shapes" and results."""
    result = {}
    for name in ("tiny_tasks", "tiny_tasks_5"):
        result |= json.loads(str(arrays(name)["models"]))
    return result


def write_model(directory, name, **options):
    entry = golden()[name]
    shapes = {key: tuple(shape) for key, shape in entry["shapes"].items()}
    options = {"tokenizer": tokenizer(MODELS[name][0]), **options}
    return write_checkpoint(
        directory, entry["config"], random_tensors(shapes, seed(name)), **options
    )
