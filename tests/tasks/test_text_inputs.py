"""What texts may come in: any iterable, NumPy and Arrow arrays; not what only looks like texts."""

import numpy as np
import pytest

import fbg
from helpers import tiny_bert

TEXTS = ["a", "the quick brown fox", ""]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return fbg.load(tiny_bert.write_checkpoint(tmp_path_factory.mktemp("model"), seed=3))


class Series:
    """Like a column of pandas or polars: iterates over its values, and has no columns."""

    def __init__(self, values):
        self._values = values

    def __iter__(self):
        return iter(self._values)

    def __len__(self):
        return len(self._values)

    def __array__(self, dtype=None, copy=None):
        return np.array(self._values, object)


class DataFrame:
    """Like a table of pandas: iterates over the names of its columns."""

    columns = ("text", "label")

    def __iter__(self):
        return iter(self.columns)


class Dataset(DataFrame):
    """Like one of the library datasets, or a table of Arrow."""

    column_names = DataFrame.columns
    columns = None


def arrow(chunks):
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.array(TEXTS) if chunks == 1 else pyarrow.chunked_array([TEXTS[:1], TEXTS[1:]])


CONTAINERS = {
    "tuple": lambda: tuple(TEXTS),
    "generator": lambda: (text for text in TEXTS),
    "keys of a dict": lambda: dict.fromkeys(TEXTS).keys(),
    "array of str": lambda: np.array(TEXTS),
    "array of objects": lambda: np.array(TEXTS, object),
    "series": lambda: Series(TEXTS),
    "arrow array": lambda: arrow(1),
    "chunked arrow array": lambda: arrow(2),
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_texts_come_in_any_container(model, container):
    make, wanted = CONTAINERS[container], model.encode(TEXTS)
    assert np.array_equal(model.encode(make()), wanted)
    assert np.array_equal(np.stack(list(model.encode_stream(make()))), wanted)
    assert np.array_equal(np.concatenate(list(model.encoder().blocks(make()))), wanted)
    assert model.token_counts(make()) == model.token_counts(TEXTS)


def test_tasks_take_the_same_containers(load):
    texts = ["a", "b c"]
    pyarrow = pytest.importorskip("pyarrow")
    ner, pairs = load("bert-ForTokenClassification"), load("pairs")
    assert ner.ner(pyarrow.array(texts)) == ner.ner(Series(texts)) == ner.ner(texts)
    rows = [["a", "b c"], ["d", "e"]]
    wanted = pairs.predict(rows)
    assert np.array_equal(pairs.predict(pyarrow.array(rows)), wanted)
    assert np.array_equal(pairs.predict(Series(rows)), wanted)
    assert pairs.rerank("a", pyarrow.array(texts)) == pairs.rerank("a", texts)


def table():
    return pytest.importorskip("pyarrow").table({"text": TEXTS})


REFUSED = {
    "dict": (lambda: {"text": TEXTS}, "got dict: pass one of its values"),
    "data frame": (DataFrame, "got DataFrame: pass one of its columns"),
    "dataset": (Dataset, "got Dataset: pass one of its columns"),
    "arrow table": (table, "got Table: pass one of its columns"),
    "bytes": (lambda: b"text", "got bytes"),
    "array without axes": (lambda: np.array("text"), r"got an array of shape \(\)"),
    "int": (lambda: 3, "got int"),
}


@pytest.mark.parametrize("container", REFUSED)
def test_what_only_looks_like_texts_is_refused(model, container):
    make, message = REFUSED[container]
    for function in (model.encode, model.encode_stream, model.encoder().blocks):
        name = "encode_stream" if function == model.encode_stream else "encode"
        with pytest.raises(TypeError, match=f"^{name}: sentences must be .*{message}"):
            function(make())


def test_a_missing_value_is_named(model):
    pyarrow = pytest.importorskip("pyarrow")
    with pytest.raises(TypeError, match=r"sentences\[1\] must be a str, got NoneType"):
        model.encode(pyarrow.array(["a", None]))
    with pytest.raises(TypeError, match=r"sentences\[1\] must be a str, got float"):
        model.encode(Series(["a", float("nan")]))
    with pytest.raises(TypeError, match=r"sentences\[0\] must be a str, got ndarray"):
        model.encode(np.array([TEXTS]))
