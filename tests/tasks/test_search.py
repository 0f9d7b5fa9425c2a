"""Quantized embeddings and exact search: formulas of sentence-transformers, brute force, errors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fbg


@pytest.fixture
def threads_as_before():
    before = fbg.get_num_threads()
    yield
    fbg.set_num_threads(before)


def draw(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def test_levels_are_those_of_sentence_transformers():
    x, calibration = draw(1, 20, 13), draw(2, 200, 13)
    ranges = fbg.embedding_ranges(calibration)
    np.testing.assert_array_equal(ranges, [calibration.min(axis=0), calibration.max(axis=0)])
    levels = np.clip(np.floor((x - ranges[0]) / ((ranges[1] - ranges[0]) / 255)), 0, 255)
    for given_ranges in ({"ranges": ranges}, {"calibration": calibration}):
        unsigned = fbg.quantize_embeddings(x, "uint8", **given_ranges)
        signed = fbg.quantize_embeddings(x, "int8", **given_ranges)
        assert unsigned.dtype == np.uint8
        assert signed.dtype == np.int8
        np.testing.assert_array_equal(unsigned, levels)
        np.testing.assert_array_equal(signed, levels - 128)


def test_bits_are_the_signs_first_dimension_highest():
    x = draw(1, 20, 13)
    bits = fbg.quantize_embeddings(x, "ubinary")
    np.testing.assert_array_equal(bits, np.packbits(x > 0, axis=-1))
    signed = fbg.quantize_embeddings(x, "binary")
    np.testing.assert_array_equal(signed, bits.astype(np.int16) - 128)
    np.testing.assert_array_equal(fbg.quantize_embeddings(x[3], "binary"), signed[3])


def test_a_dimension_that_never_varies_has_one_level():
    x = np.ones((3, 2), np.float32)
    assert not fbg.quantize_embeddings(x, "uint8", calibration=x).any()


@pytest.mark.parametrize(
    ("error", "arguments", "message"),
    [
        (TypeError, (np.ones((2, 3), np.int8), "binary"), "embeddings must be floats, got int8"),
        (ValueError, (np.ones((2, 3, 4)), "binary"), "must be 1-D or 2-D"),
        (ValueError, (np.ones((2, 3)), "int4"), "precision must be one of .* got 'int4'"),
        (ValueError, (np.ones((2, 3)), "int8"), "require either ranges or calibration"),
    ],
)
def test_wrong_embeddings_are_named(error, arguments, message):
    with pytest.raises(error, match=message):
        fbg.quantize_embeddings(*arguments)


@pytest.mark.parametrize(
    ("ranges", "message"),
    [
        (np.ones((2, 4)), r"ranges must be \(2, 3\).*got \(2, 4\)"),
        ([[1, 1, 1], [0, 2, 2]], "smallest values, then the largest"),
        ([[np.nan] * 3] * 2, "smallest values, then the largest"),
    ],
)
def test_wrong_ranges_are_named(ranges, message):
    with pytest.raises(ValueError, match=message):
        fbg.quantize_embeddings(np.ones((2, 3)), "uint8", ranges=ranges)


def brute_force(a, b, metric):
    if metric == "hamming":
        different = np.unpackbits((a[:, None] ^ b[None]).view(np.uint8), axis=-1)
        return -different.sum(axis=-1).astype(np.int64)
    x, y = (v.astype(np.int64 if v.dtype == np.int8 else np.float64) for v in (a, b))
    if metric == "cosine":
        x, y = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (x, y))
    return x @ y.T


def embeddings(metric, dtype, seed, rows, columns):
    if dtype == "float32":
        return draw(seed, rows, columns)
    low, high = (0, 256) if dtype == "uint8" else (-128, 128)
    return np.random.default_rng(seed).integers(low, high, (rows, columns)).astype(dtype)


CASES = [
    ("cosine", "float32"),
    ("dot", "float32"),
    ("dot", "int8"),
    ("hamming", "uint8"),
    ("hamming", "int8"),
]


@pytest.mark.parametrize(("metric", "dtype"), CASES)
@given(st.integers(1, 5), st.integers(1, 40), st.integers(1, 70), st.integers(0, 99))
@settings(deadline=None, max_examples=20)
def test_similarity_is_brute_force(metric, dtype, queries, rows, columns, seed):
    a = embeddings(metric, dtype, seed, queries, columns)
    b = embeddings(metric, dtype, seed + 1, rows, columns)
    got = fbg.similarity(a, b, metric)
    assert got.dtype == (np.float32 if dtype == "float32" else np.int32)
    wanted = brute_force(a, b, metric)
    if dtype == "float32":
        np.testing.assert_allclose(got, wanted, atol=1e-4)
    else:
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize(("metric", "dtype"), CASES)
@pytest.mark.parametrize("top_k", [1, 7, 500])
def test_search_finds_the_best_of_all(metric, dtype, top_k):
    queries = embeddings(metric, dtype, 3, 4, 24)
    corpus = embeddings(metric, dtype, 4, 203, 24)
    corpus[100:110] = corpus[:10]  # equal scores: the first comes first
    whole = fbg.semantic_search(queries, corpus, top_k, metric)
    scores = fbg.similarity(queries, corpus, metric)
    for hits, row in zip(whole, scores, strict=True):
        best = np.argsort(-row.astype(np.float64), kind="stable")[:top_k]
        assert [hit["corpus_id"] for hit in hits] == best.tolist()
        assert [hit["score"] for hit in hits] == row[best].tolist()
    in_turn = [fbg.semantic_search(query, corpus, top_k, metric)[0] for query in queries]
    assert in_turn == whole


def test_search_of_nothing_finds_nothing():
    none = np.empty((0, 5), np.float32)
    assert fbg.semantic_search(draw(1, 2, 5), none) == [[], []]
    assert fbg.semantic_search(none, draw(1, 2, 5)) == []


@pytest.mark.parametrize(
    ("error", "a", "b", "metric", "message"),
    [
        (ValueError, draw(1, 2, 3), draw(1, 2, 4), "dot", "equally many columns"),
        (ValueError, draw(1, 2, 3), draw(1, 3), "dot", "must be 2-D"),
        (ValueError, draw(1, 2, 3), draw(1, 2, 3), "manhattan", "metric must be one of"),
        (
            TypeError,
            draw(1, 2, 3),
            np.ones((2, 3)),
            "dot",
            r"dot needs float32 or int8, got float64; convert it with np.asarray",
        ),
        (TypeError, draw(1, 2, 3), [[1.0, 2.0, 3.0]], "cosine", r"convert it with np\.asarray"),
        (TypeError, draw(1, 2, 3), np.ones((2, 3), np.int8), "dot", "must have one dtype"),
        (TypeError, np.ones((2, 3), np.int8), np.ones((2, 3), np.int8), "cosine", "needs float32"),
        (TypeError, draw(1, 2, 3), draw(1, 2, 3), "hamming", "needs uint8 or int8"),
    ],
)
def test_wrong_arguments_are_named(error, a, b, metric, message):
    for function in (fbg.similarity, fbg.semantic_search):
        options = {"metric": metric}
        with pytest.raises(error, match=message):
            function(a, b, **options)


def test_scores_that_are_no_numbers_come_last():
    corpus, query = draw(1, 50, 8), draw(2, 1, 8)
    corpus[7, 3] = np.nan
    found = fbg.semantic_search(query, corpus, top_k=50)[0]
    assert [hit["corpus_id"] for hit in found][-1] == 7


@pytest.mark.parametrize(("metric", "dtype"), CASES)
@pytest.mark.usefixtures("threads_as_before")
def test_threads_and_blocks_do_not_change_a_search(metric, dtype, isa):
    queries = embeddings(metric, dtype, 3, 7, 70)
    corpus = embeddings(metric, dtype, 4, 20_011, 70)
    corpus[15_000:15_100] = corpus[:100]  # equal scores in the shares of two threads
    results = []
    for threads in (1, 2, 3):
        fbg.set_num_threads(threads)
        results.append(fbg.semantic_search(queries, corpus, 30, metric))
    scores = fbg.similarity(queries, corpus, metric)
    best = np.argsort(-scores.astype(np.float64), axis=1, kind="stable")[:, :30]
    assert results[0] == results[1] == results[2]
    assert [[hit["corpus_id"] for hit in hits] for hits in results[0]] == best.tolist()


@pytest.mark.parametrize(("metric", "dtype"), CASES)
def test_a_corpus_may_lie_in_any_way(metric, dtype):
    queries, wide = embeddings(metric, dtype, 3, 3, 24), embeddings(metric, dtype, 4, 60, 48)
    if metric == "cosine":
        some = fbg.similarity(np.asfortranarray(queries), wide[:, :24], metric)
        np.testing.assert_array_equal(some[0], fbg.similarity(queries[:1], wide[:, :24], metric)[0])
    for corpus in (wide[:, :24], wide[::2, 24:], wide[::-1, :24], wide[:, ::2], wide[:0, :24]):
        wanted = fbg.semantic_search(queries, corpus.copy(), 5, metric)
        assert fbg.semantic_search(queries, corpus, 5, metric) == wanted
        some = fbg.similarity(queries[::-1], corpus, metric)
        np.testing.assert_array_equal(some, fbg.similarity(queries, corpus.copy(), metric)[::-1])


@pytest.mark.parametrize("columns", [48, 63, 64, 65, 8191, 8192, 8200])
def test_extreme_bits_and_bytes_are_exact(columns):
    ones, zeros = np.full((2, columns), 255, np.uint8), np.zeros((5, columns), np.uint8)
    assert (fbg.similarity(ones, zeros, "hamming") == -8 * columns).all()
    low = np.full((5, columns), -128, np.int8)
    assert (fbg.similarity(low[:2], low, "dot") == 128 * 128 * columns).all()


@pytest.mark.parametrize(("metric", "dtype"), [("dot", "int8"), ("hamming", "uint8")])
def test_every_number_of_bytes_is_read_to_its_end_and_no_further(metric, dtype, isa):
    for columns in range(1, 132):
        wide = embeddings(metric, dtype, columns, 9, columns + 3)
        a, b = wide[:4, :columns], wide[4:, :columns]
        got = fbg.similarity(a, b, metric)
        np.testing.assert_array_equal(got, brute_force(a, b, metric), err_msg=str(columns))


def test_one_query_of_a_corpus_beyond_the_caches_has_the_scores_of_many(isa):
    queries, corpus = draw(3, 5, 140), draw(4, 33_001, 140)
    together = fbg.similarity(queries, corpus, "dot")
    for query, scores in zip(queries, together, strict=True):
        np.testing.assert_array_equal(fbg.similarity(query, corpus, "dot")[0], scores)


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_rows_may_lie_apart_by_no_multiple_of_an_element(rows):
    records = np.zeros(rows, [("vector", "f4", 24), ("tag", "u1")])
    records["vector"] = draw(1, rows, 24)
    found = fbg.similarity(draw(2, 3, 24), records["vector"], "dot")
    np.testing.assert_array_equal(found, fbg.similarity(draw(2, 3, 24), draw(1, rows, 24), "dot"))


def test_queries_run_in_groups_whose_scores_fit_in_memory(monkeypatch):
    queries, corpus = draw(1, 11, 16), draw(2, 300, 16)
    wanted = fbg.semantic_search(queries, corpus, 20)
    monkeypatch.setattr("fbg.tasks.search.MEMORY", 3 * 20 * 32)
    assert fbg.semantic_search(queries, corpus, 20) == wanted
    monkeypatch.setattr("fbg.tasks.search.MEMORY", 1)
    assert fbg.semantic_search(queries, corpus, 20) == wanted


def test_sums_that_would_overflow_are_refused():
    wide = np.zeros((1, 1 << 17), np.int8)
    with pytest.raises(ValueError, match="at most 131071 columns, got 131072"):
        fbg.similarity(wide, wide, "dot")


@pytest.mark.parametrize("order", [1, -1])
def test_scores_may_come_in_any_order(order):
    corpus = np.arange(5000, dtype=np.float32)[::order].reshape(-1, 1)
    found = fbg.semantic_search(np.ones((1, 1), np.float32), corpus, 700, "dot")[0]
    assert [hit["score"] for hit in found] == list(range(4999, 4299, -1))


def test_a_single_vector_is_a_row_of_a_and_refused_with_the_way_out_as_b():
    a, b = np.array([3, 4], np.float32), np.array([4, 3], np.float32)
    with pytest.raises(ValueError, match=r"got \(2,\) and \(2,\); pass b\[None\]"):
        fbg.similarity(a, b)
    assert fbg.similarity(a, b[None]) == pytest.approx(np.array([[0.96]]))


@pytest.mark.parametrize(("dtype", "metric"), [(np.int8, "dot"), (np.uint8, "hamming")])
def test_dtypes_that_a_metric_does_not_take_name_the_one_that_does(dtype, metric):
    x = np.ones((2, 8), dtype)
    with pytest.raises(TypeError, match=f"pass metric='{metric}'"):
        fbg.similarity(x, x)
