"""`fbg info` gives the verdict of `fbg.load` on any directory, and reads no weights for it."""

import json
import warnings

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import fbg
from fbg.reports.facts import model_facts
from helpers import (
    commands,
    tiny_gguf,
    tiny_gliner,
    tiny_multi,
    tiny_outputs,
    tiny_quantized,
    tiny_tasks,
    torch_files,
)
from helpers.gguf_files import write_gguf
from helpers.peak_memory import peak
from helpers.safetensors_files import change_header, read_header
from helpers.tiny_bert import change_json, write_json
from helpers.tiny_models import tiny_model, write_checkpoint, write_tiny
from helpers.tiny_towers import write_tiny_tower


def saved(path, dtype):
    fbg.load(write_tiny(path / "from", "bert"), dtype).save(path / "saved")
    return path / "saved"


def tiny(name):
    return lambda path: write_tiny(path, name)


def quantized(name):
    return lambda path: tiny_quantized.read_case(name).write(path)


DIRECTORIES = {
    **{name: tiny(name) for name in ("bert", "albert", "deberta-v2", "modernbert", "mpnet")},
    **{name: tiny(name) for name in ("gemma3_text", "nomic_bert", "qwen3", "t5", "xlm-roberta")},
    **{name: tiny(name) for name in ("neobert", "nomic_bert-moe")},
    **{name: quantized(name) for name in ("awq", "bnb-nf4", "fp8", "gptq", "w8a8")},
    "classifier": lambda path: tiny_tasks.write_model(path, "bert-ForSequenceClassification"),
    "masks": lambda path: tiny_tasks.write_model(path, "bert-ForMaskedLM"),
    "clip": lambda path: write_tiny_tower(path, "clip"),
    "vit": lambda path: write_tiny_tower(path, "vit-classifier"),
    "gliner": lambda path: tiny_gliner.write_model(path, "bare"),
    "gliner of tokens": lambda path: tiny_gliner.write_model(path, "token"),
    "late interaction": lambda path: tiny_multi.write_multi(path, "pylate"),
    "model2vec": lambda path: tiny_outputs.write_static(path, "model2vec"),
    "saved": lambda path: saved(path, "float32"),
    "saved int8": lambda path: saved(path, "int8"),
}
SETTINGS = ("config.json", "gliner_config.json")
CHANGES = {
    "renamed": lambda header, name: header.update({f"{name}.other": header.pop(name)}),
    "another shape": lambda header, name: header[name]["shape"].append(1),
    "another dtype": lambda header, name: header[name].update(dtype="F8_E8M0", shape=[1]),
    "cut": lambda header, name: header[name]["data_offsets"].reverse(),
}


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*are dequantized and compute in float32")
        yield


def of_load(path):
    try:
        fbg.load(path)
    except fbg.ModelError as error:
        return str(error)
    return "loads"


def agreed(path):
    """The verdict of `fbg info`, which is that of `fbg.load` to the letter."""
    result = commands.invoke("info", path)
    said = result.output.partition("Error: ")[2].removesuffix("\n")
    if result.exit_code == 0:
        name, said = result.stdout.splitlines()[-1].split()
        assert name == "verdict"
    assert said == of_load(path)
    assert result.exit_code == (said != "loads")
    return said


@pytest.mark.parametrize("name", DIRECTORIES)
def test_the_verdict_on_a_changed_tensor_is_that_of_load(name, tmp_path):
    path = DIRECTORIES[name](tmp_path)
    assert agreed(path) == "loads"
    for file in path.rglob("*.safetensors"):
        content = file.read_bytes()
        tensors = [key for key in read_header(file) if key != "__metadata__"]
        for tensor in tensors[:: 1 + len(tensors) // 12]:
            for kind, change in CHANGES.items():
                change_header(file, lambda header, c=change, t=tensor: c(header, t))
                # Some scales may have one more axis, and blocks have shapes of their own.
                assert agreed(path) != "loads" or kind == "another shape"
                file.write_bytes(content)
        file.write_bytes(content[:-1])
        assert agreed(path) != "loads"
        file.write_bytes(content)


@pytest.mark.parametrize("name", DIRECTORIES)
def test_the_verdict_on_changed_settings_is_that_of_load(name, tmp_path):
    path = DIRECTORIES[name](tmp_path)
    file = next(path / name for name in SETTINGS if (path / name).is_file())
    settings = json.loads(file.read_text())
    verdicts = []
    for key in settings:
        for value in (None, 7, "other"):
            write_json(file, {**settings, key: value})
            verdicts.append(agreed(path))
    write_json(file, {**settings, "residual_scale": 2.0})
    verdicts.append(agreed(path))
    assert len(set(verdicts)) > 3
    write_json(file, settings)
    for other in path.rglob("*.json"):
        content = other.read_bytes()
        other.write_bytes(content[: len(content) // 2])
        agreed(path)
        other.unlink()
        agreed(path)
        other.write_bytes(content)


@pytest.mark.parametrize("architecture", ("bert", "nomic-bert", "qwen3"))
def test_the_verdict_on_a_gguf_file_is_that_of_load(architecture, tmp_path):
    config, tensors = tiny_gguf.settings_of(architecture)
    metadata = tiny_gguf.metadata_of(architecture, config)
    stored = tiny_gguf.renamed(architecture, tensors)
    path = write_gguf(tmp_path / "m.gguf", metadata, stored)
    assert agreed(path) == "loads"
    for name in list(stored)[::3]:
        others = {key: value for key, value in stored.items() if key != name}
        agreed(write_gguf(path, metadata, others))
        agreed(write_gguf(path, metadata, {**others, name: np.ones((2, 3), np.float32)}))
    write_gguf(path, metadata, {**stored, "blk.0.other.weight": np.ones(3, np.float32)})
    assert "blk.0.other.weight" in agreed(path)
    write_gguf(path, {**metadata, f"{architecture}.other": 3}, stored)
    assert "other" in agreed(path)
    path.write_bytes(path.read_bytes()[:-40])
    assert agreed(path) != "loads"


def with_damaged_values(path, name):
    """A model in which every element of the weights is NaN."""
    model = tiny_model("bert")
    damaged = {key: np.full_like(value, np.nan) for key, value in model.tensors.items()}
    if name == "gguf":
        config, tensors = tiny_gguf.settings_of("bert")
        stored = tiny_gguf.renamed("bert", {key: damaged[key] for key in tensors})
        return write_gguf(path / "m.gguf", tiny_gguf.metadata_of("bert", config), stored)
    if name == "static":
        tiny_outputs.write_static(path, "model2vec")
        tensors = load_file(path / "model.safetensors")
        save_file(
            {k: v * np.float32("nan") if v.dtype.kind == "f" else v for k, v in tensors.items()},
            path / "model.safetensors",
        )
        return path
    if name == "saved":
        path = saved(path, "int8")
        file = path / "fbg.safetensors"
        for tensor in read_header(file).values():
            if tensor.get("dtype") == "F32":
                content = bytearray(file.read_bytes())
                end = len(content)
                content[end - 16 : end] = b"\xff" * 16
                file.write_bytes(content)
        return path
    write_checkpoint(path, model.config, damaged)
    if name == "torch":
        (path / "model.safetensors").unlink()
        torch_files.write_torch_file(path / "pytorch_model.bin", damaged)
    return path


@pytest.mark.parametrize("name", ["safetensors", "torch", "gguf", "static", "saved"])
def test_values_are_not_looked_at(name, tmp_path):
    path = with_damaged_values(tmp_path, name)
    assert of_load(path) != "loads"
    assert "loads" in commands.succeed("info", path).output


def test_weights_larger_than_memory_are_not_read(tmp_path):
    """The file has holes in place of the values."""
    rows, file = 1 << 31, tmp_path / "model.safetensors"
    write_tiny(tmp_path, "bert", vocab_size=rows)
    header = read_header(file)
    names = [name for name in header if name != "__metadata__"]
    end = 0
    for name in names:
        if name.endswith("word_embeddings.weight"):
            header[name]["shape"][0] = rows
        size = 4 * int(np.prod(header[name]["shape"]))
        header[name]["data_offsets"] = [end, end + size]
        end += size
    text = json.dumps(header).encode()
    file.write_bytes(len(text).to_bytes(8, "little") + text)
    with file.open("r+b") as opened:
        opened.truncate(8 + len(text) + end)
    before = peak(reset=True)
    facts = model_facts(str(tmp_path))
    assert facts.vocabulary == rows
    assert facts.file_bytes > 1 << 38
    assert peak() - before < 32 << 20


def test_a_model_without_a_tokenizer_is_said_to_take_token_ids(tmp_path):
    directory = tiny_tasks.write_model(tmp_path, "bert-ForTokenClassification")
    assert "ner" in json.loads(commands.succeed("info", directory, "--json").output)["tasks"]
    (directory / "tokenizer.json").unlink()
    assert agreed(directory) == "loads"
    facts = json.loads(commands.succeed("info", directory, "--json").output)
    assert facts["missing"] == "tokenizer.json"
    rows = commands.succeed("info", directory).output.splitlines()
    assert [row for row in rows if row.startswith("tasks")] == ["tasks    forward"]
    assert any("there is no tokenizer.json: only token ids" in row for row in rows)
    model = fbg.load(directory)
    model.forward([[1, 2]])
    with pytest.raises(fbg.ModelError, match=r"tokenizer\.json: no such file"):
        model.ner("a")


def test_dtypes_left_out_tensors_and_prompts_are_shown(tmp_path):
    write_tiny(tmp_path, "bert")
    file = tmp_path / "model.safetensors"
    beside = {"cls.predictions.bias": np.ones(3, np.float32)}
    beside["embeddings.position_ids"] = np.zeros((1, 9), np.int64)
    tensors = load_file(file)
    save_file({**tensors, **beside}, file)
    prompts = {"prompts": {"query": "find: ", "text": ""}, "default_prompt_name": "query"}
    write_json(tmp_path / "config_sentence_transformers.json", prompts)
    facts = json.loads(commands.succeed("info", tmp_path, "--json").output)
    assert facts["tensors"] == {"float32": len(tensors) + 1, "int64": 1}
    assert set(facts["left_out"]) == set(beside)
    assert facts["prompts"] == prompts["prompts"]
    assert facts["default_prompt"] == "query"
    text = commands.succeed("info", tmp_path).output
    for part in (
        *("verdict   loads", f"{len(tensors) + 1} in float32", "1 in int64"),
        *("query 'find: ', text ''; by default query", "cls.predictions.bias (heads"),
        "embeddings.position_ids (tables that are computed)",
    ):
        assert part in text
    fewer = {key: value for key, value in tensors.items() if "pooler" not in key}
    save_file(fewer, file)
    change_json(tmp_path / "config.json", architectures=["BertForMaskedLM"])
    assert json.loads(commands.succeed("info", tmp_path, "--json").output)["tasks"] == []
