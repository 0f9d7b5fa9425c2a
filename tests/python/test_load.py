"""fbg.load: what it accepts, and that every way of storing a checkpoint gives the same model."""

import pathlib
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import fbg
import tiny_bert

IDS = [[2, 17, 40, 8, 3], [2, 50, 3, 0, 0]]
MASK = [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]


def write(path: pathlib.Path, **options: Any) -> pathlib.Path:
    return tiny_bert.write_checkpoint(path, seed=4, spread=0.25, **options)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return write(tmp_path_factory.mktemp("model"))


def hidden(model: fbg.Model) -> np.ndarray:
    return model.forward(IDS, MASK).last_hidden_state


def test_a_path_and_its_str_are_the_same(directory: pathlib.Path) -> None:
    assert np.array_equal(hidden(fbg.load(directory)), hidden(fbg.load(str(directory))))


def test_the_prefix_of_models_with_a_head_is_found(
    directory: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    assert np.array_equal(
        hidden(fbg.load(directory)), hidden(fbg.load(write(tmp_path, prefix="bert.")))
    )


def test_old_names_of_layer_norm_are_known(directory: pathlib.Path, tmp_path: pathlib.Path) -> None:
    file = write(tmp_path) / "model.safetensors"
    renamed = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        ): tensor
        for name, tensor in load_file(file).items()
    }
    save_file(renamed, file)
    assert np.array_equal(hidden(fbg.load(directory)), hidden(fbg.load(tmp_path)))


@pytest.mark.parametrize(("dtype", "tolerance"), [("float16", 5e-3), ("bfloat16", 5e-2)])
def test_half_precision_checkpoints_are_read_exactly(
    directory: pathlib.Path, tmp_path: pathlib.Path, dtype: str, tolerance: float
) -> None:
    half = hidden(fbg.load(write(tmp_path / "half", dtype=dtype)))
    rounded = {
        name: tensor.astype(tiny_bert.DTYPES[dtype]).astype(np.float32)
        for name, tensor in load_file(directory / "model.safetensors").items()
    }
    widened = write(tmp_path / "widened", tensors=rounded)
    assert np.array_equal(half, hidden(fbg.load(widened)))
    assert np.abs(half - hidden(fbg.load(directory))).max() < tolerance


def test_a_checkpoint_without_pooler_has_no_pooler_output(tmp_path: pathlib.Path) -> None:
    file = write(tmp_path) / "model.safetensors"
    save_file({n: t for n, t in load_file(file).items() if "pooler" not in n}, file)
    result = fbg.load(tmp_path).forward(IDS)
    assert result.pooler_output is None
    assert result.last_hidden_state.shape == (2, 5, 48)


def test_int8_is_near_float32_and_not_the_same(directory: pathlib.Path) -> None:
    exact, quantized = hidden(fbg.load(directory)), hidden(fbg.load(directory, dtype="int8"))
    cosine = (exact * quantized).sum() / np.linalg.norm(exact) / np.linalg.norm(quantized)
    assert 0.99 < cosine < 0.9999999


def test_weights_are_packed_once(directory: pathlib.Path) -> None:
    model = fbg.load(directory, dtype="int8")
    packed = fbg._fbg.pack_b_count()
    hidden(model)
    model.encode(["a", "b c"])
    assert fbg._fbg.pack_b_count() == packed


def test_the_number_of_threads_is_that_of_load_or_the_default(directory: pathlib.Path) -> None:
    assert fbg.load(directory).num_threads == fbg.get_num_threads()
    model = fbg.load(directory, num_threads=3)
    assert model.num_threads == 3
    assert np.array_equal(hidden(model), hidden(fbg.load(directory, num_threads=1)))


def test_repr_says_what_the_model_is(directory: pathlib.Path) -> None:
    text = repr(fbg.load(directory, dtype="int8"))
    for part in (str(directory), "bert", "2 layers", "hidden size 48", "3 heads", "int8"):
        assert part in text


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"model": 3}, TypeError, "model must be a path or a hub id, got int"),
        ({"dtype": "float64"}, ValueError, "dtype must be one of float32, int8, got 'float64'"),
        ({"num_threads": 0}, ValueError, r"num_threads must be in \[1, 1024\], got 0"),
        ({"num_threads": 1.5}, TypeError, "num_threads must be an integer or None, got float"),
    ],
)
def test_bad_arguments_are_named(
    directory: pathlib.Path, arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=f"load: {message}"):
        fbg.load(**{"model": directory, **arguments})


@pytest.mark.parametrize("name", ["./absent", "/absent/model", "~/absent", "not a name", "a/b/c"])
def test_a_path_that_is_not_there_never_asks_the_hub(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    huggingface_hub = pytest.importorskip("huggingface_hub")
    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda *_, **__: pytest.fail())
    with pytest.raises(fbg.ModelError, match="no such directory"):
        fbg.load(name)


def test_a_hub_id_is_looked_up_in_the_cache_before_the_network(
    directory: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    huggingface_hub = pytest.importorskip("huggingface_hub")
    calls = []

    def snapshot_download(name: str, local_files_only: bool = False, **_: object) -> str:
        calls.append((name, local_files_only))
        return str(directory)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
    assert hidden(fbg.load("some/model")).shape == (2, 5, 48)
    assert calls == [("some/model", True)]


def test_a_hub_id_that_cannot_be_had_is_a_model_error(monkeypatch: pytest.MonkeyPatch) -> None:
    huggingface_hub = pytest.importorskip("huggingface_hub")

    def snapshot_download(name: str, local_files_only: bool = False, **_: object) -> str:
        raise OSError("no network here")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
    with pytest.raises(fbg.ModelError, match=r"some/model: .*local cache.*no network here"):
        fbg.load("some/model")
