"""The interface for users: Model, load, save, tune."""
