"""Files and batches of OpenAI's API, with its own client."""

import io
import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import numpy as np
import openai
import pytest

import fbg
from fbg.server.batches import runner
from helpers.serving import RunningServer, running

FINAL = ("completed", "failed", "cancelled", "expired")
URL = "/v1/embeddings"


def line(name: str, text: Any, **more: Any) -> dict[str, Any]:
    body = {"model": "text", "input": text}
    return {"custom_id": name, "method": "POST", "url": URL, "body": body | more}


def jsonl(*lines: Any) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in lines)


@pytest.fixture(scope="module")
def batching(
    directories: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningServer]:
    with started(directories, tmp_path_factory.mktemp("batches") / "b") as server:
        yield server


def started(directories: dict[str, Path], directory: Path, *more: str) -> Any:
    named = [f"{name}={directories[name]}" for name in ("text", "rank")]
    given = ("--dtype", "int8", "--batch-directory", str(directory), "--max-batch-file", "3000000")
    return running(*named, *given, "--threads", "2", "--max-body", "5000", *more)


@pytest.fixture
def api(batching: RunningServer) -> Iterator[openai.OpenAI]:
    with client_of(batching) as client:
        yield client


def client_of(server: RunningServer) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{server.url}/v1", api_key="-", max_retries=0)


def submitted(api: openai.OpenAI, content: bytes, **more: Any) -> Any:
    file = api.files.create(file=("in put.jsonl", content), purpose="batch")
    return api.batches.create(
        input_file_id=file.id, endpoint="/v1/embeddings", completion_window="24h", **more
    )


def ended(api: openai.OpenAI, batch: Any) -> Any:
    for _ in range(1200):
        batch = api.batches.retrieve(batch.id)
        if batch.status in FINAL:
            return batch
        time.sleep(0.02)
    raise AssertionError(batch)


def lines_of(api: openai.OpenAI, name: str | None) -> dict[str, Any]:
    if name is None:
        return {}
    found = [json.loads(each) for each in api.files.content(name).text.splitlines()]
    assert len({each["id"] for each in found}) == len(found)
    return {each["custom_id"]: each for each in found}


def test_a_batch_is_what_its_requests_are(
    api: openai.OpenAI, models: dict[str, fbg.Model], batching: RunningServer
) -> None:
    texts = [f"text number {n}" for n in range(150)]
    wanted = models["text"].encode(texts)
    content = jsonl(
        *(line(f"r{n}", text) for n, text in enumerate(texts)),
        line("several", texts[:3], encoding_format="base64"),
        line("unknown model", "a", model="other"),
        line("unknown key", "a", dimension=3),
        line("empty", []),
        line("ids", [10**9]),
    )
    batch = submitted(api, content, metadata={"who": "me"})
    assert batch.status == "validating" and batch.object == "batch"
    batch = ended(api, batch)
    assert batch.status == "completed", batch
    counts = batch.request_counts
    assert (counts.total, counts.completed, counts.failed) == (155, 151, 4)
    assert batch.metadata == {"who": "me"} and batch.errors is None
    assert batch.created_at <= batch.in_progress_at <= batch.finalizing_at <= batch.completed_at
    results = lines_of(api, batch.output_file_id)
    assert len(results) == 151
    for n, row in enumerate(wanted):
        response = results[f"r{n}"]["response"]
        assert response["status_code"] == 200 and results[f"r{n}"]["error"] is None
        (data,) = response["body"]["data"]
        assert np.array_equal(np.array(data["embedding"], np.float32), row)
    interactive = api.embeddings.with_raw_response.create(
        model="text", input=texts[:3], encoding_format="base64"
    )
    assert results["several"]["response"]["body"] == json.loads(interactive.text)
    errors = lines_of(api, batch.error_file_id)
    assert {name: each["response"]["status_code"] for name, each in errors.items()} == {
        "unknown model": 404,
        "unknown key": 400,
        "empty": 400,
        "ids": 400,
    }
    error = errors["unknown model"]["response"]["body"]["error"]
    assert error["code"] == "model_not_found" and errors["empty"]["error"] is None
    metrics = httpx.get(f"{batching.url}/metrics").text
    assert 'te_request_success{method="batch"}' in metrics
    assert 'te_request_success{method="upload"}' in metrics


def test_files_come_and_go(api: openai.OpenAI, batching: RunningServer) -> None:
    content = jsonl(*(line(str(n), "x" * 100) for n in range(5000)))
    before = {file.id for file in api.files.list()}
    file = api.files.create(file=("näme.jsonl", content), purpose="batch")
    assert (file.bytes, file.purpose, file.object) == (len(content), "batch", "file")
    assert api.files.retrieve(file.id) == file
    assert api.files.content(file.id).content == content
    second = api.files.create(file=io.BytesIO(b"{}"), purpose="batch")
    found = [each.id for each in api.files.list()]
    assert found[:2] == [second.id, file.id] and set(found) - before == {second.id, file.id}
    page = api.files.list(limit=1)
    assert [each.id for each in page.data] == [second.id] and page.has_more
    assert [each.id for each in api.files.list(limit=1, after=second.id).data] == [file.id]
    assert [each.id for each in api.files.list(order="asc")][-1] == second.id
    assert file.id not in {each.id for each in api.files.list(purpose="batch_output")}
    assert api.files.delete(file.id).deleted
    for call in (api.files.retrieve, api.files.content, api.files.delete):
        with pytest.raises(openai.NotFoundError):
            call(file.id)
    url = f"{batching.url}/v1/files"
    for query in ("limit=0", "limit=x", "limit=100000", "order=up"):
        assert httpx.get(f"{url}?{query}").status_code == 400
    assert httpx.put(url).status_code == 405
    each = httpx.options(f"{url}/file-0")
    assert each.status_code == 405 and each.headers["allow"] == "DELETE, GET, HEAD"


def test_answers_are_as_described(api: openai.OpenAI, batching: RunningServer) -> None:
    batch = ended(api, submitted(api, jsonl(line("a", "b"))))
    failed = ended(api, submitted(api, b"{"))
    paths = {
        "/v1/files": "/v1/files",
        "/v1/files/{id}": f"/v1/files/{batch.input_file_id}",
        "/v1/batches": "/v1/batches",
        "/v1/batches/{id}": f"/v1/batches/{batch.id}",
    }
    with httpx.Client(base_url=batching.url) as client:
        document = client.get("/openapi.json").json()
        components = {"components": document["components"]}
        for path, asked in [*paths.items(), ("/v1/batches/{id}", f"/v1/batches/{failed.id}")]:
            answers = document["paths"][path]["get"]["responses"]
            schema = answers["200"]["content"]["application/json"]["schema"]
            jsonschema.validate(client.get(asked).json(), schema | components)
        form = document["paths"]["/v1/files"]["post"]["requestBody"]["content"]
        assert form["multipart/form-data"]["schema"]["required"] == ["file", "purpose"]


@pytest.mark.parametrize(
    "name",
    [
        "file-../../../../etc/passwd",
        "..%2f..%2fetc%2fpasswd",
        "file-" + "0" * 24,
        "file-" + "0" * 23 + "%0a",
        "lock",
        "file-%00",
        "x" * 3000,
        "file-" + "٠" * 24,
    ],
)
def test_ids_lead_nowhere_else(name: str, batching: RunningServer) -> None:
    for method, path in (
        ("GET", f"/v1/files/{name}"),
        ("GET", f"/v1/files/{name}/content"),
        ("DELETE", f"/v1/files/{name}"),
        ("GET", f"/v1/batches/{name}"),
        ("POST", f"/v1/batches/{name}/cancel"),
    ):
        assert httpx.request(method, batching.url + path).status_code in (404, 405)
    body = {"input_file_id": name, "endpoint": URL, "completion_window": "24h"}
    assert httpx.post(f"{batching.url}/v1/batches", json=body).status_code == 404


WRONG = {
    "empty_file": b"\n\n",
    "invalid_json_line": jsonl(line("a", "b")) + b"{\n" + jsonl(line("c", "d")),
    "invalid_request": jsonl(line("a", "b") | {"method": "GET"}),
    "mismatched_endpoint": jsonl(line("a", "b") | {"url": "/v1/chat/completions"}),
    "duplicate_custom_id": jsonl(line("a", "b"), line("a", "b")),
    "line_too_long": jsonl(line("a", "b" * 6000)),
    "too_many_requests": b"\n" * (2 * runner.MOST_LINES + 2) + jsonl(line("a", "b")),
}
MANY = jsonl(*({**line(str(n), []), "body": {"input": ["a"] * 900}} for n in range(56)))
HOSTILE = {
    "nested": b"[" * 4000 + b"\n",
    "not text": bytes(range(256)) * 8 + b"\n",
    "surrogates": b'{"custom_id": "\\ud800", "method": "POST"}\n',
    "null": b"null\n",
    "other keys": jsonl(line("a", "b") | {"x": 1}),
    "no name": jsonl(line("", "b")),
    "long name": jsonl(line("n" * 600, "b")),
}


@pytest.mark.parametrize("what", [*WRONG, *HOSTILE])
def test_files_that_are_wrong_fail_as_a_whole(what: str, api: openai.OpenAI) -> None:
    batch = ended(api, submitted(api, (WRONG | HOSTILE)[what]))
    assert batch.status == "failed" and batch.failed_at and batch.output_file_id is None
    (error,) = {each.code: each for each in batch.errors.data}.values()
    assert what in HOSTILE or error.code == what
    if what == "invalid_json_line":
        assert error.line == 2


def test_there_are_not_too_many_inputs(api: openai.OpenAI) -> None:
    batch = ended(api, submitted(api, MANY))
    assert batch.status == "failed" and "50000 inputs" in batch.errors.data[0].message


def test_a_batch_lists_some_of_its_errors(api: openai.OpenAI) -> None:
    content = jsonl(*({"custom_id": str(n)} for n in range(300)))
    batch = ended(api, submitted(api, content))
    assert len(batch.errors.data) == runner.MOST_ERRORS


def test_uploads_are_bounded_and_well_formed(batching: RunningServer) -> None:
    url = f"{batching.url}/v1/files"
    files = {"file": ("a.jsonl", b"x")}

    def status(**given: Any) -> int:
        return httpx.post(url, timeout=30, **given).status_code

    assert status(files={"file": ("a", b"x" * 3_000_001)}, data={"purpose": "batch"}) == 413
    assert status(files=files, data={"purpose": "fine-tune"}) == 400
    assert status(files=files) == 400
    assert status(files=files, data={"purpose": "batch", "other": "x"}) == 400
    assert status(files=files, data={"purpose": "x" * 10_000}) == 400
    assert status(data={"purpose": "batch"}) == 400
    assert status(json={"purpose": "batch"}) == 400
    kind = {"content-type": "multipart/form-data; boundary=b"}
    bodies = (b"", b"--b", b"--b--", b"x", b"--b\r\n\r\n\r\n--b--", b"--b\r\n" + b"y" * 9000)
    for body in bodies:
        assert status(content=body, headers=kind) == 400, body
    part = b'--b\r\nContent-Disposition: form-data; name="%s"\r\n\r\nbatch\r\n'
    assert status(content=part % b"purpose" + part % b"purpose" + b"--b--", headers=kind) == 400
    whole = part % b"purpose" + part % b"file" + b"--b--\r\n"
    for size in (1, 2, 7, len(whole)):
        pieces = [whole[n : n + size] for n in range(0, len(whole), size)]
        answer = httpx.post(url, content=iter(pieces), headers=kind, timeout=30)
        assert answer.status_code == 200 and answer.json()["bytes"] == 5, answer.text


def test_batches_are_listed_and_cancelled(api: openai.OpenAI) -> None:
    text = "a text of some words, for the model to compute " * 8
    many = jsonl(*(line(str(n), [text] * 9) for n in range(600)))
    batch, waits = submitted(api, many), submitted(api, many)
    assert [each.id for each in api.batches.list(limit=2).data] == [waits.id, batch.id]
    time.sleep(0.5)
    for each in (waits, batch):
        assert api.batches.cancel(each.id).status == "cancelling"
    for each in (batch, waits):
        end = ended(api, each)
        assert end.status == "cancelled" and end.cancelled_at and end.cancelling_at
        assert len(lines_of(api, end.output_file_id)) == end.request_counts.completed < 600
    with pytest.raises(openai.BadRequestError, match="cancelled cannot be cancelled"):
        api.batches.cancel(batch.id)


def test_without_a_directory_there_are_no_such_routes(server: RunningServer) -> None:
    answer = httpx.get(f"{server.url}/v1/files")
    assert answer.status_code == 404 and "--batch-directory" in answer.json()["error"]["message"]
    body = {"input_file_id": "file-1", "endpoint": URL, "completion_window": "24h"}
    assert httpx.post(f"{server.url}/v1/batches", json=body).status_code == 404
    files = {"file": ("a", b"x")}
    assert httpx.post(f"{server.url}/v1/files", files=files).status_code == 404


def test_keys_are_needed(directories: dict[str, Path], tmp_path: Path) -> None:
    given = (str(directories["text"]), "--batch-directory", str(tmp_path / "b"))
    with running(*given, FBG_API_KEY="k") as server:
        for method, path in (("GET", "/v1/files"), ("POST", "/v1/files"), ("GET", "/v1/batches")):
            assert httpx.request(method, server.url + path).status_code == 401
        headers = {"authorization": "Bearer k"}
        assert httpx.get(f"{server.url}/v1/files", headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("number", "workers"), [(signal.SIGTERM, "1"), (signal.SIGTERM, "2"), (signal.SIGKILL, "1")]
)
def test_a_batch_goes_on_after_a_restart(
    directories: dict[str, Path], tmp_path: Path, number: signal.Signals, workers: str
) -> None:
    count = 1500
    content = jsonl(*(line(str(n), [f"text {n}"] * (n % 4)) for n in range(count)))
    with (
        started(directories, tmp_path / "b", "--workers", workers) as server,
        client_of(server) as api,
    ):
        batch = submitted(api, content)
        for _ in range(600):
            if api.batches.retrieve(batch.id).request_counts.completed:
                break
            time.sleep(0.02)
        server.signal(number)
        server.process.wait(60)
    with (
        started(directories, tmp_path / "b", "--workers", workers) as server,
        client_of(server) as api,
    ):
        end = ended(api, batch)
        counts = end.request_counts
        assert (end.status, counts.total) == ("completed", count)
        assert (counts.completed, counts.failed) == (count - count // 4, count // 4)
        assert len(lines_of(api, end.output_file_id)) == counts.completed
        assert len(lines_of(api, end.error_file_id)) == counts.failed
        kept = {each.suffix for each in (tmp_path / "b").iterdir()}
        assert kept - {".tmp"} == {".json", ".jsonl", ""}  # which a process that is killed leaves


def test_requests_go_first(directories: dict[str, Path], tmp_path: Path) -> None:
    text = "a text of some words, for the model to compute " * 8
    with started(directories, tmp_path / "b") as server, client_of(server) as api:

        def median() -> float:
            times = []
            for _ in range(60):
                begin = time.perf_counter()
                api.embeddings.create(model="text", input="the dog")
                times.append(time.perf_counter() - begin)
            return sorted(times)[30]

        alone = median()
        batch = submitted(api, jsonl(*(line(str(n), [text] * 9) for n in range(600))))
        time.sleep(0.3)
        beside = median()
        assert api.batches.retrieve(batch.id).status == "in_progress"
        api.batches.cancel(batch.id)
        assert beside < 10 * alone + 0.05


def test_an_input_that_is_gone_fails(directories: dict[str, Path], tmp_path: Path) -> None:
    root = tmp_path / "b"
    with started(directories, root) as server, client_of(server) as api:
        file = api.files.create(file=("a", jsonl(line("a", "b"))), purpose="batch")
    with started(directories, root) as server, client_of(server) as api:
        api.files.delete(file.id)
        with pytest.raises(openai.NotFoundError):
            api.batches.create(
                input_file_id=file.id, endpoint="/v1/embeddings", completion_window="24h"
            )
    assert os.listdir(root) == ["lock"]


@pytest.mark.parametrize("status", ["in_progress", "finalizing"])
def test_results_of_an_input_that_is_gone_stay_if_they_are_complete(
    status: str, directories: dict[str, Path], tmp_path: Path
) -> None:
    root = tmp_path / "b"
    with started(directories, root) as server, client_of(server) as api:
        batch = ended(api, submitted(api, jsonl(line("a", "b"))))
    path = root / f"{batch.id}.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"status": status}))
    for name in root.glob(f"{batch.input_file_id}.*"):
        name.unlink()
    (root / f"{batch.output_file_id}.json").unlink()
    with started(directories, root) as server, client_of(server) as api:
        end = ended(api, batch)
        if status == "finalizing":
            assert end.status == "completed" and list(lines_of(api, end.output_file_id)) == ["a"]
        else:
            assert end.status == "failed" and end.errors.data[0].code == "file_not_found"
            assert {each.name for each in root.iterdir()} == {"lock", path.name}


def test_a_damaged_batch_does_not_hold_up_others(
    directories: dict[str, Path], tmp_path: Path
) -> None:
    root = tmp_path / "b"
    with started(directories, root) as server, client_of(server) as api:
        for number, content in enumerate((b"{", b"[]", b'{"status": "validating"}')):
            (root / f"batch_{number:024x}.json").write_bytes(content)
        batch = ended(api, submitted(api, jsonl(line("a", "b"))))
        assert batch.status == "completed"
        assert httpx.get(f"{server.url}/v1/batches/batch_{0:024x}").status_code == 404
        (root / f"batch_{2:024x}.json").unlink()
        assert [each.id for each in api.batches.list()] == [batch.id]


def test_what_is_not_done_in_time_expires(directories: dict[str, Path], tmp_path: Path) -> None:
    root = tmp_path / "b"
    with started(directories, root) as server, client_of(server) as api:
        batch = ended(api, submitted(api, jsonl(line("a", "b"))))
    path = root / f"{batch.id}.json"
    stored = json.loads(path.read_text())
    stored |= {"status": "in_progress", "expires_at": int(time.time()) - 1}
    stored |= {"_at": 0, "_results": 0, "_errors": 0, "output_file_id": None}
    stored["request_counts"] = {"total": 1, "completed": 0, "failed": 0}
    path.write_text(json.dumps(stored))
    with started(directories, root) as server, client_of(server) as api:
        end = ended(api, batch)
        assert end.status == "expired" and end.expired_at
        (error,) = lines_of(api, end.error_file_id).values()
        assert error["response"] is None and error["error"]["code"] == "batch_expired"
