"""Numbers in files of settings, whatever their size: a file loads, or the error names it."""

import json
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper

import fbg
from fbg.files import DIGITS, parse_json
from fbg.saved_file import WEIGHTS
from helpers import tiny_gliner, tiny_multi, tiny_outputs, tiny_quantized
from helpers.onnx_models import make_net
from helpers.safetensors_files import change_header
from helpers.tiny_models import write_tiny
from helpers.tiny_towers import write_tiny_tower
from models.test_adapters import LAYERS, write_folder

NUMBERS = (10**400, -(10**400), 10**30, -(10**30), 2**63, 2**31, 1e308, -1e308)
NUMBERS += (float("inf"), float("nan"), 0.5, 0, -1)


def adapted(path):
    write_tiny(path, "qwen3")
    write_folder(path / "a", LAYERS)
    return path


def tiny(name):
    return lambda path: write_tiny(path, name)


def quantized(name):
    return lambda path: tiny_quantized.read_case(name).write(path)


DIRECTORIES = {
    **{
        name: tiny(name) for name in ("albert", "deberta-v2", "gemma3_text", "t5", "nomic_bert-moe")
    },
    **{name: quantized(name) for name in ("awq", "fp8-block", "gptq", "w8a8")},
    "adapter": adapted,
    "vit": lambda path: write_tiny_tower(path, "vit-classifier"),
    "gliner": lambda path: tiny_gliner.write_model(path, "bare"),
    "pylate": lambda path: tiny_multi.write_multi(path, "pylate"),
    "model2vec": lambda path: tiny_outputs.write_static(path, "model2vec"),
}


def places(tree):
    """Yield the way to each number in JSON."""
    pairs = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, value in pairs:
        if isinstance(value, (dict, list)):
            yield from ((key, *rest) for rest in places(value))
        elif type(value) in (int, float):
            yield (key,)


def with_number(tree, place, number):
    changed = json.loads(json.dumps(tree))
    part = changed
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = number
    return changed


def load(path):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fbg.load(path, adapter="a" if (path / "a").is_dir() else None)
    except fbg.ModelError as error:
        assert path.name in str(error)


@pytest.mark.parametrize("name", DIRECTORIES)
def test_any_number_loads_or_is_named(name, tmp_path):
    path = DIRECTORIES[name](tmp_path / "model")
    for file in sorted(path.rglob("*.json")):
        if file.name == "tokenizer.json":
            continue
        tree = json.loads(file.read_text())
        for n, place in enumerate(places(tree)):
            for number in NUMBERS[n % 3 :: 3]:
                file.write_text(json.dumps(with_number(tree, place, number)))
                load(path)
        file.write_text(json.dumps(tree))


KEPT = {"accuracy": 0.9, "agreement": 0.9, "all_int8": 0.9, "share": 0.1, "equalized": False}
NODE = {"name": "n", "op": "Conv", "error": 0.1, "seconds": 1.0}


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: repr(number)[:8])
def test_any_number_of_a_saved_network_loads_or_is_named(number, tmp_path):
    net = make_net([helper.make_node("Relu", ["x"], ["y"])], {"x": (np.float32, (1, 4))}, ["y"])
    net.save(tmp_path / "model")
    texts = [{"kept": json.dumps({**KEPT, key: number, "nodes": []})} for key in KEPT]
    texts += [{"kept": json.dumps({**KEPT, "nodes": [{**NODE, key: number}]})} for key in NODE]
    texts += [{"kept": json.dumps({**KEPT, "nodes": number})}]
    texts += [{"versions": json.dumps({"": number})}]
    for changes in texts:
        change_header(
            tmp_path / "model" / WEIGHTS, lambda h, c=changes: h["__metadata__"].update(c)
        )
        load(tmp_path / "model")


@given(st.integers(), st.integers(0, 5000))
@settings(max_examples=100, deadline=None)
def test_integers_are_read_up_to_a_number_of_digits(number, zeros):
    text = f"{number}{'0' * zeros}"
    if len(text) <= DIGITS:
        assert parse_json(text) == int(text)
        float(parse_json(text))
        return
    with pytest.raises(ValueError, match="an integer has"):
        parse_json(f'{{"a": [{text}]}}')


def test_what_is_nested_too_deeply_is_a_value_error():
    with pytest.raises(ValueError, match="nested too deeply"):
        parse_json("[" * 200_000)
