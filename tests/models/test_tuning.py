"""fbg.tune: what is measured and how often, what is kept, and that no variant changes a bit."""

import json
import multiprocessing
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fbg
from fbg import _fbg
from fbg.errors import BusyError
from fbg.tuning import file as tuning_file
from fbg.tuning.store import Blocking, Kind, Measured, Store, forced, product_key, store

DTYPES = ["float32", "bfloat16", "float16", "int8"]
IDS = [[2, 17, 40, 8, 3, 5, 9, 30], [2, 50, 3, 11, 7, 6, 1, 0]]

pytestmark = pytest.mark.usefixtures("tuning_cache")


def hidden(model: fbg.Model) -> np.ndarray:
    return model.forward(IDS).last_hidden_state


def tune(model: fbg.Model, **options: Any) -> fbg.TuneReport:
    return fbg.tune(model, tokens=(4, 16), show_progress_bar=False, **options)


def key(model: fbg.Model, kind: Kind, tokens: int) -> str:
    return product_key(fbg.isa.active(), model.num_threads, kind, tokens)


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_profiling_for_each_shape_of_weights_and_none_at_inference(
    directory: Path, dtype: str
) -> None:
    before = _fbg.tuner_count()
    model = fbg.load(directory, dtype=dtype)
    hidden(model)
    model.encode(["a b", "c"])
    assert _fbg.tuner_count() == before
    # Q, K and V as one, the output of attention, and two of the feed-forward part.
    shapes = [(48, 144), (48, 48), (48, 100), (100, 48)]
    assert model.lowered.products == [(dtype, *shape) for shape in shapes]
    report = tune(model)
    assert report.profilings == _fbg.tuner_count() - before == 4
    measured = [((r.k, r.n), r.tokens) for r in report.results]
    assert measured == [(shape, tokens) for shape in shapes for tokens in (4, 16)]
    assert tune(model).profilings == 0
    hidden(model)
    assert _fbg.tuner_count() == before + 4
    assert tune(model, force=True).profilings == 4


def test_a_model_is_tuned_as_it_is_loaded(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fbg.model.tuning.TOKENS", (4,))
    before, stages = _fbg.tuner_count(), set()
    model = fbg.load(directory, tune=True, progress=lambda *told: stages.add(told))
    assert _fbg.tuner_count() == before + 4
    assert ("products", 4, 4) in stages
    assert fbg.tune(model, tokens=(4,), show_progress_bar=False).profilings == 0
    fbg.load(directory, tune=True)
    assert _fbg.tuner_count() == before + 4
    with pytest.raises(TypeError, match="load: tune must be True or False"):
        fbg.load(directory, tune="always")


def test_a_model_loads_while_others_keep_the_threads(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Kept:
        """A tuner that gets no threads."""

        def __init__(self, *given: Any) -> None:
            self._own = own(*given)

        def candidates(self, rows: int) -> Any:
            return self._own.candidates(rows)

        def seconds(self, *_: Any) -> Any:
            raise RuntimeError("Tuner: other runs keep the threads busy, or there are too few")

    own = _fbg.Tuner
    monkeypatch.setattr(_fbg, "Tuner", Kept)
    with pytest.warns(UserWarning, match="load: tune: other runs keep the threads busy") as told:
        model = fbg.load(directory, tune=True)
    assert [one.filename for one in told] == [__file__]
    np.testing.assert_array_equal(model.encode("a"), fbg.load(directory).encode("a"))
    with pytest.raises(BusyError, match=r"^other runs keep the threads busy"):
        tune(model)


def test_projections_that_are_not_fused_make_three_shapes() -> None:
    graph = _fbg.Graph()
    table = np.ones((4, 64), np.float32)
    x = graph.append("embed", table, table)
    square, up, down = (
        _fbg.pack_b_convert(np.ones(shape, np.float32), "float32")
        for shape in ((64, 64), (64, 256), (256, 64))
    )
    for _ in range(12):
        for _ in range(4):  # query, key, value, output
            x = graph.append("linear", x, square)
        x = graph.append("linear", graph.append("linear", x, up), down)
    assert graph.products == [("float32", 64, 64), ("float32", 64, 256), ("float32", 256, 64)]


@pytest.mark.parametrize("dtype", DTYPES)
def test_no_variant_changes_a_bit(directory: Path, isa: str, dtype: str) -> None:
    model = fbg.load(directory, dtype=dtype, num_threads=2)
    serial = fbg.load(directory, dtype=dtype, num_threads=1)
    texts = ["a b c", "d", "e f g h i j k l m n o p q r s t u v w x y z"]
    wanted, embedded = hidden(serial), serial.encode(texts)
    variants = {Blocking(1, 4, 1, 2), Blocking(32, 8, 1 << 16, 1)}
    for kind in model.lowered.products:
        tuner = _fbg.Tuner(model.lowered, kind, 2)
        for rows in (3, 16, 384):
            variants |= {Blocking(*members) for members in tuner.candidates(rows)}
    assert len(variants) > 4
    for variant in sorted(variants):
        with forced(variant):
            assert np.array_equal(hidden(model), wanted), variant
            assert np.array_equal(hidden(serial), wanted), variant
            assert np.array_equal(model.encode(texts), embedded), variant
            described = model.plan(16).describe()
        assert (str(variant) in described) == (variant != Blocking())


def test_tuning_changes_no_bit(directory: Path, isa: str) -> None:
    for dtype in ("float32", "bfloat16", "int8"):
        model = fbg.load(directory, dtype=dtype, num_threads=2)
        wanted = hidden(model)
        assert tune(model).isa == isa
        assert np.array_equal(hidden(model), wanted)


def test_tuned_results_are_used_kept_and_read_again(directory: Path, tuning_cache: Path) -> None:
    model = fbg.load(directory)
    wanted = hidden(model)
    assert not tuning_cache.exists(), "inference wrote"
    kind = model.lowered.products[2]
    blocking = Blocking(rows=4, panels=1)
    store.add({key(model, kind, 16): Measured(blocking, 1e-6, 2e-6)})
    tuned_ops = {op.name: op.blocking for op in model.plan(16).ops if op.blocking}
    assert tuned_ops == {"linear float32 48x100 gelu": f"<=64 rows: {blocking}"}
    assert np.array_equal(hidden(model), wanted)

    store.forget()  # as a new process
    assert store.known() == {key(model, kind, 16): Measured(blocking, 1e-6, 2e-6)}
    assert list(tuning_cache.parent.glob("*.tmp")) == []


def test_a_result_serves_sizes_near_its_own() -> None:
    kind, other = ("int8", 8, 16), ("int8", 8, 32)
    isa = fbg.isa.active()
    table = Store()
    table._known = {
        product_key(isa, 2, kind, tokens): Measured(Blocking(rows=tokens % 7 + 1), 1.0, 1.0)
        for tokens in (128, 8, 64)
    } | {product_key(isa, 1, other, 8): Measured(Blocking(), 1.0, 1.0)}
    ranges = [(first, last) for _, first, last, _ in table.blockings([kind, other], 2, isa)]
    assert ranges == [(3, 8), (17, 64), (65, 512)]
    assert len(table.blockings([kind, other], 1, isa)) == 1
    assert table.blockings([other], 3, isa) == []


def test_off_keeps_results_in_the_process(
    directory: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FBG_TUNING_CACHE", "off")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    assert tuning_file.path() is None
    model = fbg.load(directory)
    assert tune(model).profilings == 4
    assert tune(model).profilings == 0
    assert not (tmp_path / "home").exists()
    monkeypatch.delenv("FBG_TUNING_CACHE")
    assert tuning_file.path() == tmp_path / "home" / "fbg" / "tuning-1.json"


def test_a_file_that_cannot_be_written_is_a_warning(
    directory: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("FBG_TUNING_CACHE", str(tmp_path / "file" / "tuning.json"))
    model = fbg.load(directory)
    with pytest.warns(RuntimeWarning, match="kept for this process only"):
        assert tune(model).profilings == 4
    assert tune(model).profilings == 0


def machine_entry(name: str, **changes: object) -> dict[str, Any]:
    entry = {"blocking": [4, 1, 0, 0], "seconds": 1e-6, "default": 2e-6, **changes}
    return {"format": 1, "machines": {tuning_file._machine(): {name: entry}}}


NAME = "avx2 1 int8 48 48 8"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00\xff\xfe",
        b"[" * 100_000,
        b'{"format": 1, "machines": ',
        b"null",
        b"[]",
        b'{"format": 2, "machines": {}}',
        b'{"format": 1, "machines": 5}',
        b" " * ((4 << 20) + 1),
        *(
            json.dumps(content).encode()
            for content in (
                machine_entry(""),
                machine_entry(NAME + " 9"),
                machine_entry(NAME.replace("48", "-48")),
                machine_entry(NAME.replace("48", "4e8")),
                machine_entry(NAME.replace("48", "9" * 5000)),
                machine_entry(NAME.replace("8", "\u0663")),
                machine_entry(NAME, blocking=None),
                machine_entry(NAME, blocking=[1, 1, 1]),
                machine_entry(NAME, blocking=[1, 1, 1, "1"]),
                machine_entry(NAME, blocking=[1, 1, 1, True]),
                machine_entry(NAME, blocking=[-1, 1, 1, 1]),
                machine_entry(NAME, blocking=[1 << 70, 1, 1, 1]),
                machine_entry(NAME, seconds="fast"),
                machine_entry(NAME, seconds=float("nan")),
                machine_entry(NAME, default=0.0),
            )
        ),
    ],
    ids=lambda content: content[:40].decode("latin-1"),
)
def test_a_damaged_file_is_ignored_with_a_warning_and_written_anew(
    directory: Path, tuning_cache: Path, content: bytes
) -> None:
    tuning_cache.parent.mkdir()
    tuning_cache.write_bytes(content)
    model = fbg.load(directory)
    with pytest.warns(RuntimeWarning, match="ignored"):
        hidden(model)
    assert store.known() == {}
    entry = key(model, model.lowered.products[0], 8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        store.add({entry: Measured(Blocking(), 1.0, 1.0)})
        store.forget()
        assert list(store.known()) == [entry]


def named_pipe(path: Path) -> str:
    os.mkfifo(path)
    return str(path)


@pytest.mark.parametrize("place", [named_pipe, lambda path: "/dev/zero"], ids=["pipe", "device"])
def test_only_a_regular_file_is_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, place: Callable[[Path], str]
) -> None:
    monkeypatch.setenv("FBG_TUNING_CACHE", place(tmp_path / "tuning.json"))
    with pytest.warns(RuntimeWarning, match="ignored: is a .*, not a regular file"):
        assert Store().known() == {}


KEY = product_key("avx2", 1, ("int8", 4, 4), 8)
ENTRY = {KEY: Measured(Blocking(), 1.0, 1.0)}


@pytest.mark.filterwarnings("ignore:.*ignored. is a named pipe:RuntimeWarning")
@pytest.mark.parametrize("name", ["tuning.json", "tuning.json.lock"])
def test_only_a_regular_file_is_written(tuning_cache: Path, name: str) -> None:
    tuning_cache.parent.mkdir()
    os.mkfifo(tuning_cache.with_name(name))
    with pytest.warns(RuntimeWarning, match="kept for this process only: .* is a named pipe"):
        Store().add(ENTRY)
    assert [path.name for path in tuning_cache.parent.iterdir() if path.is_fifo()] == [name]
    assert [path.name for path in tuning_cache.parent.iterdir()] == [name]


def test_entries_of_other_machines_stay_and_are_not_used(tuning_cache: Path) -> None:
    content = machine_entry(NAME)
    content["machines"] = {"another CPU": content["machines"].popitem()[1]}
    tuning_cache.parent.mkdir()
    tuning_cache.write_text(json.dumps(content))
    assert store.known() == {}
    store.add(ENTRY)
    machines = json.loads(tuning_cache.read_text())["machines"]
    assert sorted(machines) == sorted(["another CPU", tuning_file._machine()])
    assert machines["another CPU"] == content["machines"]["another CPU"]


def _write(file: str, number: int) -> None:
    os.environ["FBG_TUNING_CACHE"] = file
    for n in range(10):
        entry = product_key("avx2", 1, ("int8", 1 + number, 1 + n), 8)
        Store().add({entry: Measured(Blocking(), 1.0, 1.0)})


def test_writers_at_the_same_time_lose_nothing(tuning_cache: Path) -> None:
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_write, args=(str(tuning_cache), n)) for n in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
        assert writer.exitcode == 0
    assert len(Store().known()) == 40


def test_the_report_shows_every_shape(directory: Path) -> None:
    report = tune(fbg.load(directory, dtype="int8"))
    text = str(report)
    assert "4 shapes measured" in text
    assert text.count("int8") == len(report.results) == 8
    for result in report.results:
        assert next(iter(result.seconds)) == Blocking()
        assert result.winner in result.seconds
        assert result.gain >= 1


def test_progress_bar(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm")
    fbg.tune(fbg.load(directory), tokens=[4])
    assert "4/4" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"model": "x"}, TypeError, "model must be an fbg.Model, .* got str"),
        ({"tokens": [0]}, ValueError, "tokens must be"),
        ({"tokens": ["8"]}, TypeError, "tokens must be an integer, got str"),
        ({"tokens": 8}, TypeError, "tokens must be a sequence of integers, got int"),
    ],
)
def test_bad_arguments_are_named(
    directory: Path, arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=f"tune: {message}"):
        fbg.tune(**{"model": fbg.load(directory), **arguments})
