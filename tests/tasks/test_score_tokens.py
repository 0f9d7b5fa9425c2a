"""Decoders that rerank by the logits of tokens, against CrossEncoder of sentence-transformers."""

from fnmatch import fnmatch

import numpy as np
import pytest

import fbg
from fbg.model import directory as hub
from fbg.text.chat_template import render_chat_template
from fbg.text.multi_vector import ARTIFACT
from fbg.text.pair_template import CHAT_TEMPLATE
from fbg.text.token_heads import TOKEN_HEADS
from helpers import tiny_models, tiny_tasks
from helpers.minilm import arrays
from helpers.tiny_bert import change_json
from helpers.tiny_rerankers import PAIRS, RERANKERS, write_reranker

pytestmark = pytest.mark.filterwarnings("ignore:.* was truncated")


@pytest.mark.parametrize("name", RERANKERS)
def test_scores_are_those_of_the_package(tmp_path, name, isa):
    model = fbg.load(write_reranker(tmp_path, name))
    golden = arrays("tiny_outputs")[f"rerank-{name}"]
    np.testing.assert_allclose(model.predict(PAIRS), golden, rtol=0, atol=1e-4)
    ranked = model.rerank(PAIRS[0][0], [PAIRS[0][1], "x"])
    assert {hit["corpus_id"] for hit in ranked} == {0, 1}


@pytest.mark.parametrize("name", ["template", "structured", "plain"])
def test_a_decoder_in_a_folder_has_its_template_there(tmp_path, name):
    wanted = fbg.load(write_reranker(tmp_path / "root", name)).predict(PAIRS)
    model = fbg.load(tiny_models.move_encoder(write_reranker(tmp_path / "folder", name)))
    model.save(tmp_path / "saved")
    for same in (model, fbg.load(tmp_path / "saved")):
        np.testing.assert_array_equal(same.predict(PAIRS), wanted)


def test_an_instruction_takes_the_place_of_that_of_the_model(tmp_path):
    directory = write_reranker(tmp_path, "template")
    golden = arrays("tiny_outputs")["rerank-prompt"]
    model = fbg.load(directory)
    np.testing.assert_allclose(model.predict(PAIRS, prompt="say so"), golden, rtol=0, atol=1e-4)
    assert model.rerank("a", ["b"], prompt="say so") != model.rerank("a", ["b"])
    encoder = fbg.CrossEncoder(directory)
    scores = encoder.predict(PAIRS, prompt_name="other")
    np.testing.assert_array_equal(scores, model.predict(PAIRS, prompt="say so"))
    with pytest.raises(ValueError, match="prompt_name must be one of 'query', 'other', got 'no'"):
        encoder.predict(PAIRS, prompt_name="no")


def test_a_pair_that_is_too_long_is_refused_if_asked(tmp_path):
    model = fbg.load(write_reranker(tmp_path, "template"))
    with pytest.raises(ValueError, match=r"inputs\[3\] has .* takes at most 64"):
        model.predict(PAIRS, truncation=False)
    with pytest.raises(fbg.ModelError, match="the text after a pair has"):
        model.with_max_length(6).predict(PAIRS)


def test_an_embedder_does_not_rank(tmp_path):
    directory = write_reranker(tmp_path, "plain")
    (directory / "modules.json").unlink()
    with pytest.raises(fbg.ModelError, match=r"LlamaForCausalLM, .* LogitScore .* has: encode$"):
        fbg.load(directory).predict(PAIRS)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"true_token_id": None}, "true_token_id must be an integer of at least 0, got None"),
        ({"false_token_id": 99}, "false_token_id must be a token of the vocabulary, below 99"),
        ({"false_token_id": "no"}, "false_token_id must be an integer"),
        ({"module_input_name": "x"}, "module_input_name must be one of causal_logits"),
    ],
)
def test_a_wrong_token_is_named(tmp_path, values, message):
    change_json(write_reranker(tmp_path, "template") / "1_LogitScore" / "config.json", **values)
    with pytest.raises(fbg.ModelError, match=message):
        fbg.load(tmp_path)


RANGE = "{% for a in range(99999) %}"
TWICE = "{% for a in 'ab' %}"
NESTED = (
    "{% set a = namespace(x='aaaaaaaaaa') %}"
    + "{% set a = namespace(x=[a, a, a, a, a, a, a, a]) %}" * 9
)
# They take all the time or memory there is, or fail in ways of their own.
BOMBS = [
    "{{ 10 ** 100000000 }}",
    "{{ 9 ** 9 ** 9 }}",
    "{{ 'a' * 10000000000 }}",
    "{{ 10000000000 * 'a' }}",
    "{{ [1] * 10000000000 }}",
    "{{ '%1000000000d' % 1 }}",
    "{{ '%1000000000d' | format(1) }}",
    "{{ '{:1000000000d}'.format(1) }}",
    "{{ 'a'.ljust(10000000000) }}",
    "{{ 'a' | center(10000000000) }}",
    "{{ 'a' | indent(10000000000) }}",
    "{{ lipsum(1000000000) }}",
    "{{ [1, 2] | tojson(indent=10000000000) }}",
    RANGE + RANGE + RANGE + "{% endfor %}" * 3,
    TWICE * 15 + "x" * 1000 + "{% endfor %}" * 15,
    RANGE + "{{ messages }}" + "x" * 10000 + "{% endfor %}",
    "{% set a = 'aaaaaaaa' %}" + "{% set a = a ~ a %}" * 40 + "{{ a }}",
    "{% set a = 'aaaaaaaa' %}" + "{% set a = a + a %}" * 40 + "{{ a }}",
    "{% set a = 'aaaaaaaa' %}" + "{% set a = a | replace('a', a) %}" * 9 + "{{ a }}",
    "{% set a = 'aaaaaaaa' %}" + "{% set a = [a, a] | join(a) %}" * 40 + "{{ a }}",
    "{% set a = 'aaaaaaaa' %}" + "{% set a %}{{ a }}{{ a }}{% endset %}" * 40 + "{{ a }}",
    "{% set a = [1] %}" + "{% set a = [a, a] %}" * 60 + "{{ a }}",
    "{% set n = namespace(a=1) %}" + "{% set n.a = [n, n] %}" + "{{ n }}",
    "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
    "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}",
    "{% for a in [1] recursive %}{{ loop([a, a]) }}{% endfor %}",
    "{{ range(99999)" + " | map('string')" * 500 + " | list }}",
    "{% set a = range(99999) | list %}" + "{{ a[1:] | length }}" * 1000,
    "{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}",
    "{% for a in b %}" * 30 + "{% endfor %}" * 30,
    # Text is made of a value, or it is compared or looked up, before anybody knows its size.
    NESTED + "{{ [a] ~ '' }}",
    NESTED + "{{ {}[a].x }}",
    "{% set a = (1,) %}"
    + "{% set a = (a, a) %}" * 13
    + RANGE.replace(" a ", " n ")
    + "{{ {}[a] }}{% endfor %}",
    "{% macro "
    + "f" * 30000
    + "() %}{% endmacro %}{% set a = ["
    + "f" * 30000
    + "] %}"
    + "{% set a = [a, a, a, a] %}" * 7
    + "{{ a }}",
    "{% set a = ('x' * 50000) | safe %}"
    + RANGE.replace(" a ", " n ")
    + "{{ a.upper }}{% endfor %}",
    "{% set a = range(60000) | list %}{{ a | select('in', a) | list }}",
    "{{ range(90000) | map(attribute='a" + ".a" * 30000 + "', default='x') | list }}",
    "{{ range(90000) | sort(attribute='a" + ",a" * 30000 + "') }}",
    "{% set a = 'a' * 99999 %}{{ a.rfind('ab' + a[50000:]) }}",
    "{% set a = '\u0101' * 40000 %}{% set b = '\u0102' * 40000 ~ '\u0101' %}{{ a.strip(b) }}",
    "{% set a = '\u0101' * 40000 %}{% set b = '\u0102' * 40000 ~ '\u0101' %}{{ a | trim(b) }}",
    "{{ a" + " ~ a" * 16000 + " }}",
    "{{ 1 / 0 }}",
    "{{ 2.0 ** 64 ** 2 }}",
    "{{ 1e300 ** 64 }}",
    "{{ " + "9" * 5000 + " }}",
    "{% include 'a' %}",
    "{% autoescape true %}{% endautoescape %}",
    "x" * 65537,
]


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{{ messages[0].content }}", "chat_template must place messages of the roles query and"),
        ("{% for", "chat_template cannot be rendered"),
        ("{{ raise_exception('roles') }}", "chat_template cannot be rendered: roles"),
        ("{{ ''.__class__.__mro__ }}", "chat_template cannot be rendered"),
        ("", "chat_template must be a string that is not empty"),
        *((template, "chat_template cannot be rendered") for template in BOMBS),
    ],
)
def test_a_template_that_cannot_be_used_is_named(tmp_path, template, message):
    path = write_reranker(tmp_path, "template") / "chat_template.jinja"
    path.write_text(template)
    with pytest.raises(fbg.ModelError, match=rf"chat_template\.jinja: {message}"):
        fbg.load(tmp_path)


def test_deep_settings_do_not_become_endless_json():
    deep = list(range(50_000))
    for _ in range(400):
        deep = [deep]
    with pytest.raises(ValueError, match="more steps or characters"):
        render_chat_template("{{ deep | tojson(indent=8) }}", (), {"deep": deep})
    assert render_chat_template("{{ [{'a': 1}] | tojson }}", (), {}) == '[{"a": 1}]'


def texts_of(path, template, **message):
    """Return what a model with a template reads about a pair, given the pair and a prompt."""
    directory = write_reranker(path, "template")
    (directory / "chat_template.jinja").write_text(template)
    change_json(directory / "sentence_bert_config.json", modality_config={"message": message})
    template_of_pairs = fbg.load(directory).sentence.template
    assert template_of_pairs is not None
    return template_of_pairs.text


CONTENTS = "{% for m in messages %}[{{ m.content }}]{% endfor %}"


@pytest.mark.parametrize(
    ("template", "wanted"),
    [
        (CONTENTS, "[p][ a ][b]"),
        (CONTENTS.replace("content", "content | trim"), "[p][a][b]"),
        (CONTENTS.replace("messages", "messages[::-1]"), "[b][ a ][p]"),
        (CONTENTS * 2, "[p][ a ][b][p][ a ][b]"),
        ("{{ messages[1:] | map(attribute='content') | join('-') }}", " a -b"),
        ("{{ messages | selectattr('role', 'eq', 'query') | list | tojson }}" + CONTENTS,
         '[{"role": "query", "content": " a "}][p][ a ][b]'),
        ("{% for m in messages %}{{ loop.index ~ m.content.strip().upper() }}"
         "{% if not loop.last %}{{ '-' * 3 }}{% endif %}{% endfor %}", "1P---2A---3B"),
        ("{% macro f(m) %}<{{ m.content }}>{% endmacro %}"
         "{% for m in messages %}{{ f(m) }}{% endfor %}", "<p>< a ><b>"),
        (CONTENTS + "{{ 'a1' | replace(1, nothing) }}", "[p][ a ][b]a"),
    ],
)  # fmt: skip
def test_a_template_may_do_anything_with_the_texts(tmp_path, template, wanted):
    assert texts_of(tmp_path, template)(" a ", "b", "p") == wanted


def test_texts_and_instructions_are_taken_as_they_are(tmp_path):
    text = texts_of(tmp_path, CONTENTS)
    odd = "\x02query\x03 {{ 1 }} {query}"
    assert text(odd, "\x02document\x03", odd) == f"[{odd}][{odd}][\x02document\x03]"
    assert text("a", "b", "") == "[a][b]"
    assert text("a", "b") == "[judge it][a][b]"
    assert len(text("a" * 10**6, "b")) == 10**6 + 15
    skips = texts_of(
        tmp_path, "{% for m in messages if m.content %}{{ m.role }}{% endfor %}" + CONTENTS
    )
    assert skips("", "b", "") == "document[][b]"


def test_the_instruction_of_the_first_rerankers_may_be_empty(tmp_path):
    template = fbg.load(write_reranker(tmp_path, "first")).sentence.template
    assert template is not None
    assert "<Instruct>: Given a web search query" in template.text("a", "b")
    text = template.text("{document}", "{query}", "")
    assert "<Instruct>: \n<Query>: {document}\n<Document>: {query}<|im_end|>" in text


def test_the_form_of_messages_is_that_of_the_settings(tmp_path):
    parts = CONTENTS.replace("content", "content[0].text")
    assert texts_of(tmp_path, parts)("a", "b", "") == "[a][b]"
    assert texts_of(tmp_path, parts, format="structured")("a", "b", "") == "[a][b]"
    with pytest.raises(fbg.ModelError, match="does not depend on both"):
        texts_of(tmp_path, parts, format="flat")


def test_a_model_of_messages_needs_a_template(tmp_path):
    directory = write_reranker(tmp_path, "template")
    (directory / "chat_template.jinja").unlink()
    with pytest.raises(fbg.ModelError, match="modality_config has message, which requires a chat"):
        fbg.load(directory)


def test_all_that_is_read_is_downloaded():
    templates = (CHAT_TEMPLATE, f"0_Transformer/{CHAT_TEMPLATE}")
    for name in (*templates, ARTIFACT, *TOKEN_HEADS):
        assert any(fnmatch(name, pattern) for pattern in (*hub.SETTINGS, *hub.HEADS))


def test_scores_of_tokens_need_a_decoder(tmp_path):
    directory = write_reranker(tmp_path, "plain")
    change_json(directory / "config.json", architectures=["LlamaModel"])
    with pytest.raises(fbg.ModelError, match="LogitScore requires an architecture that ends in"):
        fbg.load(directory)


def test_only_a_template_has_room_for_an_instruction(tmp_path):
    pairs = fbg.load(tiny_tasks.write_model(tmp_path / "pairs", "pairs"))
    plain = fbg.load(write_reranker(tmp_path / "plain", "plain"))
    for model in (pairs, plain):
        with pytest.raises(ValueError, match="prompt must be None: the model has no place"):
            model.predict(PAIRS, prompt="judge")
    with pytest.raises(TypeError, match="prompt must be a str or None, got int"):
        plain.rerank("a", ["b"], prompt=3)
