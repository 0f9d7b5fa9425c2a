"""The page of `fbg report` about a network from an ONNX file: the sections of a NetReport."""

from __future__ import annotations

from collections import Counter

from fbg.reports.machine import binary_size, describe_machine
from fbg.reports.measuring import noise, threads_text
from fbg.reports.pages import figures
from fbg.reports.pages.net_report import NetReport
from fbg.reports.pages.page import (
    MIB,
    Figure,
    Page,
    Section,
    Table,
    speedup_highlight,
)
from fbg.reports.profiling import NetProfile

__all__ = ["net_page"]

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
    bench = report.benchmark
    return Page(
        f"{report.model}: report",
        about | describe_machine(report.machine),
        _highlights(report),
        [
            _accuracy(report, plots),
            _speed(report, plots),
            _profile(report, plots),
            _memory(report, plots),
            _kernels(report),
        ],
        [f"Measured on this machine, medians of {bench.rounds} rounds, {bench.isa}."],
    )


def _highlights(report: NetReport) -> list[tuple[str, str]]:
    fastest = min(report.benchmark.latencies, key=lambda row: row.median)
    what = f"for a run in {fastest.dtype}, {threads_text(fastest.threads)}"
    found = [(f"{1e3 * fastest.median:.2f} ms", what)]
    if report.comparison is not None:
        found.append((f"{report.comparison.cosine:.5f}", "mean cosine of int8 to float32"))
        found.append(speedup_highlight(report.comparison.speedup, "int8"))
    found.append((binary_size(report.facts.weight_bytes or 0), "of packed weights"))
    found.append((binary_size(report.facts.arena_bytes or 0), "of memory to work in"))
    return found


def _accuracy(report: NetReport, plots: bool) -> Section:
    found = report.comparison
    if found is None:
        reason = (
            f"A saved network has one dtype, {report.facts.dtype}, so that there is no float32 to "
            "compare it with: make the report of the file that it was saved from."
        )
        return Section("accuracy", "Accuracy", [reason])
    text = [
        f"int8 in {found.int8_products} of {found.products} products against float32 in "
        f"{found.runs} runs: cosine of the outputs "
        f"{found.cosine:.6f} on average, and at least {found.minimum:.6f}."
    ]
    if found.top_1 is not None:
        text.append(f"The most probable class is the same in {found.top_1:.1%} of the rows.")
    if found.random:
        text.append(
            "Inputs were random numbers, which say more about speed than about accuracy: give real "
            "ones with --input."
        )
    rows = [[n.node, f"{n.relative_error:.2e}", f"{n.cosine:.6f}"] for n in found.nodes]
    drawn = []
    if plots and found.nodes:
        values = [node.relative_error for node in found.nodes]
        label = "Error after each product"
        drawn = [
            Figure(
                "The relative error of the result of each product with constant weights.",
                figures.errors("accuracy", label, values, "relative error"),
            )
        ]
    table = Table(
        "After each node with weights", ["node", "relative error", "cosine"], rows, folded=True
    )
    return Section("accuracy", "Accuracy", text, drawn, [table])


def _speed(report: NetReport, plots: bool) -> Section:
    rows = [
        [row.dtype, str(row.threads), *row.cells(3), f"{1e3 * row.prepare:.3f}"]
        for row in report.benchmark.latencies
    ]
    drawn = []
    if plots:
        drawn = [Figure("The time of a run.", figures.net_latency(report.benchmark))]
    head = ["dtype", "threads", "median, ms", "10th pct", "90th pct", "preparing, ms"]
    text = "The time of a run on random inputs; the dtypes took turns. Preparing is done once."
    return Section("speed", "Speed", [text], drawn, [Table("Latency", head, rows)])


def _profile(report: NetReport, plots: bool) -> Section:
    text = ["The steps of the plan, each timed by itself. A step computes what was fused into it."]
    noisy = [dtype for dtype, profile in report.profiles.items() if profile.noisy]
    if noisy:
        text.append(noise(noisy))
    drawn = []
    if plots:
        panels = {
            dtype: {row.operators: 1e3 * row.seconds for row in rows[:SHOWN]}
            for dtype, rows in report.operators.items()
        }
        label = "Time by operators"
        drawn = [
            Figure(
                f"Time by operators, the {SHOWN} slowest groups.",
                figures.bars("shares", label, panels, "ms"),
            )
        ]
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
    return Section("profile", "Profile", text, drawn, tables)


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
            "packed weights": profile.plan.weight_bytes / MIB,
            "arena": profile.plan.arena_bytes / MIB,
            "tensors side by side": profile.plan.tensor_bytes / MIB,
        }
        for dtype, profile in report.profiles.items()
    }
    text = (
        "The arena holds all tensors of a run; it is smaller than they are side by side, because "
        "tensors that are not needed at the same time share memory, and fused ones are never "
        "stored."
    )
    drawn = []
    if plots:
        label = "Memory by dtype"
        drawn = [Figure("MiB by dtype.", figures.bars("memory", label, held, "MiB"))]
    head = ["dtype", *next(iter(held.values()))]
    rows = [[dtype, *(f"{size:.2f}" for size in sizes.values())] for dtype, sizes in held.items()]
    return Section("memory", "Memory", [text], drawn, [Table("MiB", head, rows)])


def _kernels(report: NetReport) -> Section:
    text = (
        "The algorithm and kernel of each step, chosen by the cost model or by fbg.tune; × counts "
        "the steps that are alike."
    )
    tables = []
    for dtype, profile in report.profiles.items():
        alike = Counter((step.backend, step.algorithm) for step in profile.plan.steps)
        rows = [
            [algorithm, f"× {count}" if count > 1 else "", backend]
            for (backend, algorithm), count in alike.items()
        ]
        head = ["algorithm and kernel", "", "back end"]
        tables.append(Table(dtype, head, rows, numeric=3, folded=True))
    return Section("kernels", "Kernels", [text], (), tables)
