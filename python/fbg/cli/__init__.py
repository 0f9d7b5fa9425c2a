"""Commands of the ``fbg`` program: each is one small function that calls the library and prints.

A command is imported when it is run: what it needs may take longer to import than it takes to run.
"""

import click

from fbg import __version__
from fbg.cli.program import Later, Program

# Module, and what `fbg --help` says of the command: the beginning of its own help.
COMMANDS = {
    "answer": ("tasks", "Print the part of a text that answers a question."),
    "bench": (
        "bench",
        "Time MODEL, a directory or a hub id, on random tokens, or an ONNX file on random inputs.",
    ),
    "classify": ("tasks", "Print the labels of texts with their scores."),
    "classify-image": ("images", "Print the classes that a network sees in PICTURE."),
    "compare": ("compare", "Compare accuracy, speed and memory of MODEL in several dtypes."),
    "detect": ("images", "Print the objects that a network finds in PICTURE."),
    "encode": ("encode", "Embed texts with MODEL, a directory, a GGUF file or a hub id."),
    "fill-mask": ("tasks", "Print the likeliest tokens for the mask of each text."),
    "info": (
        "info",
        "Show the CPU, instruction sets, caches, threads and versions, or what MODEL consists of.",
    ),
    "ner": ("tasks", "Print the entities of texts: a list for each text."),
    "profile": ("profile", "Show where the time of a run of MODEL goes."),
    "quantize": ("quantize", "Quantize MODEL and save it in the directory OUT."),
    "report": (
        "report",
        "Measure all that the other commands measure of MODEL on this machine.",
    ),
    "rerank": (
        "tasks",
        "Print texts by how well they answer a query, best first (cross-encoders, ColBERT).",
    ),
    "search": (
        "tasks",
        "Print the texts whose embeddings are most similar to those of queries, best first.",
    ),
    "serve": (
        "serve",
        "Serve MODELs, directories, hub ids or ONNX files, over HTTP until SIGTERM.",
    ),
    "zero-shot": (
        "tasks",
        "Print how well each label fits each text (models of natural language inference).",
    ),
}


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="fbg")
def main() -> None:
    """Run encoders of texts and ONNX networks on CPUs: embed, quantize, compare, measure."""


for name, (module, text) in COMMANDS.items():
    main.add_command(Later(name, f"fbg.cli.{module}", text))
