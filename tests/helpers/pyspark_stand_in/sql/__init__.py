"""In the place of PySpark; see sql/functions.py."""
