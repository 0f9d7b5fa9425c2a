"""fbg.tune for convolutions: what is measured and kept, where it is used, and that bits stay."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import fbg
from fbg.tuning import file as tuning_file
from fbg.tuning import trials
from fbg.tuning.store import Blocking, Measured, Store, conv_label, product_key, store

# Dense, depthwise, groupwise, pointwise, one row, one pixel.
GEOMETRIES = [
    ((1, 9, 8, 32), (64, 32, 3, 3), {"padding": 1}),
    ((2, 9, 8, 32), (32, 1, 3, 3), {"padding": 1, "groups": 32}),
    ((1, 9, 8, 64), (64, 8, 3, 3), {"padding": 1, "groups": 8, "stride": 2}),
    ((1, 7, 8, 32), (48, 32, 1, 1), {}),
    ((1, 9, 8, 24), (40, 24, 1, 7), {"padding": (0, 3)}),
    ((1, 1, 1, 24), (40, 24, 1, 1), {}),
]

pytestmark = pytest.mark.usefixtures("tuning_cache")


def operands(number, dtype):
    """Return x, the weights, a pipeline, and how x is quantized."""
    x_shape, w_shape, geometry = GEOMETRIES[number]
    rng = np.random.default_rng(number)
    w = rng.standard_normal(w_shape, np.float32)
    wc = fbg.PackedConv(w, dtype=dtype, **geometry)
    bias = fbg.Bias(rng.standard_normal(w_shape[0], np.float32))
    if dtype == "int8":
        x = rng.integers(0, 256, x_shape, np.uint8)
        return x, wc, fbg.Dequantize() >> bias, {"scale": 0.1, "zero_point": 3}
    return rng.standard_normal(x_shape, np.float32), wc, bias >> fbg.ReLU(), {}


def prepared(number, dtype, **options):
    x, wc, pipeline, quant = operands(number, dtype)
    options.setdefault("shape", x.shape)
    return fbg.prepare(wc, pipeline, x_dtype=x.dtype, **quant, **options), x


@pytest.mark.parametrize("dtype", ["int8", "float32", "bfloat16"])
@pytest.mark.parametrize("number", range(len(GEOMETRIES)))
def test_algorithms_that_count_as_equal_give_the_same_bits(isa, number, dtype):
    call, x = prepared(number, dtype)
    wanted = call(x)
    trial = call.trial()
    assert trial.algorithms[0][0] == call.algorithm
    for name, _, same in trial.algorithms:
        if same:
            other, _ = prepared(number, dtype, algorithm=name)
            assert np.array_equal(other(x), wanted), name


@pytest.mark.parametrize("dtype", ["int8", "float32"])
@pytest.mark.parametrize("number", range(len(GEOMETRIES)))
def test_no_entry_of_the_file_changes_a_bit(number, dtype):
    call, x = prepared(number, dtype)
    wanted, key = call(x), call.trial().key
    same = {name for name, _, alike in call.trial().algorithms if alike}
    direct = {
        "taps": "implicit_gemm",
        "lanewise": "channel_vectorized",
        "sliding": "sliding_window",
    }
    names = {name: name for name in ("im2col", "pointwise", "winograd2", "nonsense")}
    # Files of former versions have the former names.
    for stored, name in (names | {name: name for name in direct.values()} | direct).items():
        store.add({key: Measured(stored, 1e-6, 2e-6)})
        again, _ = prepared(number, dtype)
        assert np.array_equal(again(x), wanted), name
        assert again.algorithm == (name if name in same else call.algorithm)
        x_again, wc, pipeline, quant = operands(number, dtype)
        assert np.array_equal(fbg.conv(x_again, wc, pipeline, **quant), wanted), name


def test_a_measured_algorithm_is_used_by_conv_at_once_and_in_later_processes(tuning_cache):
    x, wc, pipeline, _ = operands(0, "bfloat16")
    wanted = fbg.conv(x, wc, pipeline)
    call = fbg.prepare(wc, pipeline, shape=x.shape)
    default = call.algorithm
    other_image = fbg.prepare(wc, pipeline, shape=(1, 10, 8, 32)).algorithm
    other = next(n for n, _, same in call.trial().algorithms if same and n != default)
    store.add({call.trial().key: Measured(other, 1e-6, 2e-6)})
    for _ in range(2):
        assert fbg.prepare(wc, pipeline, shape=x.shape).algorithm == other
        assert np.array_equal(fbg.conv(x, wc, pipeline), wanted)
        store.forget()  # as a new process
    assert fbg.prepare(wc, pipeline, shape=x.shape, algorithm=default).algorithm == default
    after = fbg.prepare(wc, pipeline, shape=(1, 10, 8, 32)).algorithm
    assert after == other_image, "measured for another image"


def test_choices_depend_neither_on_the_batch_nor_on_threads():
    x, wc, pipeline, _ = operands(0, "int8")
    quant = {"x_dtype": np.uint8, "scale": 0.1}
    call = fbg.prepare(wc, pipeline, shape=x.shape, **quant)
    store.add({call.trial().key: Measured("im2col", 1e-6, 2e-6)})
    for batch, threads in ((1, 1), (3, 2)):
        shape = (batch, *x.shape[1:])
        other = fbg.prepare(wc, pipeline, shape=shape, num_threads=threads, **quant)
        assert other.algorithm == "im2col"


def test_each_convolution_is_measured_once(tuning_cache):
    call, x = prepared(0, "int8")
    wanted = call(x)
    assert not tuning_cache.exists(), "preparing wrote"
    report = fbg.tune(call, show_progress_bar=False)
    assert report.profilings == 1
    assert fbg.tune(call, show_progress_bar=False).profilings == 0
    assert fbg.tune(call, show_progress_bar=False, force=True).profilings == 1
    (result,) = report.results
    assert next(iter(result.seconds)) == call.algorithm
    assert result.winner in result.seconds
    assert result.gain >= 1
    assert "int8 1x9x8 3x3 32->64 pad 1" in str(report)
    assert "1 convolutions measured" in str(report)
    again, _ = prepared(0, "int8")
    assert np.array_equal(again(x), wanted)
    (entries,) = json.loads(tuning_cache.read_text())["machines"].values()
    assert list(entries) == [call.trial().key]


def test_what_was_measured_is_kept_if_the_rest_is_not(tuning_cache, monkeypatch):
    first, second = (prepared(number, "int8")[0].trial() for number in (0, 1))
    race = trials.ConvTrial.race

    def interrupted(trial, names):
        if trial.key == second.key:
            raise KeyboardInterrupt
        return race(trial, names)

    monkeypatch.setattr(trials.ConvTrial, "race", interrupted)
    with pytest.raises(KeyboardInterrupt):
        trials.measure([first, second], lambda _: None, force=False)
    store.forget()  # as a new process
    assert list(store.known()) == [first.key]


def test_the_fastest_of_the_same_bits_wins(monkeypatch):
    call, _ = prepared(0, "float32")
    trial = call.trial()
    default = trial.algorithms[0][0]
    assert default.startswith("winograd")
    times = {name: 2e-6 for name, _, _ in trial.algorithms} | {"implicit_gemm": 1e-6}
    monkeypatch.setattr(trials.ConvTrial, "race", lambda _, names: {n: times[n] for n in names})
    report = fbg.tune(call, show_progress_bar=False)
    result = report.results[0]
    assert (result.winner, result.faster) == (default, "implicit_gemm")
    assert "implicit_gemm: 1.0 us, other rounding" in str(report)

    direct, _ = prepared(0, "bfloat16")
    monkeypatch.setattr(trials, "HOPELESS", 1e9)
    algorithms = direct.trial().algorithms
    other = next(n for n, _, same in algorithms if same and n != direct.algorithm)
    times = {name: 2e-6 for name, _, _ in algorithms} | {other: 1e-6}
    result = fbg.tune(direct, show_progress_bar=False).results[0]
    assert (result.winner, result.faster, result.gain) == (other, "", 2)
    again, _ = prepared(0, "bfloat16")
    assert again.algorithm == other


def test_convolutions_with_a_residual_are_tuned():
    x, wc, _, _ = operands(0, "float32")
    residual = np.ones((1, 9, 8, 64), np.float32)
    call = fbg.prepare(wc, fbg.Add(residual.reshape(-1, 64)), shape=x.shape)
    assert fbg.tune(call, show_progress_bar=False).profilings == 1


@pytest.mark.parametrize(
    "changes",
    [{"algorithm": 3}, {"algorithm": "../x"}, {"seconds": 0.0}, {"default": float("nan")}],
)
def test_damaged_entries_are_ignored_with_a_warning(tuning_cache, changes):
    call, x = prepared(0, "bfloat16")
    wanted, key = call(x), call.trial().key
    entry = {"algorithm": "im2col", "seconds": 1e-6, "default": 2e-6, **changes}
    content = {"format": 1, "machines": {tuning_file._machine(): {key: entry}}}
    tuning_cache.parent.mkdir()
    tuning_cache.write_text(json.dumps(content))
    store.forget()
    with pytest.warns(RuntimeWarning, match="ignored: not a measurement"):
        again, _ = prepared(0, "bfloat16")
    assert again.algorithm == call.algorithm
    assert np.array_equal(again(x), wanted)


def test_products_and_convolutions_share_the_file(tuning_cache):
    key, measured = product_key("avx2", 1, ("int8", 4, 4), 8), Measured(Blocking(), 1.0, 1.0)
    Store().add({key: measured})  # as another process
    call, _ = prepared(0, "int8")
    fbg.tune(call, show_progress_bar=False)
    store.forget()
    assert list(store.known()) == [key, call.trial().key]
    assert store.known()[key] == measured


def test_a_key_names_what_is_convolved(isa):
    call, _ = prepared(2, "int8")
    key = call.trial().key
    assert key.startswith(f"conv {isa} ConvInt8 native 1x9x8 ")
    assert conv_label(key) == "int8 1x9x8 3x3 64->64 groups 8 stride 2x2 pad 1"
    assert re.search(r" \d+-\d+,\d+-\d+ ", key), "kinds of stages"


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"model": 3}, TypeError, "a prepared convolution, got int"),
        ({"tokens": (8,)}, TypeError, "tokens requires a model of texts"),
    ],
)
def test_bad_arguments(arguments, error, message):
    call, _ = prepared(0, "int8")
    with pytest.raises(error, match=message):
        fbg.tune(**{"model": call, **arguments})


@pytest.mark.parametrize("dtype", ["int8", "float32", "bfloat16"])
@pytest.mark.parametrize("number", range(len(GEOMETRIES)))
def test_the_batch_scales_all_costs_alike(isa, number, dtype):
    x, wc, _, _ = operands(number, dtype)
    once = dict(wc.algorithms((1, *x.shape[1:])))
    for name, cost in wc.algorithms((7, *x.shape[1:])):
        assert cost == pytest.approx(7 * once[name]), name


def test_short_lines_of_a_matrix_unit_are_not_left_to_vectors():
    """Lines of 7 and 8 pixels are too short for `implicit_gemm` to use AMX."""
    for inputs, size, kernel in ((512, 7, (3, 3)), (384, 8, (1, 3)), (960, 7, (1, 1))):
        w = np.ones((256, inputs, *kernel), np.int8)
        padding = tuple(k // 2 for k in kernel)
        wc = fbg.PackedConv(w, scale=1.0, padding=padding)
        (best, *_) = wc.algorithms((1, size, size, inputs))
        assert best.name != "implicit_gemm" or fbg.isa.active() != "avx512_amx"
