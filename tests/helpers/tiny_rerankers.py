"""Tiny random decoders that rerank by the logits of two tokens (LogitScore), or of one."""

from helpers import tiny_models, tiny_tasks
from helpers.tiny_bert import write_json

# (family, whether its embeddings are its decoder)
RERANKERS = {
    "template": ("qwen3", False),
    "structured": ("qwen2", True),
    "plain": ("llama", True),
    "first": ("qwen3", False),  # as Qwen3-Reranker was published: without files that say so
}
TRUE, FALSE = 7, 9
PROMPT = "judge it"
FIRST_LENGTH = 400  # tokens, most of which the text around a pair takes
PAIRS = [("who wrote it", "ada did"), ("x", "the cat sat"), ("", "a"), ("a b", "c " * 60)]
FLAT = (
    "{% for m in messages %}{{ m.role[:1] }} {{ m.content }};\n{% endfor %}"
    "{% if add_generation_prompt %}</s>answer: {% endif %}"
)
STRUCTURED = "{{ bos_token }}" + FLAT.replace("m.content", "m.content[0].text")


def tokenizer():
    result = tiny_models.byte_pairs()
    result.add_tokens(["yes", "no"])
    return result


def write_reranker(path, name):
    """Write one of RERANKERS."""
    family, tied = RERANKERS[name]
    entry = tiny_tasks.golden()[f"{family}-ForSequenceClassification"]
    removed = ("id2label", "label2id", "num_labels", "problem_type", "pad_token_id")
    config = {key: value for key, value in entry["config"].items() if key not in removed}
    names = {"qwen3": "Qwen3ForCausalLM", "qwen2": "Qwen2ForCausalLM", "llama": "LlamaForCausalLM"}
    config |= {"architectures": [names[family]], "tie_word_embeddings": tied}
    if name == "first":
        config["max_position_embeddings"] = FIRST_LENGTH
    shapes = {key: tuple(shape) for key, shape in entry["shapes"].items() if key != "score.weight"}
    if not tied:
        shapes["lm_head.weight"] = (config["vocab_size"], config["hidden_size"])
    tensors = tiny_models.random_tensors(shapes)
    tiny_models.write_checkpoint(path, config, tensors, tokenizer=tokenizer())
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": FIRST_LENGTH if name == "first" else tiny_tasks.LENGTH,
        "bos_token": "<s>",
        "eos_token": "</s>",
        "pad_token": "<pad>",
    }
    if name == "structured":
        settings["chat_template"] = STRUCTURED
    if name == "template":
        (path / "chat_template.jinja").write_text(FLAT)
    write_json(path / "tokenizer_config.json", settings)
    if name != "first":
        _write_modules(path, name)
    return path


def _write_modules(path, name):
    modules = (
        "sentence_transformers.base.modules.transformer.Transformer",
        ("sentence_transformers.cross_encoder.modules.logit_score.LogitScore"),
    )
    folders = ("", "1_LogitScore")
    listed = [
        {"idx": n, "name": str(n), "path": folder, "type": module}
        for n, (folder, module) in enumerate(zip(folders, modules, strict=True))
    ]
    write_json(path / "modules.json", listed)
    false = None if name == "plain" else FALSE
    write_json(
        path / "1_LogitScore" / "config.json",
        {"true_token_id": TRUE, "false_token_id": false, "module_input_name": "causal_logits"},
    )
    forward = {"method": "forward", "method_output_name": "logits"}
    modality = {"text": forward}
    if name != "plain":
        form = "flat" if name == "template" else "structured"
        modality["message"] = {**forward, "format": form}
    settings = {
        "transformer_task": "text-generation",
        "modality_config": modality,
        "module_output_name": "causal_logits",
        "processing_kwargs": {"chat_template": {"add_generation_prompt": name == "template"}},
    }
    write_json(path / "sentence_bert_config.json", settings)
    own = {"model_type": "CrossEncoder", "prompts": {}, "default_prompt_name": None}
    if name == "template":
        own |= {"prompts": {"query": PROMPT, "other": "say so"}, "default_prompt_name": "query"}
        own["activation_fn"] = "torch.nn.modules.linear.Identity"
    write_json(path / "config_sentence_transformers.json", own)
