"""Chat templates (Jinja) rendered as transformers render them, within a budget.

A template comes with a model, so it may be hostile: it runs in the sandbox of Jinja, with few
filters and methods, and everything that it handles is charged to a budget of characters, items
and calls. A template that exceeds the budget fails instead of taking all the time or memory.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from types import BuiltinMethodType
from typing import Any

from jinja2 import Template, Undefined, nodes, pass_context
from jinja2.exceptions import SecurityError, TemplateError
from jinja2.runtime import Context, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace

__all__ = ["render_chat_template"]

MAX_SOURCE = 1 << 16  # characters
MAX_NUMBER = 1 << 63
BASE, PER_CHARACTER = 1 << 19, 64  # of the budget: what every rendering has, and for its texts
BUDGET, CHARGED, COUNTED = " budget", " charged", " counted"  # no names that a template can write

# Filters and methods whose results are not much larger than what they are given.
FILTERS = frozenset(
    (
        "capitalize", "count", "d", "default", "dictsort", "first", "float", "int", "items",
        "last", "length", "list", "lower", "map", "reject", "rejectattr", "reverse", "safe",
        "select", "selectattr", "sort", "string", "title", "trim", "unique", "upper"
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
# What these nodes hold is charged, so that values cannot grow unseen.
HOLDERS = (
    nodes.Compare,
    nodes.Concat,
    nodes.List,
    nodes.Tuple,
    nodes.Dict,
    nodes.Test,
    nodes.Operand,
    nodes.Pair,
)


class _Budget:
    def __init__(self, left: int) -> None:
        self.left = left

    def spend(self, amount: int) -> None:
        self.left -= amount
        if self.left < 0:
            raise SecurityError("it takes more steps or characters than a chat template may")

    def charge(self, value: object, *, printed: bool = False) -> None:
        """Charge for all that is in a value; printed: it must be one that can be printed."""
        values = [value]
        while values:
            item = values.pop()
            self.spend(1)
            if isinstance(item, str | bytes):
                self.spend(len(item))
            elif isinstance(item, int):
                if abs(item) > MAX_NUMBER:
                    raise SecurityError("it makes a number that is too large")
            elif isinstance(item, Mapping):
                self.spend(2 * len(item))
                values += [*item.keys(), *item.values()]
            elif isinstance(item, range):
                self.spend(len(item))
            elif isinstance(item, list | tuple | set | KeysView | ValuesView | ItemsView):
                self.spend(len(item))
                values += item
            elif printed and isinstance(item, Namespace):
                raise SecurityError("it prints a namespace")


class _Environment(ImmutableSandboxedEnvironment):
    intercepted_binops = frozenset(("+", "*", "**", "%"))

    def __init__(self) -> None:
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=["jinja2.ext.loopcontrols"],
            finalize=_printed,
            optimized=False,
        )
        filters: dict[str, Callable[..., Any]] = dict(self.filters)
        self.filters = {name: _within_budget(filters[name]) for name in FILTERS}
        own: dict[str, Callable[..., Any]] = {"join": _join, "replace": _replace, "tojson": _tojson}
        self.filters |= {name: _within_budget(function) for name, function in own.items()}
        self.filters |= {CHARGED: _charged, COUNTED: _counted}
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
            raise SecurityError(f"it calls {getattr(function, '__name__', 'what is no function')}")
        _budget(context).charge((args, kwargs))
        result = super().call(context, function, *args, **kwargs)
        _budget(context).charge(result)
        return result

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        for node in list(tree.find_all(nodes.Node)):
            _charge_node(node)
        tree.set_environment(self)
        return tree


def _charge_node(node: nodes.Node) -> None:
    """Change a node so that what it handles is charged."""
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
            setattr(node, name, [_charged_child(node, item) for item in value])
        else:
            setattr(node, name, _charged_child(node, value))
    if isinstance(node, nodes.For):
        node.iter = _filter(node.iter, COUNTED)


def _charged_child(parent: nodes.Node, child: Any) -> Any:
    is_slice = isinstance(child, nodes.Getitem) and isinstance(child.arg, nodes.Slice)
    if isinstance(child, nodes.Expr) and (is_slice or isinstance(parent, HOLDERS)):
        return _filter(child, CHARGED)
    return child


def _filter(node: Any, name: str) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


def _budget(context: Context) -> _Budget:
    budget = context.resolve(BUDGET)
    assert isinstance(budget, _Budget)
    return budget


@pass_context
def _printed(context: Context, value: Any) -> Any:
    _budget(context).charge(value, printed=True)
    return value


@pass_context
def _charged(context: Context, value: Any) -> Any:
    _budget(context).charge(value)
    return value


@pass_context
def _counted(context: Context, values: Iterable[Any]) -> Iterator[Any]:
    return _count(_budget(context), values)


def _count(budget: _Budget, values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        budget.spend(1)
        yield value


def _within_budget(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a filter that charges for what it is given and what it returns."""
    passed = getattr(function, "jinja_pass_arg", None)
    kind = "" if passed is None else passed.name

    @pass_context
    def charging(context: Context, *args: Any, **kwargs: Any) -> Any:
        budget = _budget(context)
        budget.charge((args, kwargs), printed=True)
        passed_first: dict[str, list[Any]] = {
            "context": [context],
            "eval_context": [context.eval_ctx],
            "environment": [context.environment],
        }
        result = function(*passed_first.get(kind, []), *args, **kwargs)
        if isinstance(result, Iterator):
            return _count(budget, result)
        budget.charge(result)
        return result

    return charging


@pass_context
def _join(context: Context, values: Iterable[Any], d: str = "", attribute: Any = None) -> str:
    budget, parts = _budget(context), []
    for value in values:
        part = value if attribute is None else context.environment.getitem(value, attribute)
        budget.charge((part, d), printed=True)
        parts.append(str(part))
    return str(d).join(parts)


@pass_context
def _replace(context: Context, text: Any, old: str, new: str, count: int = -1) -> str:
    text = str(text)
    _budget(context).spend(len(text) + (text.count(old) + 1) * (len(new) + 1))
    return str(text.replace(old, new, count))


def _tojson(
    value: Any, ensure_ascii: bool = False, indent: int | None = None, sort_keys: bool = False
) -> str:
    if indent is not None and not 0 <= indent <= 8:
        raise SecurityError("it indents JSON by more than 8")
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, sort_keys=sort_keys)


def _raise(message: str) -> str:
    raise TemplateError(message)


@functools.lru_cache(maxsize=16)
def _compiled(source: str) -> Template:
    if len(source) > MAX_SOURCE:
        raise SecurityError(f"it has {len(source)} characters, {MAX_SOURCE} is the most")
    return _Environment().from_string(source)


def render_chat_template(source: str, texts: Iterable[str], values: Mapping[str, Any]) -> str:
    """Return what a template makes of the values; raises ValueError, whatever goes wrong.

    texts: those that are in the values, for the budget.
    """
    budget = _Budget(BASE + PER_CHARACTER * sum(map(len, texts)))
    try:
        return _compiled(source).render({**values, BUDGET: budget})
    except Exception as error:  # of the template: nothing else runs here
        raise ValueError(str(error) or type(error).__name__) from None
