"""The page at /: everything is in it, and it asks for routes that there are."""

import re

from fbg.server.app import PAGES, POST_ROUTES


def test_nothing_comes_from_elsewhere(client):
    answer = client.get("/")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert (
        "http:" not in answer.text
        and "https:" not in answer.text
        and "//" not in re.sub(r"^\s*//.*$", "", answer.text, flags=re.MULTILINE)
    )
    assert not re.search(r"<(script|link|img)[^>]*\bsrc=", answer.text)


def test_it_knows_the_routes_and_tasks_of_the_server(client):
    page = client.get("/").text
    posted = set(re.findall(r'post\("(/\w+)"', page))
    assert posted and posted <= {route.path for route in POST_ROUTES}
    assert set(re.findall(r'fetch\("(/\w+)"', page)) <= {page.path for page in PAGES}
    tasks = {task for model in client.get("/info").json()["models"] for task in model["tasks"]}
    shown = set(re.findall(r"^  (\w+): \{$", page, re.MULTILINE))
    pictures = {"encode_image", "zero_shot_classify_image"}  # the page takes texts
    assert shown == tasks - {"predict", "encode_sparse", "zero_shot_classify"} - pictures
