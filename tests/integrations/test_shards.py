"""Corpora in shards: alone, and on a local Ray cluster of which an actor is killed."""

import json
import os
import signal
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from fbg.integrations.ray_encode import encode_shards
from fbg.integrations.shards import Done, ShardEncoder, ShardJob, find_shards
from helpers.commands import invoke

SHARDS, ROWS = 8, 2500


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    for shard in range(SHARDS):
        lines = [json.dumps({"text": f"the dog {shard} {n}"}) for n in range(ROWS)]
        (folder / f"part-{shard}.jsonl").write_text("\n".join(lines))
    return folder


def rows_of(path):
    column = pq.read_table(path).column("embedding").combine_chunks()
    return column.flatten().to_numpy().reshape(len(column), -1)


def texts_of(shard):
    return [f"the dog {shard} {n}" for n in range(ROWS)]


def actors_of_this_process():
    """Processes of actors whose ancestor is this one."""
    parents, found = {}, []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(entry.name)] = int(
                (entry / "stat").read_text().rpartition(")")[2].split()[1]
            )
            if (entry / "cmdline").read_bytes().startswith(b"ray::ShardEncoder"):
                found.append(int(entry.name))
        except OSError:
            continue  # it has ended meanwhile

    def is_ours(pid):
        return pid == os.getpid() or (pid in parents and is_ours(parents[pid]))

    return [pid for pid in found if is_ours(pid)]


@pytest.mark.alone
@pytest.mark.usefixtures("cluster")
@pytest.mark.filterwarnings("ignore")
def test_a_killed_actor_costs_no_row_and_a_second_run_resumes(corpus, directory, model, tmp_path):
    shards = find_shards(str(corpus), str(tmp_path))
    assert len(shards) == SHARDS
    job = ShardJob(str(directory), str(tmp_path), "int8")
    killed = []

    def kill_one(done):
        if not killed:
            killed.append(actors_of_this_process()[0])
            os.kill(killed[0], signal.SIGKILL)

    done = encode_shards(job, shards, actors=2, advance=kill_one)
    assert killed and [each.shard for each in done] == shards
    assert all(each.rows == ROWS for each in done)
    # The actor may have been killed between writing a shard and answering.
    assert sum(each.skipped for each in done) <= 1
    for shard in range(SHARDS):
        got = rows_of(tmp_path / f"part-{shard}.parquet")
        assert np.array_equal(got, model.encode(texts_of(shard)))
    assert not list(tmp_path.glob("*.partial*"))

    (tmp_path / "part-3.parquet").unlink()
    (tmp_path / ".fbg/part-5.json").write_text("{")
    again = encode_shards(job, shards, actors=2)
    made = [number for number, each in enumerate(again) if not each.skipped]
    assert made == [3, 5]
    assert np.array_equal(rows_of(tmp_path / "part-3.parquet"), model.encode(texts_of(3)))


@pytest.mark.alone
@pytest.mark.usefixtures("cluster")
@pytest.mark.filterwarnings("ignore")
def test_the_command_embeds_a_directory(directory, model, tmp_path):
    source, output = tmp_path / "texts", tmp_path / "rows"
    source.mkdir()
    (source / "a.txt").write_text("the dog\na fox\n")
    (source / "b.jsonl").write_text('{"text": "zebra"}')
    arguments = ["encode", str(directory), "--ray", "--input", str(source), "--dtype", "int8"]
    arguments += ["--output", str(output), "--prompt-name", "query", "--actors", "2"]
    result = invoke(*arguments)
    assert result.exit_code == 0, result.output
    assert "3 embeddings in 2 files, 0 of which were there" in result.output
    wanted = model.encode(["the dog", "a fox"], prompt_name="query")
    assert np.array_equal(rows_of(output / "a.parquet"), wanted)
    assert "2 of which were there" in invoke(*arguments).output
    (source / "c.jsonl").write_text('{"text": 5}')
    broken = invoke(*arguments)
    assert broken.exit_code == 1 and "c.jsonl, line 1: 'text' must be a string" in broken.output


def test_urls_of_other_file_systems_are_read_and_written(directory, model):
    import fsspec

    fs = fsspec.filesystem("memory")
    fs.pipe("/texts/a.txt", b"the dog\na fox\n")
    (shard,) = find_shards("memory://texts/*.txt", "memory://rows")
    encoder = ShardEncoder(ShardJob(str(directory), "memory://rows", "int8"))
    assert encoder.encode(shard) == Done(shard, 2, False)
    with fs.open("/rows/a.parquet") as file:
        column = pq.read_table(file).column("embedding").to_pylist()
    assert np.array_equal(np.array(column, np.float32), model.encode(["the dog", "a fox"]))
    assert encoder.encode(shard) == Done(shard, 2, True)
    # Other texts, or other options, begin again.
    fs.pipe("/texts/a.txt", b"another dog\n")
    assert encoder.encode(shard) == Done(shard, 1, False)


def test_mistakes_are_named(directory, tmp_path):
    with pytest.raises(FileNotFoundError, match="no such files"):
        find_shards(str(tmp_path / "none"), str(tmp_path / "rows"))
    (tmp_path / "a.txt").write_text("a")
    with pytest.raises(ValueError, match="must not be the directory of the input"):
        find_shards(str(tmp_path), str(tmp_path))
    (tmp_path / "a.jsonl").write_text("")
    with pytest.raises(ValueError, match="would have the same output"):
        find_shards(str(tmp_path), str(tmp_path / "rows"))
    (tmp_path / "a.jsonl").rename(tmp_path / "b.csv")
    with pytest.raises(ValueError, match="suffix of the input must be one of"):
        find_shards(str(tmp_path), str(tmp_path / "rows"))

    def usage(*arguments):
        result = invoke("encode", directory, *arguments)
        assert result.exit_code == 2
        return result.output

    assert "--ray requires --input and --output" in usage("--ray", "--text", "a")
    assert "require --ray" in usage("--text", "a", "--actors", "2")
    assert "is a directory, which requires --ray" in usage("--input", str(tmp_path))
