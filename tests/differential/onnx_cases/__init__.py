"""Draws nodes of single operators: inputs, and every attribute that the operator has."""
