"""A release: one version in all places, notes for it, and workflows that call what there is."""

import importlib.util
import re
from pathlib import Path

import pytest
import yaml

import fbg

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def load_script():
    path = ROOT / "scripts" / "release_notes.py"
    spec = importlib.util.spec_from_file_location("release_notes", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


release_notes = load_script()
VERSION = release_notes.source_version()


def write_sources(root, version, changelog):
    (root / "CMakeLists.txt").write_text(f"project(fbg VERSION {version} LANGUAGES CXX)\n")
    (root / "CHANGELOG.md").write_text(changelog)


def test_places_that_name_the_version_agree():
    assert fbg.__version__ == VERSION
    minor = VERSION.rpartition(".")[0]
    for file in ("examples/cpp/CMakeLists.txt", "docs/add-a-kernel.md"):
        assert f"find_package(fbg {minor} " in (ROOT / file).read_text(), file
    named = re.findall(r"fbg-(\d[\d.]*\d)", (ROOT / "docs/packaging.md").read_text())
    assert set(named) == {VERSION}


def test_changelog_has_a_dated_section_of_the_version():
    notes = release_notes.notes(f"v{VERSION}")
    assert notes.startswith("The first release") and "### Fixed" in notes
    assert "## [" not in notes


def test_notes_are_those_of_the_version_only(tmp_path):
    log = "## [Unreleased]\n- a\n\n## [0.3.0] - 2026-12-01\n- b\n\n## [0.2.0] - 2026-11-24\n- c\n"
    write_sources(tmp_path, "0.3.0", log)
    assert release_notes.notes("v0.3.0", tmp_path) == "- b"
    write_sources(tmp_path, "0.2.0", log)
    assert release_notes.notes("v0.2.0", tmp_path) == "- c"


@pytest.mark.parametrize(
    ("tag", "changelog", "message"),
    [
        ("v0.2.0", "## [0.3.0] - 2026-12-01\n- b\n", "the tag must be v0.3.0"),
        ("v0.3.0", "## [0.3.0]\n- b\n", "needs a date"),
        ("v0.3.0", "## [Unreleased]\n- b\n", "no section"),
    ],
)
def test_a_release_that_is_not_ready_is_refused(tmp_path, tag, changelog, message):
    write_sources(tmp_path, "0.3.0", changelog)
    with pytest.raises(SystemExit, match=message):
        release_notes.notes(tag, tmp_path)


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_call_targets_and_scripts_that_exist(workflow):
    makefile = (ROOT / "Makefile").read_text()
    jobs = yaml.safe_load(workflow.read_text())["jobs"]
    steps = [step for job in jobs.values() for step in job["steps"]]
    text = "\n".join(step.get("run", "") for step in steps)
    targets = set(re.findall(r"\bmake ([a-z][\w-]*)$|\bmake ([a-z]\w*) [A-Z]", text, re.MULTILINE))
    named = {name for pair in targets for name in pair if name}
    named |= {name for job in jobs.values() for name in matrix_of(job).get("target", [])}
    assert named
    for name in named:
        assert re.search(rf"^{name}:", makefile, re.MULTILINE), name
    for script in re.findall(r"scripts/[\w.]+", text):
        assert (ROOT / script).is_file(), script
    for step in steps:  # a tag can be moved, a commit cannot
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", step.get("uses", "a@" + "0" * 40))
    needed = {need for job in jobs.values() for need in as_list(job.get("needs", []))}
    assert needed <= set(jobs)


def matrix_of(job):
    return job.get("strategy", {}).get("matrix", {})


def as_list(value):
    return [value] if isinstance(value, str) else value
