"""A reranker that reads all documents in one prompt scores them as its authors' code does: that
computation is written with NumPy here, from the hidden states of the encoder.
"""

import asyncio
import warnings

import httpx
import numpy as np
import pytest
from safetensors.numpy import load_file
from tokenizers import AddedToken

import fbg
from helpers import tiny_models
from helpers.serving import running
from helpers.tiny_bert import change_json

QUERY, DOCUMENTS = "the cat", ["a dog ran", "the cat sat", "", "cats and the cat " * 9]
TOKENS = ("<|embed_token|>", "<|rerank_token|>")
START = (
    "<|im_start|>system\n"
    "You are a search relevance expert who can determine a ranking of the passages based on how "
    "relevant they are to the query. "
    "If the query is a question, how relevant a passage is depends on how well it answers the "
    "question. "
    "If not, try to analyze the intent of the query and assess how well each passage satisfies the "
    "intent. "
    "If an instruction is provided, you should follow the instruction when determining the ranking."
    "<|im_end|>\n<|im_start|>user\n"
)
END = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"


def prompt_of(query, documents, instruction=""):
    body = f"I will provide you with {len(documents)} passages, each indicated by a numerical "
    body += f"identifier. Rank the passages based on their relevance to query: {query}\n"
    if instruction:
        body += f"<instruct>\n{instruction}\n</instruct>\n"
    for n, document in enumerate(documents):
        body += f'<passage id="{n}">\n{document}<|embed_token|>\n</passage>\n'
    return START + body + f"<query>\n{query}<|rerank_token|>\n</query>" + END


def tokenizer():
    made = tiny_models.byte_pairs()
    made.add_special_tokens([AddedToken(token, special=True) for token in TOKENS])
    return made


def write_listwise(path, length=20_000):
    model = tiny_models.tiny_model("qwen3")
    hidden = model.config["hidden_size"]
    shapes = {"projector.0.weight": (hidden // 2, hidden), "projector.2.weight": (512, hidden // 2)}
    tensors = {f"model.{name}": tensor for name, tensor in model.tensors.items()}
    size = tokenizer().get_vocab_size()
    word = tensors["model.embed_tokens.weight"]
    tensors["model.embed_tokens.weight"] = np.resize(word, (size, hidden)) * np.float32(1)
    config = {**model.config, "architectures": ["JinaForRanking"], "vocab_size": size}
    config |= {"max_position_embeddings": length}
    tensors |= tiny_models.random_tensors(shapes)
    return tiny_models.write_checkpoint(path, config, tensors, tokenizer=tokenizer())


def vectors(model, prompt):
    """The projected states of the tokens that stand for documents, and for the query at the end."""
    tensors = load_file(model.directory / "model.safetensors")
    own = tokenizer()
    ids = np.array(own.encode(prompt).ids)
    chosen = np.isin(ids, [own.token_to_id(token) for token in TOKENS])
    states = model.forward(ids[None]).last_hidden_state[0][chosen].astype(np.float64)
    hidden = np.maximum(states @ tensors["projector.0.weight"].T, 0)
    return hidden @ tensors["projector.2.weight"].T


def cosines(rows, row):
    return rows @ row / np.linalg.norm(rows, axis=1) / np.linalg.norm(row)


def scores(found, count):
    by_index = {each["corpus_id"]: each["score"] for each in found}
    assert [each["score"] for each in found] == sorted(by_index.values(), reverse=True)
    return np.array([by_index[n] for n in range(count)])


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return fbg.load(write_listwise(tmp_path_factory.mktemp("listwise") / "model"))


@pytest.mark.parametrize("instruction", ["", "prefer dogs"])
def test_scores_are_cosines_of_documents_with_their_query(model, instruction):
    rows = vectors(model, prompt_of(QUERY, DOCUMENTS, instruction))
    found = model.rerank(QUERY, DOCUMENTS, prompt=instruction or None)
    np.testing.assert_allclose(scores(found, 4), cosines(rows[:-1], rows[-1]), atol=1e-5)
    best = model.rerank(QUERY, DOCUMENTS, 1, return_documents=True, prompt=instruction or None)
    assert best == [{**found[0], "text": DOCUMENTS[found[0]["corpus_id"]]}]
    assert model.rerank(QUERY, []) == []


def test_documents_of_several_prompts_are_compared_with_the_mean_of_their_queries(model):
    texts = [f"{'the cat ' * (n % 3)}{n}" for n in range(130)]
    blocks = [vectors(model, prompt_of(QUERY, part)) for part in (texts[:125], texts[125:])]
    weights = [(1 + cosines(rows[:-1], rows[-1]).max()) / 2 for rows in blocks]
    query = np.average([rows[-1] for rows in blocks], axis=0, weights=weights)
    wanted = np.concatenate([cosines(rows[:-1], query) for rows in blocks])
    np.testing.assert_allclose(scores(model.rerank(QUERY, texts), 130), wanted, atol=1e-5)


def test_a_prompt_ends_where_the_next_document_might_not_fit(tmp_path):
    model = fbg.load(write_listwise(tmp_path, length=2900))
    texts = ["a cat " * 60, "the dog " * 100, "x"]
    lengths = [len(tokenizer().encode(text).ids) for text in texts]
    room = 2900 - 2 * len(tokenizer().encode(QUERY).ids)
    assert room - lengths[0] > 2048 >= room - sum(lengths[:2])
    blocks = [vectors(model, prompt_of(QUERY, part)) for part in (texts[:2], texts[2:])]
    weights = [(1 + cosines(rows[:-1], rows[-1]).max()) / 2 for rows in blocks]
    query = np.average([rows[-1] for rows in blocks], axis=0, weights=weights)
    wanted = np.concatenate([cosines(rows[:-1], query) for rows in blocks])
    np.testing.assert_allclose(scores(model.rerank(QUERY, texts), 3), wanted, atol=1e-5)
    short = fbg.load(write_listwise(tmp_path / "short", length=60))
    with pytest.raises(ValueError, match=r"rerank: documents: a prompt takes \d+ tokens, but"):
        short.rerank(QUERY, ["a"])


def test_long_texts_are_cut_and_tokens_of_the_prompt_are_taken_out(model):
    long = "cat " * 3000
    own = tokenizer()
    ids = own.encode(long).ids
    with pytest.warns(UserWarning, match=r"rerank: documents\[0\] has 12\d+ tokens and was trunc"):
        found = model.rerank(QUERY, [long, "a"])
    kept = own.decode([*ids[:2047], ids[-1]], skip_special_tokens=False)
    rows = vectors(model, prompt_of(QUERY, [kept, "a"]))
    np.testing.assert_allclose(scores(found, 2), cosines(rows[:-1], rows[-1]), atol=1e-5)
    with pytest.raises(ValueError, match=r"rerank: documents\[0\] has .* at most 2048"):
        model.rerank(QUERY, [long], truncation=False)
    with pytest.raises(ValueError, match=r"rerank: query\[0\] has .* at most 512"):
        model.rerank("cat " * 600, ["a"], truncation=False)
    nested = "<|embed_<|rerank_token|>token|>a<|rerank_<|embed_token|>token|>"
    assert model.rerank(QUERY + nested[:30], [nested]) != []
    assert scores(model.rerank(QUERY, [nested]), 1) == scores(model.rerank(QUERY, ["a"]), 1)


def test_other_tasks_and_arguments(model, tmp_path):
    with pytest.raises(fbg.ModelError, match=r"predict: .* this model has: encode, rerank$"):
        model.predict([("a", "b")])
    squashed = scores(model.rerank(QUERY, DOCUMENTS, activation_fn="sigmoid"), 4)
    plain = scores(model.rerank(QUERY, DOCUMENTS), 4)
    np.testing.assert_allclose(squashed, 1 / (1 + np.exp(-plain)), atol=1e-6)
    path = write_listwise(tmp_path / "bare")
    tiny_models.byte_pairs().save(str(path / "tokenizer.json"))
    with pytest.raises(fbg.ModelError, match=r"tokenizer\.json: must have tokens <\|embed_token"):
        fbg.load(path).rerank(QUERY, DOCUMENTS)
    change_json(path / "config.json", architectures=["Qwen3Model"])
    fbg.load(path)  # heads that config.json does not name may be left


@pytest.mark.parametrize("dtype", ["bfloat16", "int8"])
def test_a_saved_model_and_a_server_give_the_same_scores(model, tmp_path, dtype):
    own = fbg.load(model.directory, dtype)
    wanted = own.rerank(QUERY, DOCUMENTS)
    exact = scores(model.rerank(QUERY, DOCUMENTS), 4)
    np.testing.assert_allclose(scores(wanted, 4), exact, atol=0.1)
    own.save(tmp_path / "saved")
    assert fbg.load(tmp_path / "saved").rerank(QUERY, DOCUMENTS) == wanted

    async def together():
        async with fbg.AsyncModel(own) as runs:
            return await asyncio.gather(*[runs.rerank(QUERY, DOCUMENTS) for _ in range(3)])

    assert asyncio.run(together()) == [wanted] * 3
    if dtype == "int8":
        body = {"query": QUERY, "documents": [text or "b" for text in DOCUMENTS]}
        expected = own.rerank(QUERY, body["documents"])
        with running(f"m={tmp_path / 'saved'}") as server, warnings.catch_warnings():
            server.wait_ready()
            answer = httpx.post(f"{server.url}/v1/rerank", json=body, timeout=30).json()
        got = [(each["index"], each["relevance_score"]) for each in answer["results"]]
        assert got == [(each["corpus_id"], each["score"]) for each in expected]
