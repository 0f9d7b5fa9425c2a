"""compare, sensitivity, bench and profile: what the figures must satisfy, whatever the machine."""

import itertools
import json
import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

import fbg
from fbg import _fbg
from fbg.matmul.weights import WEIGHT_LIMITS
from fbg.model import quantize
from fbg.networks.transformer import linears
from fbg.reports.accuracy import cosines, nearest_texts
from fbg.reports.benchmark import bench
from fbg.reports.comparison import compare
from fbg.reports.inputs import sample_texts
from fbg.reports.measuring import table, time_in_turn
from fbg.reports.plots import plot_comparison, plot_stacks
from fbg.reports.profiling import profile
from fbg.reports.sensitivity import sensitivity
from fbg.reports.timed_network import TimedNetwork, visible_pairs
from fbg.runtime.engine import Runner, pack_sequences
from helpers import tiny_bert, tiny_models

TEXTS = ["a word, and another", "one more of them", "the third", "number 4", "", "five and six"]
PACK, SCORES, SOFTMAX, CONTEXT = range(4)


@pytest.fixture(scope="module")
def saved(directory, tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "model"
    fbg.load(directory, dtype="int8").save(path)
    return path


# --- compare ----------------------------------------------------------------------------------


def test_compare_measures_what_numpy_does(directory):
    report = compare(directory, TEXTS, ["int8"], rounds=1)
    exact, int8 = report.dtypes
    assert (exact.dtype, int8.dtype) == ("float32", "int8")
    assert report.texts == 5  # the empty one is left out
    texts = [text for text in TEXTS if text]
    y, x = (fbg.load(directory, dtype=d).encode(texts).astype(float) for d in ("float32", "int8"))
    cosine = (x * y).sum(axis=1) / np.linalg.norm(x, axis=1) / np.linalg.norm(y, axis=1)
    figures = [int8.mean, int8.minimum, int8.percentile_1, int8.percentile_5]
    expected = [cosine.mean(), cosine.min(), *np.percentile(cosine, [1, 5])]
    np.testing.assert_allclose(figures, expected, atol=1e-6)
    assert report.neighbours == 4
    assert int8.neighbours_kept == 1  # all the others are the nearest four
    assert int8.memory.packed_weights < exact.memory.packed_weights
    assert int8.tokens_per_second > 0
    assert report.tokens == sum(fbg.load(directory).token_counts(texts))


def test_weights_of_a_comparison_are_all_weights(tmp_path):
    large = tiny_bert.Geometry(48, 1, 3, 96, vocab_size=20_000)
    report = compare(tiny_bert.write_checkpoint(tmp_path, large), TEXTS, ["int8"], rounds=1)
    row = report.dtypes[-1]
    assert row.memory.weights > row.memory.packed_weights + 20_000 * (48 + 8)
    assert str(report).splitlines()[4].endswith(f"{row.memory.weights / 2**20:.1f} MiB")


def test_compare_of_float32_with_itself_is_exact(directory):
    (row,) = compare(directory, TEXTS, ["float32"], rounds=1).dtypes
    assert row.mean == pytest.approx(1, abs=1e-6)
    assert row.neighbours_kept == 1
    assert str(row.speedup) == "1.00"
    assert [layer.relative_error for layer in row.layers] == [0, 0, 0]


@pytest.mark.parametrize("name", sorted(tiny_models.CONFIGS))
def test_layer_errors_of_every_family(tmp_path, name):
    path = tiny_models.write_tiny(tmp_path / "model", name)
    report = compare(path, TEXTS, ["int8"], rounds=1)
    layers = report.dtypes[1].layers
    assert [row.layer for row in layers] == list(range(len(fbg.load(path).network.layers) + 1))
    assert all(0 < row.relative_error < 0.5 for row in layers[1:])
    assert all(0.9 < row.cosine <= 1 for row in layers)


def test_the_last_layer_is_the_last_hidden_state(directory):
    ids = fbg.load(directory).tokenizer(["a word, and another"])
    states = [
        fbg.load(directory, dtype=dtype).forward([ids[0].tolist()]).last_hidden_state[0]
        for dtype in ("float32", "int8")
    ]
    error = np.linalg.norm(states[1] - states[0]) / np.linalg.norm(states[0])
    report = compare(directory, ["a word, and another"] * 2, ["int8"], rounds=1)
    assert report.dtypes[1].layers[-1].relative_error == pytest.approx(error, rel=1e-5)


def test_zero_rows_count_as_equal_only_to_zero_rows():
    zero, one = np.zeros((1, 3), np.float32), np.ones((1, 3), np.float32)
    got = [cosines(*pair)[0] for pair in ((zero, zero), (zero, one), (one, one))]
    assert got == pytest.approx([1, 0, 1])


def test_the_nearest_text_is_never_the_text_itself():
    x = np.array([[1, 0], [0.9, 0.1], [0, 1]], np.float32)
    assert nearest_texts(x, 1).ravel().tolist() == [1, 0, 1]


def test_the_sample_is_of_many_different_sentences():
    texts = sample_texts()
    assert len(set(texts)) == len(texts) >= 100
    assert all(text[0].isupper() and text[-1] in ".?" for text in texts)


# --- sensitivity ------------------------------------------------------------------------------


def test_sensitivity_proposes_a_list_that_reaches_the_target(directory):
    seen = []
    loose = sensitivity(directory, TEXTS, target=0.5, progress=seen.append)
    names = list(linears(fbg.load(directory).network))
    assert seen == names
    assert sorted(row.layer for row in loose.layers) == sorted(names)
    losses = [row.loss for row in loose.layers]
    assert losses == sorted(losses, reverse=True)
    assert loose.proposed == ()
    assert "no layer needs" in str(loose)

    strict = sensitivity(directory, TEXTS, target=loose.int8_loss / 2)
    assert 0 < len(strict.proposed) < len(names)
    assert strict.proposed == tuple(row.layer for row in strict.layers)[: len(strict.proposed)]
    assert strict.proposed_loss <= strict.target
    # Loading it so gives just that loss.
    texts = [text for text in TEXTS if text]
    exact = fbg.load(directory).encode(texts)
    mixed = fbg.load(directory, dtype="int8", higher_precision=strict.proposed).encode(texts)
    assert 1 - cosines(mixed, exact).mean() == pytest.approx(strict.proposed_loss, abs=1e-12)


def test_a_target_out_of_reach_is_said_to_be(directory):
    report = sensitivity(directory, TEXTS, target=1e-12)
    assert len(report.proposed) == len(report.layers)
    assert "cannot reach the target" in str(report)


# --- bench ------------------------------------------------------------------------------------


def test_bench_has_a_row_for_every_case(directory):
    before = fbg.get_num_threads()
    report = bench(directory, [3, 5], batch=2, num_threads=[1, 2], dtypes=["int8"], rounds=3)
    assert fbg.get_num_threads() == before
    cases = [(row.threads, row.tokens) for row in report.latencies]
    assert cases == [(1, 3), (1, 5), (2, 3), (2, 5)]
    for row in report.latencies:
        assert 0 < row.percentile_10 <= row.median <= row.percentile_90
        assert row.tokens_per_second == pytest.approx(2 * row.tokens / row.median)


def test_bench_takes_the_lengths_and_dtypes_that_there_are(directory, saved):
    rows = bench(directory, rounds=1).latencies
    assert {row.tokens for row in rows} == {8, 32}  # of 40 positions
    assert [row.dtype for row in rows][:3] == ["float32", "bfloat16", "int8"]
    assert {row.dtype for row in bench(saved, [4], rounds=1).latencies} == {"int8"}


def test_calls_take_turns():
    order = []
    calls = {name: (lambda name=name: order.append(name)) for name in "abc"}
    samples = time_in_turn(calls, 2)
    assert order == list("abc" + "abc" + "bca")
    assert [len(samples[name]) for name in "abc"] == [2, 2, 2]


# --- profile ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_all_breakdowns_add_up(directory, dtype):
    report = profile(directory, [5, 20], num_threads=[1, 2], dtype=dtype, rounds=3)
    assert [(p.threads, p.tokens) for p in report.profiles] == [(1, 5), (1, 20), (2, 5), (2, 20)]
    for p in report.profiles:
        assert {part.name for part in p.sub_layers} == {
            "embeddings",
            "QKV linear",
            "attention",
            "attention output linear",
            *(f"{place} LayerNorm" for place in ("embeddings", "attention", "feed-forward")),
            "intermediate linear, activation",
            "output linear",
            "pooler",
            "other",
        }
        assert {"GEMM", "attention matmul", "softmax", "activation"} < {m.name for m in p.modules}
        assert sum(part.seconds for part in p.sub_layers) == pytest.approx(p.seconds)
        assert sum(part.share for part in p.sub_layers) == pytest.approx(1)
        layers = ["embeddings", "layer 1", "layer 2", "pooler", "other"]
        assert [part.name for part in p.layers] == layers
        assert sum(part.seconds for part in p.layers) == pytest.approx(p.seconds)
        assert all(part.seconds >= 0 for part in (*p.sub_layers, *p.modules))


@pytest.mark.parametrize("dtype", WEIGHT_LIMITS)
def test_every_dtype_can_be_profiled(tmp_path, dtype, monkeypatch):
    monkeypatch.setattr(quantize, "BUDGET", 1)  # a few sequences guide the rounding to int4
    geometry = replace(tiny_bert.AWKWARD, hidden_size=384, intermediate_size=256)
    path = tiny_bert.write_checkpoint(tmp_path, geometry, spread=0.25)
    (found,) = profile(path, [4], num_threads=[1], dtype=dtype, rounds=1).profiles
    assert {part.name for part in found.modules} >= {"GEMM", "attention matmul"}


def test_the_peak_is_the_best_of_several_measurements(directory, monkeypatch):
    """On a busy machine most of them come out far too low."""
    samples = iter([1e6] * 4)
    monkeypatch.setattr(_fbg, "measure_peak", lambda name, seconds: next(samples, 1e-6))
    (report,) = profile(directory, [20], num_threads=[1], rounds=9).profiles
    known = [p.of_peak for p in (*report.sub_layers, *report.modules) if p.of_peak is not None]
    assert len(known) >= 4
    assert max(known) <= 1
    assert report.noisy


def test_figures_that_disagree_are_marked_as_noisy(directory, monkeypatch):
    run = TimedNetwork.time
    factors: Iterator[float]

    def disturbed(self, *arguments):
        seconds, phases = run(self, *arguments)
        return np.full_like(seconds, next(factors)), phases

    monkeypatch.setattr(_fbg, "measure_peak", lambda name, seconds: 1e6)
    monkeypatch.setattr(TimedNetwork, "time", disturbed)
    factors = itertools.cycle([1.0, 1.0, 3.0, 3.0])  # with and without activations, in turn
    noisy = profile(directory, [20], num_threads=[1], rounds=8)
    assert noisy.profiles[0].noisy
    assert "noisy" in str(noisy)
    factors = itertools.repeat(1.0)
    quiet = profile(directory, [20], num_threads=[1], rounds=8)
    assert not quiet.profiles[0].noisy
    assert "noisy" not in str(quiet)
    few = profile(directory, [20], num_threads=[1], rounds=4)
    assert few.profiles[0].noisy


def test_shares_that_disagree_are_marked_in_tables_and_plots(directory, monkeypatch):
    run, rounds = TimedNetwork.time, itertools.count()

    def moved(self, *arguments):
        seconds, phases = run(self, *arguments)
        shares = np.ones_like(seconds)
        if next(rounds) % 4 < 2:  # with and without activations, in turn
            shares[0] *= 3 * len(shares)  # the embeddings take three quarters
        return shares / shares.sum(), phases

    monkeypatch.setattr(_fbg, "measure_peak", lambda name, seconds: 1e6)
    monkeypatch.setattr(TimedNetwork, "time", moved)
    report = profile(directory, [20], num_threads=[1], rounds=8)
    assert report.profiles[0].noisy
    assert "noisy" in str(report)
    for bars in report.shares().values():
        assert all("noisy" in label for label in bars)


@pytest.mark.parametrize("tokens", [1, 2, 7, 30])
@pytest.mark.parametrize("window", [None, 0, 1, 6, 29, 100])
def test_attention_counts_the_keys_within_its_window(tokens, window):
    places = np.arange(tokens)
    distance = np.abs(places[:, None] - places)
    seen = np.count_nonzero(distance <= (tokens if window is None else window))
    assert visible_pairs(tokens, window) == seen


def test_windowed_attention_is_profiled_as_such(tmp_path):
    tiny = tiny_models.tiny_model("modernbert")
    path = tiny_models.write_tiny(tmp_path, "modernbert")
    tokens, width = 20, tiny.config["hidden_size"]
    (report,) = profile(path, [tokens], num_threads=[1], rounds=1).profiles
    (attention,) = (part for part in report.sub_layers if part.name == "attention")
    operations = attention.rate * attention.seconds * 1e9
    every, layers = tiny.config["global_attn_every_n_layers"], tiny.config["num_hidden_layers"]
    windows = [
        None if n % every == 0 else tiny.config["local_attention"] // 2 for n in range(layers)
    ]
    pairs = sum(visible_pairs(tokens, window) for window in windows)
    assert pairs < layers * tokens**2
    assert operations == pytest.approx(4 * width * pairs)


@pytest.mark.parametrize("name", ["albert", "distilbert", "electra"])
def test_profile_of_other_families(tmp_path, name):
    path = tiny_models.write_tiny(tmp_path / "model", name)
    (p,) = profile(path, [5], num_threads=[1], rounds=1).profiles
    assert "output linear" in {part.name for part in p.sub_layers}


@pytest.mark.parametrize(
    ("name", "places"),
    [
        ("modernbert", {"embeddings", "attention", "feed-forward", "final"}),
        ("deberta-v2-convolution", {"embeddings", "attention", "feed-forward", "convolution"}),
    ],
)
def test_norms_are_told_apart_by_their_place(tmp_path, name, places):
    model = fbg.load(tiny_models.write_tiny(tmp_path, name))
    ops = TimedNetwork(model.network).ops(8, 1)
    norms = {op.sub_layer for op in ops if op.sub_layer.endswith("LayerNorm")}
    assert norms == {f"{place} LayerNorm" for place in places}


def test_other_is_what_a_call_takes_besides_its_ops(directory, monkeypatch):
    network = TimedNetwork(fbg.load(directory, num_threads=1).network)
    pause, run = 0.02, Runner.run

    def slower(self, *arguments, **options):
        time.sleep(pause)
        run(self, *arguments, **options)

    monkeypatch.setattr(Runner, "run", slower)
    seconds, phases = network.time(np.arange(5, 25)[None], 1)
    assert network.ops(20, 1)[-1].sub_layer == "other"
    assert len(seconds) == len(phases) == len(network.ops(20, 1))
    assert seconds[-1] >= pause
    assert not phases[-1].any()


def test_phases_lie_within_their_op_and_change_no_bit(directory):
    model = fbg.load(directory, dtype="int8", num_threads=1)
    packed = pack_sequences([np.arange(5, 35, dtype=np.int32)])
    outputs = [[np.empty((30, 48), np.float32), np.empty((1, 48), np.float32)] for _ in range(2)]
    runner = model._hidden_states.runner
    names = [op.name for op in model.plan(30).ops]
    seconds, phases = np.empty(len(names)), np.full((len(names), 4), np.nan)
    runner.run(packed, outputs[0], 1, seconds=seconds, phases=phases)
    runner.run(packed, outputs[1], 1)
    for one, other in zip(*outputs, strict=True):
        np.testing.assert_array_equal(one, other)
    assert (phases.sum(axis=1) <= seconds).all()
    for name, row in zip(names, phases, strict=True):
        if name == "attention":
            assert (row > 0).all()
        elif name.startswith("linear"):
            assert row[PACK] > 0 == row[SCORES:].max()
        else:
            assert (row == 0).all()


def test_phases_of_a_wrong_shape_are_refused(directory):
    model = fbg.load(directory, num_threads=1)
    packed = pack_sequences([np.arange(5, 9, dtype=np.int32)])
    outputs = [np.empty((4, 48), np.float32), np.empty((1, 48), np.float32)]
    with pytest.raises(ValueError, match="phases must have one row per op and 4 columns"):
        model._hidden_states.runner.run(packed, outputs, 1, phases=np.zeros((2, 4)))


# --- all of them ------------------------------------------------------------------------------


def test_reports_print_and_become_json(directory, tmp_path):
    compared = compare(directory, TEXTS, ["bfloat16", "int8"], rounds=1)
    profiled = profile(directory, [5], num_threads=[1], rounds=1)
    for report in (compared, profiled, bench(directory, [5], rounds=1)):
        assert json.loads(json.dumps(report.to_dict()))["model"] == str(directory)
        assert str(directory) in str(report)
    pytest.importorskip("matplotlib")
    plot_comparison(compared, tmp_path / "compare.png")
    plot_stacks(profiled.shares(), tmp_path / "profile.svg")
    assert (tmp_path / "compare.png").read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in (tmp_path / "profile.svg").read_bytes()


def test_tables_align():
    assert table(["a", "b"], [["long", "1"], ["c", "22"]]) == "a      b\nlong   1\nc     22"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda m: compare(m, ["one"]),
            ValueError,
            "compare: texts must contain at least 2 .* got 1",
        ),
        (lambda m: compare(m, "one"), TypeError, "compare: texts must be a sequence of str"),
        (lambda m: compare(m, dtypes=["int7"]), ValueError, "compare: dtypes must be among"),
        (lambda m: compare(m, rounds=0), ValueError, "compare: rounds must be"),
        (lambda m: sensitivity(m, [""]), ValueError, "sensitivity: texts must contain at least 1"),
        (lambda m: sensitivity(m, target=0), ValueError, "sensitivity: target must be in"),
        (lambda m: bench(m, [41]), ValueError, "bench: tokens must be"),
        (lambda m: bench(m, []), ValueError, "bench: tokens must contain at least one"),
        (lambda m: bench(m, batch=0), ValueError, "bench: batch must be"),
        (lambda m: bench(m, num_threads=[0]), ValueError, "bench: num_threads must be"),
        (lambda m: bench(m, dtypes="int8"), ValueError, "bench: dtypes must be a sequence"),
        (lambda m: profile(m, [0]), ValueError, "profile: tokens must be"),
        (lambda m: profile(m, rounds=0), ValueError, "profile: rounds must be"),
    ],
)
def test_bad_arguments_are_named(directory, call, error, message):
    with pytest.raises(error, match=message):
        call(directory)


def test_a_saved_model_has_nothing_to_compare_with(saved):
    for call in (compare, sensitivity):
        with pytest.raises(ValueError, match="saved by fbg in one dtype, so that"):
            call(saved, TEXTS)


@pytest.mark.parametrize("family", ["mpnet", "modernbert"])
def test_attention_with_options_is_attention(tmp_path, family):
    path = tiny_models.write_tiny(tmp_path, family)
    (report,) = profile(path, [8], rounds=1).profiles
    rates = {part.name: part.rate for part in report.sub_layers}
    assert rates["attention"] is not None
    assert ("rotary positions" in rates) == (family == "modernbert")
