"""A deployment of Ray Serve in a local cluster, asked through its handle."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import ray

import fbg

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    from ray import serve  # here, because its definitions warn, too

    monkeypatch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False, _node_ip_address="127.0.0.1")
    serve.start(http_options={"location": "NoServer"})
    yield
    serve.shutdown()
    ray.shutdown()


@pytest.mark.alone
@pytest.mark.usefixtures("cluster")
def test_a_deployment_gives_the_bits_of_encode_to_many_callers(
    directory: Path, model: fbg.Model
) -> None:
    from ray import serve

    from fbg.integrations.ray_serve import deploy

    application = deploy(str(directory), "int8", max_replicas=2)
    handle = serve.run(application, name="embed", route_prefix=None)
    texts = [f"the dog {n}" for n in range(40)]
    waiting = [handle.remote("encode", text, prompt_name="query") for text in texts]
    got = np.stack([response.result(timeout_s=60) for response in waiting])
    assert np.array_equal(got, model.encode(texts, prompt_name="query"))
    with pytest.raises(Exception, match="task must be one of encode, "):
        handle.remote("no such task").result(timeout_s=60)
