"""Passes over graphs: how ops become fewer, and how products are quantized."""
