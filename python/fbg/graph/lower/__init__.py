"""Lowers graphs to native ones, from which plans are made."""
