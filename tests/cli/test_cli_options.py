"""Options have one name in all commands; the names that they had before are still understood."""

import json

import click
import pytest
from click.testing import CliRunner

import fbg
from fbg.cli import main, options
from helpers.commands import invoke

FORMER = {
    "--num-threads": "--threads",
    "--labels": "--label",
    "--texts": "--input",
    "--inputs": "--input",
    "--dtypes": "--dtype",
    "--batch": "--batch-size",
}


def shown():
    """Every option that help shows: the commands that have it, and what it is there."""
    found = {}
    for command, each in main.commands.items():
        for option in each.load().params:
            if isinstance(option, click.Option) and not option.hidden:
                for name in option.opts:
                    found.setdefault(name, []).append((command, option))
    return found


# A file with the labels of a network for pictures; `ner` once called --label so.
FILES = {"--labels"}


def test_no_two_names_mean_the_same():
    uses = shown()
    assert {command for name in FILES for command, _ in uses[name]} == {"classify-image", "detect"}
    names = uses.keys() - FILES
    assert not names & FORMER.keys()
    variants = {name: {f"{name}s", name.replace("--", "--num-"), f"{name}-size"} for name in names}
    assert {name: others & names for name, others in variants.items() if others & names} == {}


def test_one_name_has_one_meaning():
    kinds = {
        name: {type(option.type) for _, option in uses if not option.multiple}
        for name, uses in shown().items()
    }
    numbers = {click.IntRange, options.Integers}  # --threads of those that measure takes several
    assert {name for name, found in kinds.items() if len(found) > 1 and found != numbers} == set()


@pytest.mark.parametrize("name", FORMER)
def test_former_names_are_understood_and_not_shown(name):
    having = [
        (command, option)
        for uses in shown().values()
        for command, option in uses
        if name in getattr(option, "former", ())
    ]
    assert having
    for command, option in having:
        assert option.opts == [FORMER[name]]
        assert f"{name} " not in invoke(command, "--help").output
        result = invoke(command, name)
        assert f"Option '{name}' requires an argument" in result.output


def test_former_names_do_what_the_new_ones_do(checkpoint, tmp_path):
    (tmp_path / "texts.txt").write_text("a word\nanother one\n")
    found = []
    for source, dtype, threads in (
        ("--input", "--dtype", "--threads"),
        ("--texts", "--dtypes", "--num-threads"),
    ):
        arguments = (source, tmp_path / "texts.txt", dtype, "int8", threads, 1, "--rounds", 1)
        result = invoke("compare", checkpoint, *arguments, "--json")
        assert result.exit_code == 0, result.output
        found.append(json.loads(result.stdout))
    assert found[0]["texts"] == found[1]["texts"] == 2
    assert found[0].keys() == found[1].keys()


def test_commands_that_read_texts_of_a_file_take_a_column(checkpoint, tmp_path):
    uses = shown()
    reading = {command for command, _ in uses["--input"]} | {"quantize"}
    assert {command for command, _ in uses["--column"]} == reading
    assert {"classify", "compare", "encode", "report", "search"} <= reading
    (tmp_path / "in.jsonl").write_text('{"body": "a fox"}\n{"body": "another one"}\n')
    source = ("--input", tmp_path / "in.jsonl")
    query = ("search", checkpoint, "--query", "a fox")
    found = invoke(*query, *source, "--column", "body")
    assert found.exit_code == 0, found.output
    same = invoke(*query, "--text", "a fox", "--text", "another one")
    assert json.loads(found.stdout) == json.loads(same.stdout)
    short = ("--rounds", 1, "--dtype", "float32")
    compared = invoke("compare", checkpoint, *source, "--column", "body", *short, "--json")
    assert json.loads(compared.stdout)["texts"] == 2
    given = ("--calibrate", tmp_path / "in.jsonl", "--column", "body")
    assert invoke("quantize", checkpoint, tmp_path / "out", *given).exit_code == 0
    missing = invoke(*query, *source)
    assert missing.exit_code == 1
    assert "line 1: has no 'text', only 'body'" in missing.output


@pytest.mark.parametrize("command", ["search", "compare", "encode", "quantize"])
def test_a_column_needs_a_file(command, checkpoint, tmp_path):
    more = {"search": ["--text", "a", "--query", "b"], "quantize": [tmp_path / "out"]}
    more["encode"] = ["--text", "a"]
    result = invoke(command, checkpoint, *more.get(command, []), "--column", "body")
    assert result.exit_code == 2
    option = "--calibrate" if command == "quantize" else "--input"
    assert f"--column requires {option} with a .jsonl or .parquet file" in result.output


def test_lists_of_dtypes_add_up():
    @click.command()
    @options.dtypes_option("")
    def show(dtypes):
        click.echo(repr(dtypes))

    def shown_for(*given):
        return CliRunner().invoke(show, given).output.strip()

    assert shown_for("--dtype", "int8,bfloat16", "--dtype", "float16") == str(
        ["int8", "bfloat16", "float16"]
    )
    assert shown_for() == "None"


@pytest.mark.parametrize("command", sorted(command for command, _ in shown()["--dtype"]))
@pytest.mark.parametrize("wrong", ["int3", "", "int8,int3"])
def test_wrong_dtypes_are_wrong_options(command, wrong, checkpoint):
    result = invoke(command, checkpoint, "--dtype", wrong)
    assert result.exit_code == 2
    known = "is not one of 'float32', 'bfloat16', 'float16', 'float16_accum', 'int8', 'int4'"
    assert known in " ".join(result.output.split())


def test_values_that_the_model_does_not_allow_are_wrong_options(checkpoint, tmp_path):
    saved = tmp_path / "saved"
    fbg.load(checkpoint, dtype="int8").save(saved)
    longest = fbg.load(checkpoint).config.max_length
    for command in ("bench", "profile", "report"):
        result = invoke(command, checkpoint, "--tokens", 9999)
        assert result.exit_code == 2
        assert f"--tokens must be within [1, {longest}], got 9999" in result.output
    result = invoke("encode", saved, "--text", "a", "--dtype", "int4")
    assert result.exit_code == 2
    assert "Error: --dtype must be 'int8', the dtype of the saved model" in result.output


def test_models_of_one_name_are_wrong_options(checkpoint):
    for models, said in (
        ((f"a={checkpoint}", f"a={checkpoint}"), "every model must have a NAME of its own"),
        (("a=",), "MODEL must be MODEL or NAME=MODEL, got 'a='"),
    ):
        result = invoke("serve", *models)
        assert result.exit_code == 2
        assert said in result.output
