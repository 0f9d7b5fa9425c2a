"""Fuzzing: what reads files and requests, and the argument spaces of the kernels."""
