"""docs/tables.md and its plots, made from the results of bench/report.py and from nothing else.

The page has digests of the results and of the figures that it makes of them, and each plot that of
its results, so that tests/docs/test_tables.py notices if one of them changes alone.
"""

import hashlib
import io
import json
import re
import statistics
import string
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import timing

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = "tables.md"
TEMPLATE = Path(__file__).with_name("tables.template")
STEPS = ("base", "+ adaptive", "+ dispatch", "+ partition")
ENGINES = {
    "ort": "onnxruntime",
    "onnxruntime": "onnxruntime",
    "openvino": "OpenVINO",
    "torch": "torch",
}
NAMES = {
    "base": "BERT-base",
    "large": "BERT-large",
    "roberta-base": "RoBERTa-base",
    "distilbert": "DistilBERT",
    "tinybert": "TinyBERT",
}
PRECISIONS = ("int8", "bf16", "fp32")
COLORS = ("#bbbbbb", "#66ccee", "#4477aa", "#228833", "#ccbb44", "#ee6677", "#aa3377", "#444444")
SAMPLES = "files that `bench/report.py` wrote"
DISTURBED = 1.5  # times as long on several threads as on one
PUBLISHED_SECONDS = 6e-3  # TinyBERT at 32 tokens on a core of a phone

Rows = list[dict[str, Any]]
Results = dict[str, dict[str, Any]]
Panel = tuple[str, str, dict[str, dict[str, float]]]  # title, axis, values by series and label


def results_of(files: dict[str, dict[str, Any]]) -> Results:
    """The contents of the parts of report.py that the page shows."""
    missing = {"ablation", "profiles", "encoders"} - files.keys()
    if missing:
        raise SystemExit(f"docs/{PAGE}: not measured: {', '.join(sorted(missing))}")
    encoders = files["encoders"]
    rows = [
        row | {"precision": row["contestant"].rpartition("-")[2]} for row in encoders["results"]
    ]
    kept = [row for row in rows if row["precision"] in PRECISIONS]
    peers = encoders | {"results": kept}
    return {"ablation": files["ablation"], "profiles": files["profiles"], "peers": peers}


def write(files: dict[str, dict[str, Any]]) -> list[Path]:
    """Write the page and its plots; return their paths."""
    results = results_of(files)
    page = DOCS / PAGE
    page.write_text(render(results), encoding="utf-8")
    written = [page]
    for name in PLOTS:
        written.append(DOCS / f"tables-{name}.svg")
        written[-1].write_bytes(plot(results[name]["results"], name))
    return written


def render(results: Results) -> str:
    """The page as Markdown: tables.template with its tables."""
    machine = results["peers"]["machine"]
    rows = {name: part["results"] for name, part in results.items()}
    versions = [
        f"{ENGINES[name]} {machine['versions'][name]}"
        for name in ("onnxruntime", "openvino", "torch")
        if name in machine["versions"]
    ]
    figures = {
        "machine": f"{machine['cores']} cores of an {machine['cpu']} (`{machine['isa']}`)",
        "versions": ", ".join(versions),
        "ablation": ablation(rows["ablation"]),
        "profiles": profiles(rows["profiles"]),
        "peers": peers(rows["peers"]),
        "tinybert": tinybert(rows["peers"]),
    }
    digests = {name: digest(own) for name, own in rows.items()} | {"figures": digest([figures])}
    told = ", ".join(f"{name} `{value}`" for name, value in digests.items())
    template = string.Template(TEMPLATE.read_text(encoding="utf-8"))
    return template.substitute(figures, digests=told, samples=SAMPLES)


def fields(page: str) -> dict[str, str] | None:
    """What stands in the fields of the template on a page; None if the page does not fit it."""
    template = re.escape(TEMPLATE.read_text(encoding="utf-8"))
    found = re.fullmatch(re.sub(r"\\\$(\w+)", r"(?P<\1>.*?)", template), page, re.DOTALL)
    return found and found.groupdict()


# --- Tables -------------------------------------------------------------------------------------


def ablation(rows: Rows) -> str:
    parts = []
    for dtype in distinct(rows, "dtype"):
        table, gains = [], []
        for case, own in cases(only(rows, dtype=dtype), ("geometry", "threads", "tokens")):
            steps = [result(own, name) for name in STEPS]
            ratios = [step.speedup_over(steps[0]) for step in steps[1:]]
            gains.append(ratios[-1])
            line = [*shown(case), ms(steps[0]), *(f"{x:.2f}" for x in ratios)]
            line += [f"{100 * noise(steps[-1], steps[0]):.0f}", ms(steps[-1]), commits(own)]
            table.append(line)
        head = ["model", "threads", "tokens", "base, ms", *STEPS[1:], "± %", "ms with all"]
        head.append("commit")
        parts += [f"### Steps in {dtype}", timing.markdown(head, table)]
        parts.append(f"All steps together: {spread(gains)}.")
    return "\n\n".join(parts)


def profiles(rows: Rows) -> str:
    parts = []
    for dtype in distinct(rows, "dtype"):
        for title, key in (("by sub-layer", "sub_layers"), ("by module", "modules")):
            own = only(rows, dtype=dtype)
            names = list(dict.fromkeys(part["name"] for row in own for part in row[key]))
            names.sort(key=lambda name: -sum(share(row[key], name) for row in own))
            table = [
                [
                    *shown(row),
                    f"{1e3 * row['seconds']:.2f}{' †' * row['noisy']}",
                    *(f"{100 * share(row[key], name):.1f}" for name in names),
                    commits([row]),
                ]
                for row in own
            ]
            head = ["model", "threads", "tokens", "ms", *names, "commit"]
            parts += [f"### {dtype}, {title}", timing.markdown(head, table)]
    return "\n\n".join(parts)


def peers(rows: Rows) -> str:
    parts = []
    for precision in distinct(rows, "precision"):
        own = only(rows, precision=precision)
        engines = [
            engine
            for engine in ("ort", "openvino", "torch")
            if only(own, contestant=f"{engine}-{precision}")
        ]
        table, least = [], []
        for case, group in cases(own, ("geometry", "threads", "tokens")):
            mine = result(group, f"fbg-{precision}")
            noisy = disturbed(own, case)
            model, threads, tokens = shown(case)
            line = [model, f"{threads} †" if noisy else threads, tokens, ms(mine)]
            ratios = []
            for engine in engines:
                theirs = find(group, f"{engine}-{precision}")
                if theirs is None:
                    line += ["", ""]
                    continue
                ratios.append(mine.speedup_over(theirs))
                line += [ms(theirs), f"{ratios[-1]:.2f}"]
            least += [] if noisy else [min(ratios)]
            table.append([*line, commits(group)])
        head = ["model", "threads", "tokens", "fbg, ms"]
        for engine in engines:
            head += [f"{ENGINES[engine]}, ms", "×"]
        head.append("commit")
        parts += [f"### Engines in {precision}", timing.markdown(head, table)]
        parts.append(f"To the fastest of them, rows with † left out: {spread(least)}.")
    return "\n\n".join(parts)


def disturbed(rows: Rows, case: dict[str, Any]) -> bool:
    """Whether an engine took much longer than on one thread: something else used the other core."""
    alone = only(rows, **{**case, "threads": 1})
    pairs = [(row, find(alone, row["contestant"])) for row in only(rows, **case)]
    return any(one is not None and row["median_s"] > DISTURBED * one.median for row, one in pairs)


def tinybert(rows: Rows) -> str:
    table = []
    own = only(rows, geometry="tinybert", tokens=32)
    for case, group in cases(own, ("precision", "threads")):
        mine = result(group, f"fbg-{case['precision']}")
        times = PUBLISHED_SECONDS / mine.median
        line = [case["precision"], str(case["threads"]), ms(mine), f"{times:.1f}"]
        table.append([*line, commits(group)])
    return timing.markdown(["precision", "threads", "ms", "× as fast as 6 ms", "commit"], table)


def noise(ours: timing.Result, other: timing.Result) -> float:
    """Half the interquartile range of the ratios in the rounds, relative to their median."""
    ratios = [b / a for a, b in zip(ours.samples, other.samples, strict=True)]
    low, middle, high = statistics.quantiles(ratios, n=4)
    return (high - low) / 2 / middle


def spread(ratios: Sequence[float]) -> str:
    mean = statistics.geometric_mean(ratios)
    return f"{min(ratios):.2f} to {max(ratios):.2f} times as fast, geometric mean {mean:.2f}"


# --- Rows ---------------------------------------------------------------------------------------


def only(rows: Rows, **wanted: object) -> Rows:
    return [row for row in rows if all(row.get(key) == value for key, value in wanted.items())]


def distinct(rows: Rows, key: str) -> list[Any]:
    return list(dict.fromkeys(row[key] for row in rows))


def cases(rows: Rows, keys: Sequence[str]) -> Iterator[tuple[dict[str, Any], Rows]]:
    """The rows of each case, in the order of NAMES, threads and tokens."""
    order = list(NAMES)
    found = {tuple(row[key] for key in keys): row for row in rows}

    def place(case: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(order.index(value) if value in order else value for value in case)

    for case in sorted(found, key=place):
        named = dict(zip(keys, case, strict=True))
        yield named, only(rows, **named)


def commits(rows: Rows) -> str:
    """The builds that rows were measured with: one, unless a case was measured in parts."""
    return ", ".join(f"`{name}`" for name in distinct(rows, "commit"))


def shown(case: dict[str, Any]) -> list[str]:
    return [NAMES[case["geometry"]], str(case["threads"]), str(case["tokens"])]


def find(rows: Rows, contestant: str) -> timing.Result | None:
    own = only(rows, contestant=contestant)
    return timing.Result(contestant, own[0]["samples_s"]) if own else None


def result(rows: Rows, contestant: str) -> timing.Result:
    found = find(rows, contestant)
    assert found is not None, contestant
    return found


def ms(found: timing.Result) -> str:
    milliseconds = 1e3 * found.median
    return f"{milliseconds:.0f}" if milliseconds >= 100 else f"{milliseconds:.3g}"


def share(parts: Rows, name: str) -> float:
    return sum(float(part["share"]) for part in parts if part["name"] == name)


# --- Plots --------------------------------------------------------------------------------------


def digest(rows: Rows) -> str:
    figures = [{key: value for key, value in row.items() if key != "commit"} for row in rows]
    return hashlib.sha256(json.dumps(figures, sort_keys=True).encode()).hexdigest()[:16]


def plot(rows: Rows, name: str) -> bytes:
    """An SVG file that carries the digest of the rows: a panel of bars for each of a plot."""
    import matplotlib
    from matplotlib.figure import Figure

    panels, stacked = PLOTS[name]
    with matplotlib.rc_context({"svg.hashsalt": "fbg", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(11, 4.2), layout="constrained")
        drawn = list(panels(rows))
        for n, (title, label, series) in enumerate(drawn):
            axes = figure.add_subplot(1, len(drawn), n + 1)
            axes.set(title=title, ylabel=label)
            bars(axes, series, stacked)
        figure.legend(*axes.get_legend_handles_labels(), loc="outside right upper")
        content = io.BytesIO()
        metadata = {"Date": None, "Creator": None, "Description": f"rows {digest(rows)}"}
        figure.savefig(content, format="svg", metadata=metadata)
    return content.getvalue()


def bars(axes: Any, series: dict[str, dict[str, float]], stacked: bool) -> None:
    """One for each series at each label: on top of each other, or beside each other and a line."""
    labels = list(dict.fromkeys(label for values in series.values() for label in values))
    base, width = [0.0] * len(labels), 0.8 if stacked else 0.8 / len(series)
    for n, (name, values) in enumerate(series.items()):
        heights = [values.get(label, 0.0) for label in labels]
        shift = 0.0 if stacked else (n - (len(series) - 1) / 2) * width
        color = COLORS[::-1][n % len(COLORS)] if stacked else COLORS[n + 1]
        at = [place + shift for place in range(len(labels))]
        axes.bar(at, heights, width, bottom=base, color=color, label=name)
        base = [a + b for a, b in zip(base, heights, strict=True)] if stacked else base
    if not stacked:
        axes.axhline(1, color="black", linewidth=0.8)
    axes.set_xticks(range(len(labels)), labels, rotation=90)


def named(case: dict[str, Any]) -> str:
    return f"{NAMES[case['geometry']]}, {case['tokens']}"


def of_ablation(rows: Rows) -> Iterator[Panel]:
    for dtype in distinct(rows, "dtype"):
        series: dict[str, dict[str, float]] = {name: {} for name in STEPS[1:]}
        own = only(rows, dtype=dtype, threads=1)
        for case, group in cases(own, ("geometry", "tokens")):
            base = result(group, STEPS[0])
            for name, values in series.items():
                values[named(case)] = result(group, name).speedup_over(base)
        yield f"{dtype}, 1 thread", "× base", series


def of_profiles(rows: Rows) -> Iterator[Panel]:
    parts = list(dict.fromkeys(part["name"] for row in rows for part in row["modules"]))
    for threads in (1, 2):
        own = only(rows, dtype="int8", threads=threads)
        series = {p: {named(row): 100 * share(row["modules"], p) for row in own} for p in parts}
        yield f"int8, threads: {threads}", "% of the time", series


def of_peers(rows: Rows) -> Iterator[Panel]:
    for threads in (1, 2):
        series: dict[str, dict[str, float]] = {}
        for precision in distinct(rows, "precision"):
            own, values = only(rows, precision=precision, threads=threads), {}
            for case, group in cases(own, ("geometry", "tokens")):
                mine = result(group, f"fbg-{precision}")
                others = [result(group, n) for n in distinct(group, "contestant") if n != mine.name]
                values[named(case)] = min(mine.speedup_over(other) for other in others)
            series[precision] = values
        yield f"threads: {threads}", "× the fastest other engine", series


# The panels of each plot, and whether bars stand on each other.
PLOTS: dict[str, tuple[Callable[[Rows], Iterator[Panel]], bool]] = {
    "ablation": (of_ablation, False),
    "profiles": (of_profiles, True),
    "peers": (of_peers, False),
}
