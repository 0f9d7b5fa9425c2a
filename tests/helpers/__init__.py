"""What several test files share: formulas, tiny models, fresh interpreters."""
