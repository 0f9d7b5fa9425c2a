"""Networks: makes graphs of ops from checkpoints."""
