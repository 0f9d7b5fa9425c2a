"""Networks: the open inference protocol of KServe (version 2), with tensors as JSON or as bytes.

https://kserve.github.io/website/docs/concepts/architecture/data-plane/v2-protocol
https://github.com/triton-inference-server/server/blob/main/docs/protocol/extension_binary_data.md
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import GenericAlias
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from fbg.arrays import Array
from fbg.errors import ModelError
from fbg.runtime.event_loop import in_thread
from fbg.server.endpoint import JSON, Page, Route
from fbg.server.errors import Fault, RequestError
from fbg.server.messages import MOST_AXES, Inference
from fbg.server.replies import Packed, encode_json
from fbg.server.routes.results import Inferred
from fbg.server.routes.status import health
from fbg.server.state import BYTES_OF_NUMBER, Call, State

if TYPE_CHECKING:
    from fbg.importers.description import TensorType
    from fbg.importers.net import Net

DATATYPES = {
    "BOOL": np.dtype(np.bool_),
    **{f"INT{8 * n}": np.dtype(f"<i{n}") for n in (1, 2, 4, 8)},
    **{f"UINT{8 * n}": np.dtype(f"<u{n}") for n in (1, 2, 4, 8)},
    **{f"FP{8 * n}": np.dtype(f"<f{n}") for n in (2, 4, 8)},
}
NAMES = {dtype: name for name, dtype in DATATYPES.items()}
MOST_PLACES = 1 << 24  # of an input, counting axes without any as one
MOST_LISTS = 1 << 20  # of numbers that are nested: each takes 80 bytes
# What numbers are in JSON, by the kind of a datatype.
KINDS: dict[str, Any] = {"b": bool, "i": int, "u": int, "f": float}


async def infer(call: Call, message: Inference) -> dict[str, Any] | Packed:
    """`POST /v2/models/{name}/infer`: the outputs of a network."""
    name, most = call.parameters["name"], call.state.settings.max_answer_numbers
    served = call.state.models.net(name)
    known = served.facts.outputs
    asked = {output.name: output for output in message.outputs or []}
    wanted = list(asked or known)
    names = {given.name for given in message.inputs}
    if len(names) < len(message.inputs) or len(asked) < len(message.outputs or ()):
        raise RequestError(Fault.VALIDATION, "a tensor is named twice")
    for output in wanted:
        if output not in known:
            there = ", ".join(known)
            raise RequestError(Fault.VALIDATION, f"no output {output!r:.200}; there are {there}")
    net = await call.use(served.slot)
    found = await in_thread(call.state.networks, _run, net, message, call.binary)
    numbers = sum(found[n].size for n in wanted)
    if numbers > most:
        raise RequestError(
            Fault.VALIDATION, f"the outputs must have at most {most} numbers, got {numbers}"
        )
    call.hold(numbers * BYTES_OF_NUMBER)
    binary = {n for n in wanted if _is_binary(message, asked.get(n))}
    outputs = [_tensor(n, found[n], n in binary) for n in wanted]
    answer: dict[str, Any] = {"model_name": name, "outputs": outputs}
    answer |= {} if message.id is None else {"id": message.id}
    if not binary:
        return answer
    return Packed(answer, [output.pop("data") for output in outputs if output["name"] in binary])


def _is_binary(message: Inference, output: Inference.Wanted | None) -> bool:
    """Return whether a request wants an output as bytes: as it says of it, or of all."""
    for each in (output, message):
        if each is not None and each.parameters is not None:
            said = each.parameters.binary_data if each is output else None
            said = each.parameters.binary_data_output if each is message else said
            if said is not None:
                return said
    return False


def _run(net: Net, message: Inference, binary: memoryview | None) -> dict[str, Array]:
    """Return the outputs of a network; raises RequestError, and ModelError."""
    try:
        found = net.run(_arrays(message, binary))
        other = next((name for name, x in found.items() if not isinstance(x, np.ndarray)), None)
        if other is not None:
            raise RequestError(Fault.UNABLE, f"output {other!r:.200} is a sequence or a map")
        return found
    except ModelError:
        raise
    except (TypeError, ValueError) as error:
        text = str(error).removeprefix("run: ")
        raise RequestError(Fault.VALIDATION, text, "inputs") from None


def _tensor(name: str, x: Array, binary: bool = False) -> dict[str, Any]:
    """Return an output as JSON has it. binary: its data are bytes that follow the JSON."""
    if x.dtype.name == "bfloat16":
        x = x.astype(np.float32)
    if x.dtype not in NAMES:
        raise RequestError(Fault.UNABLE, f"output {name!r:.200} has no numbers, but {x.dtype}")
    data: Any = x.reshape(-1)
    more = {"parameters": {"binary_data_size": x.nbytes}} if binary else {}
    data = np.ascontiguousarray(data).view(np.uint8).data if binary else data
    return {"name": name, "datatype": NAMES[x.dtype], "shape": list(x.shape), **more, "data": data}


def _arrays(message: Inference, binary: memoryview | None) -> dict[str, Array]:
    """Return the inputs of a network; raises ValueError."""
    arrays, place, rest = {}, 0, binary or memoryview(b"")
    for given in message.inputs:
        size = None if given.parameters is None else given.parameters.binary_data_size
        if size is not None and binary is None:
            raise ValueError(
                f"input {given.name!r:.200} is to follow the JSON as bytes, which needs the header "
                "Inference-Header-Content-Length"
            )
        part = None if size is None else rest[place : place + size]
        arrays[given.name] = _array(given, part)
        place += size or 0
    if place != len(rest):
        raise ValueError(f"inputs of {place} bytes must follow the JSON, got {len(rest)} bytes")
    return arrays


def _array(given: Inference.Tensor, binary: memoryview | None = None) -> Array:
    """Return the numbers of an input in its shape; raises ValueError for numbers that do not fit.

    binary: the numbers as bytes, instead of those in the JSON.
    """
    dtype = DATATYPES.get(given.datatype)
    if dtype is None:
        known = ", ".join(DATATYPES)
        raise ValueError(f"input {given.name!r:.200} must have one of the datatypes {known}")
    count, places = math.prod(given.shape), math.prod(n or 1 for n in given.shape)
    array = None
    if places <= MOST_PLACES:
        if binary is None:
            array = _of_json(bytes(given.data), dtype, count)
        elif len(binary) == count * dtype.itemsize and not given.data:
            array = np.frombuffer(binary, np.uint8)
            array = None if dtype.kind == "b" and (array > 1).any() else array.view(dtype)
    if array is None:
        how = "" if binary is None else f"{len(binary)} bytes of "
        raise ValueError(
            f"input {given.name!r:.200} must be {how}numbers of {given.datatype} in the shape "
            f"{given.shape!r:.200}"
        )
    return array.reshape(given.shape)


def _of_json(data: bytes, dtype: np.dtype[Any], count: int) -> Array | None:
    """Return the numbers of a JSON list, nested or not; None for what is not so many of them.

    Commas and brackets are counted first, since the objects of Python take up to 40 times as much.
    """
    start = data[: len(data) - len(data.lstrip(b"[ \t\r\n"))]
    depth = start.count(b"[")
    few = data.count(b",") <= max(count, MOST_AXES) and data.count(b"[") <= MOST_LISTS
    if not (few and 1 <= depth <= MOST_AXES):
        return None
    kind = KINDS[dtype.kind]
    for _ in range(depth):
        kind = GenericAlias(list, kind)
    try:
        numbers = msgspec.json.decode(data, type=kind)
        with np.errstate(over="ignore"):
            array = np.array(numbers, np.float64 if dtype.kind == "f" else dtype).astype(dtype)
    except (ValueError, OverflowError, RecursionError):  # msgspec's errors are ValueErrors
        return None
    if array.size != count or (dtype.kind == "f" and not np.isfinite(array).all()):
        return None
    return array


def _types(types: Mapping[str, TensorType]) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "datatype": NAMES.get(kind.dtype, str(kind.dtype)),
            "shape": [n if isinstance(n, int) else -1 for n in kind.shape or ()],
        }
        for name, kind in types.items()
    ]


def describe(state: State, request: Request) -> Response:
    """`GET /v2/models/{name}` and `/v2/models/{name}/ready`: inputs and outputs of a network."""
    if not state.ready:
        raise RequestError(Fault.UNHEALTHY, "the models are not ready yet")
    name = request.path_params["name"]
    facts = state.models.net(name).facts
    body = {
        "name": name,
        "platform": "fbg",
        "versions": [],
        "inputs": _types(facts.inputs),
        "outputs": _types(facts.outputs),
    }
    return Response(encode_json(body), media_type=JSON)


def live(state: State, request: Request) -> Response:
    """`GET /v2/health/live`: 200 unless the server must be started again."""
    if state.batcher.failure is not None:
        raise RequestError(Fault.UNHEALTHY, "the server has failed")
    return Response(status_code=200)


PATH = "/v2/models/{name:path}"
ROUTES = [Route(f"{PATH}/infer", infer, Inference, "infer", Inferred, large=True, binary=True)]
PAGES = [
    Page("/v2/health/live", live, None, None),
    Page("/v2/health/ready", health, None, None),
    Page(f"{PATH}/ready", describe, dict[str, Any]),
    Page(PATH, describe, dict[str, Any]),
]
