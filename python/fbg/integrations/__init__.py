"""Interfaces to other libraries: each module implements the interface of one library.

Embedder needs no other library than the one that calls it: Ray Data, Daft, datasets, Spark. The
others are imported by their own names, as `fbg.integrations.langchain`.
"""

from fbg.integrations.embedder import Embedder

__all__ = ["Embedder"]
