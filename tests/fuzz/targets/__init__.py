"""The targets of fuzzing: one module each, with a KIND."""
