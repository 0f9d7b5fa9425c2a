"""bench/report.py: one build on a page, no part twice, and nothing that is left out silently."""

import argparse
import importlib
import json
import os
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

BENCH = Path(__file__).parents[2] / "bench"
BUILD = {"commit": "0123abc", "compiler": "a compiler"}
# A benchmark: two cases, of which the first run reaches one if STOP is there.
SCRIPT = f"""
import sys
sys.path.insert(0, {str(BENCH)!r})
import timing
from pathlib import Path
timing.build = lambda: {BUILD!r}
timing.SAMPLE_SECONDS = 1e-5
arguments = timing.parser("fake").parse_args()
report = timing.Report("fake", arguments)
for tokens in (8, 384):
    def field():
        with open("LOG", "a") as log:
            log.write(f"{{tokens}} ")
        return [timing.Contestant(n, lambda: sum(range(k))) for n, k in
                (("fbg-int8", 10), ("ort-int8", 1000), ("openvino-fp32", 1))]
    report.run(timing.Case({{"tokens": tokens, "threads": 1}}, field), 3)
    stop = Path("STOP")
    if stop.exists():
        stop.unlink()
        sys.exit("no more")
report.put({{"place": "L2"}}, [{{"place": "L2", "GB/s": 12.345}}])
"""


def script_of_bench(name, monkeypatch):
    """A script as a module, which no other test sees, nor what it imports of its folder."""
    monkeypatch.delitem(sys.modules, name, raising=False)  # a folder of tests may have the name
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(BENCH))
    found = importlib.import_module(name)
    for other in set(sys.modules) - before:
        if str(getattr(sys.modules[other], "__file__", "")).startswith(str(BENCH)):
            monkeypatch.delitem(sys.modules, other, raising=False)
    return found


@pytest.fixture
def report(monkeypatch, tmp_path):
    """bench/report.py with one part, a script of this test, which has a folder of its own."""
    report = script_of_bench("report", monkeypatch)
    timing = report.timing
    script = tmp_path / "fake.py"
    script.write_text(
        SCRIPT.replace('"LOG"', repr(str(tmp_path / "log"))).replace(
            '"STOP"', repr(str(tmp_path / "stop"))
        )
    )
    peers = "numpy no-such-engine"
    part = report.Part("fake", "Fake products", str(script), 60, peers, text="Of this test.")
    absent = report.Part("other", "Another part", str(tmp_path / "none.py"), 60)
    monkeypatch.setattr(report, "PARTS", (part, absent))
    monkeypatch.setattr(timing, "build", lambda: dict(BUILD))
    monkeypatch.setattr(timing, "PACKAGES", ("numpy", "no-such-engine"))
    return report


def run(report, folder, *words):
    """The page as Markdown."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["report.py", "--results", str(folder), *words])
        report.main()
    assert (folder / "report.html").read_text().startswith("<!doctype html>")
    return (folder / "report.md").read_text()


def test_a_page_has_every_section_and_names_who_is_absent(report, tmp_path):
    page = run(report, tmp_path / "results")
    for part in report.PARTS:
        assert f"## {part.title}" in page
    assert "* commit: 0123abc" in page and "* compiler: a compiler" in page
    assert "* absent peers: no-such-engine" in page and "Absent: no-such-engine." in page
    assert "Of this test." in page and "12.3" in page
    assert " ort-int8 |" in page and "openvino-fp32" not in page  # which has another precision
    assert "Incomplete: " in page.split("## Another part")[1]


def test_what_was_interrupted_goes_on(report, tmp_path):
    (tmp_path / "stop").touch()
    page = run(report, tmp_path / "results", "--part", "fake")
    assert "Incomplete: no more." in page and "12.3" not in page
    page = run(report, tmp_path / "results", "--part", "fake")
    assert "Incomplete" not in page.split("## Another")[0] and "12.3" in page
    run(report, tmp_path / "results", "--part", "fake")
    assert (tmp_path / "log").read_text() == "8 384 "
    run(report, tmp_path / "results", "--part", "fake", "--anew")
    assert (tmp_path / "log").read_text() == "8 384 8 384 "


def test_time_that_is_used_up_ends_a_part(report, tmp_path):
    """And what its script has started, which would keep the script's stderr open."""
    script = tmp_path / "fake.py"
    endless = "import subprocess\nsubprocess.run([sys.executable, '-c', 'while True: pass'])\n"
    script.write_text(script.read_text() + endless)
    slow, other = report.PARTS
    report.PARTS = (slow.__class__(**{**slow.__dict__, "seconds": 3}), other)
    page = run(report, tmp_path / "results", "--part", "fake")
    assert "Incomplete: stopped after 3 s" in page and "12.3" in page


def test_loads_of_servers_are_kept_one_by_one(monkeypatch, tmp_path):
    """Those that an interrupted run has measured are not measured again, at any rate."""
    serve = script_of_bench("server", monkeypatch)
    servers = [SimpleNamespace(name=name, cpu_seconds=0.0, rss_mib=1.0) for name in ("fbg", "ort")]
    loads = []

    def load(server, kind, clients, seconds, warm_up=0.0, rate=None):
        loads.append(f"{server.name} {kind} {clients} {rate}")
        if loads == interrupted:
            raise KeyboardInterrupt
        return serve.Result(1.0, [0.01] * 100 * len(loads))

    def entry(server, load):
        return {"server": server.name, "load": load}

    monkeypatch.setattr(serve, "contestants", lambda *_: servers)
    monkeypatch.setattr(serve, "load", load)
    monkeypatch.setattr(
        serve, "beside_bulk", lambda *_: [entry(s, n) for s in servers for n in serve.BESIDE_BULK]
    )
    monkeypatch.setattr(serve, "in_process", lambda one, _: [entry(one, serve.IN_PROCESS)])
    path = tmp_path / "server.json"
    words = [str(tmp_path), "--clients", "1,32", "--kinds", "short,bulk", "--rounds", "1"]
    monkeypatch.setattr(sys, "argv", ["server.py", *words, "--json", str(path), "--resume"])
    closed = [f"{one} {kind} None" for kind in ("short 1", "short 32", "bulk 1") for one in
              ("fbg", "ort")]  # fmt: skip
    interrupted = [*closed, "fbg short 128 400", "ort short 128 480"]  # at 0.8 of the highest rate
    with pytest.raises(KeyboardInterrupt):
        serve.main()
    serve.main()
    assert loads == [*interrupted, "ort short 128 480"]
    serve.main()
    assert len(loads) == 9
    rows = json.loads(path.read_text())["results"]
    named = [(row["server"], row["load"]) for row in rows]
    assert len(named) == len(set(named)) == 13
    offered = {row["server"]: row["offered_per_s"] for row in rows if row["load"] == serve.OPEN}
    assert offered == {"fbg": 400, "ort": 480}


@pytest.mark.parametrize("words", [(), ("--only-page",)], ids=["measuring", "only the page"])
@pytest.mark.parametrize(
    ("changed", "message"),
    [({"commit": "4567def"}, "4567def"), ({"compiler": "another"}, "another")],
)
def test_results_of_another_build_are_refused(report, tmp_path, words, changed, message):
    results = tmp_path / "results"
    run(report, results)
    path = results / "other.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"build": {**BUILD, **changed}}))
    with pytest.raises(SystemExit, match=rf"other\.json: measured with .*{message}"):
        run(report, results, *words)


def test_changes_that_no_commit_names_are_refused(report, tmp_path, monkeypatch):
    results = tmp_path / "results"
    run(report, results)
    for path in results.glob("*.json"):
        dirty = {"build": {**BUILD, "commit": "0123abc-dirty"}}
        path.write_text(json.dumps(json.loads(path.read_text()) | dirty))
    with pytest.raises(SystemExit, match=r"fake\.json: measured with sources that no commit names"):
        run(report, results, "--only-page")
    monkeypatch.setattr(report.timing, "build", lambda: dirty["build"])
    with pytest.raises(SystemExit, match="commit the changes"):
        run(report, results, "--anew")
    monkeypatch.setattr(report.timing, "build", lambda: BUILD | {"commit": ""})
    with pytest.raises(SystemExit, match=r"report\.py: no commit is known: run it in a checkout"):
        run(report, results, "--anew")


def test_one_machine_measures_a_page(report, tmp_path):
    results = tmp_path / "results"
    run(report, results)
    content = json.loads((results / "other.json").read_text())
    content["machine"]["cpu"] = "another CPU"
    (results / "other.json").write_text(json.dumps(content))
    with pytest.raises(SystemExit, match=r"other\.json: measured on another machine"):
        run(report, results, "--only-page")


def test_environments_are_pinned_and_described():
    readme = (BENCH / "README.md").read_text(encoding="utf-8")
    for path in sorted((BENCH / "environments").iterdir()):
        assert f"| `{path.name}` |" in readme
        lines = path.read_text(encoding="utf-8").splitlines()
        pins = [line for line in lines if not line.startswith(("#", "--"))]
        assert pins and all("==" in line for line in pins), path


def test_the_page_knows_the_version_of_each_peer(monkeypatch):
    report = script_of_bench("report", monkeypatch)
    for part in report.PARTS:
        assert set(part.peers.split()) <= set(report.timing.PACKAGES), part.name


def test_every_part_is_a_script_that_takes_its_options(monkeypatch):
    class ReadError(Exception):
        pass

    def parse_only(parser):
        parse(parser)
        raise ReadError

    report, parse = script_of_bench("report", monkeypatch), argparse.ArgumentParser.parse_args
    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", parse_only)
    for part in report.PARTS:
        words = f"{part.command} {part.quick} --quick --json out.json --resume".split()
        monkeypatch.setattr(sys, "argv", words)
        with pytest.raises(ReadError):
            runpy.run_path(str(BENCH / words[0]), run_name="__main__")


def test_published_figures_stand_beside_ours(report):
    cases = [{"geometry": "base", "tokens": 8, "threads": n} for n in (1, 2)]
    times = {"fbg-int8": 1.0, "fbg-fp32": 3.0, "ort-fp32": 4.5, "ort-int8": 0.5}
    rows = [
        {**case, "contestant": name, "median_s": t / n, "samples_s": [t / n] * 3}
        for n, case in enumerate(cases, 1)
        for name, t in times.items()
    ]
    found = {(line[0], line[1]): line[4] for line in report.published.table({"encoders": rows})}
    assert found["D5", "× 2.37"] == "× 4.50"
    assert found["D6", "× 3.3 on 16 threads"] == "× 2.00 on 2"
    assert found["F8", "2 ×"] == found["M3", "7e-6"] == found["B5", "22 MB"] == "not measured"
    named = {line[0] for line in report.published.table({})}
    assert named == {"D4", "D5", "D6", "F8", "M1", "M3", "M6", "B5"}


def test_every_published_figure_names_a_part(monkeypatch):
    report = script_of_bench("report", monkeypatch)
    names = {part.name for part in report.PARTS}
    for entry in json.loads((BENCH / "data" / "published.json").read_text(encoding="utf-8")):
        assert entry["part"] in names


def test_energy_of_a_call_is_power_times_duration(report, tmp_path, monkeypatch):
    timing = report.timing
    zone = tmp_path / "intel-rapl:0"
    zone.mkdir()
    (zone / "energy_uj").write_text("0")
    (tmp_path / "intel-rapl:0:0").mkdir()  # a part of the package
    monkeypatch.setattr(timing, "POWERCAP", tmp_path)
    clock = iter(range(100))
    monkeypatch.setattr(timing.time, "perf_counter", lambda: float(next(clock)))

    def sample():
        energy = int((zone / "energy_uj").read_text()) + 20_000_000
        (zone / "energy_uj").write_text(str(energy))
        return 0.5

    results = timing.race([timing.Contestant("fbg", sample=sample)], 3)
    assert results["fbg"].watts == 20  # 20 J in each second of this clock
    rows = [{"contestant": "fbg", "samples_s": [0.5] * 3, "median_s": 0.5, "watts": 20.0, "n": 1}]
    (table,) = report.comparison.tables(rows)[:1]
    assert dict(zip(table.head, table.rows[0], strict=True))["mJ"] == "10000"


def test_a_peer_that_dies_is_an_error_of_that_peer_alone(monkeypatch):
    peers = script_of_bench("peers", monkeypatch)
    assert peers.in_own_process(len, "abc") == 3
    with pytest.raises(ZeroDivisionError):
        peers.in_own_process(divmod, 1, 0)
    with pytest.raises(ChildProcessError, match="its process died"):
        peers.in_own_process(os.abort)
