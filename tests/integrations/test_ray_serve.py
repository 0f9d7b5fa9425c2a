"""A deployment of Ray Serve in a local cluster, asked through its handle."""

import numpy as np
import pytest

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def serving(cluster):
    from ray import serve  # here, because its definitions warn, too

    serve.start(http_options={"location": "NoServer"})
    yield
    serve.shutdown()


@pytest.mark.alone
@pytest.mark.usefixtures("serving")
def test_a_deployment_gives_the_bits_of_encode_to_many_callers(directory, model):
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
