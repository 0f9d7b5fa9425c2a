"""The reader of a page (helpers/reader.py) has what was told to install, and nothing else."""

import pytest

from helpers.reader import Reader, installed_by


def test_a_reader_has_what_was_told_and_no_more(tmp_path):
    with Reader(tmp_path) as reader:
        reader.python("import fbg\nimport numpy", "page", 1)
        with pytest.raises(AssertionError, match="install it with: pip install 'fbg\\[cli]'"):
            reader.fbg(["fbg", "info"])
        reader.read("Run `pip install 'fbg[cli]'`.")
        reader.python("import click, tokenizers", "page", 2)
        reader.fbg(["fbg", "info"])
        with pytest.raises(AssertionError, match="No module named 'pytest'"):
            reader.python("import pytest", "page", 3)
        reader.read("    python3 -m venv .venv")
        with pytest.raises(AssertionError, match="No module named 'tokenizers'"):
            reader.python("import tokenizers", "page", 4)


def test_a_warning_in_a_block_is_an_error(tmp_path):
    with (
        Reader(tmp_path) as reader,
        pytest.raises(AssertionError, match="UserWarning: old"),
    ):
        reader.python("import warnings\nwarnings.warn('old')", "page", 6)


def test_what_a_text_tells_to_install():
    text = "`pip install '.[cli,plot]' openai` and\n    pip install --no-index x.tar.gz  # pip\n"
    assert [str(wanted) for wanted in installed_by(text)] == ["fbg[cli,plot]", "openai"]
