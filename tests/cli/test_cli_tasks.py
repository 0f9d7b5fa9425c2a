"""The commands of tasks, such as `fbg classify`, print what the library returns."""

import json

import pytest

import fbg
from helpers import tiny_bert, tiny_gliner, tiny_multi, tiny_tasks
from helpers.commands import invoke, succeed
from helpers.tiny_tasks import CONTEXTS, DOCUMENTS, QUERY, QUESTIONS, TEXTS


def printed(*args, **options):
    return [json.loads(line) for line in succeed(*args, **options).output.splitlines()]


def texts(values):
    return [argument for value in values for argument in ("--text", value)]


def test_search_says_how_embeddings_are_searched(tmp_path):
    result = invoke("search", tmp_path, "--query", "a", "--input", "t.npy")
    assert result.exit_code == 2
    assert "fbg.semantic_search(query, np.load('t.npy'))" in result.output


def test_classify(tmp_path):
    directory = tiny_tasks.write_model(tmp_path / "m", "bert-ForSequenceClassification")
    wanted = fbg.load(directory).classify(TEXTS, top_k=2)
    assert printed("classify", directory, *texts(TEXTS), "--top-k", 2) == wanted
    (tmp_path / "in.txt").write_text("\n".join(TEXTS) + "\n")
    assert printed("classify", directory, "--input", tmp_path / "in.txt", "--top-k", 2) == wanted
    given = {"input": "\n".join(TEXTS)}
    assert printed("classify", directory, "--input", "-", "--top-k", 2, **given) == wanted


def test_zero_shot(tmp_path):
    directory = tiny_tasks.write_model(tmp_path, "nli")
    wanted = fbg.load(directory).zero_shot_classify(TEXTS, ["a", "b"], "{}!", multi_label=True)
    given = ("--label", "a", "--label", "b", "--template", "{}!", "--multi-label")
    assert printed("zero-shot", directory, *texts(TEXTS), *given) == wanted


def test_ner_of_labels(tmp_path):
    directory = tiny_gliner.write_model(tmp_path, "bare")
    wanted = fbg.load(directory).ner(TEXTS, labels=["person", "x-1"], threshold=0.4)
    given = ("--label", "person", "--label", "x-1", "--threshold", 0.4)
    assert printed("ner", directory, *texts(TEXTS), *given) == wanted
    result = invoke("ner", directory, *texts(TEXTS))
    assert result.exit_code != 0
    assert "labels must say what to find" in result.output


def test_rerank(tmp_path):
    directory = tiny_tasks.write_model(tmp_path, "pairs")
    wanted = fbg.load(directory).rerank(QUERY, DOCUMENTS, top_k=3, return_documents=True)
    got = printed("rerank", directory, "--query", QUERY, *texts(DOCUMENTS), "--top-k", 3)
    assert got == wanted


def test_rerank_by_vectors_of_tokens(tmp_path):
    directory = tiny_multi.write_multi(tmp_path, "pylate")
    wanted = fbg.load(directory).rank("cat", ["a", "b c"], top_k=1, return_documents=True)
    given = ("--query", "cat", *texts(["a", "b c"]), "--top-k", 1)
    assert printed("rerank", directory, *given) == wanted


@pytest.mark.parametrize("strategy", ["none", "simple", "max"])
def test_ner(tmp_path, strategy):
    directory = tiny_tasks.write_model(tmp_path, "bert-ForTokenClassification")
    wanted = fbg.load(directory).ner(TEXTS, aggregation_strategy=strategy)
    assert printed("ner", directory, *texts(TEXTS), "--aggregation", strategy) == wanted


def test_answer(tmp_path):
    directory = tiny_tasks.write_model(tmp_path, "bert-ForQuestionAnswering")
    wanted = fbg.load(directory).answer(QUESTIONS[0], CONTEXTS[0])
    given = ("--question", QUESTIONS[0], "--context", CONTEXTS[0])
    assert printed("answer", directory, *given) == [wanted]


def test_fill_mask(tmp_path):
    directory = tiny_tasks.write_model(tmp_path, "bert-ForMaskedLM")
    masked = tiny_tasks.masked("bert")
    wanted = fbg.load(directory).fill_mask(masked, top_k=2)
    assert printed("fill-mask", directory, *texts(masked), "--top-k", 2) == wanted


def test_search(tmp_path):
    directory = tiny_bert.write_checkpoint(tmp_path, seed=3, spread=0.25)
    prompts = {"prompts": {"query": "find: "}}
    tiny_bert.write_json(directory / "config_sentence_transformers.json", prompts)
    model = fbg.load(directory)
    queries = model.encode(["cat", "x"], prompt_name="query")
    hits = fbg.semantic_search(queries, model.encode(TEXTS), 2)
    wanted = [[{**hit, "text": TEXTS[hit["corpus_id"]]} for hit in row] for row in hits]
    given = ("--query", "cat", "--query", "x", "--query-prompt", "query", "--top-k", 2)
    assert printed("search", directory, *given, *texts(TEXTS)) == wanted


@pytest.mark.parametrize("suffix", ["npy", "parquet"])
def test_search_takes_embeddings_that_encode_has_written(suffix, tmp_path, monkeypatch):
    directory = tiny_bert.write_checkpoint(tmp_path / "m", seed=3, spread=0.25)
    source, output = tmp_path / "t.txt", tmp_path / f"emb.{suffix}"
    source.write_text("\n".join(TEXTS))
    succeed("encode", directory, "--input", source, "--output", output)
    given = ("--query", "cat", "--top-k", 2)
    wanted = printed("search", directory, *given, "--input", source)
    embedded = []
    encode = fbg.Model.encode
    monkeypatch.setattr(
        fbg.Model, "encode", lambda m, x, *a, **k: embedded.append(len(x)) or encode(m, x, *a, **k)
    )
    found = ("--input", source, "--embeddings", output)
    assert printed("search", directory, *given, *found) == wanted
    assert embedded == [1]
    result = invoke("search", directory, *given, "--text", "a", "--embeddings", output)
    assert result.exit_code == 1 and f"must have 1 rows, one for each text, got {len(TEXTS)}" in (
        result.output
    )
    result = invoke("search", directory, *given, "--text", "a", "--embeddings", source)
    assert result.exit_code == 1 and "are read from .npy and .parquet files" in result.output


def test_a_model_without_the_head_is_a_mistake_in_one_line(tmp_path):
    directory = tiny_bert.write_checkpoint(tmp_path)
    result = invoke("classify", directory, "--text", "a")
    assert result.exit_code == 1
    assert "must name a class that ends in ForSequenceClassification" in result.output


@pytest.mark.parametrize("given", [(), ("--text", "a", "--input", "-")])
def test_texts_come_from_one_place(tmp_path, given):
    result = invoke("classify", tmp_path, *given)
    assert result.exit_code == 2
    assert "Give texts with --text, or a file with --input." in result.output
