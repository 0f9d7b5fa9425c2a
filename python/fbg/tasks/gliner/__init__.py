"""Entities of labels that the caller names, as GLiNER finds them."""
