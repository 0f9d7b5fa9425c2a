"""fbg classify, zero-shot, rerank, ner, answer, fill-mask and search: tasks on given texts.

Results are lines of JSON, one for each text.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

import fbg
from fbg.cli.common import shown_progress, user_errors
from fbg.cli.options import Option, dtype_option, input_option, read_input, threads_option
from fbg.model.load import load_encoder
from fbg.tasks.entities import AGGREGATIONS
from fbg.tasks.search import semantic_search
from fbg.tasks.zero_shot import TEMPLATE
from fbg.text.embedding_files import read_embeddings

Load = Callable[[], fbg.Model]
Function = Callable[..., Any]


def _task(name: str | None = None, *, of_texts: bool = True) -> Callable[[Function], Any]:
    """Make a command of a function that returns results, of which each is printed in a line.

    The function is given a loader of the model, then the texts of the command line or of a file if
    it is one `of_texts`, and its own options.
    """

    def decorate(function: Function) -> Any:
        @functools.wraps(function)
        def command(model: str, dtype: str | None, num_threads: int | None, **options: Any) -> None:
            given = [_given(*map(options.pop, SOURCES))] if of_texts else []
            load = functools.partial(load_encoder, model, dtype=dtype, num_threads=num_threads)
            with user_errors(), shown_progress():
                results = list(function(load, *given, **options))
            for result in results:
                click.echo(json.dumps(result, ensure_ascii=False))

        with_options = _text_options(command) if of_texts else command
        for option in (threads_option(), dtype_option("Precision; as in fbg encode.")):
            with_options = option(with_options)
        return click.command(name)(click.argument("model")(with_options))

    return decorate


SOURCES = ("texts", "source", "column")


def _text_options(command: Function) -> Function:
    """Add the options that say where texts come from."""
    source = input_option(
        "A .txt, .jsonl or .parquet file with texts; - reads lines from standard input."
    )
    text = click.option(
        "--text", "texts", multiple=True, help="A text; may be given several times."
    )
    added: Function = text(source(command))
    return added


def _given(texts: tuple[str, ...], source: str | None, column: str | None) -> list[str]:
    """Return the texts of the command line, or of a file."""
    if bool(texts) == (source is not None):
        raise click.UsageError("Give texts with --text, or a file with --input.")
    with user_errors():
        of_file = read_input(source, column)
    return list(texts) if of_file is None else of_file


@_task()
@click.option("--top-k", type=click.IntRange(min=1), default=1, show_default=True)
def classify(load: Load, texts: list[str], top_k: int) -> Any:
    """Print the labels of texts with their scores.

    \b
    Example:
      fbg classify path/to/classifier --text "A fine film." --top-k 2
    """
    return load().classify(texts, top_k=top_k)


@_task("zero-shot")
@click.option(
    "--label", "labels", multiple=True, required=True, help="A label; may be given several times."
)
@click.option(
    "--template", default=TEMPLATE, show_default=True, help="Sentence with {} where the label goes."
)
@click.option("--multi-label", is_flag=True, help="Several labels may be true of a text.")
def zero_shot(
    load: Load, texts: list[str], labels: tuple[str, ...], template: str, multi_label: bool
) -> Any:
    """Print how well each label fits each text (models of natural language inference).

    \b
    Example:
      fbg zero-shot path/to/nli-model --text "It rains." --label weather --label sports
    """
    return load().zero_shot_classify(texts, labels, template, multi_label)


@_task()
@click.option("--query", required=True, help="What the texts are ranked for.")
@click.option("--top-k", type=click.IntRange(min=1), help="How many texts to print. Default: all.")
def rerank(load: Load, texts: list[str], query: str, top_k: int | None) -> Any:
    """Print texts by how well they answer a query, best first (cross-encoders, ColBERT).

    \b
    Example:
      fbg rerank path/to/cross-encoder --query "what is rust?" --input passages.txt
    """
    model = load()
    ranked = model.rerank if model.sentence.multi_vector is None else model.rank
    return ranked(query, texts, top_k=top_k, return_documents=True)


@_task()
@click.option("--aggregation", type=click.Choice(AGGREGATIONS), default="simple", show_default=True)
@click.option(
    "--label",
    "labels",
    multiple=True,
    help="What GLiNER is to find; may be given several times.",
    cls=Option,
    former=("--labels",),
)
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    help="The minimum score, for GLiNER models (default 0.5).",
)
def ner(
    load: Load,
    texts: list[str],
    aggregation: Any,
    labels: tuple[str, ...],
    threshold: float | None,
) -> Any:
    """Print the entities of texts: a list for each text.

    \b
    Examples:
      fbg ner path/to/ner-model --text "Ada Lovelace lived in London."
      fbg ner path/to/gliner --label person --label place --text "Ada lived in London."
    """
    wanted = list(labels) or None
    return load().ner(texts, aggregation_strategy=aggregation, labels=wanted, threshold=threshold)


@_task(of_texts=False)
@click.option("--question", required=True)
@click.option("--context", required=True, help="The text that holds the answer.")
def answer(load: Load, question: str, context: str) -> Any:
    """Print the part of a text that answers a question.

    \b
    Example:
      fbg answer path/to/qa-model --question "Who?" --context "Ada wrote it."
    """
    return [load().answer(question, context)]


@_task("fill-mask")
@click.option("--top-k", type=click.IntRange(min=1), default=5, show_default=True)
def fill_mask(load: Load, texts: list[str], top_k: int) -> Any:
    """Print the likeliest tokens for the mask of each text.

    \b
    Example:
      fbg fill-mask path/to/bert --text "Paris is the [MASK] of France."
    """
    return load().fill_mask(texts, top_k=top_k)


@_task(of_texts=False)
@_text_options
@click.option(
    "--query",
    "queries",
    multiple=True,
    required=True,
    help="What to search for; may be given several times.",
)
@click.option("--top-k", type=click.IntRange(min=1), default=10, show_default=True)
@click.option("--query-prompt", help="Name of the prompt that is put before queries.")
@click.option(
    "--embeddings",
    metavar="FILE",
    help="The embeddings of the texts, in their order: a .npy or .parquet file that fbg encode has "
    "written of the same texts with the same model. Default: compute them.",
)
def search(
    load: Load,
    queries: tuple[str, ...],
    top_k: int,
    query_prompt: str | None,
    embeddings: str | None,
    **given: Any,
) -> Any:
    """Print the texts whose embeddings are most similar to those of queries, best first.

    \b
    Examples:
      fbg search path/to/minilm --query "what is rust?" --input passages.txt
      fbg search path/to/minilm --query "what is rust?" --input passages.txt --embeddings emb.npy
    """
    source = given["source"]
    if source is not None and source.lower().endswith(".npy"):
        raise click.UsageError(
            f"--input takes texts, and --embeddings their embeddings: in Python, "
            f"fbg.semantic_search(query, np.load({source!r})) searches embeddings without texts"
        )
    texts = _given(**given)
    rows = None if embeddings is None else read_embeddings(Path(embeddings))
    if rows is not None and len(rows) != len(texts):
        raise ValueError(
            f"--embeddings: {embeddings} must have {len(texts)} rows, one for each text, got "
            f"{len(rows)}"
        )
    model = load()
    wanted = model.encode(list(queries), prompt_name=query_prompt)
    if rows is None:
        rows = model.encode(texts)
    elif rows.shape[1] != wanted.shape[1]:
        raise ValueError(
            f"--embeddings: {embeddings} must have {wanted.shape[1]} dimensions, as those of this "
            f"model, got {rows.shape[1]}"
        )
    found = semantic_search(wanted, rows, top_k)
    return [[{**hit, "text": texts[hit["corpus_id"]]} for hit in hits] for hits in found]
