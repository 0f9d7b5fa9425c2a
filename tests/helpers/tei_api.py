"""What the HTTP API of text-embeddings-inference takes and answers, as an OpenAPI document.

It has the routes, types and errors of the project's docs/openapi.json, without descriptions and
examples: those of version 1.7.1, with `dimensions` and `served_model_name`, which came later. It
also says what that document leaves out: 400 answers what is not valid JSON, and texts, lists and
sequences of ids that are empty. Errors of /v1/embeddings have OpenAI's form, which clients read.
"""

from __future__ import annotations


def _named(name):
    return {"$ref": f"#/components/schemas/{name}"}


def _list(items, **limits):
    return {"type": "array", "items": items} | limits


def _maybe(schema):
    return schema | {"nullable": True}


def _one_of(*schemas):
    return {"oneOf": list(schemas)}


def _record(optional=None, **required):
    properties = required | (optional or {})
    return {"type": "object", "required": list(required), "properties": properties}


TEXT, FLAG, NUMBER = ({"type": kind} for kind in ("string", "boolean", "number"))
COUNT = {"type": "integer", "minimum": 0}
GIVEN = TEXT | {"minLength": 1}
TOKEN_IDS = _list(COUNT | {"format": "int32"}, minItems=1)
PROMPT = {"prompt_name": _maybe(TEXT)}
DIRECTION = {"type": "string", "enum": ["Left", "Right"]}
CUT = {"truncate": _maybe(FLAG), "truncation_direction": DIRECTION}
SCORES = {"raw_scores": FLAG} | CUT
SIZE = {"dimensions": _maybe(COUNT)}
ERRORS = {
    "type": "string",
    "enum": ["Unhealthy", "Backend", "Overloaded", "Validation", "Tokenizer", "Empty"],
}
FORMAT = {"encoding_format": {"type": "string", "enum": ["float", "base64"]}}
INPUT = _one_of(GIVEN, TOKEN_IDS, _list(GIVEN, minItems=1), _list(TOKEN_IDS, minItems=1))
PAIRS = _one_of(
    GIVEN,
    _list(GIVEN, minItems=2, maxItems=2),
    _list(_list(GIVEN, minItems=1, maxItems=2), minItems=1),
)
LABELS = _record(
    id2label={"type": "object", "additionalProperties": TEXT},
    label2id={"type": "object", "additionalProperties": COUNT},
)
LIKENESS = _record(source_sentence=GIVEN, sentences=_list(GIVEN, minItems=1))
PARAMETERS = _record(PROMPT | {"truncate": _maybe(FLAG)}, truncation_direction=DIRECTION)
PREDICTION = _record(score=NUMBER, label=TEXT)
TOKEN = _record({"start": _maybe(COUNT), "stop": _maybe(COUNT)}, id=COUNT, text=TEXT, special=FLAG)
EMBEDDING = _record(object=TEXT, index=COUNT, embedding=_one_of(_list(NUMBER), TEXT))
USAGE = _record(prompt_tokens=COUNT, total_tokens=COUNT)

REQUESTS = {
    "/decode": _record(
        {"skip_special_tokens": FLAG}, ids=_one_of(TOKEN_IDS, _list(TOKEN_IDS, minItems=1))
    ),
    "/embed": _record({"normalize": FLAG} | SIZE | PROMPT | CUT, inputs=INPUT),
    "/embed_all": _record(PROMPT | CUT, inputs=INPUT),
    "/embed_sparse": _record(PROMPT | CUT, inputs=INPUT),
    "/predict": _record(SCORES, inputs=PAIRS),
    "/rerank": _record({"return_text": FLAG} | SCORES, query=GIVEN, texts=_list(GIVEN, minItems=1)),
    "/similarity": _record({"parameters": _maybe(PARAMETERS)}, inputs=LIKENESS),
    "/tokenize": _record(
        {"add_special_tokens": FLAG} | PROMPT, inputs=_one_of(GIVEN, _list(GIVEN, minItems=1))
    ),
    "/v1/embeddings": _record(
        {"model": _maybe(TEXT), "user": _maybe(TEXT)} | SIZE | FORMAT, input=INPUT
    ),
}
ANSWERS = {
    "/decode": _list(TEXT),
    "/embed": _list(_list(NUMBER)),
    "/embed_all": _list(_list(_list(NUMBER))),
    "/embed_sparse": _list(_list(_record(index=COUNT, value=NUMBER))),
    "/predict": _one_of(_list(PREDICTION), _list(_list(PREDICTION))),
    "/rerank": _list(_record({"text": _maybe(TEXT)}, index=COUNT, score=NUMBER)),
    "/similarity": _list(NUMBER),
    "/tokenize": _list(_list(TOKEN)),
    "/v1/embeddings": _record(object=TEXT, model=TEXT, data=_list(EMBEDDING), usage=USAGE),
}
INFO = _record(
    {name: _maybe(TEXT) for name in ("model_sha", "sha", "docker_label")}
    | {"max_batch_requests": _maybe(COUNT)},
    **dict.fromkeys(("model_id", "served_model_name", "model_dtype", "version"), TEXT),
    **dict.fromkeys(("max_concurrent_requests", "max_input_length", "max_batch_tokens"), COUNT),
    **dict.fromkeys(("max_client_batch_size", "tokenization_workers"), COUNT),
    model_type=_one_of(
        _record(classifier=LABELS),
        _record(embedding=_record(pooling=TEXT)),
        _record(reranker=LABELS),
    ),
    auto_truncate=FLAG,
)
ERROR = _record(error=TEXT, error_type=ERRORS)
OPENAI_ERROR = _record(
    error=_record({"param": _maybe(TEXT), "code": _maybe(TEXT)}, message=TEXT, type=TEXT)
)


def _body(schema):
    return {"description": "", "content": {"application/json": {"schema": schema}}}


def _post(path):
    error = OPENAI_ERROR if path == "/v1/embeddings" else ERROR
    without_model = path in ("/decode", "/tokenize")
    codes = ("400", "413", "422", *(() if without_model else ("424", "429")))
    answers = {"200": _body(ANSWERS[path])} | {code: _body(error) for code in codes}
    return {"requestBody": _body(REQUESTS[path]) | {"required": True}, "responses": answers}


DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "text-embeddings-inference", "version": "1.9"},
    "paths": {path: {"post": _post(path)} for path in REQUESTS}
    | {"/info": {"get": {"responses": {"200": _body(INFO)}}}},
}
