"""The steps before a network: texts in files, tokenization, sentence settings."""
