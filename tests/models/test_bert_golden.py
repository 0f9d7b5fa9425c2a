"""BERT from a Hugging Face directory, against transformers + torch and against NumPy in float64.

The golden arrays come from scripts/golden.py. What is demanded: float32 hidden states within
1e-4, embeddings of the other dtypes that point where the float32 ones do, and the same bits for a
sentence however it is batched and threaded. The real model runs on every ISA but the scalar one,
which takes the tiny model.
"""

import fractions
import itertools
from dataclasses import replace

import numpy as np
import pytest

import fbg
from helpers import tiny_bert
from helpers.formulas import cosines
from helpers.minilm import arrays, minilm_directory, padded, sampled, sentences, token_ids
from helpers.tiny_bert import AWKWARD, TINYBERT, Geometry

FAST_ISAS = [isa for isa in fbg.isa.supported() if isa != "generic"] or ["generic"]
DTYPES = ["float32", "bfloat16", "float16", "int8"]
TOLERANCE = 1e-4
LEAST_COSINE = {"bfloat16": 0.9999, "float16": 0.999999, "int8": 0.9992}  # mean, on real weights

GOLDEN = arrays("minilm_golden")
IDS = token_ids(GOLDEN)
TEXTS = sentences()


@pytest.fixture(params=FAST_ISAS)
def fast_isa(request):
    with fbg.isa.limit(request.param):
        assert fbg.isa.active() == request.param
        yield request.param


@pytest.fixture(scope="module")
def minilm():
    return {dtype: fbg.load(minilm_directory(), dtype=dtype, num_threads=1) for dtype in DTYPES}


@pytest.fixture(scope="module")
def minilm_2_threads():
    return {dtype: fbg.load(minilm_directory(), dtype=dtype, num_threads=2) for dtype in DTYPES}


@pytest.fixture(scope="module")
def tiny_directory(tmp_path_factory):
    tensors = tiny_bert.random_tensors(AWKWARD, tiny_bert.GOLDEN_SEED, tiny_bert.GOLDEN_SPREAD)
    return tiny_bert.write_checkpoint(tmp_path_factory.mktemp("tiny"), AWKWARD, tensors)


def batches(size):
    """Numbers of sentences, each once, short and long ones mixed."""
    order = np.random.Generator(np.random.PCG64(5)).permutation(len(IDS)).tolist()
    for start in range(0, len(order), size):
        yield order[start : start + size]


def assert_hidden_states(number, hidden):
    """The hidden states (length, 384) of sentence `number` are the golden ones."""
    start = int(GOLDEN["lengths"][:number].sum())
    expected = GOLDEN["hidden_sampled"][start : start + hidden.shape[0]]
    np.testing.assert_allclose(sampled(hidden), expected, rtol=0, atol=TOLERANCE)
    if f"hidden_{number}" in GOLDEN:
        np.testing.assert_allclose(hidden, GOLDEN[f"hidden_{number}"], rtol=0, atol=TOLERANCE)


def test_the_text_is_real_and_of_mixed_length():
    assert len(TEXTS) == len(IDS) >= 24
    assert GOLDEN["lengths"].min() == 3
    assert GOLDEN["lengths"].max() > 200


def test_hidden_states_one_by_one(minilm, fast_isa):
    for number, ids in enumerate(IDS):
        output = minilm["float32"].forward(ids[None])
        assert_hidden_states(number, output.last_hidden_state[0])
        assert output.pooler_output is not None
        expected = GOLDEN["pooler_output"][number]
        np.testing.assert_allclose(output.pooler_output[0, ::4], expected, rtol=0, atol=TOLERANCE)


def test_hidden_states_batched(minilm, fast_isa):
    for chosen in batches(9):
        ids, mask = padded([IDS[n] for n in chosen])
        output = minilm["float32"].forward(ids, mask)
        assert output.last_hidden_state.dtype == np.float32
        assert output.pooler_output is not None
        for row, number in enumerate(chosen):
            hidden = output.last_hidden_state[row]
            assert_hidden_states(number, hidden[: IDS[number].size])
            assert not hidden[IDS[number].size :].any(), "masked positions are zeros"
        expected = GOLDEN["pooler_output"][chosen]
        np.testing.assert_allclose(output.pooler_output[:, ::4], expected, rtol=0, atol=TOLERANCE)


def test_holes_in_the_mask_and_token_types(minilm, fast_isa):
    ids, mask, types = (GOLDEN[f"holey_{name}"] for name in ("ids", "mask", "types"))
    output = minilm["float32"].forward(ids, mask, types)
    hidden = output.last_hidden_state
    expected = GOLDEN["holey_hidden"]
    np.testing.assert_allclose(hidden[mask == 1][:, ::8], expected, rtol=0, atol=TOLERANCE)
    assert not hidden[mask == 0].any(), "masked positions are zeros"
    assert output.pooler_output is not None
    pooled = mask[:, 0] == 1  # transformers pools position 0, also where it is masked
    np.testing.assert_allclose(
        output.pooler_output[pooled, ::8],
        GOLDEN["holey_pooler"][pooled],
        rtol=0,
        atol=TOLERANCE,
    )


def test_float32_sentence_embeddings(minilm, fast_isa):
    embeddings = minilm["float32"].encode(TEXTS)
    assert embeddings.shape == (len(TEXTS), 384)
    np.testing.assert_allclose(embeddings, GOLDEN["embeddings"], rtol=0, atol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES[1:])
def test_sentence_embeddings_of_other_dtypes(minilm, fast_isa, dtype):
    embeddings = minilm[dtype].encode(TEXTS)
    np.testing.assert_allclose(np.linalg.norm(embeddings, axis=1), 1, rtol=0, atol=1e-5)
    assert cosines(embeddings, GOLDEN["embeddings"]).mean() >= LEAST_COSINE[dtype]


def test_no_two_dtypes_compute_the_same(minilm):
    """Guards the other tests: "int8" must not quietly run float32, nor the other way round."""
    embeddings = {dtype: minilm[dtype].encode(TEXTS[5]) for dtype in DTYPES}
    for one, other in itertools.combinations(DTYPES, 2):
        assert minilm[one].dtype == one
        assert np.abs(embeddings[one] - embeddings[other]).max() > 1e-5, (one, other)


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_embedding_has_the_same_bits_in_any_batch(minilm, minilm_2_threads, dtype):
    one, two = minilm[dtype], minilm_2_threads[dtype]
    alone = np.stack([one.encode(text) for text in TEXTS])
    np.testing.assert_array_equal([two.encode(text) for text in TEXTS], alone)
    for model in (one, two):
        for batch_size in (1, 3, 32, 1000):
            np.testing.assert_array_equal(model.encode(TEXTS, batch_size=batch_size), alone)
        backwards = model.encode(TEXTS[::-1], batch_size=7)
        np.testing.assert_array_equal(backwards[::-1], alone)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("threads", [1, 2])
def test_hidden_states_have_the_same_bits_in_any_batch(tiny_directory, isa, dtype, threads):
    ids = tiny_bert.golden_inputs()["full"]
    one = fbg.load(tiny_directory, dtype=dtype, num_threads=1)
    alone = [one.forward(ids[n : n + 1, :length]) for n, length in enumerate((40, 23, 7, 1))]
    rows, mask = padded([ids[n, :length] for n, length in enumerate((40, 23, 7, 1))])
    model = fbg.load(tiny_directory, dtype=dtype, num_threads=threads)
    for order in ([0, 1, 2, 3], [3, 1, 0, 2], [2, 2, 2, 1, 3, 0, 0]):
        together = model.forward(rows[order], mask[order])
        assert together.pooler_output is not None
        for row, number in enumerate(order):
            expected = alone[number]
            length = expected.last_hidden_state.shape[1]
            np.testing.assert_array_equal(
                together.last_hidden_state[row, :length], expected.last_hidden_state[0]
            )
            assert expected.pooler_output is not None
            np.testing.assert_array_equal(together.pooler_output[row], expected.pooler_output[0])


HEADS_OF_26 = replace(TINYBERT, num_hidden_layers=2, vocab_size=50, max_position_embeddings=19)
SMALL = Geometry(1, 1, 1, 1, vocab_size=50, max_position_embeddings=4)
ODD = replace(SMALL, hidden_size=35, num_attention_heads=7, intermediate_size=33)
GEOMETRIES = {
    "smallest": replace(SMALL, vocab_size=8),
    "odd": replace(ODD, max_position_embeddings=70, type_vocab_size=1),
    "relu": Geometry(130, 1, 2, 7, 50, max_position_embeddings=20, hidden_act="relu"),
    "one head": Geometry(64, 3, 1, 65, 50, max_position_embeddings=33, layer_norm_eps=1e-5),
    "heads of 26": HEADS_OF_26,
}
CASES = [*((name, "float32") for name in GEOMETRIES), *(("heads of 26", d) for d in DTYPES[1:])]


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_other_sizes_against_numpy(tmp_path, isa, name, dtype):
    geometry = GEOMETRIES[name]
    tensors = tiny_bert.random_tensors(geometry, 5, 0.05 if geometry is HEADS_OF_26 else 0.2)
    model = fbg.load(tiny_bert.write_checkpoint(tmp_path, geometry, tensors), dtype=dtype)
    rows, length = 2 if name == "heads of 26" else 3, geometry.max_position_embeddings
    ids = np.arange(rows * length).reshape(rows, length) * 7 % geometry.vocab_size
    output = model.forward(ids)
    assert output.pooler_output is not None
    wanted = tiny_bert.reference_forward(geometry, tensors, ids)
    for got, exact in zip((output.last_hidden_state, output.pooler_output), wanted, strict=True):
        if dtype == "float32":
            np.testing.assert_allclose(got, exact, rtol=0, atol=TOLERANCE)
        else:
            assert cosines(got, exact).mean() >= 0.99


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("stored", ["float16", "bfloat16"])
def test_a_half_precision_checkpoint_is_its_float32_widening(tmp_path, stored, dtype):
    tensors = tiny_bert.random_tensors(AWKWARD, seed=4, spread=0.2)
    rounded = {
        name: tensor.astype(tiny_bert.DTYPES[stored]).astype(np.float32)
        for name, tensor in tensors.items()
    }
    half = tiny_bert.write_checkpoint(tmp_path / "half", AWKWARD, tensors, dtype=stored)
    full = tiny_bert.write_checkpoint(tmp_path / "full", AWKWARD, rounded)
    ids = tiny_bert.golden_inputs()["full"]
    results = [fbg.load(path, dtype=dtype).forward(ids).last_hidden_state for path in (half, full)]
    np.testing.assert_array_equal(*results)


def test_a_checkpoint_without_pooler_has_no_pooler_output(tmp_path, tiny_directory):
    tensors = tiny_bert.random_tensors(AWKWARD, tiny_bert.GOLDEN_SEED, tiny_bert.GOLDEN_SPREAD)
    bare = {name: tensor for name, tensor in tensors.items() if not name.startswith("pooler.")}
    ids = tiny_bert.golden_inputs()["full"]
    output = fbg.load(tiny_bert.write_checkpoint(tmp_path, AWKWARD, bare)).forward(ids)
    assert output.pooler_output is None
    expected = fbg.load(tiny_directory).forward(ids).last_hidden_state
    np.testing.assert_array_equal(output.last_hidden_state, expected)


def test_random_weights_are_a_pure_function_of_the_seed():
    """Pins the generator: the golden arrays depend on it to the last bit."""
    tensors = tiny_bert.random_tensors(AWKWARD, tiny_bert.GOLDEN_SEED, tiny_bert.GOLDEN_SPREAD)
    total = sum(
        fractions.Fraction(float(value))
        for name in ("embeddings.word_embeddings.weight", "pooler.dense.bias")
        for value in tensors[name].reshape(-1)
    )
    assert float(total) == -28.912735085839813
