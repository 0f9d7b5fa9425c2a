"""Several adapters beside one base: each computes as a model that is loaded with it alone."""

import asyncio
import pickle

import numpy as np
import pytest

import fbg
from fbg.errors import ClosedError
from fbg.networks.transformer import linears
from helpers import tiny_models
from models.test_adapters import IDS, LAYERS, TASKS, write_folder, write_tasks

ADAPTED = {"layers.0.qkv", "layers.1.output"}


def states(model):
    return model.forward(IDS).last_hidden_state


def write_base(path):
    """A model with two folders, of which one has an adapter for its table of tokens, too."""
    own = tiny_models.write_tiny(path / "model", "qwen3")
    write_folder(own / "layers", LAYERS[:2])
    write_folder(own / "all", LAYERS, rank=2)
    return own


EXACT = [
    ("float32", {}),
    ("bfloat16", {}),
    ("int8", {"smooth": False}),
]


@pytest.mark.parametrize(("dtype", "options"), EXACT)
def test_an_adapter_gives_the_bits_of_a_model_loaded_with_it(tmp_path, dtype, options, isa):
    own = write_base(tmp_path)
    model = fbg.load(own, dtype, adapters={"one": own / "layers", "two": "all"}, **options)
    assert model.adapters == ("one", "two")
    np.testing.assert_array_equal(states(model), states(fbg.load(own, dtype, **options)))
    for name, folder in (("one", "layers"), ("two", "all")):
        wanted = states(fbg.load(own, dtype, adapter=folder, **options))
        np.testing.assert_array_equal(states(model.with_adapter(name)), wanted)
        assert (states(model) != wanted).any()
    assert model.with_adapter("one") is model.with_adapter("one")


def test_tasks_of_a_checkpoint_are_kept_by_their_names(tmp_path):
    own, _ = write_tasks(tmp_path)
    model = fbg.load(own, adapters=TASKS)
    assert list(model.adapters) == TASKS
    for task in TASKS:
        wanted = states(fbg.load(own, adapter=task))
        np.testing.assert_array_equal(states(model.with_adapter(task)), wanted)


@pytest.mark.parametrize("dtype", ["float32", "int8", "int4"])
def test_weights_without_an_adapter_are_shared(tmp_path, dtype):
    own = write_base(tmp_path)
    model = fbg.load(own, dtype, adapters=["layers"])
    other = model.with_adapter("layers")
    assert other.network.embeddings.word is model.network.embeddings.word
    base, changed = linears(model.network), linears(other.network)
    assert {name for name in base if base[name] is not changed[name]} == ADAPTED


@pytest.mark.parametrize("dtype", ["int8", "int4", "int4_offset"])
def test_smoothed_layers_with_adapters_are_as_accurate_as_merged_ones(tmp_path, dtype):
    own, _ = write_tasks(tmp_path)
    model = fbg.load(own, dtype, adapters=TASKS)
    errors = []
    for task in TASKS:
        exact = states(fbg.load(own, adapter=task))
        merged = states(fbg.load(own, dtype, adapter=task))
        beside = states(model.with_adapter(task))
        errors.append([np.sqrt(((got - exact) ** 2).mean()) for got in (merged, beside)])
    alone, together = np.mean(errors, axis=0)
    assert together < 1.5 * alone


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_a_model_with_an_adapter_is_pickled_saved_and_cut(tmp_path, dtype):
    own = write_base(tmp_path)
    model = fbg.load(own, dtype, adapters={"mine": own / "all"})
    one = model.with_adapter("mine")
    one.save(tmp_path / "saved")
    found = [
        fbg.load(tmp_path / "saved"),
        pickle.loads(pickle.dumps(one)),
        pickle.loads(pickle.dumps(model)).with_adapter("mine"),
        model.with_max_length(25).with_adapter("mine"),
        pickle.loads(pickle.dumps(one.with_max_length(25))),
    ]
    for other in found:
        np.testing.assert_array_equal(states(other), states(one))
    assert [other.max_length for other in found[3:]] == [25, 25]
    assert fbg.load(tmp_path / "saved").adapters == ()


def test_calls_of_an_async_model_choose_their_adapters(tmp_path):
    own = write_base(tmp_path)
    model = fbg.load(own, adapters=["layers", "all"])
    texts = ["a", "the dog"]
    wanted = [model.encode(texts)]
    wanted += [model.with_adapter(name).encode(texts) for name in ("layers", "all")]

    async def encode():
        async with fbg.AsyncModel(model) as runs:
            each = [runs, runs.with_adapter("layers"), runs.with_adapter("all")]
            found = await asyncio.gather(*(one.encode(texts) for one in each))
        for one in each:
            with pytest.raises(ClosedError):
                await one.encode(texts)
        return found

    for got, rows in zip(asyncio.run(encode()), wanted, strict=True):
        np.testing.assert_array_equal(got, rows)


def test_wrong_adapters_are_named(tmp_path):
    own = write_base(tmp_path)
    model = fbg.load(own, adapters=["layers"])
    with pytest.raises(ValueError, match="with_adapter: name must be 'layers', got 'all'"):
        model.with_adapter("all")
    with pytest.raises(ValueError, match=r"name must be one that fbg\.load has got as adapters"):
        model.with_adapter("layers").with_adapter("layers")
    for wrong in ("layers", {"a": 3}, [own], 3):
        with pytest.raises(TypeError, match="load: adapters must be names, or paths by names"):
            fbg.load(own, adapters=wrong)
    with pytest.raises(ValueError, match=r"adapter must be one of all, layers, .* got 'none'"):
        fbg.load(own, adapters=["none"])
    with pytest.raises(ValueError, match="load: adapter must be None: adapters are kept beside"):
        fbg.load(own, adapter="all", adapters=["layers"])
    model.save(tmp_path / "saved")
    with pytest.raises(ValueError, match=r"load: adapter must be None: .* is a saved model"):
        fbg.load(tmp_path / "saved", adapters=["layers"])
    with pytest.raises(ValueError, match="load: adapter cannot be used with ONNX files"):
        fbg.load(tmp_path / "net.onnx", adapters=["layers"])
