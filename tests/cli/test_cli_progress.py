"""Commands that may take long show on a terminal how far they are, and nowhere else."""

import io
import os
import re
import sys
from itertools import groupby

import numpy as np
import onnx
import pytest

from fbg import progress
from fbg.cli import main
from helpers import tiny_bert, tiny_tasks
from helpers.small_cnns import FAMILIES

pytest.importorskip("tqdm")

# Who says nothing: it takes no time, or has its log.
SILENT = {"classify-image", "detect", "info", "serve"}
ROUNDS = ["--rounds", "1"]
SHORT = ["--tokens", "8", "--threads", "1", *ROUNDS]
MODELS = {
    "answer": "bert-ForQuestionAnswering",
    "classify": "bert-ForSequenceClassification",
    "fill-mask": "bert-ForMaskedLM",
    "ner": "bert-ForTokenClassification",
    "rerank": "pairs",
    "zero-shot": "nli",
}


class Terminal(io.StringIO):
    """A standard error that somebody looks at, or one that is kept."""

    def __init__(self, looked_at):
        super().__init__()
        self._looked_at = looked_at

    def isatty(self):
        return self._looked_at


def arguments_of(command, folder):
    """Arguments with which a command does what may take long."""
    kind = MODELS.get(command)
    if kind is None:
        model = tiny_bert.write_checkpoint(folder / "model", seed=4)
    else:
        model = tiny_tasks.write_model(folder / "model", kind)
    text = "the [MASK] fox" if command == "fill-mask" else "the quick fox"
    (folder / "texts.txt").write_text(f"{text}\n" * 3)
    given = ["--input", str(folder / "texts.txt")]
    more = {
        "answer": ["--question", "who?", "--context", text],
        "bench": [*SHORT, "--dtype", "int8"],
        "compare": [*given, *ROUNDS, "--dtype", "int8"],
        "encode": [*given, "--output", str(folder / "out.npy")],
        "profile": SHORT,
        "quantize": [str(folder / "out")],
        "rerank": [*given, "--query", "a fox"],
        "report": [*given, *SHORT, "--dtype", "int8"],
        "search": [*given, "--query", "a fox"],
        "zero-shot": [*given, "--label", "a", "--label", "b"],
    }
    return [command, str(model), *more.get(command, given)]


def net_arguments_of(command, folder):
    """The same for an ONNX file."""
    model, shape = FAMILIES["mobilenet_v2"]()
    onnx.save(model, str(folder / "net.onnx"))
    given = [str(folder / "net.onnx"), "--shape", "x=" + ",".join(map(str, shape))]
    if command == "quantize":
        runs = np.random.default_rng(0).standard_normal((2, *shape)).astype(np.float32)
        np.savez(folder / "inputs.npz", x=runs)
        given[1:1] = [str(folder / "out"), "--calibrate", str(folder / "inputs.npz")]
        return [command, *given]
    return [command, *given, *ROUNDS]


def errors_of(arguments, looked_at, monkeypatch):
    """What a command writes to standard error."""
    terminal = Terminal(looked_at)
    monkeypatch.setattr(sys, "stderr", terminal)
    main.main(arguments, prog_name="fbg", standalone_mode=False)
    return terminal.getvalue()


def check_bars(arguments, folder, monkeypatch):
    shown = []
    for looked_at in (True, False):
        own = folder / str(looked_at)
        own.mkdir()
        shown.append(errors_of(arguments(own), looked_at, monkeypatch))
    assert "100%|" in shown[0]
    assert "%|" not in shown[1]


@pytest.mark.parametrize("command", sorted(main.commands.keys() - SILENT))
def test_commands_show_bars_on_a_terminal(command, tmp_path, monkeypatch):
    check_bars(lambda folder: arguments_of(command, folder), tmp_path, monkeypatch)


@pytest.mark.parametrize("command", ["bench", "compare", "profile", "quantize", "report"])
def test_commands_show_bars_of_networks(command, tmp_path, monkeypatch):
    check_bars(lambda folder: net_arguments_of(command, folder), tmp_path, monkeypatch)


def test_progress_is_told_to_the_innermost(monkeypatch):
    outer = []
    with progress.told_to(lambda *now: outer.append(now)):
        for _ in progress.counted("steps", range(2)):
            with progress.told_to(None):
                list(progress.counted("inside", [1, 2]))
        assert list(progress.counted("endless", iter([3]))) == [3]
        with progress.progress_bar(4, "text", show=False, initial=1) as advance:
            advance(3)
    assert outer == [("steps", 0, 2), ("steps", 1, 2), ("steps", 2, 2), ("texts", 4, 4)]
    assert list(progress.counted("nobody", [1])) == [1]


def test_a_second_stage_of_the_same_name_begins_again(monkeypatch):
    terminal = Terminal(True)
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress.progress_bars():
        for items in ([1, 2], [1, 2, 3], [1, 2, 3]):
            list(progress.counted("sentences", items))
    shown = [int(share) for share in re.findall(r"(-?\d+)%\|", terminal.getvalue())]
    assert all(0 <= share <= 100 for share in shown)
    ends = [share for share, _ in groupby(shown) if share in (0, 100)]
    assert ends == [0, 100, 0, 100, 0, 100]


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="has no pseudo-terminals")
def test_a_terminal_of_unknown_width_has_a_bar(monkeypatch):
    reader, writer = os.openpty()  # of 0 columns, until somebody says how many
    with open(reader, "rb", buffering=0) as shown, open(writer, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        assert os.get_terminal_size(writer).columns == 0
        with progress.progress_bars():
            list(progress.counted("steps", [1]))
        terminal.flush()
        with progress.progress_bar(2, "text", show=True) as advance:
            advance(2)
        terminal.flush()
        os.set_blocking(reader, False)
        text = b"".join(iter(lambda: shown.read(10_000), None)).decode()
    assert "steps: 100%|" in text
    assert "100%|" in text.partition("steps: 100%|")[2]
    assert all(len(line) <= 80 for line in text.replace("\r", "\n").split("\n"))
