"""The routes by dialect, one file for each; `app.py` puts them together."""
