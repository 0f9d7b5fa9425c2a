"""The page of the HTTP reference: the routes of `fbg serve`, from its OpenAPI document."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from fbg.server.app import openapi

Schema = dict[str, Any]
PREFIX = "#/components/schemas/"
INTRODUCTION = """# HTTP API of fbg serve

This page is made from the document that the server answers at `/openapi.json`. Keys without a
default are required, and keys that a message does not have are refused."""


def page() -> str:
    """Return the page, in Markdown."""
    document = json.loads(openapi())
    parts = [INTRODUCTION]
    for path, methods in sorted(document["paths"].items()):
        for method, operation in methods.items():
            summary = operation["summary"].removeprefix(f"{method.upper()} ").removeprefix(path)
            parts += [f"## {method.upper()} {path}", _sentence(summary.lstrip(":. "))]
            parts += _operation(operation)
    parts.append("## Types")
    for name, schema in sorted(document["components"]["schemas"].items()):
        parts += [f'<a id="{_anchor(name)}"></a>', f"### {_short(name)}", _table(schema)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _operation(operation: Schema) -> Iterator[str]:
    body = operation.get("requestBody", {}).get("content", {})
    for kind, content in body.items():
        yield f"Message ({kind}): {_type(content['schema'])}"
    for code, answer in operation["responses"].items():
        for kind, content in answer.get("content", {}).items():
            if code != "5XX":  # the same as 4XX
                yield f"{code} ({kind}): {_type(content['schema'])}"


def _table(schema: Schema) -> str:
    """Return the keys of an object, a row each."""
    required = schema.get("required", ())
    rows = ["| key | type | default | |", "|---|---|---|---|"]
    for key, value in schema.get("properties", {}).items():
        default = "" if key in required else f"`{json.dumps(value.get('default'))}`"
        rows.append(f"| `{key}` | {_type(value)} | {default} | {value.get('description', '')} |")
    return "\n".join(rows) if len(rows) > 2 else ""


def _type(schema: Schema) -> str:
    """Return a type in words, with links to objects that have names."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(PREFIX)
        return f"[{_short(name)}](#{_anchor(name)})"
    if "anyOf" in schema:
        return " or ".join(_type(each) for each in schema["anyOf"])
    if "enum" in schema:
        return " or ".join(f"`{json.dumps(each)}`" for each in schema["enum"])
    if schema.get("type") == "array":
        return f"list of ({_type(schema['items'])})" if schema.get("items") else "list"
    if schema.get("type") == "object" and "properties" in schema:
        keys = ", ".join(f"`{key}`: {_type(value)}" for key, value in schema["properties"].items())
        return f"object of {keys}"
    return str(schema.get("type", "anything"))


def _short(name: str) -> str:
    return name.removeprefix("fbg.server.messages.").removeprefix("fbg.server.routes.results.")


def _anchor(name: str) -> str:
    return "type-" + name.replace(".", "-").lower()


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
