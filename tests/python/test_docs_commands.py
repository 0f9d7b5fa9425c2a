"""Every command and every block of Python in the pages about commands and accuracy runs."""

import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

import tiny_bert
from fbg.cli import main

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("command-line.md", "accuracy.md")


def commands(page: str) -> list[str]:
    return re.findall(r"^    (fbg .*)$", (DOCS / page).read_text(encoding="utf-8"), re.MULTILINE)


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory where what the pages name is there."""
    geometry = replace(tiny_bert.AWKWARD, max_position_embeddings=512)
    for name in ("all-MiniLM-L6-v2", "bert-base"):
        path = tmp_path / "path" / "to" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        tiny_bert.write_checkpoint(path, geometry, spread=0.25)
    for name in ("mine.txt", "lines.txt"):
        (tmp_path / name).write_text("a line of text\nand another\na third\n")
    monkeypatch.chdir(tmp_path)


def test_there_are_commands() -> None:
    shown = {line.split()[1] for page in PAGES for line in commands(page)}
    assert shown >= set(main.commands)


@pytest.mark.parametrize("line", dict.fromkeys(line for page in PAGES for line in commands(page)))
@pytest.mark.usefixtures("models")
def test_command_of_the_docs(line: str) -> None:
    if "--plot" in line:
        pytest.importorskip("matplotlib")
    arguments = shlex.split(line, comments=True)[1:]
    if arguments[0] in ("bench", "profile"):
        arguments += ["--rounds", "1"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.usefixtures("models")
def test_python_of_the_docs(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    for block in re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        exec(compile(block, page, "exec"), {})
