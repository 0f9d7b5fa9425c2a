"""How plans run: batches of sequences, plans by capacity, tuned blockings."""
