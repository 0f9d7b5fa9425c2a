"""The OpenAPI document of the server, made from the types of its messages and results."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

import fbg
from fbg.server.endpoint import JSON, Page, Route
from fbg.server.errors import Dialect, dialect_of
from fbg.server.routes import results

ERRORS = {
    Dialect.TEI: results.TeiError,
    Dialect.OPENAI: results.OpenAIError,
    Dialect.COHERE: results.CohereError,
}
IN_PATH = re.compile(r"\{(\w+)(?::path)?\}")


def document(posts: Iterable[Route], pages: Iterable[Page]) -> dict[str, Any]:
    """Return the document. posts: the routes with a body; pages: the others."""
    kinds: list[Any] = [*ERRORS.values()]
    for route in posts:
        kinds += [*(route.bodies or (route.message,)), route.result]
    kinds += [page.result for page in pages]
    kinds = list(dict.fromkeys(kinds))
    made, components = msgspec.json.schema_components(
        kinds, ref_template="#/components/schemas/{name}"
    )
    schemas = dict(zip(kinds, made, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for route in posts:
        bodies = [schemas[body] for body in route.bodies or (route.message,)]
        body = {JSON: {"schema": bodies[0] if len(bodies) == 1 else {"anyOf": bodies}}}
        operation: dict[str, Any] = {"requestBody": {"content": body, "required": True}}
        operation |= _operation(route, JSON, schemas, route.dialect)
        paths.setdefault(IN_PATH.sub(r"{\1}", route.path), {})["post"] = operation
    for page in pages:
        operation = _operation(page, page.media_type, schemas, dialect_of(page.path))
        paths.setdefault(IN_PATH.sub(r"{\1}", page.path), {})["get"] = operation
    return {
        "openapi": "3.1.0",
        "info": {"title": "fbg serve", "version": fbg.__version__},
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"key": []}],
    }


def _operation(
    route: Route | Page, media_type: str | None, schemas: Mapping[Any, Any], dialect: Dialect
) -> dict[str, Any]:
    """Return what a route does, and its answers."""
    said = " ".join((route.answer.__doc__ or "").split()).replace("`", "")
    answers = {"200": _answer("the result", schemas[route.result], media_type)}
    for codes in ("4XX", "5XX"):
        answers[codes] = _answer("an error", schemas[ERRORS[dialect]], JSON)
    found: dict[str, Any] = {"summary": said, "responses": answers}
    if names := IN_PATH.findall(route.path):
        text = {"in": "path", "required": True, "schema": {"type": "string"}}
        found["parameters"] = [{"name": name, **text} for name in names]
    return found


def _answer(what: str, schema: Any, media_type: str | None) -> dict[str, Any]:
    content = {} if media_type is None else {"content": {media_type: {"schema": schema}}}
    return {"description": what} | content
