"""Differential tests: random cases that fbg and another implementation compute."""
