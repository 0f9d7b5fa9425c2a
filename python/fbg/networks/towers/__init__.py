"""Towers for pictures: their settings, how pictures are prepared, and tensors of their own."""
