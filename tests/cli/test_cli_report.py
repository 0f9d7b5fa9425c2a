"""`fbg report`: a page has all sections and figures, needs nothing else, and escapes all names."""

import base64
import json
import os
import re
import sys
from functools import partial
from html.parser import HTMLParser

import numpy as np
import onnx
import pytest
from onnx import helper

import fbg
from fbg.reports.page import (
    VIEWS,
    Page,
    Section,
    Table,
    View,
    _figure,
    printable,
    report_page,
    write_page,
)
from fbg.reports.report import net_report, report
from helpers import commands
from helpers.minilm import minilm_directory
from helpers.onnx_models import make_model
from helpers.small_cnns import FAMILIES

SECTIONS = ["accuracy", "speed", "profile", "memory", "kernels", "facts"]
QUICK = ["--rounds", "1", "--threads", "1"]
TOKENS = ["--tokens", "4,6"]
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "$\\frac{a&b",
    "\u202e{{ x }}",
]
IMAGE = "data:image/svg+xml;base64,"
VOID = {"meta", "link", "br", "img", "input", "hr"}

invoke = partial(commands.invoke, "report")


class Reader(HTMLParser):
    """Reads a page: its tags, sections, figures and texts; fails where tags do not match."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.open = []
        self.tags = []
        self.texts = []  # the tag around, and the text
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if data.strip():
            self.texts.append((self.open[-1] if self.open else "", data.strip()))

    def ids(self, tag):
        return [attrs.get("id") for name, attrs in self.tags if name == tag]

    def figures(self):
        """The figures, as markup."""
        uris = [attrs["src"] or "" for tag, attrs in self.tags if tag == "img"]
        return [base64.b64decode(uri.removeprefix(IMAGE)).decode() for uri in uris]

    def words(self, tag):
        return [text for around, text in self.texts if around == tag]


def read(path):
    """Read a page, which must be sound, need nothing else, and run nothing."""
    page = Reader(path.read_text(encoding="utf-8"))
    assert page.ids("section") == SECTIONS
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    links = {attrs["href"] for tag, attrs in page.tags if tag == "a"}
    assert links == {f"#{name}" for name in SECTIONS[:-1]}
    assert not {tag for tag, _ in page.tags} & {"script", "iframe", "object", "base", "form", "svg"}
    for tag, attrs in page.tags:
        assert not [name for name in attrs if name.startswith("on")]
        assert "src" not in attrs or (tag == "img" and (attrs["src"] or "").startswith(IMAGE))
        for name, value in attrs.items():
            if name.endswith("href"):
                target = (value or "").removeprefix("#")
                assert value == "data:," or target in ids
            if "url(" in (value or ""):
                assert (value or "").partition("url(#")[2].partition(")")[0] in ids
    assert "@import" not in path.read_text(encoding="utf-8")
    assert "mathdefault" not in path.read_text(encoding="utf-8")  # labels are no formulas
    return page


def written(out, *args):
    result = invoke(*args, "--html", out)
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    return read(out)


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    """An ONNX file whose nodes have the names of attacks."""
    pytest.importorskip("onnxruntime")
    weights = {f"w{n}": np.ones((3, 3, 1, 1), np.float32) for n in range(len(HOSTILE))}
    nodes = [
        helper.make_node("Conv", [f"x{n}" if n else "x", f"w{n}"], [f"x{n + 1}"], name)
        for n, name in enumerate(HOSTILE)
    ]
    path = tmp_path_factory.mktemp("net") / "net.onnx"
    shape = (np.float32, (1, 3, 5, 5))
    onnx.save(make_model(nodes, {"x": shape}, [f"x{len(nodes)}"], weights), path)
    return path


def test_the_page_of_a_model_shows_everything(checkpoint, tmp_path):
    pytest.importorskip("matplotlib")
    page = written(tmp_path / "a.html", checkpoint, *TOKENS, *QUICK)
    figures = [attrs["alt"] for tag, attrs in page.tags if tag == "img"]
    assert len(figures) == len(page.words("figcaption")) == 5
    assert len(set(figures)) == 5
    cells = page.words("td")
    for text in ("float32", "bfloat16", "int8", "GEMM", "layer 1", "attention matmul"):
        assert text in cells
    plan = fbg.load(checkpoint, dtype="int8").plan(4)
    assert {op.kernel for op in plan.ops if op.kernel} <= set(cells)
    assert {op.name for op in plan.ops} <= set(cells)
    # Words of figures are text, and no formulas.
    assert all("bfloat16" in Reader(markup).words("text") for markup in page.figures()[:2])
    assert "mathdefault" not in "".join(page.figures())


def test_the_page_of_minilm(tmp_path):
    pytest.importorskip("matplotlib")
    options = ("--tokens", "8", *QUICK, "--dtype", "int8")
    page = written(tmp_path / "minilm.html", minilm_directory(), *options)
    (mean,) = [float(text) for text in page.words("b") if re.fullmatch(r"0\.99\d{3}", text)]
    assert 0.998 < mean < 1
    assert len(page.words("figcaption")) == 5


def test_the_page_of_a_network_shows_everything(tmp_path):
    pytest.importorskip("matplotlib")
    model, shape = FAMILIES["mobilenet_v2"]()
    onnx.save(model, tmp_path / "net.onnx")
    sizes = "x=" + ",".join(map(str, shape))
    page = written(tmp_path / "a.html", tmp_path / "net.onnx", "--shape", sizes, *QUICK)
    assert len(page.words("figcaption")) == 4
    net = fbg.load(tmp_path / "net.onnx", shapes={"x": shape}, num_threads=1)
    assert {step.algorithm for step in net.plan().steps} <= set(page.words("td"))
    assert "Conv + Clip" in page.words("td")


def test_names_are_escaped(network, tmp_path):
    pytest.importorskip("matplotlib")
    hostile = tmp_path / "<b>&amp;.onnx"
    hostile.write_bytes(network.read_bytes())
    page = written(tmp_path / "a.html", hostile, *QUICK)
    assert f"{hostile}: report" in page.words("h1")
    shown = " ".join(page.words("td"))
    for name in HOSTILE:
        assert printable(name) in shown
    assert "\u202e" not in (tmp_path / "a.html").read_text(encoding="utf-8")


def test_names_in_figures_are_text():
    pytest.importorskip("matplotlib")
    names = [*HOSTILE, "a\0b\x1b[31m\ud800"]
    rows = [{"name": name, "seconds": 1e-3, "dtype": name} for name in names]
    _, uri = _figure(View("profile", "<label>\0", "name", "seconds", "dtype", "dtype"), rows)
    svg = Reader(base64.b64decode(uri.removeprefix(IMAGE)).decode())
    assert {printable(name) for name in names} <= set(svg.words("text"))
    assert not {tag for tag, _ in svg.tags} & {"script", "img", "label"}


def test_the_top_says_what_and_where(checkpoint, network):
    """The CPU, the date, what colors mean, what is noisy, and of which dtype a figure is."""
    found = report(checkpoint, [4], num_threads=[1], rounds=1)
    of_net = net_report(str(network), num_threads=[1], rounds=1)
    for each, dtypes in ((found, ["float32", "bfloat16", "int8"]), (of_net, ["float32", "int8"])):
        page = report_page(json.loads(json.dumps(each.to_dict())), plots=False)
        assert page.facts["CPU"] in page.notes[0]
        assert re.search(r"on \d{4}-\d\d-\d\d on .*: medians of 1 rounds", page.notes[0])
        assert "fewer than 5 rounds" in page.notes[1]
        assert list(page.legend) == dtypes and len(set(page.legend.values())) == len(dtypes)
        assert all("int8" in what for _, what in page.highlights)
        assert all(section.tables for section in page.sections)
        html = page.html()
        for dtype, color in page.legend.items():
            assert re.search(rf"{color}[^<]*</b> {dtype}", html)
        assert page.facts["CPU"] in html


def test_every_view_shows_records_of_a_report(checkpoint, network):
    """And every section has one for models and one for networks."""
    shown = set()
    for found in (
        report(checkpoint, [4], num_threads=[1], rounds=1),
        net_report(str(network), num_threads=[1], rounds=1),
    ):
        page = report_page(found.to_dict(), plots=False)
        shown |= {(section.name, t.caption) for section in page.sections for t in section.tables}
        for table in (table for section in page.sections for table in section.tables):
            assert {len(row) for row in table.rows} == {len(table.head)}
    assert shown == {(view.section, view.caption) for view in VIEWS.values()}


def test_a_page_escapes_all_text(tmp_path):
    for text in (*HOSTILE, "a\0b", "\ud800"):
        table = Table(text, [text], [[text]])
        section = Section("accuracy", text, [text], {}, [table, Table(text, [], [], folded=True)])
        rest = [Section(name, "", []) for name in SECTIONS[1:-1]]
        page = Page(text, {text: text}, [(text, text)], [section, *rest], [text])
        write_page(page, tmp_path / "a.html")
        assert {shown for _, shown in read(tmp_path / "a.html").texts} >= {printable(text)}


def test_a_saved_model_has_no_accuracy(checkpoint, tmp_path):
    fbg.load(checkpoint, dtype="int8").save(tmp_path / "saved")
    page = written(tmp_path / "a.html", tmp_path / "saved", *TOKENS, *QUICK, "--no-plots")
    assert any(text.startswith("What was saved has one dtype") for text in page.words("p"))
    result = invoke(tmp_path / "saved", *TOKENS, *QUICK, "--dtype", "bfloat16")
    assert result.exit_code == 1
    assert "report: dtype of a saved model is 'int8', got 'bfloat16'" in result.output


def test_a_saved_network_has_no_accuracy(network, tmp_path):
    fbg.load(network).save(tmp_path / "saved")
    page = written(tmp_path / "a.html", tmp_path / "saved", *QUICK, "--no-plots")
    assert any(text.startswith("What was saved has one dtype") for text in page.words("p"))


def test_it_prints_tables_or_json_without_a_page(checkpoint, network):
    for model, more in ((checkpoint, TOKENS), (network, [])):
        result = invoke(model, *more, *QUICK)
        assert result.exit_code == 0, result.output
        assert "median ms" in result.stdout
        found = json.loads(invoke(model, *more, *QUICK, "--json").stdout)
        assert found["benchmark"]["isa"] == fbg.isa.active()
        assert found["machine"]["cpu"]


def test_without_matplotlib_there_are_tables(checkpoint, network, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    out = tmp_path / "a.html"
    result = invoke("absent", "--html", out)
    assert result.exit_code == 1
    assert result.output == (
        "Error: plots need matplotlib: pip install 'fbg[plot]', or leave them out with --no-plots\n"
    )
    for model, more in ((checkpoint, TOKENS), (network, [])):
        page = written(out, model, *more, *QUICK, "--no-plots")
        assert page.figures() == []
        assert "int8" in page.words("td")


def test_mistakes_take_one_line(checkpoint, network, tmp_path):
    os.mkfifo(tmp_path / "pipe.html")
    (tmp_path / "old.html").write_text("old")
    cases = [
        ([], 2, "Missing argument 'MODEL'"),
        (["./absent", "--html", tmp_path / "old.html"], 1, "./absent: no such directory"),
        (["absent", "--html", "a.txt"], 2, "must end in .html"),
        (["absent", "--html", tmp_path / "pipe.html"], 1, "is a named pipe"),
        (["absent", "--html", tmp_path / "no" / "a.html"], 1, "/no: no such directory\n"),
        (["absent", "--no-plots"], 2, "--no-plots requires --html"),
        ([checkpoint, "--tokens", "41"], 2, "--tokens must be"),
        ([checkpoint, "--threads", "100000"], 2, "--threads must be"),
        ([checkpoint, "--dtype", "int7"], 2, "'int7' is not one of 'float32', 'bfloat16'"),
        ([checkpoint, "--shape", "x=1"], 2, "--shape cannot be used with encoders"),
        ([network, "--tokens", "4"], 2, "--tokens cannot be used with ONNX files"),
        ([network, "--threads", "100000"], 2, "--threads must be"),
    ]
    commands.check_mistakes(cases, "report")
    assert (tmp_path / "old.html").read_text() == "old"


def test_the_function_checks_its_arguments(checkpoint):
    for options, message in (
        ({"rounds": 0}, "report: rounds"),
        ({"num_threads": []}, "at least one count"),
        ({"texts": ["one"]}, "report: texts must contain at least 2"),
        ({"dtypes": ["int7"]}, "report: dtypes must be among"),
    ):
        with pytest.raises(ValueError, match=message):
            report(checkpoint, [4], **options)
