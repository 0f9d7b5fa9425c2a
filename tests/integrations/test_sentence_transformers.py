"""SentenceTransformer and CrossEncoder against what the real package answered.

tests/data/sentence_transformers.npz has its answers (scripts/golden.py).
"""

import pickle

import numpy as np
import pytest

import fbg
from fbg.errors import ModelError
from helpers.drop_ins import CALLS, SIMILARITIES, TEXTS, write_prompted
from helpers.minilm import arrays, minilm_directory
from helpers.tiny_tasks import DOCUMENTS, PAIRS, QUERY, write_model

GOLDEN = arrays("sentence_transformers")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return fbg.SentenceTransformer(write_prompted(tmp_path_factory.mktemp("drop") / "tiny"))


@pytest.fixture(scope="module")
def minilm():
    return fbg.SentenceTransformer(minilm_directory())


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    return fbg.CrossEncoder(write_model(tmp_path_factory.mktemp("drop") / "pairs", "pairs"))


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("kind", ["minilm", "tiny"])
def test_embeddings_are_those_of_the_package(kind, call, request):
    model = request.getfixturevalue(kind)
    method, options = CALLS[call]
    got, wanted = getattr(model, method)(TEXTS, **options), GOLDEN[f"{kind}_{call}"]
    assert got.shape == wanted.shape and got.dtype == wanted.dtype
    if got.dtype == np.float32:
        assert np.abs(got - wanted).max() <= 1e-5 * np.abs(wanted).max()
    elif "binary" in call:
        # Signs of values that are nearly zero may differ.
        differ = np.unpackbits(got.view(np.uint8)) != np.unpackbits(wanted.view(np.uint8))
        assert differ.mean() < 1e-3
    else:  # a value at the border of two steps
        assert np.abs(got.astype(int) - wanted).max() <= 1
        assert (got != wanted).mean() < 1e-2


@pytest.mark.parametrize("name", SIMILARITIES)
def test_similarities_are_those_of_the_package(name, minilm):
    rows = GOLDEN["minilm_encode"]
    model = fbg.SentenceTransformer(minilm_directory(), similarity_fn_name=name)
    got = model.similarity(rows[:5], rows[5:])
    assert np.allclose(got, GOLDEN[f"similarity_{name}"], rtol=1e-5, atol=1e-6)
    got = model.similarity_pairwise(rows[:5], rows[5:10])
    assert np.allclose(got, GOLDEN[f"pairwise_{name}"], rtol=1e-5, atol=1e-6)


def test_a_model_has_its_own_prompts_and_similarity(tiny, minilm):
    assert (tiny.similarity_fn_name, minilm.similarity_fn_name) == ("dot", "cosine")
    assert tiny.default_prompt_name == "query"
    with_default = tiny.encode("the dog")
    assert np.array_equal(with_default, tiny.encode("find: the dog", prompt=""))
    assert np.array_equal(with_default, tiny.encode_query("the dog"))
    # A prompt "passage" is not the prompt of documents (sentence-transformers 6).
    assert np.array_equal(tiny.encode_document("the dog"), tiny.encode("the dog", prompt=""))
    assert minilm.get_sentence_embedding_dimension() == 384
    assert minilm.max_seq_length == 256


def test_several_processes_give_the_same_bits(tiny):
    pool = tiny.start_multi_process_pool(["cpu", "cpu"])
    try:
        got = tiny.encode_multi_process(TEXTS * 3, pool, chunk_size=5)
        assert tiny.encode([], pool=pool).shape == (0, tiny.get_sentence_embedding_dimension())
    finally:
        tiny.stop_multi_process_pool(pool)
    assert np.array_equal(got, tiny.encode(TEXTS * 3))


def test_scores_and_ranks_are_those_of_the_package(pairs):
    assert np.allclose(pairs.predict(PAIRS), GOLDEN["predict"], atol=1e-5)
    one = pairs.predict(PAIRS[0])
    assert np.shape(one) == () and one == pairs.predict(PAIRS)[0]
    ranked = pairs.rank(QUERY, DOCUMENTS, return_documents=True)
    assert [item["corpus_id"] for item in ranked] == GOLDEN["rank_ids"].tolist()
    assert np.allclose([item["score"] for item in ranked], GOLDEN["rank_scores"], atol=1e-5)
    assert [item["text"] for item in ranked] == [DOCUMENTS[n] for n in GOLDEN["rank_ids"]]
    assert pairs.rank(QUERY, DOCUMENTS, top_k=2) == [
        {key: item[key] for key in ("corpus_id", "score")} for item in ranked[:2]
    ]


def test_revision_and_cache_folder_choose_what_the_hub_gives(tmp_path, monkeypatch):
    import huggingface_hub

    asked = []

    def snapshot_download(name, **options):
        asked.append((name, options["revision"], options["cache_dir"]))
        return str(write_prompted(tmp_path / "m"))

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
    fbg.SentenceTransformer("some-model", revision="v2", cache_folder="/cache")
    assert asked == [("sentence-transformers/some-model", "v2", "/cache")]


def test_the_length_at_which_texts_are_cut_can_be_set():
    model = fbg.SentenceTransformer(minilm_directory())
    whole, long, short = model.model, "a b c d e f g h", "a b c d"
    model.max_seq_length = 6  # two of which are special tokens
    assert model.max_seq_length == 6 and whole.max_length == 256
    assert np.array_equal(model.encode(long), whole.encode(short))
    pool = model.start_multi_process_pool(["cpu"])
    try:
        assert np.array_equal(model.encode([long], pool=pool)[0], whole.encode(short))
    finally:
        model.stop_multi_process_pool(pool)
    with pytest.raises(ValueError, match=r"max_length must be within \[1, 512\], got 513"):
        model.max_seq_length = 513
    with pytest.raises(ValueError, match="max_length must be at least 2, the number of special"):
        model.max_seq_length = 1
    assert model.max_seq_length == 6


def test_pairs_are_cut_at_the_length_that_is_asked_for(tmp_path):
    directory = write_model(tmp_path / "pairs", "pairs")
    short = fbg.CrossEncoder(directory, max_length=8)
    assert short.max_length == 8
    long = fbg.CrossEncoder(directory)
    assert short.predict([("the dog", "the cat sat on the mat")]) != long.predict(
        [("the dog", "the cat sat on the mat")]
    )
    copied = pickle.loads(pickle.dumps(short.model))
    assert copied.max_length == 8


def test_wrong_arguments_are_named(tiny, tmp_path):
    with pytest.raises(ValueError, match="precision must be one of float32, int8"):
        tiny.encode(TEXTS, precision="int4")
    with pytest.raises(ValueError, match="at least 2 embeddings"):
        tiny.encode("one", precision="int8")
    with pytest.raises(ValueError, match=r"must be one of .*'document', 'passage', got 'other'"):
        tiny.encode(TEXTS, prompt_name="other")
    with pytest.raises(ValueError, match="output_value must be one of sentence_embedding, token_e"):
        tiny.encode(TEXTS, output_value="tokens")
    with pytest.raises(ValueError, match="similarity_fn_name must be one of cosine, dot"):
        fbg.SentenceTransformer(minilm_directory(), similarity_fn_name="other")
    with pytest.raises(ModelError, match="predict"):
        fbg.CrossEncoder(minilm_directory())


class Cuda:
    """Like torch.device("cuda", 0)."""

    def __str__(self):
        return "cuda:0"


@pytest.mark.parametrize("device", ["cuda", "cuda:1", "mps", Cuda()])
def test_devices_other_than_cpus_are_refused(device, tiny, pairs):
    directory = minilm_directory()
    for call in (
        lambda: fbg.SentenceTransformer(directory, device=device),
        lambda: fbg.CrossEncoder("absent/model", device=device),
        lambda: tiny.encode("a", device=device),
        lambda: tiny.start_multi_process_pool(["cpu", device]),
        lambda: tiny.to(device),
        lambda: pairs.to(device),
    ):
        with pytest.raises(ValueError, match=r"must be 'cpu' or None, got '(cuda|mps)"):
            call()


def test_cpus_are_accepted_by_all_their_names(tiny):
    wanted = tiny.encode("a")
    for device in (None, "cpu", "cpu:0", ["cpu"]):
        assert np.array_equal(tiny.encode("a", device=device), wanted)
    assert tiny.to("cpu").cpu().eval() is tiny
    assert tiny.device == "cpu"


def test_the_hub_is_not_asked_with_local_files_only(monkeypatch):
    import huggingface_hub

    asked = []

    def snapshot_download(name, **options):
        asked.append(options.get("local_files_only", False))
        raise FileNotFoundError(name)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
    for kind in (fbg.SentenceTransformer, fbg.CrossEncoder):
        with pytest.raises(ModelError, match="not in the local cache of the hub, which alone is"):
            kind("some/model", local_files_only=True)
    assert asked == [True, True]


def test_their_representations_say_what_they_are(tiny, pairs):
    assert repr(tiny).startswith("SentenceTransformer('") and "dimensions" in repr(tiny)
    assert f"max_seq_length={tiny.max_seq_length}, dot, <fbg.Model " in repr(tiny)
    assert repr(pairs).startswith("CrossEncoder('") and "1 label, <fbg.Model" in repr(pairs)


def test_a_saved_model_is_loaded_again(tiny, tmp_path):
    for method in (tiny.save_pretrained, tiny.save):
        method(str(tmp_path / "new" / "model"), safe_serialization=True)
    again = fbg.SentenceTransformer(str(tmp_path / "new" / "model"))
    assert again.model.is_saved and again.similarity_fn_name == tiny.similarity_fn_name
    assert np.array_equal(again.encode(TEXTS), tiny.encode(TEXTS))


def test_tokens_are_what_the_model_computes(tiny):
    given = tiny.tokenize(TEXTS)
    assert given["input_ids"].shape == given["attention_mask"].shape
    assert given["attention_mask"].sum(1).tolist() == tiny.model.token_counts(TEXTS)
    rows = tiny.model.tokenizer(TEXTS)
    assert all(
        np.array_equal(ids[: row.size], row)
        for ids, row in zip(given["input_ids"], rows, strict=True)
    )
    tiny.model.forward(**given)
    assert tiny.tokenize([])["input_ids"].shape == (0, 0)
    with pytest.raises(TypeError, match="tokenize: texts must be a sequence of str, got str"):
        tiny.tokenize("one")


def test_dimensions_are_truncated_for_a_while(tiny):
    size = tiny.get_sentence_embedding_dimension()
    with tiny.truncate_sentence_embeddings(4):
        assert tiny.encode("a").shape == (4,)
    assert tiny.encode("a").shape == (size,)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("fit", "models are trained with sentence-transformers"),
        ("half", "pass dtype="),
        ("cuda", "fbg runs on CPUs"),
        ("push_to_hub", "upload it with huggingface_hub"),
        ("state_dict", "no torch module"),
        ("no_such_method", "has no attribute 'no_such_method'$"),
    ],
)
def test_what_is_not_there_says_what_to_use(name, said, tiny, pairs):
    for model in (tiny, pairs):
        assert not hasattr(model, name)
        with pytest.raises(AttributeError, match=said):
            getattr(model, name)
    assert pickle.loads(pickle.dumps(tiny)).encode("a").tolist() == tiny.encode("a").tolist()
