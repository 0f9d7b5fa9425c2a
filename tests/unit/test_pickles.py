"""What can be pickled and copied: here and in other processes, the results are the same bits."""

from __future__ import annotations

import copy
import inspect
import pickle
from pathlib import Path
from random import Random

import numpy as np
import pytest
from onnx import helper

import fbg
from differential.pipelines import draw_steps
from fbg.importers.net import Net
from helpers.fresh_python import run_python
from helpers.minilm import minilm_directory
from helpers.onnx_models import make_net
from helpers.pickled import M, N, result, uses

TESTS = Path(__file__).parents[1]
USES = uses()

# Stages of the pipelines that tests/differential copies and pickles.
DRAWN = {
    type(step.stage)
    for n in range(200)
    for step in draw_steps(Random(n), np.random.default_rng(n), (2, 3), n % 2 == 0, True)
}
# Other classes whose pickles other tests load.
ELSEWHERE = {
    fbg.Model, fbg.ModelError, fbg.ModelOutput, fbg.CrossEncoder, fbg.SentenceTransformer,
    fbg.PackedB, fbg.PackedConv, fbg.Pipeline, fbg.PackA, fbg.PackAWithRowOffset,
    fbg.PackAWithQuantRowOffset, fbg.PackAWithIm2Col, fbg.RowRange,
    fbg.SparseEmbeddings, fbg.EncodeOptions, fbg.Kernel, fbg.TuneReport,
    fbg.EmbeddingBag, fbg.EmbeddingTables,
}  # fmt: skip
REFUSED = {fbg.AsyncModel}


def test_every_public_class_has_been_thought_of():
    classes = {c for name in fbg.__all__ if inspect.isclass(c := getattr(fbg, name))}
    assert classes <= {type(call) for call, _ in USES.values()} | DRAWN | ELSEWHERE | REFUSED


@pytest.mark.parametrize("name", USES)
def test_a_pickle_gives_the_same_bits(name):
    use = USES[name]
    wanted = result(use).tobytes()
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        loaded = pickle.loads(pickle.dumps(use, protocol))
        assert result(loaded).tobytes() == wanted
        assert repr(loaded[0]) == repr(use[0])


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
@pytest.mark.parametrize("name", USES)
def test_a_copy_gives_the_same_bits(name, copied):
    call, x = USES[name]
    other = copied(call)
    assert result((other, x)).tobytes() == result((call, x)).tobytes() and other is not call


@pytest.mark.parametrize("name", fbg.isa.supported())
def test_another_process_and_isa_give_the_bits_of_what_is_made_there(name, tmp_path):
    pickled, results = tmp_path / "uses", tmp_path / "results"
    pickled.write_bytes(pickle.dumps(USES))
    code = f"""
import pathlib, pickle, sys
sys.path.insert(0, {str(TESTS)!r})
import fbg
from helpers.pickled import result
assert fbg.isa.active() == {name!r}
uses = pickle.loads(pathlib.Path({str(pickled)!r}).read_bytes())
found = {{name: result(use).tobytes() for name, use in uses.items()}}
pathlib.Path({str(results)!r}).write_bytes(pickle.dumps(found))
"""
    ended = run_python(code, FBG_MAX_ISA=name)
    assert ended.returncode == 0, ended.stderr
    with fbg.isa.limit(name):
        wanted = {key: result(use).tobytes() for key, use in uses().items()}
    assert pickle.loads(results.read_bytes()) == wanted


def test_what_objects_share_they_share_afterwards():
    """One product writes the ranges that the next one reads."""
    w = fbg.PackedB(np.eye(N, dtype=np.float32))
    extents = np.zeros((M, 2), np.float32)
    first = fbg.prepare(w, fbg.Dequantize() >> fbg.RowRange(extents), rows=M)
    second = fbg.prepare(w, fbg.Dequantize(), rows=M, row_range=extents)
    x = np.random.default_rng(4).standard_normal((M, N), np.float32)
    wanted = second(first(x))
    for other in (pickle.loads(pickle.dumps((first, second))), copy.deepcopy((first, second))):
        extents[:] = np.nan
        assert other[1](other[0](x)).tobytes() == wanted.tobytes()
        assert np.isnan(extents).all()


def test_deep_copies_have_arrays_of_their_own():
    residual = np.zeros((M, N), np.float32)
    w = fbg.PackedB(np.eye(N, dtype=np.float32), dtype="float32")
    call = fbg.prepare(w, fbg.Add(residual), rows=M)
    shallow, deep = copy.copy(call), copy.deepcopy(call)
    residual[:] = 1
    x = np.zeros((M, N), np.float32)
    assert (shallow(x) == 1).all() and (deep(x) == 0).all()


def test_copies_of_convolutions_share_their_weights():
    wc = fbg.PackedConv(np.ones((8, 4, 3, 3), np.float32))
    for other in (copy.copy(wc), copy.deepcopy(wc)):
        assert other is not wc and other._native is wc._native
        x = np.ones((1, 4, 4, 4), np.float32)
        rows = fbg.gemm(fbg.PackAWithIm2Col(x, wc), other, fbg.Dequantize())
        assert rows.tobytes() == fbg.conv(x, other).tobytes()


@pytest.mark.parametrize(
    ("name", "value", "error", "text"),
    [
        ("groups", 3, ValueError, "groups"),
        ("stride", [0, 1], ValueError, "stride"),
        ("scale", np.full(8, np.nan, np.float32), ValueError, "scale must be finite"),
        ("zero_point", np.full(8, 300), ValueError, "zero_point must be within"),
        ("scale", np.ones(5, np.float32), ValueError, "scale must have shape"),
        ("w", np.ones((8, 4, 3), np.float64), TypeError, "w must be float32"),
    ],
)
def test_a_defective_state_of_a_convolution_is_refused(name, value, error, text):
    wc = fbg.PackedConv(np.ones((8, 4, 3, 3), np.int8), scale=1.0)
    call, (make, (w,), keywords) = wc.__reduce__()
    arguments = (value,) if name == "w" else (w,)
    changed = keywords if name == "w" else keywords | {name: value}
    with pytest.raises(error, match=text):
        call(make, arguments, changed)


def test_what_belongs_to_a_process_says_so():
    model = fbg.AsyncModel(fbg.load(minilm_directory()))
    net = make_net([helper.make_node("Relu", ["x"], ["y"])], {"x": np.ones(3, np.float32)}, ["y"])
    with pytest.raises(TypeError, match=r"AsyncModel .*pickle its model"):
        pickle.dumps(model)
    with pytest.raises(TypeError, match=r"Net .*Net\.save.*fbg\.load"):
        pickle.dumps(net)
    assert isinstance(net, Net) and copy.copy(net) is net and copy.deepcopy([net])[0] is net
    model.close()
