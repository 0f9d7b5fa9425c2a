"""What a user holds: Model, load, save, tune."""
