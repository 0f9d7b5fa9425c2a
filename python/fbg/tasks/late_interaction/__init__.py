"""A vector for every token (late interaction): their computation and comparison."""
