"""The golden arrays of hidden states: MiniLM and tiny models of every family.

Everything is float32 with eager attention. minilm_golden.npz, one sentence at a time, so without
padding:

    lengths            tokens per sentence of tests/data/sentences.txt, in order
    input_ids          all token ids, end to end
    embeddings         mean-pooled, normalised sentence embeddings
    pooler_output      every 4th channel
    hidden_<n>         last_hidden_state of sentence n, complete, for a few short sentences
    hidden_sampled     of every token of every sentence the channels (7 t + 64 j) mod 384, j = 0…5,
                       t = position in its sentence: each token and each channel is looked at
    holey_*            a batch with holes in attention_mask and token_type_ids of 0 and 1;
                       holey_hidden is every 8th channel of the valid positions only

tiny_<name>.npz, one for each of tests/helpers/tiny_models.py:

    config, shapes     config.json and the shape of each tensor, as transformers has them, in JSON
    <batch>_hidden     last_hidden_state of the positions that are not masked, end to end
    <batch>_pooler     where the model has a pooler

tiny_settings.npz, what transformers computes if one setting of a tiny model is changed, for each
model of tests/helpers/changed_settings.py, in JSON:

    <name>    {key: {value in JSON: outcome}}, where outcome is "same", "error", or a few numbers of
              the last hidden states
"""

from __future__ import annotations

import importlib.util
import json
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from helpers import tiny_bert, tiny_models
from helpers.changed_settings import MODELS, changed_values, sample, with_value
from helpers.minilm import minilm_directory, sampled, sentences
from helpers.tiny_families import CONFIGS, HUB_FAMILIES, hub_shapes

COMPLETE = (0, 1, 8, 14, 18)  # sentences whose hidden states are stored in full
MAX_TOKENS = 256  # max_seq_length of sentence_bert_config.json; tokenizer.json says 128 (!)


def load(directory: Path, dtype: torch.dtype = torch.float32) -> Any:
    return transformers.BertModel.from_pretrained(
        directory, attn_implementation="eager", dtype=dtype
    ).eval()


def forward(
    model: Any, ids: np.ndarray, mask: np.ndarray | None = None, types: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """(last_hidden_state, pooler_output) of a (batch, length) array of token ids."""
    with torch.inference_mode():
        result = model(
            torch.from_numpy(ids),
            attention_mask=torch.from_numpy(np.ones_like(ids) if mask is None else mask),
            token_type_ids=torch.from_numpy(np.zeros_like(ids) if types is None else types),
        )
    return result.last_hidden_state.numpy(), result.pooler_output.numpy()


def embedding(hidden: np.ndarray) -> np.ndarray:
    mean = hidden.astype(np.float64).mean(axis=0)
    return (mean / np.linalg.norm(mean)).astype(np.float32)


def minilm_arrays() -> dict[str, np.ndarray]:
    tokenizer = tiny_bert.Tokenizer.from_file(str(minilm_directory() / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    texts = sentences()
    ids = [np.array([tokenizer.encode(text).ids], np.int64) for text in texts]

    model = load(minilm_directory())
    results = [forward(model, row) for row in ids]
    exact = load(minilm_directory(), torch.float64)
    worst = max(
        float(np.abs(forward(exact, row)[0] - hidden).max())
        for row, (hidden, _) in zip(ids, results, strict=True)
    )
    print(f"MiniLM: float32 against float64, largest difference {worst:.1e}")

    check_against_sentence_transformers(texts, [embedding(hidden[0]) for hidden, _ in results])

    # Four rows of 24 tokens cut from the text; position 0 is masked in row 2, so that row's pooler
    # output means nothing and is not to be compared.
    holey_ids = np.stack([ids[n][0, :24] for n in (19, 21, 24, 27)])
    position = np.arange(24)
    mask = np.stack(
        [position % 3 != 1, position < 17, position >= 5, (position < 4) | (position > 18)]
    ).astype(np.int64)
    types = np.stack([position >= 9, position % 2 == 1, position < 12, position >= 24])
    hidden, pooled = forward(model, holey_ids, mask, types.astype(np.int64))

    arrays = {
        "lengths": np.array([row.size for row in ids], np.int32),
        "input_ids": np.concatenate([row[0] for row in ids]).astype(np.int32),
        "embeddings": np.stack([embedding(h[0]) for h, _ in results]),
        "pooler_output": np.concatenate([pool for _, pool in results])[:, ::4],
        "hidden_sampled": np.concatenate([sampled(h[0]) for h, _ in results]),
        "holey_ids": holey_ids.astype(np.int32),
        "holey_mask": mask.astype(np.int8),
        "holey_types": types.astype(np.int8),
        "holey_hidden": hidden[mask == 1][:, ::8],
        "holey_pooler": pooled[:, ::8],
    }
    for n in COMPLETE:
        arrays[f"hidden_{n}"] = results[n][0][0]
    return arrays


def check_against_sentence_transformers(texts: list[str], ours: list[np.ndarray]) -> None:
    """The package the model comes from must agree with our pooling, truncation and normalising."""
    if importlib.util.find_spec("sentence_transformers") is None:
        print("sentence_transformers is not installed: embeddings not cross-checked")
        return
    from sentence_transformers import SentenceTransformer

    theirs = SentenceTransformer(str(minilm_directory()), device="cpu").encode(texts)
    difference = float(np.abs(theirs - np.stack(ours)).max())
    print(f"MiniLM: embeddings against sentence_transformers, largest difference {difference:.1e}")
    assert difference < 1e-5


def tiny_model_arrays(name: str) -> dict[str, np.ndarray]:
    """A model of tiny_models.yaml, read by transformers from the files that the tests write.

    transformers renames the tensors of files on the hub; config.json is stored as it is there.
    """
    own = CONFIGS[name] if name in HUB_FAMILIES else None
    settings = dict(CONFIGS[HUB_FAMILIES.get(name, name)])
    built = transformers.AutoConfig.for_model(settings.pop("model_type"), **settings)
    config = json.loads(built.to_json_string())
    encoder_decoder = getattr(built, "is_encoder_decoder", False)  # only the encoder is of interest
    auto = transformers.AutoModelForTextEncoding if encoder_decoder else transformers.AutoModel
    empty = auto.from_config(built)
    shapes = {key: tuple(tensor.shape) for key, tensor in empty.named_parameters()}
    if own is not None:
        shapes = hub_shapes(name, shapes)
    tensors = tiny_models.random_tensors(shapes)
    with tempfile.TemporaryDirectory() as directory:
        path = tiny_models.write_checkpoint(Path(directory), config, tensors)
        model, report = auto.from_pretrained(
            path, attn_implementation="eager", output_loading_info=True
        )
    missing = {key for key in report.pop("missing_keys") if "pooler" not in key}
    assert not missing and not any(report.values()), (missing, report)
    stored = json.dumps(config if own is None else own)
    arrays = {"config": np.array(stored), "shapes": np.array(json.dumps(shapes))}
    inputs = tiny_models.golden_inputs(config)
    for batch in ("full", "holey"):
        names = {"input_ids": batch, "attention_mask": f"{batch}_mask"}
        names["token_type_ids"] = f"{batch}_types"
        given = {key: torch.from_numpy(inputs[n]) for key, n in names.items() if n in inputs}
        with torch.inference_mode():
            result = model.eval()(**given)
        kept = inputs.get(f"{batch}_mask", np.ones_like(inputs[batch])) != 0
        arrays[f"{batch}_hidden"] = result.last_hidden_state.numpy()[kept]
        if result.get("pooler_output") is not None and own is None:
            arrays[f"{batch}_pooler"] = result.pooler_output.numpy()
    return arrays


# --- Changed settings ---------------------------------------------------------------------------
def outcome(directory: Path, config: dict[str, Any], ids: np.ndarray) -> list[float] | str:
    """The sample of the last hidden states; "error" where transformers reads other tensors."""
    (directory / "config.json").write_text(json.dumps(config))
    auto = transformers.AutoModel
    if config["model_type"] in ("t5", "mt5"):
        auto = transformers.AutoModelForTextEncoding
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model, report = auto.from_pretrained(
                directory, attn_implementation="eager", output_loading_info=True
            )
            if report["missing_keys"] or report["mismatched_keys"] or report["unexpected_keys"]:
                return "error"
            with torch.inference_mode():
                hidden = model.eval()(input_ids=torch.from_numpy(ids)).last_hidden_state.numpy()
    except Exception:
        return "error"
    return [float(f"{x:.6g}") for x in sample(hidden)]


def settings_arrays() -> dict[str, np.ndarray]:
    transformers.logging.set_verbosity(transformers.logging.CRITICAL)
    transformers.logging.disable_progress_bar()
    arrays = {}
    for name in MODELS:
        model = tiny_models.tiny_model(name)
        defaults = CONFIG_MAPPING[model.config["model_type"]]().to_dict()
        ids = tiny_models.golden_inputs(model.config)["full"][:, :12]
        found: dict[str, dict[str, Any]] = {}
        with tempfile.TemporaryDirectory() as folder:
            directory = tiny_models.write_checkpoint(Path(folder), model.config, model.tensors)
            base = outcome(directory, model.config, ids)
            changed = changed_values({**defaults, **model.config}, model.config)
            for key, values in changed.items():
                for value in values:
                    result = outcome(directory, with_value(model.config, key, value), ids)
                    same = not isinstance(result, str) and np.allclose(result, base, 0, 2e-5)
                    stored = "same" if same else result
                    found.setdefault(key, {})[json.dumps(value)] = stored
        arrays[name] = np.array(json.dumps(found))
        print(name, sum(map(len, found.values())))
    return arrays
