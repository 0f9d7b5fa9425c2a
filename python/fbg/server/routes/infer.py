"""Networks: the open inference protocol of KServe (version 2, with tensors as JSON).

https://kserve.github.io/website/docs/concepts/architecture/data-plane/v2-protocol
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
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
from fbg.server.state import Call, State

if TYPE_CHECKING:
    from fbg.importers.description import TensorType

DATATYPES = {
    "BOOL": np.dtype(np.bool_),
    **{f"INT{8 * n}": np.dtype(f"i{n}") for n in (1, 2, 4, 8)},
    **{f"UINT{8 * n}": np.dtype(f"u{n}") for n in (1, 2, 4, 8)},
    **{f"FP{8 * n}": np.dtype(f"f{n}") for n in (2, 4, 8)},
}
NAMES = {dtype: name for name, dtype in DATATYPES.items()}
KINDS = {"b": "b", "i": "iu", "u": "iu", "f": "iuf"}  # of numbers in JSON, by that of a datatype


async def infer(call: Call, message: Inference) -> dict[str, Any]:
    """`POST /v2/models/{name}/infer`: the outputs of a network."""
    name = call.parameters["name"]
    net = call.state.models.net(name)
    wanted = [output.name for output in message.outputs or []] or list(net.outputs)
    for output in wanted:
        if output not in net.outputs:
            known = ", ".join(net.outputs)
            raise RequestError(Fault.VALIDATION, f"no output {output!r:.200}; there are {known}")

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
    outputs = [
        {"name": n, "datatype": NAMES[x.dtype], "shape": list(x.shape), "data": x.reshape(-1)}
        for n, x in ((n, found[n]) for n in wanted)
    ]
    answer = {"model_name": name, "outputs": outputs}
    return answer if message.id is None else answer | {"id": message.id}


def _array(given: Inference.Tensor) -> Array:
    """Return the numbers of an input in its shape; raises ValueError where any would change."""
    dtype = DATATYPES.get(given.datatype)
    if dtype is None:
        known = ", ".join(DATATYPES)
        raise ValueError(f"input {given.name!r:.200} must have one of the datatypes {known}")
    try:
        values = np.array(given.data)
        with np.errstate(all="ignore"):
            array = values.astype(dtype).reshape(given.shape)
        same = values.size == 0 or values.dtype.kind in KINDS[dtype.kind]
        kept = np.isfinite(array) if dtype.kind == "f" else array.ravel() == values.ravel()
        if same and kept.all():
            return array
    except (OverflowError, TypeError, ValueError):
        pass
    raise ValueError(
        f"input {given.name!r:.200} must be numbers of {given.datatype} in the shape {given.shape}"
    )


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
    name = request.path_params["name"]
    net = state.models.net(name)
    body = {
        "name": name,
        "platform": "fbg",
        "versions": [],
        "inputs": _types(net.inputs),
        "outputs": _types(net.outputs),
    }
    return Response(encode_json(body), media_type=JSON)


PATH = "/v2/models/{name:path}"
ROUTES = [Route(f"{PATH}/infer", infer, Inference, "infer", Inferred)]
PAGES = [
    Page("/v2/health/live", health, None, None),
    Page("/v2/health/ready", health, None, None),
    Page(f"{PATH}/ready", describe, dict[str, Any]),
    Page(PATH, describe, dict[str, Any]),
]
