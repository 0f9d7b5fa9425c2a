"""`fbg info`, `bench`, `compare` and `profile` of ONNX files and of networks saved from them."""

import importlib
import json
import re

import numpy as np
import onnx
import pytest

import fbg
from fbg.importers.net_plan import NetPlan
from fbg.importers.session import PlacedStep
from fbg.reports.profiling import NetProfile
from helpers.commands import invoke, succeed
from helpers.small_cnns import FAMILIES

ROUNDS = ("--rounds", "1")
RUN = np.ones((1, 3, 16, 18), np.float32)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A directory with net.onnx, the network saved in int8, and inputs for some runs."""
    directory = tmp_path_factory.mktemp("nets")
    model, shape = FAMILIES["mobilenet_v2"]()
    onnx.save(model, str(directory / "net.onnx"))
    runs = np.random.default_rng(0).standard_normal((4, *shape)).astype(np.float32)
    np.savez(directory / "inputs.npz", x=runs)
    net = fbg.load(directory / "net.onnx", dtype="int8", calibrate=list(runs))
    net.save(directory / "saved")
    return directory


def shape():
    return "x=" + ",".join(map(str, FAMILIES["mobilenet_v2"]()[1]))


def report(*args):
    """What a command prints as JSON."""
    return json.loads(succeed(*args, "--json").stdout)


@pytest.mark.parametrize("command", ["info", "bench", "profile", "compare"])
@pytest.mark.parametrize("kind", ["net.onnx", "saved"])
def test_they_take_files_and_saved_networks(files, command, kind):
    if (command, kind) == ("compare", "saved"):
        return  # has no float32 any more; see below
    more = () if command == "info" else ROUNDS
    result = invoke(command, files / kind, "--shape", shape(), *more)
    assert result.exit_code == 0, result.output
    assert kind in result.stdout.splitlines()[0]


def test_profile_lists_the_steps(files):
    options = ("--shape", shape(), "--threads", "1", "--rounds", "2")
    steps = report("profile", files / "net.onnx", *options)["plan"]["steps"]
    assert steps[0]["nodes"][0] == "Conv_0" and all(step["seconds"] > 0 for step in steps)


def test_info_tells_what_a_network_consists_of(files):
    facts = report("info", files / "net.onnx", "--shape", shape())
    assert facts["operators"]["Conv"] == 11
    assert facts["operators"]["Gemm"] == 1
    assert "BatchNormalization" not in facts["operators"]  # folded
    assert set(facts["steps"]) == {"fbg"}
    assert 0 < facts["arena_bytes"] < facts["tensor_bytes"]
    saved = report("info", files / "saved", "--shape", shape())
    assert saved["dtype"] == "int8"
    assert saved["weight_bytes"] < facts["weight_bytes"]


def test_info_needs_no_shapes(files):
    for kind in ("net.onnx", "saved"):
        facts = report("info", files / kind)
        whole = report("info", files / kind, "--shape", shape())
        assert facts["steps"] is facts["arena_bytes"] is None
        for same in ("operators", "outputs", "parameters"):
            assert facts[same] == whole[same]
        text = invoke("info", files / kind).stdout
        assert "depends on the shapes of inputs: pass --shape x=1" in text


def test_bench_times_dtypes_and_threads_and_preparation(files):
    more = ("--dtype", "float32,int8", "--threads", "1,2", *ROUNDS)
    rows = report("bench", files / "net.onnx", "--shape", shape(), *more)["latencies"]
    assert [(row["threads"], row["dtype"]) for row in rows] == [
        (threads, dtype) for threads in (1, 2) for dtype in ("float32", "int8")
    ]
    assert all(row["median"] > 0 and row["prepare"] > 0 for row in rows)


def test_compare_shows_agreement_and_errors_by_node(files):
    found = report(
        "compare", files / "net.onnx", "--shape", shape(), "--input", files / "inputs.npz", *ROUNDS
    )
    assert found["runs"] == 2  # the others have calibrated
    assert 0.999 < found["minimum"] <= found["cosine"] <= 1
    assert 0 <= found["top_1"] <= 1
    assert len(found["nodes"]) == 12
    assert all(0 < node["relative_error"] < 0.1 for node in found["nodes"])


def test_compare_by_op_moves_every_node(files):
    found = report("compare", files / "net.onnx", "--shape", shape(), "--by-op")
    assert found["fused"] < 1e-5
    assert {row["op"] for row in found["ops"]} >= {"Conv", "Clip", "Add", "Gemm"}
    assert all(row["error"] < 1e-5 for row in found["ops"])


def test_compare_by_op_finds_the_operator_that_is_wrong(files, monkeypatch):
    from fbg.importers.ops import elementwise

    monkeypatch.setitem(elementwise._BINARY, "Add", "subtract")
    found = report("compare", files / "net.onnx", "--shape", shape(), "--by-op")
    changed = {row["op"] for row in found["ops"] if row["error"] > 1e-3}
    assert changed == {"Add"}


def test_sensitivity_proposes_nodes_that_reach_the_target(files):
    arguments = ("compare", files / "net.onnx", "--shape", shape(), "--sensitivity")
    found = report(*arguments, "--target", "0.5")
    assert len(found["nodes"]) == 12
    assert found["proposed"] == []
    losses = [row["loss"] for row in found["nodes"]]
    assert losses == sorted(losses, reverse=True)
    target = found["int8_loss"] / 2
    found = report(*arguments, "--target", target)
    assert 0 < len(found["proposed"]) < 12
    assert found["proposed_loss"] <= target


def test_what_is_proposed_can_be_loaded(files):
    runs = np.load(files / "inputs.npz")["x"]
    options = {"dtype": "int8", "calibrate": list(runs)}
    exact = fbg.load(files / "net.onnx")
    net = fbg.load(files / "net.onnx", **options, higher_precision=["Conv_[0-9]", "Gemm_*"])
    all_int8 = fbg.load(files / "net.onnx", **options)
    x = runs[0]
    kinds = {
        step.nodes[0]: "int32" in step.algorithm
        for step in (net(x), net.plan())[1].steps
        if "conv" in step.algorithm
    }
    assert not kinds["Conv_0"]
    assert kinds["Conv_11"]
    assert np.abs(net(x) - exact(x)).max() < np.abs(all_int8(x) - exact(x)).max()
    everything = fbg.load(files / "net.onnx", **options, higher_precision=["*"])
    np.testing.assert_array_equal(everything(x), exact(x))
    for patterns, error in [(["nowhere"], ValueError), ("Conv_0", TypeError)]:
        with pytest.raises(error, match="higher_precision"):
            fbg.load(files / "net.onnx", **options, higher_precision=patterns)
    with pytest.raises(ValueError, match="higher_precision"):
        fbg.load(files / "net.onnx", higher_precision=["*"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("bench", "--tokens", "4"), "--tokens cannot be used with ONNX files"),
        (("profile", "--tokens", "4"), "--tokens cannot be used with ONNX files"),
        (("profile", "--threads", "1,2"), "--threads takes one number with ONNX files"),
        (("compare", "--dtype", "int8"), "--dtype cannot be used with ONNX files"),
        (("compare", "--by-op", "--sensitivity"), "--by-op cannot be combined"),
        (("compare", "--target", "1e-3"), "--target goes with --sensitivity"),
        (("compare", "--by-op", "--target", "1e-3"), "--target cannot be used with --by-op"),
        (("compare", "--by-op", "--rounds", "3"), "--rounds cannot be used with --by-op"),
        (("compare", "--sensitivity", "--rounds", "3"), "--rounds cannot be used with --sensitiv"),
        (("info", "--shape", "x=1,3,16,18", "--shape", "x=1"), "--shape is given twice for input"),
        (("profile", "--shape", "x=1,b"), "--shape must be NAME"),
        (("profile",), "pass --shape x=1"),
        (("info", "--shape", "z=1"), "no input 'z'; inputs are x"),
        (("info", "--shape", "z="), "no input 'z'; inputs are x"),
        (("info", "--shape", "x="), "input 'x' must be float32(n, 3, 16, 18), got shape ()"),
        (("info", "--shape", "1,3"), "--shape must be NAME=N,N,…, got '1,3'"),
        (("info", "--shape", "=1,3"), "--shape must be NAME=N,N,…, got '=1,3'"),
        (("compare", "--shape", "x=1,3,16,18", "--input", "{files}/net.onnx"), "not a .npz file"),
        (
            ("compare", "--shape", "x=1,3,16,18", "--input", "{files}/no.npz"),
            "/no.npz: no such file",
        ),
    ],
)
def test_mistakes_take_one_line(files, arguments, message):
    command, *more = (part.format(files=files) for part in arguments)
    result = invoke(command, files / "net.onnx", *more)
    assert result.exit_code in (1, 2)
    assert message in result.output.splitlines()[-1]


@pytest.mark.parametrize("command", ["bench", "compare"])
def test_a_saved_int8_network_has_no_other_dtype(files, command):
    more = ("--dtype", "float32") if command == "bench" else ()
    result = invoke(command, files / "saved", "--shape", shape(), *more)
    assert result.exit_code == (2 if more else 1)
    message = {
        "bench": "must be 'int8'",
        "compare": "was saved by fbg in one dtype, so that there is no float32 to compare it with",
    }
    assert message[command] in result.output


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({}, "no array for input 'x'"),
        ({"x": np.zeros((0, 1, 3, 16, 18), np.float32)}, "the same number of runs"),
        ({"x": np.float32(0)}, "the same number of runs"),
        ({"x": np.array([None])}, "not a .npz file"),
        (
            {"x": np.float32([0, 1, np.nan, 3])[:, None, None, None, None] * RUN},
            "bad.npz: array 'x' has a NaN in run 2, counted from 0",
        ),
    ],
)
def test_files_of_inputs_are_checked(files, tmp_path, arrays, message):
    np.savez(tmp_path / "bad.npz", **arrays)
    result = invoke(
        "compare", files / "net.onnx", "--shape", shape(), "--input", tmp_path / "bad.npz"
    )
    assert result.exit_code == 1
    assert message in result.output


@pytest.mark.parametrize("whole", [True, False])
def test_damaged_archives_of_inputs_are_no_npz_files(files, tmp_path, whole):
    content = bytearray((files / "inputs.npz").read_bytes())
    if whole:
        content[len(content) // 2] ^= 1  # a checksum no longer matches
    else:
        content[4:] = b"garbage"
    (tmp_path / "bad.npz").write_bytes(content)
    arguments = ("--shape", shape(), "--input", tmp_path / "bad.npz")
    result = invoke("compare", files / "net.onnx", *arguments)
    assert result.exit_code == 1
    assert "not a .npz file" in result.output


@pytest.fixture(scope="module")
def dynamic(tmp_path_factory):
    """A file that onnxruntime has quantized dynamically."""
    pytest.importorskip("onnxruntime")
    from onnxruntime import quantization

    directory = tmp_path_factory.mktemp("dynamic")
    model, _ = FAMILIES["mobilenet_v2"]()
    onnx.save(model, str(directory / "float.onnx"))
    path = directory / "dynamic.onnx"
    quantization.quantize_dynamic(
        directory / "float.onnx", path, weight_type=quantization.QuantType.QUInt8
    )
    return path


def test_files_that_are_quantized_already_are_timed_and_not_compared(dynamic):
    result = invoke("bench", dynamic, "--shape", shape(), "--dtype", "float32,int8", *ROUNDS)
    assert result.exit_code == 0, result.output
    assert "float32: int8 in 12 of 12 products" in result.output
    assert "is quantized already" in result.stderr
    result = invoke("compare", dynamic, "--shape", shape(), *ROUNDS)
    assert result.exit_code == 1
    assert "is quantized already, int8 in 12 of 12 products" in result.output
    assert result.output.count("\n") == 1


def disturbed_plan(samples):
    step = PlacedStep(("n",), "fbg", "conv", (), 1.0, 1.0)
    rounds = tuple(map(tuple, np.asarray(samples, float).tolist()))
    return NetPlan((step,) * len(rounds[0]), 0, 0, 0, rounds)


QUIET = np.tile([3.0, 1.0], (8, 1))


@pytest.mark.parametrize(
    ("samples", "noisy"),
    [
        (QUIET, False),
        (QUIET[:4], True),  # too few to disagree
        (QUIET * np.linspace(1, 2, 8)[:, None], True),
        (np.where(np.arange(8)[:, None] % 2, QUIET, QUIET[:, ::-1]), True),  # in the shares alone
    ],
)
def test_profiles_whose_rounds_disagree_are_marked(samples, noisy):
    found = NetProfile.of("net.onnx", 1, disturbed_plan(samples))
    assert found.noisy == noisy
    assert ("noisy" in str(found).splitlines()[0]) == noisy
    assert found.to_dict()["noisy"] == noisy


def test_profiles_keep_the_time_of_each_round(files):
    net = fbg.load(files / "net.onnx", shapes={"x": FAMILIES["mobilenet_v2"]()[1]})
    plan = net.profile({"x": np.load(files / "inputs.npz")["x"][0]}, rounds=5)
    assert np.shape(plan.samples) == (5, len(plan.steps))
    medians = [step.seconds for step in plan.steps]
    np.testing.assert_allclose(np.median(plan.samples, axis=0), medians)
    assert net.plan().samples == ()
    result = invoke("profile", files / "net.onnx", "--shape", shape(), "--rounds", "2")
    assert "(noisy: measure again" in result.output.splitlines()[0]


def test_quantize_calibrates_on_a_file(files, tmp_path):
    result = invoke("quantize", files / "net.onnx", tmp_path / "out")
    assert result.exit_code == 2
    assert "--calibrate FILE.npz" in " ".join(result.output.split())
    given = ("--calibrate", files / "inputs.npz")
    result = invoke("quantize", files / "net.onnx", tmp_path / "out", *given)
    assert result.exit_code == 0, result.output
    said = (
        r"int8 in 12 of 12 products, calibrated on 4 runs; the first run differs by [\d.]+ % from"
    )
    assert re.search(f"{said} float32\n", result.output)
    x = np.load(files / "inputs.npz")["x"][0]
    loaded, wanted = fbg.load(tmp_path / "out"), fbg.load(files / "saved")
    assert loaded.dtype == "int8"
    np.testing.assert_array_equal(loaded(x), wanted(x))
    result = invoke("quantize", files / "net.onnx", tmp_path / "out", *given)
    assert "already exists" in result.output


def test_a_single_run_is_compared_on_what_it_was_calibrated_on(files, tmp_path):
    runs = np.load(files / "inputs.npz")["x"]
    given = ("--shape", shape(), *ROUNDS, "--input", tmp_path / "some.npz")
    for count, told in ((1, True), (2, False)):
        np.savez(tmp_path / "some.npz", x=runs[:count])
        result = invoke("compare", files / "net.onnx", *given)
        assert result.exit_code == 0, result.output
        assert "against float32, 1 run, calibrated on 1, " in result.output
        flattered = "compared on the run that it was calibrated on, which flatters int8"
        assert (flattered in result.output) is told
        as_json = json.loads(invoke("compare", files / "net.onnx", *given, "--json").stdout)
        assert as_json["held_out"] is not told
    np.savez(tmp_path / "some.npz", x=runs[:1])
    given = ("--calibrate", tmp_path / "some.npz")
    result = invoke("quantize", files / "net.onnx", tmp_path / "one", *given)
    assert "calibrated on 1 run; the first run differs by" in result.output


@pytest.mark.parametrize("dtype", ["int4", "float16"])
@pytest.mark.parametrize("command", ["quantize", "bench"])
def test_a_dtype_that_networks_lack_is_a_wrong_option(files, tmp_path, command, dtype):
    more = (tmp_path / "out",) if command == "quantize" else ("--shape", shape())
    result = invoke(command, files / "net.onnx", *more, "--dtype", dtype)
    assert result.exit_code == 2
    assert f"got '{dtype}'" in result.output
    assert "quantizing" not in result.output


def test_quantize_takes_all_options_of_load(files, tmp_path):
    given = ("--calibrate", files / "inputs.npz", "--higher-precision", "Conv_0", "--equalize")
    given = (*given, "--higher-precision", "Gemm*")
    result = invoke("quantize", files / "net.onnx", tmp_path / "out", *given)
    assert result.exit_code == 0, result.output
    assert "int8 in 10 of 12 products, calibrated on 4 runs" in result.output
    x = np.load(files / "inputs.npz")["x"]
    options = {"higher_precision": ["Conv_0", "Gemm*"], "equalize": True}
    wanted = fbg.load(files / "net.onnx", dtype="int8", calibrate=list(x), **options)
    np.testing.assert_array_equal(fbg.load(tmp_path / "out")(x[0]), wanted(x[0]))


def test_quantize_takes_no_saved_network(files, tmp_path):
    fbg.load(files / "net.onnx").save(tmp_path / "float32")
    for saved in (files / "saved", tmp_path / "float32"):
        for more in ((), ("--calibrate", files / "inputs.npz"), ("--higher-precision", "*")):
            result = invoke("quantize", saved, tmp_path / "out", *more)
            assert result.exit_code == 1
            assert "which is not quantized again: give the checkpoint or" in result.output
    for more in (("--calibrate", files / "inputs.npz"), ("--higher-precision", "*")):
        result = invoke(
            "quantize", files / "net.onnx", tmp_path / "out", "--dtype", "float32", *more
        )
        assert result.exit_code == 1
        name = more[0].strip("-").replace("-", "_")
        assert f"{name} of an ONNX file requires dtype='int8'" in result.output
    unfit = invoke("quantize", files / "net.onnx", tmp_path / "out", "--no-smooth")
    assert unfit.exit_code == 2
    assert "--no-smooth cannot be used with ONNX files" in unfit.output


def test_images_without_an_axis_of_runs_are_told_so(files, tmp_path):
    np.savez(tmp_path / "images.npz", x=np.load(files / "inputs.npz")["x"][:, 0])
    given = ("--calibrate", tmp_path / "images.npz")
    result = invoke("quantize", files / "net.onnx", tmp_path / "out", *given)
    assert result.exit_code == 1
    counts = "array 'x': the first axis of an array counts runs"
    wanted = f"{counts}: it must have shape (runs, n, 3, 16, 18)"
    assert wanted in result.output
    assert "pass x[:, None]" in result.output


TEXT_COMMANDS = {
    "encode": ("--text", "a"),
    "search": ("--text", "a", "--query", "b"),
    "classify": ("--text", "a"),
    "zero-shot": ("--text", "a", "--label", "b"),
    "rerank": ("--text", "a", "--query", "b"),
    "ner": ("--text", "a"),
    "answer": ("--question", "a", "--context", "b"),
    "fill-mask": ("--text", "a"),
}


@pytest.mark.parametrize("kind", ["net.onnx", "saved"])
@pytest.mark.parametrize("command", TEXT_COMMANDS)
def test_commands_for_texts_say_what_they_want(files, command, kind):
    more = [part.format(files=files) for part in TEXT_COMMANDS[command]]
    result = invoke(command, files / kind, *more)
    assert result.exit_code == 1, result.output
    assert "expected a model of texts" in result.output.splitlines()[-1]


REPORTS = {
    "benchmark": "bench",
    "comparison": "compare",
    "profiling": "profile",
    "sensitivity": "sensitivity",
}


@pytest.mark.parametrize("name", REPORTS)
def test_reports_of_encoders_say_so_too(files, name):
    module = importlib.import_module(f"fbg.reports.{name}")
    with pytest.raises(fbg.ModelError, match="expected a model of texts"):
        getattr(module, REPORTS[name])(str(files / "net.onnx"))


@pytest.mark.parametrize("name", ["SentenceTransformer", "CrossEncoder"])
def test_drop_ins_say_so_too(files, name):
    with pytest.raises(fbg.ModelError, match="expected a model of texts"):
        getattr(fbg, name)(files / "saved")


@pytest.mark.parametrize("dtype", [np.float64, np.float16, np.uint8])
def test_inputs_of_another_type_are_named_with_the_way_out(files, tmp_path, dtype):
    np.savez(tmp_path / "other.npz", x=np.load(files / "inputs.npz")["x"].astype(dtype))
    given = ("--calibrate", tmp_path / "other.npz")
    result = invoke("quantize", files / "net.onnx", tmp_path / "out", *given)
    assert result.exit_code == 1 and "astype(np.float32)" in result.output


def test_a_network_is_not_quantized_into_what_looks_like_a_file(files, tmp_path):
    given = ("--calibrate", files / "inputs.npz")
    result = invoke("quantize", files / "net.onnx", tmp_path / "out.onnx", *given)
    assert result.exit_code == 2 and "without .onnx" in " ".join(result.output.split())
    assert not (tmp_path / "out.onnx").exists()


def test_a_profile_is_a_table_with_shares_and_rates(files):
    options = ("--shape", shape(), "--rounds", "5", "--threads", "1")
    text = invoke("profile", files / "net.onnx", *options).output
    _, _, head, *rows, last = text.rstrip().splitlines()
    names = ["ms", "share", "G op/s", "back end", "algorithm", "nodes", "result"]
    assert re.split(r"\s{2,}", head.strip()) == names
    assert last.startswith("arena: ")
    shares = [float(share) for row in rows for share in re.findall(r"(\d+\.\d)%", row)]
    assert sum(shares) == pytest.approx(100, abs=0.1 * len(rows))
    convolutions = [row for row in rows if "conv" in row]
    assert convolutions
    assert all(re.match(r"\s*\d+\.\d{3}\s+\d+\.\d%\s+\d+\s", row) for row in convolutions)
    assert all(row.count("float32(") == 1 for row in rows)


@pytest.mark.parametrize("command", ["bench", "profile"])
def test_int8_of_a_network_is_calibrated_alike(files, command):
    given = (files / "net.onnx", "--shape", shape(), "--rounds", "2", "--dtype")
    for more in ((), ("--calibrate", files / "inputs.npz")):
        result = invoke(command, *given, "int8", *more)
        assert result.exit_code == 0, result.output
    result = invoke(command, *given, "float32", "--calibrate", files / "inputs.npz")
    assert result.exit_code != 0
    assert "calibrate requires" in result.output
