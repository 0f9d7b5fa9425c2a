"""Random settings of every family of encoders, and random ids and masks, against transformers.

Each setting is drawn by itself. transformers builds the model and names its tensors; their values
are random. Hidden states in float32 must agree within 1e-4 of the largest, and so must the pooler's
output of rows whose first token is not masked.
"""

from __future__ import annotations

import contextlib
import copy
import json
import logging
import tempfile
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

import fbg
from helpers.random_cases import Different, Kind
from helpers.tiny_models import random_tensors

with contextlib.suppress(ModuleNotFoundError):  # of peers: without them, no case runs
    import torch
    import transformers

    torch.set_num_threads(1)
    logging.getLogger("transformers").setLevel(logging.ERROR)

TOLERANCE = 1e-4
ACTIVATIONS = ("gelu", "gelu_new", "gelu_pytorch_tanh", "relu")
GATES = ("silu", "gelu")
FULL, SLIDING = "full_attention", "sliding_attention"


def eps(rng):
    return float(10 ** rng.uniform(-12, -2))


def flag(rng):
    return rng.random() < 0.5


def sizes(rng, *, even=False, activations=ACTIVATIONS):
    """What nearly all families have; even: heads of an even size."""
    heads = rng.choice((1, 2, 3, 4, 6))
    head = rng.randrange(2, 20, 2) if even else rng.randrange(1, 20)
    return {
        "vocab_size": rng.randrange(20, 120),
        "hidden_size": heads * head,
        "num_attention_heads": heads,
        "num_hidden_layers": rng.randrange(1, 4),
        "intermediate_size": rng.randrange(1, 90),
        "max_position_embeddings": rng.randrange(10, 50),
        "hidden_act": rng.choice(activations),
        "pad_token_id": rng.randrange(7),
        "bos_token_id": 1,
        "eos_token_id": 2,
    }


def renamed(settings, **names):
    return {names.get(key, key): value for key, value in settings.items()}


def rope(rng, positions, half, *, kinds=None):
    """Rotations of any kind; half: of the size that is turned."""
    nested = kinds is not None
    kinds = kinds or ("default", "default", "linear", "dynamic", "yarn", "llama3", "longrope")
    kind = rng.choice(kinds)
    if kind == "dynamic" and half == 1:  # by zero, transformers divides there
        kind = "default"
    found = {"rope_type": kind, "rope_theta": float(10 ** rng.uniform(0.5, 6))}
    if kind in ("linear", "dynamic", "yarn", "llama3"):
        found["factor"] = rng.uniform(1, 9)
    if kind in ("yarn", "llama3", "longrope"):
        found["original_max_position_embeddings"] = rng.randrange(2, positions + 1)
    if kind == "yarn":
        drawn = {
            "beta_fast": rng.uniform(2, 40),
            "beta_slow": rng.uniform(0.3, 1.9),
            "attention_factor": rng.uniform(0.5, 2),
            "truncate": flag(rng),
        }
        if nested:  # where transformers looks for it in the wrong place
            del drawn["truncate"]
        found |= {key: value for key, value in drawn.items() if flag(rng)}
        if flag(rng):
            found |= {"mscale": rng.uniform(0.3, 2), "mscale_all_dim": rng.uniform(0.3, 2)}
    if kind == "llama3":
        low = rng.uniform(0.5, 2)
        found |= {"low_freq_factor": low, "high_freq_factor": low * rng.uniform(1.5, 9)}
    if kind == "longrope":
        found |= {
            name: [rng.uniform(1, 6) for _ in range(half)]
            for name in ("short_factor", "long_factor")
        }
    return found


# --- Families ---------------------------------------------------------------------------------


def bert(rng):
    return {**sizes(rng), "layer_norm_eps": eps(rng), "type_vocab_size": rng.randrange(1, 4)}


def roberta(rng):
    return {**bert(rng), "max_position_embeddings": rng.randrange(16, 50)}


def distilbert(rng):
    names = {
        "hidden_size": "dim",
        "num_attention_heads": "n_heads",
        "num_hidden_layers": "n_layers",
        "intermediate_size": "hidden_dim",
        "hidden_act": "activation",
    }
    return {**renamed(sizes(rng), **names), "sinusoidal_pos_embds": flag(rng)}


def narrow(key):
    def draw(rng):
        settings = bert(rng)
        width = settings["hidden_size"] if rng.random() < 0.3 else rng.randrange(1, 40)
        return {**settings, key: width}

    return draw


def albert(rng):
    settings = narrow("embedding_size")(rng)
    groups = rng.randrange(1, settings["num_hidden_layers"] + 1)
    return {**settings, "num_hidden_groups": groups, "inner_group_num": rng.randrange(1, 3)}


def mpnet(rng):
    settings = {**sizes(rng), "layer_norm_eps": eps(rng)}
    return {**settings, "pad_token_id": 1, "max_position_embeddings": rng.randrange(16, 99)}


def modernbert(rng):
    settings = {
        **renamed(sizes(rng, even=True, activations=("gelu",)), hidden_act="hidden_activation"),
        "norm_eps": eps(rng),
        "norm_bias": flag(rng),
        "attention_bias": flag(rng),
        "mlp_bias": flag(rng),
        "local_attention": rng.randrange(2, 24),
        "cls_token_id": 1,
        "sep_token_id": 2,
    }
    if flag(rng):
        settings["layer_types"] = layer_types(rng, settings)
    else:
        settings["global_attn_every_n_layers"] = rng.randrange(1, 4)
    theta = {kind: float(10 ** rng.uniform(0.5, 6)) for kind in (FULL, SLIDING)}
    settings["rope_parameters"] = {
        kind: {"rope_type": "default", "rope_theta": theta[kind]} for kind in (FULL, SLIDING)
    }
    return settings


def layer_types(rng, settings):
    return [rng.choice((FULL, SLIDING)) for _ in range(settings["num_hidden_layers"])]


def decoder(rng, *, own_head=True):
    settings = sizes(rng, even=True, activations=GATES)
    heads = settings["num_attention_heads"]
    settings |= {
        "num_key_value_heads": rng.choice([n for n in range(1, heads + 1) if heads % n == 0]),
        "rms_norm_eps": eps(rng),
    }
    size = settings["hidden_size"] // heads
    if own_head:
        size = settings["head_dim"] = rng.randrange(2, 22, 2)
    settings["rope_parameters"] = rope(rng, settings["max_position_embeddings"], size // 2)
    return settings


def llama(rng):
    return {**decoder(rng), "attention_bias": flag(rng), "mlp_bias": flag(rng)}


def mistral(rng):
    return {**decoder(rng), "sliding_window": rng.choice((None, rng.randrange(1, 20)))}


def qwen(rng, *, third):
    settings = decoder(rng, own_head=third)
    settings |= {
        "use_sliding_window": flag(rng),
        "sliding_window": rng.randrange(1, 20),
        "max_window_layers": rng.randrange(4),
    }
    if third:
        settings["attention_bias"] = flag(rng)
    if flag(rng) and settings["use_sliding_window"]:
        settings["layer_types"] = layer_types(rng, settings)
    return settings


def gemma(rng, *, third):
    settings = renamed(decoder(rng), hidden_act="hidden_activation")
    settings |= {
        "hidden_activation": rng.choice(("gelu_pytorch_tanh", "gelu")),
        "query_pre_attn_scalar": rng.randrange(1, 40),
        "sliding_window": rng.randrange(1, 20),
        "attention_bias": flag(rng),
    }
    if flag(rng):
        settings["layer_types"] = layer_types(rng, settings)
    if third:
        settings["use_bidirectional_attention"] = flag(rng)
        half, positions = settings["head_dim"] // 2, settings["max_position_embeddings"]
        kinds = ("default", "linear", "yarn", "llama3")
        settings["rope_parameters"] = {
            kind: rope(rng, positions, half, kinds=kinds) for kind in (FULL, SLIDING)
        }
    else:
        settings["attn_logit_softcapping"] = rng.choice((None, rng.uniform(0.5, 60)))
    return settings


def eurobert(rng):
    return {**llama(rng), "classifier_pooling": rng.choice(("late", "mean", "bos"))}


def rotary(rng, activations, least_types):
    settings = sizes(rng, even=True, activations=activations)
    half = settings["hidden_size"] // settings["num_attention_heads"] // 2
    settings |= {"layer_norm_eps": eps(rng), "type_vocab_size": rng.randrange(least_types, 4)}
    settings["rope_parameters"] = rope(rng, settings["max_position_embeddings"], half)
    return settings


def t5(rng):
    buckets = rng.randrange(4, 40, 2)
    gate = rng.choice(("", "gated-"))
    return {
        "vocab_size": rng.randrange(20, 120),
        "d_model": rng.randrange(4, 60),
        "d_kv": rng.randrange(1, 20),
        "d_ff": rng.randrange(1, 90),
        "num_layers": rng.randrange(1, 4),
        "num_heads": rng.randrange(1, 6),
        "n_positions": rng.randrange(10, 50),
        "feed_forward_proj": gate + rng.choice(("relu", "gelu", *(("silu",) if gate else ()))),
        "relative_attention_num_buckets": buckets,
        "relative_attention_max_distance": rng.randrange(buckets // 4 + 1, 60),
        "layer_norm_epsilon": eps(rng),
        "pad_token_id": rng.randrange(4),
    }


def deberta(rng, *, second):
    settings = {
        **bert(rng),
        "type_vocab_size": rng.randrange(3),
        "relative_attention": rng.random() < 0.9,
        "max_relative_positions": rng.choice((-1, rng.randrange(12, 40))),
        "position_biased_input": flag(rng),
        "pad_token_id": 0,
    }
    if settings["relative_attention"]:
        settings["pos_att_type"] = rng.choice((["c2p"], ["p2c"], ["c2p", "p2c"], ["p2c", "c2p"]))
    if second:
        settings |= {"share_att_key": flag(rng), "norm_rel_ebd": rng.choice(("none", "layer_norm"))}
        if flag(rng):
            settings["position_buckets"] = rng.randrange(2, 9) * 2
        if flag(rng):
            hidden = settings["hidden_size"]
            settings |= {
                "conv_kernel_size": rng.choice((1, 3, 5)),
                "conv_act": rng.choice(("gelu", "tanh", "relu")),
                "conv_groups": rng.choice([n for n in range(1, 5) if hidden % n == 0]),
            }
    return settings


FAMILIES = {
    "bert": bert,
    "roberta": roberta,
    "xlm-roberta": roberta,
    "camembert": roberta,
    "distilbert": distilbert,
    "electra": narrow("embedding_size"),
    "albert": albert,
    "rembert": narrow("input_embedding_size"),
    "mpnet": mpnet,
    "modernbert": modernbert,
    "llama": llama,
    "mistral": mistral,
    "qwen2": lambda rng: qwen(rng, third=False),
    "qwen3": lambda rng: qwen(rng, third=True),
    "gemma2": lambda rng: gemma(rng, third=False),
    "gemma3_text": lambda rng: gemma(rng, third=True),
    "eurobert": eurobert,
    "nomic_bert": lambda rng: rotary(rng, (*ACTIVATIONS, "silu"), 1),
    "gte": lambda rng: rotary(rng, ("gelu", "silu"), 0),
    "jina_embeddings_v3": lambda rng: rotary(rng, ACTIVATIONS, 1),
    "t5": t5,
    "mt5": t5,
    "megatron-bert": bert,
    "xlm-roberta-xl": roberta,
    "deberta-v2": lambda rng: deberta(rng, second=True),
    "deberta": lambda rng: deberta(rng, second=False),
}


# --- Cases ------------------------------------------------------------------------------------


def inputs(rng, settings, model):
    """Ids, a mask of some form, and token types, or none."""
    longest = model.max_length if rng.random() < 0.3 else min(model.max_length, 12)
    shape = rng.randrange(1, 4), rng.randrange(1, longest + 1)
    draw = np.random.default_rng(rng.getrandbits(32))
    ids = draw.integers(0, settings["vocab_size"], shape)
    mask = np.ones(shape, np.int64)
    form = rng.choice(("none", "right", "left", "holes", "empty"))
    lengths = draw.integers(1, shape[1] + 1, shape[0])
    if form == "right":
        mask = (np.arange(shape[1]) < lengths[:, None]).astype(np.int64)
    elif form == "left":
        mask = (np.arange(shape[1]) >= shape[1] - lengths[:, None]).astype(np.int64)
    elif form == "holes":
        mask = (draw.random(shape) < 0.6).astype(np.int64)
    elif form == "empty":
        mask[0] = 0
    if flag(rng):
        ids[mask == 0] = settings["pad_token_id"]
    given = {"input_ids": ids, "attention_mask": mask}
    if flag(rng) and model.config.num_token_types > 1:
        given["token_type_ids"] = draw.integers(0, model.config.num_token_types, shape)
    return given


def build(family, settings, seed, directory):
    """Write the files of a model; return it as transformers reads them."""
    (directory / "config.json").write_text(json.dumps({"model_type": family, **settings}))
    config = transformers.AutoConfig.from_pretrained(directory)
    encoder_decoder = getattr(config, "is_encoder_decoder", False)
    auto = transformers.AutoModelForTextEncoding if encoder_decoder else transformers.AutoModel
    model = auto.from_config(config, attn_implementation="eager").eval()
    shapes = {name: tuple(tensor.shape) for name, tensor in model.named_parameters()}
    tensors = random_tensors(shapes, seed)
    with torch.no_grad():
        for name, tensor in model.named_parameters():
            tensor.copy_(torch.from_numpy(tensors[name]))
    save_file(tensors, directory / "model.safetensors")
    return model


def error_of(got, wanted):
    if got.shape != wanted.shape:
        return np.inf
    largest = float(np.abs(wanted).max(initial=1.0))
    return float(np.abs(got - wanted).max(initial=0.0)) / largest


def run(rng):
    family = rng.choice(tuple(FAMILIES))
    settings = FAMILIES[family](rng)
    with tempfile.TemporaryDirectory() as name:
        reference = build(family, settings, rng.getrandbits(32), Path(name))
        case = f"{family} {json.dumps(settings)}"
        try:
            model = fbg.load(name, num_threads=1)
        except fbg.ModelError as error:
            raise Different(f"refused: {error}: {case}") from None
        given = inputs(rng, settings, model)
        case += f" { ({key: value.tolist() for key, value in given.items()}) }"
        got = model.forward(**given)
    kept = given["attention_mask"] != 0
    if np.any(got.last_hidden_state[~kept]):
        raise Different(f"masked tokens are not zeros: {case}")
    for n, row in enumerate(kept):
        if row.any():
            compare_row(got, reference, given, n, int(row.nonzero()[0][-1]) + 1, case)
    return family


def compare_row(got, reference, given, n, length, case):
    """Compare row n, which transformers computes by itself and without its padding: where rotations
    depend on the length of a sequence, it takes that of the batch.
    """
    row = {key: torch.from_numpy(value[n : n + 1, :length]) for key, value in given.items()}
    kept = given["attention_mask"][n, :length] != 0

    def outputs(model):
        with torch.inference_mode():
            found = model(**row)
        hidden = {"hidden states": found.last_hidden_state[0].numpy()[kept]}
        pooled = found.get("pooler_output")
        if pooled is None or got.pooler_output is None or not kept[0]:
            return hidden
        return {**hidden, "pooler output": pooled[0].numpy()}

    ours = {"hidden states": got.last_hidden_state[n, :length][kept]}
    if got.pooler_output is not None:
        ours["pooler output"] = got.pooler_output[n]
    for what, wanted in outputs(reference).items():
        error = error_of(ours[what], wanted)
        if not error <= TOLERANCE:
            # Norms of values near zero may magnify what float32 rounds, in transformers, too.
            exact = outputs(copy.deepcopy(reference).double())[what]
            if not error_of(ours[what], exact) <= 4 * error_of(wanted, exact):
                raise Different(f"{what} differ by {error:.2g}: {case}")


# The first case of a family imports its modules.
KIND = Kind("differential.transformers_models", run, cases=20, seconds=90.0, needs="transformers")
