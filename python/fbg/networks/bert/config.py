"""config.json of BERT and its relatives, checked."""

from __future__ import annotations

from dataclasses import dataclass

from fbg.checkpoints.files import Settings
from fbg.networks.bert.names import BertNames
from fbg.networks.config import ACTIVATIONS, MAX_LAYERS, EncoderConfig, read_common

__all__ = ["DISTANCE_BUCKETS", "BertConfig", "read_bert_config"]

# Rows of MPNet's table of distances, whatever its config.json says: transformers counts in 32.
DISTANCE_BUCKETS = 32


@dataclass(frozen=True)
class BertConfig(EncoderConfig):
    """The settings of a network like BERT.

    embedding_size: columns of the embedding tables.
    num_layer_groups, layers_per_group: a group is layers_per_group layers, and runs
        num_layers / num_layer_groups times in a row. One layer, once, if not shared.
    """

    names: BertNames
    embedding_size: int
    num_layer_groups: int
    layers_per_group: int

    @property
    def layer_names(self) -> list[str]:
        """The layers in the order in which they run; names that recur share their weights."""
        repeats = self.num_layers / self.num_layer_groups
        return [
            self.names.layer.format(group=int(n / repeats), inner=inner)
            for n in range(self.num_layers)
            for inner in range(self.layers_per_group)
        ]


def read_bert_config(settings: Settings, names: BertNames) -> BertConfig:
    """Read the settings of a family; raises ModelError."""
    common = read_common(
        settings,
        activations=tuple(ACTIVATIONS),
        activation=names.hidden_act,
        eps=1e-12,
        renamed=names.keys,
    )
    layers, shared = common["num_layers"], names.shared_layers
    config = BertConfig(
        **common,
        num_token_types=(
            1 if names.token_type is None else settings.size("type_vocab_size", default=2)
        ),
        pad_token_id=_skipped_padding(settings, names),
        names=names,
        embedding_size=(
            settings.size(names.keys.get("embedding_size", "embedding_size"))
            if names.narrow_embeddings
            else common["hidden_size"]
        ),
        num_layer_groups=settings.size("num_hidden_groups", default=1) if shared else layers,
        layers_per_group=settings.size("inner_group_num", default=1) if shared else 1,
    )
    if config.num_layer_groups > layers:
        raise settings.error("num_hidden_groups", f"at most num_hidden_layers, {layers}")
    if layers * config.layers_per_group > MAX_LAYERS:
        raise settings.error("inner_group_num", f"at most {MAX_LAYERS // layers}")
    if config.max_length < 1:
        least = f"more than {config.max_positions - config.max_length}"
        raise settings.error("max_position_embeddings", f"{least}, pad_token_id + 1")
    if names.distance is not None:
        buckets = "relative_attention_num_buckets"
        if settings.size(buckets, DISTANCE_BUCKETS) != DISTANCE_BUCKETS:
            raise settings.error(buckets, str(DISTANCE_BUCKETS))
    return config


def _skipped_padding(settings: Settings, names: BertNames) -> int | None:
    if not names.positions_skip_padding or names.padding is not None:
        return names.padding
    return settings.size("pad_token_id", default=1, at_least=0)
