"""docs/tables.md and its plots say what the results of bench/report.py say, and nothing else."""

import re
import runpy
import sys
from itertools import product
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "tables.md"
FLAGS = re.DOTALL | re.MULTILINE


@pytest.fixture(scope="module")
def page() -> dict[str, object]:
    """The names of bench/pages/tables_page.py."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(ROOT / "bench"), *sys.path])
        return runpy.run_path(str(ROOT / "bench" / "pages" / "tables_page.py"))


def test_the_page_is_what_the_results_made(page) -> None:
    """It fits its template, and its figures have the digest that it states."""
    found = page["fields"](PAGE.read_text(encoding="utf-8"))
    assert found is not None
    digests = found.pop("digests")
    del found["samples"]  # where they are
    assert digests.endswith(f", figures `{page['digest']([found])}`")


def test_the_plots_are_drawn_from_the_results_of_the_page(page) -> None:
    digests = page["fields"](PAGE.read_text(encoding="utf-8"))["digests"]
    for name in page["PLOTS"]:
        drawn = (PAGE.parent / f"tables-{name}.svg").read_text(encoding="utf-8")
        (digest,) = re.findall(r"rows ([0-9a-f]{16})", drawn)
        assert f"{name} `{digest}`" in digests


def test_no_case_of_the_tables_is_left_out() -> None:
    sections = dict(
        re.findall(r"^### (.*?)\n(.*?)(?=^#|\Z)", PAGE.read_text(encoding="utf-8"), FLAGS)
    )

    def measured(title: str) -> set[tuple[str, int, int]]:
        rows = re.findall(r"^\| *(\S+) \| *(\d)(?: †)? \| *(\d+) \|", sections[title], FLAGS)
        return {(model, int(threads), int(tokens)) for model, threads, tokens in rows}

    models = ["BERT-base", "BERT-large", "RoBERTa-base", "DistilBERT"]
    every = set(product(models, (1, 2), (8, 64, 384)))
    assert measured("int8, by sub-layer") == measured("int8, by module") == every
    assert measured("Steps in int8") >= set(product(models, [1], (8, 64, 384)))
    for precision in ("int8", "bf16", "fp32"):
        found = measured(f"Engines in {precision}")
        assert found >= set(product([*models, "TinyBERT"], (1, 2), (8, 64)))
        assert found >= set(product(["TinyBERT"], (1, 2), [32]))


def test_figures_of_a_table_follow_from_samples(page) -> None:
    case = {"geometry": "base", "dtype": "int8", "threads": 1, "tokens": 8, "commit": "0123abc"}
    times = {"base": [4.0, 6.0, 4.0], "+ adaptive": [2.0, 2.0, 2.0]}
    times |= {"+ dispatch": [1.0, 1.0, 1.0], "+ partition": [0.5, 0.5, 0.5]}
    rows = [
        {**case, "contestant": name, "samples_s": [1e-3 * t for t in samples]}
        for name, samples in times.items()
    ]
    lines = [line for line in page["ablation"](rows).splitlines() if "BERT-base" in line]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert cells == [["BERT-base", "1", "8", "4", "2.00", "4.00", "8.00", "25", "0.5", "`0123abc`"]]


def test_a_case_that_was_disturbed_is_marked(page) -> None:
    def row(contestant: str, threads: int, milliseconds: float) -> dict[str, object]:
        seconds = 1e-3 * milliseconds
        case = {"geometry": "base", "precision": "int8", "threads": threads, "tokens": 8}
        case["commit"] = "0123abc"
        return {**case, "contestant": contestant, "median_s": seconds, "samples_s": [seconds] * 3}

    rows = [row("fbg-int8", 1, 2), row("ort-int8", 1, 4), row("fbg-int8", 2, 1)]
    for milliseconds, mark, spread in ((5, "2", "2.00 to 5.00"), (9, "2 †", "2.00 to 2.00")):
        text = page["peers"]([*rows, row("ort-int8", 2, milliseconds)])
        lines = [line for line in text.splitlines() if "BERT-base" in line]
        assert [line.split("|")[2].strip() for line in lines] == ["1", mark]
        assert spread in text
