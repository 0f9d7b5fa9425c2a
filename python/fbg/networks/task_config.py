"""config.json: the task for which a model was trained, and the meaning of its labels."""

from __future__ import annotations

from dataclasses import dataclass

from fbg.checkpoints.settings import Settings

# Heads by the end of their class name in transformers, and the methods of Model that need them.
KINDS = {
    "ForSequenceClassification": ("classify", "predict", "rerank", "zero_shot_classify"),
    "ForTokenClassification": ("ner",),
    "ForQuestionAnswering": ("answer",),
    "ForMaskedLM": ("fill_mask", "encode_sparse"),
    "ForCausalLM": ("predict", "rerank"),
    "JinaForRanking": ("rerank",),
    "HF_ColBERT": ("encode_multi", "rank"),
    "GLiNER": ("ner",),
    "ForImageClassification": ("classify_image",),
}
LABELLED = ("ForSequenceClassification", "ForTokenClassification", "ForImageClassification")
# Those with one row of results for a text or a picture, instead of one for each token.
PER_SEQUENCE = ("ForSequenceClassification", "ForCausalLM", "ForImageClassification")
# Models for pretraining have two heads, of which one is a masked LM; except ELECTRA's.
ENDINGS = {
    **{kind: kind for kind in KINDS},
    **dict.fromkeys(("ForPreTraining", "NeoBERTLMHead"), "ForMaskedLM"),
}

MAX_LABELS = 1 << 20  # without names: keeps a damaged file from asking for endless ones

PROBLEM_TYPES = ("regression", "single_label_classification", "multi_label_classification")

# The activation of a cross-encoder: a class of torch, of which the last name says enough.
ACTIVATIONS = {"Sigmoid": "sigmoid", "Identity": "none"}


@dataclass(frozen=True)
class SpanConfig:
    """Settings of GLiNER.

    hidden: width behind the encoder. lstm_layers: layers over words, in both directions.
    max_width: the most words of a span; max_words: the most of a text.
    marker, separator: tokens before each label and after all of them. marker_id: in the vocabulary;
        None if the tokenizer defines it. reads_marker: the vector of a label is its marker's,
        otherwise the vector of the token behind it. by_token: words are scored instead of spans.
    """

    hidden: int
    lstm_layers: int
    max_width: int
    max_words: int
    marker: str
    separator: str
    marker_id: int | None
    reads_marker: bool
    by_token: bool


@dataclass(frozen=True)
class TaskConfig:
    """Settings of a head.

    kind: one of KINDS, or "" for an encoder without a head.
    labels: in the order of the logits; None where config.json says nothing about them.
    problem_type: one of PROBLEM_TYPES or None.
    pair_activation: for cross-encoders, "sigmoid" or "none"; None if config.json does not say.
    tied: the decoder of a masked language model is the table of word embeddings.
    pooling: for ModernBERT's classifiers, "cls" or "mean".
    score_tokens: for decoders that rerank, the token whose logit is the score, and the one whose
        logit is subtracted, if there is one. Empty: the decoder is not a reranker.
    columns: width of the projection of each token in ColBERT's first layout; 0 in all others.
    spans: settings of GLiNER.
    """

    architectures: tuple[str, ...] = ()
    kind: str = ""
    labels: tuple[str, ...] | None = None
    problem_type: str | None = None
    pair_activation: str | None = None
    tied: bool = True
    pooling: str = "cls"
    score_tokens: tuple[int, ...] = ()
    columns: int = 0
    spans: SpanConfig | None = None


def read_task_config(settings: Settings) -> TaskConfig:
    """Read the settings of a head in config.json; raises ModelError."""
    architectures = settings.get("architectures") or []
    if not isinstance(architectures, list) or not all(isinstance(a, str) for a in architectures):
        raise settings.error("architectures", "a list of names")
    kind = _kind(architectures)
    settings.choice("classifier_activation", ("gelu",), default="gelu")  # for ModernBERT
    problem_type = None
    if kind == "ForSequenceClassification" and settings.get("problem_type") is not None:
        problem_type = settings.choice("problem_type", PROBLEM_TYPES)
    return TaskConfig(
        tuple(architectures),
        kind,
        _labels(settings) if kind in LABELLED else None,
        problem_type,
        read_pair_activation(settings, nested="sentence_transformers"),
        settings.flag("tie_word_embeddings", default=True),
        settings.choice("classifier_pooling", ("cls", "mean"), default="cls"),
    )


def _kind(architectures: list[str]) -> str:
    for name in architectures:
        for ending, kind in ENDINGS.items():
            if name.endswith(ending) and name != "ElectraForPreTraining":
                return kind
    return ""


def _labels(settings: Settings) -> tuple[str, ...] | None:
    """Return the labels by number; without a map, LABEL_0 and so on, as transformers does."""
    names, count = settings.get("id2label"), None
    if settings.get("num_labels") is not None:
        count = settings.size("num_labels")
        if count > MAX_LABELS:
            raise settings.error("num_labels", f"at most {MAX_LABELS}")
    if names is None:
        return None if count is None else default_labels(count)
    if not isinstance(names, dict) or not names:
        raise settings.error("id2label", "an object that names the label of each number")
    try:
        labels = tuple(names[str(n)] for n in range(len(names)))
    except KeyError as error:
        raise settings.error("id2label", f"an object with a label for {error}") from None
    if not all(isinstance(label, str) for label in labels):
        raise settings.error("id2label", "an object whose values are strings")
    if count not in (None, len(labels)):
        raise settings.error("num_labels", f"the number of labels in id2label, {len(labels)}")
    return labels


def default_labels(count: int) -> tuple[str, ...]:
    return tuple(f"LABEL_{n}" for n in range(count))


def read_pair_activation(settings: Settings, *, nested: str = "") -> str | None:
    """Return the activation that sentence-transformers wrote for a cross-encoder, or None.

    nested: the key of the object that may hold it; "": the settings themselves do.
    """
    key = nested or "activation_fn"
    name = settings.get(key)
    if nested:
        name = name.get("activation_fn") if isinstance(name, dict) else None
    if name is None and nested:
        key = "sbert_ce_default_activation_function"  # before version 4
        name = settings.get(key)
    if name is None:
        return None
    activation = ACTIVATIONS.get(name.rpartition(".")[2]) if isinstance(name, str) else None
    if activation is None:
        raise settings.error(key, "one of the activations " + ", ".join(ACTIVATIONS))
    return activation
