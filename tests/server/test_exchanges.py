"""Requests of each dialect, and the forms of their answers: tests/data/serving_exchanges.json.

An answer must have the fields and the JSON types of the one in the file, no more and no fewer; each
element of a list must have those of the first element there. Values are compared in other tests.
"""

import json
from typing import Any

import httpx
import pytest

from helpers.minilm import DATA

EXCHANGES = json.loads((DATA / "serving_exchanges.json").read_text(encoding="utf-8"))


def form(value: Any) -> str:
    """The JSON type of a value; integers are numbers, and booleans are not."""
    if isinstance(value, bool) or value is None:
        return str(type(value))
    return "number" if isinstance(value, (int, float)) else str(type(value))


def check_form(got: Any, wanted: Any, where: str) -> None:
    assert form(got) == form(wanted), where
    if isinstance(wanted, dict):
        assert got.keys() == wanted.keys(), where
        for key in wanted:
            check_form(got[key], wanted[key], f"{where}.{key}")
    elif isinstance(wanted, list):
        assert got, where
        for n, item in enumerate(got):
            check_form(item, wanted[0], f"{where}[{n}]")


@pytest.mark.parametrize("name", EXCHANGES)
def test_answers_have_the_form_that_clients_expect(name: str, client: httpx.Client) -> None:
    exchange = EXCHANGES[name]
    if "request" in exchange:
        answer = client.post(exchange["path"], json=exchange["request"])
    else:
        answer = client.get(exchange["path"])
    assert answer.status_code == exchange["status"], answer.text
    check_form(answer.json(), exchange["response"], name)
    for header in exchange.get("headers", ()):
        assert answer.headers[header] == "cpu" or answer.headers[header].isdigit()


@pytest.mark.parametrize("name", ["openai embeddings, float", "openai, a model that is not there"])
def test_times_of_tei_are_for_its_clients_only(name: str, client: httpx.Client) -> None:
    answer = client.post(EXCHANGES[name]["path"], json=EXCHANGES[name]["request"])
    assert not any(header.startswith("x-compute") for header in answer.headers)
