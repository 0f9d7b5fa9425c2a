"""Networks: the open inference protocol of KServe (version 2, with tensors as JSON).

https://kserve.github.io/website/docs/concepts/architecture/data-plane/v2-protocol
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from fbg.arrays import Array
from fbg.errors import ModelError
from fbg.server.endpoint import JSON, Page, Route
from fbg.server.errors import Fault, RequestError
from fbg.server.messages import Inference
from fbg.server.replies import encode_json
from fbg.server.routes.results import Inferred
from fbg.server.routes.status import health
from fbg.server.state import BYTES_OF_NUMBER, Call, State

if TYPE_CHECKING:
    from fbg.importers.description import TensorType

DATATYPES = {
    "BOOL": np.dtype(np.bool_),
    **{f"INT{8 * n}": np.dtype(f"i{n}") for n in (1, 2, 4, 8)},
    **{f"UINT{8 * n}": np.dtype(f"u{n}") for n in (1, 2, 4, 8)},
    **{f"FP{8 * n}": np.dtype(f"f{n}") for n in (2, 4, 8)},
}
NAMES = {dtype: name for name, dtype in DATATYPES.items()}
MOST_PLACES = 1 << 24  # of an input, counting axes without any as one
# What numbers are in JSON, by the kind of a datatype.
KINDS: dict[str, set[type]] = {"b": {bool}, "i": {int}, "u": {int}, "f": {int, float}}


async def infer(call: Call, message: Inference) -> dict[str, Any]:
    """`POST /v2/models/{name}/infer`: the outputs of a network."""
    name, most = call.parameters["name"], call.state.settings.max_answer_numbers
    served = call.state.models.net(name)
    known = served.facts.outputs
    wanted = [output.name for output in message.outputs or []] or list(known)
    for names in ([given.name for given in message.inputs], wanted):
        if len({*names}) < len(names):
            raise RequestError(Fault.VALIDATION, "a tensor is named twice")
    for output in wanted:
        if output not in known:
            there = ", ".join(known)
            raise RequestError(Fault.VALIDATION, f"no output {output!r:.200}; there are {there}")
    net = await call.use(served.slot)

    def run() -> dict[str, Array]:
        try:
            return net.run({given.name: _array(given) for given in message.inputs})
        except ModelError:
            raise
        except (TypeError, ValueError) as error:
            text = str(error).removeprefix("run: ")
            raise RequestError(Fault.VALIDATION, text, "inputs") from None

    loop = asyncio.get_running_loop()
    found = await loop.run_in_executor(call.state.networks, run)
    numbers = sum(found[n].size for n in wanted)
    if numbers > most:
        raise RequestError(
            Fault.VALIDATION, f"the outputs must have at most {most} numbers, got {numbers}"
        )
    call.hold(numbers * BYTES_OF_NUMBER)
    outputs = [_tensor(n, found[n]) for n in wanted]
    answer = {"model_name": name, "outputs": outputs}
    return answer if message.id is None else answer | {"id": message.id}


def _tensor(name: str, x: Array) -> dict[str, Any]:
    """Return an output as JSON has it."""
    if x.dtype.name == "bfloat16":
        x = x.astype(np.float32)
    if x.dtype not in NAMES:
        raise RequestError(Fault.UNABLE, f"output {name!r:.200} has no numbers, but {x.dtype}")
    return {"name": name, "datatype": NAMES[x.dtype], "shape": list(x.shape), "data": x.reshape(-1)}


def _array(given: Inference.Tensor) -> Array:
    """Return the numbers of an input in its shape; raises ValueError for integers that do not fit,
    and for floats that are too large."""
    dtype = DATATYPES.get(given.datatype)
    if dtype is None:
        known = ", ".join(DATATYPES)
        raise ValueError(f"input {given.name!r:.200} must have one of the datatypes {known}")
    numbers, places = _flat(given.data), math.prod(n or 1 for n in given.shape)
    fits = math.prod(given.shape) == len(numbers) and places <= MOST_PLACES
    if fits and set(map(type, numbers)) <= KINDS[dtype.kind]:
        with contextlib.suppress(OverflowError), np.errstate(over="ignore"):
            array = np.array(numbers, np.float64 if dtype.kind == "f" else dtype).astype(dtype)
            if dtype.kind != "f" or np.isfinite(array).all():
                return array.reshape(given.shape)
    raise ValueError(
        f"input {given.name!r:.200} must be numbers of {given.datatype} in the shape "
        f"{given.shape!r:.200}"
    )


def _flat(data: list[Any]) -> list[Any]:
    """Return what nested lists hold; what is not nested alike keeps a list in it."""
    while data and all(type(item) is list for item in data):
        data = list(chain.from_iterable(data))
    return data


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
    if state.former.failure is not None:
        raise RequestError(Fault.UNHEALTHY, "the server has failed")
    return Response(status_code=200)


PATH = "/v2/models/{name:path}"
ROUTES = [Route(f"{PATH}/infer", infer, Inference, "infer", Inferred)]
PAGES = [
    Page("/v2/health/live", live, None, None),
    Page("/v2/health/ready", health, None, None),
    Page(f"{PATH}/ready", describe, dict[str, Any]),
    Page(PATH, describe, dict[str, Any]),
]
