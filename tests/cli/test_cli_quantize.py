"""`fbg quantize`: what it writes is what Model.save writes, and mistakes take one line."""

import inspect
import os
from functools import partial

import pytest

import fbg
from fbg.cli.quantize import quantize
from fbg.model.load import load
from fbg.model.load_net import load_net
from helpers import commands

WEIGHTS = "fbg.safetensors"


invoke = partial(commands.invoke, "quantize")


@pytest.mark.parametrize("dtype", [None, "int8", "float32"])
def test_it_writes_what_save_writes(checkpoint, tmp_path, dtype):
    result = invoke(checkpoint, tmp_path / "out", *([] if dtype is None else ["--dtype", dtype]))
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    assert "quantizing" in result.output
    fbg.load(checkpoint, dtype=dtype or "int8").save(tmp_path / "same")
    written, same = ((tmp_path / name / WEIGHTS).read_bytes() for name in ("out", "same"))
    assert written == same


@pytest.mark.parametrize("how", ["calibrate", "no-smooth"])
def test_weights_are_quantized_as_asked(checkpoint, tmp_path, how):
    texts = ["a word", "the quick brown fox", "0123 abc def"]
    (tmp_path / "texts.txt").write_text("\n".join(texts) + "\n")
    if how == "calibrate":
        options = ["--calibrate", tmp_path / "texts.txt"]
        model = fbg.load(checkpoint, dtype="int8", calibrate=texts)
    else:
        options = ["--no-smooth"]
        model = fbg.load(checkpoint, dtype="int8", smooth=False)
    result = invoke(checkpoint, tmp_path / "out", *options)
    assert result.exit_code == 0, result.output
    model.save(tmp_path / "same")
    written, same = ((tmp_path / name / WEIGHTS).read_bytes() for name in ("out", "same"))
    assert written == same


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (["layers.0.*"], ["layers.0.*"]),
        (["layers.0.*=float32", "*.output"], {"layers.0.*": "float32", "*.output": "bfloat16"}),
    ],
)
def test_layers_of_a_higher_precision(checkpoint, tmp_path, given, wanted):
    options = [part for pattern in given for part in ("--higher-precision", pattern)]
    result = invoke(checkpoint, tmp_path / "out", *options)
    assert result.exit_code == 0, result.output
    assert "linear layers" in result.output.splitlines()[-1]
    fbg.load(checkpoint, dtype="int8", higher_precision=wanted).save(tmp_path / "same")
    written, same = ((tmp_path / name / WEIGHTS).read_bytes() for name in ("out", "same"))
    assert written == same


def test_there_is_an_option_for_every_argument_of_quantization():
    """What decides about saved weights can be given on the command line, too."""
    of_runs = {"model", "num_threads", "progress", "net_options", "backends", "placement", "tune"}
    of_runs |= {"adapters"}  # which are kept beside the weights, and not saved
    named = {"smooth": "no_smooth"}
    wanted = {
        named.get(name, name)
        for function in (load, load_net)
        for name in inspect.signature(function).parameters
        if name not in of_runs | {"path"}
    }
    assert wanted <= {parameter.name for parameter in quantize.params}


def test_other_commands_take_what_it_wrote(checkpoint, tmp_path):
    assert invoke(checkpoint, tmp_path / "out").exit_code == 0
    texts = ["--text", "a word"]
    saved = commands.invoke("encode", tmp_path / "out", *texts)
    fresh = commands.invoke("encode", checkpoint, *texts, "--dtype", "int8")
    assert saved.exit_code == fresh.exit_code == 0
    assert saved.stdout == fresh.stdout != ""


def test_an_old_model_is_replaced_only_with_overwrite(checkpoint, tmp_path):
    out = tmp_path / "out"
    assert invoke(checkpoint, out).exit_code == 0
    result = invoke(checkpoint, out, "--dtype", "float32")
    assert result.exit_code == 1
    assert f"Error: {out}: already exists" in result.output
    assert fbg.load(out).dtype == "int8"
    assert invoke(checkpoint, out, "--dtype", "float32", "--overwrite").exit_code == 0
    assert fbg.load(out).dtype == "float32"


def test_mistakes_take_one_line(checkpoint, tmp_path):
    out = tmp_path / "out"
    assert invoke(checkpoint, out).exit_code == 0
    (tmp_path / "empty").mkdir()
    cases = [
        (["./absent", tmp_path / "new"], 1, "./absent: no such directory"),
        ([tmp_path / "empty", tmp_path / "new"], 1, "config.json: no such file"),
        ([checkpoint, tmp_path / "none" / "new"], 1, "there is no directory"),
        ([checkpoint, checkpoint, "--overwrite"], 1, "not a saved model"),
        ([out, tmp_path / "new", "--dtype", "float32"], 1, "which is not quantized again"),
        ([out, tmp_path / "new"], 1, "which is not quantized again"),
        ([checkpoint, tmp_path / "new", "--dtype", "int7"], 2, "'int7' is not one of"),
        ([checkpoint, tmp_path / "new", "--calibrate", "absent.txt"], 1, "absent.txt"),
        ([checkpoint, tmp_path / "new", "--calibrate", os.devnull], 1, "at least one text"),
        (
            [checkpoint, tmp_path / "new", "--calibrate", os.devnull, "--no-smooth"],
            1,
            "calibrate requires dtype='int8' or 'int4' and smooth=True",
        ),
        (
            [checkpoint, tmp_path / "new", "--dtype", "float32", "--no-smooth"],
            2,
            "--no-smooth cannot be used with --dtype float32",
        ),
        (
            [checkpoint, tmp_path / "new", "--equalize"],
            2,
            "--equalize cannot be used with encoders",
        ),
        ([checkpoint], 2, "Missing argument 'OUT'"),
    ]
    commands.check_mistakes(cases, "quantize")
    assert sorted(os.listdir(tmp_path)) == ["empty", "out"]


def test_the_output_is_checked_before_the_model_is_loaded(tmp_path):
    (tmp_path / "file").write_text("mine")
    for out, message in (
        (tmp_path / "file", "not a saved"),
        (tmp_path / "a" / "b", "no directory"),
    ):
        result = invoke("./absent", out)
        assert result.exit_code == 1
        assert message in result.output
        assert "quantizing" not in result.output


def test_a_file_in_the_way_stays(checkpoint, tmp_path):
    (tmp_path / "file").write_text("mine")
    result = invoke(checkpoint, tmp_path / "file", "--overwrite")
    assert result.exit_code == 1
    assert "not a saved model" in result.output
    assert (tmp_path / "file").read_text() == "mine"
