"""Towers for pictures compute what transformers does, and refuse what they do not know."""

import json

import numpy as np
import pytest
from PIL import Image
from safetensors.numpy import load_file, save_file

import fbg
from fbg.networks.towers import bicubic_weights
from fbg.reports.facts import model_facts
from helpers.formulas import cosines
from helpers.tiny_bert import change_json, write_json, write_modules
from helpers.tiny_towers import (
    CLASSIFIERS,
    CONFIGS,
    HUB_NAMES,
    PAIRS,
    TEXTS,
    pictures,
    pixel_values,
    processor_of,
    tiny_tower,
    write_tiny_tower,
    write_tower,
)

TOLERANCE = 1e-4
DTYPES = {"float32": 0.999999, "bfloat16": 0.999, "int8": 0.995}


def close(got, wanted):
    np.testing.assert_allclose(got, wanted, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("name", [name for name in CONFIGS if name not in CLASSIFIERS])
def test_states_and_vectors_are_those_of_transformers(tmp_path, name):
    golden = tiny_tower(name)[2]
    model = fbg.load(write_tiny_tower(tmp_path, name))
    result = model.forward_image(pixel_values())
    if name in PAIRS:  # transformers applies the last norm of CLIP to the pooled state only
        assert result.last_hidden_state.shape == golden["hidden"].shape
    if not name.startswith("clip"):
        close(result.last_hidden_state, golden["hidden"])
    if name == "vit":
        close(result.pooler_output, golden["pooler"])
    close(model.encode_image(pictures()), golden["vectors"])


@pytest.mark.parametrize("name", PAIRS)
def test_texts_are_in_the_same_space(tmp_path, name):
    golden = tiny_tower(name)[2]
    model = fbg.load(write_tiny_tower(tmp_path, name))
    close(model.encode(list(TEXTS)), golden["texts"])
    assert model.embedding_dimension == golden["vectors"].shape[1]
    found = model.zero_shot_classify_image(pictures(), TEXTS, "{}")
    for one, scores in zip(found, golden["scores"], strict=True):
        close([dict(zip(one["labels"], one["scores"], strict=True))[t] for t in TEXTS], scores)
        assert one["scores"] == sorted(one["scores"], reverse=True)
    one = model.zero_shot_classify_image(pictures()[0], "cat, dog")
    assert sorted(one["labels"]) == ["cat", "dog"]


def test_a_module_of_sentence_transformers_may_hold_a_tower(tmp_path):
    golden = tiny_tower("clip")[2]
    write_tiny_tower(tmp_path / "0_CLIPModel", "clip")
    write_modules(tmp_path, ("CLIPModel", "0_CLIPModel"))
    model = fbg.load(tmp_path)
    close(model.encode(list(TEXTS)), golden["texts"])
    close(model.encode_image(pictures()), golden["vectors"])
    write_modules(tmp_path, ("CLIPModel", "0_CLIPModel"), ("Normalize", "1_Normalize"))
    features = {"method_output_name": "pooler_output"}
    modality = {kind: {"method": f"get_{kind}_features", **features} for kind in ("text", "image")}
    settings = {"modality_config": modality, "module_output_name": "sentence_embedding"}
    write_json(tmp_path / "0_CLIPModel" / "sentence_bert_config.json", settings)
    model = fbg.load(tmp_path)
    model.save(tmp_path / "saved")
    for each in (model, fbg.load(tmp_path / "saved")):
        for rows, wanted in (
            (each.encode(list(TEXTS)), golden["texts"]),
            (each.encode_image(pictures()), golden["vectors"]),
        ):
            close(rows, wanted / np.linalg.norm(wanted, axis=1, keepdims=True))


def test_a_classifier_has_the_labels_of_transformers(tmp_path):
    golden = tiny_tower("vit-classifier")[2]
    model = fbg.load(write_tiny_tower(tmp_path, "vit-classifier"))
    (first, *_), every = pictures(), model.classify_image(pictures(), top_k=None)
    powers = np.exp(golden["picture_logits"].astype(np.float64))
    for found, row in zip(every, powers / powers.sum(axis=1, keepdims=True), strict=True):
        scores = {each["label"]: each["score"] for each in found}
        close([scores[f"LABEL_{n}"] for n in range(4)], row)
    assert model.classify_image(first, top_k=2) == every[0][:2]
    assert model.classify_image(first) == every[0][:1]
    assert model.classify_image([first]) == every[0][:1]
    with pytest.raises(fbg.ModelError, match=r"classify: .* must name a class that ends in ForSeq"):
        model.classify("a")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CONFIGS)
def test_vectors_are_near_those_of_float32(tmp_path, name, dtype):
    directory = write_tiny_tower(tmp_path, name)
    exact, model = fbg.load(directory), fbg.load(directory, dtype=dtype)
    near = cosines(model.encode_image(pictures()), exact.encode_image(pictures()))
    assert near.min() >= DTYPES[dtype]
    if name in PAIRS:
        near = cosines(model.encode(list(TEXTS)), exact.encode(list(TEXTS)))
        assert near.min() >= DTYPES[dtype]


@pytest.mark.parametrize("name", ["dinov2", "siglip"])
@pytest.mark.parametrize(
    "options", [{"dtype": "int4"}, {"dtype": "int8", "calibrate": "synthetic"}]
)
def test_layers_are_rounded_in_turn(tmp_path, name, options):
    directory = write_tiny_tower(tmp_path, name)
    exact, model = fbg.load(directory), fbg.load(directory, **options)
    near = cosines(model.encode_image(pictures()), exact.encode_image(pictures()))
    assert near.min() >= (0.99 if options["dtype"] == "int8" else 0.8)


@pytest.mark.parametrize("name", HUB_NAMES)
def test_names_of_files_on_the_hub_are_read(tmp_path, name):
    config, tensors, golden = tiny_tower(name)
    renamed = {}
    for key, tensor in tensors.items():
        for new, old in HUB_NAMES[name].items():
            key = key.replace(new, old)
        renamed[f"{name}.{key}" if name == "vit" else key] = tensor
    model = fbg.load(write_tower(tmp_path, config, renamed, processor_of(name)))
    close(model.forward_image(pixel_values()).last_hidden_state, golden["hidden"])


def test_a_picture_is_the_same_alone_and_among_others(tmp_path):
    directory = write_tiny_tower(tmp_path, "clip")
    model, alone = (fbg.load(directory, "int8", num_threads=n) for n in (2, 1))
    many = pictures() * 30
    together = model.encode_image(many, batch_size=17)
    for n in (0, 1, 2, 88):
        np.testing.assert_array_equal(alone.encode_image(many[n]), together[n])


def test_pictures_may_come_in_many_forms(tmp_path):
    model = fbg.load(write_tiny_tower(tmp_path / "model", "vit"))
    first = pictures()[0]
    Image.fromarray(first).save(tmp_path / "first.png")
    wanted = model.encode_image(first)
    sources = [
        str(tmp_path / "first.png"),
        tmp_path / "first.png",
        (tmp_path / "first.png").read_bytes(),
        Image.fromarray(first),
    ]
    for source in sources:
        np.testing.assert_array_equal(model.encode_image(source), wanted)
    for several in (sources, tuple(sources), iter(sources), np.stack([first] * 4)):
        np.testing.assert_array_equal(model.encode_image(several), np.stack([wanted] * 4))
    assert model.encode_image([]).shape == (0, 24)
    lengths = np.linalg.norm(model.encode_image(sources, normalize_embeddings=True), axis=1)
    np.testing.assert_allclose(lengths, 1, atol=1e-6)


def test_damaged_pictures_are_named(tmp_path):
    model = fbg.load(write_tiny_tower(tmp_path / "model", "clip"))
    path = tmp_path / "cut.png"
    Image.fromarray(pictures()[0]).save(path)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(ValueError, match=r"encode_image: images\[1\] '.*cut.png' must be a whole"):
        model.encode_image([pictures()[0], path])
    with pytest.raises(ValueError, match="zero_shot_classify_image: images must be a whole"):
        model.zero_shot_classify_image(b"GIF89a", ["a"])
    with pytest.raises(ValueError, match="encode_image: images must have pixels, got 0 x 4"):
        model.encode_image(np.zeros((0, 4, 3), np.uint8))
    with pytest.raises(TypeError, match="encode_image: images must be uint8, got float32"):
        model.encode_image(np.zeros((4, 4, 3), np.float32))
    with pytest.raises(FileNotFoundError):
        model.encode_image(tmp_path / "none.png")


@pytest.mark.parametrize("name", ["vit", "clip"])
def test_no_picture_gives_no_row(tmp_path, name):
    model = fbg.load(write_tiny_tower(tmp_path, name))
    one, none = (model.forward_image(pixel_values()[:count]) for count in (1, 0))
    assert none.last_hidden_state.shape == (0, *one.last_hidden_state.shape[1:])
    assert (none.pooler_output is None) == (one.pooler_output is None)
    if one.pooler_output is not None and none.pooler_output is not None:
        assert none.pooler_output.shape == (0, one.pooler_output.shape[1])
    assert model.encode_image([]).shape == (0, model.encode_image(pictures()).shape[1])


def test_wrong_arguments_are_named(tmp_path):
    model = fbg.load(write_tiny_tower(tmp_path, "clip"))
    with pytest.raises(ValueError, match="encode_image: batch_size"):
        model.encode_image([], batch_size=0)
    with pytest.raises(ValueError, match=r"pixel_values must be \(batch, 3, 32, 32\)"):
        model.forward_image(np.zeros((1, 3, 16, 16), np.float32))
    with pytest.raises(TypeError, match="pixel_values must be floats, got int64"):
        model.forward_image(np.zeros((1, 3, 32, 32), np.int64))
    with pytest.raises(ValueError, match="zero_shot_classify_image: candidate_labels"):
        model.zero_shot_classify_image(pictures()[0], [])
    with pytest.raises(ValueError, match="zero_shot_classify_image: hypothesis_template"):
        model.zero_shot_classify_image(pictures()[0], ["a"], "a photo")
    with pytest.raises(fbg.ModelError, match=r"classify_image: .* ends in ForImageClassification"):
        model.classify_image(pictures()[0])


def test_a_tower_refuses_what_it_does_not_read(tmp_path):
    tower = fbg.load(write_tiny_tower(tmp_path / "vit", "vit"))
    for task in (
        lambda: tower.encode("a"),
        lambda: tower.forward(np.zeros((1, 2), np.int64)),
        lambda: tower.encode_multi(["a"]),
    ):
        with pytest.raises(fbg.ModelError):
            task()
    with pytest.raises(fbg.ModelError, match="encode: a model of type vit has no tower for texts"):
        tower.encode("a")
    with pytest.raises(fbg.ModelError, match=r"zero_shot_classify_image: .*vit has no texts"):
        tower.zero_shot_classify_image(pictures()[0], ["a"])
    with pytest.raises(ValueError, match="calibrate must be None or 'synthetic'"):
        fbg.load(tmp_path / "vit", dtype="int8", calibrate=["a text"])


def test_a_model_of_texts_refuses_pictures(directory):
    model = fbg.load(directory)
    for task in ("encode_image", "forward_image", "classify_image"):
        with pytest.raises(fbg.ModelError, match=task):
            getattr(model, task)(np.zeros((1, 3, 4, 4), np.float32))
    with pytest.raises(fbg.ModelError, match=r"zero_shot_classify_image: .* no tower for pictures"):
        model.zero_shot_classify_image(pictures()[0], ["a"])


@pytest.mark.parametrize("name", ["vit-classifier", "dinov2", "clip", "siglip"])
@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_a_saved_tower_computes_the_same(tmp_path, name, dtype):
    model = fbg.load(write_tiny_tower(tmp_path / "model", name), dtype=dtype)
    model.save(tmp_path / "saved")
    before = fbg.pack_count()
    saved = fbg.load(tmp_path / "saved")
    assert fbg.pack_count() == before
    np.testing.assert_array_equal(saved.encode_image(pictures()), model.encode_image(pictures()))
    if name in PAIRS:
        np.testing.assert_array_equal(saved.encode(list(TEXTS)), model.encode(list(TEXTS)))
        labels = ["cat", "dog"]
        assert saved.zero_shot_classify_image(pictures(), labels) == model.zero_shot_classify_image(
            pictures(), labels
        )
    if name in CLASSIFIERS:
        assert saved.classify_image(pictures()) == model.classify_image(pictures())


@pytest.mark.parametrize(
    ("name", "changes", "key"),
    [
        ("vit", {"image_size": 48}, "image_size"),
        ("vit", {"image_size": [32, 0]}, "image_size"),
        ("vit", {"patch_size": 64}, "patch_size"),
        ("vit", {"num_channels": 1}, "num_channels"),
        ("vit", {"hidden_act": "selu"}, "hidden_act"),
        ("vit", {"pooler_act": "relu"}, "pooler_act"),
        ("vit", {"pooler_output_size": 8}, "pooler_output_size"),
        ("vit", {"attention_sinks": 4}, "attention_sinks"),
        ("vit", {"model_type": "siglip2"}, "model_type"),
        ("dinov2", {"mlp_ratio": -1}, "mlp_ratio"),
        ("clip", {"projection_dim": 0}, "projection_dim"),
        ("clip", {"text_config": 5}, "text_config"),
        ("clip", {"vision_config": {"hidden_size": 24, "new_norm": 2}}, "vision_config.new_norm"),
        ("siglip", {"vision_config": {"vision_use_head": False}}, "vision_use_head"),
    ],
)
def test_a_setting_that_is_not_supported_is_named(tmp_path, name, changes, key):
    directory = write_tiny_tower(tmp_path, name)
    (directory / "preprocessor_config.json").unlink() if "vision_config" in changes else None
    change_json(directory / "config.json", **changes)
    with pytest.raises(fbg.ModelError, match=rf"config\.json: .*{key}"):
        fbg.load(directory)


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"image_processor_type": "OtherImageProcessor"}, "image_processor_type"),
        ({"resample": 9}, "resample"),
        ({"size": {"longest_edge": 32}}, "size"),
        ({"size": {"shortest_edge": 32, "longest_edge": 64}}, "size"),
        ({"size": "32"}, "size"),
        ({"do_resize": 1}, "do_resize"),
        ({"image_std": [0.5, 0, 0.5]}, "image_std"),
        ({"image_mean": [0.5, 0.5]}, "image_mean"),
        ({"crop_size": 40}, "crop_size"),
        ({"rotation_scale": 2}, "rotation_scale"),
    ],
)
def test_a_setting_of_pictures_is_named(tmp_path, changes, key):
    directory = write_tiny_tower(tmp_path, "clip")
    change_json(directory / "preprocessor_config.json", **changes)
    with pytest.raises(fbg.ModelError, match=rf"preprocessor_config\.json: .*{key}"):
        fbg.load(directory)


def test_pictures_need_a_file_that_says_how(tmp_path):
    directory = write_tiny_tower(tmp_path, "clip")
    settings = json.loads((directory / "preprocessor_config.json").read_text())
    wanted = fbg.load(directory).encode_image(pictures())
    (directory / "preprocessor_config.json").unlink()
    model = fbg.load(directory)
    model.forward_image(pixel_values())
    with pytest.raises(fbg.ModelError, match=r"preprocessor_config\.json: no such file"):
        model.encode_image(pictures()[0])
    (directory / "processor_config.json").write_text(json.dumps({"image_processor": settings}))
    np.testing.assert_array_equal(fbg.load(directory).encode_image(pictures()), wanted)


@pytest.mark.parametrize("name", ["dinov2", "clip", "siglip"])
def test_no_tensor_is_ignored(tmp_path, name):
    file = write_tiny_tower(tmp_path, name) / "model.safetensors"
    tensors = load_file(file)
    for key in tensors:
        save_file({n: t for n, t in tensors.items() if n != key}, file)
        if key in ("embeddings.mask_token", "logit_bias"):
            fbg.load(tmp_path)
            continue
        with pytest.raises(fbg.ModelError):
            fbg.load(tmp_path)
    save_file({**tensors, "vision_model.embeddings.other": np.ones(3, np.float32)}, file)
    with pytest.raises(
        fbg.ModelError, match=r"tensor vision_model\.embeddings\.other has no place"
    ):
        fbg.load(tmp_path)


def test_facts_name_both_towers(tmp_path):
    facts = model_facts(str(write_tiny_tower(tmp_path / "clip", "clip")))
    assert facts.tasks == ("encode_image", "zero_shot_classify_image")
    assert "32 x 32 pixels in patches of 16 x 16, 2 layers of 24 columns" in str(facts)
    facts = model_facts(str(write_tiny_tower(tmp_path / "vit", "vit-classifier")))
    assert facts.tasks == ("encode_image", "classify_image") and "texts" not in str(facts)


def test_weights_of_an_interpolation_add_up_to_1():
    for old, new in ((7, 4), (4, 7), (37, 16), (5, 5)):
        for antialias in (False, True):
            weights = bicubic_weights(old, new, antialias)
            np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-12)
            if old == new:
                np.testing.assert_allclose(weights, np.eye(old), atol=1e-12)
