"""GGUF files: a model in one file, with its settings and its tokenizer."""
