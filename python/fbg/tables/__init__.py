"""Embedding tables: rows as memory holds them, and look-ups in one or several tables.

Reading order: ``rows``, ``arguments``, ``embedding_bag``, ``embedding_tables``, ``torch_modules``.
"""
