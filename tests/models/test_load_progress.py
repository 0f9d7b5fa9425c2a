"""fbg.load and `fbg quantize` report how far smoothing, calibration and packing are."""

import pytest

import fbg
from fbg.progress import progress_bars
from helpers.commands import invoke
from helpers.tiny_bert import AWKWARD


def calls_of(directory, **options):
    stages = {}

    def progress(stage, done, total):
        stages.setdefault(stage, []).append((stage, done, total))

    fbg.load(directory, progress=progress, **options)
    return stages


@pytest.mark.parametrize("calibrate", [None, ["a word", "0123 abc def"] * 1500])
def test_every_stage_runs_from_its_first_step_to_its_end(directory, calibrate):
    stages = calls_of(directory, dtype="int8", calibrate=calibrate)
    assert list(stages) == ["observing", "quantizing"]
    for calls in stages.values():
        done, totals = [call[1] for call in calls], {call[2] for call in calls}
        assert len(totals) == 1
        assert done == sorted(set(done))
        assert done[0] > 0
        assert {done[-1]} == totals
    layers = AWKWARD.num_hidden_layers
    assert [call[1] for call in stages["quantizing"]] == list(range(1, 4 * layers + 1))
    # Thousands of texts take many runs, each of which reports.
    assert len(stages["observing"]) >= (layers + 1) * (1 if calibrate is None else 10)


def test_without_observation_only_quantizing_is_reported(directory):
    assert list(calls_of(directory, dtype="int8", smooth=False)) == ["quantizing"]


def test_an_error_of_the_callback_ends_the_load(directory):
    def interrupt(stage, done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fbg.load(directory, dtype="int8", progress=interrupt)


def test_bars_follow_the_stages(capsys):
    pytest.importorskip("tqdm")
    with progress_bars() as progress:
        for stage in ("observing", "quantizing"):
            for done in range(1, 5):
                progress(stage, done, 4)
    shown = capsys.readouterr().err
    assert "observing: 100%" in shown
    assert "quantizing: 100%" in shown
    assert shown.index("observing") < shown.index("quantizing")
    assert shown.count("\n") == 1  # one bar, whatever the number of stages


def test_quantize_shows_how_far_it_is(directory, tmp_path, monkeypatch):
    pytest.importorskip("tqdm")
    monkeypatch.setattr("fbg.cli.common.shows_progress", lambda: True)  # as on a terminal
    texts = tmp_path / "texts.txt"
    texts.write_text("a word\nthe quick brown fox\n")
    options = ["--calibrate", str(texts)]
    result = invoke("quantize", directory, tmp_path / "m", *options)
    assert result.exit_code == 0, result.output
    assert "observing: 100%" in result.stderr
    assert "quantizing: 100%" in result.stderr
    assert result.stdout == ""
