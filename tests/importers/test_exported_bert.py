"""A BERT that was exported to ONNX gives what its directory gives, on the same fused ops."""

import numpy as np
import onnx
import pytest
from onnxruntime.transformers.fusion_options import FusionOptions
from onnxruntime.transformers.optimizer import optimize_model

import fbg
from helpers.exported_bert import export_bert
from helpers.tiny_bert import AWKWARD, write_checkpoint


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    directory = tmp_path_factory.mktemp("bert")
    write_checkpoint(directory, AWKWARD)
    export_bert(directory, directory / "bert.onnx")
    return directory


def feeds(batch, length, seed=0):
    rng = np.random.default_rng(seed)
    mask = np.ones((batch, length), np.int64)
    for row in range(1, batch):
        mask[row, rng.integers(1, length + 1) :] = 0
    return {
        "input_ids": rng.integers(0, AWKWARD.vocab_size, (batch, length)),
        "attention_mask": mask,
        "token_type_ids": rng.integers(0, 2, (batch, length)),
    }


@pytest.mark.parametrize(("batch", "length"), [(1, 1), (1, 17), (4, 23), (2, 40)])
def test_hidden_states_are_those_of_the_directory(bert, batch, length, isa):
    given = feeds(batch, length)
    y = fbg.load(bert / "bert.onnx", backends=("fbg",)).run(given)["last_hidden_state"]
    wanted = fbg.load(str(bert)).forward(**given).last_hidden_state
    seen = given["attention_mask"][..., None]
    np.testing.assert_allclose(y * seen, wanted * seen, rtol=0, atol=1e-5)


LAYER = ["conv", "conv", "conv", "attention", "conv", "layer_norm", "conv", "conv", "layer_norm"]


def steps_of(net):
    net.run(feeds(2, 9))
    return [step.algorithm.split(":")[0].split(" ")[0] for step in net.plan().steps]


def test_layers_run_on_fused_steps(bert):
    net = fbg.load(bert / "bert.onnx", backends=("fbg",))
    steps = steps_of(net)
    assert steps[-len(LAYER) :] == LAYER
    assert steps.count("attention") == AWKWARD.num_hidden_layers
    assert sum("GELU" in step.algorithm for step in net.plan().steps) == AWKWARD.num_hidden_layers


def test_int8_takes_no_step_apart(bert):
    """Only what products read is rounded, by a step of its own behind attention and norms. GELU
    behind so few channels is a table of bytes: of the product, or behind it where the CPU does not
    look up bytes in registers."""
    calibrate = [feeds(2, 9, seed) for seed in range(3)]
    net = fbg.load(bert / "bert.onnx", backends=("fbg",), dtype="int8", calibrate=calibrate)
    steps = steps_of(net)
    assert [step for step in steps if step not in ("quantize", "look_up")][-len(LAYER) :] == LAYER
    assert steps.count("quantize") == 3 * AWKWARD.num_hidden_layers
    with_gelu = [step for step in net.plan().steps if any("Erf" in name for name in step.nodes)]
    assert not any("GELU" in step.algorithm for step in net.plan().steps)
    assert len(with_gelu) == AWKWARD.num_hidden_layers


def test_batches_and_threads_give_the_same_bits(bert):
    given = feeds(3, 21)
    one = {name: value[2:] for name, value in given.items()}
    results = []
    for threads in (1, 2):
        net = fbg.load(bert / "bert.onnx", num_threads=threads)
        results.append(net.run(given)["last_hidden_state"])
        np.testing.assert_array_equal(net.run(one)["last_hidden_state"][0], results[0][2])
    np.testing.assert_array_equal(*results)


def test_ids_outside_of_the_vocabulary_are_refused(bert):
    given = feeds(1, 8)
    given["input_ids"][0, 3] = AWKWARD.vocab_size
    with pytest.raises(ValueError, match="'input_ids' must be indices of 99 rows, got 99"):
        fbg.load(bert / "bert.onnx").run(given)


@pytest.mark.parametrize("fuses", [True, False], ids=["fused", "norms only"])
def test_what_the_optimizer_of_onnxruntime_makes_of_it_gives_the_same(bert, tmp_path, fuses):
    """It writes LayerNormalization in operator set 11, which does not have it."""
    model = onnx.load(bert / "bert.onnx")
    model.opset_import[0].version = 14
    onnx.save(model, tmp_path / "bert.onnx")
    options = FusionOptions("bert")
    if not fuses:
        for name in ("attention", "skip_layer_norm", "embed_layer_norm", "bias_gelu", "gelu"):
            setattr(options, f"enable_{name}", False)
    heads, size = AWKWARD.num_attention_heads, AWKWARD.hidden_size
    optimized = optimize_model(
        str(tmp_path / "bert.onnx"), "bert", heads, size, options, opt_level=0
    )
    optimized.save_model_to_file(str(tmp_path / "optimized.onnx"))
    assert any("LayerNorm" in node.op_type for node in optimized.model.graph.node)
    given = feeds(2, 11)
    got = fbg.load(tmp_path / "optimized.onnx").run(given)["last_hidden_state"]
    wanted = fbg.load(bert / "bert.onnx").run(given)["last_hidden_state"]
    seen = given["attention_mask"][..., None]
    np.testing.assert_allclose(got * seen, wanted * seen, rtol=0, atol=1e-4)
