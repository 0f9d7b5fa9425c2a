"""Networks: what a checkpoint describes, as a graph of ops."""
