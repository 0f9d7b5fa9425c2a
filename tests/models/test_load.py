"""fbg.load: what it accepts, and that every way of storing a checkpoint gives the same model."""

import fnmatch
import json
import shutil
import subprocess
import sys

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import fbg
from helpers import tiny_bert
from helpers.stored_weights import store_weights
from helpers.torch_files import write_torch_file

IDS = [[2, 17, 40, 8, 3], [2, 50, 3, 0, 0]]
INDEX = "model.safetensors.index.json"
MASK = [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]


def write(path, **options):
    return tiny_bert.write_checkpoint(path, seed=4, spread=0.25, **options)


def hidden(model):
    return model.forward(IDS, MASK).last_hidden_state


def test_a_path_and_its_str_are_the_same(directory):
    assert np.array_equal(hidden(fbg.load(directory)), hidden(fbg.load(str(directory))))


def test_old_names_of_layer_norm_are_known(directory, tmp_path):
    file = write(tmp_path) / "model.safetensors"
    renamed = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        ): tensor
        for name, tensor in load_file(file).items()
    }
    save_file(renamed, file)
    assert np.array_equal(hidden(fbg.load(directory)), hidden(fbg.load(tmp_path)))


@pytest.mark.parametrize("count", [1, 2, 7])
def test_a_checkpoint_in_shards_is_the_same_as_in_one_file(directory, tmp_path, count):
    store_weights(write(tmp_path, prefix="bert."), shards=count)
    assert np.array_equal(hidden(fbg.load(directory)), hidden(fbg.load(tmp_path)))


def test_a_damaged_shard_is_named_with_the_tensor(tmp_path):
    index = store_weights(write(tmp_path), shards=3) / INDEX
    name = "encoder.layer.1.output.dense.weight"
    shard = tmp_path / json.loads(index.read_text())["weight_map"][name]
    tensors = load_file(shard)
    save_file({**tensors, name: tensors[name][:-1]}, shard)
    with pytest.raises(fbg.ModelError, match=f"{shard.name}: tensor {name} must have shape"):
        fbg.load(tmp_path)
    save_file({n: t for n, t in tensors.items() if n != name}, shard)
    with pytest.raises(fbg.ModelError, match=rf"index\.json: tensor {name} is missing"):
        fbg.load(tmp_path)
    shard.write_bytes(b"\x00")
    with pytest.raises(fbg.ModelError, match=f"{shard.name}: not a readable safetensors file"):
        fbg.load(tmp_path)
    shard.unlink()
    with pytest.raises(fbg.ModelError, match=f"{shard.name}: no such file"):
        fbg.load(tmp_path)


def test_a_shard_whose_name_is_too_long_is_refused(tmp_path):
    index = store_weights(write(tmp_path), shards=2) / INDEX
    tiny_bert.write_json(index, {"weight_map": {"a": "x" * 5000}})
    with pytest.raises(fbg.ModelError, match="xxx: no such file"):
        fbg.load(tmp_path)


@pytest.mark.parametrize("name", ["/" + "x" * 5000, "./" + "x/" * 3000])
def test_a_model_whose_name_is_too_long_is_refused(name):
    with pytest.raises(fbg.ModelError, match="no such directory"):
        fbg.load(name)


def test_a_tensor_of_two_shards_is_named(tmp_path):
    store_weights(write(tmp_path), shards=2)
    first, second = sorted(tmp_path.glob("model-*.safetensors"))
    name, value = next(iter(load_file(first).items()))
    save_file({**load_file(second), name: value}, second)
    with pytest.raises(fbg.ModelError, match=rf"{second.name}: tensor {name} is in {first.name}"):
        fbg.load(tmp_path)


@pytest.mark.parametrize("weight_map", [None, {}, [], "model.safetensors"])
def test_an_index_without_a_weight_map_is_named(tmp_path, weight_map):
    tiny_bert.write_json(
        store_weights(write(tmp_path), shards=2) / INDEX, {"weight_map": weight_map}
    )
    with pytest.raises(fbg.ModelError, match=r"index\.json: weight_map must be"):
        fbg.load(tmp_path)


@pytest.mark.parametrize("name", [3, None, "", "..", "../x", "/etc/passwd", "a/b", "\0"])
def test_an_index_names_files_of_its_directory_only(tmp_path, name):
    tiny_bert.write_json(
        store_weights(write(tmp_path), shards=2) / INDEX, {"weight_map": {"a": name}}
    )
    with pytest.raises(fbg.ModelError, match=r"index\.json: the weight_map of a|no such file"):
        fbg.load(tmp_path)


def test_a_directory_without_weights_is_named(tmp_path):
    (write(tmp_path) / "model.safetensors").unlink()
    with pytest.raises(
        fbg.ModelError, match=r"model\.safetensors: no such file, and no pytorch_model"
    ):
        fbg.load(tmp_path)


def test_two_encoders_in_one_checkpoint_are_named(tmp_path):
    file = write(tmp_path) / "model.safetensors"
    tensors = load_file(file)
    save_file({f"{side}.{n}": t for n, t in tensors.items() for side in ("query", "doc")}, file)
    wanted = "more than one encoder: doc.embeddings.word.*, query.embeddings.word"
    with pytest.raises(fbg.ModelError, match=wanted):
        fbg.load(tmp_path)


@pytest.mark.parametrize(("dtype", "large"), [("float16", 7e4), ("bfloat16", 3.4e38)])
def test_a_weight_that_the_dtype_cannot_hold_is_named(tmp_path, dtype, large):
    file = write(tmp_path) / "model.safetensors"
    tensors = load_file(file)
    name = "encoder.layer.1.output.dense.weight"
    tensors[name][3, 5] = -large
    save_file(tensors, file)
    fbg.load(tmp_path)
    with pytest.raises(fbg.ModelError, match=f"tensor {name} must be within .* got -"):
        fbg.load(tmp_path, dtype=dtype)


def test_the_number_of_threads_is_that_of_load_or_the_default(directory):
    assert fbg.load(directory).num_threads == fbg.get_num_threads()
    model = fbg.load(directory, num_threads=3)
    assert model.num_threads == 3
    assert np.array_equal(hidden(model), hidden(fbg.load(directory, num_threads=1)))


def test_repr_says_what_the_model_is(directory):
    text = repr(fbg.load(directory, dtype="int8"))
    for part in (str(directory), "bert", "2 layers", "hidden size 48", "3 heads", "int8"):
        assert part in text


def test_repr_counts_layers_of_another_precision(directory, tmp_path):
    model = fbg.load(directory, dtype="int8", higher_precision=["layers.0.q*"])
    assert repr(model).endswith("heads, int8 in 7 of 8 linear layers, bfloat16 in 1>")
    model.save(tmp_path / "saved")
    assert "int8 in 7 of 8 linear layers, bfloat16 in 1>" in repr(fbg.load(tmp_path / "saved"))
    assert repr(fbg.load(directory)).endswith("heads, float32>")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"model": 3}, TypeError, "model must be a path or a hub id, got int"),
        (
            {"dtype": "float64"},
            ValueError,
            "dtype must be one of float32, .*, int8, int4, .* or None, got 'float64'",
        ),
        ({"num_threads": 0}, ValueError, r"num_threads must be within \[1, 1024\], got 0"),
        ({"num_threads": 1.5}, TypeError, "num_threads must be an integer, got float"),
    ],
)
def test_bad_arguments_are_named(directory, arguments, error, message):
    with pytest.raises(error, match=f"load: {message}"):
        fbg.load(**{"model": directory, **arguments})


@pytest.mark.parametrize("name", ["./absent", "/absent/model", "~/absent", "not a name", "a/b/c"])
def test_a_path_that_is_not_there_never_asks_the_hub(name, monkeypatch):
    huggingface_hub = pytest.importorskip("huggingface_hub")
    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda *_, **__: pytest.fail())
    with pytest.raises(fbg.ModelError, match="no such directory"):
        fbg.load(name)


def test_a_hub_id_is_looked_up_in_the_cache_before_the_network(directory, monkeypatch):
    huggingface_hub = pytest.importorskip("huggingface_hub")
    calls = []

    def snapshot_download(name, local_files_only=False, **_):
        calls.append((name, local_files_only))
        return str(directory)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
    assert hidden(fbg.load("some/model")).shape == (2, 5, 48)
    assert calls == [("some/model", True)]


def test_a_hub_id_that_cannot_be_had_is_a_model_error_of_one_line(monkeypatch):
    huggingface_hub = pytest.importorskip("huggingface_hub")

    def snapshot_download(name, local_files_only=False, **_):
        try:
            raise ConnectionError("no network here\nand more about it")
        except ConnectionError as error:  # as huggingface_hub puts it
            raise OSError(f"Got: {error}\nAn error happened while locating files") from error

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
    wanted = r"^some/model: .*local cache.*from the hub: ConnectionError: no network here$"
    with pytest.raises(fbg.ModelError, match=wanted):
        fbg.load("some/model")


def hub(monkeypatch, remote, cache):
    """A hub with one model, and an empty cache; returns what each download asks for."""
    huggingface_hub = pytest.importorskip("huggingface_hub")
    asked = []

    def snapshot_download(name, allow_patterns, local_files_only=False):
        if not local_files_only:
            asked.append(allow_patterns)
            for file in remote.rglob("*"):
                path = str(file.relative_to(remote))
                if file.is_file() and any(fnmatch.fnmatch(path, p) for p in allow_patterns):
                    (cache / path).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(file, cache / path)
        if not cache.exists():
            raise OSError("not in the cache")
        return str(cache)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
    return asked


def test_pickled_weights_are_downloaded_only_where_there_are_no_others(tmp_path, monkeypatch):
    remote = write(tmp_path / "remote")
    expected = hidden(fbg.load(remote))
    write_torch_file(remote / "pytorch_model.bin", load_file(remote / "model.safetensors"))
    asked = hub(monkeypatch, remote, tmp_path / "first")
    assert np.array_equal(hidden(fbg.load("some/model")), expected)
    assert not (tmp_path / "first" / "pytorch_model.bin").exists()
    assert len(asked) == 1

    (remote / "model.safetensors").unlink()
    asked = hub(monkeypatch, remote, tmp_path / "second")
    for _ in range(2):
        assert np.array_equal(hidden(fbg.load("some/model")), expected)
        assert len(asked) == 2  # the second load finds both in the cache


def test_without_the_packages_of_models_the_error_names_the_extra(checkpoint):
    code = (
        "import sys\n"
        "sys.modules['tokenizers'] = None\n"
        "import fbg\n"
        "try:\n"
        f"    fbg.load({str(checkpoint)!r})\n"
        "except fbg.ModelError as error:\n"
        "    print(error)\n"
    )
    said = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert said == "load: models need the package tokenizers: pip install 'fbg[models]'\n"
