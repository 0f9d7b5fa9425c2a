"""A vector for every token (late interaction): how they are computed, and compared."""
