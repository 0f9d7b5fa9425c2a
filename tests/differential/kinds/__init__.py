"""The kinds of differential cases: one module each, with a KIND."""
