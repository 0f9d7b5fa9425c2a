"""pytorch_model.bin: read as torch.load(weights_only=True) would, without torch, and nothing that
a file says is believed before it is checked.
"""

import pickle
import struct
import zipfile
from pathlib import Path
from random import Random

import ml_dtypes
import numpy as np
import pytest

import fbg
from fbg.checkpoints.torch_file import read_torch_file
from fuzz.mutations import change_bytes
from helpers import tiny_bert, tiny_tasks
from helpers.stored_weights import store_weights
from helpers.torch_files import (
    EMPTY,
    call,
    dictionary,
    integer,
    name,
    pickled,
    row,
    storage,
    tensor,
    text,
    write_archive,
    write_torch_file,
)

IDS = [[2, 17, 40, 8, 3], [2, 50, 3, 12, 9]]
REAL = Path(__file__).parents[1] / "data" / "torch_save.bin"  # scripts/make_torch_file.py
COUNT = np.arange(12, dtype=np.float32)
REAL_TENSORS = {
    "matrix": COUNT.reshape(3, 4) / 8,
    "parameter": np.array([0.5, -2], np.float32),
    "transposed": COUNT.reshape(3, 4).T,
    "middle": COUNT[3:7],
    "every_third": COUNT[1::3],
    "half": np.array([1, -0.25], np.float16),
    "bfloat": np.array([3, -0.5, 1024], ml_dtypes.bfloat16),
    "double": np.array([0.1]),
    "position_ids": np.arange(5)[None],
    "short": np.array([-3], np.int16),
    "flags": np.array([True, False]),
    "nothing": np.empty((0, 4), np.float32),
    "one": np.array(7, np.float32),
    "tied": COUNT.reshape(3, 4) / 8,
}
W = "embeddings.word_embeddings.weight"


def write(path, **options):
    return tiny_bert.write_checkpoint(path, seed=4, spread=0.25, **options)


def hidden(path, **options):
    return fbg.load(path, **options).forward(IDS).last_hidden_state


def test_a_file_that_torch_wrote_is_read_exactly():
    tensors = read_torch_file(REAL)
    assert tensors.keys() == REAL_TENSORS.keys()
    for key, expected in REAL_TENSORS.items():
        got = tensors[key].view()
        assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
        np.testing.assert_array_equal(got, expected)
        assert not got.flags.writeable


def test_tensors_are_mapped_and_not_copied():
    tensors = read_torch_file(REAL)
    assert np.shares_memory(tensors["matrix"].view(), tensors["tied"].view())
    assert np.shares_memory(tensors["middle"].view(), tensors["transposed"].view())


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("shards", [None, 3])
def test_a_pickled_checkpoint_is_the_same_model(tmp_path, dtype, shards):
    expected = hidden(write(tmp_path / "a", dtype=dtype))
    got = write(tmp_path / "b", dtype=dtype, prefix="bert.")
    store_weights(got, torch=True, shards=shards, parameters=True)
    np.testing.assert_array_equal(hidden(got), expected)


def test_int8_does_not_depend_on_the_format(tmp_path):
    expected = hidden(write(tmp_path / "a"), dtype="int8")
    got = store_weights(write(tmp_path / "b"), torch=True)
    np.testing.assert_array_equal(hidden(got, dtype="int8"), expected)


def test_transposed_tensors_are_read_by_their_strides(tmp_path):
    tensors = {key: np.asfortranarray(t) for key, t in REAL_TENSORS.items() if t.itemsize > 2}
    for key, t in read_torch_file(write_torch_file(tmp_path / "x.bin", tensors)).items():
        np.testing.assert_array_equal(t.view(), tensors[key])


@pytest.mark.parametrize("kind", sorted(tiny_tasks.KINDS))
def test_heads_are_read_from_pickled_checkpoints(tmp_path, kind):
    exact = fbg.load(tiny_tasks.write_model(tmp_path / "a", f"bert-{kind}"))
    path = store_weights(tiny_tasks.write_model(tmp_path / "b", f"bert-{kind}"), torch=True)
    model, texts = fbg.load(path), tiny_tasks.TEXTS
    if kind == "ForSequenceClassification":
        assert model.classify(texts) == exact.classify(texts)
    elif kind == "ForTokenClassification":
        assert model.ner(texts) == exact.ner(texts)
    elif kind == "ForQuestionAnswering":
        asked = tiny_tasks.QUESTIONS[0], tiny_tasks.CONTEXTS[0]
        assert model.answer(*asked) == exact.answer(*asked)
    else:
        masked = tiny_tasks.masked("bert")[0]
        assert model.fill_mask(masked) == exact.fill_mask(masked)


def test_safetensors_are_preferred(tmp_path):
    path = write(tmp_path / "a")
    expected = hidden(path)
    (path / "pytorch_model.bin").write_bytes(b"")
    np.testing.assert_array_equal(hidden(path), expected)


def test_a_saved_model_of_a_pickled_one_is_the_same(tmp_path):
    path = store_weights(write(tmp_path / "a"), torch=True)
    fbg.load(path, dtype="int8").save(tmp_path / "b")
    np.testing.assert_array_equal(hidden(tmp_path / "b"), hidden(path, dtype="int8"))


# --- What is refused --------------------------------------------------------------------------

VALID = {"data/0": bytes(24), "byteorder": b"little"}
SIX = storage("FloatStorage", "0", 6)


def content(value, **records):
    """An archive whose only tensor is `w`."""
    items = {"w": value}
    return {"data.pkl": pickled(dictionary(items)), **VALID, **records}


PICKLES = {
    "function": (call(name("posix", "system"), text("touch pwned")), "refers to posix.system"),
    "builtin": (call(name("builtins", "eval"), text("1/0")), "refers to builtins.eval"),
    "getattr": (name("torch._utils", "_rebuild_tensor_v2.__globals__"), "refers to torch._utils"),
    "class": (name("torch.nn.modules.linear", "Linear"), "refers to torch.nn.modules.linear.Lin"),
    "call of a text": (text("x") + row() + b"R", "calls an object that is not a function"),
    "call of a storage": (
        name("torch", "FloatStorage") + row() + b"R",
        "calls an object that is not",
    ),
    "too few arguments": (call(name("torch._utils", "_rebuild_tensor_v2"), SIX), "damaged pickle"),
    "another protocol": (b"\x80\x04", "protocol must be 2"),
    "bytes": (b"C\x01x", "opcode b'C'"),
    "a frame": (b"\x95" + struct.pack("<Q", 1 << 60), "opcode b'\\\\x95'"),
    "a memo that is empty": (b"h\x63", "damaged pickle"),
    "a stack that is empty": (b"R" * 5, "damaged pickle"),
    "no mark": (b"t", "damaged pickle"),
    "a long text": (b"X\xff\xff\xff\xff", "truncated pickle"),
    "text that is none": (b"X\x01\x00\x00\x00\xff", "utf-8"),
    "a line without an end": (b"cfbg", "truncated|damaged|refers"),
    "a key that is a tuple": (b"}" + row() + b"Ns", "a key in the pickle must be text"),
    "items of a tuple": (row() + text("a") + b"Ns", "is not a dictionary"),
    "attributes of a tensor": (tensor(SIX, 0, (6,), (1,)) + EMPTY + b"b", "sets attributes"),
    "a storage that is a list": (b"]Q", "storage is not described"),
    "a storage of a class": (
        row(text("storage"), EMPTY, text("0"), text(""), b"K\x06") + b"Q",
        "st",
    ),
    "a storage beyond any": (storage("FloatStorage", "0", 1 << 50), "storage is not described"),
    "a storage below 0": (storage("FloatStorage", "0", -1), "storage is not described"),
}
TENSORS = {
    "no storage": (tensor(b"N", 0, (6,), (1,)), "it has no storage"),
    "another record": (tensor(storage("FloatStorage", "9", 6), 0, (6,), (1,)), "data/9 is missing"),
    "a path": (tensor(storage("FloatStorage", "../x", 6), 0, (6,), (1,)), "missing"),
    "too few bytes": (tensor(storage("FloatStorage", "0", 7), 0, (6,), (1,)), "has 24 bytes"),
    "too many bytes": (tensor(storage("FloatStorage", "0", 5), 0, (5,), (1,)), "has 24 bytes"),
    "another type": (tensor(storage("HalfStorage", "0", 6), 0, (6,), (1,)), "has 24 bytes"),
    "too large": (tensor(SIX, 0, (7,), (1,)), "beyond its storage"),
    "too far": (tensor(SIX, 1, (6,), (1,)), "beyond its storage"),
    "a long stride": (tensor(SIX, 0, (2, 3), (4, 1)), "beyond its storage"),
    "an endless size": (tensor(SIX, 0, (1 << 40,), (0,)), "beyond its storage"),
    "a huge product": (tensor(SIX, 0, (1 << 40,) * 16, (1,) * 16), "beyond its storage"),
    "a negative stride": (tensor(SIX, 5, (6,), (-1,)), "integers of at least 0"),
    "a negative offset": (tensor(SIX, -1, (6,), (1,)), "integers of at least 0"),
    "a size that is large": (tensor(SIX, 0, (1 << 200,), (1,)), "integers of at least 0"),
    "more sizes": (tensor(SIX, 0, (2, 3), (1,)), "2 sizes, but 1 strides"),
    "many sizes": (tensor(SIX, 0, (1,) * 17, (1,) * 17), "integers of at least 0"),
}


@pytest.mark.parametrize("case", PICKLES)
def test_a_pickle_that_is_no_dictionary_of_tensors_is_refused(tmp_path, case, monkeypatch):
    monkeypatch.chdir(tmp_path)
    value, message = PICKLES[case]
    file = write_archive(tmp_path / "pytorch_model.bin", content(value))
    with pytest.raises(fbg.ModelError, match=rf"pytorch_model\.bin: not a readable.*{message}"):
        read_torch_file(file)
    assert [path.name for path in tmp_path.iterdir()] == [file.name]  # nothing was run


@pytest.mark.parametrize("case", TENSORS)
def test_a_tensor_that_its_storage_does_not_hold_is_named(tmp_path, case):
    value, message = TENSORS[case]
    file = write_archive(tmp_path / "pytorch_model.bin", content(value))
    with pytest.raises(fbg.ModelError, match=rf"pytorch_model\.bin: tensor w: .*{message}"):
        read_torch_file(file)


def test_what_pickle_itself_writes_of_an_object_is_not_run(tmp_path):
    class Evil:
        def __reduce__(self):
            return Path.touch, (tmp_path / "pwned",)

    data = pickle.dumps({"w": Evil()}, protocol=2)
    file = write_archive(tmp_path / "x.bin", {"data.pkl": data, **VALID})
    with pytest.raises(fbg.ModelError, match=r"x\.bin: .*refers to"):
        read_torch_file(file)
    assert not (tmp_path / "pwned").exists()


def test_values_that_are_no_tensors_are_left_out(tmp_path):
    items = {"step": integer(3), "name": text("x"), "sizes": row(integer(1 << 40)), "of": EMPTY}
    items["w"] = tensor(SIX, 0, (2, 3), (3, 1))
    file = write_archive(tmp_path / "x.bin", {"data.pkl": pickled(dictionary(items)), **VALID})
    assert list(read_torch_file(file)) == ["w"]


def test_nesting_without_end_costs_no_more_than_the_pickle(tmp_path):
    nested = b"]" + b"\x85" * 1_000_000  # a tuple of a tuple of …
    doubled = b")" + b"q\x00h\x00\x86" * 100  # 2^100 tuples, if anybody counted them
    for value in (nested, doubled):
        file = write_archive(tmp_path / "x.bin", content(value))
        assert read_torch_file(file) == {}


OTHER_ARCHIVES = {
    "no pickle": (VALID, "must hold one data.pkl"),
    "a big-endian file": (content(EMPTY, byteorder=b"big"), "byte order must be little"),
    "a huge pickle": ({"data.pkl": bytes(1 << 24), **VALID}, "has 16777216 bytes"),
    "a list": ({"data.pkl": pickled(b"]"), **VALID}, "does not hold a dictionary"),
    "nothing": ({"data.pkl": b"", **VALID}, "truncated"),
}


@pytest.mark.parametrize("case", OTHER_ARCHIVES)
def test_an_archive_that_is_no_checkpoint_is_refused(tmp_path, case):
    records, message = OTHER_ARCHIVES[case]
    file = write_archive(tmp_path / "pytorch_model.bin", records)
    with pytest.raises(fbg.ModelError, match=rf"pytorch_model\.bin: not a readable.*{message}"):
        read_torch_file(file)


def test_compressed_archives_are_refused(tmp_path):
    file = tmp_path / "x.bin"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for key, data in content(tensor(SIX, 0, (6,), (1,))).items():
            archive.writestr(f"x/{key}", data)
    with pytest.raises(fbg.ModelError, match=r"record \w.* is compressed"):
        read_torch_file(file)


LEGACY = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03."  # torch 1.5


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (LEGACY, "the format from before torch 1.6; torch.save.* converts it"),
        (b"", "empty"),
        (b"\x00" * 100, "not a zip file"),
        (b"PK\x05\x06" + bytes(18), "must hold one data.pkl"),
    ],
)
def test_other_files_are_refused(tmp_path, data, message):
    path = store_weights(write(tmp_path / "model"), torch=True)
    (path / "pytorch_model.bin").write_bytes(data)
    with pytest.raises(fbg.ModelError, match=rf"pytorch_model\.bin: .*{message}"):
        fbg.load(path)


# --- Mutations --------------------------------------------------------------------------------


@pytest.mark.parametrize("block", range(5))
def test_a_damaged_file_gives_an_error_or_the_right_tensors(tmp_path, block):
    data, rng = REAL.read_bytes(), Random(block)
    ranges = {key: (t.begin, t.begin + 64) for key, t in read_torch_file(REAL).items()}
    file = tmp_path / "x.bin"
    good = 0
    for _ in range(100):
        damaged = change_bytes(data, rng)
        positions = {
            n for n, pair in enumerate(zip(data, damaged, strict=False)) if len(set(pair)) > 1
        }
        if len(damaged) != len(data):
            positions = set()  # what is accepted then lies where it lay
        file.write_bytes(damaged)
        try:
            tensors = read_torch_file(file)
        except fbg.ModelError as error:
            assert str(file) in str(error)
            continue
        good += 1
        assert tensors.keys() == REAL_TENSORS.keys()
        for key, t in tensors.items():
            view, (begin, end) = t.view(), ranges[key]
            assert (view.dtype, view.shape) == (REAL_TENSORS[key].dtype, REAL_TENSORS[key].shape)
            if not any(begin <= position < end for position in positions):
                np.testing.assert_array_equal(view, REAL_TENSORS[key])
    assert 0 < good < 100
