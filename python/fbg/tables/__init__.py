"""Embedding tables: rows as memory holds them, and look-ups in one or several tables.

Reading order: ``rows``, ``arguments``, ``pruning``, ``embedding_bag``, ``embedding_tables``,
``saved_table``, ``torch_modules``.
"""
