"""The pages that bench/report.py writes, beside the report: published figures, docs/tables.md."""
