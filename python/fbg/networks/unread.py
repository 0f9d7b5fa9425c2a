"""What settings and checkpoints may hold that no result depends on, and why: for all families, and
for the files of sentence-transformers.

Everything else that nothing has read is refused by its name, or reported: a model whose settings or
tensors fbg does not know would compute something else than its authors meant.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from fbg.checkpoints.settings import Settings
from fbg.errors import ModelError
from fbg.networks.config import EncoderConfig
from fbg.networks.names import HeadNames

# Patterns of keys by the reason for which they change nothing.
KEYS = {
    "names, versions and files": """
        _name_or_path name_or_path name _commit_hash transformers_version torch_dtype dtype
        js_config auto_map architectures model_type finetuning_task task_specific_params
        language languages tokenizer_* vocab_file base_model* library_name custom_pipelines
        matryoshka_dim* matryoshka_dimensions model_max_length max_seq_length sentence_transformers
        sbert_ce_default_activation_function""",
    "adapters are merged by them": "lora_adaptations lora_alpha lora_rank",
    "of labels, which other settings name": """
        id2label label2id num_labels _num_labels problem_type label_*""",
    "training": """
        *dropout *dropout_prob *dropout_p *dropout_rate *_pdrop layerdrop *_layerdrop
        initializer_* init_std init_method gradient_checkpointing *loss* max_trained_positions
        lora_main_params_trainable sparse_prediction sparse_pred_ignore_index *aux_loss*
        tie_weights_ sinusoidal_pos_embds mask_time* pretraining_tp repad_logits_with_grad
        generator_* discriminator_*""",
    "how memory or time is saved": """
        use_cache return_dict return_dict_in_generate output_attentions output_hidden_states
        output_past output_scores torchscript use_bfloat16 chunk_size_feed_forward xla_device
        tf_legacy_loss attn_implementation _attn_implementation* experts_implementation
        use_flash_attn* flash_attn* deterministic_flash_attn unpad_inputs pack_qkv reference_compile
        use_memory_efficient_attention fused_* use_xentropy pad_vocab_size_multiple
        cache_implementation dense_seq_output reorder_and_upcast_attn use_return_dict""",
    "text generation": """
        max_length min_length max_new_tokens do_sample early_stopping num_beams num_beam_groups
        diversity_penalty temperature top_k top_p typical_p repetition_penalty length_penalty
        no_repeat_ngram_size encoder_no_repeat_ngram_size bad_words_ids num_return_sequences
        forced_*_token_id remove_invalid_values exponential_decay_length_penalty suppress_tokens
        begin_suppress_tokens decoder_start_token_id prefix is_encoder_decoder""",
    "the tokenizer has them": "*_token_id *_token_index *_token padding_idx eos_token_ids",
    "of heads that fbg does not read": """
        summary_* output_embedding_size final_logit_softcapping pooler_dropout pooler_fc_size
        pooler_num_attention_heads pooler_num_fc_layers pooler_size_per_head pooler_type
        classifier_dropout* emb_pooler sentiment* custom_intermediate*""",
}
# The same for keys that mean something else, or something at all, in other families or files.
FAMILY_KEYS = {
    "bert": "directionality",
    "albert": "down_scale_factor gap_size net_structure_type num_memory_blocks",
    "deberta": "legacy pooler_hidden_size share_att_key position_buckets norm_rel_ebd conv_*",
    "deberta-v2": "legacy pooler_hidden_size",
    "distilbert": "type_vocab_size",
    "mpnet": "type_vocab_size",
    "qwen2": "sliding_window",  # unless a switch turns windows on, which reads it
    "qwen3": "sliding_window",
    "gemma2": "hidden_act sliding_window_size",
    "gemma3_text": "hidden_act rope_theta rope_local_base_freq",
    "t5": "num_decoder_layers scale_decoder_outputs is_gated_act",
    "mt5": "num_decoder_layers scale_decoder_outputs is_gated_act",
    "neobert": """
        *_init_range kwargs pretrained_model_name_or_path trust_remote_code""",
    "nomic_bert": "parallel_block_tied_norm rotary_emb_scale_base scale_attn_*",
    "vit": "encoder_stride",
    **dict.fromkeys(
        ("dinov2", "dinov2_with_registers"),
        """apply_layernorm reshape_hidden_states out_features out_indices _out_features
        _out_indices stage_names layerscale_value drop_path_rate use_mask_token""",
    ),
    "clip": "projection_dim logit_scale_init_value tie_encoder_decoder *_config *_config_dict",
    "siglip": "projection_dim tie_encoder_decoder *_config",
    "pictures": """
        image_processor_type feature_extractor_type processor_class do_convert_rgb data_format
        input_data_format default_to_square return_tensors device disable_grouping
        image_seq_length""",
    "model2vec": """
        hidden_dim seq_length apply_pca apply_zipf sif_coefficient embedding_dtype pooling
        vocabulary_quantization""",
    "gliner": """
        has_rnn fine_tune max_types max_neg_type_ratio random_drop shuffle_types size_sup
        scheduler_type
        lr_* num_steps num_train_* train_* val_* eval_* save_* warmup_ratio root_dir log_dir
        prev_path freeze_token_rep model_name num_post_fusion_layers neg_spans_ratio represent_spans
        masking max_grad_norm optimizer_type weight_decay_*""",
    "modules.json": "idx kwargs",
    "router_config.json": "default_route allow_empty_key",  # callers say which kind a text is
    "config_sentence_transformers.json": "__version__ similarity_fn_name",  # callers choose it
    # How batches are made, and inputs other than texts.
    "sentence_bert_config.json": """
        trust_remote_code revision code_revision token use_fast padding* pad_to_multiple_of return_*
        logits_to_keep truncation image audio video message *+* chat_template""",
    "SpladePooling": "word_embedding_dimension embedding_dimension chunk_size",
    "SparseStaticEmbedding": "frozen",
    "jina_embeddings_v3": "lora_* load_trained_adapters task_instructions",
    "xlm-roberta-flash": "lora_* load_trained_adapters task_instructions use_reg_tokens",
}
# How words begin, and whole words, by which a key is known to change results.
STEMS = """
    activat adapter alibi attention attn bias bidirection block bucket causal chunk clip conv
    cross decoder depth dilat embed expan expert factor feature ffn freq gate gating geglu group
    head hidden inner intermediate kernel latent layer lora mask mlp multipl norm parallel
    parametri patch pool position prefix proj prompt prun qk quant ratio relat residual rms rope
    rotary rout scal segment share sharing skip sliding smooth softcap softmax sparse sparsity
    stride swiglu theta tie tying token truncat vocab weight window"""
WORDS = "act alpha att beta cap dim dims eps glu kv kind mode moe n num offset pos size"
# How names of one quantity differ, as num_hidden_layers, n_layer and num_layers do, or hidden_size,
# d_model and emb_size: words without which they mean the same, words for the same, and words for
# things whose number is one quantity and whose size is another. All in the singular. Names with
# other words, such as attention_scale, are not compared.
SIZES = {"size", "dim", "dimension", "width"}
FILLERS = {
    *SIZES,
    *("num", "n", "number", "count", "total", "max", "of", "function", "fn"),
    *("hidden", "embedding", "model", "d", "attention"),
}
SYNONYMS = {
    **dict.fromkeys(("emb", "embed", "embd"), "embedding"),
    **dict.fromkeys(("ff", "ffn", "intermediate", "inner", "feedforward"), "mlp"),
    **{"attn": "attention", "act": "activation"},
}
COUNTED = {"layer", "head", "position", "group", "expert", "token", "type"}
PLAIN = COUNTED | {"size", "mlp", "vocab", "activation"}
# Values that turn a thing off, whatever it is; and where false says that something is changed.
OFF: tuple[Any, ...] = (None, False, 0, "", "none", [], {})
ONE = re.compile(r"factor|scal|multiplier|ratio|temperature|pretraining_tp")
TURNED_OFF = re.compile(r"causal|scale|decoder|use_cache|special_tokens")

# Patterns of tensors, without the prefix of the encoder, by the reason for which they may be left.
# Those of the heads of a family may be left, too, if config.json names another one or none.
TENSORS = {
    "tables that are computed": """
        *position_ids *token_type_ids *inv_freq *cos_cached *sin_cached *masked_bias *causal_mask
        """,
    "weights of the loss": "loss.* loss_fct.* criterion.*",
    "heads that fbg does not have, or not in every family": """
        pooler.* cls.* lm_head.* classifier.* qa_outputs.* score.* sop_classifier.* lm_predictions.*
        mask_predictions.* discriminator_predictions.* generator_predictions.* generator_lm_head.*
        sequence_summary.*""",
}
FAMILY_TENSORS = {
    "vit": "embeddings.mask_token decoder.*",
    **dict.fromkeys(("dinov2", "dinov2_with_registers"), "embeddings.mask_token"),
    **dict.fromkeys(("t5", "mt5"), "decoder.* encoder.embed_tokens.weight"),
    # Only the heads of their pretraining read places.
    **dict.fromkeys(("deberta", "deberta-v2"), "embeddings.position_embeddings.weight"),
}

# The same for tensors that nothing reads under some settings.
SETTINGS_TENSORS: dict[str, tuple[str, Callable[[EncoderConfig], bool]]] = {
    "deberta-v2": ("encoder.LayerNorm.*", lambda config: config.relative is None),
}

_STEMS, _WORDS = tuple(STEMS.split()), frozenset(WORDS.split())


def _fits(name: str, patterns: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns.split())


def require_known_settings(settings: Settings, family: str) -> None:
    """Raise ModelError for a key that was not read and that may change results; warn about others.

    A key that gives what was read another name, and the same value, changes nothing.

    settings: of a model, after everything in them was read.
    """
    known = " ".join((*KEYS.values(), FAMILY_KEYS.get(family, "")))
    for name, value, read in settings.unread():
        key = name.rpartition(".")[2]
        if _fits(key, known) or _is_off(key, value) or _says_again(key, value, read):
            continue
        if not _is_semantic(key):
            warnings.warn(
                f"{settings.path}: fbg does not know {name}, and ignores it", UserWarning, 2
            )
            continue
        raise ModelError(
            f"{settings.path}: {name} must be left out or off, got {value!r:.80}: fbg does not "
            f"know what it changes in a model of type {family}, and would compute something else"
        )


def reason_to_leave(
    name: str, config: EncoderConfig, heads: Iterable[HeadNames], read: HeadNames | None, tied: bool
) -> str | None:
    """Return why no result depends on a tensor that was not read; None if one may.

    config: that of the model. heads: those that the model could have. read: the one that it has.
    tied: its decoder is the table of embeddings.
    """
    if read is not None:
        # A tied decoder and the second name of its bias are copies.
        if tied and name in (f"{read.output}.weight", f"{read.output}.bias", read.output_bias):
            return "copies of other tensors"
        if name.startswith(tuple(f"{part.rpartition('.')[0] or part}." for part in read.parts)):
            return None
    roots = {part.partition(".")[0] for head in heads for part in head.parts}
    if name.partition(".")[0] in roots:
        return "heads that the settings do not name"
    for reason, patterns in TENSORS.items():
        if _fits(name, patterns):
            return reason
    own = FAMILY_TENSORS.get(config.model_type, "")
    spare, is_spare = SETTINGS_TENSORS.get(config.model_type, ("", lambda config: False))
    if _fits(name, f"{own} {spare}" if is_spare(config) else own):
        return "parts of the model that its encoder does not use"
    return None


def _is_off(key: str, value: object) -> bool:
    if type(value) in (int, float) and value == 1 and ONE.search(key):
        return True
    if value is False and TURNED_OFF.search(key):
        return False
    return any(value == off and type(value) is type(off) for off in OFF)


def _is_semantic(key: str) -> bool:
    return any(word in _WORDS or word.startswith(_STEMS) for word in _words(key))


def _words(key: str) -> list[str]:
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", key).lower().split("_")


def _says_again(key: str, value: object, read: Mapping[str, object]) -> bool:
    """Whether a key is another name of one that was read, and has its value."""
    if type(value) not in (int, float, str):
        return False
    quantity = _quantity(key)
    return quantity <= PLAIN and any(
        type(other) is type(value) and other == value and _quantity(name) == quantity
        for name, other in read.items()
    )


def _quantity(key: str) -> frozenset[str]:
    """Return what is left of a name without the words in which names of one quantity differ; the
    width of hidden states has no other words.
    """
    words = [SYNONYMS.get(word.removesuffix("s"), word.removesuffix("s")) for word in _words(key)]
    kept = {word for word in words if word not in FILLERS}
    if kept & COUNTED and SIZES.intersection(words):
        kept.add("size")  # of a head, for example, and not how many there are
    return frozenset(kept)
