"""`fbg encode` on files: what the library computes, whole or not at all, and mistakes in a line."""

import contextlib
import json
import os
import re
import signal
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import fbg
from fbg.runtime.engine import Engine
from fbg.tasks import inputs
from helpers import commands, tiny_bert, tiny_models
from helpers.fresh_python import run_python

pytest.importorskip("tqdm")

invoke, succeed = partial(commands.invoke, "encode"), partial(commands.succeed, "encode")
TEXTS = [f"text {n} " + "abc def " * (n * n % 7) for n in range(60)]


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    path = tiny_bert.write_checkpoint(tmp_path_factory.mktemp("model"), seed=3, spread=0.25)
    prompts = {"prompts": {"query": "find: "}}
    tiny_bert.write_json(path / "config_sentence_transformers.json", prompts)
    return path


@pytest.fixture(scope="module")
def model(directory):
    return fbg.load(directory)


@pytest.fixture
def source(tmp_path):
    (tmp_path / "in.txt").write_text("\n".join(TEXTS) + "\n")
    return tmp_path / "in.txt"


def test_every_input_and_output_holds_the_same(directory, model, source, tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    wanted = model.encode(TEXTS)
    lines = [json.dumps({"id": 1, "body": text}) for text in TEXTS]
    (tmp_path / "in.jsonl").write_text("\n".join(lines))
    pyarrow.parquet.write_table(pa.table({"body": TEXTS}), tmp_path / "in.parquet")
    for name, column in (("in.txt", []), ("in.jsonl", ["body"]), ("in.parquet", ["body"])):
        options = ["--column", *column] if column else []
        output = tmp_path / "out.npy"
        options += ["--overwrite"] if output.exists() else []
        result = succeed(directory, "--input", tmp_path / name, "--output", output, *options)
        assert "60 embeddings with 48 dimensions" in result.output
        assert np.array_equal(np.load(output), wanted)
    output = tmp_path / "out.parquet"
    succeed(directory, "--input", source, "--output", output)
    column = pyarrow.parquet.read_table(output).column("embedding")
    assert np.array_equal(np.array(column.to_pylist(), np.float32), wanted)
    succeed(directory, "--input", "-", "--output", tmp_path / "out", input="\n".join(TEXTS))
    assert np.array_equal(np.load(tmp_path / "out"), wanted)
    succeed(directory, "--text", TEXTS[0], "--text", TEXTS[1], "--output", tmp_path / "two.npy")
    assert np.array_equal(np.load(tmp_path / "two.npy"), wanted[:2])
    result = succeed(directory, "--input", source)
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert np.array_equal(np.array(rows, np.float32), wanted)


@pytest.mark.parametrize(
    ("ids", "wanted"),
    [
        (None, None),
        ([3, 1, 2], [3, 1, 2]),
        (["a", 5, None], ["a", "5", None]),
        ([2**70, 1, 1.5], [str(2**70), "1", "1.5"]),
    ],
)
@pytest.mark.parametrize("kind", ["txt", "jsonl", "parquet"])
def test_parquet_keeps_texts_and_ids(kind, ids, wanted, directory, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet

    texts, source = ["a b", "", "the cat"], tmp_path / f"in.{kind}"
    if kind == "txt":
        source.write_text("".join(f"{text}\n" for text in texts))
    elif kind == "jsonl":
        rows = [
            {"text": text} if ids is None else {"id": i, "text": text}
            for i, text in zip(ids or texts, texts, strict=True)
        ]
        source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        columns = {"text": texts} if wanted is None else {"id": wanted, "text": texts}
        pyarrow.parquet.write_table(pa.table(columns), source)
    output = tmp_path / "out.parquet"
    commands.succeed("encode", directory, "--input", source, "--output", output)
    table = pyarrow.parquet.read_table(output)
    has_ids = wanted is not None and kind != "txt"
    assert table.column_names == [*["id"] * has_ids, "text", "embedding"]
    assert table.column("text").to_pylist() == texts
    if has_ids:
        assert table.column("id").to_pylist() == wanted
    rows = fbg.load(directory).encode(texts)
    assert np.array_equal(np.float32(table.column("embedding").to_pylist()), rows)
    found = commands.succeed(
        *("search", directory, "--query", "cat", "--input", output, "--embeddings", output)
    )
    assert {hit["text"] for hit in json.loads(found.output)} == set(texts)


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        (["--prompt-name", "query"], {"prompt_name": "query"}),
        (["--truncate-dim", "9"], {"truncate_dim": 9}),
        (["--no-normalize"], {"normalize_embeddings": False}),
        (["--truncate-dim=9", "--normalize"], {"truncate_dim": 9, "normalize_embeddings": True}),
        (["--batch-size", "1", "--threads", "2"], {}),
    ],
)
def test_options_are_those_of_the_library(directory, model, source, tmp_path, options, arguments):
    succeed(directory, "--input", source, "--output", tmp_path / "out.npy", *options)
    assert np.array_equal(np.load(tmp_path / "out.npy"), model.encode(TEXTS, **arguments))


# Blocks of 16 rows; the process sends itself a signal while it writes the third one.
STOPPED = """
import os, signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # which jobs of a shell ignore
from fbg.text import embedding_files
from fbg.cli import main
from fbg.tasks import inputs
inputs.BLOCK_TEXTS = 16
record = embedding_files.EmbeddingFile._record
def stopped_record(self, rows, *done):
    if rows == 48:
        self._file.flush()
        os.kill(os.getpid(), {number})
    record(self, rows, *done)
embedding_files.EmbeddingFile._record = stopped_record
main(["encode", {model!r}, "--input", {source!r}, "--output", {output!r}])
"""


def stop_midway(directory, source, output, number):
    paths = {"model": str(directory), "source": str(source), "output": str(output)}
    result = run_python(STOPPED.format(**paths, number=int(number)))
    assert not output.exists()
    return result


def kill_midway(directory, source, output):
    result = stop_midway(directory, source, output, signal.SIGKILL)
    assert result.returncode == -signal.SIGKILL, result.stderr


@pytest.mark.parametrize("name", ["out.npy", "out.parquet"])
def test_a_killed_run_is_resumed(directory, source, tmp_path, name):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    output, whole = tmp_path / name, tmp_path / f"whole{Path(name).suffix}"
    succeed(directory, "--input", source, "--output", whole)
    kill_midway(directory, source, output)
    result = succeed(directory, "--input", source, "--output", output)
    assert "resuming after 32 embeddings" in result.output
    assert output.read_bytes() == whole.read_bytes()
    assert sorted(os.listdir(tmp_path)) == sorted(["in.txt", name, whole.name])


@pytest.mark.parametrize("family", ["modernbert", "qwen3"])
def test_a_killed_run_of_any_family_is_resumed(family, tmp_path):
    tokenizer = tiny_models.TOKENIZERS[family]()
    directory = tiny_models.write_tiny(tmp_path / "model", family, tokenizer=tokenizer)
    source, output, whole = tmp_path / "in.txt", tmp_path / "out.npy", tmp_path / "whole.npy"
    source.write_text("\n".join(TEXTS) + "\n")
    succeed(directory, "--input", source, "--output", whole)
    kill_midway(directory, source, output)
    result = succeed(directory, "--input", source, "--output", output)
    assert "resuming after 32 embeddings" in result.output
    assert output.read_bytes() == whole.read_bytes()
    assert np.isfinite(np.load(output)).all()


@pytest.mark.parametrize("change", ["input", "options", "dtype"])
def test_another_job_begins_again(directory, source, tmp_path, change):
    output = tmp_path / "out.npy"
    kill_midway(directory, source, output)
    texts = list(TEXTS)
    if change == "input":
        texts[0] = "other"
        source.write_text("\n".join(texts))
    options = {"options": ["--no-normalize"], "dtype": ["--dtype", "int8"]}.get(change, [])
    result = succeed(directory, "--input", source, "--output", output, *options)
    assert "resuming" not in result.output
    other = {"input": "other texts", "dtype": "another model or dtype"}.get(change, "other options")
    assert f"starting over: {output}.partial was made with {other}\n" in result.output
    model = fbg.load(directory, dtype="int8" if change == "dtype" else None)
    normalize = False if change == "options" else None
    assert np.array_equal(np.load(output), model.encode(texts, normalize_embeddings=normalize))


def test_an_interrupted_run_says_what_it_keeps_and_how_to_resume(directory, source, tmp_path):
    output = tmp_path / "out.npy"
    result = stop_midway(directory, source, output, signal.SIGINT)
    assert result.returncode == 130
    last = result.stderr.splitlines()[-1]
    assert f"48 embeddings are kept in {output}.partial" in last  # also those not written yet
    assert "Run the same command again to resume" in last
    result = succeed(directory, "--input", source, "--output", output)
    assert "resuming after 48 embeddings" in result.output


# All texts are one block; the process sends itself a signal while it computes one of the batches.
STOPPED_IN_A_BLOCK = """
import os, signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # which jobs of a shell ignore
from fbg.cli import main
from fbg.runtime.engine import Engine
compute = Engine.compute
calls = []
def stopped_compute(self, *arguments):
    calls.append(None)
    if len(calls) == {batch}:
        os.kill(os.getpid(), signal.SIGINT)
    if len(calls) >= {batch}:
        time.sleep(0.2)  # until the first thread has seen it
    return compute(self, *arguments)
Engine.compute = stopped_compute
main(["encode", {model!r}, "--input", {source!r}, "--output", {output!r}, *{options!r}])
"""


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", ["out.npy", "out.parquet"])
def test_whole_batches_of_an_interrupted_block_are_kept(
    directory, source, tmp_path, name, threads, monkeypatch
):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    output, whole = tmp_path / name, tmp_path / f"whole{Path(name).suffix}"
    options = ["--batch-size", "4", "--threads", str(threads), "--truncate-dim", "9", "--normalize"]
    succeed(directory, "--input", source, "--output", whole, *options)
    paths = {"model": str(directory), "source": str(source), "output": str(output)}
    kept = 0
    for batch in (2, 5):  # of the second run, which goes on where the first one ended
        code = STOPPED_IN_A_BLOCK.format(**paths, batch=batch, options=options)
        result = run_python(code)
        assert result.returncode == 130, result.stderr
        assert not output.exists()
        last = result.stderr.splitlines()[-1]
        found = re.search(rf"(\d+) embeddings are kept in {output}.partial", last)
        assert found is not None, last
        assert kept + 4 * (batch - 1) <= int(found[1]) < len(TEXTS)
        kept = int(found[1])
    computed = []
    compute = Engine.compute

    def counted(self, ids, *arguments):
        computed.append(len(ids))
        return compute(self, ids, *arguments)

    monkeypatch.setattr(Engine, "compute", counted)
    result = succeed(directory, "--input", source, "--output", output, *options)
    assert f"resuming after {kept} embeddings" in result.output
    assert sum(computed) == len(TEXTS) - kept
    assert output.read_bytes() == whole.read_bytes()
    assert sorted(os.listdir(tmp_path)) == sorted(["in.txt", name, whole.name])


def test_an_interruption_before_the_first_batch_says_how_to_go_on(directory, source, tmp_path):
    paths = {"model": str(directory), "source": str(source), "output": str(tmp_path / "out.npy")}
    result = run_python(STOPPED_IN_A_BLOCK.format(**paths, batch=1, options=["--threads", "1"]))
    assert result.returncode == 130
    assert "nothing was computed yet. Run the same command again" in result.stderr
    assert os.listdir(tmp_path) == ["in.txt"]


def test_an_output_is_replaced_only_when_asked_to(directory, model, source, tmp_path):
    output = tmp_path / "out.npy"
    output.write_bytes(b"precious")
    result = invoke(directory, "--input", source, "--output", output)
    assert result.exit_code == 1
    assert f"{output}: already exists; pass --overwrite to replace it" in result.output
    assert output.read_bytes() == b"precious"
    succeed(directory, "--input", source, "--output", output, "--overwrite")
    assert np.array_equal(np.load(output), model.encode(TEXTS))


def test_an_output_is_a_regular_file_or_a_link_to_one(directory, model, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "to-pipe").symlink_to("pipe")
    (tmp_path / "link.npy").symlink_to("target.npy")
    for name in ("pipe", "to-pipe"):
        for options in ([], ["--overwrite"]):
            result = invoke("absent", "--text", "a", "--output", tmp_path / name, *options)
            assert result.exit_code == 1
            assert f"{name}: is a named pipe, not a regular file" in result.output
    assert (tmp_path / "pipe").is_fifo()
    assert (tmp_path / "to-pipe").is_symlink()
    succeed(directory, "--text", "a", "--output", tmp_path / "link.npy")
    assert (tmp_path / "link.npy").is_symlink()
    assert np.array_equal(np.load(tmp_path / "target.npy"), model.encode(["a"]))
    assert sorted(os.listdir(tmp_path)) == ["link.npy", "pipe", "target.npy", "to-pipe"]


def test_a_pipe_is_read_once(directory, model, tmp_path):
    reading, writing = os.pipe()
    try:
        os.write(writing, "\n".join(TEXTS).encode())
        os.close(writing)
        succeed(directory, "--input", f"/dev/fd/{reading}", "--output", tmp_path / "out")
    finally:
        os.close(reading)
    assert np.array_equal(np.load(tmp_path / "out"), model.encode(TEXTS))


def test_a_fault_in_the_middle_leaves_no_output(directory, tmp_path):
    source, output = tmp_path / "in.txt", tmp_path / "out.npy"
    source.write_bytes(b"fine\n" * 40 + b"\xff\n")
    result = invoke(directory, "--input", source, "--output", output)
    assert result.exit_code == 1
    assert "in.txt, line 41: not UTF-8" in result.output
    assert os.listdir(tmp_path) == ["in.txt"]


def test_a_cut_text_is_said_in_one_line(directory):
    result = succeed(directory, "--text", "a " * 500)
    assert "Warning: encode: sentences[0] has 502 tokens" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    result = invoke(directory, "--text", "a " * 500, "--no-truncation")
    assert result.exit_code == 1
    assert "Error: encode: sentences[0] has 502 tokens" in result.output


def test_a_resumed_run_counts_texts_from_the_first_one(directory, tmp_path, monkeypatch):
    monkeypatch.setattr(inputs, "BLOCK_TEXTS", 16)
    source, output = tmp_path / "in.txt", tmp_path / "out.npy"
    source.write_text("\n".join([*TEXTS[:40], "a " * 500]))
    options = ("--input", source, "--output", output, "--no-truncation")
    results = [invoke(directory, *options) for _ in range(2)]
    assert "resuming after 32 embeddings" in results[1].output
    for result in results:
        assert "Error: encode: sentences[40] has 502 tokens" in result.output


def test_mistakes_take_one_line(directory, source, tmp_path):
    (tmp_path / "in.csv").write_text("a")
    (tmp_path / "in.jsonl").write_text('{"body": "a"}\n')
    plain = tmp_path / "plain"
    plain.write_text("a\n")
    out = ["--output", tmp_path / "out.npy"]
    before = sorted(os.listdir(tmp_path))
    cases = [
        ([directory], 2, "give either --text or --input"),
        ([directory, "--text", "a", "--input", source], 2, "give either --text or --input"),
        ([directory, "--text", "a", "--column", "b"], 2, "--column requires --input"),
        ([directory, "--input", source, "--truncate-dim", "0", *out], 2, "--truncate-dim"),
        ([directory, "--input", tmp_path / "absent.txt", *out], 1, "/absent.txt: no such file\n"),
        (
            [directory, "--input", tmp_path / "in.csv", *out],
            1,
            "the suffix of the input must be one of .txt",
        ),
        ([directory, "--input", tmp_path / "in.jsonl", *out], 1, "line 1: has no 'text'"),
        (
            [directory, "--input", source, "--output", "out.csv"],
            1,
            "the suffix of the output must be one of",
        ),
        (
            [directory, "--input", source, "--output", tmp_path / "no" / "o.npy"],
            1,
            "/no: no such directory\n",
        ),
        ([directory, "--input", plain, "--output", plain], 2, "--output would replace the --input"),
        ([directory, "--input", source, "--truncate-dim", "49", *out], 2, "--truncate-dim must be"),
        ([directory, "--input", source, "--prompt-name", "x", *out], 1, "('query'), got 'x'"),
        (["./absent", "--input", source, *out], 1, "./absent: no such directory"),
    ]
    commands.check_mistakes(cases, "encode")
    assert sorted(os.listdir(tmp_path)) == before


def test_progress_advances_within_a_block(directory, source, tmp_path, monkeypatch):
    advanced = []

    @contextlib.contextmanager
    def recorded(*args, **options):
        yield advanced.append

    invoke(directory, "--help")  # imports the command
    monkeypatch.setattr(sys.modules["fbg.cli.encode"], "progress_bar", recorded)
    # One thread: of several, the others may have computed everything before this one takes a batch.
    options = ("--batch-size", "4", "--threads", "1")
    succeed(directory, "--input", source, "--output", tmp_path / "out.npy", *options)
    assert sum(advanced) == len(TEXTS)
    assert max(advanced) < len(TEXTS)
