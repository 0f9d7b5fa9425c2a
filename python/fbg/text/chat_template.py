"""Chat templates (Jinja) rendered as transformers render them, within a budget.

A template comes with a model, so it may be hostile: it runs in the sandbox of Jinja, with few
filters and methods, and everything that it handles is charged to a budget (template_budget.py)
before it is printed, joined, compared or looked up. A template that exceeds the budget fails
instead of taking all the time or memory.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import BuiltinMethodType
from typing import Any

from jinja2 import Template, Undefined, nodes, pass_context
from jinja2.exceptions import SecurityError, TemplateError
from jinja2.runtime import Context, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment

from fbg.text.template_budget import Budget

MAX_SOURCE = 1 << 16  # most characters
MAX_NODES = (
    10_000  # nodes of the syntax tree, which take a second to compile; 16 kB of a model have 3000
)
BASE, PER_CHARACTER = 1 << 19, 64  # the budget of every rendering, and the addition for its texts
BUDGET, CHARGED, COUNTED = " budget", " charged", " counted"  # names that a template cannot write

# Filters and methods whose results are not much larger than their arguments.
FILTERS = frozenset(
    (
        "capitalize", "count", "d", "default", "dictsort", "first", "float", "int", "items",
        "last", "length", "list", "lower", "map", "reject", "rejectattr", "reverse", "safe",
        "select", "selectattr", "sort", "string", "title", "unique", "upper"
    )
)  # fmt: skip
METHODS = frozenset(
    (
        "capitalize", "count", "endswith", "find", "get", "index", "isalnum", "isalpha",
        "isdigit", "isspace", "items", "keys", "lower", "lstrip", "removeprefix",
        "removesuffix", "rfind", "rsplit", "rstrip", "split", "splitlines", "startswith",
        "strip", "title", "upper", "values"
    )
)  # fmt: skip
REFUSED = (nodes.ScopedEvalContextModifier, nodes.Extends, nodes.Include, nodes.Import)
# The time of these may be the product of both lengths, of a text and of the searched text.
SEARCHES = frozenset(("lstrip", "rfind", "rsplit", "rstrip", "strip"))
# The argument with the path of an attribute, if it has no name; these filters look up all its parts
# for each of their values.
PATHS = {"map": 99, "rejectattr": 1, "selectattr": 1, "sort": 3, "unique": 2}
MOST_PARTS = 16
# The operands of these nodes are charged: they make text of them or compare them.
HOLDERS = (
    nodes.Compare,
    nodes.Concat,
    nodes.List,
    nodes.Tuple,
    nodes.Dict,
    nodes.Operand,
    nodes.Pair,
)


class _Environment(ImmutableSandboxedEnvironment):
    intercepted_binops = frozenset(("+", "-", "*", "/", "//", "%", "**"))

    def __init__(self) -> None:
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=["jinja2.ext.loopcontrols"],
            finalize=_charged,
            optimized=False,
        )
        filters: dict[str, Callable[..., Any]] = dict(self.filters)
        own: dict[str, Callable[..., Any]]
        own = {"join": _join, "replace": _replace, "tojson": _tojson, "trim": _trim}
        filters = {name: filters[name] for name in FILTERS} | own
        self.filters = {name: _within_budget(name, found) for name, found in filters.items()}
        self.filters |= {CHARGED: _charged, COUNTED: _counted}
        tests: Mapping[str, Any] = self.tests
        self.tests = {name: _within_budget(name, test) for name, test in tests.items()}
        names = ("range", "dict", "namespace")
        self.globals = {name: self.globals[name] for name in names} | {"raise_exception": _raise}

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        budget = _budget(context)
        budget.charge(left)
        budget.charge(right)
        numbers = all(isinstance(value, int | float) for value in (left, right))
        if operator == "*" and isinstance(left, str) and isinstance(right, int):
            budget.spend(len(left) * max(right, 0))
        elif operator != "+" and not numbers:
            raise SecurityError(f"it uses {operator} on what are not numbers")
        if operator == "**" and (abs(left) > 1 << 16 or abs(right) > 64):
            raise SecurityError("it makes a number that is too large")
        result = super().call_binop(context, operator, left, right)
        budget.charge(result)
        return result

    def call(self, context: Context, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        known = isinstance(function, Macro) or any(function is f for f in self.globals.values())
        if isinstance(function, BuiltinMethodType):
            known = known or function.__name__ in METHODS
            _budget(context).charge(function.__self__)
        if not known and not isinstance(function, Undefined):
            name = getattr(function, "__name__", None)
            raise SecurityError(f"it calls {name if isinstance(name, str) else 'no function'}")
        _budget(context).charge((args, kwargs))
        if isinstance(function, BuiltinMethodType) and function.__name__ in SEARCHES:
            _budget(context).charge_search(function.__self__, *args, *kwargs.values())
        result = super().call(context, function, *args, **kwargs)
        _budget(context).charge(result)
        return result

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        found = list(tree.find_all(nodes.Node))
        if len(found) > MAX_NODES:
            raise SecurityError(f"it has {len(found)} parts, {MAX_NODES} is the most")
        for node in found:
            _charge_node(node)
        tree.set_environment(self)
        return tree


def _charge_node(node: nodes.Node) -> None:
    """Change a node so that its values are charged."""
    if isinstance(node, REFUSED):
        raise SecurityError(f"it uses {type(node).__name__}")
    if isinstance(node, nodes.For) and node.recursive:
        raise SecurityError("it uses a recursive loop")
    if isinstance(node, nodes.Output):
        node.nodes = [
            nodes.Const(n.data, lineno=n.lineno) if isinstance(n, nodes.TemplateData) else n
            for n in node.nodes
        ]
    if getattr(node, "ctx", "load") != "load":
        return
    for name, value in list(node.iter_fields()):
        if isinstance(value, list):
            setattr(node, name, [_charged_child(node, name, item) for item in value])
        else:
            setattr(node, name, _charged_child(node, name, value))
    if isinstance(node, nodes.For):
        node.iter = _filter(node.iter, COUNTED)


def _charged_child(parent: nodes.Node, field: str, child: Any) -> Any:
    if not isinstance(child, nodes.Expr) or isinstance(child, nodes.Slice):
        return child
    is_slice = isinstance(child, nodes.Getitem) and isinstance(child.arg, nodes.Slice)
    is_key = isinstance(parent, nodes.Getitem) and field == "arg"
    if is_slice or is_key or isinstance(parent, HOLDERS):
        return _filter(child, CHARGED)
    return child


def _filter(node: Any, name: str) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


def _budget(context: Context) -> Budget:
    budget = context.resolve(BUDGET)
    assert isinstance(budget, Budget)
    return budget


@pass_context
def _charged(context: Context, value: Any) -> Any:
    _budget(context).charge(value)
    return value


@pass_context
def _counted(context: Context, values: Iterable[Any]) -> Iterator[Any]:
    return _budget(context).counted(values)


def _within_budget(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a filter or a test that charges for its arguments and its result."""
    passed = getattr(function, "jinja_pass_arg", None)
    kind = "" if passed is None else passed.name

    @pass_context
    def charging(context: Context, *args: Any, **kwargs: Any) -> Any:
        budget = _budget(context)
        budget.charge((args, kwargs))
        if name in PATHS:
            _require_short_path(kwargs.get("attribute", *args[PATHS[name] : PATHS[name] + 1]))
        passed_first: dict[str, list[Any]] = {
            "context": [context],
            "eval_context": [context.eval_ctx],
            "environment": [context.environment],
        }
        result = function(*passed_first.get(kind, []), *args, **kwargs)
        if isinstance(result, Iterator):
            return budget.counted(result)
        budget.charge(result)
        return result

    return charging


def _require_short_path(path: Any) -> None:
    if isinstance(path, str) and path.count(".") + path.count(",") >= MOST_PARTS:
        raise SecurityError(f"it looks up an attribute of more than {MOST_PARTS} parts")


@pass_context
def _trim(context: Context, value: Any, chars: str | None = None) -> str:
    text = str(value)
    _budget(context).charge_search(text, chars)
    return text.strip(chars)


@pass_context
def _join(context: Context, values: Iterable[Any], d: str = "", attribute: Any = None) -> str:
    budget, parts = _budget(context), []
    for value in values:
        part = value if attribute is None else context.environment.getitem(value, attribute)
        budget.charge((part, d))
        parts.append(str(part))
    return str(d).join(parts)


@pass_context
def _replace(context: Context, text: Any, old: Any, new: Any, count: int = -1) -> str:
    text, old, new = str(text), str(old), str(new)
    _budget(context).spend(len(text) + (text.count(old) + 1) * (len(new) + 1))
    return str(text.replace(old, new, count))


@pass_context
def _tojson(
    context: Context,
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    sort_keys: bool = False,
) -> str:
    """Indent text, which may take far more characters than the text: it is charged as it comes."""
    if indent is not None and not 0 <= indent <= 8:
        raise SecurityError("it indents JSON by more than 8")
    encoder = json.JSONEncoder(ensure_ascii=ensure_ascii, indent=indent, sort_keys=sort_keys)
    budget, parts = _budget(context), []
    for part in encoder.iterencode(value):
        budget.spend(len(part))
        parts.append(part)
    return "".join(parts)


def _raise(message: str) -> str:
    raise TemplateError(message)


@functools.lru_cache(maxsize=16)
def _compiled(source: str) -> Template:
    if len(source) > MAX_SOURCE:
        raise SecurityError(f"it has {len(source)} characters, {MAX_SOURCE} is the most")
    return _Environment().from_string(source)


def render_chat_template(source: str, texts: Iterable[str], values: Mapping[str, Any]) -> str:
    """Return the text of a template with the values; raises ValueError for all failures.

    texts: the texts in the values, for the budget.
    """
    budget = Budget(BASE + PER_CHARACTER * sum(map(len, texts)))
    try:
        return _compiled(source).render({**values, BUDGET: budget})
    except Exception as error:  # any error of the template: nothing else runs here
        raise ValueError(str(error) or type(error).__name__) from None
