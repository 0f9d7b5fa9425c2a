"""The encoders of T5 and mT5 (Raffel et al., 2019, arXiv:1910.10683).

They have RMSNorm before each half of a layer, the same biases for distances in all layers, and
no scaling of scores. Linear layers have no biases.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from fbg.checkpoints.settings import Settings
from fbg.networks.config import GATES, Buckets, EncoderConfig, Family, read_common
from fbg.networks.names import HeadNames, Names

ATTENTION, FEED_FORWARD = "layer.0.SelfAttention", "layer.1.DenseReluDense"
NAMES = Names(
    word="shared",
    position=None,
    token_type=None,
    embedding_norm=None,
    pooler=None,
    final_norm="encoder.final_layer_norm",
    distance=f"encoder.block.0.{ATTENTION}.relative_attention_bias",
    layer="encoder.block.{n}",
    qkv=(f"{ATTENTION}.q", f"{ATTENTION}.k", f"{ATTENTION}.v"),
    attention_output=f"{ATTENTION}.o",
    attention_norm="layer.0.layer_norm",
    mlp_norm="layer.1.layer_norm",
    intermediate=(f"{FEED_FORWARD}.wi_0", f"{FEED_FORWARD}.wi_1"),
    output=f"{FEED_FORWARD}.wo",
)
PLAIN_INTERMEDIATE = (f"{FEED_FORWARD}.wi",)
KEYS = {
    "hidden_size": "d_model",
    "num_hidden_layers": "num_layers",
    "num_attention_heads": "num_heads",
    "intermediate_size": "d_ff",
    "head_dim": "d_kv",
    "layer_norm_eps": "layer_norm_epsilon",
    "max_position_embeddings": "n_positions",
    "hidden_act": "feed_forward_proj",
}
# Only the tokenizer sets a limit; the models were trained on this length.
MAX_POSITIONS = 512


def _read(settings: Settings, default: str) -> EncoderConfig:
    gated = {f"gated-{name}": gate for name, gate in GATES.items()}
    # By this name T5 has always meant the approximation.
    gated["gated-gelu"] = "gelu_tanh"
    chosen = settings.choice("feed_forward_proj", ("relu", "gelu", *gated), default=default)
    common = read_common(
        settings.replaced(feed_forward_proj="relu"),
        keys=KEYS,
        activations=("relu",),
        eps=1e-6,
        max_positions=MAX_POSITIONS,
    )
    name = "gelu_new" if chosen == "gated-gelu" else chosen.removeprefix("gated-")
    if settings.get("dense_act_fn") not in (None, name):  # mT5 takes it from here
        raise settings.error("dense_act_fn", f"{name}, that of feed_forward_proj")
    common["activation"] = gated.get(chosen, chosen)
    count = settings.size("relative_attention_num_buckets", default=32, at_least=4)
    longest = settings.size("relative_attention_max_distance", default=128)
    if longest <= count // 4:
        key = "relative_attention_max_distance"
        raise settings.error(key, f"more than a quarter of the buckets, {count // 4}")
    return EncoderConfig(
        **common,
        layouts=(NAMES if chosen in gated else replace(NAMES, intermediate=PLAIN_INTERMEDIATE),),
        rms=True,
        place="before",
        gated=chosen in gated,
        biases=frozenset(),
        buckets=Buckets(count, longest),
        scale=1.0,
    )


# Other heads read the output of the decoder.
HEADS = {"ForTokenClassification": HeadNames("classifier")}
FAMILIES = (
    Family("t5", partial(_read, default="relu"), HEADS),
    Family("mt5", partial(_read, default="gated-gelu"), HEADS),
)
