"""Ray Data, with an Embedder in two actors of a local cluster."""

import numpy as np
import pytest
import ray

from fbg.integrations import Embedder


@pytest.mark.alone
@pytest.mark.usefixtures("cluster")
@pytest.mark.filterwarnings("ignore")
def test_map_batches_gives_the_bits_of_encode(directory, model):
    texts = [f"the dog {n}" for n in range(300)]
    rows = [{"n": n, "text": text} for n, text in enumerate(texts)]
    embedded = ray.data.from_items(rows, override_num_blocks=8).map_batches(
        Embedder,
        fn_constructor_args=[str(directory), "int8"],
        batch_format="pyarrow",
        batch_size=64,
        compute=ray.data.ActorPoolStrategy(size=2),
        num_cpus=1,
    )
    got = sorted(embedded.take_all(), key=lambda row: row["n"])
    stacked = np.stack([np.array(row["embedding"], np.float32) for row in got])
    assert np.array_equal(stacked, model.encode(texts))
