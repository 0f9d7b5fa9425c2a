"""Texts of files: what is read, and how a damaged file is named."""

import json

import pytest

from fbg.text.files import count_texts, read_texts

TEXTS = ["first", "", "  third é ", "fifth\u2028 one"]


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def write_parquet(path, **columns):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    pyarrow.parquet.write_table(pa.table(columns), path)
    return path


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("name", ["in.txt", "IN.TXT", "in"])
def test_a_text_file_is_its_lines(tmp_path, name, end):
    path = write(tmp_path / name, end.join(TEXTS))
    assert list(read_texts(path)) == TEXTS
    assert count_texts(path) == 4
    write(path, b"\xef\xbb\xbf" + end.join(TEXTS).encode() + end.encode())
    assert list(read_texts(path)) == TEXTS
    assert count_texts(path) == 4


@pytest.mark.parametrize("name", ["in.txt", "in.jsonl"])
def test_an_empty_file_has_no_texts(tmp_path, name):
    path = write(tmp_path / name, "")
    assert list(read_texts(path)) == []
    assert count_texts(path) in (0, None)


def test_json_lines_have_texts_in_a_field(tmp_path):
    lines = [json.dumps({"id": n, "text": text, "t": "x"}) for n, text in enumerate(TEXTS)]
    path = write(tmp_path / "in.jsonl", "\n".join(lines) + "\n\n")
    assert list(read_texts(path)) == TEXTS
    assert list(read_texts(path, "t")) == ["x"] * 4


def test_parquet_has_texts_in_a_column(tmp_path):
    path = write_parquet(tmp_path / "in.parquet", id=[1, 2, 3, 4], text=TEXTS, t=["x"] * 4)
    assert list(read_texts(path)) == TEXTS
    assert list(read_texts(path, "t")) == ["x"] * 4
    assert count_texts(path) == 4


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("in.txt", b"ok\n\xff\xfe\nok\n", "line 2: not UTF-8"),
        ("in.jsonl", b'{"text": "a"}\n{"text": "\xff"}\n', "line 2: not UTF-8"),
        ("in.jsonl", b'{"text": "a"}\n{"text": \n', "line 2: not JSON"),
        ("in.jsonl", b"[" * 100_000, "line 1: not JSON"),
        ("in.jsonl", b'"a"\n', "line 1: must be an object, got str"),
        ("in.jsonl", b'\n{"id": 1, "t": 2}\n', "line 2: has no 'text', only 'id', 't'"),
        ("in.jsonl", b'{"text": null}\n', "line 1: 'text' must be a string, got NoneType"),
        ("in.jsonl", b'{"text": "\\ud800"}\n', "line 1: 'text' is not valid Unicode"),
        ("in.csv", b"a,b\n", r"the suffix of the input must be one of \.txt, \.jsonl, \.parquet"),
        ("in.parquet", b"PAR1 no", "not a readable Parquet file"),
        ("in.parquet", b"", "not a readable Parquet file"),
    ],
)
def test_a_damaged_file_is_named_with_its_line(tmp_path, name, content, message):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    path = write(tmp_path / name, content)
    with pytest.raises(ValueError, match=rf"{path}.*{message}"):
        list(read_texts(path))


def test_columns_that_do_not_fit_are_named(tmp_path):
    path = write_parquet(tmp_path / "in.parquet", id=[1, 2], text=["a", None])
    with pytest.raises(ValueError, match=r"in\.parquet: has no column 'body', only 'id', 'text'"):
        list(read_texts(path, "body"))
    with pytest.raises(ValueError, match=r"row 1: 'id' must be a string, got int"):
        list(read_texts(path, "id"))
    with pytest.raises(ValueError, match=r"row 2: 'text' must be a string, got NoneType"):
        list(read_texts(path))
    with pytest.raises(ValueError, match="a text file has no columns, got column 'a'"):
        list(read_texts(write(tmp_path / "in.txt", "a"), "a"))


def test_text_of_parquet_that_is_not_utf8_is_named(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    text = pyarrow.array([b"ok", b"\xff\xfe"], pyarrow.binary()).view(pyarrow.string())
    path = write_parquet(tmp_path / "in.parquet", text=text)
    with pytest.raises(ValueError, match=r"in\.parquet: not readable after row 0"):
        list(read_texts(path))


def test_a_damaged_parquet_page_is_named(tmp_path):
    path = write_parquet(tmp_path / "in.parquet", text=[f"text {n}" for n in range(5000)])
    content = bytearray(path.read_bytes())
    content[10:2000] = b"\xff" * 1990
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"in\.parquet"):
        list(read_texts(path))
