"""What is measured on: random checkpoints of published geometries; real text without a download.

The checkpoints of BERT are written by the tests' tiny_bert, without torch; those of other families
by transformers. Speed does not depend on the values: N(0, 0.02) as models are initialised.

Text is the documentation that this Python has with it: docstrings of the standard library and of
the packages that are installed, each once, in a fixed random order. Which they are depends on what
is installed; figures of one machine compare. `summaries` makes a retrieval set of them: a query is
the first sentence of a docstring, and what it is to find is the rest.
"""

import ast
import importlib
import json
import random
import re
import sys
import sysconfig
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import numpy as np
from peers import Array
from peers.exports import Exports

# Vocabularies are cut to 16384 words: a text looks up as many rows as it has tokens, whatever the
# size of the table, and exports stay below the 2 GiB that an ONNX file may have.
BERT_GEOMETRIES = ("base", "large", "tinybert", "minilm", "awkward")
# Published geometries, as settings of Hugging Face transformers that are not its default, by name:
# those of FAMILIES are measured precision by precision.
_ROWS = json.loads(
    Path(__file__).with_name("data").joinpath("geometries.json").read_text(encoding="utf-8")
)
BY_TRANSFORMERS = {name: (row["model_type"], row["settings"]) for name, row in _ROWS.items()}
FAMILIES = [name for name in BY_TRANSFORMERS if name not in ("roberta-base", "distilbert")]
GEOMETRIES = (*BERT_GEOMETRIES, *BY_TRANSFORMERS)
FIRST_WORD = 5  # ids below are padding and its like, which RoBERTa counts differently


def of_tests(name: str) -> ModuleType:
    """A module of tests/helpers."""
    tests = Path(__file__).resolve().parent.parent / "tests"
    if str(tests) not in sys.path:
        sys.path.append(str(tests))
    return importlib.import_module(f"helpers.{name}")


def random_exports(geometry: str, cache: Path) -> Exports:
    """A random checkpoint, written if it is not there, and what peers make of it."""
    folder = cache / f"bert-{geometry}-random"
    checkpoint = folder / "checkpoint"
    if not (checkpoint / "tokenizer.json").exists():
        if geometry in BY_TRANSFORMERS:
            write_with_transformers(checkpoint, *BY_TRANSFORMERS[geometry])
        else:
            tools = of_tests("tiny_bert")
            tools.write_checkpoint(checkpoint, tools.GEOMETRIES[geometry])
    vocabulary = Exports(checkpoint, folder, ()).config["vocab_size"]
    batches = 8 if geometry in FAMILIES else 32
    calibration = tuple(random_ids(vocabulary, 128, seed) for seed in range(batches))
    return Exports(checkpoint, folder, calibration, digest=False)


def random_ids(vocabulary: int, tokens: int, seed: int = 0) -> Array:
    """(1, tokens) token ids."""
    generator = np.random.default_rng(seed)
    return generator.integers(FIRST_WORD, vocabulary, (1, tokens), dtype=np.int64)


def write_with_transformers(directory: Path, model_type: str, settings: dict[str, Any]) -> None:
    import torch
    import transformers

    transformers.utils.logging.disable_progress_bar()
    torch.manual_seed(0)
    config = transformers.AutoConfig.for_model(model_type, **settings)
    transformers.AutoModel.from_config(config).save_pretrained(directory)
    tokenizer = of_tests("tiny_bert").wordpiece(config.vocab_size)
    tokenizer.save(str(directory / "tokenizer.json"))


def minilm() -> Path:
    """The directory of all-MiniLM-L6-v2, from the package that the tests read."""
    path: Path = of_tests("minilm").minilm_directory()
    return path


def minilm_layers() -> list[Array]:
    """(K, N) of every linear layer of its encoder."""
    from safetensors.numpy import load_file

    tensors = load_file(minilm() / "model.safetensors")
    return [w.T for name, w in tensors.items() if "encoder" in name and w.ndim == 2]


# --- Texts --------------------------------------------------------------------------------------
Text = TypeVar("Text", str, tuple[str, str])


def docstrings() -> Iterator[str]:
    """Every docstring of what is installed here, files in a fixed random order."""
    places = {Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib")}
    paths = sorted({path for place in places for path in place.rglob("*.py")})
    random.Random(0).shuffle(paths)
    yield from docstrings_of(paths)


def docstrings_of(paths: Iterable[Path]) -> Iterator[str]:
    """Every docstring of some files."""
    for path in paths:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(path.read_text(encoding="utf-8"))
        except (OSError, SyntaxError, ValueError, RecursionError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                text = ast.get_docstring(node)
                if text:
                    yield text


def paragraphs_of(text: str) -> list[str]:
    """The paragraphs of a docstring, each on one line."""
    return [" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", text)]


def is_prose(text: str, fewest: int, most: int) -> bool:
    """From a capital letter to a full stop, mostly words, `fewest` to `most` of them."""
    words = text.split()
    plain = sum(bool(re.fullmatch(r"[A-Za-z'-]+[,.;:!?]?", word)) for word in words)
    return (
        fewest <= len(words) <= most
        and text[0].isupper()
        and text[-1] in ".!?"
        and plain >= 0.8 * len(words)
    )


def sentences_of(text: str) -> Iterator[str]:
    """The sentences of a docstring."""
    for paragraph in paragraphs_of(text):
        for sentence in re.split(r"(?<=[.!?])\s+", paragraph):
            if is_prose(sentence, 6, 60):
                yield sentence


def passages_of(text: str) -> Iterator[str]:
    """The longer paragraphs of a docstring, and all its prose where there are several."""
    prose = [paragraph for paragraph in paragraphs_of(text) if is_prose(paragraph, 3, 400)]
    yield from (paragraph for paragraph in prose if len(paragraph.split()) >= 25)
    if len(prose) > 1:
        yield " ".join(prose)


def summaries(wanted: int) -> list[tuple[str, str]]:
    """Up to `wanted` first sentences of docstrings, each with the prose after it, which no other
    has.

    They are those of the standard library and of NumPy, so that the versions of the two determine
    which they are.
    """
    places = Path(sysconfig.get_path("stdlib")), Path(np.__file__).parent
    left_out = {"site-packages", "dist-packages", "test", "tests", "idlelib"}
    paths = [
        path
        for place in places
        for path in sorted(place.rglob("*.py"))
        if left_out.isdisjoint(path.relative_to(place).parts)
    ]
    found: dict[str, str] = {}
    for text in docstrings_of(paths):
        first, *others = paragraphs_of(text)
        summary, *rest = re.split(r"(?<=[.!?])\s+", first, maxsplit=1)
        prose = " ".join(p for p in [*rest, *others] if is_prose(p, 3, 400))
        if is_prose(summary, 4, 40) and len(prose.split()) >= 20:
            found.setdefault(summary, prose)
    unique = {document: (summary, document) for summary, document in found.items()}
    return chosen(unique.values(), wanted)


def chosen(found: Iterable[Text], wanted: int) -> list[Text]:
    texts = sorted(found)
    random.Random(0).shuffle(texts)
    return texts[:wanted]


def installed_sentences(wanted: int) -> list[str]:
    """Up to `wanted` different sentences."""
    found: dict[str, None] = {}
    for text in docstrings():
        found.update(dict.fromkeys(sentences_of(text)))
        if len(found) >= 2 * wanted:
            break
    return chosen(found, wanted)


def mixed_texts(wanted: int) -> list[str]:
    """Up to `wanted` different texts of mixed length, sentences and passages half and half."""
    sentences: dict[str, None] = {}
    passages: dict[str, None] = {}
    for text in docstrings():
        sentences.update(dict.fromkeys(sentences_of(text)))
        passages.update(dict.fromkeys(passages_of(text)))
        if min(len(sentences), len(passages)) >= 2 * wanted:
            break
    long = chosen(passages, wanted - wanted // 2)
    for text in long:
        sentences.pop(text, None)
    texts = long + chosen(sentences, wanted - len(long))
    random.Random(1).shuffle(texts)
    return texts


def lines_of(file: Path | None, count: int) -> list[str]:
    """The first `count` lines of a file; none without a file."""
    return file.read_text(encoding="utf-8").splitlines()[:count] if file else []
