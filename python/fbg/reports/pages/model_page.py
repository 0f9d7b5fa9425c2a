"""The page of `fbg report` about a model: the sections of a ModelReport."""

from __future__ import annotations

from fbg.reports.comparison import Comparison, DtypeComparison
from fbg.reports.machine import binary_size
from fbg.reports.measuring import threads_text
from fbg.reports.pages import figures
from fbg.reports.pages.model_report import ModelReport
from fbg.reports.pages.page import MIB, Page, Section, Table
from fbg.reports.pages.sections import (
    alike,
    memory_table,
    noise_of,
    report_page,
    saved_accuracy,
    section,
    speedup_highlight,
)
from fbg.reports.profiling import HEAD, Part
from fbg.runtime.reports import PlanReport


def model_page(report: ModelReport, plots: bool = True) -> Page:
    """Return the page of a report; plots: with figures, for which matplotlib is needed."""
    sections = [make(report, plots) for make in (_accuracy, _speed, _profile, _memory)]
    about = report.summary | {"examined in": report.dtype}
    return report_page(report, about, _highlights(report), [*sections, _kernels(report)])


def _highlights(report: ModelReport) -> list[tuple[str, str]]:
    found = []
    rows = [row for row in report.benchmark.latencies if row.dtype == report.dtype]
    if rows:
        best = max(rows, key=lambda row: row.tokens_per_second)
        tokens = f"tokens per second in {best.dtype}, {best.tokens} at a time"
        found.append((f"{best.tokens_per_second:,.0f}", f"{tokens}, {threads_text(best.threads)}"))
        least = min(rows, key=lambda row: (row.tokens, row.threads))
        what = f"for {least.tokens} tokens in {least.dtype}, {threads_text(least.threads)}"
        found.append((f"{1e3 * least.median:.2f} ms", what))
    lossy = _lossy(report)
    if lossy is not None:
        found.append((f"{lossy.mean:.5f}", f"mean cosine of {lossy.dtype} to float32"))
        found.append(speedup_highlight(lossy.speedup, lossy.dtype))
    found.append((binary_size(report.memory.total), f"of memory in {report.dtype}"))
    return found


def _lossy(report: ModelReport) -> DtypeComparison | None:
    """The examined dtype, compared with float32."""
    if report.comparison is None:
        return None
    rows = [row for row in report.comparison.dtypes[1:] if row.dtype == report.dtype]
    return rows[0] if rows else None


def _accuracy(report: ModelReport, plots: bool) -> Section:
    found = report.comparison
    if found is None:
        return saved_accuracy("model", report.dtype, "checkpoint")
    text = (
        f"Embeddings and hidden states of {found.texts} texts ({found.tokens:,} tokens), compared "
        "with those in float32. Your own texts say more about your use than the sample that comes "
        "with fbg."
    )
    caption = (
        "Left: how far the cosine between an embedding and that in float32 is from 1, in the mean "
        "and for the worst texts. Right: the error of the hidden states after each layer."
    )
    drawn = {caption: lambda: figures.accuracy(found)} if plots and len(found.dtypes) > 1 else None
    return section("accuracy", [text], [_cosines(found), _layer_errors(found)], drawn)


def _cosines(found: Comparison) -> Table:
    rows = [
        [
            row.dtype,
            *(f"{x:.5f}" for x in (row.mean, row.percentile_5, row.percentile_1, row.minimum)),
            f"{row.neighbours_kept:.1%}",
            f"{row.tokens_per_second:,.0f}",
            str(row.speedup),
            f"{row.memory.weights / MIB:.1f}",
        ]
        for row in found.dtypes
    ]
    head = ["dtype", "mean cosine", "5th pct", "1st pct", "minimum"]
    head += [f"top {found.neighbours} kept", "tokens/s", "× float32", "weights, MiB"]
    return Table(
        f"Embeddings against float32, and the speed of encode with tokenization, "
        f"{threads_text(found.threads)}",
        head,
        rows,
    )


def _layer_errors(found: Comparison) -> Table:
    lossy = found.dtypes[1:]
    head = ["after", *(f"{row.dtype}: error" for row in lossy)]
    head += [f"{row.dtype}: cosine" for row in lossy]
    return Table("Hidden states after each layer", head, found.layer_rows(), folded=True)


def _speed(report: ModelReport, plots: bool) -> Section:
    bench = report.benchmark
    rows = [
        [
            row.dtype,
            str(row.threads),
            str(row.tokens),
            *row.cells(3),
            f"{row.tokens_per_second:,.0f}",
        ]
        for row in bench.latencies
    ]
    text = (
        f"The time of forward on one sequence of random token ids. The dtypes took turns for "
        f"{bench.rounds} rounds, with an untimed call before each timed one."
    )
    caption = "The time of a call by tokens; both axes are logarithmic."
    drawn = {caption: lambda: figures.latency(bench)} if plots else None
    head = ["dtype", "threads", "tokens", "median, ms", "10th pct", "90th pct", "tokens/s"]
    table = Table("Latency and throughput", head, rows)
    return section("speed", [text], [table], drawn)


def _profile(report: ModelReport, plots: bool) -> Section:
    profiles = report.profile.profiles
    text = [
        f"Where the time of a run in {report.dtype} goes: by sub-layer of the network, by module "
        "(what is computed), and by layer. Rates count a multiply-add as two operations, and are "
        "fractions of what the instructions of this CPU reach with operands in registers; with few "
        "tokens, reading the weights is the limit instead."
    ]
    text += noise_of([p.run for p in profiles if p.noisy])
    drawn = {
        "Shares of the time, by sub-layer and by module.": lambda: figures.stacked_bars(
            "shares", "Where the time of a run goes", report.profile.shares(), "% of the time"
        ),
        "Shares of the time, by layer.": lambda: figures.layers(profiles),
    }
    tables = []
    for p in profiles:
        what = f"{p.run}: {1e3 * p.seconds:.3f} ms"
        tables += [
            _parts(f"{what}, by sub-layer", p.sub_layers),
            _parts(f"{what}, by module", p.modules),
            _parts(f"{what}, by layer", p.layers),
        ]
    return section("profile", text, tables, drawn if plots else None)


def _parts(caption: str, parts: tuple[Part, ...]) -> Table:
    rows = [part.cells(".4f", ",.0f") for part in parts]
    return Table(caption, ["part", *HEAD], rows, folded=True)


def _memory(report: ModelReport, plots: bool) -> Section:
    held = {report.dtype: report.memory}
    if report.comparison is not None:
        held = {row.dtype: row.memory for row in report.comparison.dtypes} | held
    text = (
        "What the model holds in each dtype. Weights are packed once and never unpacked; an arena "
        "holds everything that a run writes, so that a run allocates nothing."
    )
    if report.memory.mapped:
        text += " Weights and tables are mapped from a file, and shared with other processes."
    last = report.plans[-1]
    stacks = {
        dtype: {part: size / MIB for part, size in memory.parts.items()}
        for dtype, memory in held.items()
    }
    drawn = {
        "Memory by dtype.": lambda: figures.stacked_bars(
            "memory", "Memory by dtype", {"": stacks}, "MiB"
        ),
        f"The arena of {last.tokens} tokens in {report.dtype}: ops that follow one another use the "
        "same memory.": lambda: figures.arena(last),
    }
    parts = memory_table(
        "MiB by part",
        {dtype: memory.parts | {"total": memory.total} for dtype, memory in held.items()},
    )
    plans = Table(
        f"Arenas in {report.dtype}",
        ["tokens", "threads", "arena, KiB", "ops"],
        [
            [
                str(plan.tokens),
                str(plan.threads),
                f"{plan.arena_bytes / 1024:,.0f}",
                str(len(plan.ops)),
            ]
            for plan in report.plans
        ],
        numeric=0,
    )
    return section("memory", [text], [parts, plans], drawn if plots else None)


def _kernels(report: ModelReport) -> Section:
    text = (
        "The microkernel that each linear layer was given, with the algorithm and shape of every "
        "other op; × counts the ops that are alike. A blocking in the last column was found by "
        "fbg.tune, and otherwise chosen by the cost model."
    )
    return section("kernels", [text], [_plan(plan) for plan in report.plans])


def _plan(plan: PlanReport) -> Table:
    caption = f"{plan.tokens} tokens, {threads_text(plan.threads)}: {len(plan.ops)} ops"
    ops = ((op.name, op.kernel, op.blocking) for op in plan.ops)
    return alike(caption, ["op", "kernel", "tuned"], ops)
