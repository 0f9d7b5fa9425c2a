"""The heads of NeoBERT by their definition: its code on the hub is the only other one."""

import numpy as np
import pytest

import fbg
from helpers import tiny_tasks
from helpers.tiny_models import random_tensors, tiny_model, write_checkpoint

TOKENIZER = tiny_tasks.tokenizer("neobert")


def write(path, architecture, shapes):
    tiny = tiny_model("neobert")
    head = random_tensors(shapes, 5)
    tensors = {f"model.{name}": tensor for name, tensor in tiny.tensors.items()}
    config = {**tiny.config, "architectures": [architecture], "id2label": tiny_tasks.LABELS}
    write_checkpoint(path, config, {**tensors, **head}, tokenizer=TOKENIZER)
    return head


@pytest.mark.parametrize("saved", [False, True])
def test_logits_of_texts_are_those_of_the_definition(tmp_path, saved):
    shapes = {"dense.weight": (36, 36), "dense.bias": (36,)}
    shapes |= {"classifier.weight": (3, 36), "classifier.bias": (3,)}
    head = write(tmp_path / "model", "NeoBERTForSequenceClassification", shapes)
    model = fbg.load(tmp_path / "model")
    if saved:
        model.save(tmp_path / "saved")
        model = fbg.load(tmp_path / "saved")
    for text in ("word3 word4", "word7"):
        first = model.forward([TOKENIZER.encode(text).ids]).last_hidden_state[0, 0]
        dense = np.tanh(head["dense.weight"] @ first + head["dense.bias"])
        logits = head["classifier.weight"] @ dense + head["classifier.bias"]
        got = model.classify([text], top_k=None, function_to_apply="none")[0]
        scores = {tiny_tasks.LABELS[n]: logit for n, logit in enumerate(logits)}
        for each in got:
            assert each["score"] == pytest.approx(scores[each["label"]], abs=1e-4)


def test_masked_tokens_have_a_decoder_of_their_own(tmp_path):
    shapes = {"decoder.weight": (99, 36), "decoder.bias": (99,)}
    head = write(tmp_path, "NeoBERTLMHead", shapes)
    model = fbg.load(tmp_path)
    text = f"word3 {tiny_tasks.mask_token('neobert')} word4"
    ids = TOKENIZER.encode(text).ids
    hidden = model.forward([ids]).last_hidden_state[0]
    mask = model.fill_mask(text, top_k=99)
    place = ids.index(TOKENIZER.token_to_id("[MASK]"))
    logits = head["decoder.weight"].astype(np.float64) @ hidden[place] + head["decoder.bias"]
    p = np.exp(logits - logits.max())
    p /= p.sum()
    for each in mask:
        assert each["score"] == pytest.approx(p[each["token"]], abs=1e-5)
