"""The ops that run on fbg itself: one function for each, which adds it to a graph."""
