"""`fbg info`: the same facts for people and for programs."""

import json
import subprocess
import sys

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import fbg
from fbg.checkpoints import checkpoint, weights
from helpers import (
    commands,
    tiny_bert,
    tiny_gliner,
    tiny_models,
    tiny_multi,
    tiny_outputs,
    tiny_tasks,
)


def invoke(*args):
    return commands.succeed(*args, catch_exceptions=False).output


def test_json_holds_what_the_library_answers():
    facts = json.loads(invoke("info", "--json"))
    assert facts["versions"]["fbg"] == fbg.__version__
    assert facts["isa"]["supported"] == list(fbg.isa.supported())
    assert facts["isa"]["active"] == fbg.isa.active()
    assert facts["threads"]["default"] == fbg.get_num_threads()
    assert all(facts["cpu"][key] > 0 for key in ("l1d_bytes", "l2_bytes", "l3_bytes"))


def test_text_names_cpu_isas_caches_threads_versions():
    text = invoke("info")
    for part in ("CPU", "L1d", "L2", "L3", "threads", "python", "numpy", fbg.__version__):
        assert part in text
    assert all(name in text for name in fbg.isa.supported())


@pytest.mark.parametrize("name", fbg.isa.supported())
def test_limit_shows(name):
    with fbg.isa.limit(name):
        assert f"{name} (limit: {name})" in invoke("info")


def test_runs_as_a_module():
    command = [sys.executable, "-m", "fbg", "--version"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert fbg.__version__ in result.stdout


def test_without_click_it_says_what_to_install():
    code = "import sys; sys.modules['click'] = None; import fbg.__main__ as program; program.main()"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 1
    assert "pip install 'fbg[cli]'" in result.stderr


DIRECTORIES = {
    "bert": lambda path: tiny_bert.write_checkpoint(path),
    "classifier": lambda path: tiny_tasks.write_model(path, "bert-ForSequenceClassification"),
    "gliner": lambda path: tiny_gliner.write_model(path, "bare"),
    "multi": lambda path: tiny_multi.write_multi(path, "pylate"),
    "static": lambda path: tiny_outputs.write_static(path, "model2vec"),
}


@pytest.mark.parametrize("name", DIRECTORIES)
def test_every_directory_that_load_reads(name, tmp_path):
    directory = DIRECTORIES[name](tmp_path / "model")
    model = fbg.load(directory)
    facts = json.loads(invoke("info", str(directory), "--json"))
    assert facts["family"] == model.config.model_type
    assert facts["dtype"] is None
    assert facts["layers"] == model.config.num_layers
    assert facts["max_length"] == model.max_length
    assert facts["pooling"] == model.sentence.pooling
    assert facts["file_bytes"] > 0
    model.save(tmp_path / "saved")
    saved = json.loads(invoke("info", str(tmp_path / "saved"), "--json"))
    assert (saved["dtype"], saved["layers"]) == (model.dtype, facts["layers"])
    assert saved["tasks"] == facts["tasks"]
    assert "saved in float32" in invoke("info", str(tmp_path / "saved"))


@pytest.mark.parametrize("name", ["bert", "gemma3_text", "deberta-v2", "t5"])
def test_no_weights_are_read(name, tmp_path, monkeypatch):
    directory = tiny_models.write_tiny(tmp_path, name)
    monkeypatch.setattr(checkpoint, "copy_floats", None)
    monkeypatch.setattr(weights.UnpackedWeight, "pack", None)
    assert name in invoke("info", str(directory))


@pytest.mark.parametrize(
    ("settings", "tensor", "reason"),
    [
        ({"residual_scale": 2.0}, None, "residual_scale must be left out or off"),
        ({}, "linear.weight", "tensor linear.weight has no place in the network"),
        ({"vocab_size": 100}, None, "word_embeddings.weight must have shape (100, 39)"),
        ({"model_type": "gpt2"}, None, "model_type must be one of"),
    ],
)
def test_it_says_why_a_directory_would_not_load(tmp_path, settings, tensor, reason):
    directory = tiny_models.write_tiny(tmp_path, "bert", **settings)
    if tensor is not None:
        file = directory / "model.safetensors"
        save_file({**load_file(file), tensor: np.ones(3, np.float32)}, file)
    with pytest.raises(fbg.ModelError) as raised:
        fbg.load(directory)
    result = commands.invoke("info", directory)
    assert result.exit_code == 1
    assert result.output == f"Error: {raised.value}\n"
    assert reason in result.output


def test_tasks_are_those_of_the_head(tmp_path):
    directory = tiny_tasks.write_model(tmp_path, "bert-ForSequenceClassification")
    assert "encode, classify, predict, rerank, zero_shot_classify" in invoke("info", str(directory))


@pytest.mark.parametrize("name", ["w.safetensors", "w.bin", "w"])
def test_packed_weights(tmp_path, name):
    packed = fbg.PackedB(np.eye(40, dtype=np.float32))
    packed.save(tmp_path / name)
    assert repr(packed) in invoke("info", str(tmp_path / name))
    with pytest.raises(fbg.ModelError, match=r"packed weights, which fbg\.PackedB\.load reads"):
        fbg.load(tmp_path / name)


def test_a_file_that_is_no_model_is_told_so(tmp_path):
    (tmp_path / "notes.txt").write_text("nothing")
    result = commands.invoke("info", tmp_path / "notes.txt")
    assert result.exit_code == 1
    assert "notes.txt: not a directory: wanted that of a model, or an ONNX file" in result.output


@pytest.mark.parametrize("name", ["./absent", "empty", "other.safetensors"])
def test_what_cannot_be_read_takes_one_line(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "other.safetensors").write_bytes(b"nothing")
    result = commands.invoke("info", name)
    assert result.exit_code == 1
    assert result.output.startswith("Error: ")
    assert result.output.count("\n") == 1
