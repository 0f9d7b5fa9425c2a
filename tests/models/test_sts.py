"""Correlations with human scores: the coefficients, their intervals, and files of pairs."""

import json

import numpy as np
import pytest

import fbg
from fbg.reports.sts import compare_sts, correlate, read_pairs
from helpers.commands import check_mistakes, succeed

PAIRS = [
    (5.0, "a word, and another", 'the "third"'),
    (2.5, "one more", "number 4"),
    (0.0, "five\nand six", "seven"),
    (2.5, "eight", "one more of them"),
]


def ranks(x):
    """Of numbers, those that are equal share the mean."""
    below = (x[None] < x[:, None]).sum(axis=1)
    return below + ((x[None] == x[:, None]).sum(axis=1) + 1) / 2


def pearson(x, y):
    constant = np.ptp(x) == 0 or np.ptp(y) == 0
    return 0.0 if constant else float(np.corrcoef(x, y)[0, 1])


@pytest.mark.parametrize("count", [3, 4, 12])
def test_coefficients_and_intervals_are_those_of_pairs_drawn_again(count):
    rng = np.random.default_rng(count)
    scores = rng.integers(0, 4, count).astype(float)  # some are equal
    cosine = {"float32": rng.normal(size=count), "int8": rng.integers(0, 3, count) / 2}
    found = correlate(scores, cosine)
    stream = np.random.default_rng(0)
    drawn = [row for _ in range(20) for row in stream.integers(count, size=(100, count))]
    samples = [np.arange(count), *drawn]
    expected = {
        name: np.array(
            [
                (pearson(ranks(x[at]), ranks(scores[at])), pearson(x[at], scores[at]))
                for at in samples
            ]
        )
        for name, x in cosine.items()
    }
    for name, values in expected.items():
        difference = values - expected["float32"]
        bounds = np.percentile(difference[1:], [2.5, 97.5], axis=0)
        wanted = np.stack([values[0], difference[0], *bounds], axis=1)
        got = [(c.value, c.difference, c.low, c.high) for c in found[name]]
        np.testing.assert_allclose(got, wanted, atol=1e-7)


def test_cosines_that_are_no_numbers_have_no_coefficient():
    scores = np.array([1.0, 2.0, 3.0, 4.0])
    found = correlate(scores, {"float32": scores, "int8": np.array([np.nan, 1, 2, 3])})
    assert [each.value for each in found["float32"]] == [1, 1]
    assert all(np.isnan([*vars(each).values()]).all() for each in found["int8"])


def test_more_pairs_give_a_narrower_interval():
    rng = np.random.default_rng(0)
    widths = []
    for count in (100, 10_000):
        scores = rng.normal(size=count)
        cosine = {"a": scores + rng.normal(size=count), "b": scores + rng.normal(size=count)}
        first, second = correlate(scores, cosine).values()
        assert {(c.difference, c.low, c.high) for c in first} == {(0, 0, 0)}
        widths += [second[0].high - second[0].low]
        assert all(c.low < c.difference < c.high for c in second)
    assert 8 < widths[0] / widths[1] < 12  # sqrt(100)


def lines_of(kind):
    if kind == "jsonl":
        rows = [dict(zip(("score", "sentence1", "sentence2"), row, strict=True)) for row in PAIRS]
        return "\n\n".join(json.dumps({"other": 1, **row}) for row in rows)
    if kind == "csv":
        rows = [",".join('"{}"'.format(str(v).replace('"', '""')) for v in row) for row in PAIRS]
        return "\r\n".join(rows)
    named = [("sentence2", "source", "score", "sentence1")]
    rows = named + [(b, "web", s, a.replace("\n", " ")) for s, a, b in PAIRS]
    return "".join("\t".join(map(str, row)) + "\n" for row in rows)


@pytest.mark.parametrize("kind", ["jsonl", "csv", "tsv"])
def test_files_hold_pairs(tmp_path, kind):
    path = tmp_path / f"pairs.{kind}"
    path.write_bytes(lines_of(kind).encode())
    scores, texts = read_pairs(path)
    assert scores.tolist() == [score for score, _, _ in PAIRS]
    left = [a.replace("\n", " ") if kind == "tsv" else a for _, a, _ in PAIRS]
    assert texts == left + [b for _, _, b in PAIRS]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", "1\ta\tb", "the suffix must be one of .tsv, .csv, .jsonl"),
        ("a.tsv", "1\ta\tb\n\n2\ta", "line 3: must have 3 columns, got 2"),
        ("a.tsv", "score\tsentence1\tsentence2\tx\n1\ta\tb", "line 2: must have 4 columns, got 3"),
        ("a.tsv", "1\ta\tb\nfive\ta\tb", "line 2: 'score' must be a number, got 'five'"),
        ("a.csv", "1,a,b\nnan,a,b", "line 2: 'score' must be a number, got 'nan'"),
        ("a.csv", '1,a,b\n2,"a,b', "line 2: unexpected end of data"),
        ("a.csv", '1,a,"b"c\n', "line 1: ',' expected after '\"'"),
        ("a.tsv", "1\ta\tb\n2\ta\t\udcff", "line 2: not UTF-8"),
        ("a.jsonl", '{"score": 1, "sentence1": "a", "sentence2": "b"}\n[]', "line 2: must be an"),
        ("a.jsonl", '{"sentence1": "a", "sentence2": "b"}', "line 1: 'score' must be a number"),
        ("a.jsonl", '{"score": 1, "sentence1": "a"}', "line 1: has no 'sentence2', only 'score'"),
        ("a.jsonl", '{"score": 1, "sentence1": 2}', "line 1: 'sentence1' must be a string, got"),
        ("a.jsonl", '{"score": 1' + 400 * "0" + "}", "line 1: 'score' must be a number, got 1000"),
        ("a.tsv", "1\ta\tb\n2\ta\tb", "must have 3 pairs or more, with different scores"),
        ("a.tsv", "1\ta\tb\n" * 9, "must have 3 pairs or more, with different scores"),
    ],
)
def test_mistakes_in_a_file_name_the_line(tmp_path, directory, name, content, message):
    path = tmp_path / name
    path.write_bytes(content.encode(errors="surrogateescape"))
    check_mistakes([([directory, "--sts", path], 1, f"{path}")], "compare")
    with pytest.raises(ValueError) as caught:
        read_pairs(path)
    assert str(caught.value).startswith(str(path)) and message in str(caught.value)


def test_cosines_are_those_of_encode(tmp_path, directory):
    path = tmp_path / "pairs.jsonl"
    path.write_text(lines_of("jsonl"))
    report = compare_sts(directory, path, ["int8"], num_threads=1)
    assert (report.pairs, report.threads, [*report.correlations]) == (4, 1, ["float32", "int8"])
    scores, texts = read_pairs(path)
    for dtype, found in report.correlations.items():
        rows = fbg.load(directory, dtype=dtype).encode(texts, normalize_embeddings=True)
        cosine = (rows[:4].astype(float) * rows[4:]).sum(axis=1)
        expected = pearson(ranks(cosine), ranks(scores)), pearson(cosine, scores)
        np.testing.assert_allclose([c.value for c in found], expected, atol=1e-6)
        assert str(found[0].value)[:6] in str(report)


def test_the_command_prints_correlations(tmp_path, directory):
    path = tmp_path / "pairs.tsv"
    path.write_text(lines_of("tsv"))
    output = succeed("compare", directory, "--sts", path).stdout
    assert output.startswith(f"{directory}: 4 pairs of {path}, ")
    assert [line.split()[0] for line in output.splitlines()[3:]] == ["float32", "bfloat16", "int8"]
    as_json = json.loads(
        succeed("compare", directory, "--sts", path, "--dtype", "int4", "--json").stdout
    )
    spearman, pearson = as_json["correlations"]["int4"]
    assert spearman.keys() == {"value", "difference", "low", "high"} == pearson.keys()


def test_options_that_it_ignores_are_refused(tmp_path, directory):
    given = [directory, "--sts", "pairs.tsv"]
    options = {"--input": "a.txt", "--rounds": "3", "--plot": "a.png", "--target": "1e-3"}
    cases = [
        ([*given, name, value], 2, f"{name} cannot be used with --sts")
        for name, value in options.items()
    ]
    cases += [
        ([*given, "--sensitivity"], 2, "--sensitivity cannot be combined with --sts"),
        ([tmp_path / "net.onnx", "--sts", "a"], 2, "--sts cannot be used with ONNX files"),
        (given, 1, "pairs.tsv: no such file"),
    ]
    check_mistakes(cases, "compare")
    fbg.load(directory, dtype="int8").save(tmp_path / "saved")
    check_mistakes([([tmp_path / "saved", "--sts", "a"], 1, "saved by fbg")], "compare")
