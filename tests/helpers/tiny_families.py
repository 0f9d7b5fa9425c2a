"""The settings of tiny models: tests/data/tiny_models.yaml."""

import yaml

from helpers.minilm import DATA

_FILE = yaml.safe_load((DATA / "tiny_models.yaml").read_text(encoding="utf-8"))
_HUB = _FILE["hub"]

# What transformers' configurations are made from, and config.json of models on the hub.
CONFIGS = _FILE["models"] | {name: model["config"] for name, model in _HUB.items()}
# The families of the latter in transformers, and parts of names that are different on the hub.
HUB_FAMILIES = {name: model["family"] for name, model in _HUB.items()}
HUB_NAMES = {name: model["names"] for name, model in _HUB.items()}
# Families of which transformers has only remote code: scripts/goldens/references.py computes them.
REFERENCES = ("jina_bert", "neobert", "nomic_bert-moe")
VOCABULARY = CONFIGS["bert"]["vocab_size"]


def hub_shapes(name, shapes):
    """The tensors of a model of HUB_NAMES, from those that transformers has."""
    packed = {"q_proj": 3, "up_proj": 2 if name == "new" else 1}
    left_out = (".k_proj.", ".v_proj.", *((".gate_proj.",) if name == "new" else ()), "pooler.")
    result = {}
    for key, shape in shapes.items():
        if any(part in key for part in left_out):
            continue
        factor = next((count for part, count in packed.items() if f".{part}." in key), 1)
        for old, new in HUB_NAMES[name].items():
            key = key.replace(old, new)
        result[key] = (shape[0] * factor, *shape[1:])
    return result
