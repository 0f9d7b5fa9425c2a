"""Checkpoints whose weights are quantized, read as they are: one reader a format (formats.py)."""
