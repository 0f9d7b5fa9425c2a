"""The execution of plans: batches of sequences, plans by capacity, tuned blockings."""
