"""fbg classify, zero-shot, rerank, ner, answer, fill-mask and search: tasks on given texts.

Results are lines of JSON, one for each text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

import fbg
from fbg.cli.common import shown_progress, user_errors
from fbg.cli.options import Option, dtype_option, input_option, read_input, threads_option
from fbg.model.load import load_encoder
from fbg.tasks.search import semantic_search
from fbg.tasks.zero_shot import TEMPLATE

__all__ = ["answer", "classify", "fill_mask", "ner", "rerank", "search", "zero_shot"]

F = TypeVar("F", bound=Callable[..., None])

STRATEGIES = ("none", "simple", "first", "average", "max")


def _model_options(command: F) -> F:
    """Add the arguments that say which model computes, and how."""
    command = threads_option()(command)
    command = dtype_option("Precision; as in fbg encode.")(command)
    return click.argument("model")(command)


def _text_options(command: F) -> F:
    """Add the options that say where texts come from."""
    command = input_option(
        "A .txt, .jsonl or .parquet file with texts; - reads lines from standard input."
    )(command)
    return click.option(
        "--text", "texts", multiple=True, help="A text; may be given several times."
    )(command)


def _given(texts: tuple[str, ...], source: str | None, column: str | None) -> list[str]:
    """Return the texts of the command line, or those of a file."""
    if bool(texts) == (source is not None):
        raise click.UsageError("Give texts with --text, or a file with --input.")
    with user_errors():
        of_file = read_input(source, column)
    return list(texts) if of_file is None else of_file


def _print(
    model: str,
    dtype: str | None,
    threads: int | None,
    task: Callable[[fbg.Model], Iterable[Any]],
) -> None:
    """Print what a task returns for a model, and show until then how far it is."""
    with user_errors(), shown_progress():
        results = list(task(load_encoder(model, dtype=dtype, num_threads=threads)))
    for result in results:
        click.echo(json.dumps(result, ensure_ascii=False))


@click.command()
@_model_options
@_text_options
@click.option("--top-k", type=click.IntRange(min=1), default=1, show_default=True)
def classify(
    model: str,
    dtype: str | None,
    threads: int | None,
    texts: tuple[str, ...],
    source: str | None,
    column: str | None,
    top_k: int,
) -> None:
    """Print the labels of texts with their scores.

    \b
    Example:
      fbg classify path/to/classifier --text "A fine film." --top-k 2
    """
    given = _given(texts, source, column)
    _print(model, dtype, threads, lambda loaded: loaded.classify(given, top_k=top_k))


@click.command("zero-shot")
@_model_options
@_text_options
@click.option("--label", "labels", multiple=True, required=True, help="May be given several times.")
@click.option("--template", default=TEMPLATE, show_default=True, help="Sentence with {} in it.")
@click.option("--multi-label", is_flag=True, help="Several labels may be true of a text.")
def zero_shot(
    model: str,
    dtype: str | None,
    threads: int | None,
    texts: tuple[str, ...],
    source: str | None,
    column: str | None,
    labels: tuple[str, ...],
    template: str,
    multi_label: bool,
) -> None:
    """Print how well each label fits each text (models of natural language inference).

    \b
    Example:
      fbg zero-shot path/to/nli-model --text "It rains." --label weather --label sports
    """
    given = _given(texts, source, column)

    def task(loaded: fbg.Model) -> Iterable[Any]:
        return loaded.zero_shot_classify(given, labels, template, multi_label)

    _print(model, dtype, threads, task)


@click.command()
@_model_options
@_text_options
@click.option("--query", required=True, help="What the texts are ranked for.")
@click.option("--top-k", type=click.IntRange(min=1), help="Default: all.")
def rerank(
    model: str,
    dtype: str | None,
    threads: int | None,
    texts: tuple[str, ...],
    source: str | None,
    column: str | None,
    query: str,
    top_k: int | None,
) -> None:
    """Print texts by how well they answer a query, best first (cross-encoders, ColBERT).

    \b
    Example:
      fbg rerank path/to/cross-encoder --query "what is rust?" --input passages.txt
    """
    given = _given(texts, source, column)

    def task(loaded: fbg.Model) -> Iterable[Any]:
        ranked = loaded.rerank if loaded.sentence.multi_vector is None else loaded.rank
        return ranked(query, given, top_k=top_k, return_documents=True)

    _print(model, dtype, threads, task)


@click.command()
@_model_options
@_text_options
@click.option("--aggregation", type=click.Choice(STRATEGIES), default="simple", show_default=True)
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
    model: str,
    dtype: str | None,
    threads: int | None,
    texts: tuple[str, ...],
    source: str | None,
    column: str | None,
    aggregation: Any,
    labels: tuple[str, ...],
    threshold: float | None,
) -> None:
    """Print the entities of texts: a list for each text.

    \b
    Examples:
      fbg ner path/to/ner-model --text "Ada Lovelace lived in London."
      fbg ner path/to/gliner --label person --label place --text "Ada lived in London."
    """
    given = _given(texts, source, column)

    def task(loaded: fbg.Model) -> Iterable[Any]:
        wanted = list(labels) or None
        return loaded.ner(
            given, aggregation_strategy=aggregation, labels=wanted, threshold=threshold
        )

    _print(model, dtype, threads, task)


@click.command()
@_model_options
@click.option("--question", required=True)
@click.option("--context", required=True, help="The text that holds the answer.")
def answer(model: str, dtype: str | None, threads: int | None, question: str, context: str) -> None:
    """Print the part of a text that answers a question.

    \b
    Example:
      fbg answer path/to/qa-model --question "Who?" --context "Ada wrote it."
    """
    _print(model, dtype, threads, lambda loaded: [loaded.answer(question, context)])


@click.command("fill-mask")
@_model_options
@_text_options
@click.option("--top-k", type=click.IntRange(min=1), default=5, show_default=True)
def fill_mask(
    model: str,
    dtype: str | None,
    threads: int | None,
    texts: tuple[str, ...],
    source: str | None,
    column: str | None,
    top_k: int,
) -> None:
    """Print the likeliest tokens for the mask of each text.

    \b
    Example:
      fbg fill-mask path/to/bert --text "Paris is the [MASK] of France."
    """
    given = _given(texts, source, column)
    _print(model, dtype, threads, lambda loaded: loaded.fill_mask(given, top_k=top_k))


@click.command()
@_model_options
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
def search(
    model: str,
    dtype: str | None,
    threads: int | None,
    texts: tuple[str, ...],
    source: str | None,
    column: str | None,
    queries: tuple[str, ...],
    top_k: int,
    query_prompt: str | None,
) -> None:
    """Print the texts whose embeddings are most similar to those of queries, best first.

    \b
    Example:
      fbg search path/to/minilm --query "what is rust?" --input passages.txt
    """
    if source is not None and source.lower().endswith(".npy"):
        raise click.UsageError(
            f"--input takes texts: in Python, fbg.semantic_search(query, np.load({source!r})) "
            "searches embeddings"
        )
    given = _given(texts, source, column)

    def task(loaded: fbg.Model) -> Iterable[Any]:
        wanted = loaded.encode(list(queries), prompt_name=query_prompt)
        found = semantic_search(wanted, loaded.encode(given), top_k)
        return [[{**hit, "text": given[hit["corpus_id"]]} for hit in hits] for hits in found]

    _print(model, dtype, threads, task)
