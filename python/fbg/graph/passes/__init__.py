"""Passes over graphs: they fuse ops and quantize products."""
