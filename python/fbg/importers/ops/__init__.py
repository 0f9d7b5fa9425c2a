"""The ops that run on fbg itself: one function for each, which appends it to a native graph."""
