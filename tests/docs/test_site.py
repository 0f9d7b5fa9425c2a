"""The documentation site (make docs): what it must show, and how headers become pages."""

import inspect
import pkgutil
import re
import runpy
import sys
import typing
from pathlib import Path

import pytest

import fbg

ROOT = Path(__file__).parents[2]
CPP = runpy.run_path(str(ROOT / "scripts/site/cpp_reference.py"))
HEADERS = sorted(p for p in (ROOT / "include").rglob("*.h") if "detail" not in p.parts)

HEADER = """\
// Tiles: what they are.
//
//   rows    along C * B
#pragma once

#include <cstdint>

namespace fbg {

// The size of a_tile; `code` stays.
inline constexpr int kRows = 4;

// Cuts rows.
template <class T>
class Tile {
 public:
  // How many.
  int rows() const { return rows_; }

 private:
  int rows_ = 0;

  void hidden();
};

template <class T>
void run(const T& tile,
         int threads) noexcept {
  tile.rows();

  tile.rows();
}

namespace detail {
void not_shown();
}  // namespace detail

}  // namespace fbg
"""

PAGE = r"""
# fbg/tile.h

```cpp
#include "fbg/tile.h"
```

Tiles: what they are.

```text
  rows    along C * B
```

## `kRows`

The size of a\_tile; `code` stays.

```cpp
inline constexpr int kRows = 4;
```

## `Tile`

Cuts rows.

```cpp
template <class T>
class Tile {
 public:
  // How many.
  int rows() const { return rows_; }
};
```

## `run`

```cpp
template <class T>
void run(const T& tile,
         int threads) noexcept;
```
"""


def test_a_header_becomes_a_page(tmp_path):
    header = tmp_path / "fbg" / "tile.h"
    header.parent.mkdir()
    header.write_text(HEADER)
    assert CPP["page"](header, tmp_path) == PAGE.lstrip("\n")


@pytest.mark.parametrize("header", HEADERS, ids=lambda path: path.stem)
def test_every_public_header_has_all_its_declarations(header):
    page = CPP["page"](header, ROOT / "include")
    text = header.read_text(encoding="utf-8")
    for kind, name in re.findall(r"^(class|struct|enum class|concept) (\w+)", text, re.MULTILINE):
        assert f"{kind} {name}" in page
    for name in re.findall(r"^(?:\w[\w:<>]* )+(\w+)\(", text, re.MULTILINE):
        assert f"{name}(" in page
    assert "private:" not in page


def documented():
    page = (ROOT / "docs/reference/python.md").read_text(encoding="utf-8")
    return re.findall(r"^::: (\S+)$", page, re.MULTILINE)


def named():
    """What the reference documents, by the last part: fbg.conv is a function and its package."""
    found = {name.rpartition(".")[2] for name in documented()}
    return found | set(fbg.quantization.__all__) | set(fbg.isa.__all__)


def test_the_reference_has_every_public_name():
    assert set(fbg.__all__) - {"__version__"} <= named()


# Returned by what users do not call: parts of a model, and what the tuner measures.
INTERNAL = {"Blocking", "Engine", "FileState", "Graph", "Plan", "Runner", "TaskContext"}
INTERNAL |= {"ConvTrial", "HiddenStates", "Network", "Origin", "Request"}


def annotated(value):
    """The classes of fbg in the annotations of results and of fields, also within others."""
    known = {
        cls.__name__: cls
        for name, module in sys.modules.copy().items()
        if name.startswith("fbg")
        for cls in vars(module).values()
        if inspect.isclass(cls)
    }
    functions = [value] if inspect.isfunction(value) else []
    hints = []
    if inspect.isclass(value):
        own = vars(sys.modules[value.__module__])  # other modules have classes of the same name
        hints += typing.get_type_hints(value, localns={**known, **own}).values()
        members = [item for base in value.__mro__ for item in vars(base).items()]
        public = [member for name, member in members if not name.startswith("_")]
        found = [getattr(v, "fget", None) or getattr(v, "__func__", v) for v in public]
        functions += [v for v in found if inspect.isfunction(v)]
    hints += [
        typing.get_type_hints(f, localns={**known, **f.__globals__}).get("return")
        for f in functions
    ]
    while hints:
        hint = hints.pop()
        hints += typing.get_args(hint)
        if inspect.isclass(hint) and hint.__module__.startswith("fbg"):
            yield hint


def test_the_reference_has_every_class_that_public_functions_return():
    modules = ("fbg.quantization", "fbg.isa", "fbg.onnx_backend")
    todo = [pkgutil.resolve_name(name) for name in documented() if name not in modules]
    seen = set()
    missing = set()
    while todo:
        value = todo.pop()
        for cls in annotated(value):
            if cls.__name__ in INTERNAL or cls.__name__.startswith("_") or cls in seen:
                continue
            seen.add(cls)
            todo.append(cls)
            if cls.__name__ not in named():
                missing.add(f"{cls.__module__}.{cls.__name__}, of {value!r}")
    assert missing == set()


@pytest.mark.parametrize("name", documented())
def test_names_of_the_reference_exist(name):
    assert pkgutil.resolve_name(name) is not None


def test_every_page_is_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    for path in (ROOT / "docs").rglob("*.md"):
        assert f": {path.relative_to(ROOT / 'docs').as_posix()}\n" in navigation


def test_the_http_reference_links_to_every_type_that_it_names(monkeypatch):
    from fbg.server.app import PAGES, POST_ROUTES

    monkeypatch.syspath_prepend(str(ROOT / "scripts/site"))
    text = runpy.run_path(str(ROOT / "scripts/site/http_reference.py"))["page"]()
    targets = set(re.findall(r'<a id="([\w-]+)">', text))
    assert targets >= set(re.findall(r"\]\(#([\w-]+)\)", text)) and len(targets) > 30
    for route in (*POST_ROUTES, *PAGES):
        path = route.path.replace(":path}", "}")
        place = text.index(f" {path}\n")
        assert text[place:].splitlines()[2], f"{path}: the reference does not say what it does"
    assert "| `inputs` | string or list of (string or integer or list of (integer)) |" in text
