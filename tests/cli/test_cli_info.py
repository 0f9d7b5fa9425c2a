"""`fbg info`: the same facts for people and for programs."""

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

import fbg
from fbg.cli import main


def invoke(*args: str) -> str:
    result = CliRunner().invoke(main, args, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_json_holds_what_the_library_answers():
    facts = json.loads(invoke("info", "--json"))
    assert facts["versions"]["fbg"] == fbg.__version__
    assert facts["isa"]["supported"] == list(fbg.isa.supported())
    assert facts["isa"]["active"] == fbg.isa.active()
    assert facts["threads"]["default"] == fbg.get_num_threads()
    assert all(facts["cpu"][key] > 0 for key in ("l1d_bytes", "l2_bytes", "l3_bytes"))


def test_text_names_cpu_isas_caches_threads_versions():
    text = invoke("info")
    for part in ("CPU", "L1d", "L2", "L3", "threads", "python", "numpy", fbg.__version__):
        assert part in text
    assert all(name in text for name in fbg.isa.supported())


@pytest.mark.parametrize("name", fbg.isa.supported())
def test_limit_shows(name):
    with fbg.isa.limit(name):
        assert f"{name} (limit: {name})" in invoke("info")


def test_runs_as_a_module():
    command = [sys.executable, "-m", "fbg", "--version"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert fbg.__version__ in result.stdout


def test_without_click_it_says_what_to_install():
    code = "import sys; sys.modules['click'] = None; import fbg.__main__ as program; program.main()"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 1
    assert "pip install 'fbg[cli]'" in result.stderr
