"""`fbg compare`, `bench` and `profile`: tables, JSON and plots; mistakes take one line."""

import json
import os
import re
import subprocess
import sys

import pytest

import fbg
from fbg.cli import main
from helpers.commands import check_mistakes, invoke

COMMANDS = {
    "compare": ["--rounds", "1"],
    "bench": ["--rounds", "1", "--tokens", "4,6", "--threads", "1"],
    "profile": ["--rounds", "1", "--tokens", "4,6", "--threads", "1"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_they_print_a_table_or_json(checkpoint, command):
    result = invoke(command, checkpoint, *COMMANDS[command])
    assert result.exit_code == 0, result.output
    assert str(checkpoint) in result.stdout.splitlines()[0]
    result = invoke(command, checkpoint, *COMMANDS[command], "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["isa"] == fbg.isa.active()


@pytest.mark.parametrize("command", ["compare", "profile"])
def test_they_plot(checkpoint, tmp_path, command):
    pytest.importorskip("matplotlib")
    plot = tmp_path / "out.png"
    result = invoke(command, checkpoint, *COMMANDS[command], "--plot", plot)
    assert result.exit_code == 0, result.output
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_compare_takes_texts_from_a_file_or_standard_input(checkpoint, tmp_path):
    (tmp_path / "texts").write_text("a word\n\nanother one\n")
    from_file = ["--input", tmp_path / "texts"]
    for arguments, stdin in ((from_file, None), (["--input", "-"], "a word\nanother\n")):
        result = invoke("compare", checkpoint, "--rounds", 1, "--json", *arguments, input=stdin)
        assert result.exit_code == 0, result.output
        assert json.loads(result.stdout)["texts"] == 2


def test_a_cut_text_is_said_once_for_all_dtypes(checkpoint, tmp_path):
    (tmp_path / "t.txt").write_text("a " * 600 + "\nb\n")
    given = ("--rounds", 1, "--input", tmp_path / "t.txt", "--dtype", "bfloat16,int8")
    said = invoke("compare", checkpoint, *given).stderr
    assert said.count("Warning: encode: sentences[0] has 602 tokens") == 1


def test_compare_takes_a_sample_of_many_texts(checkpoint, tmp_path):
    lines = [f"text number {n}" for n in range(1001)]
    (tmp_path / "t.txt").write_text("\n".join(lines))
    given = ("compare", checkpoint, "--rounds", 1, "--json", "--input", tmp_path / "t.txt")
    for options, count in (((), 500), (("--limit", 7), 7), (("--limit", 5000), 1001)):
        result = invoke(*given, "--dtype", "float32", *options)
        assert json.loads(result.stdout)["texts"] == count
        said = f"{count} of 1001 texts, spread evenly: --limit takes more"
        assert (said in result.stderr) == (count < 1001)
        assert re.search(r"took \d+ s$", result.stderr.strip())


@pytest.mark.parametrize("options", [(), ("--sensitivity",)])
@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_compare_says_why_it_takes_no_saved_model(checkpoint, tmp_path, dtype, options):
    fbg.load(checkpoint, dtype=dtype).save(tmp_path / "saved")
    result = invoke("compare", tmp_path / "saved", *options)
    assert result.exit_code == 1
    (line,) = result.output.splitlines()
    assert "saved by fbg in one dtype, so that there is no float32 to compare it with" in line
    assert "give the checkpoint or the ONNX file" in line


def test_compare_finds_sensitive_layers(checkpoint):
    result = invoke("compare", checkpoint, "--sensitivity", "--target", "1e-12", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert len(found["proposed"]) == len(found["layers"]) == 8
    assert "layers.0.qkv …" in result.output


@pytest.mark.parametrize("command", COMMANDS)
def test_mistakes_take_one_line(checkpoint, tmp_path, command):
    (tmp_path / "empty").mkdir()
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\n" * 3)
    cases = [
        ([], 2, "Missing argument 'MODEL'"),
        (["./absent"], 1, "./absent: no such directory"),
        ([tmp_path / "empty"], 1, "config.json: no such file"),
        ([checkpoint, "--rounds", "0"], 2, "--rounds"),
        ([checkpoint, "--nothing"], 2, "No such option"),
    ]
    if command == "compare":
        cases += [
            ([checkpoint, "--dtype", "int7"], 2, "'int7' is not one of 'float32', 'bfloat16'"),
            ([checkpoint, "--input", "absent"], 1, "Error: absent: no such file\n"),
            ([checkpoint, "--input", tmp_path / "bytes"], 1, "can't decode byte"),
            ([checkpoint, "--sensitivity", "--target", "2"], 2, "--target must be in (0, 1)"),
            ([checkpoint, "--sensitivity", "--plot", "a.png"], 2, "--plot cannot be used with"),
            ([checkpoint, "--sensitivity", "--rounds", "2"], 2, "--rounds cannot be used with"),
            ([checkpoint, "--sensitivity", "--dtype", "int8"], 2, "--dtype cannot be used with"),
            ([checkpoint, "--target", "1e-3"], 2, "--target goes with --sensitivity"),
        ]
    else:
        cases += [
            ([checkpoint, "--tokens", "4,a"], 2, "must be positive integers separated by commas"),
            ([checkpoint, "--tokens", "41"], 2, "--tokens must be"),
            ([checkpoint, "--threads", "100000"], 2, "--threads must be"),
        ]
    if command != "bench":
        os.mkfifo(tmp_path / "pipe.png")
        cases += [
            ([checkpoint, "--plot", "out.txt"], 2, "must end in .png"),
            (["absent", "--plot", tmp_path / "pipe.png"], 1, "pipe.png: is a named pipe"),
        ]
    check_mistakes(cases, command)


@pytest.mark.parametrize("command", ["compare", "profile"])
def test_a_missing_matplotlib_is_said_before_anything_runs(checkpoint, command, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = invoke(command, checkpoint, "--plot", "out.png")
    assert result.exit_code == 1
    assert result.output == "Error: plots need matplotlib: pip install 'fbg[plot]'\n"


@pytest.mark.parametrize("command", sorted(main.commands))
def test_the_list_says_what_a_command_says_of_itself(command):
    listed = main.commands[command]
    assert listed.get_short_help_str(200) == listed.load().get_short_help_str(200)


def test_the_list_of_commands_imports_none():
    code = "import sys\nfrom fbg.cli import main\nmain(['--help'], standalone_mode=False)\n"
    code += "print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "zero-shot" in run.stdout
    modules = set(run.stdout.splitlines()[-1].split())
    assert not modules & {"fbg.cli.tasks", "fbg.model", "fbg.reports", "fbg.networks", "asyncio"}


@pytest.mark.parametrize("command", sorted(main.commands))
def test_help_has_an_example(command):
    result = invoke(command, "--help")
    assert result.exit_code == 0
    assert "Example" in result.stdout
    assert f"fbg {command}" in result.stdout


def test_shapes_are_for_onnx_files(checkpoint):
    result = invoke("profile", checkpoint, "--shape", "x=1")
    assert "--shape cannot be used with encoders" in result.output
