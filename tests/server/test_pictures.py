"""Pictures in requests: embeddings and classes, and files that are none, or far too large."""

import asyncio
import struct
import zlib

import httpx
import numpy as np
import pytest
from huggingface_hub import InferenceClient
from PIL import Image

import fbg
from fbg.vision import read_image
from fbg.vision.decode import cost_of
from helpers.peak_memory import peak
from helpers.pictures import encoded, text_of
from helpers.serving import ask, running
from helpers.tiny_towers import TEXTS, pictures, write_tiny_tower

NAMES = ("clip", "dinov2", "vit-classifier")


FILES = [encoded(picture) for picture in pictures()]
SENT = [text_of(file, "data:image/png;base64," * (n % 2)) for n, file in enumerate(FILES)]


@pytest.fixture(scope="module")
def towers(tmp_path_factory):
    root = tmp_path_factory.mktemp("towers")
    return {name: write_tiny_tower(root / name, name) for name in NAMES}


@pytest.fixture(scope="module")
def loaded(towers):
    return {name: fbg.load(path, dtype="int8") for name, path in towers.items()}


@pytest.fixture(scope="module")
def url(towers):
    named = [f"{name}={path}" for name, path in towers.items()]
    with running(*named, "--dtype", "int8", "--threads", "2") as server:
        server.wait_ready()
        yield server.url


@pytest.fixture
def client(url):
    with httpx.Client(base_url=url, timeout=30) as opened:
        yield opened


@pytest.mark.parametrize("name", NAMES[:2])
def test_vectors_of_pictures_are_those_of_the_model(client, loaded, name):
    for normalize in (True, False):
        body = {"inputs": SENT, "model": name, "normalize": normalize}
        answer = client.post("/embed_image", json=body)
        assert answer.status_code == 200, answer.text
        wanted = loaded[name].encode_image(FILES, normalize_embeddings=normalize)
        np.testing.assert_array_equal(np.array(answer.json(), np.float32), wanted)
    assert int(answer.headers["x-compute-tokens"]) > len(SENT)
    one = client.post("/embed_image", json={"inputs": SENT[0], "model": name})
    first = loaded[name].encode_image(FILES[:1], normalize_embeddings=True)
    np.testing.assert_array_equal(np.array(one.json(), np.float32), first)


def test_openai_embeds_texts_and_pictures_in_their_order(client, loaded):
    items = [{"image": SENT[0]}, {"text": TEXTS[0]}, {"text": TEXTS[1]}, {"image": SENT[1]}]
    model = loaded["clip"]
    images, texts = model.encode_image(FILES[:2]), model.encode(list(TEXTS[:2]))
    wanted = np.stack([images[0], texts[0], texts[1], images[1]])
    answer = client.post("/v1/embeddings", json={"input": items}).json()
    got = np.array([each["embedding"] for each in answer["data"]], np.float32)
    np.testing.assert_array_equal(got, wanted)
    assert answer["model"] == "clip" and answer["usage"]["total_tokens"] > 4
    answer = client.post("/v1/embeddings", json={"input": items, "dimensions": 7}).json()
    got = np.array([each["embedding"] for each in answer["data"]], np.float32)
    short = wanted[:, :7] / np.linalg.norm(wanted[:, :7], axis=1, keepdims=True)
    np.testing.assert_allclose(got, short, rtol=1e-5)
    for wrong in ([{}], [{"text": "a", "image": SENT[0]}], [{"text": "a"}, "a"]):
        answer = client.post("/v1/embeddings", json={"input": wrong})
        assert answer.status_code == 400 and answer.json()["error"]["param"] == "input"


def test_pictures_are_classified_by_own_and_by_given_labels(client, loaded):
    body = {"inputs": SENT, "parameters": {"top_k": 2}}
    found = client.post("/classify_image", json=body).json()
    assert found == loaded["vit-classifier"].classify_image(FILES, top_k=2)
    labels = ["a cat", "a dog"]
    body = {"inputs": SENT[0], "parameters": {"candidate_labels": labels}}
    found = client.post("/classify_image", json=body).json()
    (wanted,) = loaded["clip"].zero_shot_classify_image(FILES[:1], labels)
    assert [each["label"] for each in found] == wanted["labels"]
    assert [each["score"] for each in found] == wanted["scores"]
    for name, wrong in (
        ("top_k", {"top_k": 0}),
        ("hypothesis_template", {"hypothesis_template": "{}"}),
    ):
        answer = client.post("/classify_image", json={"inputs": SENT[0], "parameters": wrong})
        assert answer.status_code == 422 and name in answer.json()["error"]


def test_the_client_of_hugging_face_classifies_pictures(url, loaded):
    client = InferenceClient()
    found = client.image_classification(FILES[0], model=f"{url}/classify_image", top_k=2)
    wanted = loaded["vit-classifier"].classify_image(FILES[0], top_k=2)
    assert [each.label for each in found] == [each["label"] for each in wanted]
    given = client.zero_shot_image_classification(
        FILES[0], candidate_labels=["a cat", "a dog"], model=f"{url}/classify_image"
    )
    assert {each.label for each in given} == {"a cat", "a dog"}


def bomb(side):
    """A PNG of one bit for each of many pixels: few bytes, since all are 0."""

    def chunk(kind, data):
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    head = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    rows = zlib.compress(bytes((side + 7) // 8 + 1) * side, 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def test_files_that_are_no_pictures_are_refused(client):
    jpeg = encoded(pictures()[0], "JPEG")
    exif = Image.Exif()
    exif[0x0112] = 6
    exif[0x010E] = "x" * 60000
    turned = encoded(pictures()[0], "JPEG", exif=exif)
    assert client.post("/embed_image", json={"inputs": text_of(turned)}).status_code == 200
    whole = "must be a whole picture"
    wrong = {
        "truncated": (text_of(jpeg[: len(jpeg) // 2]), whole),
        "no picture": (text_of(b"GIF89a"), whole),
        "eps": (text_of(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n"), whole),
        "svg": (text_of(b"<svg xmlns='http://www.w3.org/2000/svg'/>"), whole),
        "url": ("http://127.0.0.1/a.png", "fetches no URLs"),
        "path": ("/etc/passwd", "must be"),
        "data": ("data:image/png,abc", "fetches no URLs"),
        "base64": ("!!!!", "in base64"),
        "bomb": (text_of(bomb(20_000)), "pixels"),
        "exif": (text_of(turned[:9000]), whole),
    }
    for name, (sent, message) in wrong.items():
        answer = client.post("/embed_image", json={"inputs": [SENT[0], sent]})
        assert answer.status_code == 422, name
        assert message in answer.json()["error"] and "`inputs`" in answer.json()["error"], name
        answer = client.post("/v1/embeddings", json={"input": [{"image": sent}]})
        assert answer.status_code == 400 and message in answer.json()["error"]["message"], name
    for empty in ([], [""], ""):
        assert client.post("/embed_image", json={"inputs": empty}).status_code == 400
    assert client.post("/embed_image", json={"inputs": SENT[0]}).status_code == 200


def test_pictures_of_a_request_have_a_limit_together(client):
    side = 4096  # four of them are as many as may be
    sent = text_of(bomb(side))
    answer = client.post("/embed_image", json={"inputs": [sent] * 5})
    assert answer.status_code == 422 and "67108864 pixels in total" in answer.json()["error"]
    assert client.post("/embed_image", json={"inputs": sent}).status_code == 200
    large = text_of(np.random.default_rng(1).bytes(13 << 20))
    refused = client.post("/embed_image", json={"inputs": large})
    assert refused.status_code == 413 and "--max-tensor-body" in refused.json()["error"]


def test_models_without_texts_or_pictures_are_named(client):
    answer = client.post("/embed", json={"inputs": "a", "model": "dinov2"})
    assert answer.status_code == 424 and "'dinov2' is not one" in answer.json()["error"]
    assert client.post("/embed", json={"inputs": "a"}).status_code == 200  # of clip
    info = {each["name"]: each["tasks"] for each in client.get("/info").json()["models"]}
    assert info["dinov2"] == ["encode_image"]
    assert info["clip"] == ["encode", "encode_image", "zero_shot_classify_image"]
    assert info["vit-classifier"] == ["classify_image", "encode_image"]


def test_calls_with_pictures_share_the_queue_of_texts(loaded):
    model, other = loaded["clip"], loaded["vit-classifier"]

    async def all_at_once():
        async with fbg.AsyncModel(model) as runs, fbg.AsyncModel(other) as classes:
            return await asyncio.gather(
                runs.encode_image(FILES),
                runs.encode(list(TEXTS)),
                runs.encode_image(FILES[0], normalize_embeddings=True),
                runs.zero_shot_classify_image(FILES, list(TEXTS)),
                classes.classify_image(FILES, top_k=2),
                *(runs.encode_image([file]) for file in FILES),
            )

    images, texts, one, found, labels, *single = asyncio.run(all_at_once())
    np.testing.assert_array_equal(images, model.encode_image(FILES))
    np.testing.assert_array_equal(texts, model.encode(list(TEXTS)))
    np.testing.assert_array_equal(one, model.encode_image(FILES[0], normalize_embeddings=True))
    np.testing.assert_array_equal(np.concatenate(single), images)
    assert found == model.zero_shot_classify_image(FILES, list(TEXTS))
    assert labels == other.classify_image(FILES, top_k=2)

    async def wrong():
        async with fbg.AsyncModel(model) as runs:
            with pytest.raises(ValueError, match=r"encode_image: images\[1\] must be a whole"):
                await runs.encode_image([FILES[0], b"GIF89a"])
            with pytest.raises(TypeError, match="normalise"):
                await runs.encode_image(FILES, normalise=True)

    asyncio.run(wrong())


def test_nothing_of_the_inside_is_in_errors_and_logs(towers):
    """Pillow names its file by an address, and libtiff writes to standard error by itself."""
    noise = np.random.default_rng(0).integers(0, 255, (64, 64, 3), dtype=np.uint8)
    whole = encoded(noise, "TIFF", compression="tiff_lzw")
    damaged = whole[:8] + b"\xff" * 1000 + whole[1008:]
    with running(f"clip={towers['clip']}", "--threads", "1") as server:
        for file in (damaged, b"GIF89a", whole[:-50], b"no picture"):
            answer = httpx.post(f"{server.url}/embed_image", json={"inputs": text_of(file)})
            assert answer.status_code == 422 and "0x" not in answer.text, answer.text
        lines = server.log.splitlines()
    assert lines and all(line.startswith("{") and "0x" not in line for line in lines)


def test_decoding_is_held_before_it_begins(loaded):
    """A file of a few bytes may stand for many pixels."""
    sent = {"inputs": text_of(bomb(1024))}
    clip = {"clip": loaded["clip"]}
    assert ask(clip, "/embed_image", sent).status_code == 200
    small = ask(clip, "/embed_image", sent, max_held=4 << 20)
    assert small.status_code == 422
    assert "must have at most 524288 pixels, got 1048576" in small.json()["error"]
    assert ask(clip, "/embed_image", sent, max_held=8 << 20).status_code == 429


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "TIFF"])
def test_what_it_takes_to_decode_is_what_is_held(kind):
    file = encoded(np.zeros((3000, 3000, 3), np.uint8), kind)
    pixels, size = cost_of(file, "file")
    assert pixels == 9_000_000
    read_image(file[:0] or encoded(np.zeros((9, 9, 3), np.uint8), kind))
    peak(reset=True)
    before = peak()
    read_image(file)
    assert peak() - before < size + (8 << 20)
