"""Files of embeddings: they appear when complete, and are resumed only if the job is the same."""

import json
import os

import numpy as np
import pytest

from fbg.files import NotRegularError
from fbg.text.embedding_files import EmbeddingFile

ROWS = np.arange(30, dtype=np.float32).reshape(10, 3)
JOB = {"model": "a", "options": [1, None]}


def interrupted(path, rows):
    with EmbeddingFile(path, 3, JOB) as file:
        file.append(ROWS[:rows])


@pytest.mark.parametrize("rows", [0, 1, 10])
@pytest.mark.parametrize("name", ["out.npy", "out"])
def test_npy_is_what_numpy_writes(tmp_path, name, rows):
    with EmbeddingFile(tmp_path / name, 3, JOB) as file:
        for row in ROWS[:rows]:
            file.append(row[None])
        assert not (tmp_path / name).exists()
        file.finish()
    assert os.listdir(tmp_path) == [name]
    np.save(tmp_path / "same.npy", ROWS[:rows])
    assert np.array_equal(np.load(tmp_path / name), ROWS[:rows])
    assert len((tmp_path / name).read_bytes()) == len((tmp_path / "same.npy").read_bytes())
    assert np.load(tmp_path / name, mmap_mode="r").shape == (rows, 3)


@pytest.mark.parametrize("rows", [0, 10])
def test_parquet_has_a_list_in_each_row(tmp_path, rows):
    pytest.importorskip("pyarrow")
    import pyarrow.parquet

    path = tmp_path / "out.parquet"
    interrupted(path, rows)
    with EmbeddingFile(path, 3, JOB) as file:
        assert file.rows == rows
        file.finish()
    assert os.listdir(tmp_path) == ["out.parquet"]
    column = pyarrow.parquet.read_table(path).column("embedding").to_pylist()
    assert column == ROWS[:rows].tolist()


def test_rows_of_the_same_job_are_kept(tmp_path):
    path = tmp_path / "out.npy"
    interrupted(path, 4)
    with (tmp_path / "out.npy.partial").open("ab") as file:
        file.write(b"half a row")  # written, but never counted
    with EmbeddingFile(path, 3, JOB) as file:
        assert file.rows == 4
        file.append(ROWS[4:])
        file.finish()
    assert np.array_equal(np.load(path), ROWS)
    assert os.listdir(tmp_path) == ["out.npy"]


def test_rows_that_were_done_beyond_a_block_are_kept(tmp_path):
    path = tmp_path / "out.npy"
    with EmbeddingFile(path, 3, JOB) as file:
        file.append(ROWS[:4])
        file.done.update({3: ROWS[3], 7: ROWS[7], 5: ROWS[5]})  # 3 is in the file already
        assert file.keep() == 6
    with EmbeddingFile(path, 3, JOB):
        pass  # ended before it did anything, and without keeping
    with EmbeddingFile(path, 3, JOB) as file:
        assert (file.rows, sorted(file.done)) == (4, [5, 7])
        assert all(np.array_equal(row, ROWS[n]) for n, row in file.done.items())
        file.append(ROWS[4:])
        file.finish()
    assert np.array_equal(np.load(path), ROWS)
    assert os.listdir(tmp_path) == ["out.npy"]


@pytest.mark.parametrize("change", ["job", "dimension", "state", "number", "rows", "none", "done"])
def test_anything_else_begins_again(tmp_path, change):
    path, state = tmp_path / "out.npy", tmp_path / "out.npy.partial.json"
    interrupted(path, 4)
    content = json.loads(state.read_text())
    if change == "state":
        state.write_bytes(b"{")
    elif change == "number":
        state.write_text(json.dumps(content | {"rows": -1}))
    elif change == "rows":
        (tmp_path / "out.npy.partial").write_bytes(b"short")
    elif change == "none":
        state.unlink()
    elif change == "done":
        state.write_text(json.dumps(content | {"done": {"5": "AAAA"}}))
    job = JOB | {"model": "b"} if change == "job" else JOB
    with EmbeddingFile(path, 2 if change == "dimension" else 3, job) as file:
        assert file.rows == 0
        assert file.done == {}
        told = {"job": "another model or dtype", "dimension": "another dimension"}
        assert file.discarded == told.get(change, "")


def test_what_cannot_be_resumed_says_what_it_discards(tmp_path):
    interrupted(tmp_path / "out.npy", 4)
    with EmbeddingFile(tmp_path / "out.npy", 3, None) as file:
        assert (file.rows, file.discarded) == (0, "other texts")
    with EmbeddingFile(tmp_path / "out.npy", 3, JOB) as file:
        assert (file.rows, file.discarded) == (0, "")


def test_an_old_output_stays_until_the_new_one_is_complete(tmp_path):
    path = tmp_path / "out.npy"
    np.save(path, ROWS[:2])
    interrupted(path, 4)
    assert np.array_equal(np.load(path), ROWS[:2])
    with EmbeddingFile(path, 3, JOB) as file:
        file.finish()
    assert np.array_equal(np.load(path), ROWS[:4])


def test_a_file_is_written_by_one_process_at_a_time(tmp_path):
    with (
        EmbeddingFile(tmp_path / "out.npy", 3, JOB),
        pytest.raises(BlockingIOError, match=r"out\.npy: another process is writing it"),
    ):
        EmbeddingFile(tmp_path / "out.npy", 3, JOB)


def test_nothing_is_left_of_a_job_that_cannot_be_resumed(tmp_path):
    path = tmp_path / "out.npy"
    interrupted(path, 4)
    with EmbeddingFile(path, 3, None) as file:
        assert file.rows == 0
        file.append(ROWS)
    assert os.listdir(tmp_path) == []
    with EmbeddingFile(path, 3, None) as file:
        file.append(ROWS)
        file.finish()
    assert np.array_equal(np.load(path), ROWS)
    assert os.listdir(tmp_path) == ["out.npy"]


@pytest.mark.parametrize("name", ["out.npy", "out.npy.partial", "out.npy.partial.json"])
def test_no_pipe_is_written_or_replaced(tmp_path, name):
    os.mkfifo(tmp_path / name)
    with pytest.raises(NotRegularError, match=f"{name}: is a named pipe"):
        EmbeddingFile(tmp_path / "out.npy", 3, JOB)
    assert (tmp_path / name).is_fifo()


def test_rows_are_not_written_through_a_link(tmp_path):
    (tmp_path / "precious").write_bytes(b"precious")
    (tmp_path / "out.npy.partial").symlink_to("precious")
    with pytest.raises(NotRegularError, match=r"out\.npy\.partial: is a symbolic link"):
        EmbeddingFile(tmp_path / "out.npy", 3, JOB)
    assert (tmp_path / "precious").read_bytes() == b"precious"


def test_nothing_is_left_of_a_job_without_rows(tmp_path):
    interrupted(tmp_path / "out.npy", 0)
    assert os.listdir(tmp_path) == []


def test_other_files_are_no_outputs(tmp_path):
    with pytest.raises(
        ValueError, match=r"out\.csv: the suffix of the output must be one of \.npy, \.parquet"
    ):
        EmbeddingFile(tmp_path / "out.csv", 3, JOB)
    with pytest.raises(FileNotFoundError):
        EmbeddingFile(tmp_path / "none" / "out.npy", 3, JOB)
