"""Cores, caches and NUMA nodes, as files of the system describe them: whole, partly or wrongly."""

from __future__ import annotations

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fbg.topology import CACHE, CORE, NODE, group_cpus, parse_cpus, split_cpus, usable_cpus
from helpers.commands import succeed


def listed(numbers):
    return ",".join(map(str, sorted(numbers))) + "\n"


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def write_system(root, nodes, cores=()):
    """Write the files of a system: the CPUs of nodes, each with one cache, and those of cores."""
    for node, numbers in nodes.items():
        write(root / f"node/node{node}/cpulist", listed(numbers))
        for cpu in numbers:
            for index, shared in enumerate([[cpu], [cpu], [cpu], numbers]):
                write(root / f"cpu/cpu{cpu}/cache/index{index}/shared_cpu_list", listed(shared))
    for core in cores:
        for cpu in core:
            write(root / f"cpu/cpu{cpu}/topology/thread_siblings_list", listed(core))
    return root


@pytest.fixture
def two_nodes(tmp_path):
    """2 nodes of 8 cores with 2 CPUs each, which are numbered as Linux numbers them."""
    nodes = {0: [*range(8), *range(16, 24)], 1: [*range(8, 16), *range(24, 32)]}
    return write_system(tmp_path, nodes, [(n, n + 16) for n in range(16)])


@given(st.sets(st.integers(0, 5000), min_size=1, max_size=40))
def test_a_list_has_the_numbers_that_were_written(numbers):
    parts, ordered = [], sorted(numbers)
    while ordered:
        first = last = ordered.pop(0)
        while ordered and ordered[0] == last + 1:
            last = ordered.pop(0)
        parts.append(str(first) if first == last else f"{first}-{last}")
    assert parse_cpus(",".join(parts) + "\n") == numbers


@given(st.text(alphabet="0123456789-, x\n٣", max_size=12))
def test_any_other_text_is_a_list_or_none(text):
    assert all(0 <= number < 100_000 for number in parse_cpus(text))


@pytest.mark.parametrize(
    "text", ["", "\n", "-", "1-", "0-3,", "a", "0-3:1/2", "1--2", "٣", "9" * 9]
)
def test_a_malformed_list_is_empty(text):
    assert parse_cpus(text) == set()


def test_neighbours_are_beside_each_other(two_nodes):
    cpus = usable_cpus(two_nodes, range(32))
    node = "node0"
    assert cpus[:4] == [(node, 0, 0, 0), (node, 0, 0, 16), (node, 0, 1, 1), (node, 0, 1, 17)]
    assert cpus[-1] == ("node1", 8, 15, 31)
    assert group_cpus(cpus, CORE) == [{n, n + 16} for n in range(16)]
    nodes = [{*range(8), *range(16, 24)}, {*range(8, 16), *range(24, 32)}]
    assert group_cpus(cpus, NODE) == group_cpus(cpus, CACHE) == nodes


def test_groups_divide_neither_cores_nor_nodes(two_nodes):
    cpus = usable_cpus(two_nodes, range(32))
    assert split_cpus(cpus, 1) == [set(range(32))]
    assert split_cpus(cpus, 2) == group_cpus(cpus, NODE)
    assert split_cpus(cpus, 4)[0] == {0, 1, 2, 3, 16, 17, 18, 19}
    for count in range(1, 17):
        groups = split_cpus(cpus, count)
        assert sorted(number for group in groups for number in group) == list(range(32))
        assert all({(n + 16) % 32 for n in group} == group for group in groups)
        assert max(map(len, groups)) - min(map(len, groups)) <= 2
    assert sorted(map(sorted, split_cpus(cpus, 32))) == [[n] for n in range(32)]


def test_a_mask_leaves_out_a_node_and_siblings(two_nodes):
    cpus = usable_cpus(two_nodes, [1, 2, 17])
    assert group_cpus(cpus, NODE) == [{1, 2, 17}]
    assert split_cpus(cpus, 2) == [{1, 17}, {2}]


def test_nodes_without_cpus_and_holes_in_numbers(tmp_path):
    root = write_system(tmp_path, {0: [0, 5], 2: [], 7: [9]})
    write(root / "node/node_other/cpulist", "0-9")
    assert group_cpus(usable_cpus(root, [0, 5, 9]), NODE) == [{0, 5}, {9}]


def test_caches_group_the_cpus_of_a_node(tmp_path):
    for n in range(4):  # as on chiplets: 0 and 2 share one, 1 and 3 another
        write(tmp_path / f"cpu/cpu{n}/cache/index3/shared_cpu_list", f"{n % 2},{n % 2 + 2}")
    cpus = usable_cpus(tmp_path, range(4))
    assert split_cpus(cpus, 2) == group_cpus(cpus, CACHE) == [{0, 2}, {1, 3}]


@pytest.mark.parametrize("text", ["", "x", "7-0", "0-", "\0", "99999999999"])
def test_what_is_missing_or_damaged_leaves_one_node_of_cores(tmp_path, text):
    alone = [("", -1, n, n) for n in (0, 3)]
    assert usable_cpus(tmp_path / "none", [3, 0]) == alone
    write_system(tmp_path, {0: [0, 3]}, [(0, 3)])
    for path in [path for path in tmp_path.rglob("*") if path.is_file()]:
        path.write_text(text)
    assert usable_cpus(tmp_path, [3, 0]) == alone
    (tmp_path / "node/node0/cpulist").write_bytes(b"\xff\xfe")
    assert usable_cpus(tmp_path, [3, 0]) == alone


def test_the_machine_has_the_cpus_of_the_mask():
    mask = os.sched_getaffinity(0)
    cpus = usable_cpus()
    assert sorted(cpu[3] for cpu in cpus) == sorted(mask)
    facts = json.loads(succeed("info", "--json").stdout)["topology"]
    assert facts["cpus"] == len(mask) >= facts["cores"] >= 1
    assert sorted(n for node in facts["nodes"] for n in node) == sorted(mask)
    assert f"CPUs: {len(mask)}, cores: {facts['cores']}" in succeed("info").stdout
