"""The page at / in Chromium: each task, on a text of one's own. Run where Chromium is installed.

conftest.py leaves this file out elsewhere. Debian's package is enough: `apt-get install chromium`.
"""

import shutil

import pytest
from playwright.sync_api import expect, sync_playwright

# An emoji is one character of Unicode, but two of JavaScript.
CONTEXT = "\U0001f600 Ada lives in the north, near York."


@pytest.fixture(scope="module")
def browser_page(server):
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("LD_PRELOAD", raising=False)  # a sanitizer's runtime is not for a browser
        yield from opened_page(server)


def opened_page(server):
    """Yield the page of a server; afterwards, there must have been no error in it."""
    with sync_playwright() as driver:
        options = ["--no-sandbox", "--disable-gpu"]  # the sandbox needs rights that a test lacks
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=options)
        page = browser.new_page(viewport={"width": 1000, "height": 700})
        page.set_default_timeout(20_000)
        problems = []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("requestfailed", lambda request: problems.append(request.url))
        page.goto(server.url)
        yield page
        browser.close()
        assert problems == []


def run(page, task, texts, question=None, model=None):
    page.select_option("#task", task)
    if model is not None:
        page.select_option("#model", model)
    page.fill("#texts", texts)
    if question is not None:
        page.fill("#question", question)
    page.click("#run")
    expect(page.locator("#took")).to_contain_text("ms")


def test_similarities_are_those_of_the_server(browser_page, client):
    texts = ["the dog", "a fox & a <b>dog</b>"]
    run(browser_page, "encode", "\n".join(texts))
    rows = client.post("/embed", json={"inputs": texts, "model": "text"}).json()
    wanted = sum(a * b for a, b in zip(*rows, strict=True))
    cells = browser_page.locator("#result td").all_inner_texts()
    assert cells == ["1.000", f"{wanted:.3f}", f"{wanted:.3f}", "1.000"]
    # A text is shown as it is, and never read as HTML.
    assert texts[1] in browser_page.locator("#result th").all_inner_texts()[-1]
    assert browser_page.locator("#result b").count() == 0


def test_documents_are_listed_best_first(browser_page, client):
    query, texts = "who is the author", ["no idea", "the cat", "Harper wrote it"]
    run(browser_page, "rerank", "\n".join(texts), query)
    found = client.post("/rerank", json={"query": query, "texts": texts}).json()
    shown = browser_page.locator("#result td:nth-child(2)").all_inner_texts()
    assert shown == [texts[item["index"]] for item in found]


def test_labels_and_masks_have_their_scores(browser_page, client):
    run(browser_page, "classify", "a film", model="labels")
    found = client.post("/predict", json={"inputs": "a film", "model": "labels"}).json()
    shown = browser_page.locator("#result td:nth-child(2)").all_inner_texts()
    assert shown == [item["label"] for item in found]
    run(browser_page, "fill_mask", "the [MASK] cat")
    found = client.post("/fill_mask", json={"inputs": "the [MASK] cat"}).json()
    shown = browser_page.locator("#result td:nth-child(2)").all_inner_texts()
    assert shown == [item["token_str"] for item in found]


def test_an_answer_is_marked_where_it_is(browser_page, client):
    question = "where is she?"
    run(browser_page, "answer", CONTEXT, question)
    body = {"inputs": {"question": question, "context": CONTEXT}}
    found = client.post("/answer", json=body).json()
    mark = browser_page.locator("#result mark").evaluate("node => node.firstChild.textContent")
    assert mark == found["answer"] == CONTEXT[found["start"] : found["end"]]


def test_entities_are_marked_where_they_are(browser_page, client):
    run(browser_page, "ner", CONTEXT)
    found = client.post("/ner", json={"inputs": CONTEXT}).json()
    marks = browser_page.locator("#result mark").evaluate_all(
        "nodes => nodes.map(node => node.firstChild.textContent)"
    )
    assert marks == [CONTEXT[item["start"] : item["end"]] for item in found]


def test_errors_and_load_are_shown(browser_page):
    browser_page.select_option("#task", "fill_mask")
    browser_page.fill("#texts", "no mask at all")
    browser_page.click("#run")
    expect(browser_page.locator("#result .error")).to_contain_text("mask")
    expect(browser_page.locator("#load")).to_contain_text("requests/s")
