"""The measurements of `fbg.tune`: a store of results, the file that keeps them, and the trials."""
