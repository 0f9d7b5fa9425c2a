"""Whatever is imported beside NumPy says how to install it where it is missing."""

import ast
import re
import sys
from pathlib import Path

import pytest

from fbg.errors import EXTRAS, install_line, needed

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "fbg"
# What is imported through one file only, which says what is missing; or by its own name, by those
# who have the library that it is for.
DOORS = (
    "cli/",
    "server/",
    "importers/",
    "vision/",
    "text/chat_template.py",
    "text/template_budget.py",
)
BY_NAME = ("chroma", "haystack", "lancedb", "langchain", "llama_index", "ray_serve")
# Models need these: `fbg.load` catches what they raise.
LOADED = {"tokenizers", "huggingface_hub", "ml_dtypes"}


def foreign_imports(path):
    """The packages that a file imports, and the statements around each import."""

    def visit(node, above):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        for name in names:
            top = name.partition(".")[0]
            if top not in sys.stdlib_module_names and top not in ("fbg", "numpy"):
                yield top, above
        for child in ast.iter_child_nodes(node):
            yield from visit(child, [*above, node])

    return visit(ast.parse(path.read_text()), [])


def is_guarded(above):
    return any(
        (isinstance(node, ast.With) and "needed(" in ast.unparse(node.items[0]))
        or isinstance(node, ast.Try)
        or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
        for node in above
    )


def test_every_foreign_import_says_what_to_install():
    bare, seen = set(), set()
    for path in PACKAGE.rglob("*.py"):
        name = path.relative_to(PACKAGE).as_posix()
        if name.startswith(DOORS) or name == "onnx_backend.py":
            continue
        if path.stem in BY_NAME and name.startswith("integrations/"):
            continue
        checked = set()
        for package, above in foreign_imports(path):
            seen.add(package)
            if is_guarded(above):
                checked.add(package)
            elif package not in LOADED | checked and name not in BEHIND_A_CHECK:
                bare.add((name, package))
    assert bare == set()
    assert {"matplotlib", "pyarrow", "ray", "torch"} <= seen


# These call `require_matplotlib` or `require_pyarrow` before.
BEHIND_A_CHECK = (
    "reports/plots.py",
    "reports/page.py",
    "text/embedding_files.py",
    "text/files.py",
)


def test_every_package_is_in_the_extra_that_is_named():
    text = (ROOT / "pyproject.toml").read_text()
    for name, extra in EXTRAS.items():
        package = "pillow" if name == "PIL" else name
        if package in ("google", "markupsafe"):  # of onnx and of jinja2
            continue
        found = re.search(rf"^{extra} = \[(.*?)\]\n", text, re.MULTILINE | re.DOTALL)
        assert found is not None, extra
        assert re.search(rf'"{package.replace("_", "[_-]")}[\[>=-]', found[1]), package
        assert install_line(name) == f"pip install 'fbg[{extra}]'"


def test_what_no_extra_brings_is_installed_by_its_own_name():
    with (
        pytest.raises(ModuleNotFoundError, match=r"tensors need torch_x: pip install torch_x$"),
        needed("tensors"),
    ):
        import torch_x  # noqa: F401
