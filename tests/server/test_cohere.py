"""Cohere's routes for embeddings."""

import base64
import io

import numpy as np
import pytest
from PIL import Image

import fbg
from helpers.tiny_towers import pictures

TEXTS = ["the dog", "a quick fox"]


def file_of(picture):
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "PNG")
    return file.getvalue()


FILES = [file_of(picture) for picture in pictures()]
SENT = ["data:image/png;base64," + base64.b64encode(file).decode() for file in FILES]


def post(client, version, **body):
    answer = client.post(f"/v{version}/embed", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize(
    ("use", "prompt"), [("search_query", "query"), ("search_document", None), (None, None)]
)
def test_embeddings_have_the_bits_of_encode(client, models, use, prompt):
    wanted = models["text"].encode(TEXTS, prompt_name=prompt)
    types = ["float", "base64", "binary", "ubinary"]
    found = post(client, 2, model="text", texts=TEXTS, input_type=use, embedding_types=types)
    rows = found["embeddings"]
    np.testing.assert_array_equal(np.float32(rows["float"]), wanted)
    decoded = [np.frombuffer(base64.b64decode(text), "<f4") for text in rows["base64"]]
    np.testing.assert_array_equal(decoded, wanted)
    for kind in types[2:]:
        np.testing.assert_array_equal(rows[kind], fbg.quantize_embeddings(wanted, kind))
    assert found["texts"] == TEXTS and found["meta"]["billed_units"]["input_tokens"] > 4
    plain = post(client, 1, model="text", texts=TEXTS, input_type=use)
    np.testing.assert_array_equal(np.float32(plain["embeddings"]), wanted)


def test_texts_are_cut_where_the_request_says(client, models):
    long = "the dog " * 100 + "a quick fox"
    for side in ("START", "END"):
        found = post(client, 2, texts=[long], truncate=side, model="text", output_dimension=5)
        cut = models["text"].with_truncation_side("left" if side == "START" else "right")
        wanted = cut.encode([long], truncate_dim=5)
        np.testing.assert_array_equal(np.float32(found["embeddings"]["float"]), wanted)
    refused = client.post("/v2/embed", json={"texts": [long], "truncate": "NONE", "model": "text"})
    assert refused.status_code == 400 and "tokens" in refused.json()["message"]


def test_pictures_have_embeddings(client, models):
    found = post(client, 2, images=SENT[:1], input_type="image")
    wanted = models["clip"].encode_image(FILES[:1])
    np.testing.assert_array_equal(np.float32(found["embeddings"]["float"]), wanted)
    both = client.post("/v2/embed", json={"images": SENT[:1], "texts": ["a"]})
    assert both.status_code == 400 and "either `texts` or `images`" in both.json()["message"]
