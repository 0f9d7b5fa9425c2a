"""The page of `fbg report` about a network from an ONNX file: the sections of a NetReport."""

from __future__ import annotations

from fbg.reports.comparison import NOT_HELD_OUT
from fbg.reports.machine import binary_size
from fbg.reports.measuring import threads_text
from fbg.reports.pages import figures
from fbg.reports.pages.net_report import NetReport
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
from fbg.reports.profiling import NetProfile

SHOWN = 12  # operators in the figure


def net_page(report: NetReport, plots: bool = True) -> Page:
    """Return the page of a report; plots: with figures, for which matplotlib is needed."""
    facts = report.facts
    about = {
        "network": report.model,
        "inputs": ", ".join(f"{name}: {kind}" for name, kind in facts.inputs.items()),
        "outputs": ", ".join(f"{name}: {kind}" for name, kind in facts.outputs.items()),
        "operators": ", ".join(f"{name} {count}" for name, count in facts.operators.items()),
        "parameters": f"{facts.parameters:,}",
    }
    sections = [make(report, plots) for make in (_accuracy, _speed, _profile, _memory)]
    return report_page(report, about, _highlights(report), [*sections, _kernels(report)])


def _highlights(report: NetReport) -> list[tuple[str, str]]:
    fastest = min(report.benchmark.latencies, key=lambda row: row.median)
    what = f"for a run in {fastest.dtype}, {threads_text(fastest.threads)}"
    found = [(f"{1e3 * fastest.median:.2f} ms", what)]
    if report.comparison is not None:
        found.append((f"{report.comparison.cosine:.5f}", "mean cosine of int8 to float32"))
        found.append(speedup_highlight(report.comparison.speedup, "int8"))
    plan = report.profiles[fastest.dtype].plan
    found.append((binary_size(plan.weight_bytes), f"of packed weights in {fastest.dtype}"))
    found.append((binary_size(plan.arena_bytes), f"of memory to work in, in {fastest.dtype}"))
    return found


def _accuracy(report: NetReport, plots: bool) -> Section:
    found = report.comparison
    if found is None:
        return saved_accuracy("network", report.facts.dtype, "file")
    text = [
        f"int8 in {found.int8_products} of {found.products} products against float32 in "
        f"{found.runs} run{'s' * (found.runs > 1)}: cosine of the outputs "
        f"{found.cosine:.6f} on average, and at least {found.minimum:.6f}."
    ]
    if found.top_1 is not None:
        text.append(f"The most probable class is the same in {found.top_1:.1%} of the rows.")
    if not found.held_out:
        text.append(f"It was {NOT_HELD_OUT}.")
    if found.random:
        text.append(
            "Inputs were random numbers, which say more about speed than about accuracy: give real "
            "ones with --input."
        )
    head = ["node", "relative error", "cosine"]
    table = Table("After each node with weights", head, found.node_rows(), folded=True)
    caption = "The relative error of the result of each product with constant weights."
    label, errors = "Error after each product", [node.relative_error for node in found.nodes]
    drawn = {caption: lambda: figures.errors("accuracy", label, errors, "relative error")}
    return section("accuracy", text, [table], drawn if plots and errors else None)


def _speed(report: NetReport, plots: bool) -> Section:
    rows = [
        [row.dtype, str(row.threads), *row.cells(3), f"{1e3 * row.prepare:.3f}"]
        for row in report.benchmark.latencies
    ]
    head = ["dtype", "threads", "median, ms", "10th pct", "90th pct", "preparing, ms"]
    text = "The time of a run on random inputs; the dtypes took turns. Preparing is done once."
    times = {
        f"{row.dtype}, {threads_text(row.threads)}": 1e3 * row.median
        for row in report.benchmark.latencies
    }
    label = "Milliseconds of a run"
    drawn = {"The time of a run.": lambda: figures.bars("latency", label, {"": times}, "ms")}
    return section("speed", [text], [Table("Latency", head, rows)], drawn if plots else None)


def _profile(report: NetReport, plots: bool) -> Section:
    text = ["The steps of the plan, each timed by itself. A step computes what was fused into it."]
    text += noise_of([dtype for dtype, profile in report.profiles.items() if profile.noisy])
    panels = {
        dtype: {row.operators: 1e3 * row.seconds for row in rows[:SHOWN]}
        for dtype, rows in report.operators.items()
    }
    caption = f"Time by operators, the {SHOWN} slowest groups."
    drawn = {caption: lambda: figures.bars("shares", "Time by operators", panels, "ms")}
    tables = [
        Table(
            f"{dtype}, by operators",
            ["operators", "back end", "steps", "ms", "share"],
            [
                [
                    row.operators,
                    row.backend,
                    str(row.steps),
                    f"{1e3 * row.seconds:.4f}",
                    f"{row.share:.1%}",
                ]
                for row in rows
            ],
            numeric=2,
        )
        for dtype, rows in report.operators.items()
    ]
    tables += [_steps(dtype, profile) for dtype, profile in report.profiles.items()]
    return section("profile", text, tables, drawn if plots else None)


def _steps(dtype: str, profile: NetProfile) -> Table:
    rows = [
        [" + ".join(step.nodes), "; ".join(step.types), f"{1e3 * (step.seconds or 0.0):.4f}"]
        for step in profile.plan.steps
    ]
    return Table(
        f"{dtype}, by layer: {len(rows)} steps, {threads_text(profile.threads)}",
        ["nodes", "result", "ms"],
        rows,
        numeric=2,
        folded=True,
    )


def _memory(report: NetReport, plots: bool) -> Section:
    held = {
        dtype: {
            "packed weights": profile.plan.weight_bytes,
            "arena": profile.plan.arena_bytes,
            "tensors side by side": profile.plan.tensor_bytes,
        }
        for dtype, profile in report.profiles.items()
    }
    text = (
        "The arena holds all tensors of a run; it is smaller than they are side by side, because "
        "tensors that are not needed at the same time share memory, and fused ones are never "
        "stored."
    )
    panels = {
        dtype: {part: size / MIB for part, size in sizes.items()} for dtype, sizes in held.items()
    }
    drawn = {"MiB by dtype.": lambda: figures.bars("memory", "Memory by dtype", panels, "MiB")}
    return section("memory", [text], [memory_table("MiB", held)], drawn if plots else None)


def _kernels(report: NetReport) -> Section:
    text = (
        "The algorithm and kernel of each step, chosen by the cost model or by fbg.tune; × counts "
        "the steps that are alike."
    )
    head = ["algorithm and kernel", "back end"]
    tables = [
        alike(dtype, head, ((step.algorithm, step.backend) for step in profile.plan.steps))
        for dtype, profile in report.profiles.items()
    ]
    return section("kernels", [text], tables)
