"""Low-rank adapters: models are what a checkpoint with the merged weights would be."""

import pickle

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import fbg
from helpers import tiny_models, tiny_outputs
from helpers.tiny_bert import change_json, write_json
from helpers.tiny_models import tiny_model
from helpers.torch_files import write_torch_file

HUB, TASKS = "xlm-roberta-flash", ["retrieval.query", "retrieval.passage", "classification"]
IDS = np.random.default_rng(5).integers(0, tiny_models.VOCABULARY, (3, 20))
Tensors = dict[str, np.ndarray]


def small(name, *shape):
    return tiny_outputs.random(name, *shape)


def of_tasks(tensors, rank, task):
    """The tensors as jina-embeddings-v3 has them, and merged with a task."""
    stored, merged = {}, dict(tensors)
    for name, weight in tensors.items():
        if weight.ndim != 2:
            stored[name] = weight
            continue
        stem = f"{name.removesuffix('.weight')}.parametrizations.weight"
        rows, columns = weight.shape
        shapes = [(rank, columns), (rows, rank)]
        if "embeddings" in name:
            shapes = [(rows, rank), (rank, columns)]
        a, b = (
            small(f"{stem}.{part}", len(TASKS), *shape)
            for part, shape in zip("AB", shapes, strict=True)
        )
        stored |= {f"{stem}.original": weight, f"{stem}.0.lora_A": a, f"{stem}.0.lora_B": b}
        if task is not None:
            product = a[task] @ b[task] if "embeddings" in name else b[task] @ a[task]
            merged[name] = (weight + 2 / rank * product).astype(np.float32)
    return stored, merged


def write_tasks(path, rank=2, task=None, **changes):
    """A checkpoint with adapters, and one whose weights are merged."""
    model = tiny_model(HUB)
    lora = {"lora_adaptations": TASKS, "lora_rank": rank, "lora_alpha": 2, **changes}
    stored, merged = of_tasks(model.tensors, rank, task)
    return [
        tiny_models.write_checkpoint(
            path / "tasks", {**model.config, **lora}, stored, prefix="roberta."
        ),
        tiny_models.write_checkpoint(path / "merged", model.config, merged),
    ]


@pytest.mark.parametrize("task", [None, 0, 2])
def test_a_task_is_merged_into_the_weights(tmp_path, isa, task):
    own, merged = write_tasks(tmp_path, task=task)
    name = None if task is None else TASKS[task]
    got = fbg.load(own, adapter=name).forward(IDS).last_hidden_state
    wanted = fbg.load(merged).forward(IDS).last_hidden_state
    np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-4)
    if task is not None:
        without = fbg.load(own).forward(IDS).last_hidden_state
        assert np.abs(got - without).max() > 0.1


def test_tasks_of_a_file_of_torch_are_merged(tmp_path):
    own, _ = write_tasks(tmp_path)
    wanted = [fbg.load(own, adapter=task).forward(IDS).last_hidden_state for task in TASKS]
    tensors = load_file(own / "model.safetensors")
    (own / "model.safetensors").unlink()
    # Tensors of a file of torch have strides, and those of a transposed one are unusual.
    tensors = {
        name: tensor.transpose(0, 2, 1).copy().transpose(0, 2, 1) if "lora_A" in name else tensor
        for name, tensor in tensors.items()
    }
    write_torch_file(own / "pytorch_model.bin", tensors)
    for task, states in zip(TASKS, wanted, strict=True):
        got = fbg.load(own, adapter=task).forward(IDS).last_hidden_state
        np.testing.assert_array_equal(got, states)


def test_a_task_without_tensors_is_refused(tmp_path):
    _, merged = write_tasks(tmp_path)
    change_json(merged / "config.json", lora_adaptations=TASKS)
    fbg.load(merged)
    with pytest.raises(fbg.ModelError, match=r"names retrieval\.query, but the weights have no"):
        fbg.load(merged, adapter=TASKS[0])


def write_folder(path, names, rank=3, **settings):
    """An adapter as PEFT writes it, for the weights of a tiny model."""
    path.mkdir(parents=True)
    shapes = {name: tensor.shape for name, tensor in tiny_model("qwen3").tensors.items()}
    tensors = {}
    for name in names:
        stem, (rows, columns) = f"base_model.model.{name}", shapes[f"{name}.weight"]
        if "embed" in name:
            tensors[f"{stem}.lora_embedding_A"] = small(f"{name}A", rank, rows)
            tensors[f"{stem}.base_layer.weight"] = tiny_model("qwen3").tensors[f"{name}.weight"]
            tensors[f"{stem}.lora_embedding_B"] = small(f"{name}B", columns, rank)
        else:
            tensors[f"{stem}.lora_A.weight"] = small(f"{name}A", rank, columns)
            tensors[f"{stem}.lora_B.weight"] = small(f"{name}B", rows, rank)
    config = {"peft_type": "LORA", "r": rank, "lora_alpha": 5, **settings}
    write_json(path / "adapter_config.json", config)
    save_file(tensors, path / "adapter_model.safetensors")
    return path


LAYERS = ["layers.0.self_attn.q_proj", "layers.1.mlp.down_proj", "embed_tokens"]


@pytest.mark.parametrize("rslora", [False, True])
@pytest.mark.parametrize("prefix", ["", "model."])
def test_a_folder_is_merged_into_the_weights(tmp_path, rslora, prefix):
    model = tiny_model("qwen3")
    path = tmp_path / "model"
    tiny_models.write_tiny(path, "qwen3", prefix=prefix)
    write_folder(path / "mine", LAYERS, use_rslora=rslora)
    scale = 5 / (np.sqrt(3) if rslora else 3)
    merged = dict(model.tensors)
    for name in LAYERS:
        weight = merged[f"{name}.weight"]
        a, b = (small(f"{name}{part}", *shape) for part, shape in _shapes(name, weight.shape))
        product = (b @ a).T if "embed" in name else b @ a
        merged[f"{name}.weight"] = (weight + scale * product).astype(np.float32)
    tiny_models.write_checkpoint(tmp_path / "merged", model.config, merged)
    wanted = fbg.load(tmp_path / "merged").forward(IDS).last_hidden_state
    for adapter in ("mine", path / "mine"):
        got = fbg.load(path, adapter=adapter).forward(IDS).last_hidden_state
        np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-4)


def _shapes(name, shape):
    rows, columns = shape if "embed" not in name else shape[::-1]
    return [("A", (3, columns)), ("B", (rows, 3))]


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_a_merged_model_is_saved_and_pickled_with_its_adapter(tmp_path, dtype):
    own, _ = write_tasks(tmp_path)
    model = fbg.load(own, dtype=dtype, adapter=TASKS[1], num_threads=1)
    wanted = model.forward(IDS).last_hidden_state
    model.save(tmp_path / "saved")
    others = [
        fbg.load(tmp_path / "saved"),
        pickle.loads(pickle.dumps(model)),
        fbg.load(own, dtype=dtype, adapter=TASKS[1], num_threads=2),
    ]
    for other in others:
        np.testing.assert_array_equal(other.forward(IDS).last_hidden_state, wanted)
    with pytest.raises(ValueError, match=r"adapter must be None: .* is a saved model"):
        fbg.load(tmp_path / "saved", adapter=TASKS[1])


def write_two(path):
    """A model with an adapter, and a directory with another adapter of the same name."""
    own = tiny_models.write_tiny(path / "model", "qwen3")
    write_folder(own / "mine", LAYERS[:1])
    write_folder(path / "work" / "mine", LAYERS[:1], use_rslora=True)
    return own, path / "work"


def test_pickles_name_the_adapter_that_was_loaded(tmp_path, monkeypatch):
    own, work = write_two(tmp_path)
    wanted = fbg.load(own, adapter=own / "mine").forward(IDS).last_hidden_state
    other = fbg.load(own, adapter=work / "mine").forward(IDS).last_hidden_state
    assert (wanted != other).any()
    monkeypatch.chdir(work)
    (work / "mine").rename(work / "yours")
    elsewhere = pickle.dumps(fbg.load(own, adapter="yours"))
    (work / "yours").rename(work / "mine")
    within = pickle.dumps(fbg.load(own, adapter="mine"))
    (work / "mine").rename(work / "yours")
    monkeypatch.chdir(tmp_path)
    for pickled, states in ((within, wanted), (elsewhere, other)):
        found = pickle.loads(pickled).forward(IDS).last_hidden_state
        np.testing.assert_array_equal(found, states)


def test_a_task_is_no_folder_of_the_working_directory(tmp_path, monkeypatch):
    own, _ = write_tasks(tmp_path)
    wanted = fbg.load(own, adapter=TASKS[0]).forward(IDS).last_hidden_state
    (tmp_path / TASKS[0]).mkdir()
    monkeypatch.chdir(tmp_path)
    again = pickle.loads(pickle.dumps(fbg.load(own, adapter=TASKS[0])))
    np.testing.assert_array_equal(again.forward(IDS).last_hidden_state, wanted)


def test_a_folder_of_the_model_comes_before_a_task(tmp_path):
    own, _ = write_two(tmp_path)
    wanted = fbg.load(own, adapter="mine").forward(IDS).last_hidden_state
    change_json(own / "config.json", lora_adaptations=["mine"])
    found = fbg.load(own, adapter="mine").forward(IDS).last_hidden_state
    np.testing.assert_array_equal(found, wanted)


def test_folders_of_the_model_and_of_its_encoder_are_found(tmp_path):
    own, _ = write_two(tmp_path)
    wanted = fbg.load(own, adapter="mine").forward(IDS).last_hidden_state
    whole = tmp_path / "whole"
    whole.mkdir()
    own.rename(whole / "0_Transformer")
    kind = "sentence_transformers.models.Transformer"
    write_json(whole / "modules.json", [{"type": kind, "path": "0_Transformer"}])
    found = fbg.load(whole, adapter="mine").forward(IDS).last_hidden_state
    np.testing.assert_array_equal(found, wanted)
    write_folder(whole / "mine", LAYERS[:1], use_rslora=True)
    first = fbg.load(whole, adapter=whole / "mine").forward(IDS).last_hidden_state
    assert (first != wanted).any()
    found = fbg.load(whole, adapter="mine").forward(IDS).last_hidden_state
    np.testing.assert_array_equal(found, first)


@pytest.mark.parametrize("name", ["", ".", "./", "x" * 5000, "x\0"])
def test_a_name_that_no_adapter_has_is_refused(tmp_path, monkeypatch, name):
    own, work = write_two(tmp_path)
    monkeypatch.chdir(work / "mine")
    with pytest.raises(ValueError, match="load: adapter must be"):
        fbg.load(own, adapter=name)


def test_an_unknown_adapter_is_named(tmp_path):
    own, merged = write_tasks(tmp_path)
    write_folder(own / "mine", LAYERS)
    known = r"adapter must be one of retrieval\.query, .*, mine, or a folder with adapter_config"
    with pytest.raises(ValueError, match=known):
        fbg.load(own, adapter="none")
    with pytest.raises(ValueError, match=r"adapter must be a folder with adapter_config\.json"):
        fbg.load(merged, adapter="none")
    with pytest.raises(TypeError, match="adapter must be a name, a path or None, got int"):
        fbg.load(own, adapter=3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"lora_rank": 3},
            r"lora_A must have shape \(1, 3\), .* rank 3 for .* \(1, 36\), got \(1, 2\)",
        ),
        ({"lora_rank": 0}, "lora_rank must be an integer of at least 1"),
        ({"lora_alpha": "a"}, "lora_alpha must be a number"),
        ({"lora_alpha": 1e300}, "lora_alpha must be a number whose quotient by the rank fits"),
        ({"lora_adaptations": [1]}, "lora_adaptations must be a list of strings"),
        ({"lora_adaptations": TASKS[:2]}, "must have a matrix for each of 2 tasks"),
    ],
)
def test_wrong_settings_of_tasks_are_named(tmp_path, changes, message):
    own, _ = write_tasks(tmp_path)
    change_json(own / "config.json", **changes)
    with pytest.raises(fbg.ModelError, match=message):
        fbg.load(own, adapter=TASKS[0])


@pytest.mark.parametrize(
    ("settings", "tensors", "message"),
    [
        ({"r": 4}, {}, r"must have shape \(.*4.*\), of an adapter of rank 4"),
        ({"r": 0}, {}, r"adapter_config\.json: r must be an integer of at least 1"),
        ({"peft_type": "IA3"}, {}, "peft_type must be one of LORA"),
        ({"use_dora": True}, {}, "use_dora must be false"),
        ({"bias": "all"}, {}, "bias must be none"),
        ({"rank_pattern": {"q_proj": 2}}, {}, "rank_pattern must be empty"),
        ({"modules_to_save": ["score"]}, {}, "modules_to_save must be empty"),
        ({"layer_replication": [[0, 2]]}, {}, "layer_replication must be empty"),
        ({"alora_invocation_tokens": [5]}, {}, "alora_invocation_tokens must be empty"),
        ({"target_parameters": ["weight"]}, {}, "target_parameters must be empty"),
        ({"trainable_token_indices": [1]}, {}, "trainable_token_indices must be empty"),
        ({"use_qalora": True}, {}, "use_qalora must be false"),
        ({"init_lora_weights": "pissa"}, {}, "init_lora_weights must be true, false, gaussian"),
        ({"init_lora_weights": 1}, {}, "init_lora_weights must be true, false, gaussian"),
        ({"lora_alpha": 1e300}, {}, "lora_alpha must be a number whose quotient by the rank fits"),
        ({}, None, r"q_proj\.lora_A\.weight must have dtype float32, .*, got int32"),
        ({}, {"other": (2, 2)}, "tensor other does not belong to a low-rank adapter"),
        ({}, {"x.lora_A.weight": (3, 36)}, "x must be a layer of the model, which has 0"),
        (
            {},
            {
                f"{prefix}layers.0.self_attn.q_proj.lora_{part}.weight": shape
                for prefix in ("", "model.")
                for part, shape in (("A", (3, 36)), ("B", (56, 3)))
            },
            r"q_proj and .*q_proj are both an adapter of layers\.0\.self_attn\.q_proj\.weight",
        ),
        (
            {},
            {f"{prefix}x.lora_A.weight": (3, 36) for prefix in ("", "base_model.model.")},
            r"x\.lora_A\.weight and .*x\.lora_A\.weight are the same tensor",
        ),
        ({}, {"layers.1.self_attn.q_proj.lora_A.weight": (3, 36)}, r"lora_B\.weight is missing"),
    ],
)
def test_a_wrong_folder_is_named(tmp_path, settings, tensors, message):
    path = tiny_models.write_tiny(tmp_path / "model", "qwen3")
    folder = write_folder(path / "mine", LAYERS[:1], **settings)
    file = folder / "adapter_model.safetensors"
    if tensors is None:
        save_file({key: value.astype(np.int32) for key, value in load_file(file).items()}, file)
    elif tensors:
        arrays = {name: np.ones(shape, np.float32) for name, shape in tensors.items()}
        save_file(arrays, file)
    with pytest.raises(fbg.ModelError, match=message):
        fbg.load(path, adapter="mine")


def test_an_adapter_without_tensors_is_refused(tmp_path):
    own, _ = write_two(tmp_path)
    save_file({}, own / "mine" / "adapter_model.safetensors")
    with pytest.raises(fbg.ModelError, match=r"adapter_model\.safetensors: holds no tensors of a"):
        fbg.load(own, adapter="mine")


@pytest.mark.parametrize("initial", [None, True, False, "gaussian", "eva", "orthogonal"])
def test_adapters_of_unchanged_weights_are_merged(tmp_path, initial):
    own, _ = write_two(tmp_path)
    wanted = fbg.load(own, adapter="mine").forward(IDS).last_hidden_state
    change_json(own / "mine" / "adapter_config.json", init_lora_weights=initial)
    found = fbg.load(own, adapter="mine").forward(IDS).last_hidden_state
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", ["float32", "int8"])
@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"A": np.nan}, r"mine/adapter_model\.safetensors: tensor .*lora_A"),
        ({"B": np.inf}, r"mine/adapter_model\.safetensors: tensor .*lora_B"),
        ({"A": 1e30, "B": 1e30}, r"mine/adapter_model\.safetensors: tensor .*lora_B"),
        ({"B": 3e38}, r"mine/adapter_model\.safetensors: tensor .*lora_B"),
    ],
)
def test_values_that_are_not_finite_name_the_adapter(tmp_path, dtype, values, named):
    own, _ = write_two(tmp_path)
    path = own / "mine" / "adapter_model.safetensors"
    tensors = load_file(path)
    for name, tensor in tensors.items():
        for part, value in values.items():
            if f"lora_{part}" in name:
                tensor[0, 0] = value
    save_file(tensors, path)
    with pytest.raises(fbg.ModelError, match=f"{named}.* makes NaN or infinite values"):
        fbg.load(own, dtype=dtype, adapter="mine")
