"""A model goes to other processes by the arguments that it was loaded with."""

import copy
import multiprocessing
import os
import pickle
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import fbg
from helpers import tiny_bert

TEXTS = ["a", "the quick brown fox", "", "one two three four"]


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tiny_bert.write_checkpoint(tmp_path_factory.mktemp("model"), seed=3, spread=0.25)


def embed(model, texts):
    return model.encode(texts)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"dtype": "int8"},
        {"dtype": "int8", "smooth": False, "num_threads": 1},
        {"dtype": "int8", "calibrate": TEXTS},
    ],
    ids=str,
)
def test_a_pickled_model_gives_the_same_bits(directory, options):
    model = fbg.load(directory, **options)
    again = pickle.loads(pickle.dumps(model))
    assert again.dtype == model.dtype
    assert repr(again).startswith("<fbg.Model")
    assert np.array_equal(again.encode(TEXTS), model.encode(TEXTS))
    assert again.num_threads == model.num_threads


def test_higher_precision_is_kept_as_it_was_given(directory):
    """A generator can be read only once, and a list can change."""
    patterns = ["layers.0.*"]
    for given in ((pattern for pattern in patterns), patterns, {"layers.0.*": "bfloat16"}):
        model = fbg.load(directory, dtype="int8", higher_precision=given)
        patterns.append("no layer")
        again = pickle.loads(pickle.dumps(model))
        assert np.array_equal(again.encode(TEXTS), model.encode(TEXTS))
        del patterns[1:]


def test_a_saved_model_and_a_relative_path(directory, tmp_path):
    fbg.load(directory, dtype="int8").save(tmp_path / "saved")
    before = Path.cwd()
    os.chdir(tmp_path)
    try:
        model = fbg.load("saved")
    finally:
        os.chdir(before)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).encode(TEXTS), model.encode(TEXTS))


def test_a_pickle_holds_no_weights(directory):
    assert len(pickle.dumps(fbg.load(directory))) < 1000


def test_a_model_whose_directory_is_gone_says_so(tmp_path):
    path = tiny_bert.write_checkpoint(tmp_path / "model")
    data = pickle.dumps(fbg.load(path))
    path.rename(tmp_path / "moved")
    with pytest.raises(fbg.ModelError, match="model: no such directory"):
        pickle.loads(data)


def test_a_model_of_the_hub_is_kept_by_its_id(directory, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "fbg.model.directory._hub_snapshot",
        lambda name, local, **place: asked.append(name) or directory,
    )
    data = pickle.dumps(fbg.load("someone/some-model"))
    assert str(directory).encode() not in data
    assert pickle.loads(data).name == "someone/some-model"
    assert asked == ["someone/some-model"] * 2


def test_copies_share_the_model(directory):
    model = fbg.load(directory)
    assert copy.copy(model) is model
    assert copy.deepcopy([model])[0] is model


@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes_give_the_same_bits(directory, method, monkeypatch):
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "false")  # said by tokenizers, when forked
    model = fbg.load(directory, dtype="int8", num_threads=1)
    wanted = model.encode(TEXTS)
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(1, context) as pool:
        assert np.array_equal(pool.submit(embed, model, TEXTS).result(), wanted)


def test_joblib_takes_models(directory):
    joblib = pytest.importorskip("joblib")
    model = fbg.load(directory, num_threads=1)
    parts = joblib.Parallel(n_jobs=1)(joblib.delayed(embed)(model, [text]) for text in TEXTS)
    assert np.array_equal(np.concatenate(parts), model.encode(TEXTS))
