"""The targets of the fuzz driver: one module each, with a TARGET."""
