"""What `fbg.tune` measures: a store of results, the file that keeps them, and what is timed."""
