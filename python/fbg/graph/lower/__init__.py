"""How graphs become native ones, from which plans are made."""
