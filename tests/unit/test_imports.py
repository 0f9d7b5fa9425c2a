"""The layers of the Python package: who may import whom."""

import ast
import re
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "python" / "fbg"

# From the bottom to the top; a name is a package or a module of fbg. What stands in one line does
# not import each other. "fbg" is the public interface, whose users are in the lines above it.
LAYERS = (
    ("environment",),
    ("_fbg", "errors", "locks", "reading", "again"),
    ("files", "arrays"),
    ("isa", "threads", "topology", "cpp", "progress", "tuning", "saved_file"),
    ("quantization",),
    ("matmul",),
    ("conv",),
    ("checkpoints",),
    ("tables",),
    ("graph",),
    ("networks", "importers"),
    ("runtime",),
    ("text",),
    ("tasks",),
    ("vision",),
    ("model",),
    ("integrations",),
    ("fbg",),
    ("reports",),
    ("server", "onnx_backend"),
    ("cli",),
    ("__main__",),
)
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}


def modules():
    """The modules of the package by their full names."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    assert len(found) > 50
    return found


MODULES = modules()


def imported(path):
    """The modules of the package that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names if a.name.split(".")[0] == "fbg")
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            if node.module and node.module.split(".")[0] == "fbg":
                for alias in node.names:
                    inner = f"{node.module}.{alias.name}"
                    is_module = inner in MODULES or inner == "fbg._fbg"
                    yield inner if is_module else node.module


def layer(module):
    """The name of a module's layer."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "fbg"


def test_every_module_has_a_layer():
    assert {layer(module) for module in MODULES} <= RANK.keys()


def test_imports_point_down():
    upward = {
        (module, layer(target))
        for module, path in MODULES.items()
        for target in imported(path)
        if layer(target) != layer(module) and RANK[layer(target)] >= RANK[layer(module)]
    }
    assert upward == set()


def test_kernels_do_not_import_what_runs_models():
    # Each of these takes as long to import as all kernels do.
    heavy = ("asyncio", "concurrent.futures", "multiprocessing", "ssl", "fbg.networks", "fbg.model")
    code = f"""if True:
    import sys, fbg
    found = sys.modules.keys() & {set(heavy)}
    assert not found, found
    names = {{*fbg.__all__}}
    assert names <= {{*dir(fbg)}}
    assert all(getattr(fbg, name) is not None for name in names)
    assert "fbg.model" in sys.modules
    assert not hasattr(fbg, "no_such_name")
    """
    subprocess.run([sys.executable, "-c", code], check=True)


def test_no_modules_import_each_other_in_a_circle():
    graph = {module: set(imported(path)) for module, path in MODULES.items() if module != "fbg"}
    done = set()

    def visit(module, above):
        assert module not in above, " -> ".join([*above, module])
        if module in graph and module not in done:
            for target in sorted(graph[module]):
                visit(target, [*above, module])
            done.add(module)

    for module in sorted(graph):
        visit(module, [])


def private_attributes(path):
    """The attributes with a leading underscore that a file uses, and whether they are of self."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute) and re.match("_[^_]", node.attr):
            of_self = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            yield node.attr, of_self


def test_only_its_own_module_touches_private_members_of_model():
    defining = "fbg.model.model"
    private = {name for name, of_self in private_attributes(MODULES[defining]) if of_self}
    assert {"_origin", "_hidden_states"} <= private
    strays = {
        (module, name)
        for module, path in MODULES.items()
        for name, of_self in private_attributes(path)
        if module != defining and name in private and not of_self
    }
    assert strays == set()
