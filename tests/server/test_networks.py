"""Networks over HTTP, in the open inference protocol of KServe: a small recommender (DLRM)."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import httpx
import jsonschema
import ml_dtypes
import msgspec
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import fbg
from fbg.server.errors import RequestError
from fbg.server.messages import Inference
from fbg.server.routes.infer import _array, _tensor
from helpers import tiny_bert
from helpers.commands import succeed
from helpers.dlrm import write_dlrm
from helpers.serving import running

EXAMPLE = Path(__file__).parents[2] / "examples" / "recommender.py"
SAMPLES = 5


class Recommender:
    """A network in files: one in float32, and one that was saved in int8."""

    def __init__(self, directory):
        example, rng = runpy.run_path(str(EXAMPLE)), np.random.default_rng(0)
        rows = [min(count, 40) for count in example["ROWS"]]
        state = example["draw_state"](rows, rng)
        dense, indices = example["draw_batch"](rows, 64, rng)
        self.path, self.saved = directory / "dlrm.onnx", directory / "dlrm-int8"
        self.samples = {"dense": dense}
        self.samples |= {f"i{t}": one for t, one in enumerate(indices)}
        write_dlrm(state, self.samples, self.path)
        self.clicks = example["Recommender"](state, "float32", "float32")(dense, indices)
        fbg.load(self.path, dtype="int8", calibrate=[self.samples]).save(self.saved)


@pytest.fixture(scope="module")
def recommender(tmp_path_factory):
    return Recommender(tmp_path_factory.mktemp("recommender"))


@pytest.fixture(scope="module")
def served(recommender, tmp_path_factory):
    text = tmp_path_factory.mktemp("text")
    tiny_bert.write_checkpoint(text)
    given = [f"text={text}", str(recommender.path), f"small={recommender.saved}"]
    with running(*given, "--threads", "2") as started:
        yield started


@pytest.fixture
def client(served):
    with httpx.Client(base_url=served.url, timeout=30) as opened:
        yield opened


def request_of(samples, count=SAMPLES):
    return {
        "inputs": [
            {
                "name": name,
                "shape": [count, *value.shape[1:]],
                "datatype": "FP32" if name == "dense" else "INT64",
                "data": value[:count].reshape(-1).tolist(),
            }
            for name, value in samples.items()
        ]
    }


@pytest.mark.parametrize(
    ("name", "path", "most"), [("dlrm", "path", 1e-5), ("small", "saved", 0.05)]
)
def test_clicks_are_those_of_the_network(client, recommender, name, path, most):
    body = request_of(recommender.samples) | {"id": "7"}
    answer = client.post(f"/v2/models/{name}/infer", json=body)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    [output] = found.pop("outputs")
    assert found == {"model_name": name, "id": "7"}
    document = client.get("/openapi.json").json()
    answers = document["paths"]["/v2/models/{name}/infer"]["post"]["responses"]
    schema = answers["200"]["content"]["application/json"]["schema"]
    jsonschema.validate(answer.json(), schema | {"components": document["components"]})
    clicks = np.array(output["data"], np.float32)
    assert (output["datatype"], output["shape"]) == ("FP32", [SAMPLES, 1])
    assert np.abs(clicks - recommender.clicks[:SAMPLES]).max() < most
    cut = {name: value[:SAMPLES] for name, value in recommender.samples.items()}
    [expected] = fbg.load(getattr(recommender, path)).run(cut).values()
    assert clicks.tobytes() == expected.tobytes()


def test_nested_data_and_chosen_outputs(client, recommender):
    body = request_of(recommender.samples)
    for given in body["inputs"]:
        given["data"] = np.reshape(given["data"], given["shape"]).tolist()
    [output] = fbg.load(recommender.path).outputs
    chosen = client.post("/v2/models/dlrm/infer", json=body | {"outputs": [{"name": output}]})
    flat = client.post("/v2/models/dlrm/infer", json=request_of(recommender.samples))
    assert chosen.json() == flat.json()
    body["outputs"] = [{"name": "none"}]
    answer = client.post("/v2/models/dlrm/infer", json=body)
    assert (answer.status_code, "there are " + output in answer.text) == (422, True)


def test_networks_are_described(client):
    for path in ("/v2/health/live", "/v2/health/ready", "/v2/models/small/ready"):
        assert client.get(path).status_code == 200
    found = client.get("/v2/models/small").json()
    assert found["name"] == "small"
    assert found["inputs"][0] == {"name": "dense", "datatype": "FP32", "shape": [-1, 13]}
    assert found["inputs"][1] == {"name": "i0", "datatype": "INT64", "shape": [-1, 3]}
    assert len(found["inputs"]) == 27
    names = [model["id"] for model in client.get("/v1/models").json()["data"]]
    assert names == ["text", "dlrm", "small"]
    assert client.post("/embed", json={"inputs": "a text"}).status_code == 200


def edited(field, value, at=0):
    def edit(body):
        body["inputs"][at][field] = value

    return edit


NUMBERS = "input 'dense' must be numbers of FP32 in the shape"
REFUSED = {
    "no network 'none' here; served are 'dlrm', 'small'": ("none", 404, None),
    "no network 'text' here": ("text", 404, None),
    "there is no input 'x'": ("small", 422, edited("name", "x")),
    "must have one of the datatypes BOOL, INT8": ("small", 422, edited("datatype", "BYTES")),
    "input 'dense' must be float32, got float64": ("small", 422, edited("datatype", "FP64")),
    f"{NUMBERS} [4, 13]": ("small", 422, edited("shape", [4, 13])),
    f"{NUMBERS} [4611686018427387904]": ("small", 422, edited("shape", [2**62])),
    "Expected `int` >= 0": ("small", 422, edited("shape", [-1, 13])),
    f"{NUMBERS} [5, 13]": ("small", 422, edited("data", ["1"] * 65)),
    f"{NUMBERS} [5,  13]": ("small", 422, edited("data", [None] * 65)),
    f"{NUMBERS} [5,   13]": ("small", 422, edited("data", [[1], [1, 2]])),
    f"{NUMBERS} [5,    13]": ("small", 422, edited("data", [1e300] * 65)),
    "'i0' must be numbers of INT64": ("small", 422, edited("data", [0.5] * 15, 1)),
    "'i0' must be numbers of  INT64": ("small", 422, edited("data", [2**63] * 15, 1)),
    "must be indices of 40 rows, got 40": ("small", 422, edited("data", [40] * 15, 1)),
    f"{NUMBERS} [0, 1073741824]": ("small", 422, edited("shape", [0, 1 << 30])),
    f"{NUMBERS}  [5, 13]": ("small", 422, edited("data", ["x" * 1000, *[""] * 64])),
    "a tensor is named twice": ("small", 422, edited("name", "i1", 1)),
    "unknown field `dat` - at `$.inputs[0]`": ("small", 422, edited("dat", [])),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_is_refused(client, recommender, message):
    name, status, edit = REFUSED[message]
    body = request_of(recommender.samples)
    if edit is not None:
        edit(body)
    answer = client.post(f"/v2/models/{name}/infer", json=body)
    assert answer.status_code == status, answer.text
    assert " ".join(message.split()) in answer.json()["error"]


def tensor(datatype, data, shape=None):
    return Inference.Tensor(
        name="x",
        shape=[len(data)] if shape is None else shape,
        datatype=datatype,
        data=msgspec.Raw(json.dumps(data).encode()),
    )


@pytest.mark.parametrize(
    ("datatype", "data", "dtype"),
    [
        ("UINT64", [2**63, 1], np.uint64),
        ("INT64", [-(2**63), 2**63 - 1], np.int64),
        ("FP32", [10**20, 0.1], np.float32),
        ("BOOL", [True, False], np.bool_),
        ("FP16", [], np.float16),
    ],
)
def test_numbers_that_fit(datatype, data, dtype):
    found = _array(tensor(datatype, data))
    assert found.dtype == dtype and found.tolist() == np.array(data, dtype).tolist()


@pytest.mark.parametrize(
    ("datatype", "data", "shape"),
    [
        ("UINT64", [2**64], None),
        ("INT8", [128], None),
        ("UINT8", [-1], None),
        ("INT8", [True], None),
        ("BOOL", [1], None),
        ("FP16", [1e5], None),
        ("FP64", [10**400], None),
        ("FP32", [[1], 2], None),
        ("FP32", [1, 2], [3]),
        ("FP32", [], [0, 1 << 30]),
    ],
)
def test_numbers_that_do_not_fit(datatype, data, shape):
    with pytest.raises(ValueError, match=f"input 'x' must be numbers of {datatype} in the shape"):
        _array(tensor(datatype, data, shape))


def test_outputs_of_types_that_json_lacks():
    bfloat16 = np.array([1.5, 2], ml_dtypes.bfloat16)
    assert _tensor("y", bfloat16)["datatype"] == "FP32"
    with pytest.raises(RequestError, match="output 'y' has no numbers"):
        _tensor("y", np.array(["a"], object))


def test_a_path_may_look_like_the_template_of_one(client):
    for path in ("/v2/models/%7Bname:path%7D", "/v1/models/%7Bname:path%7D"):
        assert client.get(path).status_code == 404
    answer = client.post("/v2/models/%7Bname:path%7D/infer", json={"inputs": []})
    assert answer.status_code == 404


def test_workers_run_what_runs_on_another_back_end(tmp_path):
    graph = helper.make_graph(
        [helper.make_node("Det", ["x"], ["y"])],
        "det",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3, 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])],
    )
    opset = helper.make_opsetid("", 17)
    onnx.save(helper.make_model(graph, opset_imports=[opset], ir_version=8), tmp_path / "det.onnx")
    x = np.stack([np.eye(3), 2 * np.eye(3)]).astype(np.float32)
    inputs = [{"name": "x", "shape": [2, 3, 3], "datatype": "FP32", "data": x.tolist()}]
    with running(str(tmp_path / "det.onnx"), "--workers", "2", "--threads", "2") as server:
        for _ in range(6):
            url = f"{server.url}/v2/models/det/infer"
            answer = httpx.post(url, json={"inputs": inputs}, timeout=30)
            assert answer.json()["outputs"][0]["data"] == [1, 8]


def test_dtypes_of_a_recommender_are_compared(recommender, tmp_path):
    runs = {name: value.reshape(4, 16, -1) for name, value in recommender.samples.items()}
    np.savez(tmp_path / "samples.npz", **runs)
    given = ("--input", tmp_path / "samples.npz", "--rounds", "1", "--json")
    found = json.loads(succeed("compare", recommender.path, *given).stdout)
    assert 0.99 < found["minimum"] <= found["cosine"] <= 1
    assert [node["node"] for node in found["nodes"]][:2] == ["bot_l0", "bot_l1"]


def test_a_server_may_have_networks_alone(recommender):
    with running(f"dlrm={recommender.saved}", "--workers", "2") as server:
        body = request_of(recommender.samples)
        answer = httpx.post(f"{server.url}/v2/models/dlrm/infer", json=body)
        assert answer.status_code == 200
        for path in ("/info", "/embed"):
            answer = httpx.request(
                "GET" if path == "/info" else "POST", server.url + path, json={"inputs": "a"}
            )
            assert answer.status_code == 424, answer.text


# --- Tensors as bytes -----------------------------------------------------------------------------


def packed(samples, **changes):
    """A body with inputs behind its JSON, and its header. changes: of the first input."""
    body, parts = request_of(samples), []
    for given in body["inputs"]:
        value = samples[given["name"]][:SAMPLES]
        data = value.astype("<f4" if given["datatype"] == "FP32" else "<i8").tobytes()
        del given["data"]
        given["parameters"] = {"binary_data_size": len(data), "other": True}
        parts.append(data)
    body["inputs"][0] |= changes
    head = json.dumps(body).encode()
    return head + b"".join(parts), {"Inference-Header-Content-Length": str(len(head))}


def test_tensors_may_be_bytes(client, recommender):
    url, samples = "/v2/models/small/infer", recommender.samples
    expected = client.post(url, json=request_of(samples)).json()["outputs"][0]
    content, headers = packed(samples)
    found = client.post(url, content=content, headers=headers)
    assert found.status_code == 200 and found.json()["outputs"] == [expected]
    wanted = {"name": expected["name"], "parameters": {"binary_data": True}}
    for more in ({"outputs": [wanted]}, {"parameters": {"binary_data_output": True}}):
        answer = client.post(url, json=request_of(samples) | more)
        assert answer.headers["content-type"] == "application/octet-stream"
        length = int(answer.headers["inference-header-content-length"])
        [output] = json.loads(answer.content[:length])["outputs"]
        assert "data" not in output and output["shape"] == expected["shape"]
        data = answer.content[length:]
        assert output["parameters"] == {"binary_data_size": len(data)}
        assert np.frombuffer(data, "<f4").tolist() == np.float32(expected["data"]).tolist()
    plain = {"name": expected["name"], "parameters": {"binary_data": False}}
    body = request_of(samples) | {"outputs": [plain], "parameters": {"binary_data_output": True}}
    assert client.post(url, json=body).json()["outputs"] == [expected]


@pytest.mark.parametrize(
    ("change", "headers", "said"),
    [
        ({"shape": [4, 13]}, {}, "must be 260 bytes of numbers of FP32 in the shape [4, 13]"),
        ({"data": [1]}, {}, "must be 260 bytes of numbers"),
        ({"parameters": {}}, {}, "must be numbers of FP32"),
        ({"parameters": {"binary_data_size": 10**9}}, {}, "bytes of numbers of FP32"),
        ({"parameters": {"binary_data_size": -1}}, {}, "Expected `int` >= 0"),
        ({}, {"Inference-Header-Content-Length": "-1"}, "must be in [0, "),
        ({}, {"Inference-Header-Content-Length": "99999999"}, "must be in [0, "),
        ({}, {"Inference-Header-Content-Length": "9"}, "not valid JSON"),
    ],
)
def test_bytes_that_are_no_tensor(client, recommender, change, headers, said):
    content, own = packed(recommender.samples, **change)
    answer = client.post("/v2/models/small/infer", content=content, headers=own | headers)
    assert answer.status_code in (400, 422) and said in answer.json()["error"], answer.text
    body, more = packed(recommender.samples)
    answer = client.post("/v2/models/small/infer", content=body + b"x", headers=more)
    assert answer.status_code == 422 and "must follow the JSON" in answer.json()["error"]
    body = body[: int(more["Inference-Header-Content-Length"])]
    answer = client.post("/v2/models/small/infer", content=body)
    assert answer.status_code == 422 and "needs the header" in answer.json()["error"]


def test_booleans_in_bytes_are_0_or_1():
    given = tensor("BOOL", [], [2])
    given.data = msgspec.Raw()
    assert _array(given, memoryview(b"\x01\x00")).tolist() == [True, False]
    with pytest.raises(ValueError, match="must be 2 bytes of numbers of BOOL"):
        _array(given, memoryview(b"\x02\x00"))


def test_an_axis_too_many_is_refused_before_it_is_counted(client):
    given = {"name": "dense", "shape": [9] * 100_000, "datatype": "FP32", "data": []}
    answer = client.post("/v2/models/small/infer", json={"inputs": [given]})
    assert answer.status_code == 422 and "length <= 64" in answer.json()["error"]
    assert answer.elapsed.total_seconds() < 2


def test_a_picture_as_json_fits_and_413_names_the_option(client):
    url = "/v2/models/small/infer"
    given = {"name": "x", "shape": [1, 3, 224, 224], "datatype": "FP32"}
    numbers = np.random.default_rng(0).standard_normal(3 * 224 * 224)
    answer = client.post(url, json={"inputs": [given | {"data": numbers.tolist()}]})
    assert answer.status_code == 422 and "there is no input 'x'" in answer.json()["error"]
    assert int(answer.request.headers["content-length"]) > 2 << 20
    answer = client.post(url, content=b" " * (17 << 20))
    assert answer.status_code == 413 and "--max-tensor-body" in answer.json()["error"]
    answer = client.post("/embed", content=b" " * (3 << 20))
    assert answer.status_code == 413 and "--max-body" in answer.json()["error"]


def test_what_is_served_is_said_of_networks_alone(recommender):
    with running(f"dlrm={recommender.saved}") as server:
        answer = httpx.post(f"{server.url}/embed", json={"inputs": "a"})
        assert answer.json()["error"].endswith("only networks are served")
        answer = httpx.post(f"{server.url}/embed", json={"inputs": "a", "model": "b"})
        assert answer.json()["error"].endswith("no model is served")
